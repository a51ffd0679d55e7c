// The epilogue that gemm() composes at run time (EpilogueOptions): scales, a C apart from D, bias,
// activation. StoreRows applies it to eight adjacent elements at a time. What is absent is a null pointer,
// and each test of it a branch that the whole grid takes alike.
//
// An embedder who knows the epilogue at compile time writes an operation instead (epilogue.hpp). Below:
// activation.hpp, row_segment.hpp.
#pragma once

#include "tenon/gemm/activation.hpp"
#include "tenon/gemm/row_segment.hpp"

namespace tenon {

// What EpilogueOptions and Gemm say, as the kernel reads it.
struct FusedEpilogue {
  float alpha, beta;
  float lower, upper;
  Activation activation;
  Type c_type, bias_type, row_bias_type, aux_type;
  const void* c;  // m x n, row-major; may be D; read where beta is not 0
  std::int64_t ldc;
  const void* bias;
  const void* row_bias;
  const float* row_scale;
  const float* column_scale;
  void* aux;
  std::int64_t ld_aux;
  const float* scale_a;  // of fp8 operands
  const float* scale_b;

  // alpha times the factors of fp8 operands.
  __device__ __forceinline__ float factor() const {
    float product = alpha;
    if (scale_a != nullptr) product *= *scale_a;
    if (scale_b != nullptr) product *= *scale_b;
    return product;
  }

  // Whether nothing but a bias for each column, of type `type`, and an activation that needs no other operand
  // is asked for.
  __device__ __forceinline__ bool is_bias_and_activation(Type type) const {
    return beta == 0.0F && row_bias == nullptr && row_scale == nullptr && column_scale == nullptr &&
           aux == nullptr && (bias == nullptr || bias_type == type);
  }

  // Turns accumulators, times factor(), of elements column, column + 1, ... of a row of D into elements of D.
  // `left` of them lie in D.
  __device__ __forceinline__ void apply(float (&values)[segment_columns], int row, int column,
                                        int left) const {
    if (column_scale != nullptr) {
      float scale[segment_columns];
      load_segment(scale, column_scale, Type::f32, column, left);
#pragma unroll
      for (int i = 0; i < segment_columns; ++i) values[i] *= scale[i];
    }
    const float scale_of_row = row_scale != nullptr ? row_scale[row] : 1.0F;
    const float bias_of_row = row_bias != nullptr ? load_number(row_bias, row_bias_type, row) : 0.0F;
#pragma unroll
    for (int i = 0; i < segment_columns; ++i) values[i] = fmaf(values[i], scale_of_row, bias_of_row);
    if (bias != nullptr) {
      float bias_of_column[segment_columns];
      load_segment(bias_of_column, bias, bias_type, column, left);
#pragma unroll
      for (int i = 0; i < segment_columns; ++i) values[i] += bias_of_column[i];
    }
    if (beta != 0.0F) {
      float addend[segment_columns];
      load_segment(addend, c, c_type, row * ldc + column, left);
#pragma unroll
      for (int i = 0; i < segment_columns; ++i) values[i] = fmaf(beta, addend[i], values[i]);
    }
    float pre[segment_columns] = {};
    if (reads_aux(activation)) {
      load_segment(pre, aux, aux_type, row * ld_aux + column, left);
    } else if (aux != nullptr) {
      store_segment(aux, aux_type, row * ld_aux + column, left, values);
    }
    visit_activation(activation, [&](auto chosen) {
#pragma unroll
      for (int i = 0; i < segment_columns; ++i)
        values[i] = activated<decltype(chosen)::value>(values[i], pre[i], lower, upper);
    });
  }
};

}  // namespace tenon
