// The score function of kernels that were compiled apart from the program: the plans know it by its bytes.
// sm90::AttentionKernel<Config, Mask, CompiledScore> is the kernel type to launch, with
// launch_attention_sm90.hpp, which has its call; likewise sm80. In namespace tenon, as what those overload.
// Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>

namespace tenon {

struct CompiledScore {
  // AttentionConfigFor then takes tiles that leave registers free: how many the text needs is not known.
  static constexpr bool changes_scores = true;
  // What Launch::function takes, cudaKernel_t too.
  const void* kernel = nullptr;
  // The score function as the kernel knows it.
  const void* data = nullptr;
  std::size_t size = 0, alignment = 1;
};

}  // namespace tenon
