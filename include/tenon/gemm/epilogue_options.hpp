// What gemm() fuses into the epilogue of a product: bias, activation, scales of rows and columns. Plain
// C++17. Below: problem.hpp.
#pragma once

#include "tenon/gemm/problem.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// The function that an epilogue applies to each element x, in f32. NaN stays NaN in all of them.
//
//   relu      max(x, 0)                                    cuBLASLt: RELU
//   gelu      x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))     GELU
//   gelu_erf  x / 2 (1 + erf(x / sqrt(2)))
//   silu      x / (1 + exp(-x))
//   clamp     x, but at least EpilogueOptions::lower and at most upper
//   drelu     x where the pre-activation in EpilogueOptions::aux is positive, otherwise 0         DRELU
//   dgelu     x times the derivative of gelu at the pre-activation in aux                         DGELU
enum class Activation : int {
  none = 0,
  relu = 1,
  gelu = 2,
  gelu_erf = 3,
  silu = 4,
  clamp = 5,
  drelu = 6,
  dgelu = 7
};

inline constexpr Activation all_activations[] = {Activation::none,     Activation::relu, Activation::gelu,
                                                 Activation::gelu_erf, Activation::silu, Activation::clamp,
                                                 Activation::drelu,    Activation::dgelu};

constexpr const char* name(Activation activation) noexcept {
  switch (activation) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_erf:
      return "gelu_erf";
    case Activation::silu:
      return "silu";
    case Activation::clamp:
      return "clamp";
    case Activation::drelu:
      return "drelu";
    case Activation::dgelu:
      return "dgelu";
  }
  return "no activation";
}

// Whether the activation reads the pre-activation from EpilogueOptions::aux. The others can write it there.
TENON_HOST_DEVICE constexpr bool reads_aux(Activation activation) noexcept {
  return activation == Activation::drelu || activation == Activation::dgelu;
}

// A dense vector in device memory, of type f32, f16 or bf16. Null: there is none.
struct ConstVector {
  const void* data = nullptr;
  Type type = Type::f32;

  constexpr ConstVector() noexcept = default;
  constexpr ConstVector(const void* d, Type t) noexcept : data(d), type(t) {}
  constexpr ConstVector(const float* d) noexcept  // NOLINT(google-explicit-constructor): stands for it
      : ConstVector(d, Type::f32) {}
  constexpr ConstVector(const __half* d) noexcept  // NOLINT(google-explicit-constructor)
      : ConstVector(d, Type::f16) {}
  constexpr ConstVector(const __nv_bfloat16* d) noexcept  // NOLINT(google-explicit-constructor)
      : ConstVector(d, Type::bf16) {}
};

// The result of a product with an epilogue, computed in f32 and rounded once, is
//
//   pre = row_scale[row] * column_scale[column] * alpha * (A * B) + beta * C + bias[column] + row_bias[row]
//   result = activation(pre)
//   D = scale_d * result
//
// as cuBLASLt has it: C is added before the activation. What is null takes no part. All pointers are device
// memory, aligned to their element, used when the kernel runs, and may not overlap D.
//
// D may be of 8 bits, e4m3, e5m2 or s8: values beyond the range of the type become its largest (smallest)
// number; a NaN stays a NaN, in s8 it becomes 0.
struct EpilogueOptions {
  Activation activation = Activation::none;
  ConstVector bias;                     // n elements: one for each column of D
  ConstVector row_bias;                 // m elements: one for each row of D
  const float* row_scale = nullptr;     // m factors
  const float* column_scale = nullptr;  // n factors
  // m x n, f16, bf16 or f32. drelu and dgelu read the pre-activation here; the others write it here, if it is
  // not null: the value before the activation, rounded to aux.type.
  Matrix aux;
  float lower = 0.0F, upper = 0.0F;  // of Activation::clamp; lower <= upper
  // Gated pairs: n is even, columns 2j and 2j + 1 of pre are a gate and its value, and D is m x n / 2:
  // result(i, j) = activation(pre(i, 2j)) * pre(i, 2j + 1). With silu it is SwiGLU, with gelu GeGLU. Neither
  // with C nor with drelu, dgelu or a bias gradient.
  bool gated = false;
  const float* scale_d = nullptr;  // one factor                                                  D_SCALE
  // One number, raised to the largest |result|: set it to 0 before. A NaN makes it NaN.             AMAX_D
  float* absmax = nullptr;
  // n sums, to which the columns of `result` are added in f32, in no fixed order: set them to 0 before. The
  // gradient of a bias, where the activation is drelu or dgelu.                     DRELU_BGRAD, DGELU_BGRAD
  float* bias_gradient = nullptr;

  // Whether anything is applied at all.
  constexpr bool empty() const noexcept {
    return activation == Activation::none && bias.data == nullptr && row_bias.data == nullptr &&
           row_scale == nullptr && column_scale == nullptr && aux.data == nullptr && !gated &&
           scale_d == nullptr && absmax == nullptr && bias_gradient == nullptr;
  }
};

}  // namespace tenon
