// The host API: D = epilogue(alpha * A * B + beta * C) on tensor cores, where D is C unless you name it.
//
//   tenon::Gemm problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, lda, tenon::row_major};        // the element type follows from the pointer
//   problem.b = {b, ldb, tenon::column_major};
//   problem.c = {c, ldc};
//   if (tenon::Status s = tenon::gemm(problem, stream); !s) std::cerr << s.message();
//
// There is no hidden synchronisation, no exception, and no allocation of device memory. Host memory is
// allocated only by the first call, which builds the list of kernels, and if the device refuses a kernel.
// Each thread remembers which kernels it chose for its last problems (64 at most), and nothing else. To
// decide once and for all, prepare the product: gemm_prepared.hpp. Link with tenon::tenon.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/epilogue_options.hpp"
#include "tenon/gemm/problem.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

class Tuning;  // tuning.hpp

// One product. A is m x k, B is k x n, C and D are m x n. Without `d` and `epilogue`, C = alpha * A * B +
// beta * C.
//
// Any m, n, k from 0 to 2^31 - 4096, any leading dimension that holds a row (or column), any pointer aligned
// to its element. (With `promote` and C in f32, n is at most 2^30 - 1.) beta == 0 does not read C, so that a
// NaN there does not spread. k == 0 or alpha == 0 gives beta * C.
//
//   A and B                           accumulate    C                 runs on
//   f16, f16                          f32, f16      f16, bf16, f32    sm_80 to sm_90
//   bf16, bf16                        f32           f16, bf16, f32    sm_80 to sm_90
//   f64, f64                          f64           f64               sm_80 to sm_90
//   tf32, tf32                        f32           f16, bf16, f32    sm_80 to sm_90
//   e4m3 or e5m2, e4m3 or e5m2        f32           f16, bf16, f32    sm_89 to sm_90; `promote`: sm_90
//   s8, s8                            s32           s32               sm_80 to sm_90
//   s8, s8                            s32           f16, bf16, f32    sm_80 to sm_90
//   f32, f32, with a precision        f32           f16, bf16, f32    sm_80 to sm_90; bf16x6, tf32x3: sm_90
//
// For devices newer than sm_90 the kernels have to be built: name the architectures in TENON_ARCHITECTURES
// (CMake). Accumulators in s32 wrap beyond 32 bits around. With C in s32, alpha and beta are whole numbers;
// any other C is computed from the sums in f32. The kernels of the last five rows read A row-major and B
// column-major, with rows (columns) on multiples of 16 bytes. For other operands the workspace holds a copy,
// and is not optional.
//
// With accumulators in f32 that are not promoted, the result may also be e4m3, e5m2 or s8, with `epilogue`'s
// scale_d.
//
// C and the workspace may overlap neither each other nor A, B or the factors. Two strided matrices may
// interleave, as parts of one buffer do, if one leading dimension, in bytes, is a multiple of the other. With
// other leading dimensions the intervals from their first to their last byte must not overlap. With alpha ==
// 0 A and B are not read, and may be null.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  Matrix c;
  // Rounded to f32, unless the accumulators are f64.
  double alpha = 1.0, beta = 0.0;
  // Where the result goes, with its own type and leading dimension. Without it (null, ld 0) the result goes
  // to C. It may be C itself, with the same leading dimension and type, but may not overlap it otherwise.
  Matrix d;
  // What is applied to alpha * A * B + beta * C before the result is stored: scales of rows and columns,
  // bias, an activation. Of 16-bit, tf32 and fp8 operands with f32 accumulators, and of s8 operands where the
  // result is not s32.
  EpilogueOptions epilogue;
  // The type of the accumulators, as in the table above. Split-K kernels add f16 accumulators of several CTAs
  // in f32.
  Type accumulate = Type::f32;
  // bf16, tf32 and fp8 only. At every step, the tensor core truncates the sum of products: to 13 bits below
  // the leading one with fp8, else to 23. With `promote` it accumulates 128 bytes of k at a time (128
  // products of fp8, 64 of bf16, 32 of tf32), and the kernel adds these accumulators in f32.
  bool promote = false;
  // A and B of f32 only, and needed for them: how they are multiplied. The workspace holds them as they are
  // multiplied, and is not optional. But f16 and bf16 round operands whose rows begin on multiples of 16
  // bytes as they are loaded, in one launch, where that is faster or where the workspace is too small. Names
  // of kernels and tuning tables are those of the type of the parts.
  //
  // The error of an element, relative to the sum of the magnitudes of its products, is at most, beside that
  // of the accumulators:
  //   f16     2^-10 (and 2^-25 for an element below 2^-14; above 65504 it becomes infinite)
  //   tf32    2^-10      bf16    2^-7       bf16x3  2^-14
  //   tf32x3  2^-21      bf16x6  2^-23, as if C were the exact product of A and B rounded to f32
  // Infinity and NaN are multiplied as f32 multiplies them. One exception: infinity times an element that
  // rounds to zero (below 2^-134; for f16 2^-25) is NaN.
  Precision precision = Precision::none;
  // fp8, and s8 with C not in s32: device pointers to one factor of A and one of B. Null stands for 1.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  // nullptr: the library's choice (src/gemm/select.hpp). Otherwise a name that `tenon list` prints.
  const char* kernel = nullptr;
  // Measured choices (tenon/tuning.hpp), which override the library's choice. May be null. Must live until
  // the call returns.
  const Tuning* tuning = nullptr;
  // Device memory of at least workspace_size(problem) bytes, 256-byte aligned. May be null: then operands
  // whose rows do not begin on multiples of 16 bytes take a slower kernel (or are unsupported, see above).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  // The most multiprocessors that the launches of the call use, copies of operands included; 0: all of the
  // device. For a device that also runs something else, such as communication. The kernel is chosen for so
  // many. No launch has more CTAs, and the device places them where it has room. It does not know of green
  // contexts: in one, pass the number of its multiprocessors. A MIG instance counts as a device.
  //
  // Kernels of wgmma and TMA compute any product so; the others, one CTA for each tile, only if C has no more
  // tiles. unsupported where no kernel can; invalid_argument if the limit is negative or larger than the
  // device.
  int multiprocessors = 0;
  // On sm_90 most launches begin while what runs before them on the stream ends (programmatic dependent
  // launch): src/gemm/README.md, "Overlapping launches", says what that takes. false: they begin after it.
  bool overlaps_previous = true;
};

// Whether gemm() can compute the problem on the current device, and if not, why. Reads no device memory.
Status can_implement(const Gemm& problem) noexcept;

// Bytes of workspace with which gemm() runs this problem fastest on the current device. 0 for most problems,
// for invalid problems, and without a device. It may be called before anything is allocated: a null matrix
// counts as one that begins on a multiple of 256 bytes. problem.workspace is ignored.
std::size_t workspace_size(const Gemm& problem) noexcept;

// The kernel that gemm() would launch first for the problem on the current device. nullptr if can_implement()
// fails or if there is no product to compute (m, n, k or alpha is 0).
const char* kernel_name(const Gemm& problem) noexcept;

// Enqueues the product on a stream of the current device and returns. If it fails, C is unchanged: nothing
// was launched, except perhaps copies of operands into the workspace. (One exception: precisions bf16x6 and
// tf32x3 may take two launches. If the device refuses every kernel for the second one, C holds the result of
// the first, and the status says so.)
//
// If the device refuses the kernel that the library chose (its clusters, shared memory or registers, or a
// tensor map that cannot be encoded), gemm() launches the next best kernel, and so on. If no kernel is left,
// the status is that of the first refusal, device_unsupported. A kernel that problem.kernel names is not
// replaced. Errors of the stream or of earlier work are returned at once, as cuda_error.
Status gemm(const Gemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
