// The error bound against the arithmetic it bounds: a model of the tensor core's step, FP32 loops, and
// mistakes that it must not excuse.
#include "host/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "host/tensor_core_model.hpp"

namespace tenon {
namespace {

using namespace test;

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

// Also with cluster split-K of 2 or 4 CTAs.
TEST(ErrorBound, HoldsForTf32) {
  for (const int k : {1, 8, 9, 100, 512, 4096}) {
    for (const double drift : {0.0, 1.0}) {
      for (unsigned seed = 0; seed < 20; ++seed) {
        const auto products = random_products(k, drift, seed, Type::tf32, Type::tf32);
        const DotProduct dot = exact(products);
        const double bound = accumulation_bound(dot, k, {Type::tf32, Type::f32});
        for (const int ctas : {1, 2, 4}) {
          const std::size_t chunk = static_cast<std::size_t>((k + 32 * ctas - 1) / (32 * ctas) * 32);
          const double error = std::fabs(in_chunks(products, chunk, hopper_tf32) - dot.sum);
          EXPECT_LE(error, bound) << "k " << k << ", ctas " << ctas;
        }
      }
    }
  }
}

TEST(ErrorBound, HoldsForFp8) {
  for (const Type a : {Type::e4m3, Type::e5m2}) {
    for (const Type b : {Type::e4m3, Type::e5m2}) {
      for (const int k : {1, 31, 33, 128, 129, 1000, 4096}) {
        // 2^-7: most of A is subnormal, if it is e4m3.
        for (const float scale : {1.0F, 0x1p-7F}) {
          for (unsigned seed = 0; seed < 10; ++seed) {
            const auto products = random_products(k, seed % 2, seed, a, b, scale);
            const DotProduct dot = exact(products);
            const double bound = accumulation_bound(dot, k, {a, Type::f32});
            for (const int ctas : {1, 2, 4}) {
              const std::size_t chunk = static_cast<std::size_t>((k + 128 * ctas - 1) / (128 * ctas) * 128);
              const double error = std::fabs(in_chunks(products, chunk, hopper_fp8) - dot.sum);
              EXPECT_LE(error, bound) << name(a) << ", " << name(b) << ", k " << k << ", ctas " << ctas;
            }
            EXPECT_LE(std::fabs(in_chunks(products, promoted_chunk, hopper_fp8) - dot.sum),
                      accumulation_bound(dot, k, {a, Type::f32, true}))
                << name(a) << ", " << name(b) << ", k " << k << ", promoted";
          }
        }
      }
    }
  }
}

// One product of a subnormal, which is aligned as if it were eight times as large, and 31 products that are
// therefore truncated at 2^-11. A bound from the magnitudes of the products alone does not hold.
TEST(ErrorBound, SubnormalsOfFp8AreAlignedByTheLeastNormal) {
  constexpr Type e4m3 = Type::e4m3;
  const double tiny = 0x1p-9, large = 256.0, x = 1.75 * 0x1p-5, y = 1.125 * 0x1p-5;  // x * y = 126 * 2^-16
  std::vector<test::Product> products(31, test::Product(x, e4m3, y, e4m3));
  products.emplace_back(tiny, e4m3, large, e4m3);
  DotProduct naive, aligned;
  for (const test::Product& p : products) naive.add(p.value);
  for (int i = 0; i < 31; ++i) aligned.add(x * y, aligned_magnitude(x, e4m3, y, e4m3));
  aligned.add(tiny * large, aligned_magnitude(tiny, e4m3, large, e4m3));
  EXPECT_EQ(aligned.largest_product, 0x1p-6 * large);
  for (const bool promote : {false, true}) {
    const Summation summation(e4m3, Type::f32, promote);
    const double error = std::fabs(tensor_core(products, hopper_fp8, Type::f32) - naive.sum);
    EXPECT_GT(error, accumulation_bound(naive, 32, summation));
    EXPECT_LE(error, accumulation_bound(aligned, 32, summation));
  }
  EXPECT_EQ(aligned_magnitude(0.0, e4m3, large, e4m3), 0.0);
  EXPECT_EQ(aligned_magnitude(-3.0, Type::f16, 2.0, Type::f16), 6.0);
}

TEST(ErrorBound, PromotedAccumulatorsHaveATighterBound) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const DotProduct dot = exact(random_products(4096, 0.0, seed, Type::e4m3, Type::e4m3));
    const double promoted = accumulation_bound(dot, 4096, {Type::e4m3, Type::f32, true});
    EXPECT_LT(2 * promoted, accumulation_bound(dot, 4096, {Type::e4m3, Type::f32}));
    // Less than the loss of one chunk of 128 products, typically 11.3.
    EXPECT_LT(promoted, 11.3);
  }
}

// The magnitudes of the chunks: their exact sums if they are known, else their upper bounds.
TEST(ErrorBound, AddsUpTheMagnitudesOfChunks) {
  DotProduct dot;
  for (int i = 0; i < 128; ++i) dot.add(i % 2 == 0 ? 3.0 : -1.0);  // up to 2 * 63 + 3
  EXPECT_EQ(dot.chunk_magnitudes, 129.0);
  dot.add(-7.0);
  EXPECT_EQ(dot.chunk_magnitudes, 136.0);
  EXPECT_EQ(dot.largest_prefix, 129.0);
  const Summation summation(Type::e5m2, Type::f32, true);
  const double known = accumulation_bound(dot, 129, summation);
  dot.chunk_magnitudes = 0.0;
  EXPECT_GT(accumulation_bound(dot, 129, summation), known);
}

TEST(ErrorBound, IsInfiniteFromAnInfiniteProductOn) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  DotProduct dot;
  for (const double product : {1.0, infinity, 2.0, infinity}) dot.add(product);
  EXPECT_EQ(dot.sum, infinity);
  EXPECT_EQ(dot.chunk_magnitudes, infinity);
  EXPECT_EQ(accumulation_bound(dot, 4, {Type::e4m3, Type::f32, true}), infinity);
}

// From k = 2976 on the arithmetic of fp8 permits an error as large as the result: C = 0 would be right.
TEST(ErrorBound, IsAtMostHalfOfTheLargestPartialSum) {
  for (const bool promote : {false, true}) {
    for (const std::int64_t k : {2976, 100000, 10000000, 2000000000}) {
      DotProduct dot;
      dot.sum = dot.largest_prefix = 1000.0;
      dot.largest_product = 3.0;
      EXPECT_LE(accumulation_bound(dot, k, {Type::e4m3, Type::f32, promote}), 500.001) << k;
      EXPECT_LE(accumulation_bound(dot, k, Type::f16), 700.0) << k;
      EXPECT_LE(accumulation_bound(dot, k, Type::f32), 500.001) << k;
      EXPECT_EQ(accumulation_bound(DotProduct{}, k, {Type::e4m3, Type::f32, promote}) < 1e-30, true) << k;
    }
  }
  for (unsigned seed = 0; seed < 10; ++seed) {
    const DotProduct dot = exact(random_products(4096, 1.0, seed, Type::e4m3, Type::e4m3));
    const double bound = error_bound(dot, 4096, {Type::e4m3, Type::f32}, Type::f32);
    EXPECT_GT(error_of(0.0, dot.sum, bound, Type::f32), bound);
  }
}

TEST(ErrorBound, IntegersAreExact) {
  DotProduct dot;
  for (int i = 0; i < 200000; ++i) dot.add(127.0 * 127.0);
  EXPECT_GT(dot.sum, 0x1p31);
  EXPECT_EQ(accumulation_bound(dot, 200000, Type::s32), 0.0);
  EXPECT_EQ(error_bound(dot, 200000, Type::s32, Type::s32, 3.0, -2.0, 1e9), 0.0);
}

TEST(Summation, IsThatOfAGemmOrOfTheAccumulatorType) {
  Gemm problem;
  problem.a.type = Type::e5m2;
  problem.b.type = Type::e4m3;
  problem.promote = true;
  const Summation of_problem = problem, of_type = Type::f16, of_integers = Type::s32;
  EXPECT_EQ(of_problem.operand, Type::e5m2);
  EXPECT_EQ(of_problem.accumulate, Type::f32);
  EXPECT_TRUE(of_problem.promote);
  EXPECT_EQ(of_type.operand, Type::f16);
  EXPECT_EQ(of_type.accumulate, Type::f16);
  EXPECT_EQ(of_integers.operand, Type::s8);
}

TEST(ErrorBound, IsNotFarAboveTheErrors) {
  // Truncation drifts one way: with positive products the model really uses a good part of the bound.
  const auto products = random_products(4096, 1.0, 3);
  const DotProduct dot = exact(products);
  const double error = std::fabs(tensor_core(products, ampere, Type::f32) - dot.sum);
  EXPECT_GT(error, 0.05 * accumulation_bound(dot, 4096, Type::f32));
  for (const auto& [type, kind] : {std::pair(Type::tf32, hopper_tf32), std::pair(Type::e4m3, hopper_fp8)}) {
    const auto narrow = random_products(1024, 1.0, 3, type, type);
    const DotProduct sum = exact(narrow);
    EXPECT_GT(std::fabs(tensor_core(narrow, kind, Type::f32) - sum.sum),
              0.02 * accumulation_bound(sum, 1024, {type, Type::f32}))
        << name(type);
  }
}

TEST(ErrorBound, HoldsForAnFp32Loop) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto products = random_products(2000, 0.0, seed);
    float sum = 0.0F;
    for (const test::Product& p : products) sum = static_cast<float>(p.value + static_cast<double>(sum));
    const DotProduct dot = exact(products);
    EXPECT_LE(std::fabs(static_cast<double>(sum) - dot.sum), accumulation_bound(dot, 2000, Type::f32));
  }
}

// The kernel's sum takes the products of 8 of k in another order; the dot product is itself rounded.
TEST(ErrorBound, HoldsForF64) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const int k : {1, 8, 100, 5000}) {
    for (int seed = 0; seed < 20; ++seed) {
      std::vector<double> a(static_cast<std::size_t>(k)), b(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal(random), b[i] = normal(random);
      DotProduct dot;
      for (std::size_t i = 0; i < a.size(); ++i) dot.add(a[i] * b[i]);
      double sum = 0.0;
      for (std::size_t first = 0; first < a.size(); first += 8) {
        for (const std::size_t at : {0U, 2U, 4U, 6U, 1U, 3U, 5U, 7U}) {
          if (first + at < a.size()) sum = std::fma(a[first + at], b[first + at], sum);
        }
      }
      const double bound = error_bound(dot, k, Type::f64, Type::f64);
      EXPECT_LE(std::fabs(sum - dot.sum), bound) << k;
      EXPECT_LT(bound, 3e-16 * (k + 8) * (dot.largest_prefix + 9 * dot.largest_product)) << k;
      const double one_is_missing = std::fabs(a[0] * b[0]);
      EXPECT_TRUE(one_is_missing <= 1e-9 || one_is_missing > bound) << k;
    }
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

TEST(ErrorBound, GrowsWithKAndWithNarrowerAccumulators) {
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0),
            error_bound(128, Type::f32, Type::f32, 1.0, 1.0));
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0), error_bound(64, Type::f16, Type::f32, 1.0, 1.0));
  EXPECT_LT(error_bound(64, Type::f32, Type::f32, 1.0, 1.0),
            error_bound(64, Type::f32, Type::bf16, 1.0, 1.0));
}

TEST(ErrorBound, IsInfiniteWhereF16AccumulatorsMayOverflow) {
  EXPECT_TRUE(std::isinf(error_bound(1000, Type::f16, Type::f32, 100.0, 1.0)));
  EXPECT_FALSE(std::isinf(error_bound(1000, Type::f32, Type::f32, 100.0, 1.0)));
  DotProduct dot;
  dot.add(60000.0);
  EXPECT_TRUE(std::isinf(error_bound(dot, 10000, Type::f16, Type::f32)));
  // A finite result has not overflowed: zero is wrong.
  EXPECT_LT(error_bound(dot, 10000, Type::f16, Type::f32, 1.0, 0.0, 0.0, true), 40000.0);
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

TEST(ErrorOf, IntegersAreCountedModuloTwoToThe32) {
  EXPECT_EQ(error_of(-0x1p31, 0x1p31, 0.0, Type::s32), 0.0);
  EXPECT_EQ(error_of(5.0, 5.0 + 7 * 0x1p32, 0.0, Type::s32), 0.0);
  EXPECT_EQ(error_of(5.0, 6.0 - 0x1p32, 0.0, Type::s32), 1.0);
  EXPECT_EQ(error_of(-1.0, 1.0, 0.0, Type::s32), 2.0);
}

}  // namespace
}  // namespace tenon
