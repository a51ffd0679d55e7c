// The host product compared with the definition, written once more in the simplest way.
#include "reference/cpu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::reference {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Small integers: every result below is exact, so the comparison is too.
std::vector<float> integers(std::int64_t count, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 15 - 7);
  }
  return values;
}

struct Shape {
  std::int64_t m, n, k;
};
// Sizes around the implementation's block of 4 x 256, and empty ones.
const std::vector<Shape> shapes = {{1, 1, 1},   {1, 1, 0},    {0, 3, 2},     {3, 0, 2},    {3, 5, 7},
                                   {4, 256, 3}, {5, 257, 11}, {13, 255, 17}, {67, 513, 9}, {2, 600, 1}};

TEST(HostGemm, EqualsTheDefinitionInEveryLayout) {
  for (const Shape& s : shapes) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool a_rows = layout % 2 == 0;
      const bool b_rows = layout / 2 == 0;
      const std::int64_t lda = (a_rows ? s.k : s.m) + 3;
      const std::int64_t ldb = (b_rows ? s.n : s.k) + 1;
      const std::int64_t ldc = s.n + 2;
      const auto a = integers((a_rows ? s.m : s.k) * lda, 1);
      const auto b = integers((b_rows ? s.k : s.n) * ldb, 2);
      const auto c = integers(s.m * ldc, 3);
      HostGemm problem;
      problem.m = s.m, problem.n = s.n, problem.k = s.k;
      problem.a = {a.data(), lda, a_rows ? row_major : column_major};
      problem.b = {b.data(), ldb, b_rows ? row_major : column_major};
      problem.c = c.data(), problem.ldc = ldc;
      problem.alpha = 0.5F, problem.beta = -2.0F;
      problem.with_magnitude = true;
      const HostResult result = gemm(problem);
      ASSERT_EQ(result.value.size(), static_cast<std::size_t>(s.m * s.n));
      ASSERT_EQ(result.magnitude.size(), static_cast<std::size_t>(s.m * s.n));
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          double sum = 0;
          double absolute = 0;
          for (std::int64_t p = 0; p < s.k; ++p) {
            const double product = double{a_rows ? a[i * lda + p] : a[p * lda + i]} *
                                   double{b_rows ? b[p * ldb + j] : b[j * ldb + p]};
            sum += product;
            absolute += std::abs(product);
          }
          ASSERT_EQ(result.value[i * s.n + j], 0.5 * sum - 2.0 * c[i * ldc + j]) << i << ", " << j;
          ASSERT_EQ(result.magnitude[i * s.n + j], 0.5 * absolute + std::abs(2.0 * c[i * ldc + j]));
        }
      }
    }
  }
}

TEST(HostGemm, AccumulatesInDouble) {
  const std::vector<float> a = {0x1p30F, 1.0F, -0x1p30F};  // in float the 1 would be lost
  const std::vector<float> b = {1.0F, 1.0F, 1.0F};
  HostGemm problem;
  problem.m = problem.n = 1, problem.k = 3;
  problem.a = {a.data(), 3, row_major};
  problem.b = {b.data(), 1, row_major};
  EXPECT_EQ(gemm(problem).value, std::vector<double>{1.0});
  EXPECT_TRUE(gemm(problem).magnitude.empty());
}

TEST(HostGemm, ReadsOnlyWhatItMust) {
  const std::vector<float> a = {nan, 1.0F};
  const std::vector<float> b = {2.0F, 3.0F};
  const std::vector<float> c = {4.0F};
  HostGemm problem;
  problem.m = problem.n = 1, problem.k = 2;
  problem.a = {a.data(), 2, row_major};
  problem.b = {b.data(), 1, row_major};
  problem.c = c.data(), problem.ldc = 1, problem.beta = 0.25F;
  EXPECT_TRUE(std::isnan(gemm(problem).value[0]));
  problem.alpha = 0.0F;  // A is not read
  EXPECT_EQ(gemm(problem).value[0], 1.0);
  problem.alpha = std::numeric_limits<float>::infinity(), problem.k = 0;  // nothing is there to be scaled
  EXPECT_EQ(gemm(problem).value[0], 1.0);
  problem.beta = 0.0F, problem.c = nullptr;  // C is not read
  EXPECT_EQ(gemm(problem).value[0], 0.0);
}

TEST(HostGemm, InfinitiesFollowIeee) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {infinity, 1.0F};
  const std::vector<float> b = {1.0F, 0.0F, 2.0F, -infinity};  // columns {1, 2} and {0, -inf}
  HostGemm problem;
  problem.m = 1, problem.n = 2, problem.k = 2;
  problem.a = {a.data(), 2, row_major};
  problem.b = {b.data(), 2, row_major};
  const HostResult result = gemm(problem);
  EXPECT_EQ(result.value[0], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(result.value[1]));  // inf * 0
}

TEST(Encode, GoesThereAndBack) {
  const std::vector<float> values = {0.0F, -1.5F, 65504.0F, 0x1p-24F, 3.0F};
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::tf32}) {
    std::vector<unsigned char> elements(values.size() * bytes(type));
    std::vector<float> back(values.size());
    encode(type, values.data(), values.size(), elements.data());
    decode(type, elements.data(), values.size(), back.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float wanted = type == Type::bf16 && values[i] == 65504.0F ? 65536.0F : values[i];
      EXPECT_EQ(back[i], wanted) << name(type);
    }
  }
}

// Encodes and decodes one value.
float through(Type type, float value) {
  unsigned char element[4];
  encode(type, &value, 1, element);
  decode(type, element, 1, &value);
  return value;
}

TEST(Encode, EightBitFloatsSaturate) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(through(Type::e4m3, 0.3F), 0.3125F);
  EXPECT_EQ(through(Type::e5m2, 0.3F), 0.3125F);
  EXPECT_EQ(through(Type::e4m3, 1.125F), 1.125F);
  EXPECT_EQ(through(Type::e5m2, 1.125F), 1.0F);  // a tie: to even
  EXPECT_EQ(through(Type::e4m3, -1e9F), -448.0F);
  EXPECT_EQ(through(Type::e4m3, infinity), 448.0F);
  EXPECT_EQ(through(Type::e5m2, 1e9F), 57344.0F);
  EXPECT_EQ(through(Type::e5m2, -infinity), -57344.0F);
  EXPECT_TRUE(std::isnan(through(Type::e4m3, nan)) && std::isnan(through(Type::e5m2, nan)));
  EXPECT_EQ(through(Type::tf32, 1.0F + 0x1p-11F), 1.0F);
  EXPECT_TRUE(std::isnan(through(Type::tf32, nan)));
}

TEST(Encode, IntegersRoundToEvenAndSaturate) {
  for (const Type type : {Type::s8, Type::s32}) {
    EXPECT_EQ(through(type, 2.5F), 2.0F);
    EXPECT_EQ(through(type, 3.5F), 4.0F);
    EXPECT_EQ(through(type, -0.5F), 0.0F);
    EXPECT_EQ(through(type, -7.51F), -8.0F);
    EXPECT_EQ(through(type, nan), 0.0F);
  }
  EXPECT_EQ(through(Type::s8, 127.4F), 127.0F);
  EXPECT_EQ(through(Type::s8, 1000.0F), 127.0F);
  EXPECT_EQ(through(Type::s8, -1000.0F), -128.0F);
  EXPECT_EQ(through(Type::s32, 1000.0F), 1000.0F);
  const float large = 1e10F;
  std::int32_t element = 0;
  encode(Type::s32, &large, 1, &element);
  EXPECT_EQ(element, 2147483647);
  EXPECT_EQ(through(Type::s32, -1e10F), -0x1p31F);
  for (int x = -128; x < 128; ++x) EXPECT_EQ(through(Type::s8, static_cast<float>(x)), static_cast<float>(x));
}

TEST(Decode, TruncatesTf32) {
  const std::uint32_t bits = 0x3f801fffU;
  float value = 0.0F;
  decode(Type::tf32, &bits, 1, &value);
  EXPECT_EQ(value, 1.0F);
  decode(Type::f32, &bits, 1, &value);
  EXPECT_GT(value, 1.0F);
}

}  // namespace
}  // namespace tenon::reference
