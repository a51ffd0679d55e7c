// Operands and checks on the device: random normal data, poison, and the comparison with the expected result.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon::microbench {

// N(0,1) in `lines` lines of `extent` elements, ld elements apart (rows if row-major, columns if
// column-major), rounded to the type: to tf32 with the lowest 13 bits zero, so that FP32 arithmetic sees the
// same numbers; to s8 42 times as large, at most 127. The gap between extent and ld is filled with NaN, of s8
// with -128: a kernel that multiplies it is found out. The same seed gives the same matrix whatever ld is.
// Not for s32. Enqueued on the stream.
void fill_normal(void* matrix, Type type, std::int64_t lines, std::int64_t extent, std::int64_t ld,
                 std::uint64_t seed, cudaStream_t stream);

// count elements of e4m3 or e5m2 as f16, which is exact: the product of the copies is the product of the
// originals, without the arithmetic of fp8. Enqueued on the stream.
void copy_as_f16(const void* elements, Type type, std::int64_t count, void* copies, cudaStream_t stream);

// Fills a result with what no kernel leaves there: bytes of 0xff, NaN in each of the floating-point types; of
// s32 bytes of 0x80, which takes 130000 products of s8 to sum up to.
void poison(void* data, Type type, std::size_t bytes, cudaStream_t stream);

struct Comparison {
  double max_error = 0;          // max |computed - expected|; infinity if a NaN was computed
  double max_expected = 0;       // max |expected|
  double relative_error = 0;     // Frobenius norm of computed - expected over that of expected
  double bias = 0;               // sum of (computed - expected) * sign(expected) over that of |expected|
  unsigned long long wrong = 0;  // elements with |computed - expected| > relative * |expected| + absolute
  unsigned long long overwritten = 0;  // elements between n and ldc that no longer hold the poison
};

// Compares the row-major m x n result (leading dimension ldc, poisoned before) with values of leading
// dimension n: floats, with a result in s32 32-bit integers. Integers are compared as integers: with
// tolerances of 0 every bit counts. Waits for the stream.
Comparison compare(const void* computed, Type type, std::int64_t ldc, const void* expected, std::int64_t m,
                   std::int64_t n, double relative, double absolute, cudaStream_t stream);

}  // namespace tenon::microbench
