// Copies an operand into the workspace in the form that the fast kernels need: rows that begin on 16-byte
// boundaries, with k contiguous if they need that. "Rows" here are the contiguous vectors of a matrix: the
// columns of a column-major one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// Leading dimension of the copy of a matrix whose rows have `length` elements: a multiple of 128 bytes, an L2
// line. (TMA needs only a multiple of 16 bytes, but with that 4097 cubed takes 279 us instead of 243.)
constexpr std::int64_t padded_ld(std::int64_t length, std::size_t element_bytes) noexcept {
  const auto step = static_cast<std::int64_t>(128 / element_bytes);
  return (length + step - 1) / step * step;
}

// Bytes of the copy.
constexpr std::size_t padded_bytes(std::int64_t rows, std::int64_t length,
                                   std::size_t element_bytes) noexcept {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(padded_ld(length, element_bytes)) *
         element_bytes;
}

// A copy of `rows` rows of `length` elements of 1, 2, 4 or (not transposed) 8 bytes to `destination` (16-byte
// aligned). ld: of the source. The elements between the end of a row of the copy and the next row become
// zero. The source is aligned to its element; the copy may read bytes between its rows, but none before its
// first or after its last element. rows, length > 0.
//
// transposed: row i of the copy consists of the i-th elements of all rows of the source, and its leading
// dimension is padded_ld(rows). Otherwise that is padded_ld(length).
struct PadCopy {
  const void* source;
  std::int64_t rows, length, ld;
  void* destination;
  std::size_t element_bytes = 2;
  bool transposed = false;
};
constexpr int most_pad_copies = 2;

// Launches up to most_pad_copies copies: one kernel for all copies that are not transposed, one for each
// other.
Status pad_copies(Launcher& launcher, const PadCopy* list, int count) noexcept;

// The __global__ function that pad_copies() launches on sm_90, compiled only for it.
const void* pad_sm_90() noexcept;

// A single transposed copy. Elements of 2 bytes: on sm_90.
Status transpose_copy(Launcher& launcher, const PadCopy& copy) noexcept;

// The same to any address and leading dimension `ld`. Writes nothing between the rows.
Status transpose_to(Launcher& launcher, const PadCopy& copy, std::int64_t ld) noexcept;

// Both of these for elements of 2 bytes: the copy has the leading dimension `ld` and rows of `length`
// elements, at least as many as the source has rows; the others become zero.
Status transpose_halves(Launcher& launcher, const PadCopy& copy, std::int64_t ld,
                        std::int64_t length) noexcept;

}  // namespace tenon
