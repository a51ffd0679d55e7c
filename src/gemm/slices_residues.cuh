// The second step of products by slices: from elements to integers, and to their residues. 8 bytes come in,
// one for each modulus goes out. The arithmetic is bytewise dot products and f32: there is no division.
#pragma once

#include <utility>

#include "gemm/slices.hpp"
#include "gemm/slices_common.cuh"

namespace tenon {
namespace slices {

struct ResidueOperand {
  Operand operand;
  const int* shifts;
  std::int8_t* residues;
  std::int64_t rows;  // padded
};
struct ResidueTask {
  ResidueOperand operand[2];
  std::int64_t ld;
  int count;
};

// What a CTA converts at a time: a warp a row of 128, a lane 4 adjacent elements.
constexpr int tile_rows = 16, tile_k = 128;
constexpr int tile_ld = tile_k + 2;  // in shared memory; even, so that pairs are aligned

// An element as an integer, its bytes as digits to the base 256 from -128 to 127.
struct Digits {
  int low, high;
};
__device__ __forceinline__ Digits digits_of(double x, double factor, double other_factor) {
  const long long integer = __double2ll_rn(x * factor * other_factor);
  constexpr unsigned long long offset = 0x8080808080808080ULL;
  const unsigned long long digits = (static_cast<unsigned long long>(integer) + offset) ^ offset;
  return {static_cast<int>(digits), static_cast<int>(digits >> 32)};
}

// The residue of an integer modulo modulus(I), in the lowest byte.
template <int I>
__device__ __forceinline__ std::uint32_t residue(const Digits& digits) {
  constexpr int p = modulus(I), low = signed_byte_weights(0, p), high = signed_byte_weights(4, p);
  constexpr Reduction by = reduction_of(p);
  const int sum = __dp4a(digits.low, low, __dp4a(digits.high, high, by.start_bits));  // of at most 2^17
  return nearest_residue(__int_as_float(sum), by);
}

template <int I>
__device__ __forceinline__ void store_residues(const Digits (&x)[4], std::int8_t* to, std::int64_t plane,
                                               int count) {
  if (I < count) {
    *reinterpret_cast<std::uint32_t*>(to + I * plane) =
        lowest_bytes({residue<I>(x[0]), residue<I>(x[1]), residue<I>(x[2]), residue<I>(x[3])});
  }
}
template <int... I>
__device__ __forceinline__ void store_all(const Digits (&x)[4], std::int8_t* to, std::int64_t plane,
                                          int count, std::integer_sequence<int, I...>) {
  (store_residues<I>(x, to, plane, count), ...);
}

__device__ __forceinline__ void residues_of_tile(const ResidueTask& task, const ResidueOperand& to,
                                                 std::int64_t first_row, int first_k,
                                                 double (*tile)[tile_ld]) {
  const Operand& x = to.operand;
  if (!x.k_contiguous) {
    constexpr int apart = threads / tile_rows, loads = tile_k / apart;  // of k
    const int in_tile = threadIdx.x % tile_rows, k = threadIdx.x / tile_rows;
    const std::int64_t row = first_row + in_tile;
    const double* const data = x.data + (first_k + k) * x.ld + row;
    const int left = row < x.rows ? x.k - first_k - k : 0;
    double values[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) values[i] = apart * i < left ? __ldcs(data + apart * i * x.ld) : 0.0;
    __syncthreads();  // the tile before has been read
#pragma unroll
    for (int i = 0; i < loads; ++i) tile[in_tile][k + apart * i] = values[i];
    __syncthreads();
  }
  const int in_tile = 4 * (threadIdx.x % 32), k = first_k + in_tile;
  if (k >= task.ld) return;
#pragma unroll 1
  for (int r = threadIdx.x / 32; r < tile_rows; r += threads / 32) {
    const std::int64_t row = first_row + r;
    const int shift = row < x.rows ? to.shifts[row] : not_finite;
    double values[4] = {};
    if (shift != not_finite) {
      if (!x.k_contiguous) {
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = tile[r][in_tile + i];
      } else {
        const double* const data = x.data + row * x.ld + k;
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = k + i < x.k ? __ldcs(data + i) : 0.0;
      }
    }
    // The shift, from -1023 to 1136, in two steps: each is the exponent of an f64.
    const int half = shift == not_finite ? 0 : shift / 2, rest = shift == not_finite ? 0 : shift - half;
    const double factor = power_of_2(half), other_factor = power_of_2(rest);
    Digits digits[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) digits[i] = digits_of(values[i], factor, other_factor);
    store_all(digits, to.residues + row * task.ld + k, to.rows * task.ld, task.count,
              std::make_integer_sequence<int, most_moduli>());
  }
}

}  // namespace slices
}  // namespace tenon
