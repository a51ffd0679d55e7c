// The wgmma backward kernels of one type: for head dimensions 64 and 128 one without a mask and one with the
// causal mask, of plain scores.
#pragma once

#include "attention/backward_kernels.hpp"
#include "attention/plain_score_check.hpp"
#include "attention/with_tensor_maps.hpp"
#include "tenon/attention/launch_backward_sm90.hpp"

namespace tenon {

template <class T, int head, class Mask>
void append_attention_backward_wgmma_of(const char* ptx, const char* variant,
                                        std::vector<AttentionBackwardKernel>& list) {
  using Kernel = sm90::AttentionBackwardKernel<AttentionBackwardConfig<T, head>, Mask>;
  AttentionBackwardKernel kernel;
  kernel.name = std::string(ptx) + "_" + std::to_string(head) + variant;
  kernel.ptx = ptx;
  kernel.takes = [](const AttentionBackwardProblem& p, const DeviceDescription& device) {
    if (Status s = Kernel::check(p, device); !s) return s;
    return takes_plain_score(p.forward);
  };
  kernel.workspace = [](const AttentionBackwardProblem& p, const DeviceDescription& device) {
    return static_cast<std::size_t>(Kernel::workspace(p, device).bytes);
  };
  kernel.fill = [](const AttentionBackwardKernel& self, const AttentionBackwardProblem& p,
                   const DeviceDescription& device, Launcher& launcher, BackwardLaunches* launches) {
    return with_tensor_maps(launcher, [&](const auto& make_map) {
      return Kernel::plan(p, device, self.ptx.c_str(), make_map, launches);
    });
  };
  list.push_back(kernel);
}

template <class T>
void append_attention_backward_wgmma(const char* ptx, std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_wgmma_of<T, 64, FullMask>(ptx, "_full", list);
  append_attention_backward_wgmma_of<T, 64, CausalMask>(ptx, "_causal", list);
  append_attention_backward_wgmma_of<T, 128, FullMask>(ptx, "_full", list);
  append_attention_backward_wgmma_of<T, 128, CausalMask>(ptx, "_causal", list);
}

}  // namespace tenon
