// Checks a Gemm by itself: sizes, pointers, leading dimensions, types, alignment, overlap.
//
// Pure functions, which call no CUDA and know neither kernels nor devices. Each refusal names the value found
// and the value needed.
#pragma once

#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon {

// The rows (or columns) of a matrix in memory: `count` ranges of `range_bytes`, `pitch_bytes` apart. count
// >= 1. The pitch of several ranges is at least range_bytes; that of a single one is ignored.
struct ByteRanges {
  std::uintptr_t base;
  std::uint64_t count, range_bytes, pitch_bytes;
};

// Whether the two share a byte. The answer is exact if one of them has no gaps or if one pitch is a multiple
// of the other, so that two column blocks of one wide matrix do not overlap. overlap_is_exact() says so.
// Otherwise overlap() is true if the intervals from the first to the last byte intersect.
bool overlap(const ByteRanges& x, const ByteRanges& y) noexcept;
bool overlap_is_exact(const ByteRanges& x, const ByteRanges& y) noexcept;

// Whether a limit of multiprocessors makes sense on some device.
Status check_multiprocessors(int limit) noexcept;

// The part of validate() that reads no pointer: sizes, types, orders, leading dimensions.
Status validate_shape(const Gemm& problem) noexcept;

// The memory of one matrix of a problem whose shape is valid: its rows (columns), and whether the pointer is
// there, is aligned, and leaves room for all of the matrix. memory_of() needs a matrix with elements whose
// memory is valid.
enum class Letter { a, b, c };
Status validate_memory(const Gemm& problem, Letter letter) noexcept;
ByteRanges memory_of(const Gemm& problem, Letter letter) noexcept;

// The other part, for a problem whose shape is valid: alignment, address space, overlap.
Status validate_pointers(const Gemm& problem) noexcept;

// Both: ok, or StatusCode::invalid_argument (unsupported for a combination of types) with a sentence.
Status validate(const Gemm& problem) noexcept;

}  // namespace tenon
