// The epilogue that gemm() composes at run time (EpilogueOptions): scales, a C apart from D, bias,
// activation, gated pairs, outputs of 8 bits. StoreRows applies it to eight adjacent elements at a time. What
// is absent is a null pointer, and each test of it a branch that the whole grid takes alike.
//
// An embedder who knows the epilogue at compile time writes an operation instead (epilogue.hpp). Below:
// activation.hpp, row_segment.hpp, pipeline/tensor_map.hpp.
#pragma once

#include "tenon/gemm/activation.hpp"
#include "tenon/gemm/row_segment.hpp"
#include "tenon/pipeline/tensor_map.hpp"

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
  const float* scale_d;
  float* absmax;
  float* bias_gradient;  // n sums
  bool gated;            // D is m x n / 2
  // The matrix beside D: C where beta is not 0, otherwise aux. Whether it has 16 bits and TMA can load and
  // store it: then wgmma kernels find its map in matrix_map, of boxes of an epilogue subtile.
  bool matrix_has_map;
  TensorMap matrix_map;

  // alpha times the factors of fp8 operands.
  __device__ __forceinline__ float factor() const {
    float product = alpha;
    if (scale_a != nullptr) product *= *scale_a;
    if (scale_b != nullptr) product *= *scale_b;
    return product;
  }

  // Turns accumulators, times factor(), of elements column, column + 1, ... of a row into results, before
  // scale_d and before pairs are gated. `left` of them lie within the row.
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
    const int step = gated ? 2 : 1;  // of a pair, the gate alone has an activation
    visit_activation(activation, [&](auto chosen) {
#pragma unroll
      for (int i = 0; i < segment_columns; ++i) {
        if (i % step == 0) values[i] = activated<decltype(chosen)::value>(values[i], pre[i], lower, upper);
      }
    });
  }

  // Stores the results that apply() gave, after the gates, as elements of row `row` of D.
  __device__ __forceinline__ void store(const Output& d, const float (&values)[segment_columns], int row,
                                        int column, int left) const {
    if (!gated) return store_results(d, values, row, column, left);
    float products[segment_columns / 2];
#pragma unroll
    for (int i = 0; i < segment_columns / 2; ++i) products[i] = values[2 * i] * values[2 * i + 1];
    store_results(d, products, row, column / 2, left / 2);
  }

 private:
  template <int count>
  __device__ __forceinline__ void store_results(const Output& d, const float (&results)[count], int row,
                                                int column, int left) const {
    if (absmax != nullptr) raise_absmax(results, left);
    float scaled[count];
    const float scale = scale_d != nullptr ? *scale_d : 1.0F;
#pragma unroll
    for (int i = 0; i < count; ++i) scaled[i] = results[i] * scale;
    store_segment(d.data, d.type, row * d.ld + column, left, scaled);
  }
  // The bits of magnitudes have the order of the numbers, and those of NaN stand above all.
  template <int count>
  __device__ __forceinline__ void raise_absmax(const float (&results)[count], int left) const {
    std::uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (i < left) largest = max(largest, __float_as_uint(results[i]) & 0x7fffffffU);
    }
    auto* const stored = reinterpret_cast<std::uint32_t*>(absmax);
    // Most segments do not raise it, and a load is cheaper than an atomic operation on one address.
    if (largest > *static_cast<volatile std::uint32_t*>(stored)) atomicMax(stored, largest);
  }
};

// Whether StoreTmaFused has a store of its own for the epilogue: TMA can store D, and it is one of
//
//   a bias with relu, gelu or no activation, and an aux that is written
//   a bias with relu or no activation, and a C
//   a bias with drelu or dgelu
//   a bias and gated pairs with silu or gelu, and an aux that is written
//
// or of these without the bias or the aux, and nothing else is asked for. A, D, the bias and the matrix
// beside D have the type `type`. The bias begins on a multiple of 4 bytes: a lane loads two of its elements
// at once.
TENON_HOST_DEVICE inline bool is_for_tma(const FusedEpilogue& op, Type type, const Output& d) {
  const bool has_c = op.beta != 0.0F, has_aux = op.aux != nullptr;
  const bool has_store = op.gated
                             ? op.activation == Activation::silu || op.activation == Activation::gelu
                             : op.activation == Activation::none || op.activation == Activation::relu ||
                                   reads_aux(op.activation) || (op.activation == Activation::gelu && !has_c);
  const bool has_matrix = has_c || has_aux;
  return has_store && d.type == type && tma_can_store(d) && !(has_c && has_aux) &&
         (!has_matrix || (op.matrix_has_map && (has_c ? op.c_type : op.aux_type) == type)) &&
         (op.bias == nullptr ||
          (op.bias_type == type && reinterpret_cast<std::uintptr_t>(op.bias) % 4 == 0)) &&
         op.row_bias == nullptr && op.row_scale == nullptr && op.column_scale == nullptr &&
         op.scale_d == nullptr && op.absmax == nullptr && op.bias_gradient == nullptr;
}

}  // namespace tenon
