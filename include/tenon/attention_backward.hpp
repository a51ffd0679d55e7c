// The host API of the backward pass of attention: dQ, dK and dV from dO.
//
//   tenon::AttentionBackwardProblem problem;
//   problem.forward = forward;                       // with o and log_sum_exp, as attention() left them
//   problem.d_o = {d_o, 32 * 128, 128, n * 32 * 128};
//   problem.dq = ..., problem.dk = ..., problem.dv = ...;
//   problem.workspace_bytes = tenon::workspace_size(problem);
//   cudaMalloc(&problem.workspace, problem.workspace_bytes);
//   if (tenon::Status s = tenon::attention_backward(problem, stream); !s) std::cerr << s.message();
//
// Takes what tenon/attention.hpp does in f16 and bf16, but head dimensions 576 with 512, and none of
// query_offsets, key_offsets, key_lengths, pages and sinks. No input may be NaN or infinite, not even where
// the mask hides it: what it would add has the factor 0, and the product is NaN.
//
// Nothing is allocated on the device, nothing synchronises. Host memory is allocated only by the first call,
// which builds the list of kernels. Link with tenon::tenon.
#pragma once

#include "tenon/attention/backward_problem.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

// Bytes of workspace that attention_backward() needs for the problem on the current device. 0 if
// can_implement() fails for another reason than the workspace, as with a null tensor, or if there is nothing
// to compute.
// problem.workspace is ignored. kernel: a name of attention_backward_kernel_name(), or null, and the library
// chooses.
std::size_t workspace_size(const AttentionBackwardProblem& problem, const char* kernel = nullptr) noexcept;

// Whether attention_backward() can compute the problem on the current device, and if not, why. Reads no
// device memory.
Status can_implement(const AttentionBackwardProblem& problem, const char* kernel = nullptr) noexcept;

// The kernel that attention_backward() would launch on the current device. nullptr if can_implement() fails
// for another reason than the workspace, or if there is nothing to compute.
const char* kernel_name(const AttentionBackwardProblem& problem, const char* kernel = nullptr) noexcept;

// The index-th kernel of this build; nullptr beyond the last.
const char* attention_backward_kernel_name(int index) noexcept;

// Enqueues the computation on a stream of the current device and returns. If it fails, no gradient was
// written, except perhaps by the first of its launches.
Status attention_backward(const AttentionBackwardProblem& problem, CUstream_st* stream = nullptr,
                          const char* kernel = nullptr) noexcept;

}  // namespace tenon
