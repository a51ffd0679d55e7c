#include "microbench/random_suites.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "microbench/record.hpp"
#include "microbench/suites.hpp"

namespace tenon::microbench {
namespace {

std::string text_of(const Product& x) {
  return std::to_string(x.shape.m) + " " + std::to_string(x.shape.n) + " " + std::to_string(x.shape.k) + " " +
         name(x.types) + " " + describe_layout(x.shape, x.layout);
}

TEST(RandomSuites, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const RandomSuite& suite : random_suites()) {
    EXPECT_TRUE(names.insert(suite.name).second) << suite.name;
    EXPECT_EQ(find_random_suite(suite.name), &suite);
    EXPECT_EQ(find_suite(suite.name), nullptr);
    EXPECT_FALSE(suite.what.empty());
  }
  EXPECT_EQ(find_random_suite("none"), nullptr);
}

TEST(RandomSuites, AreTheSameForASeedAndOthersForAnother) {
  for (const RandomSuite& suite : random_suites()) {
    const auto first = suite.draw(1, 64), again = suite.draw(1, 200), other = suite.draw(2, 64);
    ASSERT_EQ(first.size(), 64U);
    int same = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(text_of(first[i]), text_of(again[i])) << suite.name << ": a part of the larger sample";
      same += text_of(first[i]) == text_of(other[i]) ? 1 : 0;
    }
    EXPECT_LT(same, 4) << suite.name;
  }
}

TEST(RandomSuites, HaveEachTypeAndLayoutEquallyOften) {
  std::map<std::string, int> seen;
  for (const Product& x : find_random_suite("random")->draw(3, 160))
    ++seen[name(x.types) + " " + name(x.layout)];
  EXPECT_EQ(seen.size(), 16U);
  for (const auto& [what, count] : seen) EXPECT_EQ(count, 10) << what;
}

// 16 bytes are what TMA and cp.async need.
TEST(RandomSuites, AreAlignedAndWithinTheirRanges) {
  for (const RandomSuite& suite : random_suites()) {
    for (const Product& x : suite.draw(5, 400)) {
      SCOPED_TRACE(suite.name + ": " + text_of(x));
      for (const std::int64_t ld : {x.shape.lda, x.shape.ldb})
        EXPECT_EQ(ld * static_cast<std::int64_t>(bytes(x.types.input)) % 16, 0);
      EXPECT_EQ(x.shape.ldc * static_cast<std::int64_t>(bytes(x.types.output)) % 16, 0);
      EXPECT_GE(x.shape.n, 128);
      EXPECT_LE(x.shape.n, 12288);
      EXPECT_GE(x.shape.k, 128);
      EXPECT_LE(x.shape.k, 12288);
      EXPECT_GE(x.shape.m, 1);
      EXPECT_LE(x.shape.m, suite.name == "random_small" ? 128 : 12288);
    }
  }
}

// As many between 128 and 1024 as a log-uniform size has: log(8) / log(96).
TEST(RandomSuites, SizesAreLogUniform) {
  int small = 0, all = 0;
  for (const Product& x : find_random_suite("random")->draw(7, 2000)) {
    small += x.shape.n < 1024 ? 1 : 0;
    ++all;
  }
  EXPECT_NEAR(static_cast<double>(small) / all, 0.456, 0.04);
}

}  // namespace
}  // namespace tenon::microbench
