#include "microbench/attention_ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenon::microbench {
namespace {

AttentionMeasurement measurement(const char* kernel, double microseconds) {
  AttentionMeasurement x;
  x.kernel = kernel, x.microseconds = microseconds;
  x.max_error = 0.001, x.error_bound = 0.01;
  return x;
}
std::vector<AttentionMeasurement> measured() {
  return {measurement("scalar_f32", 400), measurement("wmma", 100),
          measurement("attention_mma_f16_64_64x64", 20), measurement("attention_mma_f16_64_128x64", 25),
          measurement("attention_wgmma_f16_64_192x128_full", 16)};
}

TEST(AttentionLadder, ClimbsFromTheScalarKernelWithTheFastestKernelOfEachRung) {
  const AttentionShape shape;
  const std::vector<AttentionLadderRow> rows = climb(shape, measured());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].factor, 1);
  EXPECT_EQ(rows[2].kernel, "attention_mma_f16_64_64x64");
  EXPECT_DOUBLE_EQ(rows[3].factor, 25);
  EXPECT_DOUBLE_EQ(rows[3].ms, 0.016);
  EXPECT_DOUBLE_EQ(rows[3].tflops, 4.0 * 8 * 512 * 512 * 64 / 16e6);
  const std::string text = table(rows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_NE(text.find("25.00"), std::string::npos) << text;
}

TEST(AttentionLadder, WithoutTheScalarRungHasNoFactors) {
  const auto rows = climb({}, {measurement("wmma", 100)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].factor, 0);
  EXPECT_TRUE(to_json({}, {}, rows)["rows"][0]["factor"].is_null());
  EXPECT_TRUE(climb({}, {}).empty());
}

TEST(AttentionLadder, JsonSaysTheProblem) {
  const AttentionShape shape;
  const nlohmann::ordered_json json = to_json(shape, {"NVIDIA H200", "CUDA 13.0"}, climb(shape, measured()));
  EXPECT_EQ(json["head_dimension"], 64);
  EXPECT_EQ(json["machine"], "NVIDIA H200");
  EXPECT_EQ(json["rows"].size(), 4U);
  EXPECT_EQ(json["rows"][1]["factor"], 4.0);
  EXPECT_EQ(json["rows"][1]["ok"], true);
}

TEST(AttentionLadder, CountsTheKeysThatQueriesSee) {
  AttentionShape shape;
  shape.batch = 2, shape.heads = 3, shape.queries = 4, shape.keys = 6, shape.head_dimension = 32;
  EXPECT_DOUBLE_EQ(shape.flop(), 4.0 * 2 * 3 * 4 * 6 * 32);
  shape.causal = true;  // 3, 4, 5 and 6 keys
  EXPECT_DOUBLE_EQ(shape.flop(), 4.0 * 2 * 3 * 18 * 32);
  shape.keys = 2;  // none, none, 1 and 2
  EXPECT_DOUBLE_EQ(shape.flop(), 4.0 * 2 * 3 * 3 * 32);
}

TEST(AttentionLadder, KnowsTheRungOfAKernel) {
  EXPECT_EQ(attention_rung_of("attention_decode_f16_64"), nullptr);
  EXPECT_EQ(attention_rung_of("attention_wgmma_f16_64_192x128_full"), &attention_rungs().back());
}

}  // namespace
}  // namespace tenon::microbench
