// The host API of attention: O = softmax(scale * Q K^T) V, with windows, soft cap, slopes, sinks, grouped
// heads, batches of variable lengths and paged keys.
//
//   tenon::AttentionProblem problem;
//   problem.batch = 1; problem.heads = 32; problem.key_heads = 8; problem.queries = problem.keys = n;
//   problem.head_dimension = problem.value_dimension = 128;
//   problem.q = {q, 32 * 128, 128, n * 32 * 128};    // row, head and batch stride
//   problem.k = {k, 8 * 128, 128, n * 8 * 128};
//   problem.v = {v, 8 * 128, 128, n * 8 * 128};
//   problem.o = {o, 32 * 128, 128, n * 32 * 128};
//   problem.scale = 1 / std::sqrt(128.0F);
//   problem.window = {-1, 0};                        // causal
//   if (tenon::Status s = tenon::attention(problem, stream); !s) std::cerr << s.message();
//
// Head dimensions: 32, 64, 96, 128, 192, 256, and 192 of keys with 128 of values; also 576 with 512 where V
// is the first columns of K (MLA decode; sm_90); f16 and bf16. Any lengths, strides and element-aligned
// pointers; multiples of 16 bytes are fastest. e4m3, with O in f16 or bf16: head dimensions 64, 128 and 256
// on sm_90, batches of equal lengths, pointers and strides of multiples of 16 bytes. V of a key that a query
// does not see may not be NaN or infinite: its weight is 0, and the product NaN. Rows behind the lengths of a
// batch, and pages that its table does not name, may hold anything. Lengths and page tables are read by the
// kernel: the problem says what happens where they are out of range, and other strides, sizes and pointers
// are checked before the launch.
//
// Nothing is allocated on the device, nothing synchronises. With a workspace few queries over many keys are
// fastest: it lets the library split the keys among multiprocessors. Host memory is allocated only by the
// first call, which builds the list of kernels. Link with tenon::tenon.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

// Whether attention() can compute the problem on the current device, and if not, why. Reads no device memory.
// kernel: a name of attention_kernel_name(), or null, and the library chooses.
Status can_implement(const AttentionProblem& problem, const char* kernel = nullptr) noexcept;

// The kernel that attention() would launch on the current device. nullptr if can_implement() fails or if
// there is nothing to compute.
const char* kernel_name(const AttentionProblem& problem, const char* kernel = nullptr) noexcept;

// Bytes of workspace with which attention() runs this problem fastest on the current device. 0 for problems
// whose queries keep the device busy, for invalid problems, and without a device. It may be called before
// anything is allocated: a null tensor counts as one that begins on a multiple of 256 bytes, and offsets or a
// page table count as given where query_rows, key_rows or pages.page_size is not 0. problem.workspace is
// ignored.
std::size_t workspace_size(const AttentionProblem& problem, const char* kernel = nullptr) noexcept;

// The index-th attention kernel of this build; nullptr beyond the last.
const char* attention_kernel_name(int index) noexcept;

// Enqueues the computation on a stream of the current device and returns. If it fails, O and the log-sum-exp
// were not written.
Status attention(const AttentionProblem& problem, CUstream_st* stream = nullptr,
                 const char* kernel = nullptr) noexcept;

}  // namespace tenon
