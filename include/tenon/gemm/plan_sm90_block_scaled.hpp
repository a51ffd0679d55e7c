// The launch plan of block-scaled products: that of a wgmma kernel, and the maps of the scales. Host code.
// Below: plan_sm90.hpp, scaled_problem.hpp.
#pragma once

#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/scaled_problem.hpp"

namespace tenon {

// As plan_wgmma(). Config: BlockScaled.
template <class Config, class Op>
Status plan_block_scaled(const BlockScaledProduct& product, const Op& op, const DeviceDescription& device,
                         Launcher& launcher, Launch* launch) {
  using Scales = typename Config::Scales;
  WgmmaArguments<Config> kernel;
  if (Status s = prepare_wgmma<Config, Op>(product, device, launcher, launch, &kernel); !s) return s;
  const auto blocks_k = static_cast<int>(blocks_of_128(product.k));
  const auto blocks_n = static_cast<int>(blocks_of_128(product.n));
  const MatrixInMemory scales_a{product.scale_a.data, 4, blocks_k, kernel.arguments.m, product.scale_a.ld};
  const MatrixInMemory scales_b{product.scale_b.data, 4, blocks_n, blocks_k, product.scale_b.ld};
  if (Status s = launcher.make_tensor_map(scales_a, 1, Config::Block::m, &kernel.map_a.scales); !s) return s;
  if (Status s =
          launcher.make_tensor_map(scales_b, Scales::blocks_b, Scales::box_columns_b, &kernel.map_b.scales);
      !s)
    return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments, op);
  return {};
}

}  // namespace tenon
