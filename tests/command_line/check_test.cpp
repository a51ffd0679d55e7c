// The check itself: right results pass, and each kind of wrong result is seen. On the host; no GPU.
#include "command_line/check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "command_line/exit_status.hpp"
#include "reference/cpu.hpp"

namespace tenon::command {
namespace {

struct Case {
  Gemm problem;
  Operand a, b, before, after;
};

void set(Operand* c, std::int64_t row, std::int64_t column, float value) {
  reference::encode(c->type, &value, 1,
                    c->data.data() + static_cast<std::size_t>(row * c->ld + column) * bytes(c->type));
}

// A product computed here, in float, from the definition.
Case right_case(Order a_order, Order b_order, Type out, float alpha, float beta, Type type = Type::f16,
                Type type_b = Type::f16, std::int64_t m = 13, std::int64_t n = 9, std::int64_t k = 33) {
  Case x;
  x.a = random_operand("A", 1, m, k, a_order == row_major ? k + 1 : m, a_order, type);
  x.b = random_operand("B", 2, k, n, b_order == row_major ? n : k + 3, b_order, type_b);
  x.before = beta == 0.0F ? poisoned(m, n, n + 2, row_major, out)
                          : random_operand("C", 3, m, n, n + 2, row_major, out);
  x.problem.m = m;
  x.problem.n = n;
  x.problem.k = k;
  x.problem.a = {nullptr, x.a.ld, a_order, type};
  x.problem.b = {nullptr, x.b.ld, b_order, type_b};
  x.problem.c = {nullptr, n + 2, out};
  x.problem.alpha = alpha;
  x.problem.beta = beta;
  x.after = x.before;
  const auto a = decoded(x.a, row_major), b = decoded(x.b, row_major), c = decoded(x.before, row_major);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      set(&x.after, i, j,
          alpha * sum + (beta == 0.0F ? 0.0F : beta * c[static_cast<std::size_t>(i * n + j)]));
    }
  }
  return x;
}

CheckResult check_case(const Case& x) {
  return check(x.problem, x.a, x.b, x.before, x.after, nullptr, Numbers::random);
}

TEST(Check, PassesRightResults) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      for (const Type out : {Type::f16, Type::bf16, Type::f32}) {
        for (const float beta : {0.0F, -0.5F}) {
          const CheckResult r = check_case(right_case(a, b, out, 1.5F, beta));
          EXPECT_TRUE(r.ok) << name(out) << ", max error " << r.max_error << ", bound " << r.error_bound;
          EXPECT_LE(r.max_error, r.error_bound);
          EXPECT_GT(r.max_error, 0.0);
        }
      }
    }
  }
}

TEST(Check, PassesRightResultsOfOtherTypes) {
  constexpr Type types[][2] = {{Type::tf32, Type::tf32}, {Type::e4m3, Type::e4m3}, {Type::e5m2, Type::e4m3}};
  for (const auto& [a, b] : types) {
    for (const bool promote : {false, true}) {
      Case x = right_case(row_major, column_major, Type::f32, 1.5F, -0.5F, a, b);
      x.problem.promote = promote && is_fp8(a);
      const CheckResult r = check_case(x);
      EXPECT_TRUE(r.ok) << name(a) << ", max error " << r.max_error << ", bound " << r.error_bound;
      // Beyond the bound of tf32, and of fp8: 34 * 2^-13 of twice the sums, at each of two steps.
      const float beyond = a == Type::tf32 ? 0.01F : 2.0F;
      set(&x.after, 5, 7, decoded(x.after, row_major)[5 * 9 + 7] + beyond);
      EXPECT_FALSE(check_case(x).ok) << name(a);
    }
  }
}

TEST(Check, FactorsOfFp8MultiplyTheProduct) {
  Case x = right_case(row_major, column_major, Type::f32, 1.5F, -0.5F, Type::e4m3, Type::e5m2);
  x.problem.alpha = 0.25F;
  EXPECT_TRUE(check(x.problem, x.a, x.b, x.before, x.after, nullptr, Numbers::random, 6.0).ok);
  EXPECT_FALSE(check(x.problem, x.a, x.b, x.before, x.after, nullptr, Numbers::random, 1.0).ok);
}

// An error that no float would show, in a product with factors that no float holds.
TEST(Check, F64IsCheckedInDoubles) {
  const double alpha = 1 + 0x1p-40, beta = -0.1;
  Case x = right_case(column_major, row_major, Type::f64, 1.0F, 1.0F, Type::f64, Type::f64);
  x.problem.accumulate = Type::f64;
  x.problem.alpha = alpha, x.problem.beta = beta;
  const auto a = decoded_f64(x.a, row_major), b = decoded_f64(x.b, row_major),
             c = decoded_f64(x.before, row_major);
  const auto element = [&](std::int64_t i, std::int64_t j) {
    return reinterpret_cast<double*>(x.after.data.data()) + i * x.after.ld + j;
  };
  for (std::int64_t i = 0; i < 13; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      double sum = 0.0;
      for (std::int64_t l = 32; l >= 0; --l)  // in another order than check()
        sum += a[static_cast<std::size_t>(i * 33 + l)] * b[static_cast<std::size_t>(l * 9 + j)];
      *element(i, j) = alpha * sum + beta * c[static_cast<std::size_t>(i * 9 + j)];
    }
  }
  const CheckResult r = check_case(x);
  EXPECT_TRUE(r.ok) << r.max_error << ", bound " << r.error_bound;
  EXPECT_LE(r.error_bound, 1e-12);
  *element(5, 7) += 1e-11;
  EXPECT_FALSE(check_case(x).ok);
  *element(5, 7) -= 1e-11;
  x.problem.alpha = 1.0;
  EXPECT_FALSE(check_case(x).ok);
}

// What right_case() makes of integers of s8 is exact: sums below 2^24.
Case integer_case(float alpha, float beta) {
  Case x = right_case(row_major, column_major, Type::s32, alpha, beta, Type::s8, Type::s8);
  x.problem.accumulate = Type::s32;
  return x;
}
std::int32_t& integer(Operand* c, std::int64_t row, std::int64_t column) {
  return *reinterpret_cast<std::int32_t*>(c->data.data() +
                                          4 * static_cast<std::size_t>(row * c->ld + column));
}

TEST(Check, IntegersAreExact) {
  for (const float beta : {0.0F, -2.0F}) {
    Case x = integer_case(3.0F, beta);
    CheckResult r = check_case(x);
    EXPECT_TRUE(r.ok);
    EXPECT_EQ(r.max_error, 0.0);
    EXPECT_EQ(r.error_bound, 0.0);
    integer(&x.after, 4, 8) += 1;
    r = check_case(x);
    EXPECT_FALSE(r.ok);
    EXPECT_EQ(r.max_error, 1.0);
    EXPECT_EQ(r.row, 4);
    EXPECT_EQ(r.column, 8);
    EXPECT_EQ(r.computed, r.exact + 1);
  }
}

// Also where a float or a double no longer holds them.
TEST(Check, IntegersWrapAround) {
  Case x = integer_case(1.0F, 2.0F), y = integer_case(2147483520.0F, 2.0F);
  const std::vector<float> a = decoded(x.a, row_major), b = decoded(x.b, column_major);
  for (std::int64_t row = 0; row < 13; ++row) {
    for (std::int64_t column = 0; column < 9; ++column) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < 33; ++i) {
        sum += static_cast<std::int64_t>(a[static_cast<std::size_t>(row) * 33 + i]) *
               static_cast<std::int64_t>(b[static_cast<std::size_t>(column) * 33 + i]);
      }
      integer(&x.before, row, column) = 2000000001;
      integer(&x.after, row, column) = static_cast<std::int32_t>(sum + 2 * std::int64_t{2000000001});
      integer(&y.before, row, column) = 7;
      integer(&y.after, row, column) = static_cast<std::int32_t>(2147483520 * sum + 14);
    }
  }
  EXPECT_TRUE(check_case(x).ok);
  EXPECT_TRUE(check_case(y).ok);
  integer(&y.after, 0, 0) ^= 1;
  EXPECT_EQ(check_case(y).max_error, 1.0);
}

// fp8 that is not promoted: at this k the arithmetic permits each element an error as large as itself.
Case long_case() {
  return right_case(row_major, column_major, Type::f32, 1.0F, 0.0F, Type::e4m3, Type::e4m3, 20, 24, 4096);
}

TEST(Check, SeesAnAllZeroC) {
  Case x = long_case();
  CheckResult r = check_case(x);
  EXPECT_TRUE(r.ok);
  EXPECT_LT(r.relative_error, 1e-5);  // FP32, not a tensor core
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 24; ++j) set(&x.after, i, j, 0.0F);
  for (const Numbers numbers : {Numbers::random, Numbers::any}) {
    r = check(x.problem, x.a, x.b, x.before, x.after, nullptr, numbers);
    EXPECT_FALSE(r.ok);
    EXPECT_FALSE(r.elements_ok);
    EXPECT_EQ(r.relative_error, 1.0);
    EXPECT_EQ(r.bias, -1.0);
  }
  x.problem.promote = true;
  EXPECT_FALSE(check_case(x).ok);
}

// Where the bound of each element allows it: random numbers are held to more.
TEST(Check, SeesAScaledC) {
  Case x = long_case();
  const std::vector<float> right = decoded(x.after, row_major);
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 24; ++j)
      set(&x.after, i, j, 0.9F * right[static_cast<std::size_t>(i * 24 + j)]);
  const CheckResult r = check_case(x);
  EXPECT_TRUE(r.elements_ok);
  EXPECT_FALSE(r.ok);
  EXPECT_NEAR(r.relative_error, 0.1, 1e-3);
  EXPECT_NEAR(r.bias, -0.1, 1e-3);
  EXPECT_EQ(fault_text(r).rfind("C has a relative error of 0.1 but random numbers of these types allow", 0),
            0U)
      << fault_text(r);
  const CheckResult of_files = check(x.problem, x.a, x.b, x.before, x.after, nullptr, Numbers::any);
  EXPECT_TRUE(of_files.ok);
  EXPECT_EQ(of_files.bias, r.bias);
}

TEST(Check, SeesAWrongColumn) {
  Case x = long_case();
  const std::vector<float> right = decoded(x.after, row_major);
  for (std::int64_t i = 0; i < 20; ++i)
    set(&x.after, i, 5, 0.8F * right[static_cast<std::size_t>(i * 24 + 5)]);
  const CheckResult r = check_case(x);
  EXPECT_TRUE(r.elements_ok);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(fault_text(r).rfind("column 5 of C has a relative error of 0.2 but", 0), 0U) << fault_text(r);
}

// Whatever the f16 accumulator may have overflowed to: a finite result is held to its bound.
TEST(Check, SeesZerosWhereF16AccumulatorsMayOverflow) {
  Case x = right_case(row_major, column_major, Type::f32, 1.0F, 0.0F);
  x.problem.accumulate = Type::f16;
  const float large = 256.0F;
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::int64_t l = 0; l < 33; ++l) {
    reference::encode(Type::f16, &large, 1, x.a.data.data() + 2U * static_cast<std::size_t>(3 * x.a.ld + l));
    reference::encode(Type::f16, &large, 1, x.b.data.data() + 2U * static_cast<std::size_t>(4 * x.b.ld + l));
  }
  const Case y = x;
  const auto with = [&](float value) {
    Case z = y;
    for (std::int64_t i = 0; i < 13; ++i) {  // from the definition
      for (std::int64_t j = 0; j < 9; ++j) {
        const std::vector<float> a = decoded(z.a, row_major), b = decoded(z.b, column_major);
        float sum = 0.0F;
        for (std::size_t l = 0; l < 33; ++l)
          sum += a[static_cast<std::size_t>(i) * 33 + l] * b[static_cast<std::size_t>(j) * 33 + l];
        set(&z.after, i, j, sum);
      }
    }
    set(&z.after, 3, 4, value);  // 33 * 65536
    return check(z.problem, z.a, z.b, z.before, z.after, nullptr, Numbers::any);
  };
  EXPECT_TRUE(with(infinity).ok);
  EXPECT_EQ(with(infinity).overflowed, 1);
  EXPECT_FALSE(with(0.0F).ok);
  EXPECT_FALSE(with(std::nanf("")).ok);
}

// The exact value is finite, the f16 result is not.
TEST(Check, CountsWhatOverflows) {
  Case x = right_case(row_major, column_major, Type::f16, 65504.0F, 0.0F);
  const CheckResult r = check_case(x);
  EXPECT_TRUE(r.ok) << fault_text(r);
  std::int64_t infinities = 0;
  for (const float value : decoded(x.after, row_major)) infinities += std::isinf(value) ? 1 : 0;
  EXPECT_GT(infinities, 10);
  EXPECT_EQ(r.overflowed, infinities);
  EXPECT_TRUE(std::isfinite(r.error_bound));
}

TEST(Check, SeesOneWrongElement) {
  Case x = right_case(row_major, column_major, Type::f32, 1.0F, 0.0F);
  const float old = decoded(x.after, row_major)[5 * 9 + 7];
  set(&x.after, 5, 7, old + 0.001F);
  const CheckResult r = check_case(x);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.row, 5);
  EXPECT_EQ(r.column, 7);
  EXPECT_NEAR(r.max_error, 0.001, 1e-4);
  EXPECT_GT(r.max_error, r.bound);
}

TEST(Check, SeesAnElementThatWasNotWritten) {
  Case x = right_case(row_major, column_major, Type::f32, 1.0F, 0.0F);
  set(&x.after, 12, 8, std::nanf(""));
  const CheckResult r = check_case(x);
  EXPECT_FALSE(r.ok);
  EXPECT_TRUE(std::isinf(r.max_error));
  EXPECT_EQ(r.row, 12);
  EXPECT_EQ(r.column, 8);
}

TEST(Check, SeesAWriteBetweenRows) {
  Case x = right_case(row_major, column_major, Type::f32, 1.0F, 0.0F);
  set(&x.after, 4, 10, 0.0F);  // column 10 of 9
  try {
    check_case(x);
    FAIL() << "not seen";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), Exit::wrong_result);
    EXPECT_STREQ(failure.what(),
                 "the result is wrong: memory after row 4 of C was written, but only its first 9 elements "
                 "belong to C");
  }
}

TEST(Check, NanInTheInputIsRightWhereItBelongs) {
  Case x = right_case(row_major, column_major, Type::f32, 1.0F, 0.0F);
  const float nan = std::nanf("");
  reference::encode(Type::f16, &nan, 1,
                    x.a.data.data() + 2U * static_cast<std::size_t>(3 * x.a.ld));  // A[3][0]
  EXPECT_FALSE(check_case(x).ok);
  for (std::int64_t j = 0; j < 9; ++j) set(&x.after, 3, j, nan);
  EXPECT_TRUE(check_case(x).ok);
}

TEST(Check, Empty) {
  Case x;
  EXPECT_TRUE(check_case(x).ok);
}

}  // namespace
}  // namespace tenon::command
