// A product as its transpose: C^T = B^T A^T.
#pragma once

#include <utility>

#include "tenon/gemm.hpp"

namespace tenon {

// Of the transpose.
constexpr Order flipped(Order order) noexcept {
  return order == row_major ? column_major : row_major;
}

// The problem with m and n, and with A and B, in each other's places, which is where B^T and A^T are. C is
// left as it was: whoever asks decides what becomes of it.
inline Gemm with_turned_operands(const Gemm& problem) noexcept {
  Gemm result = problem;
  std::swap(result.m, result.n);
  std::swap(result.a, result.b);
  std::swap(result.scale_a, result.scale_b);
  result.a.order = flipped(result.a.order);
  result.b.order = flipped(result.b.order);
  return result;
}

}  // namespace tenon
