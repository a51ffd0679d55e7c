// A, B and C in a reference kernel: element access that hides order and type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "tenon/gemm.hpp"

namespace tenon::reference {

__device__ inline float to_float(float x) {
  return x;
}
__device__ inline float to_float(__half x) {
  return __half2float(x);
}
__device__ inline float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

__device__ inline void round_to(float& to, float x) {
  to = x;
}
__device__ inline void round_to(__half& to, float x) {
  to = __float2half_rn(x);
}
__device__ inline void round_to(__nv_bfloat16& to, float x) {
  to = __float2bfloat16_rn(x);
}

// A or B: element (row, column) lies at data[row * row_step + column * column_step], one of the steps
// being 1.
template <class T>
struct Operand {
  const T* data;
  std::int64_t row_step, column_step;

  explicit Operand(const ConstMatrix& x)
      : data(static_cast<const T*>(x.data)),
        row_step(x.order == Order::row_major ? x.ld : 1),
        column_step(x.order == Order::row_major ? 1 : x.ld) {}

  __device__ float operator()(std::int64_t row, std::int64_t column) const {
    return to_float(data[row * row_step + column * column_step]);
  }
};

// C and its epilogue. The type is a run-time value: the kernel tests it once for each element, which costs
// nothing beside k multiplications and saves two thirds of the kernel instances.
struct Result {
  void* data;
  std::int64_t ld;
  Type type;
  float alpha, beta;

  explicit Result(const Gemm& problem)
      : data(problem.c.data),
        ld(problem.c.ld),
        type(problem.c.type),
        alpha(problem.alpha),
        beta(problem.beta) {}

  // C(row, column) = alpha * product + beta * C(row, column)
  __device__ void store(std::int64_t row, std::int64_t column, float product) const {
    const std::int64_t at = row * ld + column;
    switch (type) {
      case Type::f16:
        update(static_cast<__half*>(data)[at], product);
        break;
      case Type::bf16:
        update(static_cast<__nv_bfloat16*>(data)[at], product);
        break;
      default:  // f32: check_matrix() rejects other types
        update(static_cast<float*>(data)[at], product);
        break;
    }
  }

 private:
  template <class T>
  __device__ void update(T& c, float product) const {
    float value = alpha * product;
    if (beta != 0.0F) value += beta * to_float(c);  // with beta == 0 C must not be read: it may hold NaN
    round_to(c, value);
  }
};

}  // namespace tenon::reference
