// Constant expressions as operands.
#include <cstring>

#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

std::int64_t integer(const std::string& expression) {
  return integer_of(parse_instruction("mov.u64 %rd1, " + expression + ";").operands.at(1));
}

double real(const std::string& expression) {
  const Instruction instruction = parse_instruction("mov.f64 %rd1, " + expression + ";");
  const auto value = std::get<Immediate>(instruction.operands.at(1).value);
  EXPECT_EQ(value.kind, Immediate::Kind::f64_bits) << expression;
  double result = 0;
  std::memcpy(&result, &value.bits, sizeof(result));
  return result;
}

std::string error(const std::string& expression) {
  return kernel_error("mov.u64 %rd1, " + expression + ";");
}

TEST(Constant, HasTheOperatorsOfC) {
  EXPECT_EQ(integer("(1+2)*4"), 12);
  EXPECT_EQ(integer("1+2*4-3"), 6);
  EXPECT_EQ(integer("7/2"), 3);
  EXPECT_EQ(integer("-7/2"), -3);
  EXPECT_EQ(integer("-7 % 3"), -1);
  EXPECT_EQ(integer("1<<4|3"), 19);
  EXPECT_EQ(integer("0xF0&0x3C^1"), 0x31);
  EXPECT_EQ(integer("~0"), -1);
  EXPECT_EQ(integer("-(-5)"), 5);
  EXPECT_EQ(integer("+5"), 5);
  EXPECT_EQ(integer("!0 + !7"), 1);
  EXPECT_EQ(integer("3 > 2 ? 10 : 20"), 10);
  EXPECT_EQ(integer("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(integer("1 == 1 && 2 != 2 || 3 <= 3"), 1);
  EXPECT_EQ(integer("2 < 1"), 0);
  EXPECT_EQ(integer("2 >= 3"), 0);
  EXPECT_EQ(integer("10 - 4 - 3"), 3);
  EXPECT_EQ(integer("WARP_SZ * 2 - 1"), 63);
}

TEST(Constant, DiffersBetweenSignedAndUnsigned) {
  EXPECT_EQ(integer("-1 >> 4"), -1);
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFF >> 60"), 15);
  EXPECT_EQ(integer("-1 < 0"), 1);
  EXPECT_EQ(integer("-1 < 0U"), 0);
  EXPECT_EQ(integer("-1 / 2U"), 0x7fffffffffffffff);
  EXPECT_EQ(integer("(.u64)-1 > 0"), 1);
  EXPECT_EQ(integer("(.s64)0xFFFFFFFFFFFFFFFF < 0"), 1);
  EXPECT_EQ(integer("(.u64) 1 + 1"), 2);
}

TEST(Constant, IsDefinedAtTheEdges) {
  EXPECT_EQ(integer("1 << 64"), 0);
  EXPECT_EQ(integer("-5 >> 100"), -1);
  EXPECT_EQ(integer("(.s64)0x8000000000000000 / -1"), INT64_MIN);
  EXPECT_EQ(integer("(.s64)0x8000000000000000 % -1"), 0);
  EXPECT_EQ(integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer("9223372036854775807 + 1"), INT64_MIN);
}

TEST(Constant, HasReals) {
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("-(2.0)"), -2.0);
  EXPECT_EQ(real("+1.0+2.0*3.0/4.0-1e0"), 1.5);
  EXPECT_EQ(real("1.0 < 2.0 ? 5.0 : 6.0"), 5.0);
  EXPECT_EQ(integer("1.0 == 1.0"), 1);
  EXPECT_EQ(integer("!0.0"), 1);
  const Instruction instruction = parse_instruction("mov.f32 %f1, 0f3F800000;");
  const auto one = std::get<Immediate>(instruction.operands.at(1).value);
  EXPECT_EQ(one.kind, Immediate::Kind::f32_bits);
  EXPECT_EQ(one.bits, 0x3f800000U);
}

TEST(Constant, SaysWhatItCannotMean) {
  EXPECT_EQ(error("1/0"), "line 5: a constant expression divides by zero");
  EXPECT_EQ(error("1%(2-2)"), "line 5: a constant expression divides by zero");
  EXPECT_EQ(error("1+2.0"), "line 5: the operator `+` has an integer and a real; two of a kind are needed");
  EXPECT_EQ(error("1.0 % 2.0"), "line 5: the operator `%` takes integers, and its operands are reals");
  EXPECT_EQ(error("~1.0"), "line 5: the operator `~` takes an integer, and its operand is a real");
  EXPECT_EQ(error("-0f3F800000"), "line 5: a 0f number stands alone; the operator `-` takes no such operand");
  EXPECT_EQ(error("1.0 + 0f3F800000"),
            "line 5: a 0f number stands alone; the operator `+` takes no such operand");
  EXPECT_EQ(error("(.u64)1.0"), "line 5: a real is cast to `.u64`; an integer is needed");
  EXPECT_EQ(error("(1+2"), "line 5: found `;` where `)` after a constant expression is needed");
  EXPECT_EQ(error("1+"), "line 5: found `;` where a number or a constant expression is needed");
  EXPECT_EQ(error("1 ? 2"), "line 5: found `;` where `:` between the two values of a `?` is needed");
  EXPECT_EQ(error("(.s64"), "line 5: found `;` where `)` after the type of a cast is needed");
}

TEST(Constant, MayBeNestedButNotForEver) {
  EXPECT_EQ(integer(std::string(60, '(') + "7" + std::string(60, ')')), 7);
  const std::string deep =
      "line 5: a constant expression is nested more than 64 deep; a simpler one is needed";
  EXPECT_EQ(error(std::string(100000, '(') + "7" + std::string(100000, ')')), deep);
  EXPECT_EQ(error(std::string(100000, '-') + "7"), deep);
  std::string conditions = "0";
  for (int i = 0; i < 1000; ++i) conditions += "?1:0";
  EXPECT_EQ(error(conditions), deep);
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
