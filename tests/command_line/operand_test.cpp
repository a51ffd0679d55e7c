// Random operands and the layouts in which operands are stored.
#include "command_line/operand.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "command_line/random.hpp"

namespace tenon::command {
namespace {

TEST(Random, IsTheSplitMix64OfThePaper) {
  // First outputs for seed 0 and seed 1234567, as published with the generator.
  EXPECT_EQ(random_bits(0, 0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(random_bits(0, 1), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(random_bits(1234567, 0), 6457827717110365317U);
  EXPECT_EQ(random_bits(1234567, 1), 3203168211198807973U);
}

TEST(Random, IsNormal) {
  double sum = 0.0, squares = 0.0, products = 0.0, fourth = 0.0;
  constexpr int pairs = 100000;
  for (int i = 0; i < pairs; ++i) {
    const NormalPair pair = random_normals(7, static_cast<std::uint64_t>(i));
    const double x = static_cast<double>(pair.first), y = static_cast<double>(pair.second);
    sum += x + y;
    squares += x * x + y * y;
    fourth += x * x * x * x + y * y * y * y;
    products += x * y;
  }
  EXPECT_NEAR(sum / (2 * pairs), 0.0, 0.01);
  EXPECT_NEAR(squares / (2 * pairs), 1.0, 0.02);
  EXPECT_NEAR(fourth / (2 * pairs), 3.0, 0.15);
  EXPECT_NEAR(products / pairs, 0.0, 0.015);
}

TEST(Operand, ValuesDoNotDependOnTheLayout) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::tf32, Type::e4m3, Type::e5m2, Type::s8}) {
    for (const std::int64_t columns : {1, 4, 5}) {
      const Operand rows = random_operand("A", 3, 7, columns, columns + 2, row_major, type);
      const Operand by_columns = random_operand("A", 3, 7, columns, 9, column_major, type);
      EXPECT_EQ(decoded(rows, row_major), decoded(by_columns, row_major));
      EXPECT_EQ(decoded(rows, column_major), decoded(by_columns, column_major));
      EXPECT_NE(decoded(rows, row_major),
                decoded(random_operand("A", 4, 7, columns, columns, row_major, type), row_major));
    }
  }
}

// All 53 bits are drawn, near to what the other types get.
TEST(Operand, DoublesHaveBitsThatFloatsLack) {
  const Operand x = random_operand("A", 3, 50, 40, 41, row_major, Type::f64);
  const std::vector<double> values = decoded_f64(x, row_major);
  EXPECT_EQ(values, decoded_f64(random_operand("A", 3, 50, 40, 50, column_major, Type::f64), row_major));
  const std::vector<double> floats =
      decoded_f64(random_operand("A", 3, 50, 40, 40, row_major, Type::f32), row_major);
  int longer = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], floats[i], 0x1p-23 * std::fabs(floats[i]));
    longer += static_cast<double>(static_cast<float>(values[i])) != values[i] ? 1 : 0;
  }
  EXPECT_GT(longer, 1990);
}

// round(42 * N(0, 1)), within +-127: 0.25 % of the values.
TEST(Operand, IntegersAreSpreadOverTheirRange) {
  const Operand x = random_operand("A", 5, 100, 1000, 1000, row_major, Type::s8);
  double squares = 0.0;
  int clipped = 0;
  for (const float value : decoded(x, row_major)) {
    ASSERT_LE(std::fabs(value), 127.0F);
    squares += static_cast<double>(value) * static_cast<double>(value);
    clipped += std::fabs(value) == 127.0F ? 1 : 0;
  }
  EXPECT_NEAR(std::sqrt(squares / 1e5), 42.0, 0.5);
  EXPECT_NEAR(clipped / 1e5, 0.0025, 0.0008);
  const Operand c = random_operand("C", 5, 100, 1000, 1000, row_major, Type::s32);
  const std::vector<float> narrow = decoded(x, row_major);
  EXPECT_EQ(integers(c), std::vector<std::int32_t>(narrow.begin(), narrow.end()));
}

// Beyond the 24 bits of a float.
TEST(Operand, IntegersKeepTheirBits) {
  Operand x = poisoned(2, 2, 3, row_major, Type::s32);
  const std::int32_t values[] = {2147483647, -2147483647, 0, 16777217, 5};
  std::memcpy(x.data.data(), values, sizeof values);
  EXPECT_EQ(integers(x), (std::vector<std::int32_t>{2147483647, -2147483647, 16777217, 5}));
  EXPECT_TRUE(integers(poisoned(0, 5, 5, row_major, Type::s32)).empty());
}

TEST(Operand, GapsArePoison) {
  const Operand x = random_operand("A", 3, 2, 3, 5, row_major, Type::f16);
  ASSERT_EQ(x.data.size(), 2U * (5 + 3));
  for (std::size_t i = 6; i < 10; ++i) EXPECT_EQ(x.data[i], 0xFF);
}

TEST(Operand, FromFileRoundsF32) {
  NpyMatrix file;
  file.rows = 1;
  file.columns = 2;
  file.type = Type::f32;
  const float values[] = {1.0F + 0x1p-12F, 3.0F};
  file.data.assign(reinterpret_cast<const unsigned char*>(values),
                   reinterpret_cast<const unsigned char*>(values + 2));
  EXPECT_EQ(decoded(from_npy(file, 2, Type::f16), row_major), (std::vector<float>{1.0F, 3.0F}));
  EXPECT_EQ(decoded(from_npy(file, 2, Type::f32), row_major), (std::vector<float>{values[0], 3.0F}));
}

TEST(Operand, Empty) {
  EXPECT_TRUE(random_operand("A", 1, 0, 5, 5, row_major, Type::f16).data.empty());
  EXPECT_TRUE(decoded(poisoned(0, 5, 5, row_major, Type::f16), row_major).empty());
}

TEST(FromNpy, CountsWhatIsTooLarge) {
  NpyMatrix matrix;
  matrix.rows = 1;
  matrix.type = Type::f32;
  const auto overflows = [&](Type type, const std::vector<float>& values) {
    matrix.columns = static_cast<std::int64_t>(values.size());
    matrix.data.resize(4 * values.size());
    std::memcpy(matrix.data.data(), values.data(), matrix.data.size());
    return from_npy(matrix, matrix.columns, type).overflowed;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(overflows(Type::f16, {65519.0F, 65520.0F, -65520.0F, infinity, std::nanf("")}), 2);
  EXPECT_EQ(overflows(Type::bf16, {1e38F, 3.4e38F, -3.4e38F, infinity}), 2);
  EXPECT_EQ(overflows(Type::tf32, {1e38F, 3.402e38F, 3.40282e38F}), 1);
  EXPECT_EQ(overflows(Type::e4m3, {448.0F, 463.0F, 464.0F, -1e9F}), 2);
  EXPECT_EQ(overflows(Type::e5m2, {57344.0F, 61439.0F, 61440.0F}), 1);
  EXPECT_EQ(overflows(Type::s8, {127.0F, 128.0F, -128.0F, -129.0F}), 2);
  EXPECT_EQ(overflows(Type::f32, {3e38F}), 0);
}

}  // namespace
}  // namespace tenon::command
