// Conditions on a problem before a kernel of this folder runs: each check returns one sentence.
#pragma once

#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon::reference {

// rows x columns of a device matrix, with its name in messages: "A", "the workspace".
struct Extent {
  const char* label;
  const void* data;
  std::int64_t rows, columns, ld;
  Order order;
  Type type;
};

// Pointer present and aligned, leading dimension long enough, last byte addressable. An empty matrix may be
// null.
Status check_matrix(const Extent& x) noexcept;

// The bytes spanned by two matrices (from first to last element, padding included) must be disjoint.
Status check_disjoint(const Extent& written, const Extent& read) noexcept;

// Sizes, types and the three matrices of a product.
Status check_gemm(const Gemm& problem) noexcept;

// The same of a product of tf32, s8 or f64: with accumulators of f32 C is f16, bf16 or f32, else it has the
// accumulators' type.
Status check_gemm_of(const Gemm& problem, Type operand, Type accumulate) noexcept;

}  // namespace tenon::reference
