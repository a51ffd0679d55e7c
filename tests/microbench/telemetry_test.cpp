#include "microbench/telemetry.hpp"

#include <gtest/gtest.h>

namespace tenon::microbench {
namespace {

TEST(Telemetry, PowerLimitAndIdlingAreNotOdd) {
  EXPECT_EQ(odd_reasons(0), "");
  EXPECT_EQ(odd_reasons(0x1 | 0x2 | 0x4), "");
}

TEST(Telemetry, SlowdownsAreNamed) {
  EXPECT_EQ(odd_reasons(0x4 | 0x40), "hardware thermal slowdown");
  EXPECT_EQ(odd_reasons(0x8 | 0x20), "hardware slowdown, software thermal slowdown");
}

// With and without a driver: either it says what is wrong, or a window from now on has samples.
TEST(Telemetry, SaysWhyThereAreNoReadings) {
  const Telemetry telemetry(0);
  const auto begin = Telemetry::Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Telemetry::Reading reading = telemetry.window(begin, Telemetry::Clock::now());
  EXPECT_EQ(reading.samples == 0, !telemetry.trouble().empty()) << telemetry.trouble();
}

}  // namespace
}  // namespace tenon::microbench
