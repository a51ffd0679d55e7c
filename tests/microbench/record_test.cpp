#include "microbench/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tenon::microbench {
namespace {

Record example() {
  Record record;
  record.benchmark = "gemm";
  record.shape = {4096, 4096, 4096, 4096, 4096, 4096};
  record.types = "bf16_f32_bf16";
  record.layout = "tn";
  record.kernel = "tma_bf16_f32_tn_256x128x64_s4";
  record.tflops_burst = 555.5;
  record.reference = "cuBLASLt 13.1.0 #0";
  record.reference_tflops_burst = 793.25;
  record.max_error = 0.25;
  record.error_bound = 1.5;
  return record;
}

// 4 us between others for 5 of cuBLASLt's; with a cold L2 300 TFLOP/s for 400.
Record example_in_every_way() {
  Record record = example();
  record.between.reference = "cuBLASLt 13.1.0 #3";
  record.between.pair_us = 5.125;
  record.between.reference_pair_us = 6.125;
  record.between.foreign_us = 1.125;
  record.cold.reference = "cuBLASLt 13.1.0 #5";
  record.cold.tflops = 300;
  record.cold.reference_tflops = 400;
  return record;
}

std::vector<std::string> fields_of(const Record& record) {
  std::vector<std::string> names;
  const nlohmann::ordered_json json = to_json(record);
  for (const auto& item : json.items()) names.push_back(item.key());
  return names;
}

// DESIGN: one object a measurement, with these fields and no other. scripts/readme_tables reads them.
TEST(Record, JsonHoldsExactlyTheAgreedFieldsInOrder) {
  const std::vector<std::string> names = fields_of(example());
  const std::vector<std::string> agreed = {"benchmark",
                                           "m",
                                           "n",
                                           "k",
                                           "batch",
                                           "types",
                                           "layout",
                                           "kernel",
                                           "tflops_burst",
                                           "tflops_sustained",
                                           "reference",
                                           "reference_tflops_burst",
                                           "reference_tflops_sustained",
                                           "ratio_burst",
                                           "ratio_sustained",
                                           "flop_per_clk_per_sm",
                                           "sm_mhz",
                                           "watts",
                                           "max_error",
                                           "error_bound",
                                           "commit",
                                           "machine",
                                           "toolkit",
                                           "date"};
  EXPECT_EQ(names, agreed);
}

TEST(Record, JsonHoldsFieldsMoreForEachOtherWay) {
  const std::vector<std::string> plain = fields_of(example());
  std::vector<std::string> more;
  for (const std::string& field : fields_of(example_in_every_way())) {
    if (std::find(plain.begin(), plain.end(), field) == plain.end()) more.push_back(field);
  }
  EXPECT_EQ(more, (std::vector<std::string>{"tflops_between", "reference_between", "reference_tflops_between",
                                            "ratio_between", "pair_us", "reference_pair_us", "foreign_us",
                                            "tflops_cold", "reference_cold", "reference_tflops_cold",
                                            "ratio_cold"}));
  EXPECT_EQ(fields_of(example_in_every_way()).size(), plain.size() + more.size());
}

TEST(Record, BetweenOthersTheForeignKernelDoesNotCount) {
  const Record record = example_in_every_way();
  const double flop = 2.0 * 4096 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(record.tflops_between(), flop / 4 * 1e-6);
  EXPECT_DOUBLE_EQ(record.reference_tflops_between(), flop / 5 * 1e-6);
  EXPECT_DOUBLE_EQ(record.ratio_between(), 1.25);
  const nlohmann::ordered_json json = to_json(record);
  EXPECT_EQ(json["ratio_between"], 1.25);
  EXPECT_EQ(json["reference_between"], "cuBLASLt 13.1.0 #3");
  EXPECT_EQ(json["reference"], "cuBLASLt 13.1.0 #0");
  // What the figures come from can be computed again.
  EXPECT_EQ(json["pair_us"], 5.125);
  EXPECT_EQ(json["reference_pair_us"], 6.125);
  EXPECT_EQ(json["foreign_us"], 1.125);
  EXPECT_EQ(json["ratio_cold"], 0.75);
  EXPECT_EQ(json["reference_cold"], "cuBLASLt 13.1.0 #5");
}

TEST(Record, IsMeasuredInAnyWay) {
  EXPECT_TRUE(example().is_measured());
  Record record = example_in_every_way();
  record.tflops_burst = 0;
  EXPECT_TRUE(record.is_measured());
  record.cold = {};
  EXPECT_TRUE(record.is_measured());
  record.between.pair_us = record.between.foreign_us;
  EXPECT_FALSE(record.is_measured()) << "it adds nothing";
}

TEST(Record, UnmeasuredValuesAreNull) {
  const nlohmann::ordered_json json = to_json(example());
  EXPECT_EQ(json["tflops_burst"], 555.5);
  EXPECT_TRUE(json["tflops_sustained"].is_null());
  EXPECT_TRUE(json["ratio_sustained"].is_null());
  EXPECT_TRUE(json["watts"].is_null());
  EXPECT_NEAR(json["ratio_burst"].get<double>(), 555.5 / 793.25, 1e-6);
}

TEST(Record, LeadingDimensionsShowOnlyWhenTheyArePadded) {
  const Layout tn = parse_layouts("tn")[0];
  EXPECT_EQ(describe_layout(with_leading_dimensions({10, 20, 30, 0, 0, 0}, tn), tn), "tn");
  EXPECT_EQ(describe_layout(with_leading_dimensions({10, 20, 30, 32, 0, 0}, tn), tn),
            "tn lda=32 ldb=30 ldc=20");
}

TEST(Record, OddRecordsArePrintedAndNotStored) {
  Record odd = example();
  odd.kernel = "odd_kernel";
  odd.odd = "hardware slowdown";
  const std::string path = ::testing::TempDir() + "tenon_record_test.json";
  write_json(path, {example(), odd});
  std::ifstream file(path);
  const nlohmann::json stored = nlohmann::json::parse(file);
  std::remove(path.c_str());
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0]["kernel"], example().kernel);
  EXPECT_NE(table({example(), odd}).find("! hardware slowdown"), std::string::npos);
}

TEST(Record, AFileIsReplacedAsAWhole) {
  const std::string path = ::testing::TempDir() + "tenon_record_replaced.json";
  std::ofstream(path) << "what stood there";
  std::ifstream before(path);  // keeps reading the old content
  Record record = example();
  record.commit = "\xE9";  // not UTF-8
  write_json(path, {record});
  std::string kept;
  std::getline(before, kept);
  EXPECT_EQ(kept, "what stood there") << "written over in place, it would be lost where the disk is full";
  std::ifstream file(path);
  EXPECT_EQ(nlohmann::json::parse(file)[0]["commit"], "\xEF\xBF\xBD");
  std::remove(path.c_str());
}

TEST(Record, AnUnwritableFileIsNamed) {
  try {
    write_json("/nonexistent/results.json", {});
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("'/nonexistent/results.json'"), std::string::npos);
  }
}

TEST(Record, TablesHaveColumnsForTheWaysThatWereMeasured) {
  const std::string plain = table({example()});
  EXPECT_EQ(plain.find("between"), std::string::npos);
  EXPECT_EQ(plain.find("cold"), std::string::npos);
  Record left_out = example();
  left_out.kernel = "left_out";
  left_out.left_out = "between others: bursts differ by 9 %";
  const std::string text = table({left_out, example_in_every_way()});
  EXPECT_NE(text.find(", 27487.8 between others, 400.0 with a cold L2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("   34359.7  1.250      300.0  0.750          -      -  "), std::string::npos) << text;
  EXPECT_NE(text.find("  left out: between others: bursts differ by 9 %\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("against"), text.rfind("against")) << "one case, one heading:\n" << text;
}

// Without bursts and sustained runs they are sorted by what there is.
TEST(Record, TablesOfOtherWaysListTheFastestFirstToo) {
  Record fast = example_in_every_way(), slow = fast;
  fast.kernel = "fast", slow.kernel = "slow";
  fast.tflops_burst = slow.tflops_burst = fast.cold.tflops = slow.cold.tflops = 0;
  slow.between.pair_us = 7.125;
  std::string text = table({slow, fast});
  EXPECT_LT(text.find("fast"), text.find("slow"));
  fast.between = slow.between = {};
  fast.cold.tflops = 300, slow.cold.tflops = 200;
  text = table({slow, fast});
  EXPECT_LT(text.find("fast"), text.find("slow"));
}

TEST(Record, TablesListTheFastestOfACaseFirst) {
  Record slow = example();
  slow.kernel = "slow";
  slow.tflops_burst = 100;
  Record other_case = example();
  other_case.kernel = "other";
  other_case.layout = "nt";
  const std::string text = table({slow, example(), other_case});
  EXPECT_LT(text.find("tma_bf16_f32_tn_256x128x64_s4"), text.find("slow"));
  EXPECT_LT(text.find("slow"), text.find("  nt  "));
  EXPECT_LT(text.find("  nt  "), text.find("other"));
}

}  // namespace
}  // namespace tenon::microbench
