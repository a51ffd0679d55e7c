// What the cost model does not know, learned from recorded times: a factor for its cost of a wgmma kernel.
//
// The model is made of rates that add up. How a cluster's shape, the stages of the ring, a last wave that is
// half full and the swizzled order of the tiles act together is not in it, and no formula for it was found
// that generalises (microbench/HISTORY.md, "The choice of a kernel"). A small neural network with two hidden
// layers knows it from the times of 190,000 launches. What it is told are parts of the model's own estimate
// and properties of the tile: ratios, and clocks of an SM, no name of a device and no size of the problem
// but in tiles and in parts of the L2. So it may say something of devices that it has not seen.
//
// microbench/fit_correction.py trains it and writes cost_correction_weights.hpp.
//
// Nothing here calls CUDA.
#pragma once

#include <array>

#include "gemm/kernel.hpp"
#include "gemm/wgmma_estimate.hpp"

namespace tenon {

// What the network is told; names in the order of the values, for the table that it is trained with.
constexpr int cost_features_count = 33;
using CostFeatures = std::array<float, cost_features_count>;
extern const std::array<const char*, cost_features_count> cost_feature_names;

// Whether the cost of a kernel is corrected: wgmma, but for operands that TMA cannot load as they are, of
// which too few times were recorded.
bool is_corrected(const Kernel& kernel) noexcept;

// kernel: is_corrected(); estimate: wgmma_estimate() of the same kernel and problem.
CostFeatures cost_features(const Kernel& kernel, const Gemm& problem, const WgmmaEstimate& estimate) noexcept;

// The expected time over that of the model, between 1 / most_correction and most_correction.
constexpr double most_correction = 1.5;
double cost_correction(const CostFeatures& features) noexcept;

}  // namespace tenon
