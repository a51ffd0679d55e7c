// The launch options that a problem has.
#pragma once

#include "tenon/gemm/launch_options.hpp"

namespace tenon {

// Problem: Gemm, ScaledGemm or GroupedGemm.
template <class Problem>
LaunchOptions options_of(const Problem& problem) noexcept {
  return {problem.multiprocessors, problem.overlaps_previous};
}

}  // namespace tenon
