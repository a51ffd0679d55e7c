// The activations of an epilogue as device functions of one f32 value. Below: epilogue_options.hpp.
#pragma once

#include "tenon/gemm/epilogue_options.hpp"

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

// Applies the activation to x. pre: the pre-activation, of drelu and dgelu; lower, upper: of clamp. All
// threads of a warp ask for the same activation. A NaN stays a NaN.
__device__ __forceinline__ void activate(Activation activation, float (&x)[8], const float (&pre)[8],
                                         float lower, float upper) {
  const auto for_each = [&](const auto& f) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = f(x[i], pre[i]);
  };
  switch (activation) {
    case Activation::none:
      return;
    case Activation::relu:
      return for_each([](float v, float) { return v < 0.0F ? 0.0F : v; });
    case Activation::gelu:
      return for_each([](float v, float) { return gelu(v); });
    case Activation::gelu_erf:
      return for_each([](float v, float) { return fmaf(0.5F * v, erff(v * 0.7071067811865475F), 0.5F * v); });
    case Activation::silu:
      return for_each([](float v, float) { return logistic(v, v); });
    case Activation::clamp:
      return for_each([=](float v, float) { return v < lower ? lower : v > upper ? upper : v; });
    case Activation::drelu:
      return for_each([](float v, float p) { return p > 0.0F ? v : p != p ? p : 0.0F; });
    case Activation::dgelu:
      return for_each([](float v, float p) { return v * gelu_derivative(p); });
  }
}

}  // namespace tenon
