// The mma.sync backward kernels of one type: for each head dimension a pair that takes every mask and score.
#pragma once

#include "attention/backward_kernels.hpp"
#include "tenon/attention/launch_backward.hpp"

namespace tenon {

template <class T, int head, int value, int visited>
void append_attention_backward_mma_of(const char* ptx, std::vector<AttentionBackwardKernel>& list) {
  using Kernel = sm80::AttentionBackwardKernel<T, head, value, visited>;
  AttentionBackwardKernel kernel;
  kernel.name = std::string(ptx) + "_" + std::to_string(head);
  if (value != head) kernel.name += "_" + std::to_string(value);
  kernel.ptx = ptx;
  kernel.takes = &Kernel::check;
  kernel.workspace = [](const AttentionBackwardProblem& p, const DeviceDescription&) {
    return static_cast<std::size_t>(backward_workspace(p.forward).bytes);
  };
  kernel.fill = [](const AttentionBackwardKernel& self, const AttentionBackwardProblem& p,
                   const DeviceDescription& device, Launcher&, BackwardLaunches* launches) {
    Kernel::plan(p, device, self.ptx.c_str(), launches);
    return Status();
  };
  list.push_back(kernel);
}

// Rows of a stage: the shared memory of sm_86 and sm_89, 99 KB, holds each.
template <class T>
void append_attention_backward_mma(const char* ptx, std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_mma_of<T, 32, 32, 32>(ptx, list);
  append_attention_backward_mma_of<T, 64, 64, 32>(ptx, list);
  append_attention_backward_mma_of<T, 96, 96, 32>(ptx, list);
  append_attention_backward_mma_of<T, 128, 128, 32>(ptx, list);
  append_attention_backward_mma_of<T, 192, 192, 32>(ptx, list);
  append_attention_backward_mma_of<T, 192, 128, 32>(ptx, list);
  append_attention_backward_mma_of<T, 256, 256, 16>(ptx, list);
}

}  // namespace tenon
