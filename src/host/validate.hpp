// Whether a Gemm makes sense by itself: sizes, pointers, leading dimensions, types, alignment, overlap.
//
// Pure: no CUDA call, no look at a kernel or a device. Each refusal names the value found and the value
// needed.
#pragma once

#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon {

// A strided set of byte ranges: `lines` ranges of `line_bytes`, `pitch_bytes` apart (lines >= 1; the pitch of
// several is >= the line, that of a single one is not looked at).
struct ByteLines {
  std::uintptr_t base;
  std::uint64_t lines, line_bytes, pitch_bytes;
};

// Whether the two share a byte. Where overlap_is_exact() says so (one of them has no gaps, or one pitch is a
// multiple of the other) line by line, so that two column blocks of one wide matrix are told apart; otherwise
// true if the ranges from first to last byte meet.
bool overlap(const ByteLines& x, const ByteLines& y) noexcept;
bool overlap_is_exact(const ByteLines& x, const ByteLines& y) noexcept;

// The part of validate() that needs no pointer: sizes, types, orders, leading dimensions.
Status validate_shape(const Gemm& problem) noexcept;

// ok, or StatusCode::invalid_argument (unsupported for a combination of types) with a sentence.
Status validate(const Gemm& problem) noexcept;

}  // namespace tenon
