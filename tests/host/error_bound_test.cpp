// The error bound against the arithmetic it bounds: a model of the tensor core's step, FP32 loops, and
// mistakes that it must not excuse.
#include "host/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "reference/float_bits.hpp"

namespace tenon {
namespace {

struct Step {
  int products;  // L
  int fraction;  // F
};
constexpr Step ampere{8, 24}, hopper{16, 25};

// One step: align to the largest exponent, cut to F bits below it, add, round toward zero to f32 (or to
// nearest f16).
double step(double c, const double* p, int count, int fraction, Type accumulate) {
  int largest = std::numeric_limits<int>::min();
  const auto exponent = [](double x) { return x == 0.0 ? std::numeric_limits<int>::min() : std::ilogb(x); };
  largest = exponent(c);
  for (int i = 0; i < count; ++i) largest = std::max(largest, exponent(p[i]));
  if (largest == std::numeric_limits<int>::min()) return 0.0;
  const double unit = std::ldexp(1.0, largest - fraction);
  double sum = std::trunc(c / unit);
  for (int i = 0; i < count; ++i) sum += std::trunc(p[i] / unit);
  const double value = sum * unit;
  if (value == 0.0) return 0.0;
  if (accumulate == Type::f16) {
    return static_cast<double>(
        reference::float_from_f16(reference::f16_from_float(static_cast<float>(value))));
  }
  const double ulp = std::ldexp(1.0, std::ilogb(value) - 23);
  return std::trunc(value / ulp) * ulp;
}

double tensor_core(const std::vector<double>& products, Step kind, Type accumulate) {
  double c = 0.0;
  for (std::size_t k = 0; k < products.size(); k += static_cast<std::size_t>(kind.products)) {
    const int count =
        static_cast<int>(std::min<std::size_t>(products.size() - k, static_cast<std::size_t>(kind.products)));
    c = step(c, products.data() + k, count, kind.fraction, accumulate);
  }
  return c;
}

// Products of f16 values; drift > 0 makes most of them positive, the worst case for sums that are cut.
std::vector<double> random_products(int k, double drift, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  const auto draw = [&] {
    return static_cast<double>(reference::float_from_f16(reference::f16_from_float(normal(engine))));
  };
  std::vector<double> products(static_cast<std::size_t>(k));
  for (double& p : products) {
    p = draw() * draw();
    if (drift > 0) p = std::fabs(p) * drift;
  }
  return products;
}

DotProduct exact(const std::vector<double>& products) {
  DotProduct dot;
  for (const double p : products) dot.add(p);
  return dot;
}

TEST(ErrorBound, HoldsForTheModelOfTheTensorCore) {
  for (const Step kind : {ampere, hopper}) {
    for (const Type accumulate : {Type::f32, Type::f16}) {
      for (const int k : {1, 7, 8, 9, 16, 64, 100, 1000, 4096}) {
        for (const double drift : {0.0, 1.0}) {
          for (unsigned seed = 0; seed < 20; ++seed) {
            const auto products = random_products(k, drift, seed);
            const DotProduct dot = exact(products);
            const double error = std::fabs(tensor_core(products, kind, accumulate) - dot.sum);
            EXPECT_LE(error, accumulation_bound(dot, k, accumulate)) << "k " << k << ", L " << kind.products;
          }
        }
      }
    }
  }
}

TEST(ErrorBound, IsNotIdle) {
  // Truncation drifts one way: with positive products the model really uses a good part of the bound.
  const auto products = random_products(4096, 1.0, 3);
  const DotProduct dot = exact(products);
  const double error = std::fabs(tensor_core(products, ampere, Type::f32) - dot.sum);
  EXPECT_GT(error, 0.05 * accumulation_bound(dot, 4096, Type::f32));
}

TEST(ErrorBound, HoldsForAnFp32Loop) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto products = random_products(2000, 0.0, seed);
    float sum = 0.0F;
    for (const double p : products) sum = static_cast<float>(p + static_cast<double>(sum));
    const DotProduct dot = exact(products);
    EXPECT_LE(std::fabs(static_cast<double>(sum) - dot.sum), accumulation_bound(dot, 2000, Type::f32));
  }
}

TEST(ErrorBound, SeesADroppedProduct) {
  // At k = 4096 the loss of one typical product out of 4096 lies outside the bound.
  for (unsigned seed = 0; seed < 20; ++seed) {
    const DotProduct dot = exact(random_products(4096, 0.0, seed));
    EXPECT_LT(error_bound(dot, 4096, Type::f32, Type::f32), 0.25);
  }
}

TEST(ErrorBound, CoversTheRoundingOfTheOutput) {
  DotProduct dot;
  dot.add(1.0);
  for (const Type output : {Type::f16, Type::bf16, Type::f32}) {
    const double bound = error_bound(dot, 1, Type::f32, output);
    EXPECT_GE(bound, unit_roundoff(output));
    EXPECT_LE(bound, unit_roundoff(output) * 1.01 + 16 * 0x1p-24);
  }
}

TEST(ErrorBound, WithoutProductsOnlyTheEpilogueErrs) {
  EXPECT_LE(error_bound(DotProduct{}, 0, Type::f32, Type::f32, 1.0, 0.0, 0.0), 0x1p-148);
  const double bound = error_bound(DotProduct{}, 0, Type::f32, Type::f32, 1.0, 2.0, 3.0);
  EXPECT_GE(bound, 6 * 0x1p-24);
  EXPECT_LE(bound, 6 * 5 * 0x1p-24);
  EXPECT_EQ(error_bound(DotProduct{}, 0, Type::f32, Type::f32, 0.0, 2.0, 3.0), bound);
}

TEST(ErrorBound, GrowsWithKAndWithNarrowerSums) {
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0),
            error_bound(128, Type::f32, Type::f32, 1.0, 1.0));
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0), error_bound(64, Type::f16, Type::f32, 1.0, 1.0));
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0),
            error_bound(64, Type::f32, Type::bf16, 1.0, 1.0));
}

TEST(ErrorBound, SaysNothingWhereF16SumsMayOverflow) {
  EXPECT_TRUE(std::isinf(error_bound(1000, Type::f16, Type::f32, 100.0, 1.0)));
  EXPECT_FALSE(std::isinf(error_bound(1000, Type::f32, Type::f32, 100.0, 1.0)));
}

TEST(ErrorOf, InfinityAndNan) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(inf, 65520.0, 0.0, Type::f16), 0.0);
  EXPECT_EQ(error_of(inf, 65519.0, 0.0, Type::f16), inf);
  EXPECT_EQ(error_of(inf, 65519.0, 2.0, Type::f16), 0.0);
  EXPECT_EQ(error_of(-inf, 65520.0, 0.0, Type::f16), inf);
  EXPECT_EQ(error_of(inf, 65520.0, 0.0, Type::f32), inf);
  EXPECT_EQ(error_of(nan, nan, 0.0, Type::f32), 0.0);
  EXPECT_EQ(error_of(nan, 1.0, 100.0, Type::f32), inf);
  EXPECT_EQ(error_of(1.0, nan, 100.0, Type::f32), inf);
  EXPECT_EQ(error_of(1.5, 1.0, 0.0, Type::f32), 0.5);
}

}  // namespace
}  // namespace tenon
