// From the figures of every way to a record, without a GPU: what is stored, what is left out, what is odd.
#include "microbench/way_figures.hpp"

#include <gtest/gtest.h>

namespace tenon::microbench {
namespace {

Figure figure(double tflops, double mhz) {
  Figure result;
  result.tflops = tflops;
  result.sm_mhz = mhz;
  result.watts = mhz / 10;
  return result;
}

// pair_us with a foreign kernel of foreign_us; tflops as of 2 * 100^3 in the rest.
Figure pair_figure(double pair_us, double foreign_us) {
  Figure result = figure(2.0 / (pair_us - foreign_us), 1700);
  result.pair_us = pair_us;
  result.foreign_us = foreign_us;
  return result;
}

struct Example {
  WayFigures ours{figure(120, 1800), pair_figure(5, 1), figure(90, 1600), figure(100, 1500)};
  ReferenceFigures reference;
  Record record;

  Example() {
    reference.burst = {0, "#0"}, reference.between = {3, "#3"}, reference.cold = {5, "#5"};
    reference.before = {figure(100, 1), pair_figure(6, 1), figure(99, 1), figure(80, 1)};
    reference.after = {figure(102, 1), pair_figure(6.1, 1), figure(101, 1), figure(81, 1)};
    record.shape = {100, 100, 100, 100, 100, 100};
  }
  void store() { store_figures(ours, reference, 1, 100, &record); }
};

TEST(WayFigures, AreStoredBesideTheMeanOfTheReference) {
  Example x;
  x.store();
  EXPECT_EQ(x.record.tflops_burst, 120);
  EXPECT_EQ(x.record.reference_tflops_burst, 101);
  EXPECT_EQ(x.record.tflops_sustained, 100);
  EXPECT_EQ(x.record.reference_tflops_sustained, 80.5);
  EXPECT_EQ(x.record.between.pair_us, 5);
  EXPECT_DOUBLE_EQ(x.record.between.reference_pair_us, 6.05);
  EXPECT_EQ(x.record.between.foreign_us, 1);
  EXPECT_DOUBLE_EQ(x.record.tflops_between(), x.ours.between.tflops);
  EXPECT_EQ(x.record.cold.tflops, 90);
  EXPECT_EQ(x.record.cold.reference_tflops, 100);
  EXPECT_EQ(x.record.reference, "#0");
  EXPECT_EQ(x.record.between.reference, "#3");
  EXPECT_EQ(x.record.cold.reference, "#5");
  EXPECT_EQ(x.record.odd, "");
  EXPECT_EQ(x.record.left_out, "");
}

TEST(WayFigures, OfTheLongestRunGiveClockAndPower) {
  for (const auto& [left, mhz] : {std::pair(4, 1500), {3, 1800}, {2, 1700}, {1, 1600}}) {
    Example x;
    if (left < 4) x.ours.sustained = {};
    if (left < 3) x.ours.burst = {};
    if (left < 2) x.ours.between = {};
    x.store();
    EXPECT_EQ(x.record.sm_mhz, mhz);
    EXPECT_EQ(x.record.watts, mhz / 10);
    EXPECT_GT(x.record.flop_per_clk_per_sm, 0);
  }
}

TEST(WayFigures, ThatWereNotMeasuredAreNotStored) {
  Example x;
  x.ours.between = x.ours.cold = {};
  x.store();
  EXPECT_EQ(x.record.between.pair_us, 0);
  EXPECT_EQ(x.record.between.reference, "");
  EXPECT_EQ(x.record.cold.reference, "");
  EXPECT_EQ(x.record.left_out, "");
}

TEST(WayFigures, InDoubtAreLeftOutOrMakeTheRecordOdd) {
  Example x;
  x.ours.between.odd = "bursts differ by 7 %";
  x.reference.after.cold.tflops = 110;
  x.store();
  EXPECT_EQ(x.record.between.pair_us, 0);
  EXPECT_EQ(x.record.cold.tflops, 0);
  EXPECT_EQ(x.record.left_out,
            "between others: bursts differ by 7 %; cold L2: cuBLASLt first and last disagree");
  EXPECT_EQ(x.record.odd, "");
  EXPECT_EQ(x.record.tflops_burst, 120);

  Example burst;
  burst.ours.burst.odd = "hardware slowdown";
  burst.store();
  EXPECT_EQ(burst.record.odd, "hardware slowdown");

  Example sustained;
  sustained.reference.after.sustained.tflops = 90;
  sustained.store();
  EXPECT_EQ(sustained.record.odd, "cuBLASLt first and last disagree");
}

TEST(WayFigures, InDoubtMakeARecordOddThatHasNoOther) {
  Example x;
  x.ours.burst = x.ours.sustained = x.ours.cold = {};
  x.reference.burst = {};
  x.reference.before.burst = x.reference.after.burst = {};
  x.store();
  EXPECT_EQ(x.record.odd, "");
  EXPECT_EQ(x.record.reference, "#3") << "of the way that was measured";
  x.record = {};
  x.ours.between.odd = "hardware slowdown";
  x.store();
  EXPECT_EQ(x.record.odd, "between others: hardware slowdown");
}

// A product that takes no longer than nothing has no speed, and says why.
TEST(WayFigures, OfAProductThatAddsNothingAreLeftOut) {
  Example x;
  x.ours.between.tflops = 0;
  x.ours.between.odd = "it adds no time to a stream of foreign kernels";
  x.store();
  EXPECT_EQ(x.record.left_out, "between others: it adds no time to a stream of foreign kernels");
}

TEST(WayFigures, OfTheReferenceAreApartAsInTheWorstWay) {
  Example x;
  EXPECT_NEAR(apart(x.reference), 0.02, 1e-3) << "5 us and 5.1, 100 TFLOP/s and 102";
  x.reference.after.cold.tflops = 0;
  EXPECT_DOUBLE_EQ(apart(x.reference), 2) << "measured once";
}

TEST(WayFigures, ShareTheMedianTimeOfTheForeignKernel) {
  Example x;
  x.reference.before.between.foreign_us = 0.9;
  x.reference.after.between.foreign_us = 1.2;
  EXPECT_DOUBLE_EQ(foreign_microseconds(x.reference, {x.ours}), 1);
  WayFigures failed;
  EXPECT_DOUBLE_EQ(foreign_microseconds(x.reference, {x.ours, failed}), 1) << "not measured, not counted";
  EXPECT_DOUBLE_EQ(foreign_microseconds({}, {failed}), 0);
}

}  // namespace
}  // namespace tenon::microbench
