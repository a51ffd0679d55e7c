// nvcuda::wmma and the half types of CUDA C++, against integers and against double arithmetic rounded once.
#include <cmath>
#include <cstring>
#include <random>

#include "emulator/foreign/run.hpp"
#include "emulator/numerics/formats.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;

constexpr int k = 96;

std::vector<int> small_integers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> list(count);
  for (int& value : list) value = static_cast<int>(random() % 15) - 7;
  return list;
}

std::vector<int> product(const std::vector<int>& a, const std::vector<int>& b, int m, int n, int depth) {
  std::vector<int> c(static_cast<std::size_t>(m * n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < depth; ++l)
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * depth + l)] * b[static_cast<std::size_t>(j * depth + l)];
  return c;
}

template <class Element, class Sum, class Convert>
void expect_product(const std::string& entry, Convert&& convert) {
  const std::vector<int> a = small_integers(64 * k, 1), b = small_integers(64 * k, 2);
  const auto converted = [&](const std::vector<int>& list) {
    std::vector<Element> result;
    for (const int value : list) result.push_back(convert(value));
    return result;
  };
  for (const Options& options : testing::several_schedules()) {
    Compiled compiled("matrix");
    const Address c = compiled.allocate<Sum>(64 * 64);
    compiled.run(entry, {{1, 1, 1}, {128, 1, 1}},
                 {compiled.upload(converted(a)), compiled.upload(converted(b)), c, k}, options);
    const std::vector<int> expected = product(a, b, 64, 64, k);
    const auto found = compiled.download<Sum>(c, 64 * 64);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(found[i], static_cast<Sum>(expected[i])) << "element " << i;
  }
}

std::uint16_t narrowed(const numerics::Format& format, double value) {
  return static_cast<std::uint16_t>(numerics::from_float(format, static_cast<float>(value)));
}

TEST(Wmma, multiplies_half) {
  expect_product<std::uint16_t, float>("multiply_half", [](int v) { return narrowed(numerics::f16, v); });
}
TEST(Wmma, multiplies_bfloat16) {
  expect_product<std::uint16_t, float>("multiply_bfloat16",
                                       [](int v) { return narrowed(numerics::bf16, v); });
}
TEST(Wmma, multiplies_int8) {
  expect_product<std::int8_t, std::int32_t>("multiply_int8",
                                            [](int v) { return static_cast<std::int8_t>(v); });
}
TEST(Wmma, multiplies_double) {
  const std::vector<int> a = small_integers(8 * 4, 3), b = small_integers(8 * 4, 4);
  const auto reals = [](const std::vector<int>& list) {
    return std::vector<double>(list.begin(), list.end());
  };
  Compiled compiled("matrix");
  const Address c = compiled.allocate<double>(64);
  compiled.run("multiply_double", {{1, 1, 1}, {32, 1, 1}},
               {compiled.upload(reals(a)), compiled.upload(reals(b)), c});
  EXPECT_EQ(compiled.download<double>(c, 64), reals(product(a, b, 8, 8, 4)));
}

// Sums and products of two such numbers are exact in double, so there is only one rounding.
void expect_arithmetic(const std::string& entry, int mantissa) {
  const auto rounded = [&](double value) {
    if (value == 0) return 0.0f;
    const int exponent = std::ilogb(value) - mantissa;
    return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent));
  };
  constexpr std::size_t n = 64;
  std::mt19937 random(5);
  std::vector<float> in(n + 1);
  for (float& value : in) value = std::ldexp(static_cast<float>(random() % 4000) - 2000.0f, -6);
  Compiled compiled("matrix");
  const Address out = compiled.allocate<float>(7 * n);
  compiled.run(entry, {{1, 1, 1}, {n, 1, 1}}, {compiled.upload(in), out, static_cast<int>(n)});
  const auto found = compiled.download<float>(out, 7 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = rounded(in[i]), y = rounded(in[i + 1]);
    EXPECT_EQ(found[i], rounded(x + y));
    EXPECT_EQ(found[n + i], rounded(x * y)) << x << " * " << y;
    EXPECT_EQ(found[2 * n + i], rounded(x * y + x));
    EXPECT_EQ(found[3 * n + i], std::max(x, y));
    EXPECT_EQ(found[4 * n + i], std::fabs(x));
    EXPECT_EQ(found[5 * n + i], (x < y ? 1 : 0) + 2);
    EXPECT_EQ(found[6 * n + i], rounded(x + y));
  }
}
TEST(HalfArithmetic, is_rounded_once) {
  expect_arithmetic("half_arithmetic", 10);
}
TEST(Bfloat16Arithmetic, is_rounded_once) {
  expect_arithmetic("bfloat16_arithmetic", 7);
}

}  // namespace
}  // namespace tenon::emulator
