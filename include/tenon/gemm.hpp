// The host API: C = alpha * A * B + beta * C on tensor cores.
//
//   tenon::Gemm problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, lda, tenon::row_major};        // the element type follows from the pointer
//   problem.b = {b, ldb, tenon::column_major};
//   problem.c = {c, ldc};
//   if (tenon::Status s = tenon::gemm(problem, stream); !s) std::cerr << s.message();
//
// No hidden synchronisation, no exception, nothing that changes from call to call, and no hidden allocation:
// of device memory none, of host memory only in the first call, which builds the list of kernels, and where
// the device refuses kernels. Link with tenon::tenon.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/problem.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

class Tuning;  // tuning.hpp

// One product. A is m x k, B is k x n, C is m x n.
//
// Any m, n, k >= 0 (up to 2^31 - 4096; but of the last three rows below with C in f32 or s32, n up to
// 2^30 - 1), any leading dimension that holds a row (or column), any pointer aligned to its element.
// beta == 0 does not read C (NaN there does not spread). k == 0 or alpha == 0 gives beta * C. C may not
// overlap A or B.
//
//   A and B                           accumulate    C                 runs on
//   f16, f16                          f32, f16      f16, bf16, f32    sm_80 to sm_90
//   bf16, bf16                        f32           f16, bf16, f32    sm_80 to sm_90
//   tf32, tf32                        f32           f16, bf16, f32    sm_90
//   e4m3 or e5m2, e4m3 or e5m2        f32           f16, bf16, f32    sm_90
//   s8, s8                            s32           s32               sm_90
//
// For newer devices than sm_90 the first two rows have to be built: name them in TENON_ARCHITECTURES (CMake).
// With s32 alpha and beta are whole numbers, and sums beyond 32 bits wrap around. The types of the last three
// rows are multiplied with A row-major and B column-major; where they lie otherwise, or begin at an odd
// address, the workspace takes a copy and is not optional.
//
// What is written, C and the workspace, overlaps nothing else that the problem names: A, B, the factors, each
// other. Two strided matrices may lie between each other's lines if one leading dimension, in bytes, is a
// multiple of the other, as those of parts of one buffer are; with others they may not cross. With alpha == 0
// A and B are not looked at, and may be null.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  Matrix c;
  float alpha = 1.0F, beta = 0.0F;
  // The precision in which products are summed: above. Where blocks divide k, their sums in f16 are added in
  // f32.
  Type accumulate = Type::f32;
  // fp8 only. The tensor core keeps 13 bits behind the leading one of a sum of fp8 products, at every step;
  // with `promote` it sums 128 products at a time, and those sums are added in f32.
  bool promote = false;
  // fp8 only: device pointers to one factor each, of A and of B; null stands for 1.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  // nullptr: the documented choice (src/gemm/select.hpp). Else a name that `tenon list` prints.
  const char* kernel = nullptr;
  // Measured choices (tenon/tuning.hpp), which come before the documented one; may be null. Lives as long as
  // the call.
  const Tuning* tuning = nullptr;
  // Device memory of at least workspace_size(problem) bytes, 256-byte aligned; may be null. Without it the
  // problem is still computed (but see above), by a path that may be slower (operands that cannot be copied
  // 16 bytes at a time).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// Whether gemm() can compute the problem on the current device, and if not why. Touches no device memory.
Status can_implement(const Gemm& problem) noexcept;

// Bytes of workspace with which gemm() runs this problem fastest on the current device; 0 for most problems,
// and where there is nothing to run: a problem that is not valid, no device. May be asked before anything is
// allocated: a matrix whose pointer is null counts as one that begins on a multiple of 256 bytes.
// problem.workspace is not looked at.
std::size_t workspace_size(const Gemm& problem) noexcept;

// The kernel that gemm() would run first for the problem on the current device; nullptr if can_implement()
// fails or there is no product to compute (m, n or k is 0, or alpha is).
const char* kernel_name(const Gemm& problem) noexcept;

// Enqueues the product on the stream of the current device and returns. On failure C was not written: nothing
// was launched, or nothing but copies of operands into the workspace.
//
// If the device refuses the kernel that the library chose (its clusters, shared memory or registers, a tensor
// map that cannot be encoded), the next best one is launched in its place, and so on; if none is left the
// sentence is that of the first refusal, device_unsupported. A kernel named by problem.kernel has no
// substitute, and errors of the stream or of what ran before it are returned at once, cuda_error.
Status gemm(const Gemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
