// When two results agree. The rest of tune_measure.hpp needs a GPU: test_gemm.py.
#include "command_line/tune_measure.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reference/cpu.hpp"

namespace tenon::command {
namespace {

Operand matrix(Type type, const std::vector<float>& values) {
  Operand x = poisoned(2, 3, 3, row_major, type);
  reference::encode(type, values.data(), values.size(), x.data.data());
  return x;
}

TEST(Agree, WithinTheBound) {
  std::string where;
  const Operand right = matrix(Type::f32, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(agree(right, right, {}, &where));
  EXPECT_TRUE(agree(matrix(Type::f32, {1, 2, 3, 4, 5.25F, 6}), right, {0.25, 1.0}, &where));
  EXPECT_FALSE(agree(matrix(Type::f32, {1, 2, 3, 4, 5.5F, 6}), right, {0.25, 1.0}, &where));
  EXPECT_EQ(where, "C[1][1] is 5.5 but must lie within 0.25 of 5, the documented choice's");
}

TEST(Agree, EveryTypeOfResult) {
  std::string where;
  for (const Type type : {Type::f16, Type::bf16, Type::f32}) {
    const Operand right = matrix(type, {1, 2, 3, 4, 5, 6});
    EXPECT_TRUE(agree(matrix(type, {1, 2, 3.5F, 4, 5, 6}), right, {0.5, 1.0}, &where));
    EXPECT_FALSE(agree(matrix(type, {1, 2, 3.5F, 4, 5, 6}), right, {0.4, 1.0}, &where));
  }
  const Operand whole = matrix(Type::s32, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(agree(whole, whole, {}, &where));
  EXPECT_FALSE(agree(matrix(Type::s32, {1, 2, 3, 4, 5, 7}), whole, {100.0, 100.0}, &where));
}

// Each element is within its bound, but the matrix as a whole is not: zeros, where the bound of an element is
// wide.
TEST(Agree, ByTheNorm) {
  std::string where;
  const Operand right = matrix(Type::f32, {1, 2, 2, 4, 0, 0}), zeros = matrix(Type::f32, {0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(agree(zeros, right, {10.0, 0.5}, &where));
  EXPECT_EQ(where, "C differs from the documented choice's by 1 of its norm but may by at most 0.5");
  EXPECT_TRUE(agree(matrix(Type::f32, {1, 2, 2, 2.5F, 0, 0}), right, {10.0, 0.3}, &where));  // 1.5 of 5
  EXPECT_FALSE(agree(matrix(Type::f32, {1, 2, 2, 2.5F, 0, 0}), right, {10.0, 0.29}, &where));
}

TEST(Agree, WhatIsNotFinite) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  std::string where;
  const Operand right = matrix(Type::f32, {1, infinity, 3, nan, 5, 6});
  EXPECT_TRUE(agree(matrix(Type::f32, {1.5F, infinity, 3, -nan, 5, 6}), right, {1.0, 1.0}, &where));
  EXPECT_FALSE(agree(matrix(Type::f32, {1, 2, 3, nan, 5, 6}), right, {1.0, 1.0}, &where));
  EXPECT_FALSE(agree(matrix(Type::f32, {1, -infinity, 3, nan, 5, 6}), right, {1.0, 1.0}, &where));
  EXPECT_FALSE(agree(matrix(Type::f32, {1, infinity, nan, nan, 5, 6}), right, {1.0, 1.0}, &where));
  EXPECT_FALSE(agree(matrix(Type::f32, {1, infinity, 3, 4, 5, 6}), right, {1.0, 1.0}, &where));
  // Elements that no kernel has written.
  EXPECT_FALSE(agree(poisoned(2, 3, 3, row_major, Type::f32), matrix(Type::f32, {1, 2, 3, 4, 5, 6}),
                     {1e30, 1e30}, &where));
}

}  // namespace
}  // namespace tenon::command
