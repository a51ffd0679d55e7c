// Divisor's quotients, computed by multiplication, equal those of division for all dividends of 31 bits.
#include "tenon/gemm/divisor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace tenon {
namespace {

constexpr int most = std::numeric_limits<int>::max();

// Errors would show first near multiples of the divisor, and for the largest dividends.
void check(int divisor) {
  const Divisor by(divisor);
  const auto same = [&](std::int64_t dividend) {
    if (dividend < 0 || dividend > most) return;
    const int n = static_cast<int>(dividend);
    ASSERT_EQ(by.quotient(n), n / divisor) << n << " / " << divisor;
  };
  const std::int64_t last = most / divisor;
  for (const std::int64_t multiple :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, last / 2, last - 1, last}) {
    for (int beside = -2; beside <= 2; ++beside) same(multiple * divisor + beside);
  }
  same(most);
  same(most - 1);
}

TEST(Divisor, DividesAsDivisionDoes) {
  for (int divisor = 1; divisor < 5000; ++divisor) check(divisor);
  for (int bit = 1; bit < 31; ++bit) {
    for (int beside = -2; beside <= 2; ++beside) {
      if ((1 << bit) + beside >= 1) check((1 << bit) + beside);
    }
  }
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(1, most);
  for (int i = 0; i < 20000; ++i) check(any(random));
  check(most);
  check(most - 1);
}

TEST(Divisor, DividesSmallNumbersWithoutException) {
  for (int divisor = 1; divisor <= 300; ++divisor) {
    const Divisor by(divisor);
    for (int n = 0; n < 100000; ++n) ASSERT_EQ(by.quotient(n), n / divisor) << n << " / " << divisor;
  }
}

TEST(Divisor, IsOneByDefault) {
  EXPECT_EQ(Divisor().quotient(most), most);
  EXPECT_EQ(Divisor().quotient(0), 0);
}

}  // namespace
}  // namespace tenon
