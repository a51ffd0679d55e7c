#include "microbench/ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenon::microbench {
namespace {

Record record(const std::string& kernel, const std::string& types, double tflops, double reference) {
  Record result;
  result.shape = {1000, 1000, 1000, 0, 0, 0};
  result.kernel = kernel;
  result.types = types;
  result.tflops_burst = tflops;
  result.reference = "cuBLASLt 13.1.0 #0";
  result.reference_tflops_burst = reference;
  result.flop_per_clk_per_sm = 7;
  result.max_error = 0.25;
  result.error_bound = 0.5;
  result.machine = "NVIDIA H200";
  return result;
}

std::vector<Record> measured() {
  return {record("naive_f32", "f32_f32_f32", 2, 40), record("tiled_f32", "f32_f32_f32", 8, 40),
          record("tma_f16_f32_tn_128x128x64_s5", "f16_f32_f16", 300, 800),
          record("tma_f16_f32_tn_128x256x64_s4", "f16_f32_f16", 400, 800),
          record("wmma_basic", "f16_f32_f16", 20, 800)};
}

TEST(Ladder, ClimbsFromTheNaiveKernelToCublasWithTheFastestKernelOfEachRung) {
  const std::vector<LadderRow> rows = climb(measured());
  std::vector<std::string> found;
  for (const LadderRow& row : rows) found.push_back(row.rung + ": " + row.kernel);
  const std::vector<std::string> expected = {"naive FP32: naive_f32",
                                             "tiled FP32: tiled_f32",
                                             "cuBLAS SGEMM: cuBLASLt 13.1.0 #0",
                                             "WMMA from global memory: wmma_basic",
                                             "mma.sync, TMA ring: tma_f16_f32_tn_128x256x64_s4",
                                             "cuBLASLt: cuBLASLt 13.1.0 #0"};
  EXPECT_EQ(found, expected);
  EXPECT_DOUBLE_EQ(rows[4].ratio, 0.5);
  EXPECT_DOUBLE_EQ(rows[2].ratio, 0.05);
  EXPECT_DOUBLE_EQ(rows[5].ratio, 1);
  EXPECT_DOUBLE_EQ(rows[0].ms, 1);  // 2e9 FLOP at 2 TFLOP/s
  EXPECT_EQ(rows[5].flop_per_clk_per_sm, 0);
}

TEST(Ladder, WithoutItsLastRungHasNoRatios) {
  for (const LadderRow& row : climb({record("naive_f32", "f32_f32_f32", 2, 40)})) EXPECT_EQ(row.ratio, 0);
  EXPECT_TRUE(climb({}).empty());
}

TEST(Ladder, JsonHasNullForUnknownValues) {
  const nlohmann::ordered_json json = to_json({1000, 1000, 1000, 0, 0, 0}, measured());
  EXPECT_EQ(json["m"], 1000);
  EXPECT_EQ(json["machine"], "NVIDIA H200");
  const auto& naive = json["rows"].front();
  EXPECT_EQ(naive["ok"], true);
  EXPECT_EQ(naive["max_error"], 0.25);
  EXPECT_EQ(naive["flop_per_clk_per_sm"], 7.0);
  const auto& cublas = json["rows"].back();
  EXPECT_EQ(cublas["rung"], "cuBLASLt");
  EXPECT_TRUE(cublas["ok"].is_null());
  EXPECT_TRUE(cublas["flop_per_clk_per_sm"].is_null());
  EXPECT_EQ(cublas["tflops"], 800.0);
}

TEST(Ladder, TableHasALineARung) {
  const std::string text = table(climb(measured()));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
  EXPECT_NE(text.find("0.5000"), std::string::npos);
}

TEST(Ladder, EveryRungButTheReferencesNamesKernels) {
  int references = 0;
  for (const Rung& rung : rungs()) references += rung.prefix.empty() ? 1 : 0;
  EXPECT_EQ(references, 2);
  EXPECT_TRUE(rungs().back().prefix.empty());
}

}  // namespace
}  // namespace tenon::microbench
