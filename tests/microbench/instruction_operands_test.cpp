#include "microbench/instruction/operands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "tenon/fragment/number.hpp"

namespace {

using tenon::microbench::instruction::operands;

TEST(InstructionOperands, AreTheSameAtEveryCallAndNotZeros) {
  for (const char* kind :
       {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "bits"}) {
    const auto bytes = operands(kind, 4096);
    EXPECT_EQ(bytes, operands(kind, 4096)) << kind;
    EXPECT_GT(4096 - std::count(bytes.begin(), bytes.end(), 0), 1000) << kind;
  }
  const auto zeros = operands("zeros", 64);
  EXPECT_EQ(std::count(zeros.begin(), zeros.end(), 0), 64);
}

TEST(InstructionOperands, OfF16AreStandardNormal) {
  const auto bytes = operands("f16", 1 << 16);
  double sum = 0, squares = 0;
  const int count = 1 << 15;
  for (int i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    const double value = tenon::decode<tenon::FormatF16>(bits);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(squares / count, 1, 0.03);
}

TEST(InstructionOperands, OfAnUnknownKindAreRefused) {
  EXPECT_THROW(operands("f8", 64), std::invalid_argument);
}

}  // namespace
