// A product as its transpose: C^T = B^T A^T.
#pragma once

#include <utility>

#include "tenon/gemm.hpp"

namespace tenon {

// The problem with m and n, and with A and B, in each other's places, which is where B^T and A^T are. C is
// left as it was: whoever asks decides what becomes of it.
inline Gemm with_turned_operands(const Gemm& problem) noexcept {
  Gemm result = problem;
  std::swap(result.m, result.n);
  std::swap(result.a, result.b);
  for (ConstMatrix* operand : {&result.a, &result.b})
    operand->order = operand->order == row_major ? column_major : row_major;
  return result;
}

}  // namespace tenon
