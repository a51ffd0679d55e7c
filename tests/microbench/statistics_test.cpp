#include "microbench/statistics.hpp"

#include <gtest/gtest.h>

namespace tenon::microbench {
namespace {

TEST(Statistics, MedianIsTheMiddleOfTheSortedValues) {
  EXPECT_DOUBLE_EQ(median({}), 0);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({8, 2, 4, 6}), 5);
}

TEST(Statistics, MeanIsThatOfAll) {
  EXPECT_DOUBLE_EQ(mean({}), 0);
  EXPECT_DOUBLE_EQ(mean({1, 2, 9}), 4);
}

TEST(Statistics, BetweenOthersALaunchTakesWhatItAddsToTheStream) {
  EXPECT_DOUBLE_EQ(added_microseconds(4.5, 1), 3.5);
  EXPECT_DOUBLE_EQ(added_microseconds(0.9, 1), 0) << "never below 0";
  EXPECT_DOUBLE_EQ(added_microseconds(4.5, 0), 0) << "unknown";
  EXPECT_DOUBLE_EQ(added_microseconds(0, 1), 0) << "unknown";
}

TEST(Statistics, OneOutlierOnEitherSideDoesNotSpreadTheMiddle) {
  EXPECT_DOUBLE_EQ(middle_spread({10, 10, 10, 10, 99}), 0);
  EXPECT_DOUBLE_EQ(middle_spread({1, 10, 10, 10, 99}), 0);
  EXPECT_DOUBLE_EQ(middle_spread({9, 10, 12, 8, 11}), 0.2);
  EXPECT_DOUBLE_EQ(middle_spread({1, 99}), 0);
}

TEST(Statistics, TheErrorOfTheMedianIgnoresOutliersAndFallsWithTheNumberOfValues) {
  EXPECT_DOUBLE_EQ(median_error({10, 11, 12}), 0);
  EXPECT_DOUBLE_EQ(median_error({10, 10, 10, 10, 99}), 0);
  // The middle half of 9.9, 10, 10, 10.1 and outliers spans 9.9 to 10.1.
  EXPECT_NEAR(median_error({9.9, 10, 10, 10.1, 5, 50}), 1.2533 * 0.2 / 1.349 / std::sqrt(6.0) / 10, 1e-12);
  std::vector<double> many;
  for (int i = 0; i < 16; ++i) many.insert(many.end(), {9.9, 10, 10, 10.1});
  EXPECT_LT(median_error(many), median_error({9.9, 10, 10, 10.1, 5, 50}) / 2);
}

TEST(Statistics, TflopsAndFlopPerClock) {
  const double flop = 2.0 * 4096 * 4096 * 4096;
  EXPECT_NEAR(tflops(flop, 1000), 137.438953472, 1e-9);
  EXPECT_DOUBLE_EQ(tflops(flop, 0), 0);
  // 132 SMs at 1000 MHz and 4096 FLOP/clk/SM: 540.672 TFLOP/s.
  EXPECT_NEAR(flop_per_clk_per_sm(540.672, 1000, 132), 4096, 1e-9);
  EXPECT_DOUBLE_EQ(flop_per_clk_per_sm(540, 0, 132), 0);
}

TEST(Statistics, LaunchesFillTheTimeButAreAtLeastOne) {
  EXPECT_EQ(launches_for(3, 5), 600);
  EXPECT_EQ(launches_for(3, 2000), 2);
  EXPECT_EQ(launches_for(3, 2.2e5), 1);
  EXPECT_EQ(launches_for(3, 0), 1);
}

TEST(Statistics, DisagreementIsRelativeToTheMean) {
  EXPECT_DOUBLE_EQ(disagreement(90, 110), 0.2);
  EXPECT_DOUBLE_EQ(disagreement(110, 90), 0.2);
  EXPECT_DOUBLE_EQ(disagreement(0, 0), 0);
}

}  // namespace
}  // namespace tenon::microbench
