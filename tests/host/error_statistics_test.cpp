// The criterion for all of C: results of a model of the tensor core pass in every type, and each planted
// fault is found: C = 0, C scaled by 0.9, one wrong column, one wrong row, an infinity.
#include "host/error_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "host/tensor_core_model.hpp"

namespace tenon {
namespace {

using namespace test;

// Products of random numbers: the exact results, and those of a model of a tensor core.
struct RandomC {
  std::int64_t m = 0, n = 0, k = 0;
  Summation summation = Type::f32;
  Type output = Type::f32;
  std::vector<DotProduct> dots;
  std::vector<double> computed;
};

struct Format {
  const char* name;
  Type type, accumulate;
  Step step;
  bool promote = false;

  Summation summation() const { return {type, accumulate, promote}; }
};
constexpr Format formats[] = {{"f16, sm_80", Type::f16, Type::f32, ampere},
                              {"f16, wgmma", Type::f16, Type::f32, hopper},
                              {"f16 accumulators", Type::f16, Type::f16, ampere},
                              {"f16 accumulators, wgmma", Type::f16, Type::f16, hopper},
                              {"tf32", Type::tf32, Type::f32, hopper_tf32},
                              {"e4m3", Type::e4m3, Type::f32, hopper_fp8},
                              {"e5m2", Type::e5m2, Type::f32, hopper_fp8},
                              {"e4m3, promoted", Type::e4m3, Type::f32, hopper_fp8, true},
                              {"e5m2, promoted", Type::e5m2, Type::f32, hopper_fp8, true}};
constexpr const Format& e4m3 = formats[5];

// split: the parts of k that are added in f32.
RandomC random_c(const Format& format, std::int64_t k, std::int64_t split = 1) {
  constexpr std::int64_t m = 16, n = 16;
  RandomC c{m, n, k, format.summation(), Type::f32, {}, {}};
  const std::int64_t part = (k / split + 127) / 128 * 128;
  for (std::int64_t i = 0; i < m * n; ++i) {
    const auto products =
        random_products(static_cast<int>(k), 0.0, static_cast<unsigned>(i + 1), format.type, format.type);
    c.dots.push_back(exact(products));
    const std::int64_t chunk = format.promote ? promoted_chunk : split > 1 ? part : k;
    c.computed.push_back(chunk == k ? tensor_core(products, format.step, format.accumulate)
                                    : in_chunks(products, static_cast<std::size_t>(chunk), format.step));
  }
  return c;
}

// Computed once for all tests.
RandomC right_c(const Format& format, std::int64_t k, Type output = Type::f32) {
  static std::map<std::pair<const Format*, std::int64_t>, RandomC> kept;
  const auto found = kept.find({&format, k});
  RandomC c = found != kept.end() ? found->second : kept[{&format, k}] = random_c(format, k);
  c.output = output;
  for (double& x : c.computed) x = rounded(static_cast<float>(x), output);
  return c;
}

ErrorStatistics statistics_of(const RandomC& c) {
  ErrorStatistics statistics(c.m, c.n, c.summation, c.k, c.output);
  for (std::size_t i = 0; i < c.computed.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    statistics.add(at / c.n, at % c.n, c.computed[i], c.dots[i].sum, c.dots[i]);
  }
  return statistics;
}

TEST(ErrorStatistics, PassesTheModelOfTheTensorCore) {
  for (const Format& format : formats) {
    for (const std::int64_t k : {1, 8, 32, 64, 100, 512, 4096}) {
      for (const Type output : {Type::f32, Type::f16}) {
        const ErrorStatistics found = statistics_of(right_c(format, k, output));
        SCOPED_TRACE(::testing::Message()
                     << format.name << ", k = " << k << ", C in " << name(output) << ": relative error "
                     << found.relative_error() << " of " << found.relative_error_limit() << ", bias "
                     << found.bias() << " of " << found.bias_limit());
        EXPECT_TRUE(found.verdict().is_right());
        EXPECT_LE(found.relative_error(), found.relative_error_limit());
        EXPECT_LE(std::fabs(found.bias()), found.bias_limit());
      }
    }
  }
}

// The limits with and without exact partial sums agree, and both are near the errors found.
TEST(ErrorStatistics, LimitsAreNotFarAboveWhatIsFound) {
  for (const Format& format : formats) {
    for (const std::int64_t k : {512, 4096}) {
      const ErrorStatistics found = statistics_of(right_c(format, k));
      SCOPED_TRACE(::testing::Message() << format.name << ", k = " << k);
      const double limit = relative_error_limit(format.summation(), k, Type::f32);
      // 6.5 of the largest sigmas count in a group of 256.
      EXPECT_GT(found.relative_error_limit(), 1.1 * limit);
      EXPECT_LT(found.relative_error_limit(), 2.5 * limit);
      EXPECT_LE(found.relative_error(), limit);
      EXPECT_GE(25 * found.relative_error(), limit);
      const double bias = bias_limit(format.summation(), k, Type::f32, 16 * 16);
      EXPECT_NEAR(found.bias_limit() / bias, 1.0, 0.3);
      EXPECT_LE(std::fabs(found.bias()), bias);
    }
  }
}

TEST(ErrorStatistics, PassesSplitK) {
  for (const std::int64_t split : {2, 4}) {
    for (const Format* format : {&formats[1], &formats[4], &e4m3})
      EXPECT_TRUE(statistics_of(random_c(*format, 4096, split)).verdict().is_right())
          << format->name << ", split in " << split;
  }
}

// The bound of an element alone let these pass for fp8.
TEST(ErrorStatistics, FindsZeros) {
  for (const Format& format : formats) {
    for (const std::int64_t k : {1, 64, 3136}) {
      RandomC c = right_c(format, k);
      c.computed.assign(c.computed.size(), 0.0);
      const ErrorStatistics found = statistics_of(c);
      EXPECT_EQ(found.verdict().group, ErrorGroup::whole) << format.name << ", k = " << k;
      EXPECT_EQ(found.relative_error(), 1.0);
      EXPECT_EQ(found.bias(), -1.0);
      EXPECT_LT(found.verdict().limit, 0.2);
    }
  }
}

TEST(ErrorStatistics, FindsAScaledC) {
  for (const Format& format : formats) {
    for (const std::int64_t k : {64, 4096}) {
      for (const Type output : {Type::f32, Type::f16}) {
        RandomC c = right_c(format, k, output);
        for (double& x : c.computed) x *= 0.9;
        const ErrorStatistics found = statistics_of(c);
        EXPECT_FALSE(found.verdict().is_right()) << format.name << ", k = " << k;
        EXPECT_NEAR(found.relative_error(), 0.1, 0.03);
        EXPECT_NEAR(found.bias(), -0.1, 0.01);
      }
    }
  }
}

// Too little for a norm, but not for the mean.
TEST(ErrorStatistics, FindsABias) {
  RandomC c = right_c(formats[1], 64, Type::f16);
  for (double& x : c.computed) x *= 0.9997;
  EXPECT_EQ(statistics_of(c).verdict().group, ErrorGroup::bias);
  EXPECT_NEAR(statistics_of(c).verdict().found, -0.0003, 0.00005);
}

TEST(ErrorStatistics, FindsOneWrongColumnOrRow) {
  for (const Format& format : formats) {
    RandomC wrong_column = right_c(format, 4096), wrong_row = wrong_column;
    for (std::size_t i = 0; i < 16; ++i) wrong_column.computed[i * 16 + 7] *= 0.5;
    for (std::size_t i = 0; i < 16; ++i) wrong_row.computed[9 * 16 + i] *= 0.5;
    const ErrorVerdict column = statistics_of(wrong_column).verdict(),
                       row = statistics_of(wrong_row).verdict();
    EXPECT_EQ(column.group, ErrorGroup::column) << format.name;
    EXPECT_EQ(column.index, 7);
    EXPECT_NEAR(column.found, 0.5, 0.02);
    EXPECT_EQ(row.group, ErrorGroup::row) << format.name;
    EXPECT_EQ(row.index, 9);
  }
}

// A column that the norm of C does not show: one of 2000.
TEST(ErrorStatistics, FindsOneColumnOfMany) {
  const RandomC right = right_c(e4m3, 512);
  ErrorStatistics statistics(16, 2000, right.summation, 512, Type::f32);
  for (std::int64_t row = 0; row < 16; ++row) {
    for (std::int64_t column = 0; column < 2000; ++column) {
      const auto at = static_cast<std::size_t>(row * 16 + column % 16);
      statistics.add(row, column, column == 1234 ? 0.97 * right.computed[at] : right.computed[at],
                     right.dots[at].sum, right.dots[at]);
    }
  }
  EXPECT_LT(statistics.relative_error(), statistics.relative_error_limit());
  EXPECT_EQ(statistics.verdict().group, ErrorGroup::column);
  EXPECT_EQ(statistics.verdict().index, 1234);
}

TEST(ErrorStatistics, FindsAnInfinityThatIsNoOverflow) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  RandomC c = right_c(formats[2], 64, Type::f16);  // f16 accumulators
  c.computed[5] = infinity;
  EXPECT_FALSE(statistics_of(c).verdict().is_right());
  c.computed[5] = std::nan("");
  EXPECT_FALSE(statistics_of(c).verdict().is_right());
  // The exact value rounds to infinity, and the accumulator overflows on the way.
  for (const double large : {65519.0, 1e6}) {
    DotProduct dot;
    dot.add(large);
    ErrorStatistics statistics(1, 1, Type::f16, 1, Type::f16);
    statistics.add(0, 0, infinity, large, dot);
    EXPECT_TRUE(statistics.verdict().is_right());
  }
}

TEST(ErrorStatistics, IntegersAreExact) {
  ErrorStatistics statistics(1, 2, Type::s32, 1000, Type::s32);
  DotProduct dot;
  dot.add(0x1p31);
  statistics.add(0, 0, -0x1p31, 0x1p31, dot);
  statistics.add(0, 1, 5.0, 5.0, dot);
  EXPECT_TRUE(statistics.verdict().is_right());
  statistics.add(0, 1, 6.0, 5.0, dot);
  EXPECT_EQ(statistics.verdict().group, ErrorGroup::whole);
}

TEST(ErrorStatistics, AnEmptyCIsRight) {
  ErrorStatistics statistics(0, 0, Type::f32, 8, Type::f32);
  EXPECT_TRUE(statistics.verdict().is_right());
  EXPECT_EQ(statistics.relative_error(), 0.0);
  EXPECT_EQ(statistics.bias_limit(), 0.0);
}

}  // namespace
}  // namespace tenon
