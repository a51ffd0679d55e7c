// Fill and compare on the device, since every measured figure leans on them.
#include "microbench/device_data.hpp"

#include <cmath>
#include <vector>

#include "microbench/cuda_check.hpp"
#include "support/gpu.hpp"

namespace tenon::microbench {
namespace {

class DeviceData : public test::GpuTest {};

std::vector<float> to_host(const DeviceBuffer& buffer, std::size_t count) {
  std::vector<float> host(count);
  require(cudaMemcpy(host.data(), buffer.data(), count * sizeof(float), cudaMemcpyDeviceToHost), "copying");
  return host;
}

TEST_F(DeviceData, FillIsNormalAndTheGapIsNan) {
  constexpr std::int64_t lines = 1000, extent = 500, ld = 512;
  DeviceBuffer buffer;
  fill_normal(buffer.reserve(lines * ld * sizeof(float)), Type::f32, lines, extent, ld, 1, nullptr);
  const std::vector<float> host = to_host(buffer, lines * ld);
  double sum = 0;
  double squares = 0;
  double fourth_powers = 0;
  for (std::int64_t i = 0; i < lines * ld; ++i) {
    const double value = host[static_cast<std::size_t>(i)];
    if (i % ld >= extent) {
      ASSERT_TRUE(std::isnan(value)) << i;
      continue;
    }
    sum += value;
    squares += value * value;
    fourth_powers += value * value * value * value;
  }
  constexpr double count = lines * extent;
  EXPECT_NEAR(sum / count, 0, 6 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 6 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth_powers / count, 3, 6 * std::sqrt(96 / count));
}

TEST_F(DeviceData, TheSameSeedGivesTheSameMatrixWhateverTheLeadingDimension) {
  DeviceBuffer packed, padded;
  fill_normal(packed.reserve(30 * 20 * sizeof(float)), Type::f32, 30, 20, 20, 9, nullptr);
  fill_normal(padded.reserve(30 * 24 * sizeof(float)), Type::f32, 30, 20, 24, 9, nullptr);
  const std::vector<float> a = to_host(packed, 30 * 20);
  const std::vector<float> b = to_host(padded, 30 * 24);
  for (std::size_t line = 0; line < 30; ++line) {
    for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(a[line * 20 + i], b[line * 24 + i]);
  }
}

// A 40 x 30 result with ldc 32 that equals what is expected, but for one element off by 0.5.
TEST_F(DeviceData, CompareFindsOneWrongElementAndOneOverwrittenGap) {
  constexpr std::int64_t m = 40, n = 30, ldc = 32;
  DeviceBuffer expected, computed;
  fill_normal(expected.reserve(m * n * sizeof(float)), Type::f32, m, n, n, 3, nullptr);
  poison(computed.reserve(m * ldc * sizeof(float)), m * ldc * sizeof(float), nullptr);
  require(cudaMemcpy2D(computed.data(), ldc * sizeof(float), expected.data(), n * sizeof(float),
                       n * sizeof(float), m, cudaMemcpyDeviceToDevice),
          "copying");
  const float* values = static_cast<const float*>(expected.data());
  const Comparison same = compare(computed.data(), Type::f32, ldc, values, m, n, 0, 0, nullptr);
  EXPECT_EQ(same.wrong, 0U);
  EXPECT_EQ(same.overwritten, 0U);
  EXPECT_EQ(same.max_error, 0);
  EXPECT_GT(same.max_expected, 1.0);

  float* result = static_cast<float*>(computed.data());
  const std::vector<float> host = to_host(expected, m * n);
  const float off = host[5 * n + 7] + 0.5F;
  const float zero = 0;
  require(cudaMemcpy(result + 5 * ldc + 7, &off, sizeof off, cudaMemcpyHostToDevice), "copying");
  require(cudaMemcpy(result + 39 * ldc + 31, &zero, sizeof zero, cudaMemcpyHostToDevice), "copying");
  const Comparison different = compare(result, Type::f32, ldc, values, m, n, 0, 0.25, nullptr);
  EXPECT_EQ(different.wrong, 1U);
  EXPECT_EQ(different.overwritten, 1U);
  EXPECT_NEAR(different.max_error, 0.5, 1e-6);
  EXPECT_EQ(compare(result, Type::f32, ldc, values, m, n, 0, 0.75, nullptr).wrong, 0U);
}

TEST_F(DeviceData, APoisonedResultIsWrongEverywhere) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32}) {
    DeviceBuffer expected, computed;
    fill_normal(expected.reserve(16 * 16 * sizeof(float)), Type::f32, 16, 16, 16, 3, nullptr);
    poison(computed.reserve(16 * 16 * sizeof(float)), 16 * 16 * sizeof(float), nullptr);
    const Comparison comparison = compare(
        computed.data(), type, 16, static_cast<const float*>(expected.data()), 16, 16, 1, 1e6, nullptr);
    EXPECT_EQ(comparison.wrong, 256U) << name(type);
    EXPECT_TRUE(std::isinf(comparison.max_error)) << name(type);
  }
}

}  // namespace
}  // namespace tenon::microbench
