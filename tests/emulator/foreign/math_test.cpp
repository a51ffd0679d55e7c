// Mathematical functions compiled by nvcc against the host's: within the errors that the CUDA C++ programming
// guide states (appendix on mathematical functions), over ranges that include the slow paths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;
using Truth = long double (*)(long double, long double);

struct Function {
  const char* name;
  Truth truth;
  double from, to;            // of x; of y: -20 to 20
  int float_ulp, double_ulp;  // as stated, plus the host's own error
};

const Function functions[] = {
    {"sin", [](long double x, long double) { return std::sin(x); }, -1e6, 1e6, 2, 2},
    {"cos", [](long double x, long double) { return std::cos(x); }, -1e6, 1e6, 2, 2},
    {"tan", [](long double x, long double) { return std::tan(x); }, -1e6, 1e6, 4, 2},
    {"exp", [](long double x, long double) { return std::exp(x); }, -110, 90, 2, 2},
    {"log", [](long double x, long double) { return std::log(x); }, 1e-3, 1e6, 2, 2},
    {"pow", [](long double x, long double y) { return std::pow(x, y); }, 0.01, 50, 4, 2},
    {"tanh", [](long double x, long double) { return std::tanh(x); }, -10, 10, 2, 2},
    {"atan2", [](long double x, long double y) { return std::atan2(x, y); }, -30, 30, 3, 2},
    {"cbrt", [](long double x, long double) { return std::cbrt(x); }, -1e6, 1e6, 1, 1},
    {"fmod", [](long double x, long double y) { return std::fmod(x, y); }, -1e6, 1e6, 0, 0},
    {"hypot", [](long double x, long double y) { return std::hypot(x, y); }, -1e6, 1e6, 3, 2},
    {"log2", [](long double x, long double) { return std::log2(x); }, 1e-3, 1e6, 1, 2},
    {"exp2", [](long double x, long double) { return std::exp2(x); }, -150, 130, 2, 2},
    {"erf", [](long double x, long double) { return std::erf(x); }, -5, 5, 2, 2},
    {"sinh", [](long double x, long double) { return std::sinh(x); }, -80, 80, 3, 2},
    {"asin", [](long double x, long double) { return std::asin(x); }, -1, 1, 2, 2},
    {"log1p", [](long double x, long double) { return std::log1p(x); }, -0.99, 1e3, 1, 2},
    {"expm1", [](long double x, long double) { return std::expm1(x); }, -20, 80, 1, 2},
    {"tgamma", [](long double x, long double) { return std::tgamma(x); }, 0.1, 30, 5, 10},
    {"lgamma", [](long double x, long double) { return std::lgamma(x); }, 3, 100, 6, 4},
    {"remainder", [](long double x, long double y) { return std::remainder(x, y); }, -1e6, 1e6, 0, 0},
    {"rsqrt", [](long double x, long double) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 2, 1},
    {"log10", [](long double x, long double) { return std::log10(x); }, 1e-3, 1e6, 2, 2},
    {"ldexp", [](long double x, long double y) { return std::ldexp(x, static_cast<int>(y)); }, -1e3, 1e3, 0,
     0},
};

// The distance of `found` from the exact value, in units of the last place of that value.
template <class Real>
double ulp_error(Real found, long double exact) {
  const auto nearest = static_cast<Real>(exact);
  if (found == nearest || (std::isnan(found) && std::isnan(nearest))) return 0;
  if (std::isinf(nearest) || std::isinf(found) || std::isnan(found) || std::isnan(nearest)) return 1e9;
  const Real size = std::max(std::fabs(nearest), std::numeric_limits<Real>::min());
  const long double unit =
      static_cast<long double>(std::nextafter(size, std::numeric_limits<Real>::infinity()) - size);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) / unit);
}

template <class Real>
void expect_close(const char* entry, int which) {
  const Function& function = functions[which];
  constexpr std::size_t n = 256;
  std::mt19937_64 random(static_cast<std::uint64_t>(which));
  std::uniform_real_distribution<double> of_x(function.from, function.to), of_y(-20, 20);
  std::vector<Real> x(n), y(n);
  for (Real& value : x) value = static_cast<Real>(of_x(random));
  for (Real& value : y) value = static_cast<Real>(of_y(random));
  if (which < 3) x[0] = static_cast<Real>(1e22), x[1] = static_cast<Real>(-3e30);
  Compiled compiled("math");
  const Address to = compiled.allocate<Real>(n);
  compiled.run(entry, {{4, 1, 1}, {64, 1, 1}},
               {which, compiled.upload(x), compiled.upload(y), to, static_cast<int>(n)});
  const auto z = compiled.download<Real>(to, n);
  // CUDA states whole units from the correctly rounded result, which itself has an error of half a unit.
  const double most = (sizeof(Real) == 4 ? function.float_ulp : function.double_ulp) + 0.5;
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_LE(ulp_error(z[i], function.truth(x[i], y[i])), most)
        << function.name << "(" << x[i] << ", " << y[i] << ") = " << z[i];
}

class Math : public ::testing::TestWithParam<int> {};
TEST_P(Math, of_float_is_within_its_stated_error) {
  expect_close<float>("apply_float", GetParam());
}
TEST_P(Math, of_double_is_within_its_stated_error) {
  expect_close<double>("apply_double", GetParam());
}
INSTANTIATE_TEST_SUITE_P(Nvcc, Math, ::testing::Range(0, static_cast<int>(std::size(functions))),
                         [](const auto& info) { return functions[info.param].name; });

TEST(FastMath, is_near) {
  Compiled compiled("math");
  constexpr std::size_t n = 64;
  std::vector<float> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = 0.04f * static_cast<float>(i + 1), y[i] = 3.0f + static_cast<float>(i);
  const Truth truths[] = {functions[0].truth, functions[1].truth, functions[3].truth, functions[4].truth,
                          [](long double a, long double b) { return a / b; }};
  for (int which = 0; which < 5; ++which) {
    const Address to = compiled.allocate<float>(n);
    compiled.run("apply_fast", {{1, 1, 1}, {64, 1, 1}},
                 {which, compiled.upload(x), compiled.upload(y), to, static_cast<int>(n)});
    const auto z = compiled.download<float>(to, n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto exact = static_cast<double>(truths[which](x[i], y[i]));
      EXPECT_NEAR(z[i], exact, 1e-6 + 1e-6 * std::fabs(exact)) << which << " of " << x[i];
    }
  }
}

}  // namespace
}  // namespace tenon::emulator
