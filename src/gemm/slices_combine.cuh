// The last step of products by slices: from the residues of the product to integers (Chinese remainder
// theorem), and to C. The arithmetic is f64, in three exact parts.
#pragma once

#include <utility>

#include "gemm/slices.hpp"
#include "gemm/slices_common.cuh"

namespace tenon {
namespace slices {

// v times 2^x, |x| < 3000, for a v of at most 126 bits before the point. In steps, so that every factor is a
// normal f64.
__device__ __forceinline__ double shifted(double v, int x) {
  if (x > -900 && x < 896) return v * power_of_2(x);
  const int step = x / 3;
  return v * power_of_2(step) * power_of_2(step) * power_of_2(x - 2 * step);
}

struct CombineTask {
  Recombination all;
  const std::uint8_t* residues;
  std::int64_t ld, plane;
  const int *shifts_a, *shifts_b;
  Destination c;
  std::int64_t m, n;
  int count;  // 0: the product is zero
};

// Sums of residues times the parts of their weights.
struct Sums {
  double part[3];
};

template <int I>
__device__ __forceinline__ void add_residues(Sums (&sums)[4], const std::uint32_t (&words)[most_moduli],
                                             const CombineTask& task) {
  if (I < task.count) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // The byte in the lowest bits of 2^52 as an f64.
      const auto low = static_cast<int>(__byte_perm(words[I], 0, 0x4440 + i));
      const double residue = __hiloint2double(0x43300000, low) - 4503599627370624.0;
#pragma unroll
      for (int part = 0; part < 3; ++part)
        sums[i].part[part] = fma(task.all.weight[I].part[part], residue, sums[i].part[part]);
    }
  }
}
template <int... I>
__device__ __forceinline__ void add_all(Sums (&sums)[4], const std::uint8_t* from, const CombineTask& task,
                                        std::integer_sequence<int, I...>) {
  std::uint32_t words[most_moduli];
  // The bytes plus 128.
  ((words[I] = I < task.count
                   ? __ldcs(reinterpret_cast<const std::uint32_t*>(from + I * task.plane)) ^ 0x80808080U
                   : 0U),
   ...);
  (add_residues<I>(sums, words, task), ...);
}

// The integer of the sums, modulo P nearest to 0, rounded to f64.
__device__ __forceinline__ double integer_of(const Sums& sums, const CombineTask& task) {
  const double quotient = rint(sums.part[0] * task.all.inverse);
  double d[3];  // exact: see Parts
#pragma unroll
  for (int i = 0; i < 3; ++i) d[i] = fma(-quotient, task.all.product.part[i], sums.part[i]);
  // The sum and its rounding error (Knuth), so that what an f64 holds comes out exactly.
  const double sum = d[0] + d[1], of_second = sum - d[0];
  const double error = (d[0] - (sum - of_second)) + (d[1] - of_second);
  return sum + (error + d[2]);
}

__device__ __forceinline__ void store_element(const CombineTask& task, std::int64_t row, std::int64_t column,
                                              double value) {
  if (column >= task.n) return;
  double* const to = task.c.data + row * task.c.ld + column;
  *to = task.c.beta == 0.0 ? value : fma(task.c.beta, *to, value);
}

// Two adjacent elements of a row, in one access where it is aligned.
__device__ __forceinline__ void store_pair(const CombineTask& task, std::int64_t row, std::int64_t column,
                                           double one, double other) {
  double* const to = task.c.data + row * task.c.ld + column;
  if (column + 1 < task.n && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    auto* const pair = reinterpret_cast<double2*>(to);
    if (task.c.beta != 0.0) {
      const double2 before = *pair;
      one = fma(task.c.beta, before.x, one);
      other = fma(task.c.beta, before.y, other);
    }
    __stcs(pair, make_double2(one, other));
    return;
  }
  store_element(task, row, column, one);
  store_element(task, row, column + 1, other);
}

__device__ __forceinline__ double value_of(const Sums& sums, const CombineTask& task, int shift_a,
                                           int shift_b) {
  if (shift_a == not_finite || shift_b == not_finite) return __longlong_as_double(0x7ff8000000000000LL);
  return task.c.alpha * shifted(integer_of(sums, task), -(shift_a + shift_b));
}

// A thread has the four elements of a word of residues, in one row.
__device__ __forceinline__ void combine_row(const CombineTask& task, std::int64_t row, std::int64_t word) {
  // Words 4 * lane to 4 * lane + 3 of 64 columns are those of a lane (column_of()).
  const int lane = static_cast<int>(word % 16 / 4), byte = static_cast<int>(word % 4) * 4;
  const std::int64_t block = word / 16 * 64;
  const std::int64_t columns[2] = {block + column_of(lane, byte), block + column_of(lane, byte + 2)};
  if (columns[0] >= task.n) return;
  double values[4] = {};
  if (task.count > 0) {
    Sums sums[4] = {};
    add_all(sums, task.residues + row * task.ld + 4 * word, task,
            std::make_integer_sequence<int, most_moduli>());
    const int shift_a = task.shifts_a[row];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t column = columns[i / 2] + i % 2;
      values[i] = value_of(sums[i], task, shift_a, column < task.n ? task.shifts_b[column] : 0);
    }
  }
  store_pair(task, row, columns[0], values[0], values[1]);
  if (columns[1] < task.n) store_pair(task, row, columns[1], values[2], values[3]);
}

}  // namespace slices
}  // namespace tenon
