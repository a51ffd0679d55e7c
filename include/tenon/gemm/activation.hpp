// The activations of an epilogue as device functions of one f32 value. Below: epilogue_options.hpp.
#pragma once

#include "tenon/gemm/epilogue_options.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// 1 / (1 + e^-x), times `factor`. __fdividef returns 0 where the denominator exceeds 2^126, which is the
// limit.
__device__ __forceinline__ float logistic(float x, float factor) {
  return __fdividef(factor, 1.0F + __expf(-x));
}

// gelu(x) = x / 2 (1 + tanh(u)) = x logistic(2 u), which unlike the first form does not cancel for negative
// x. u = sqrt(2 / pi) (x + 0.044715 x^3).
inline constexpr float gelu_linear = 2 * 0.7978845608028654F, gelu_cubic = gelu_linear * 0.044715F;  // of 2 u
__device__ __forceinline__ float gelu(float x) {
  return logistic(x * fmaf(gelu_cubic * x, x, gelu_linear), x);
}
__device__ __forceinline__ float gelu_derivative(float x) {
  x = x < -20.0F ? -20.0F : x > 20.0F ? 20.0F : x;  // 0 and 1 beyond, where x^2 may overflow; NaN stays NaN
  const float s = logistic(x * fmaf(gelu_cubic * x, x, gelu_linear), 1.0F);
  return fmaf(x * s * (1.0F - s), fmaf(3.0F * gelu_cubic * x, x, gelu_linear), s);
}

// The activation of one value. pre: the pre-activation, of drelu and dgelu; lower, upper: of clamp. A NaN
// stays a NaN.
template <Activation activation>
__device__ __forceinline__ float activated(float x, float pre, float lower, float upper) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0.0F ? 0.0F : x;
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_erf:
      return fmaf(0.5F * x, erff(x * 0.7071067811865475F), 0.5F * x);
    case Activation::silu:
      return logistic(x, x);
    case Activation::clamp:
      return x < lower ? lower : x > upper ? upper : x;
    case Activation::drelu:
      return pre > 0.0F ? x : pre != pre ? pre : 0.0F;
    case Activation::dgelu:
      return x * gelu_derivative(pre);
  }
  return x;
}

// Calls f with the activation as a std::integral_constant. All threads of a warp ask for the same.
template <class F>
__device__ __forceinline__ void visit_activation(Activation activation, const F& f) {
  switch (activation) {
    case Activation::none:
      return f(std::integral_constant<Activation, Activation::none>{});
    case Activation::relu:
      return f(std::integral_constant<Activation, Activation::relu>{});
    case Activation::gelu:
      return f(std::integral_constant<Activation, Activation::gelu>{});
    case Activation::gelu_erf:
      return f(std::integral_constant<Activation, Activation::gelu_erf>{});
    case Activation::silu:
      return f(std::integral_constant<Activation, Activation::silu>{});
    case Activation::clamp:
      return f(std::integral_constant<Activation, Activation::clamp>{});
    case Activation::drelu:
      return f(std::integral_constant<Activation, Activation::drelu>{});
    case Activation::dgelu:
      return f(std::integral_constant<Activation, Activation::dgelu>{});
  }
}

}  // namespace tenon
