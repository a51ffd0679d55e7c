// Operands and checks on the device: random normal data, poison, and the comparison with the expected result.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon::microbench {

// Fills `rows` contiguous rows of `length` elements, ld elements apart (the columns of a column-major
// matrix), with N(0,1) rounded to the type: tf32 with the lowest 13 bits zero, so that FP32 arithmetic sees
// the same numbers; s8 scaled by 42 and clamped to 127. The gap between length and ld is filled with NaN, of
// s8 with -128, which exposes a kernel that multiplies it. The same seed gives the same matrix for any ld.
// Not for s32. Enqueued on the stream.
void fill_normal(void* matrix, Type type, std::int64_t rows, std::int64_t length, std::int64_t ld,
                 std::uint64_t seed, cudaStream_t stream);

// Converts count elements of e4m3 or e5m2 to f16, which is exact: the product of the copies is the product of
// the originals, without fp8 arithmetic. Enqueued on the stream.
void copy_as_f16(const void* elements, Type type, std::int64_t count, void* copies, cudaStream_t stream);

// Converts count elements of f16 or bf16 to f32, which is exact. Enqueued on the stream.
void copy_as_f32(const void* elements, Type type, std::int64_t count, float* copies, cudaStream_t stream);

// Gated pairs, in f16 or bf16: products[i] = silu(pairs[2i]) * pairs[2i + 1] for `count` elements of `pairs`,
// a multiple of 8. Each thread reads 16 bytes at a time. Enqueued on the stream.
void gate_pairs(const void* pairs, Type type, std::int64_t count, void* products, cudaStream_t stream);

// Fills a result with a value that no kernel computes: bytes of 0xff, NaN in each of the floating-point
// types; for s32 bytes of 0x80, which only 130000 products of s8 could sum to.
void poison(void* data, Type type, std::size_t bytes, cudaStream_t stream);

struct Comparison {
  double max_error = 0;          // max |computed - expected|; infinity if a NaN was computed
  double max_expected = 0;       // max |expected|
  double relative_error = 0;     // Frobenius norm of computed - expected over that of expected
  double bias = 0;               // sum of (computed - expected) * sign(expected) over that of |expected|
  unsigned long long wrong = 0;  // elements with |computed - expected| > relative * |expected| + absolute
  unsigned long long overwritten = 0;  // elements between n and ldc that no longer hold the poison
};

// Compares the row-major m x n result (leading dimension ldc, poisoned before) with expected values of
// leading dimension n: floats, or 32-bit integers for a result in s32. Integers are compared as integers, so
// with tolerances of 0 every bit counts. Waits for the stream.
Comparison compare(const void* computed, Type type, std::int64_t ldc, const void* expected, std::int64_t m,
                   std::int64_t n, double relative, double absolute, cudaStream_t stream);

}  // namespace tenon::microbench
