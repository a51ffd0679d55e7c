// Copies an operand into rows that start on 16-byte boundaries, so that the fast kernels can take it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/launch.hpp"

namespace tenon {

// Leading dimension of the copy of a matrix whose rows (columns) have `length` 2-byte elements: a multiple
// of 8.
constexpr std::int64_t padded_ld(std::int64_t length) noexcept {
  return (length + 7) / 8 * 8;
}

// Bytes of the copy.
constexpr std::size_t padded_bytes(std::int64_t lines, std::int64_t length) noexcept {
  return static_cast<std::size_t>(lines) * static_cast<std::size_t>(padded_ld(length)) * 2;
}

// The copy of `lines` rows (columns) of `length` 2-byte elements, `ld` elements apart, to `destination`
// (16-byte aligned) with leading dimension padded_ld(length); the elements past `length` become zero. The
// source is aligned to its element; bytes between its rows may be read, bytes outside its first and last
// element are not. lines, length > 0.
struct PadCopy {
  const void* source;
  std::int64_t lines, length, ld;
  void* destination;
};
constexpr int most_pad_copies = 2;

// Launches up to most_pad_copies copies as one kernel; for no copies nothing.
Status pad_copies(Launcher& launcher, const PadCopy* list, int count) noexcept;

}  // namespace tenon
