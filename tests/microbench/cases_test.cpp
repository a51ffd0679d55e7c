#include "microbench/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tenon::microbench {
namespace {

// The sentence of the Failure that the call throws; "" if it throws none.
template <typename Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Cases, ShapesOfEveryLength) {
  const std::vector<Shape> shapes = parse_shapes("4096,1:2:3,4095:4094:4093:5000,10:20:30:40:50:60");
  ASSERT_EQ(shapes.size(), 4U);
  EXPECT_EQ(shapes[0].m, 4096);
  EXPECT_EQ(shapes[0].n, 4096);
  EXPECT_EQ(shapes[0].k, 4096);
  EXPECT_EQ(shapes[0].lda, 0);
  EXPECT_EQ(shapes[1].n, 2);
  EXPECT_EQ(shapes[1].k, 3);
  EXPECT_EQ(shapes[2].lda, 5000);
  EXPECT_EQ(shapes[2].ldb, 5000);
  EXPECT_EQ(shapes[2].ldc, 5000);
  EXPECT_EQ(shapes[3].lda, 40);
  EXPECT_EQ(shapes[3].ldb, 50);
  EXPECT_EQ(shapes[3].ldc, 60);
}

TEST(Cases, WrongShapesAreNamed) {
  EXPECT_NE(sentence([] { parse_shapes("12x12"); }).find("'12x12'"), std::string::npos);
  EXPECT_NE(sentence([] { parse_shapes("1:2"); }).find("2 numbers"), std::string::npos);
  EXPECT_NE(sentence([] { parse_shapes("0"); }), "");
  EXPECT_NE(sentence([] { parse_shapes("-4"); }), "");
  EXPECT_NE(sentence([] { parse_shapes(""); }), "");
  EXPECT_NE(sentence([] { parse_shapes("4096,"); }), "");
  EXPECT_NE(sentence([] { parse_shapes("99999999999999999999"); }), "");
}

TEST(Cases, TypesFillInWhatIsLeftOut) {
  const std::vector<Types> types = parse_types("bf16,f16_f16,f16_f32_f32,f32");
  ASSERT_EQ(types.size(), 4U);
  EXPECT_EQ(name(types[0]), "bf16_f32_bf16");
  EXPECT_EQ(name(types[1]), "f16_f16_f16");
  EXPECT_EQ(name(types[2]), "f16_f32_f32");
  EXPECT_EQ(name(types[3]), "f32_f32_f32");
}

TEST(Cases, WrongTypesAreNamed) {
  EXPECT_NE(sentence([] { parse_types("f8"); }).find("'f8'"), std::string::npos);
  EXPECT_NE(sentence([] { parse_types("bf16_f16"); }).find("accumulate in f16"), std::string::npos);
  EXPECT_NE(sentence([] { parse_types("bf16_bf16"); }), "");
  EXPECT_NE(sentence([] { parse_types("f16_f32_f32_f32"); }), "");
}

TEST(Cases, LayoutLettersAreReversible) {
  const std::vector<Layout> layouts = parse_layouts("all");
  ASSERT_EQ(layouts.size(), 4U);
  for (const Layout& layout : layouts) {
    const std::vector<Layout> again = parse_layouts(name(layout));
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].a, layout.a);
    EXPECT_EQ(again[0].b, layout.b);
  }
  EXPECT_EQ(parse_layouts("tn")[0].a, row_major);
  EXPECT_EQ(parse_layouts("tn")[0].b, column_major);
  EXPECT_NE(sentence([] { parse_layouts("tx"); }), "");
}

TEST(Cases, LeadingDimensionsFollowTheLayout) {
  const Shape tn = with_leading_dimensions({10, 20, 30, 0, 0, 0}, parse_layouts("tn")[0]);
  EXPECT_EQ(tn.lda, 30);
  EXPECT_EQ(tn.ldb, 30);
  EXPECT_EQ(tn.ldc, 20);
  const Shape nt = with_leading_dimensions({10, 20, 30, 0, 0, 0}, parse_layouts("nt")[0]);
  EXPECT_EQ(nt.lda, 10);
  EXPECT_EQ(nt.ldb, 20);
  EXPECT_NE(sentence([] { with_leading_dimensions({10, 20, 30, 29, 30, 20}, parse_layouts("tn")[0]); }), "");
}

// The bound is meant for any summation order in the accumulator's precision: a chain that truncates at every
// step of 8 products to 23 bits has to stay below it, and the bound has to notice one missing product.
TEST(Cases, AccumulationBoundHoldsForTruncatedChains) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  for (const int k : {1, 8, 64, 1024, 8192}) {
    double largest = 0;
    for (int element = 0; element < 200; ++element) {
      double exact = 0;
      float chain = 0;
      for (int i = 0; i < k; i += 8) {
        double step = 0;
        for (int j = i; j < std::min(k, i + 8); ++j)
          step += static_cast<double>(normal(generator)) * normal(generator);
        exact += step;
        const double sum = chain + step;
        chain = static_cast<float>(sum);
        if (std::abs(static_cast<double>(chain)) > std::abs(sum)) chain = std::nextafter(chain, 0.0F);
      }
      largest = std::max(largest, std::abs(exact - chain));
    }
    EXPECT_LE(largest, accumulation_bound(Type::f32, k)) << "k = " << k;
    EXPECT_LT(accumulation_bound(Type::f32, k), 0.5) << "k = " << k;
  }
}

// Sums rounded to 11 bits after every 8 products: the bound holds, and is not so wide that it proves nothing.
TEST(Cases, AccumulationBoundHoldsForChainsInF16) {
  std::mt19937 generator(8);
  std::normal_distribution<float> normal;
  for (const int k : {1, 8, 64, 1024, 8192}) {
    double largest = 0;
    for (int element = 0; element < 200; ++element) {
      double exact = 0;
      double chain = 0;
      for (int i = 0; i < k; i += 8) {
        double step = 0;
        for (int j = i; j < std::min(k, i + 8); ++j)
          step += static_cast<double>(normal(generator)) * normal(generator);
        exact += step;
        int exponent = 0;
        const double mantissa = std::frexp(chain + step, &exponent);
        chain = std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
      }
      largest = std::max(largest, std::abs(exact - chain));
    }
    EXPECT_LE(largest, accumulation_bound(Type::f16, k)) << "k = " << k;
    EXPECT_GE(20 * largest, accumulation_bound(Type::f16, k))
        << "a bound far above what happens proves little";
  }
}

}  // namespace
}  // namespace tenon::microbench
