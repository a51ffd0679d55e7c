// The wgmma kernels for batches of one type of A and B: stacked matrices in layout tn (Stacked).
#pragma once

#include "gemm/batched_describe.hpp"
#include "tenon/gemm/plan_sm90_stacked.hpp"

namespace tenon {

template <class Config>
void append_wgmma_stacked(const char* ptx, std::vector<BatchedKernel>& list) {
  BatchedKernel kernel = describe_batched<Config>("wgmma", Config::pingpong ? "_pingpong" : "");
  kernel.aligned = kernel.stacked = true;
  kernel.threads = GemmWgmma<Config>::threads;
  kernel.shared_bytes = GemmWgmma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_wgmma<Config, LinearCombination>);
  kernel.ptx = ptx;
  kernel.overlaps_previous = true;
  kernel.fill = [](const BatchedProduct& batch, float alpha, float beta, const DeviceDescription& device,
                   Launcher& launcher, Launch* launch) {
    return plan_wgmma_stacked<Config>(batch, LinearCombination{alpha, beta}, device, launcher, launch);
  };
  list.push_back(kernel);
}

template <class T, int M, int N, int Consumers, int Stages>
using ConfigOf = WgmmaConfig<WgmmaOperands<T, T, float>, row_major, column_major, TileShape<M, N, 64>,
                             Consumers, Stages, ClusterShape<1, 1>, 2>;

// The largest tile first.
template <class T>
void append_wgmma_stacked_of_type(const char* ptx, std::vector<BatchedKernel>& list) {
  append_wgmma_stacked<Stacked<ConfigOf<T, 128, 256, 2, 4>>>(ptx, list);
  append_wgmma_stacked<Stacked<Pingpong<ConfigOf<T, 128, 128, 1, 6>>>>(ptx, list);
  append_wgmma_stacked<Stacked<Pingpong<ConfigOf<T, 64, 64, 1, 10>>>>(ptx, list);
}

}  // namespace tenon
