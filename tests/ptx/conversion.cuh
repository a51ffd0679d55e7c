// The reference of the conversions: a float rounded to a narrower format by arithmetic in double, and the
// floats on which wrapper and reference are compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "ptx/device_vector.cuh"
#include "ptx/mma_reference.hpp"

namespace tenon::test {

// ---- the wrapper, over whole vectors

template <auto function, class Result, class... Inputs>
__global__ void apply(int count, Result* out, const Inputs*... in) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = function(in[i]...);
}

template <auto function, class... Inputs>
auto convert(const std::vector<Inputs>&... inputs) {
  using Result = decltype(function(Inputs{}...));
  const std::size_t count = std::min({inputs.size()...});
  const DeviceVector<Result> output{std::vector<Result>(count)};
  const auto launch = [&](const DeviceVector<Inputs>&... device) {
    const int blocks = (static_cast<int>(count) + 255) / 256;
    apply<function, Result, Inputs...>
        <<<blocks, 256>>>(static_cast<int>(count), output.data(), device.data()...);
  };
  launch(DeviceVector<Inputs>(inputs)...);
  return output.read();
}

// ---- the reference

struct Format {
  int fraction_bits, lowest_exponent;  // of the smallest normal number
  double largest;
};
inline constexpr Format f16{10, -14, 65504.0}, e4m3{3, -6, 448.0}, e5m2{2, -14, 57344.0};
inline const Format bf16{7, -126, std::ldexp(255.0, 120)}, tf32{10, -126, std::ldexp(2047.0, 117)};

enum class Rounding { nearest_even, nearest_away, toward_zero };
enum class Finish { plain, relu, satfinite, satfinite_relu };

inline double round_to(const Format& format, double x, Rounding rounding, Finish finish = Finish::plain) {
  const bool saturates = finish == Finish::satfinite || finish == Finish::satfinite_relu;
  const bool is_relu = finish == Finish::relu || finish == Finish::satfinite_relu;
  if (std::isnan(x)) return x;
  if (is_relu && x <= 0) return 0;
  double magnitude = std::fabs(x);
  if (magnitude != 0 && std::isfinite(magnitude)) {
    const int exponent = std::max(std::ilogb(magnitude), format.lowest_exponent);
    const double steps = std::ldexp(magnitude, format.fraction_bits - exponent);
    const double whole = rounding == Rounding::nearest_even   ? std::nearbyint(steps)
                         : rounding == Rounding::nearest_away ? std::floor(steps + 0.5)
                                                              : std::floor(steps);
    magnitude = std::ldexp(whole, exponent - format.fraction_bits);
    if (magnitude > format.largest) {
      magnitude =
          rounding == Rounding::toward_zero ? format.largest : std::numeric_limits<double>::infinity();
    }
  }
  if (saturates) magnitude = std::min(magnitude, format.largest);
  return std::copysign(magnitude, x);
}

// Equal, the sign of zero included; NaN equals NaN.
inline void expect_same(double found, double expected, double input) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << "input " << input << " gives " << found;
  } else {
    EXPECT_EQ(found, expected) << "input " << input;
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << "input " << input;
  }
}

// Zeros, infinities, NaN, bounds, ties between neighbours of every format, and random floats of every
// magnitude.
inline std::vector<float> floats() {
  std::vector<float> result = {0.0F,     INFINITY, NAN,      FLT_MAX,  FLT_MIN,       FLT_TRUE_MIN,
                               65504.0F, 65519.0F, 65520.0F, 448.0F,   464.0F,        465.0F,
                               480.0F,   57344.0F, 61440.0F, 61441.0F, 3.3895314e38F, 3.4e38F};
  std::mt19937 engine(7);
  std::uniform_int_distribution<int> exponents(-150, 127), small_exponents(-26, 17);
  std::uniform_real_distribution<float> significands(1.0F, 2.0F);
  for (int i = 0; i < 20000; ++i) {
    result.push_back(std::ldexp(significands(engine), exponents(engine)));
    result.push_back(std::ldexp(significands(engine), small_exponents(engine)));
  }
  for (const int fraction_bits : {2, 3, 7, 10}) {  // odd multiples of half a step
    for (int exponent = -30; exponent <= 17; ++exponent) {
      for (int i = 0; i < 8; ++i) {
        result.push_back(std::ldexp(1.0F + std::ldexp(2.0F * i + 1.0F, -fraction_bits - 1), exponent));
      }
    }
  }
  const std::size_t positive = result.size();
  for (std::size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
  return result;
}

// Checks a conversion of two floats into the halves of a register: the first argument is the upper one.
template <auto function>
void expect_packs(Kind kind, const Format& format, Rounding rounding, Finish finish = Finish::plain) {
  const std::vector<float> lower = floats();
  const std::vector<float> upper(lower.rbegin(), lower.rend());
  const auto found = convert<function>(upper, lower);
  const int width = bits(kind);
  const std::uint64_t mask = (1ULL << width) - 1;
  // The PTX ISA leaves open which zero .relu makes of a negative zero: adding 0 makes both positive.
  const bool is_relu = finish == Finish::relu || finish == Finish::satfinite_relu;
  const auto read = [&](std::uint64_t pattern) { return decode(kind, pattern) + (is_relu ? 0.0 : -0.0); };
  for (std::size_t i = 0; i < lower.size(); ++i) {
    expect_same(read(found[i] & mask), round_to(format, lower[i], rounding, finish), lower[i]);
    expect_same(read(found[i] >> width), round_to(format, upper[i], rounding, finish), upper[i]);
  }
}

}  // namespace tenon::test
