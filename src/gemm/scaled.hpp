// The kernels of block-scaled products (tenon/gemm_scaled.hpp), and the choice among them. Internal to the
// compiled library.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_scaled.hpp"

namespace tenon {

struct ScaledKernel {
  const char* name;
  int tile_m, tile_n;
  int cluster_m, cluster_n, split;  // CTAs of a cluster along m, n and k (cluster split-K)
  // Clocks of a k-tile of 128, of a CTA that has an SM for itself and operands in the L2.
  int k_tile_clocks;
  const char* ptx;  // the file of its PTX
  // Whether the kernel takes the problem, which was validated and has m, n, k > 0; and its launch.
  Status (*check)(const ScaledGemm& problem, const DeviceDescription& device);
  Status (*plan)(const ScaledGemm& problem, const DeviceDescription& device, Launcher& launcher,
                 Launch* launch);
};

struct ScaledKernels {
  const ScaledKernel* kernels;
  int count;
};
// Of this build: none without e4m3 or without code for 9.0.
ScaledKernels block_scaled_kernels() noexcept;
ScaledKernels all_block_scaled_kernels() noexcept;  // scaled_block.cu, which such a build lacks

// The kernel with the least estimated time: k-tiles in waves of CTAs, as fast as they multiply or as memory
// has the weights, and what each tile costs beside them. Pure.
const ScaledKernel* choose_scaled_kernel(const ScaledKernels& kernels, std::int64_t m, std::int64_t n,
                                         std::int64_t k, int multiprocessors) noexcept;

}  // namespace tenon
