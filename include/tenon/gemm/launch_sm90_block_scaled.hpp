// The block-scaled fp8 GEMM of Hopper for embedders: kernel types to give to launch().
//
//   using Kernel = tenon::sm90::BlockScaledGemmKernel<tenon::sm90::BlockScaledConfig<128, 128>>;
//   tenon::BlockScaledProblem<tenon::e4m3, __nv_bfloat16> problem;    // A, B, C as in GemmProblem
//   problem.scale_a = {scales_of_a, m};  problem.scale_b = {scales_of_b, k / 128};
//   tenon::Status s = tenon::launch<Kernel>(problem, {1.0F, 0.0F}, stream);
//
// Compile with -gencode arch=compute_90a,code=sm_90a; runs on compute capability 9.0 alone. Below:
// launch_sm90.hpp, plan_sm90_block_scaled.hpp.
#pragma once

#include "tenon/gemm/launch_sm90.hpp"
#include "tenon/gemm/plan_sm90_block_scaled.hpp"

namespace tenon {

// The product of a block-scaled problem, as a kernel of these orders takes it.
template <class TA, class TC>
BlockScaledProduct product_of(const BlockScaledProblem<TA, TC>& problem, Order a_order, Order b_order) {
  const GemmProblem<TA, TC>& plain = problem;
  return {product_of(plain, a_order, b_order), problem.scale_a, problem.scale_b};
}

}  // namespace tenon

namespace tenon::sm90 {

// M x N: the tile of a CTA; M is 64 or 128, N a multiple of 8 up to 128. In tiles of 64 or 128 columns each
// k-tile has one scale of B; in others a column may belong to either of two, and choosing takes a quarter
// more time (microbench/HISTORY.md). CTAs of a cluster along m share B, those along n share A.
template <int M, int N, class Cluster = ClusterShape<2, 1>, int Subtiles = 1,
          int Stages = stages_that_fit((M + N) * 128 + StageScales<TileShape<M, N, 128>>::bytes,
                                       (4 + (M > 64 ? 16 : 8) * Subtiles) * 1024)>
using BlockScaledConfig =
    BlockScaled<WgmmaConfig<WgmmaOperands<e4m3, e4m3, float, true>, row_major, column_major,
                            TileShape<M, N, 128>, (M > 64 ? 2 : 1), Stages, Cluster, Subtiles>>;

// C = op(sum over blocks of k of (A * B) * scale of A * scale of B). Each product of two scales is rounded to
// f32 once, as is each addition. Config_: BlockScaledConfig; Op: see epilogue.hpp.
template <class Config_, class Op_ = LinearCombination>
struct BlockScaledGemmKernel : GemmKernel<Config_, Op_> {
  using Plain = GemmKernel<Config_, Op_>;
  using typename Plain::Config;
  using typename Plain::Op;
  static constexpr const char* name = "a block-scaled wgmma kernel (tenon::sm90::BlockScaledGemmKernel)";

  static Status check(const BlockScaledProduct& product, const DeviceDescription& device) {
    if (Status s = check_block_scales(product); !s) return s;
    return Plain::check(product, device);
  }
  static Status plan(const BlockScaledProduct& product, const Op& op, const DeviceDescription& device,
                     Launcher& launcher, Launch* launch) {
    return plan_block_scaled<Config>(product, op, device, launcher, launch);
  }
};

}  // namespace tenon::sm90
