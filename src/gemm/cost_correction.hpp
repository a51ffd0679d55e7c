// A learned factor for the modelled cost of a wgmma kernel. The model adds up rates. It does not know how the
// shape of a cluster, the stages, a last wave that is partly full and the raster of the tiles interact, and
// no formula for it was found that generalises (microbench/HISTORY.md). A neural network with two hidden
// layers learned it from about 330,000 recorded times. Its inputs (features) are parts of the model's
// estimate and properties of the tile. None is the name of a device; m, n and k count only in tiles and as
// parts of the L2. So it may help on devices without a record.
//
// microbench/fit_correction.py trains it and writes cost_correction_weights.hpp.
//
// Nothing here calls CUDA.
#pragma once

#include <array>

#include "gemm/kernel.hpp"
#include "gemm/wgmma_estimate.hpp"

namespace tenon {

// The inputs of the network, with their names for the table of fit_correction.py.
constexpr int cost_features_count = 37;
using CostFeatures = std::array<float, cost_features_count>;
extern const std::array<const char*, cost_features_count> cost_feature_names;

// Whether the cost of a kernel is corrected: that of wgmma kernels. Fused kernels are corrected as their
// plain counterparts; no time of them was recorded.
bool is_corrected(const Kernel& kernel) noexcept;

// kernel: is_corrected(); estimate: wgmma_estimate() of the same kernel and problem. m, n > 0; k may be 0.
CostFeatures cost_features(const Kernel& kernel, const Gemm& problem, const WgmmaEstimate& estimate) noexcept;

// The expected time over that of the model, between 1 / most_correction and most_correction.
constexpr double most_correction = 1.5;
double cost_correction(const CostFeatures& features) noexcept;

}  // namespace tenon
