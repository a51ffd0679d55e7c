// The activations of an epilogue (tenon/gemm/epilogue_options.hpp) in double precision, and how far f32 may
// lie off: the reference of the tests and of `tenon gemm --check`.
#pragma once

#include <cmath>

#include "tenon/gemm/epilogue_options.hpp"

namespace tenon::reference {

// pre: the pre-activation, of drelu and dgelu; lower, upper: of clamp.
inline double activated(Activation activation, double x, double pre = 0, double lower = 0, double upper = 0) {
  const double linear = std::sqrt(8 * std::atan(1.0)) / (4 * std::atan(1.0));  // sqrt(2 / pi)
  const auto tangent = [&](double y) { return std::tanh(linear * (y + 0.044715 * y * y * y)); };
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu:
      return x / 2 * (1 + tangent(x));
    case Activation::gelu_erf:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::clamp:
      return x < lower ? lower : x > upper ? upper : x;
    case Activation::drelu:
      return pre > 0 ? x : 0;
    case Activation::dgelu: {
      const double t = tangent(pre), slope = linear * (1 + 3 * 0.044715 * pre * pre);
      return x * ((1 + t) / 2 + pre / 2 * (1 - t * t) * slope);
    }
  }
  return 0;
}

// Whether f32 gives the exact value: it selects, and computes nothing.
constexpr bool is_exact(Activation activation) noexcept {
  return activation == Activation::none || activation == Activation::relu ||
         activation == Activation::clamp || activation == Activation::drelu;
}

// How far the activation, computed in f32 of a pre-activation that is `error` off, may lie from its value at
// x: no slope exceeds 1.13, and the approximations of exponential and reciprocal lose four bits at most.
inline double activation_error(Activation activation, double x, double value, double error) {
  if (is_exact(activation)) return error;
  return 1.13 * error + 0x1p-19 * std::fabs(value) + 0x1p-21 * std::fmax(1.0, std::fabs(x)) + 0x1p-24;
}

}  // namespace tenon::reference
