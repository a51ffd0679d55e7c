// Parts of a float (gemm/split_parts.hpp): what they hold, and what they lose.
#include "gemm/split_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tenon {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Bits of every exponent whose lower parts are normal numbers, and both signs.
float random_float(std::mt19937& random, int least_exponent, int largest_exponent) {
  const auto significand = static_cast<float>(random() % (1U << 24)) + static_cast<float>(1U << 24);
  const int exponent =
      least_exponent +
      static_cast<int>(random() % static_cast<unsigned>(largest_exponent - least_exponent + 1));
  return std::ldexp(random() % 2 == 0 ? significand : -significand, exponent - 24);
}

double sum_of(const Parts& parts) {
  return static_cast<double>(parts.head) + static_cast<double>(parts.second) +
         static_cast<double>(parts.third);
}

TEST(SplitParts, ThreeOfBf16HoldEveryBit) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float x = random_float(random, -108, 126);
    ASSERT_EQ(sum_of(parts_of<Precision::bf16x6>(x)), static_cast<double>(x)) << x;
  }
}

TEST(SplitParts, EachPartHasTheTypeAndIsTheNearest) {
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i) {
    const float x = random_float(random, -100, 126);
    const Parts of_bf16 = parts_of<Precision::bf16x6>(x), of_tf32 = parts_of<Precision::tf32x3>(x);
    for (const float part : {of_bf16.head, of_bf16.second, of_bf16.third})
      ASSERT_EQ(bits_of(part) & 0xffffU, 0U) << x;
    for (const float part : {of_tf32.head, of_tf32.second}) ASSERT_EQ(bits_of(part) & 0x1fffU, 0U) << x;
    ASSERT_LE(std::fabs(x - of_bf16.head), std::ldexp(std::fabs(x), -8)) << x;
    ASSERT_LE(std::fabs(x - of_bf16.head - of_bf16.second), std::ldexp(std::fabs(x), -16)) << x;
    ASSERT_LE(std::fabs(x - of_tf32.head), std::ldexp(std::fabs(x), -11)) << x;
    ASSERT_LE(std::fabs(x - of_tf32.head - of_tf32.second), std::ldexp(std::fabs(x), -22)) << x;
    ASSERT_EQ(of_bf16.whole, of_bf16.head);
    ASSERT_EQ(of_tf32.whole, of_tf32.head);
  }
}

// Rounded to nearest, the largest floats would be infinite.
TEST(SplitParts, TheLargestFloatsStayFinite) {
  for (const float x : {std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(),
                        float_of(0x7f7fff00U), float_of(0x7f7f8000U), float_of(0x7f7ff000U)}) {
    EXPECT_EQ(sum_of(parts_of<Precision::bf16x6>(x)), static_cast<double>(x)) << x;
    EXPECT_LE(std::fabs(sum_of(parts_of<Precision::tf32x3>(x)) - static_cast<double>(x)),
              std::ldexp(static_cast<double>(std::fabs(x)), -21));
  }
  EXPECT_EQ(parts_of<Precision::bf16>(std::numeric_limits<float>::max()).whole, infinity) << "rounded";
  EXPECT_EQ(parts_of<Precision::f16>(65536.0F).whole, infinity) << "beyond f16";
  EXPECT_EQ(parts_of<Precision::f16>(65519.0F).whole, 65504.0F);
}

TEST(SplitParts, OfWhatIsNotFiniteOnlyTheWholeIsThere) {
  for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const Parts& parts :
         {parts_of<Precision::bf16x3>(x), parts_of<Precision::bf16x6>(x), parts_of<Precision::tf32x3>(x)}) {
      EXPECT_FALSE(is_finite(parts.whole));
      EXPECT_EQ(std::isnan(parts.whole), std::isnan(x));
      if (!std::isnan(x)) {
        EXPECT_EQ(parts.whole, x);
      }
      EXPECT_EQ(parts.head, 0.0F);
      EXPECT_EQ(parts.second, 0.0F);
      EXPECT_EQ(parts.third, 0.0F);
    }
  }
}

TEST(SplitParts, SubnormalsAndZeroKeepWhatTheTypeHolds) {
  EXPECT_EQ(sum_of(parts_of<Precision::bf16x6>(0.0F)), 0.0);
  EXPECT_TRUE(std::signbit(parts_of<Precision::bf16x6>(-0.0F).whole));
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const float x = float_of(random() % 0x01000000U);  // from subnormals to 2^-125
    ASSERT_LE(std::fabs(sum_of(parts_of<Precision::bf16x6>(x)) - static_cast<double>(x)), 0x1p-134) << x;
    ASSERT_LE(std::fabs(sum_of(parts_of<Precision::tf32x3>(x)) - static_cast<double>(x)), 0x1p-137) << x;
  }
}

// The products of parts and their order: each pair once, the largest last, and whole by whole only there.
TEST(SplitParts, ProductsAreOfDifferentPairsAndEndWithTheWhole) {
  for (const Precision precision : all_precisions) {
    const int products = products_of(precision);
    for (int p = 0; p < products; ++p) {
      const Part a = part_of(precision, false, p), b = part_of(precision, true, p);
      EXPECT_EQ(a == Part::whole, p == products - 1) << name(precision);
      EXPECT_EQ(b == Part::whole, p == products - 1) << name(precision);
      for (int q = 0; q < p; ++q) {
        EXPECT_FALSE(a == part_of(precision, false, q) && b == part_of(precision, true, q))
            << name(precision) << ", products " << q << " and " << p;
      }
    }
  }
}

// What the products of parts leave out, relative to the product: the bounds of gemm.hpp.
template <Precision precision>
double largest_error_of_a_product() {
  std::mt19937 random(4);
  double largest = 0.0;
  for (int i = 0; i < 300000; ++i) {
    const float a = random_float(random, -10, 10), b = random_float(random, -10, 10);
    const Parts parts_a = parts_of<precision>(a), parts_b = parts_of<precision>(b);
    double sum = 0.0;
    for (int p = 0; p < products_of(precision); ++p) {
      sum += static_cast<double>(select(parts_a, part_of(precision, false, p))) *
             static_cast<double>(select(parts_b, part_of(precision, true, p)));
    }
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    largest = std::max(largest, std::fabs(sum - exact) / std::fabs(exact));
  }
  return largest;
}

TEST(SplitParts, AProductErrsByNoMoreThanItsBound) {
  EXPECT_LE(largest_error_of_a_product<Precision::tf32>(), 0x1.01p-10);
  EXPECT_LE(largest_error_of_a_product<Precision::f16>(), 0x1.01p-10);
  EXPECT_LE(largest_error_of_a_product<Precision::bf16>(), 0x1.01p-7);
  EXPECT_LE(largest_error_of_a_product<Precision::bf16x3>(), 0x1p-14);
  EXPECT_LE(largest_error_of_a_product<Precision::tf32x3>(), 0x1p-21);
  EXPECT_LE(largest_error_of_a_product<Precision::bf16x6>(), 0x1p-23);
  // And no bound is much too large.
  EXPECT_GE(largest_error_of_a_product<Precision::bf16x3>(), 0x1p-17);
  EXPECT_GE(largest_error_of_a_product<Precision::tf32x3>(), 0x1p-23);
  EXPECT_GE(largest_error_of_a_product<Precision::bf16x6>(), 0x1p-27);
}

}  // namespace
}  // namespace tenon
