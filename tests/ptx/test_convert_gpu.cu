// The conversions that begin with sm_80 or earlier, on the GPU against conversion.cuh.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ptx/conversion.cuh"
#include "support/gpu.hpp"
#include "tenon/ptx/convert.hpp"
#include "tenon/ptx/convert_integer.hpp"

namespace tenon::test {
namespace {

using std::int32_t;
using std::uint16_t;
using std::uint32_t;

class PtxConvert : public GpuTest {};

TEST_F(PtxConvert, PairsToF16x2) {
  expect_packs<ptx::cvt_rn_f16x2_f32<>>(Kind::f16, f16, Rounding::nearest_even);
  expect_packs<ptx::cvt_rz_f16x2_f32<>>(Kind::f16, f16, Rounding::toward_zero);
  expect_packs<ptx::cvt_rn_relu_f16x2_f32<>>(Kind::f16, f16, Rounding::nearest_even, Finish::relu);
  expect_packs<ptx::cvt_rn_satfinite_f16x2_f32<>>(Kind::f16, f16, Rounding::nearest_even, Finish::satfinite);
  expect_packs<ptx::cvt_rn_relu_satfinite_f16x2_f32<>>(Kind::f16, f16, Rounding::nearest_even,
                                                       Finish::satfinite_relu);
  expect_packs<ptx::cvt_rz_relu_f16x2_f32<>>(Kind::f16, f16, Rounding::toward_zero, Finish::relu);
  expect_packs<ptx::cvt_rz_satfinite_f16x2_f32<>>(Kind::f16, f16, Rounding::toward_zero, Finish::satfinite);
  expect_packs<ptx::cvt_rz_relu_satfinite_f16x2_f32<>>(Kind::f16, f16, Rounding::toward_zero,
                                                       Finish::satfinite_relu);
}

TEST_F(PtxConvert, PairsToBf16x2) {
  expect_packs<ptx::cvt_rn_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::nearest_even);
  expect_packs<ptx::cvt_rz_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::toward_zero);
  expect_packs<ptx::cvt_rn_relu_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::nearest_even, Finish::relu);
  expect_packs<ptx::cvt_rn_satfinite_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::nearest_even,
                                                   Finish::satfinite);
  expect_packs<ptx::cvt_rn_relu_satfinite_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::nearest_even,
                                                        Finish::satfinite_relu);
  expect_packs<ptx::cvt_rz_relu_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::toward_zero, Finish::relu);
  expect_packs<ptx::cvt_rz_satfinite_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::toward_zero,
                                                   Finish::satfinite);
  expect_packs<ptx::cvt_rz_relu_satfinite_bf16x2_f32<>>(Kind::bf16, bf16, Rounding::toward_zero,
                                                        Finish::satfinite_relu);
}

TEST_F(PtxConvert, SinglesToF16AndBf16) {
  const std::vector<float> inputs = floats();
  const auto halves = convert<ptx::cvt_rn_f16_f32<>>(inputs);
  const auto brains = convert<ptx::cvt_rn_bf16_f32<>>(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_same(decode(Kind::f16, halves[i]), round_to(f16, inputs[i], Rounding::nearest_even), inputs[i]);
    expect_same(decode(Kind::bf16, brains[i]), round_to(bf16, inputs[i], Rounding::nearest_even), inputs[i]);
  }
}

// One float, into the low bits; the lowest 13 of them are not part of a tf32.
template <auto function>
void expect_converts(Kind kind, const Format& format, Rounding rounding, Finish finish) {
  const std::vector<float> inputs = floats();
  const auto found = convert<function>(inputs);
  const bool is_relu = finish == Finish::relu || finish == Finish::satfinite_relu;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_same(decode(kind, found[i]) + (is_relu ? 0.0 : -0.0),
                round_to(format, inputs[i], rounding, finish), inputs[i]);
  }
}

TEST_F(PtxConvert, SinglesInEveryModeOfRoundingAndSaturation) {
  constexpr Rounding nearest = Rounding::nearest_even, zero = Rounding::toward_zero;
  expect_converts<ptx::cvt_rn_satfinite_f16_f32<>>(Kind::f16, f16, nearest, Finish::satfinite);
  expect_converts<ptx::cvt_rn_relu_f16_f32<>>(Kind::f16, f16, nearest, Finish::relu);
  expect_converts<ptx::cvt_rn_relu_satfinite_f16_f32<>>(Kind::f16, f16, nearest, Finish::satfinite_relu);
  expect_converts<ptx::cvt_rz_f16_f32<>>(Kind::f16, f16, zero, Finish::plain);
  expect_converts<ptx::cvt_rz_satfinite_f16_f32<>>(Kind::f16, f16, zero, Finish::satfinite);
  expect_converts<ptx::cvt_rz_relu_f16_f32<>>(Kind::f16, f16, zero, Finish::relu);
  expect_converts<ptx::cvt_rz_relu_satfinite_f16_f32<>>(Kind::f16, f16, zero, Finish::satfinite_relu);
  expect_converts<ptx::cvt_rn_satfinite_bf16_f32<>>(Kind::bf16, bf16, nearest, Finish::satfinite);
  expect_converts<ptx::cvt_rn_relu_bf16_f32<>>(Kind::bf16, bf16, nearest, Finish::relu);
  expect_converts<ptx::cvt_rn_relu_satfinite_bf16_f32<>>(Kind::bf16, bf16, nearest, Finish::satfinite_relu);
  expect_converts<ptx::cvt_rz_bf16_f32<>>(Kind::bf16, bf16, zero, Finish::plain);
  expect_converts<ptx::cvt_rz_satfinite_bf16_f32<>>(Kind::bf16, bf16, zero, Finish::satfinite);
  expect_converts<ptx::cvt_rz_relu_bf16_f32<>>(Kind::bf16, bf16, zero, Finish::relu);
  expect_converts<ptx::cvt_rz_relu_satfinite_bf16_f32<>>(Kind::bf16, bf16, zero, Finish::satfinite_relu);
  expect_converts<ptx::cvt_rna_satfinite_tf32_f32<>>(Kind::tf32, tf32, Rounding::nearest_away,
                                                     Finish::satfinite);
}

TEST_F(PtxConvert, RnaTf32RoundsTiesAwayAndClearsTheLowBits) {
  const std::vector<float> inputs = floats();
  const auto found = convert<ptx::cvt_rna_tf32_f32<>>(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_same(decode(Kind::tf32, found[i]), round_to(tf32, inputs[i], Rounding::nearest_away), inputs[i]);
  }
}

TEST_F(PtxConvert, F16AndBf16ToF32AreExact) {
  std::vector<uint16_t> patterns(1 << 16);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const auto from_f16 = convert<ptx::cvt_f32_f16<>>(patterns);
  const auto from_bf16 = convert<ptx::cvt_f32_bf16<>>(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    expect_same(from_f16[i], decode(Kind::f16, patterns[i]), static_cast<double>(i));
    expect_same(from_bf16[i], decode(Kind::bf16, patterns[i]), static_cast<double>(i));
  }
}

// The bounds of s32 and every value about those of the narrow types.
std::vector<int32_t> integers() {
  std::vector<int32_t> values = {INT32_MIN, INT32_MIN + 1, -1000000, 1000000, INT32_MAX - 1, INT32_MAX};
  for (int32_t value = -300; value <= 300; ++value) values.push_back(value);
  return values;
}

std::vector<uint32_t> scattered_bits(std::size_t count) {
  std::vector<uint32_t> result;
  for (uint32_t i = 1; result.size() < count; ++i) result.push_back(0x9e3779b9U * i);
  return result;
}

// Two elements, clamped, below what was there: the upper of the two above the lower.
template <auto function>
void expect_packs_integers(int width, int32_t lowest, int32_t highest) {
  SCOPED_TRACE(::testing::Message() << width << " bits, " << lowest << " to " << highest);
  const std::vector<int32_t> values = integers(), reversed(values.rbegin(), values.rend());
  const std::vector<uint32_t> rest = scattered_bits(values.size());
  const auto found = convert<function>(reversed, values, rest);
  const uint32_t mask = (1U << width) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const uint32_t lower = static_cast<uint32_t>(std::clamp(values[i], lowest, highest)) & mask;
    const uint32_t upper = static_cast<uint32_t>(std::clamp(reversed[i], lowest, highest)) & mask;
    ASSERT_EQ(found[i], rest[i] << (2 * width) | upper << width | lower)
        << values[i] << " and " << reversed[i];
  }
}

TEST_F(PtxConvert, PackClampsIntegers) {
  expect_packs_integers<ptx::cvt_pack_sat_s8_s32_b32<>>(8, -128, 127);
  expect_packs_integers<ptx::cvt_pack_sat_u8_s32_b32<>>(8, 0, 255);
  expect_packs_integers<ptx::cvt_pack_sat_s4_s32_b32<>>(4, -8, 7);
  expect_packs_integers<ptx::cvt_pack_sat_u4_s32_b32<>>(4, 0, 15);
  expect_packs_integers<ptx::cvt_pack_sat_s2_s32_b32<>>(2, -2, 1);
  expect_packs_integers<ptx::cvt_pack_sat_u2_s32_b32<>>(2, 0, 3);
}

TEST_F(PtxConvert, PackClampsTo16Bits) {
  const std::vector<int32_t> values = {INT32_MIN, -40000, -32769, -32768, -1,    0,     1,
                                       32767,     32768,  40000,  65535,  65536, 70000, INT32_MAX};
  const std::vector<int32_t> reversed(values.rbegin(), values.rend());
  const auto to_signed = convert<ptx::cvt_pack_sat_s16_s32<>>(reversed, values);
  const auto to_unsigned = convert<ptx::cvt_pack_sat_u16_s32<>>(reversed, values);
  const auto pair = [&](std::size_t i, int32_t lowest, int32_t highest) {
    const auto lower = static_cast<uint16_t>(std::clamp(values[i], lowest, highest));
    const auto upper = static_cast<uint16_t>(std::clamp(reversed[i], lowest, highest));
    return uint32_t{upper} << 16 | lower;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(to_signed[i], pair(i, -32768, 32767)) << values[i] << " and " << reversed[i];
    EXPECT_EQ(to_unsigned[i], pair(i, 0, 65535)) << values[i] << " and " << reversed[i];
  }
}

}  // namespace
}  // namespace tenon::test
