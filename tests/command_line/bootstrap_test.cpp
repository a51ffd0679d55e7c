// The bootstrap interval of a median.
#include "command_line/bootstrap.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tenon::command {
namespace {

TEST(Bootstrap, OfOneValueIsThatValue) {
  const Interval interval = bootstrap_median({3.5});
  EXPECT_EQ(interval.median, 3.5);
  EXPECT_EQ(interval.low, 3.5);
  EXPECT_EQ(interval.high, 3.5);
}

TEST(Bootstrap, MedianOfAnEvenNumberIsTheMean) {
  EXPECT_EQ(bootstrap_median({4, 1, 2, 3}).median, 2.5);
}

// Of 100 values from a normal distribution the standard error of the median is 0.125: 95 of 100 intervals
// hold the true median, and they are about half a unit wide.
TEST(Bootstrap, CoversTheMedian) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int covered = 0;
  double width = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> values(100);
    for (double& value : values) value = normal(random);
    const Interval interval = bootstrap_median(values);
    EXPECT_LE(interval.low, interval.median);
    EXPECT_LE(interval.median, interval.high);
    covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    width += (interval.high - interval.low) / 100;
  }
  EXPECT_GE(covered, 88);
  EXPECT_LE(covered, 100);
  EXPECT_NEAR(width, 0.49, 0.1);
}

}  // namespace
}  // namespace tenon::command
