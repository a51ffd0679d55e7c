// Copies an operand into the workspace as the fast kernels take it: in rows that start on 16-byte boundaries,
// and with k contiguous if they need that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// Leading dimension of the copy of a matrix whose rows (columns) have `length` elements: whole 128 bytes,
// which are a line of the L2. (Whole 16 bytes would do for TMA, but 4097 cubed takes 279 us with
// them instead of 243.)
constexpr std::int64_t padded_ld(std::int64_t length, std::size_t element_bytes) noexcept {
  const auto step = static_cast<std::int64_t>(128 / element_bytes);
  return (length + step - 1) / step * step;
}

// Bytes of the copy.
constexpr std::size_t padded_bytes(std::int64_t lines, std::int64_t length,
                                   std::size_t element_bytes) noexcept {
  return static_cast<std::size_t>(lines) * static_cast<std::size_t>(padded_ld(length, element_bytes)) *
         element_bytes;
}

// The copy of `lines` rows (columns) of `length` elements of 1, 2 or 4 bytes, `ld` elements apart, to
// `destination` (16-byte aligned); the elements between the end of one of its lines and the next become zero.
// The source is aligned to its element; bytes between its rows may be read, bytes outside its first and last
// element are not. lines, length > 0.
//
// transposed: line i of the copy is made of the i-th elements of all lines; its leading dimension is
// padded_ld(lines). Else that is padded_ld(length).
struct PadCopy {
  const void* source;
  std::int64_t lines, length, ld;
  void* destination;
  std::size_t element_bytes = 2;
  bool transposed = false;
};
constexpr int most_pad_copies = 2;

// Launches up to most_pad_copies copies: those that are not transposed as one kernel, each other as one.
Status pad_copies(Launcher& launcher, const PadCopy* list, int count) noexcept;

// The __global__ function that pad_copies() launches on sm_90, compiled for it alone.
const void* pad_sm_90() noexcept;

// One that is transposed. Elements of 2 bytes: on sm_90.
Status transpose_copy(Launcher& launcher, const PadCopy& copy) noexcept;

// The same to lines `ld` elements apart, at any address, of which nothing is written between the lines.
Status transpose_to(Launcher& launcher, const PadCopy& copy, std::int64_t ld) noexcept;

// Both, of elements of 2 bytes: a copy whose lines are `ld` elements apart and `length` long, >= the source's
// lines; what that has none for is zero.
Status transpose_halves(Launcher& launcher, const PadCopy& copy, std::int64_t ld,
                        std::int64_t length) noexcept;

}  // namespace tenon
