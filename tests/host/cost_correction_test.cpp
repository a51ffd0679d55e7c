// What was learned beside the cost model: what the network is told, that it is evaluated as its weights say,
// and where it has no say.
#include "gemm/cost_correction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "gemm/cost_correction_weights.hpp"
#include "gemm/cost_model.hpp"
#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::h200;
using test::problem;

// The network neuron by neuron, in double.
double evaluated(const CostFeatures& features) {
  using namespace cost_correction_weights;
  const auto layer = [](const std::vector<double>& inputs, const auto& weights, const auto& biases,
                        bool is_rectified) {
    std::vector<double> outputs(std::begin(biases), std::end(biases));
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        outputs[j] += inputs[i] * static_cast<double>(weights[i][j]);
      if (is_rectified) outputs[j] = std::max(outputs[j], 0.0);
    }
    return outputs;
  };
  const std::vector<double> first =
      layer({features.begin(), features.end()}, first_weights, first_biases, true);
  const double logarithm =
      layer(layer(first, second_weights, second_biases, true), last_weights, last_biases, false)[0];
  return std::clamp(std::exp(logarithm), 1 / most_correction, most_correction);
}

std::vector<Gemm> problems() {
  std::vector<Gemm> all;
  for (const std::int64_t m : {1, 8, 136, 1000, 8192})
    for (const std::int64_t n : {8, 320, 4096, 100000})
      for (const std::int64_t k : {8, 1736, 16384}) all.push_back(problem(m, n, k));
  return all;
}

TEST(CostCorrection, IsWhatTheWeightsSayForEveryKernel) {
  int corrected = 0, differ = 0;
  for (const Gemm& p : problems()) {
    for (const Kernel& kernel : kernels()) {
      if (!is_corrected(kernel) || !accepts(kernel, p, h200)) continue;
      const CostFeatures features = cost_features(kernel, p, wgmma_estimate(kernel, p, h200));
      const double factor = cost_correction(features);
      ASSERT_NEAR(factor, evaluated(features), 2e-5 * factor) << kernel.name;
      EXPECT_NEAR(estimated_cost(kernel, p, h200), factor * modelled_cost(kernel, p, h200),
                  1e-9 * modelled_cost(kernel, p, h200));
      ++corrected;
      differ += std::abs(factor - 1) > 0.01 ? 1 : 0;
    }
  }
  EXPECT_GT(corrected, 1000);
  EXPECT_GT(differ, corrected / 2);
}

// A problem whose rows of A begin at any address, for kernels with unaligned operands, and one for
// row-interleaved views of A.
Gemm with_unaligned_rows(Gemm p) {
  p.a.ld += 1;
  return p;
}
Gemm with_unaligned_rows_of_a(Gemm p) {
  p.b.order = row_major;
  p.b.ld = p.n;
  return with_unaligned_rows(p);
}

TEST(CostCorrection, LeavesMmaSyncKernelsAsModelledAndNoOther) {
  int of_mma_sync = 0, unaligned = 0, row_interleaved = 0;
  const Gemm p = problem(300, 1000, 4096);
  for (const Gemm& problem : {p, with_unaligned_rows(p), with_unaligned_rows_of_a(p)}) {
    for (const Kernel& kernel : kernels()) {
      if (!accepts(kernel, problem, h200)) continue;
      EXPECT_EQ(is_corrected(kernel), kernel.instruction == Instruction::wgmma) << kernel.name;
      unaligned += is_corrected(kernel) && kernel.unaligned ? 1 : 0;
      row_interleaved += is_corrected(kernel) && kernel.row_interleaved ? 1 : 0;
      if (is_corrected(kernel)) continue;
      EXPECT_EQ(estimated_cost(kernel, problem, h200), modelled_cost(kernel, problem, h200)) << kernel.name;
      ++of_mma_sync;
    }
  }
  EXPECT_GT(of_mma_sync, 0);
  EXPECT_GT(unaligned, 0);
  EXPECT_GT(row_interleaved, 0);
}

TEST(CostCorrection, IsFiniteForTheSmallestAndTheLargestProblems) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max() / 2 - 7;
  struct Extents {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Extents{1, 8, 0}, Extents{1, 8, 8}, Extents{1, 1, 8}, Extents{largest, 8, 8},
                                Extents{8, largest, 8}, Extents{8, 8, largest}}) {
    Gemm p = problem(m, n, std::max<std::int64_t>(k, 8));
    p.k = k;
    int seen = 0;
    for (const Kernel& kernel : kernels()) {
      if (!is_corrected(kernel) || !accepts(kernel, p, h200)) continue;
      const CostFeatures features = cost_features(kernel, p, wgmma_estimate(kernel, p, h200));
      for (int i = 0; i < cost_features_count; ++i)
        EXPECT_TRUE(std::isfinite(features[static_cast<std::size_t>(i)]))
            << cost_feature_names[static_cast<std::size_t>(i)] << ", " << kernel.name;
      const double factor = cost_correction(features);
      EXPECT_GE(factor, 0.999 / most_correction);
      EXPECT_LE(factor, 1.001 * most_correction);
      ++seen;
    }
    EXPECT_GT(seen, 0) << m << " x " << n << " x " << k;
  }
}

TEST(CostCorrection, IsToldDifferentThings) {
  const std::set<std::string> names(cost_feature_names.begin(), cost_feature_names.end());
  EXPECT_EQ(names.size(), static_cast<std::size_t>(cost_features_count));
  // Each of them differs between some kernels or problems: none is wasted.
  std::vector<std::set<float>> values(cost_features_count);
  std::vector<Gemm> all = problems();
  for (const Gemm& p : problems()) {
    Gemm of_16_bits = p;
    of_16_bits.c.type = p.a.type;
    all.push_back(of_16_bits);
    for (const Type type : {Type::e4m3, Type::tf32}) {
      Gemm other = p;
      other.a.type = other.b.type = type;
      other.k = (p.k + 15) / 16 * 16;
      other.a.ld = other.b.ld = other.k;
      all.push_back(other);
    }
    Gemm transposed = p;
    transposed.a.order = flipped(p.a.order);
    transposed.b.order = flipped(p.b.order);
    transposed.a.ld = (p.m + 7) / 8 * 8;
    transposed.b.ld = p.n;
    all.push_back(transposed);
    all.push_back(with_unaligned_rows(p));
    all.push_back(with_unaligned_rows_of_a(p));
    Gemm unaligned_c = p;
    unaligned_c.c.ld += 1;
    all.push_back(unaligned_c);
  }
  for (Gemm& p : all) {
    p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40U);
    p.workspace_bytes = std::size_t{1} << 30U;
    for (const Kernel& kernel : kernels()) {
      if (!is_corrected(kernel) || !accepts(kernel, p, h200)) continue;
      const CostFeatures features = cost_features(kernel, p, wgmma_estimate(kernel, p, h200));
      for (std::size_t i = 0; i < values.size(); ++i) values[i].insert(features[i]);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_GT(values[i].size(), 1U) << cost_feature_names[i];
}

}  // namespace
}  // namespace tenon
