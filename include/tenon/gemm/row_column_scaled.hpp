// The epilogue operation of a product whose operands have a scale for each row of A and each column of B:
// per-token activations and per-channel weights. Below: epilogue.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"

namespace tenon {

// alpha * accumulator * (scale of the row * scale of the column) + beta * C. scale_a: m factors in device
// memory; scale_b: n. c: the matrix that is stored, read if beta is not 0. (Accumulators of fp8 operands:
// scales cannot be moved into the operands, but out of the sum over k, since they do not depend on it.)
struct RowColumnScaled {
  LinearCombination linear;
  const float* scale_a;
  const float* scale_b;
  Output c;

  __device__ __forceinline__ float operator()(float accumulator, int row, int column) const {
    const float scaled = linear.alpha * (accumulator * (scale_a[row] * scale_b[column]));
    return linear.beta == 0.0F ? scaled : scaled + linear.beta * load_element(c, c.type, row, column);
  }
};

}  // namespace tenon
