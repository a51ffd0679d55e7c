// The host API for batches: many products of the same sizes, types and leading dimensions in one launch.
//
//   tenon::BatchedGemm batch;
//   batch.problem.m = m; batch.problem.n = n; batch.problem.k = k;
//   batch.problem.a = {a, lda, tenon::row_major};     // A, B and C of problem 0
//   batch.problem.b = {b, ldb, tenon::column_major};
//   batch.problem.c = {c, ldc};
//   batch.count = 1000;
//   batch.stride_a = m * lda; batch.stride_b = 0; batch.stride_c = m * ldc;   // all share one B
//   if (tenon::Status s = tenon::gemm_batched(batch, stream); !s) std::cerr << s.message();
//
// There is no hidden synchronisation, no exception, no state between calls, and no allocation of device
// memory. Host memory is allocated only by the first call, which builds the list of kernels. Link with
// tenon::tenon.
#pragma once

#include "tenon/gemm.hpp"

namespace tenon {

// A and B in f16 or bf16, accumulators in f32, C in f16, bf16 or f32, on sm_80 to sm_90. Any order of A and
// B, any m, n and k, any leading dimension and stride, any pointer aligned to its element.
//
// Each of A, B and C lies either `stride` elements after that of the problem before, or where a list says.
// C must not overlap A, B, the lists, or the C of another problem. The library checks what it can: it does
// not know the pointers of a list.
struct BatchedGemm {
  // Sizes, types, orders, leading dimensions, alpha and beta of all problems, and the matrices of problem 0.
  // kernel: one of those for batches, as kernel_name() returns them. Its tuning and workspace are not
  // used. With a limit of multiprocessors, kernels with one CTA for each tile (cp_async, direct) run only if
  // there are no more tiles.
  Gemm problem;
  std::int64_t count = 0;  // problems: 0 to 2^31 - 1
  // Elements from the matrix of one problem to that of the next, >= 0. 0 for A or B: all problems share it.
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  // Lists of `count` pointers in device memory. Where one is given, the pointer and the stride of that matrix
  // above are not used.
  const void* const* a_pointers = nullptr;
  const void* const* b_pointers = nullptr;
  void* const* c_pointers = nullptr;
  // A promise that the pointers in a_pointers and b_pointers are multiples of this many bytes: a power of
  // two. 0 promises that they are aligned to their element. The kernels for larger problems copy A and B
  // faster if everything is a multiple of 16.
  int list_alignment = 0;
};

// Whether gemm_batched() can compute the batch on the current device, and if not, why. Reads no device
// memory.
Status can_implement(const BatchedGemm& batch) noexcept;

// The kernel that gemm_batched() would launch. nullptr if can_implement() fails or if there is nothing to do.
const char* kernel_name(const BatchedGemm& batch) noexcept;

// Enqueues all products, in one launch, on a stream of the current device, and returns. If it fails, nothing
// was launched.
Status gemm_batched(const BatchedGemm& batch, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
