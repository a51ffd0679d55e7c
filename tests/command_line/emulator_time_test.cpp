// What is said and what is refused before the emulator starts.
#include "command_line/emulator_time.hpp"

#include <gtest/gtest.h>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

Kernel kernel_of(int tile_m, int tile_n, int tile_k) {
  Kernel kernel;
  kernel.tile_m = tile_m;
  kernel.tile_n = tile_n;
  kernel.tile_k = tile_k;
  return kernel;
}

Gemm problem_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

std::string said(const Gemm& problem, const Kernel& kernel) {
  ::testing::internal::CaptureStderr();
  announce_emulator_time(problem, kernel);
  return ::testing::internal::GetCapturedStderr();
}

TEST(EmulatorTime, CountsWholeTiles) {
  const Kernel kernel = kernel_of(64, 80, 64);
  EXPECT_EQ(emulator_seconds(problem_of(1, 1, 1), kernel), emulator_seconds(problem_of(64, 80, 64), kernel));
  EXPECT_EQ(emulator_seconds(problem_of(65, 1, 1), kernel),
            2 * emulator_seconds(problem_of(64, 80, 64), kernel));
  EXPECT_EQ(emulator_seconds(problem_of(0, 8, 8), kernel), 0.0);
}

TEST(EmulatorTime, OneElementOfALongSum) {
  const Kernel kernel = kernel_of(64, 80, 64);
  EXPECT_EQ(said(problem_of(1, 1, 100000000), kernel),
            "tenon: the emulator will take about 35 minutes of CPU time for this product\n");
  EXPECT_EQ(said(problem_of(1, 1, 100000), kernel), "");
  EXPECT_EQ(said(problem_of(512, 512, 512), kernel), "");
}

TEST(EmulatorTime, RefusesMoreThanADay) {
  try {
    announce_emulator_time(problem_of(65536, 65536, 65536), kernel_of(128, 128, 64));
    FAIL() << "not refused";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), Exit::machine_cannot);
    EXPECT_STREQ(
        failure.what(),
        "the emulator will take about 14 days of CPU time for this product, but does only what it can "
        "do in a day: a smaller product or a GPU is needed");
  }
}

TEST(EmulatorTime, Durations) {
  EXPECT_EQ(duration_text(1), "1 seconds");
  EXPECT_EQ(duration_text(119), "119 seconds");
  EXPECT_EQ(duration_text(120), "2 minutes");
  EXPECT_EQ(duration_text(7200), "2 hours");
  EXPECT_EQ(duration_text(172800), "2 days");
}

}  // namespace
}  // namespace tenon::command
