// The list of compiled backward kernels of attention. Internal to the compiled library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/attention/backward_problem.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

struct BackwardLaunches;

struct AttentionBackwardKernel {
  std::string name;  // unique, lower case: "attention_backward_mma_f16_128"
  std::string ptx;   // the file of its PTX, without folder and extension
  // Whether the kernel computes the problem, which check_problem() takes and which is not empty, and if not
  // why.
  Status (*takes)(const AttentionBackwardProblem& problem, const DeviceDescription& device);
  std::size_t (*workspace)(const AttentionBackwardProblem& problem, const DeviceDescription& device);
  // Adds the launches. `launcher` makes tensor maps.
  Status (*fill)(const AttentionBackwardKernel& kernel, const AttentionBackwardProblem& problem,
                 const DeviceDescription& device, Launcher& launcher, BackwardLaunches* launches);
};

// All of this build, in the order in which the library tries them.
const std::vector<AttentionBackwardKernel>& attention_backward_kernels();

// nullptr if there is none of that name.
const AttentionBackwardKernel* find_attention_backward_kernel(std::string_view name);

// The sources of the kernels: each appends its kernels.
void append_attention_backward_mma_f16(std::vector<AttentionBackwardKernel>& list);
void append_attention_backward_mma_bf16(std::vector<AttentionBackwardKernel>& list);
void append_attention_backward_wgmma_f16(std::vector<AttentionBackwardKernel>& list);
void append_attention_backward_wgmma_bf16(std::vector<AttentionBackwardKernel>& list);

}  // namespace tenon
