// A problem as its transpose: C^T = B^T A^T.
#pragma once

#include <utility>

#include "tenon/gemm.hpp"

namespace tenon {

// The problem with m and n, and with A and B, swapped. C is left as it was: the caller decides what becomes
// of it.
inline Gemm with_swapped_operands(const Gemm& problem) noexcept {
  Gemm result = problem;
  std::swap(result.m, result.n);
  std::swap(result.a, result.b);
  std::swap(result.scale_a, result.scale_b);
  result.a.order = flipped(result.a.order);
  result.b.order = flipped(result.b.order);
  return result;
}

}  // namespace tenon
