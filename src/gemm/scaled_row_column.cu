// The kernels of products with a scale for each row of A and each column of B.
#include "gemm/scaled.hpp"
#include "tenon/gemm/launch_sm90.hpp"
#include "tenon/gemm/row_column_scaled.hpp"

namespace tenon {
namespace {

template <class Config>
struct Row {
  using Kernel = sm90::GemmKernel<Config, RowColumnScaled>;

  static Product product_of(const ScaledGemm& p) { return {p.m, p.n, p.k, p.a, p.b, p.c}; }
  static Status check(const ScaledGemm& problem, const DeviceDescription& device) {
    return Kernel::check(product_of(problem), device);
  }
  static Status plan(const ScaledGemm& p, const DeviceDescription& device, Launcher& launcher,
                     Launch* launch) {
    const Output c{p.c.data, p.c.ld, static_cast<int>(p.m), static_cast<int>(p.n), p.c.type};
    return Kernel::plan(product_of(p), {{p.alpha, p.beta}, p.scale_a.data, p.scale_b.data, c}, device,
                        launcher, launch);
  }
  static constexpr ScaledKernel of(const char* name, int k_tile_clocks) {
    return {name,
            ScaleMode::per_row_column,
            Config::Block::m,
            Config::Block::n,
            Config::Cluster::k,
            k_tile_clocks,
            "scaled_row_column",
            &check,
            &plan};
  }
};

// In the ping-pong kernel one consumer multiplies while the other loads scales and stores.
constexpr ScaledKernel all[] = {
    Row<sm90::PingpongConfig<e4m3, float, 128, 128>>::of("row_column_scaled_128x128_c2x1_pingpong", 540),
    Row<sm90::Config<e4m3, float, 64, 64, row_major, column_major, ClusterShape<1, 1, 2>, e4m3, 7>>::of(
        "row_column_scaled_64x64_splitk2", 300),
};

}  // namespace

ScaledKernels row_column_scaled_kernels() noexcept {
  return {all, static_cast<int>(sizeof all / sizeof all[0])};
}

}  // namespace tenon
