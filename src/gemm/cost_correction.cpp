#include "gemm/cost_correction.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gemm/cost_correction_weights.hpp"
#include "gemm/problem_shape.hpp"
#include "gemm/result.hpp"

namespace tenon {
namespace {

// layer[j] = biases[j] + sum of inputs[i] * weights[i][j]. The inner loop is over j: a compiler makes vectors
// of it without changing the order of a sum.
template <std::size_t inputs_count, std::size_t count>
std::array<float, count> layer(const std::array<float, inputs_count>& inputs,
                               const float (&weights)[inputs_count][count],
                               const float (&biases)[count]) noexcept {
  std::array<float, count> sums;
  std::copy(std::begin(biases), std::end(biases), sums.begin());
  for (std::size_t i = 0; i < inputs_count; ++i)
    for (std::size_t j = 0; j < count; ++j) sums[j] += inputs[i] * weights[i][j];
  return sums;
}

template <std::size_t count>
std::array<float, count> rectified(std::array<float, count> values) noexcept {
  for (float& value : values) value = std::max(value, 0.0F);
  return values;
}

float log2_of(double value) noexcept {
  constexpr double least = 1e-3;
  return static_cast<float>(std::log2(std::max(value, least)));
}

}  // namespace

const std::array<const char*, cost_features_count> cost_feature_names = {"multiplying", "multiplying/loading",
                                                                         "storing",     "start",
                                                                         "k-tiles",     "waves",
                                                                         "full waves",  "rows",
                                                                         "columns",     "fitted",
                                                                         "narrow",      "stages",
                                                                         "along m",     "along n",
                                                                         "split",       "ping-pong",
                                                                         "swap-AB",     "tail",
                                                                         "stream-K",    "1 byte",
                                                                         "f32 C",       "row-major A",
                                                                         "row-major B", "beyond m",
                                                                         "tiles m",     "tiles n",
                                                                         "own",         "A/B",
                                                                         "fresh",       "received",
                                                                         "requests",    "A of L2",
                                                                         "B of L2",     "unaligned",
                                                                         "interleaved", "C by TMA",
                                                                         "overlaps"};

bool is_corrected(const Kernel& kernel) noexcept {
  return kernel.instruction == Instruction::wgmma;
}

CostFeatures cost_features(const Kernel& kernel, const Gemm& problem, const WgmmaEstimate& e) noexcept {
  const auto flag = [](bool value) { return value ? 1.0F : 0.0F; };
  const Gemm computed = computed_problem(kernel, problem);
  const double waves = static_cast<double>(e.cluster_tiles) / static_cast<double>(e.clusters);
  const OperandLoads &a = e.loads.a, &b = e.loads.b;
  const double own = a.own + b.own, received = a.received() + b.received();
  const auto tiles_m = static_cast<double>(e.tiles_m), tiles_n = static_cast<double>(e.tiles_n);
  constexpr double most_waves = 64;  // beyond which more of them change nothing
  return {log2_of(e.multiplying),
          log2_of(e.multiplying / e.loading),
          log2_of(e.storing),
          log2_of(e.start),
          log2_of(static_cast<double>(e.k_tiles) / kernel.split),
          log2_of(std::min(std::ceil(waves), most_waves)),
          static_cast<float>(waves / std::ceil(waves)),
          log2_of(kernel.rows()),
          log2_of(kernel.columns()),
          static_cast<float>(e.columns) / static_cast<float>(kernel.columns()),
          flag(e.columns % 64 != 0),
          log2_of(kernel.stages),
          log2_of(e.along_m),
          log2_of(e.along_n),
          log2_of(kernel.split),
          flag(kernel.pingpong),
          flag(kernel.swap_ab),
          flag(kernel.splits_tail),
          flag(kernel.partial_bytes != 0),
          flag(bytes(kernel.type) == 1),
          flag(bytes(result_of(problem).type) == 4),
          flag(computed.a.order == row_major),
          flag(computed.b.order == row_major),
          log2_of(tiles_m * kernel.rows() / static_cast<double>(computed.m)),
          log2_of(tiles_m),
          log2_of(tiles_n),
          log2_of(own),
          log2_of(a.own / b.own),
          static_cast<float>((a.fresh + b.fresh) / own),
          static_cast<float>(received / (received + own)),
          log2_of(a.requests + b.requests),
          log2_of(e.part_of_l2_a),
          log2_of(e.part_of_l2_b),
          flag(kernel.unaligned),
          flag(kernel.row_interleaved),
          flag(tma_can_store(problem)),
          flag(e.overlaps)};
}

double cost_correction(const CostFeatures& features) noexcept {
  using namespace cost_correction_weights;
  static_assert(inputs == cost_features_count, "train the network again: microbench/fit_correction.py");
  const auto first = rectified(layer(features, first_weights, first_biases));
  const auto second = rectified(layer(first, second_weights, second_biases));
  const float logarithm = layer(second, last_weights, last_biases)[0];
  static const auto most = static_cast<float>(std::log(most_correction));
  return std::exp(std::clamp(logarithm, -most, most));
}

}  // namespace tenon
