// Splits f32 operands into parts of a narrower type in the workspace, laid out so that one plain product with
// a longer k is the product of f32: for each product of parts (split_parts.hpp) a block of k columns of A and
// of k rows of B. k is contiguous in both, whatever the order of the operand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/pad.hpp"
#include "gemm/split_parts.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// k of a block: rounded up to whole 16-byte words, with zeros. (A single block has the k of the operand.)
TENON_HOST_DEVICE constexpr std::int64_t block_depth(std::int64_t k) noexcept {
  return (k + 7) / 8 * 8;
}
// k of the product of parts.
constexpr std::int64_t split_depth(std::int64_t k, Precision precision) noexcept {
  return products_of(precision) == 1 ? k : products_of(precision) * block_depth(k);
}
// Of the rows of split A, the columns of split B.
constexpr std::int64_t split_ld(std::int64_t k, Precision precision) noexcept {
  return padded_ld(products_of(precision) * block_depth(k), bytes(part_type(precision)));
}
constexpr std::size_t split_bytes(std::int64_t rows, std::int64_t k, Precision precision) noexcept {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(split_ld(k, precision)) *
         bytes(part_type(precision));
}

// An operand: A has `rows` rows of k elements, B as many columns.
struct SplitOperand {
  const void* source;
  std::int64_t rows, k, ld;
  bool k_contiguous;
  void* destination;  // 16-byte aligned, split_bytes(rows, k, precision)
};

// One kernel for both. rows, k > 0.
Status split_operands(Launcher& launcher, Precision precision, const SplitOperand& a,
                      const SplitOperand& b) noexcept;

// The __global__ function that split_operands() launches on sm_90, compiled only for it.
const void* split_sm_90(Precision precision) noexcept;

}  // namespace tenon
