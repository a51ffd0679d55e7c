#include "microbench/ways.hpp"

#include <gtest/gtest.h>

#include "microbench/cases.hpp"

namespace tenon::microbench {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_ways(text);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Ways, AreWordsSeparatedByCommas) {
  const Ways between = parse_ways("between");
  EXPECT_TRUE(between.between);
  EXPECT_FALSE(between.burst || between.cold || between.sustained);
  const Ways three = parse_ways("cold,burst,between");
  EXPECT_TRUE(three.burst && three.between && three.cold);
  EXPECT_FALSE(three.sustained);
  EXPECT_EQ(name(parse_ways("both")), "burst,sustained");
}

TEST(Ways, HaveReversibleNames) {
  for (int bits = 1; bits < 16; ++bits) {
    const Ways ways{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    const Ways again = parse_ways(name(ways));
    EXPECT_EQ(again.burst, ways.burst);
    EXPECT_EQ(again.between, ways.between);
    EXPECT_EQ(again.cold, ways.cold);
    EXPECT_EQ(again.sustained, ways.sustained);
  }
  EXPECT_EQ(name(Ways{}), "");
}

TEST(Ways, ThatAreWrongAreNamed) {
  EXPECT_EQ(refusal("burst,warm"),
            "mode 'burst,warm' names 'warm', but a mode is both or some of burst, between, cold, sustained, "
            "separated by commas");
  EXPECT_EQ(refusal("burst,cold,burst"), "mode 'burst,cold,burst' names burst twice");
  for (const char* text : {"", ",", "burst,", ",burst", "burst,,cold", "Burst", "both,cold", "burst cold"})
    EXPECT_NE(refusal(text), "") << text;
}

}  // namespace
}  // namespace tenon::microbench
