// The first step of products by slices: for each row of A and column of B, the power of two with which its
// elements become the largest integers that the moduli hold.
#pragma once

#include "gemm/slices.hpp"
#include "gemm/slices_common.cuh"

namespace tenon {
namespace slices {

struct ShiftOperand {
  Operand operand;
  int* shifts;
};
struct ShiftTask {
  ShiftOperand operand[2];
  double limit;  // of the sum of squares of a row of integers
};

// A sum of squares, in units of 4^(exponent - 1023): f64 has not the range for the squares themselves. The
// square of the largest number is 1 to 4 units.
struct Squares {
  int exponent = 1;  // biased, of the largest number; 2047: of an infinity or NaN
  double sum = 0;

  __device__ __forceinline__ void raise(int to) {
    if (to <= exponent) return;
    const int steps = 2 * (exponent - to);
    sum = steps < -1000 ? 0.0 : sum * power_of_2(steps);
    exponent = to;
  }
  __device__ __forceinline__ void add(const Squares& other) {
    Squares same = other;
    same.raise(exponent);
    raise(same.exponent);
    sum += same.sum;
  }
  template <int N>
  __device__ __forceinline__ void add(const double (&x)[N]) {
    int largest = 1;
#pragma unroll
    for (int i = 0; i < N; ++i) largest = max(largest, __double2hiint(x[i]) >> 20 & 0x7ff);
    raise(largest);
    const double unit = power_of_2(1023 - exponent);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const double scaled = x[i] * unit;
      sum = fma(scaled, scaled, sum);
    }
  }
  // The largest power of two with which the rounded row stays within the limit.
  __device__ __forceinline__ int shift(double limit) const {
    if (exponent == 2047) return not_finite;
    if (sum == 0.0) return 0;
    const int quotient = (__double2hiint(limit / sum) >> 20 & 0x7ff) - 1023;
    return (quotient >> 1) + 1023 - exponent;
  }
};

constexpr int at_once = 8;  // loads in flight of a thread

// k contiguous: a row a warp.
__device__ __forceinline__ void shifts_of_rows(const ShiftOperand& task, double limit) {
  const Operand& x = task.operand;
  const int row = static_cast<int>(blockIdx.x * (threads / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
  if (row >= x.rows) return;
  const double* const data = x.data + row * x.ld;
  Squares squares;
#pragma unroll 1
  for (int k = lane; k < x.k; k += 32 * at_once) {
    double values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) values[i] = k + 32 * i < x.k ? data[k + 32 * i] : 0.0;
    squares.add(values);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    Squares other;
    other.exponent = __shfl_xor_sync(0xffffffffU, squares.exponent, apart);
    other.sum = __shfl_xor_sync(0xffffffffU, squares.sum, apart);
    squares.add(other);
  }
  if (lane == 0) task.shifts[row] = squares.shift(limit);
}

// Rows contiguous: 32 rows a CTA. Each warp reads a part of k.
__device__ __forceinline__ void shifts_of_columns(const ShiftOperand& task, double limit) {
  constexpr int warps = threads / 32;
  __shared__ int exponents[warps][32];
  __shared__ double sums[warps][32];
  const Operand& x = task.operand;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t row = std::int64_t{blockIdx.x} * 32 + lane;
  Squares squares;
#pragma unroll 1
  for (int k = warp; k < x.k; k += warps * at_once) {
    double values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int at = k + warps * i;
      values[i] = at < x.k && row < x.rows ? x.data[at * x.ld + row] : 0.0;
    }
    squares.add(values);
  }
  exponents[warp][lane] = squares.exponent;
  sums[warp][lane] = squares.sum;
  __syncthreads();
  if (warp != 0 || row >= x.rows) return;
#pragma unroll 1
  for (int w = 1; w < warps; ++w) {
    Squares other;
    other.exponent = exponents[w][lane];
    other.sum = sums[w][lane];
    squares.add(other);
  }
  task.shifts[row] = squares.shift(limit);
}

}  // namespace slices
}  // namespace tenon
