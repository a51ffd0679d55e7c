#include "microbench/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace tenon::microbench {
namespace {

const Types in_f16{Type::f16, Type::f16, Type::f16, Type::f16};

// The message of the Failure that the call throws; "" if it throws none.
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

TEST(Cases, TypesFillInMissingParts) {
  const std::pair<const char*, const char*> spellings[] = {
      {"bf16", "bf16_f32_bf16"},          {"f16_f16", "f16_f16_f16"},
      {"f16_f32_f32", "f16_f32_f32"},     {"f32", "f32_f32_f32"},
      {"tf32", "tf32_f32_f32"},           {"s8", "s8_s32_s32"},
      {"e4m3", "e4m3_f32_bf16"},          {"e5m2_f32_f16", "e5m2_f32_f16"},
      {"e4m3_f32p", "e4m3_f32p_bf16"},    {"e4m3_e5m2", "e4m3_e5m2_f32_bf16"},
      {"e4m3_e4m3", "e4m3_f32_bf16"},     {"e5m2_e4m3_f32p_f32", "e5m2_e4m3_f32p_f32"},
      {"tf32_f32_bf16", "tf32_f32_bf16"}, {"f32_f32_f16", "f32_f32_f16"}};
  std::string all;
  for (const auto& [spelling, whole] : spellings) all += (all.empty() ? "" : ",") + std::string(spelling);
  const std::vector<Types> types = parse_types(all);
  ASSERT_EQ(types.size(), std::size(spellings));
  for (std::size_t i = 0; i < types.size(); ++i) EXPECT_EQ(name(types[i]), spellings[i].second);
}

TEST(Cases, TypesNameAAndBAndWhetherAccumulatorsArePromoted) {
  const Types mixed = parse_types("e4m3_e5m2_f32p_bf16")[0];
  EXPECT_EQ(mixed.input, Type::e4m3);
  EXPECT_EQ(mixed.input_b, Type::e5m2);
  EXPECT_EQ(mixed.accumulate, Type::f32);
  EXPECT_EQ(mixed.output, Type::bf16);
  EXPECT_TRUE(mixed.promote);
  const Types integers = parse_types("s8")[0];
  EXPECT_EQ(integers.input_b, Type::s8);
  EXPECT_EQ(integers.accumulate, Type::s32);
  EXPECT_FALSE(integers.promote);
}

// Parsing the name of any types of the library, or of f32 for the reference kernels, gives the same types.
TEST(Cases, NamesOfTypesAreReversible) {
  const Type operands[] = {Type::f16,  Type::bf16, Type::f32, Type::tf32,
                           Type::e4m3, Type::e5m2, Type::s8,  Type::f64};
  int products = 0;
  for (const Type a : operands) {
    for (const Type b : operands) {
      for (const Type sum : {Type::f16, Type::bf16, Type::f32, Type::tf32, Type::s8, Type::s32, Type::f64}) {
        for (const Type output : all_types) {
          for (const bool promote : {false, true}) {
            const std::string text = name(Types{a, b, sum, output, promote});
            if (!sentence([&] { parse_types(text); }).empty()) continue;
            ++products;
            EXPECT_EQ(name(parse_types(text)[0]), text);
          }
        }
      }
    }
  }
  // fp8 is not an accumulator type. Outputs in f16, bf16 or f32: for f16 with two accumulator types, for f32
  // with one, for bf16, tf32 and four pairs of fp8 promoted or not. s8 and f64 have one each.
  EXPECT_EQ(products, 3 * (2 + 1 + 2 + 2 + 4 * 2) + 1 + 1);
}

TEST(Cases, WrongTypesAreNamed) {
  const std::pair<const char*, const char*> refused[] = {
      {"f8", "'f8'"},
      {"", "''"},
      {"bf16_f16", "accumulate is f16 with bf16 inputs but must be f32"},
      {"bf16_bf16", "accumulate is bf16"},
      {"f16_f32_f32_f32", "4 parts, but input_accumulate_output are three"},
      {"e4m3_e5m2_f32_bf16_bf16", "5 parts, but a_b_accumulate_output are four"},
      {"e4m3_f16", "accumulate is f16 with e4m3 inputs but must be f32"},
      {"e4m3_f32_e4m3", "C is e4m3"},
      {"e4m3_s8", "accumulate is s8"},
      {"bf16_e4m3", "A is bf16 and B is e4m3"},
      {"s8_f32", "accumulate is f32 with s8 inputs but must be s32"},
      {"s8_s32_f32", "C is f32 with s8 inputs but must be s32: the expected result is one of integers"},
      {"s32", "A is s32"},
      {"f16_f32p", "promote is given but A and B are f16"},
      {"f32_f32p", "A and B are f32"},
      {"f32_f16", "A and B are f32"},
      {"f32_f32_s32", "A and B are f32"},
      {"e4m3_p", "'p'"},
      {"e4m3_f32pp", "'f32p'"}};
  for (const auto& [types, words] : refused) {
    const std::string said = sentence([text = types] { parse_types(text); });
    EXPECT_NE(said.find(words), std::string::npos) << types << ": " << said;
    EXPECT_NE(said.find("types '" + std::string(types) + "'"), std::string::npos) << said;
  }
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

// The bound must hold for any order of additions in the accumulator's precision: a chain that truncates to 23
// bits after every 8 products stays below it, and one missing product exceeds it.
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
    EXPECT_LE(largest, accumulation_bound(Types{}, k)) << "k = " << k;
    EXPECT_LT(accumulation_bound(Types{}, k), 0.5) << "k = " << k;
  }
}

TEST(Cases, FrobeniusBoundNoticesOneMissingProduct) {
  for (const int k : {64, 1024, 8192, 30000}) {
    EXPECT_LT(frobenius_bound(Types{}, k), 1 / std::sqrt(k)) << "k = " << k;
    EXPECT_GT(frobenius_bound(Types{}, k), 0);
    EXPECT_GT(frobenius_bound(in_f16, k), frobenius_bound(Types{}, k));
  }
}

// Accumulators rounded to 11 bits after every 8 products: the bound holds and is tight enough to mean
// something.
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
    EXPECT_LE(largest, accumulation_bound(in_f16, k)) << "k = " << k;
    EXPECT_GE(20 * largest, accumulation_bound(in_f16, k)) << "a bound far above what happens proves little";
  }
}

// Rounds x to a number of significant bits with a least exponent: to an fp8 type.
double to_fp8(double x, int bits, int least_exponent) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int last = std::max(exponent - 1, least_exponent) - (bits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
}

// Truncates x toward zero to a multiple of 2^(exponent - 13).
double cut(double x, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(x, 13 - exponent)), exponent - 13);
}

// fp8 as wgmma accumulates it (src/emulator/numerics/model.cpp): the 32 products of a step and the previous
// accumulator are truncated to 13 bits below the largest, and so is the result. Skips `leave_out` products.
struct Fp8Sums {
  double largest_error = 0, error_squares = 0, squares = 0;
};
Fp8Sums fp8_sums(int k, int elements, bool promote, int leave_out = 0) {
  std::mt19937 generator(9);
  std::normal_distribution<double> normal;
  Fp8Sums found;
  for (int element = 0; element < elements; ++element) {
    double exact = 0, chain = 0, promoted = 0;
    for (int first = 0; first < k; first += 32) {
      double products[32];
      int largest = chain == 0 ? -100 : std::ilogb(chain);
      for (double& product : products) {
        product = to_fp8(normal(generator), 4, -6) * to_fp8(normal(generator), 4, -6);
        if (product != 0) largest = std::max(largest, std::ilogb(product));
        exact += product;
      }
      double sum = cut(chain, largest);
      for (const double product : products) sum += first < leave_out ? 0 : cut(product, largest);
      chain = sum == 0 ? 0 : cut(sum, std::ilogb(sum));
      if (promote && (first + 32) % 128 == 0) {
        promoted += chain;
        chain = 0;
      }
    }
    const double error = std::abs(exact - (promoted + chain));
    found.largest_error = std::max(found.largest_error, error);
    found.error_squares += error * error;
    found.squares += exact * exact;
  }
  return found;
}

// Both bounds hold for fp8 and are tight enough to mean something: the largest error of 100000 elements is 3
// to 6 times that of 200, at k = 128 and 1024.
TEST(Cases, BoundsHoldForFp8) {
  const Types fast = parse_types("e4m3")[0], promoted = parse_types("e4m3_f32p")[0];
  for (const int k : {128, 1024, 4096, 16384}) {
    for (const Types& types : {fast, promoted}) {
      const Fp8Sums found = fp8_sums(k, 200, types.promote);
      const double allowed = accumulation_bound(types, k);
      const double beside = types.promote ? accumulation_bound(Types{}, k) : 0;  // for the additions in f32
      EXPECT_LE(found.largest_error, allowed) << name(types) << " k = " << k;
      EXPECT_GE(80 * found.largest_error, allowed - beside) << name(types) << " k = " << k;
      const double relative = std::sqrt(found.error_squares / found.squares);
      EXPECT_LE(relative, frobenius_bound(types, k)) << name(types) << " k = " << k;
      EXPECT_GE(40 * relative, frobenius_bound(types, k)) << name(types) << " k = " << k;
    }
  }
}

// The first step is missing; the bound allows for rounding the results to bf16.
TEST(Cases, FrobeniusBoundNoticesAMissingStepOfFp8) {
  for (const int k : {1024, 4096, 16384}) {
    for (const bool promote : {false, true}) {
      const Types types = parse_types(promote ? "e4m3_f32p" : "e4m3")[0];
      const Fp8Sums found = fp8_sums(k, 200, promote, 32);
      EXPECT_GT(std::sqrt(found.error_squares / found.squares), frobenius_bound(types, k) + 0x1p-8)
          << name(types) << " k = " << k;
    }
  }
  const Types fast = parse_types("e4m3")[0];
  EXPECT_LT(frobenius_bound(fast, 32768) + 0x1p-8, std::sqrt(32.0 / 32768));
}

// C = 0 and C scaled by 0.9 lie beyond both bounds, whatever the type.
TEST(Cases, BoundsNoticeZerosAndAScaledResult) {
  for (const char* text :
       {"f16", "bf16", "f16_f16_f16", "bf16_f32_bf16", "tf32", "e4m3", "e5m2_f32_bf16", "e4m3_f32p"}) {
    const Types types = parse_types(text)[0];
    for (const std::int64_t k : {64, 4096, 65536}) {
      EXPECT_LT(frobenius_bound(types, k), 0.1) << text << " k = " << k;
      EXPECT_LT(bias_bound(types, {1024, 1024, k, 0, 0, 0}), 0.1) << text << " k = " << k;
      EXPECT_GT(bias_bound(types, {1024, 1024, k, 0, 0, 0}), 0) << text << " k = " << k;
    }
  }
}

TEST(Cases, IntegersMayNotBeOff) {
  EXPECT_EQ(accumulation_bound(parse_types("s8")[0], 16384), 0);
  EXPECT_EQ(frobenius_bound(parse_types("s8")[0], 16384), 0);
  EXPECT_EQ(bias_bound(parse_types("s8")[0], {64, 64, 16384, 0, 0, 0}), 0);
}

}  // namespace
}  // namespace tenon::microbench
