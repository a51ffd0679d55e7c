// The kernels of block-scaled products.
#include "gemm/scaled.hpp"
#include "tenon/gemm/launch_sm90_block_scaled.hpp"

namespace tenon {
namespace {

template <class Config>
struct Row {
  using Kernel = sm90::BlockScaledGemmKernel<Config>;

  static BlockScaledProduct product_of(const ScaledGemm& p) {
    return {{p.m, p.n, p.k, p.a, p.b, p.c}, p.scale_a, p.scale_b};
  }
  static Status check(const ScaledGemm& problem, const DeviceDescription& device) {
    return Kernel::check(product_of(problem), device);
  }
  static Status plan(const ScaledGemm& problem, const DeviceDescription& device, Launcher& launcher,
                     Launch* launch) {
    return Kernel::plan(product_of(problem), {problem.alpha, problem.beta}, device, launcher, launch);
  }
  static constexpr ScaledKernel of(const char* name, int k_tile_clocks) {
    using Cluster = typename Config::Cluster;
    return {name,       Config::Block::m, Config::Block::n, Cluster::m, Cluster::n,
            Cluster::k, k_tile_clocks,    "scaled_block",   &check,     &plan};
  }
};

template <int M, int N, int Split>
using SplitK = sm90::BlockScaledConfig<M, N, ClusterShape<1, 1, Split>, 1,
                                       sm90::stages_that_fit((M + N) * 128 + 1024, 60 * 1024)>;

// The clocks of a k-tile are measured: H200, m = 64, 128 and 4096, weights cold (microbench/HISTORY.md).
constexpr ScaledKernel all[] = {
    Row<sm90::BlockScaledConfig<128, 128, ClusterShape<2, 1>, 2>>::of("block_scaled_128x128_c2x1", 560),
    Row<sm90::BlockScaledConfig<128, 192, ClusterShape<2, 1>, 2>>::of("block_scaled_128x192_c2x1", 790),
    Row<sm90::BlockScaledConfig<256, 128, ClusterShape<1, 2>, 2>>::of("block_scaled_256x128_c1x2", 1065),
    Row<sm90::BlockScaledConfig<128, 64, ClusterShape<1, 1>>>::of("block_scaled_128x64", 455),
    Row<SplitK<128, 64, 2>>::of("block_scaled_128x64_splitk2", 455),
    Row<sm90::BlockScaledConfig<64, 64, ClusterShape<1, 1>>>::of("block_scaled_64x64", 300),
    Row<SplitK<64, 64, 2>>::of("block_scaled_64x64_splitk2", 300),
};

}  // namespace

ScaledKernels all_block_scaled_kernels() noexcept {
  return {all, static_cast<int>(sizeof all / sizeof all[0])};
}

}  // namespace tenon
