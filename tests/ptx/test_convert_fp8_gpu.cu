// The fp8 conversions, which begin with sm_89, on the GPU against conversion.cuh.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ptx/conversion.cuh"
#include "support/gpu.hpp"
#include "tenon/ptx/convert_fp8.hpp"

namespace tenon::test {
namespace {

using std::uint16_t;
using std::uint32_t;

class PtxConvertFp8 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_sm() < 89) GTEST_SKIP() << "needs a GPU of sm_89 or newer";
  }
};

TEST_F(PtxConvertFp8, PairsOfFloats) {
  constexpr Rounding nearest = Rounding::nearest_even;
  expect_packs<ptx::cvt_rn_satfinite_e4m3x2_f32<>>(Kind::e4m3, e4m3, nearest, Finish::satfinite);
  expect_packs<ptx::cvt_rn_satfinite_relu_e4m3x2_f32<>>(Kind::e4m3, e4m3, nearest, Finish::satfinite_relu);
  expect_packs<ptx::cvt_rn_satfinite_e5m2x2_f32<>>(Kind::e5m2, e5m2, nearest, Finish::satfinite);
  expect_packs<ptx::cvt_rn_satfinite_relu_e5m2x2_f32<>>(Kind::e5m2, e5m2, nearest, Finish::satfinite_relu);
}

// Every f16 in the low half, another one in the high half.
template <auto function>
void expect_packs_halves(Kind kind, const Format& format, Finish finish = Finish::satfinite) {
  std::vector<uint32_t> patterns(1 << 16);
  for (uint32_t i = 0; i < patterns.size(); ++i) patterns[i] = i | (i * 40503U & 0xffffU) << 16;
  const auto found = convert<function>(patterns);
  // Of a negative zero .relu may leave the sign (conversion.cuh).
  const double no_zero_sign = finish == Finish::satfinite_relu ? 0.0 : -0.0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const double low = decode(Kind::f16, patterns[i] & 0xffffU), high = decode(Kind::f16, patterns[i] >> 16);
    expect_same(decode(kind, found[i] & 0xffU) + no_zero_sign,
                round_to(format, low, Rounding::nearest_even, finish), low);
    expect_same(decode(kind, found[i] >> 8) + no_zero_sign,
                round_to(format, high, Rounding::nearest_even, finish), high);
  }
}

TEST_F(PtxConvertFp8, PairsOfHalves) {
  expect_packs_halves<ptx::cvt_rn_satfinite_e4m3x2_f16x2<>>(Kind::e4m3, e4m3);
  expect_packs_halves<ptx::cvt_rn_satfinite_e5m2x2_f16x2<>>(Kind::e5m2, e5m2);
  expect_packs_halves<ptx::cvt_rn_satfinite_relu_e4m3x2_f16x2<>>(Kind::e4m3, e4m3, Finish::satfinite_relu);
  expect_packs_halves<ptx::cvt_rn_satfinite_relu_e5m2x2_f16x2<>>(Kind::e5m2, e5m2, Finish::satfinite_relu);
}

template <auto function>
void expect_unpacks(Kind kind, bool relu = false) {
  std::vector<uint16_t> patterns(1 << 16);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const auto found = convert<function>(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const double input = static_cast<double>(i);
    const auto expected = [&](std::uint64_t pattern) {
      const double value = decode(kind, pattern);
      return relu && value <= 0 ? 0.0 : value;
    };
    const double no_zero_sign = relu ? 0.0 : -0.0;
    expect_same(decode(Kind::f16, found[i] & 0xffffU) + no_zero_sign, expected(patterns[i] & 0xffU), input);
    expect_same(decode(Kind::f16, found[i] >> 16) + no_zero_sign, expected(patterns[i] >> 8), input);
  }
}

TEST_F(PtxConvertFp8, BackToHalvesIsExact) {
  expect_unpacks<ptx::cvt_rn_f16x2_e4m3x2<>>(Kind::e4m3);
  expect_unpacks<ptx::cvt_rn_f16x2_e5m2x2<>>(Kind::e5m2);
  expect_unpacks<ptx::cvt_rn_relu_f16x2_e4m3x2<>>(Kind::e4m3, true);
  expect_unpacks<ptx::cvt_rn_relu_f16x2_e5m2x2<>>(Kind::e5m2, true);
}

}  // namespace
}  // namespace tenon::test
