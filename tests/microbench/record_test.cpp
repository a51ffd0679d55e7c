#include "microbench/record.hpp"

#include <gtest/gtest.h>

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

// DESIGN: one object a measurement, with these fields and no other. scripts/readme_tables reads them.
TEST(Record, JsonHoldsExactlyTheAgreedFieldsInOrder) {
  std::vector<std::string> names;
  const nlohmann::ordered_json json = to_json(example());
  for (const auto& item : json.items()) names.push_back(item.key());
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
