// Fill and compare on the device: every measured figure depends on them.
#include "microbench/device_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "microbench/cuda_check.hpp"
#include "reference/cpu.hpp"
#include "support/gpu.hpp"

namespace tenon::microbench {
namespace {

class DeviceData : public test::GpuTest {};

constexpr Type operand_types[] = {Type::f16,  Type::bf16, Type::f32, Type::tf32,
                                  Type::e4m3, Type::e5m2, Type::s8};

template <typename T = float>
std::vector<T> to_host(const DeviceBuffer& buffer, std::size_t count) {
  std::vector<T> host(count);
  require(cudaMemcpy(host.data(), buffer.data(), count * sizeof(T), cudaMemcpyDeviceToHost), "copying");
  return host;
}

// The bytes in memory of an N(0,1) matrix of the type.
std::vector<unsigned char> drawn(Type type, std::size_t rows, std::size_t length, std::size_t ld) {
  DeviceBuffer buffer;
  const std::size_t all = rows * ld * bytes(type);
  fill_normal(buffer.reserve(all), type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(length),
              static_cast<std::int64_t>(ld), 5, nullptr);
  return to_host<unsigned char>(buffer, all);
}

TEST_F(DeviceData, FillIsNormalAndTheGapIsNan) {
  constexpr std::int64_t rows = 1000, length = 500, ld = 512;
  DeviceBuffer buffer;
  fill_normal(buffer.reserve(rows * ld * sizeof(float)), Type::f32, rows, length, ld, 1, nullptr);
  const std::vector<float> host = to_host(buffer, rows * ld);
  double sum = 0;
  double squares = 0;
  double fourth_powers = 0;
  for (std::int64_t i = 0; i < rows * ld; ++i) {
    const double value = host[static_cast<std::size_t>(i)];
    if (i % ld >= length) {
      ASSERT_TRUE(std::isnan(value)) << i;
      continue;
    }
    sum += value;
    squares += value * value;
    fourth_powers += value * value * value * value;
  }
  constexpr double count = rows * length;
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

// The host converts the same floats to the same bits.
TEST_F(DeviceData, EveryTypeHoldsTheSameNumbersRounded) {
  constexpr std::size_t rows = 100, length = 300, count = rows * length;
  const std::vector<unsigned char> as_floats = drawn(Type::f32, rows, length, length);
  std::vector<float> floats(count);
  reference::decode(Type::f32, as_floats.data(), count, floats.data());
  std::vector<float> larger(floats);
  for (float& value : larger) value = std::max(-127.0F, 42 * value);
  for (const Type type : operand_types) {
    std::vector<unsigned char> expected(count * bytes(type));
    reference::encode(type, (type == Type::s8 ? larger : floats).data(), count, expected.data());
    EXPECT_EQ(drawn(type, rows, length, length), expected) << name(type);
  }
}

TEST_F(DeviceData, TheGapHoldsPoison) {
  constexpr std::size_t rows = 20, length = 30, ld = 37;
  for (const Type type : operand_types) {
    const std::vector<unsigned char> elements = drawn(type, rows, length, ld);
    std::vector<float> values(rows * ld);
    reference::decode(type, elements.data(), values.size(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_gap = type == Type::s8 ? values[i] == -128 : std::isnan(values[i]);
      ASSERT_EQ(is_gap, i % ld >= length) << name(type) << " " << i;
    }
  }
}

TEST_F(DeviceData, Fp8AsF16IsExact) {
  std::vector<unsigned char> every(256);
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<unsigned char>(i);
  DeviceBuffer elements, copies;
  require(cudaMemcpy(elements.reserve(256), every.data(), 256, cudaMemcpyHostToDevice), "copying");
  for (const Type type : {Type::e4m3, Type::e5m2}) {
    copy_as_f16(elements.data(), type, 256, copies.reserve(512), nullptr);
    const std::vector<std::uint16_t> halves = to_host<std::uint16_t>(copies, 256);
    std::vector<float> expected(256), found(256);
    reference::decode(type, every.data(), 256, expected.data());
    reference::decode(Type::f16, halves.data(), 256, found.data());
    for (std::size_t i = 0; i < 256; ++i) {
      const bool same = std::isnan(expected[i]) ? std::isnan(found[i]) : expected[i] == found[i];
      EXPECT_TRUE(same) << name(type) << " " << i << ": " << found[i] << " for " << expected[i];
    }
  }
  EXPECT_THROW(copy_as_f16(elements.data(), Type::bf16, 1, copies.data(), nullptr), Failure);
}

// A 40 x 30 result with ldc 32 that is as expected, except that one element is off by 0.5.
TEST_F(DeviceData, CompareFindsOneWrongElementAndOneOverwrittenGap) {
  constexpr std::int64_t m = 40, n = 30, ldc = 32;
  DeviceBuffer expected, computed;
  fill_normal(expected.reserve(m * n * sizeof(float)), Type::f32, m, n, n, 3, nullptr);
  poison(computed.reserve(m * ldc * sizeof(float)), Type::f32, m * ldc * sizeof(float), nullptr);
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

// Zeros, and a result scaled by 0.9.
TEST_F(DeviceData, CompareMeasuresTheBias) {
  constexpr std::int64_t m = 40, n = 30;
  DeviceBuffer expected, computed;
  fill_normal(expected.reserve(m * n * sizeof(float)), Type::f32, m, n, n, 3, nullptr);
  for (const float factor : {0.0F, 0.9F, 1.0F}) {
    std::vector<float> scaled = to_host(expected, m * n);
    for (float& x : scaled) x *= factor;
    require(cudaMemcpy(computed.reserve(m * n * sizeof(float)), scaled.data(), m * n * sizeof(float),
                       cudaMemcpyHostToDevice),
            "copying");
    const Comparison comparison =
        compare(computed.data(), Type::f32, n, expected.data(), m, n, 0, 1e6, nullptr);
    EXPECT_NEAR(comparison.bias, static_cast<double>(factor) - 1, 1e-6);
    EXPECT_NEAR(comparison.relative_error, 1 - static_cast<double>(factor), 1e-6);
  }
}

// Sums beyond 2^24, one off by 1: floats would call them the same.
TEST_F(DeviceData, IntegersAreComparedAsIntegers) {
  constexpr std::int64_t m = 3, n = 5, ldc = 8;
  std::vector<std::int32_t> expected(m * n, (1 << 30) + 64);
  std::vector<std::int32_t> computed(m * ldc, (1 << 30) + 64);
  computed[1 * ldc + 4] += 1;
  DeviceBuffer expected_there, computed_there;
  require(cudaMemcpy(expected_there.reserve(m * n * 4), expected.data(), m * n * 4, cudaMemcpyHostToDevice),
          "copying");
  void* result = computed_there.reserve(m * ldc * 4);
  poison(result, Type::s32, m * ldc * 4, nullptr);
  require(cudaMemcpy2D(result, ldc * 4, computed.data(), ldc * 4, n * 4, m, cudaMemcpyHostToDevice),
          "copying");
  const auto comparison = [&](double absolute) {
    return compare(result, Type::s32, ldc, expected_there.data(), m, n, 0, absolute, nullptr);
  };
  EXPECT_EQ(comparison(0).wrong, 1U);
  EXPECT_EQ(comparison(0).max_error, 1);
  EXPECT_EQ(comparison(0).overwritten, 0U);
  EXPECT_GT(comparison(0).relative_error, 0);
  EXPECT_GT(comparison(0).bias, 0);
  EXPECT_EQ(comparison(1).wrong, 0U);
  require(cudaMemcpy2D(result, ldc * 4, computed.data(), ldc * 4, (n + 1) * 4, m, cudaMemcpyHostToDevice),
          "copying");
  EXPECT_EQ(comparison(0).overwritten, static_cast<unsigned long long>(m));
}

TEST_F(DeviceData, APoisonedResultIsWrongEverywhere) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::s32}) {
    DeviceBuffer expected, computed;
    fill_normal(expected.reserve(16 * 16 * sizeof(float)), Type::f32, 16, 16, 16, 3, nullptr);
    poison(computed.reserve(16 * 16 * sizeof(float)), type, 16 * 16 * sizeof(float), nullptr);
    // NaN is wrong with any tolerance. The poison of s32 is a number, but far from the -1 expected here.
    const bool integers = type == Type::s32;
    if (integers) require(cudaMemset(expected.data(), 0xff, 16 * 16 * 4), "setting");
    const Comparison comparison =
        compare(computed.data(), type, 16, expected.data(), 16, 16, integers ? 0 : 1, 1e6, nullptr);
    EXPECT_EQ(comparison.wrong, 256U) << name(type);
    EXPECT_EQ(std::isinf(comparison.max_error), !integers) << name(type);
  }
}

TEST_F(DeviceData, UnsupportedTypesAreRefused) {
  DeviceBuffer buffer;
  buffer.reserve(64);
  EXPECT_THROW(fill_normal(buffer.data(), Type::s32, 1, 1, 1, 1, nullptr), Failure);
  EXPECT_THROW(compare(buffer.data(), Type::e4m3, 1, buffer.data(), 1, 1, 0, 0, nullptr), Failure);
}

}  // namespace
}  // namespace tenon::microbench
