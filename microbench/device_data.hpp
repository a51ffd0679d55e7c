// Operands and checks on the device: random normal data, poison, and the comparison with the expected result.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon::microbench {

// N(0,1) in `lines` lines of `extent` elements, ld elements apart (rows if row-major, columns if
// column-major). The gap between extent and ld is filled with NaN: a kernel that multiplies it is found out.
// The same seed gives the same matrix whatever ld is. Enqueued on the stream.
void fill_normal(void* matrix, Type type, std::int64_t lines, std::int64_t extent, std::int64_t ld,
                 std::uint64_t seed, cudaStream_t stream);

// Every byte 0xFF: NaN in each of the types.
void poison(void* data, std::size_t bytes, cudaStream_t stream);

struct Comparison {
  double max_error = 0;          // max |computed - expected|; infinity if a NaN was computed
  double max_expected = 0;       // max |expected|
  double relative_error = 0;     // Frobenius norm of computed - expected over that of expected
  unsigned long long wrong = 0;  // elements with |computed - expected| > relative * |expected| + absolute
  unsigned long long overwritten = 0;  // elements between n and ldc that no longer hold the poison
};

// Compares the row-major m x n result (leading dimension ldc, poisoned before) with float values of leading
// dimension n. Waits for the stream.
Comparison compare(const void* computed, Type type, std::int64_t ldc, const float* expected, std::int64_t m,
                   std::int64_t n, double relative, double absolute, cudaStream_t stream);

}  // namespace tenon::microbench
