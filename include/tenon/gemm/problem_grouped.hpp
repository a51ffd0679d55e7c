// The problem of a grouped product: many products in one launch, whose sizes stand in device memory. Plain
// C++17. Below: scaled_problem.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstdint>

#include "tenon/gemm/scaled_problem.hpp"

namespace tenon {

// What belongs to a group.
enum class GroupLayout : int {
  // A and C have m rows. Group g is rows sizes[g] up to sizes[g + 1]: groups + 1 ascending numbers of 0 to m.
  // Any numbers: groups need no alignment and may be empty. Rows before sizes[0] and from sizes[groups] on
  // are not written.
  contiguous = 0,
  // A and C have groups * m rows. Group g is the first sizes[g] of the m rows from g * m on: groups numbers
  // of 0 to m. The other rows are not written.
  masked = 1,
  // Groups divide k: C[g] = A[:, k of g] * B[k of g, :], the gradient of the weights. Group g has k from
  // sizes[g] up to sizes[g + 1]: groups + 1 ascending numbers of 0 to k, any numbers. C[g] is m x n and
  // begins c_stride elements after C[g - 1]; a group without k gives beta * C[g]. A is column-major and B
  // row-major.
  divides_k = 2
};

// Integers in device memory.
struct DeviceIntegers {
  const void* data = nullptr;
  bool words_of_64 = false;

  constexpr DeviceIntegers() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): problem.sizes = offsets
  constexpr DeviceIntegers(const std::int32_t* d) noexcept : data(d) {}
  constexpr DeviceIntegers(const std::int64_t* d) noexcept : data(d), words_of_64(true) {}
  // NOLINTEND(google-explicit-constructor)
};

// A and B are both f16 or both bf16, accumulated in f32; C is f16, bf16 or f32. Where groups are rows, A is
// row-major; B[g] is k x n in either order, and begins b_stride elements after B[g - 1]; b_stride is a
// multiple of B's leading dimension, and 0 if all groups share one B. A, B, their leading dimensions and
// b_stride must be multiples of 16 bytes; with a row-major B and several groups, k must be a multiple of 64.
// C may have any address and leading dimension; c_stride is a multiple of it.
//
// Or both are e4m3, block-scaled as DeepSeek-V3 has them (ScaleMode::block_1x128_128x128 of gemm_scaled.hpp),
// where groups are rows and B is column-major. BlockScales has the layout of the scales: those of A by its
// rows, gaps between groups included; those of B[g] begin scale_b_stride values after those of B[g - 1], a
// multiple of scale_b.ld, and 0 if all groups share them. Any k.
//
// C may not overlap A, B, the scales, the sizes or the error word. beta == 0 does not read C. k == 0 or alpha
// == 0 gives beta * C in the rows of the groups.
struct GroupedGemm {
  GroupLayout layout = GroupLayout::contiguous;
  std::int64_t groups = 0, m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  std::int64_t b_stride = 0;
  BlockScales scale_a, scale_b;  // of e4m3
  std::int64_t scale_b_stride = 0;
  Matrix c;
  std::int64_t c_stride = 0;  // where groups divide k
  DeviceIntegers sizes;
  float alpha = 1.0F, beta = 0.0F;
  // A word in device memory, or null. A group whose rows (k) leave A, or overlap those of an earlier group,
  // writes nothing; the word becomes 1 + the number of the first such group. Otherwise it stays as it is: the
  // caller sets it to 0 beforehand.
  std::int32_t* error = nullptr;
  // nullptr: the library's choice. Otherwise a name of grouped_kernel_name().
  const char* kernel = nullptr;
  // As those of Gemm.
  int multiprocessors = 0;
  bool overlaps_previous = true;
};

}  // namespace tenon
