#include "microbench/instruction/figures.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "microbench/instruction/result.hpp"

namespace {

using namespace tenon::microbench::instruction;

Kernel kernel_of_16() {
  Kernel kernel;
  kernel.name = "mma";
  kernel.operations = 16;
  kernel.flop = 4096;
  kernel.bytes = 0;
  return kernel;
}

// Two warps; the second begins 10 cycles later. 1500 MHz; the overhead outside the loop is 777 cycles.
Launch launch(std::uint32_t trips, std::uint64_t at, double cycles_per_trip, double mhz = 1500) {
  const auto cycles = static_cast<std::uint64_t>(trips * cycles_per_trip + 777);
  const auto ns = [mhz](std::uint64_t clock) { return static_cast<std::uint64_t>(1e3 * clock / mhz); };
  Launch result{trips, {}};
  for (const std::uint64_t late : {0, 10})
    result.stamps.push_back({at + late, at + late + cycles - 10, ns(at), ns(at + cycles), 3, 0, {}});
  return result;
}

Case two_warps(const Kernel& kernel) {
  Case test;
  test.name = "mma/throughput";
  test.kernel = &kernel;
  test.grid = "one";
  test.warps = 2;
  test.issuers = 2;
  return test;
}

TEST(InstructionFigures, TheSpanRunsFromTheFirstBeginToTheLastEnd) {
  const Kernel kernel = kernel_of_16();
  EXPECT_EQ(span(launch(10, 1000, 100), two_warps(kernel)), 1777);
}

TEST(InstructionFigures, OfCtasTheMeanCountsAndInAClusterTheLongest) {
  const Kernel kernel = kernel_of_16();
  Case test = two_warps(kernel);
  test.warps = 1;
  Launch three{1, {{0, 100, 0, 0, 0, 0, {}}, {0, 130, 0, 0, 1, 0, {}}, {0, 900, 0, 0, 2, 0, {}}}};
  EXPECT_DOUBLE_EQ(span(three, test), (100 + 130 + 900) / 3.0);
  test.grid = "cluster";
  EXPECT_EQ(span(three, test), 900);
}

TEST(InstructionFigures, TimeOutsideTheLoopCancels) {
  const Kernel kernel = kernel_of_16();
  std::vector<Launch> launches;
  for (std::uint64_t i = 0; i < 6; ++i) launches.push_back(launch(1000 * (i % 2 + 1), i * 1'000'000, 192));
  const Figures figures = of_pairs(two_warps(kernel), launches, 1);
  EXPECT_EQ(figures.odd, "");
  EXPECT_DOUBLE_EQ(figures.cycles, 12);  // 192 / 16
  EXPECT_EQ(figures.spread, 0);
  EXPECT_EQ(figures.error, 0);
  EXPECT_EQ(figures.repeats, 3);
  EXPECT_NEAR(figures.sm_mhz, 1500, 1);
  EXPECT_DOUBLE_EQ(figures.operations_per_clk_per_sm, 2 / 12.0);
  EXPECT_DOUBLE_EQ(figures.flop_per_clk_per_sm, 2 * 4096 / 12.0);
}

TEST(InstructionFigures, AClockThatChangesDuringTheRunIsReported) {
  const Kernel kernel = kernel_of_16();
  std::vector<Launch> launches;
  for (std::uint64_t i = 0; i < 6; ++i)
    launches.push_back(launch(1000 * (i % 2 + 1), i * 1'000'000, 192, i < 5 ? 1500 : 1400));
  const Figures figures = of_pairs(two_warps(kernel), launches, 1);
  EXPECT_NE(figures.odd.find("the clock changed during the run"), std::string::npos) << figures.odd;
}

TEST(InstructionFigures, ATimedOutWaitAndALoopThatTakesNoTimeAreRefused) {
  const Kernel kernel = kernel_of_16();
  std::vector<Launch> launches = {launch(1000, 0, 192), launch(2000, 1'000'000, 192)};
  launches[1].stamps[1].failed = 1;
  EXPECT_EQ(of_pairs(two_warps(kernel), launches, 1).odd, "a wait in the kernel timed out");
  launches = {launch(1000, 0, 192), launch(2000, 1'000'000, 96)};
  EXPECT_EQ(of_pairs(two_warps(kernel), launches, 1).odd, "twice the trips did not take longer");
}

TEST(InstructionFigures, ASeriesCountsItsSecondHalf) {
  const Kernel kernel = kernel_of_16();
  std::vector<Launch> launches;
  for (std::uint64_t i = 0; i < 8; ++i)
    launches.push_back(launch(100'000, i * 20'000'000, i < 4 ? 320 : 160));
  const Figures figures = of_series(two_warps(kernel), launches, 132);
  EXPECT_NEAR(figures.cycles, 10, 0.01);
  EXPECT_NEAR(figures.tflops, 2 * 4096 / 10.0 * 132 * 1500e-6, 1);
}

TEST(InstructionFigures, AnUncheckedKernelIsUnproven) {
  const std::string kernels =
      R"("kernels": {"k": {"file": "f", "family": "mma", "instruction": "i", "claim": {"HMMA": 2},
    "native": true, "operations": 2, "issuer": "warp", "flop": 1, "bytes": 0)";
  const Manifest bare = parse_manifest("{" + kernels + R"(}}, "cases": []})");
  EXPECT_FALSE(bare.kernels.at("k").unproven.empty());
  const Manifest proven = parse_manifest("{" + kernels + R"(, "loop": {"HMMA": 2}}}, "cases": []})");
  EXPECT_EQ(proven.kernels.at("k").unproven, "");
}

TEST(InstructionFigures, TheHashIsTheOneThatTheBuildTook) {
  const Manifest manifest = parse_manifest(embedded_manifest());
  ASSERT_FALSE(manifest.cubins.empty());
  for (const auto& [file, hash] : manifest.cubins) EXPECT_EQ(hash_of(embedded_cubin(file)), hash) << file;
  const std::string changed = std::string(embedded_cubin("shared")) + "x";
  EXPECT_NE(hash_of(changed), manifest.cubins.at("shared"));
}

TEST(InstructionFigures, AResultHoldsTheMeasuredFieldsAlone) {
  const Kernel kernel = kernel_of_16();
  Case test = two_warps(kernel);
  Measurement measurement;
  measurement.figures.cycles = 12.00000012;
  measurement.figures.repeats = 7;
  const auto json = to_json(test, measurement);
  EXPECT_EQ(json.at("name"), test.name);
  EXPECT_EQ(json.at("cycles"), 12);
  EXPECT_EQ(json.at("error"), 0);
  EXPECT_EQ(json.at("repeats"), 7);
  for (const char* absent : {"watts", "tflops", "emulated"}) EXPECT_FALSE(json.contains(absent)) << absent;
  measurement.figures.odd = "the clock changed";
  EXPECT_NE(table_row(test, measurement).find("not reported: the clock changed"), std::string::npos);
}

TEST(InstructionFigures, TheFileIsCompleteAfterEveryResult) {
  const std::string path = testing::TempDir() + "instruction_results.json";
  ResultFile file(path, {"c", "m", "t", "2024-01-01"});
  for (int count = 1; count <= 3; ++count) {
    file.add({{"name", std::to_string(count)}});
    std::ifstream stream(path);
    const auto read = nlohmann::json::parse(stream);
    EXPECT_EQ(read.at("benchmark"), "instruction");
    EXPECT_EQ(read.at("machine"), "m");
    ASSERT_EQ(read.at("results").size(), static_cast<std::size_t>(count));
    EXPECT_EQ(read.at("results").back().at("name"), std::to_string(count));
  }
}

}  // namespace
