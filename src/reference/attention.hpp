// Reference attention on the GPU: simple kernels to check the fast ones and to compare them with.
//
//   scalar_f32  one warp a query, key after key; CUDA cores
//   wmma        nvcuda::wmma 16x16x16 on tiles of 32 queries and 32 keys in shared memory; tensor cores; head
//               dimensions of 64
//
// Both take windows, soft cap, slopes, grouped heads, any equal lengths, strides and element-aligned
// pointers; neither takes lengths in device memory, pages and sinks. They accumulate in f32, allocate nothing
// and do not wait.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

struct CUstream_st;

namespace tenon::reference {

enum class AttentionAlgorithm { scalar_f32, wmma };

// The largest head dimension that scalar_f32 takes.
inline constexpr int largest_scalar_head_dimension = 256;

// Whether attention() can compute the problem, and if not why. Checks the problem only, not the machine.
Status can_implement(AttentionAlgorithm algorithm, const AttentionProblem& problem) noexcept;

// Enqueues the computation on the stream of the current device and returns. On failure nothing is launched.
Status attention(AttentionAlgorithm algorithm, const AttentionProblem& problem,
                 CUstream_st* stream = nullptr) noexcept;

// One launcher for each kernel, of a problem that passed can_implement() and is not empty.
Status launch_attention_scalar_f32(const AttentionProblem& problem, CUstream_st* stream) noexcept;
Status launch_attention_wmma(const AttentionProblem& problem, CUstream_st* stream) noexcept;

}  // namespace tenon::reference
