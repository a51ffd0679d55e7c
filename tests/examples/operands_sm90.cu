// y = gain * (x * w^T) + bias + residual in one kernel on Hopper: the epilogue loads what the operation
// needs.
#include <cuda_fp16.h>

#include "tenon/gemm/launch_sm90.hpp"

struct BiasResidual {
  using Operands = tenon::EpilogueOperands<tenon::DeviceScalar<float>, tenon::ColumnVector<float>,
                                           tenon::MatrixOperand<half>>;
  __device__ float operator()(float accumulator, int /*row*/, int /*column*/, float gain, float bias,
                              float residual) const {
    return gain * accumulator + bias + residual;
  }
};
using Kernel =
    tenon::sm90::GemmKernel<tenon::sm90::Config<half, float, 128, 256>, tenon::WithOperands<BiasResidual>>;

// x: m x k, w: n x k, residual, y: m x n, all row-major and dense in device memory; gain: a float; bias: n
// floats.
tenon::Status linear_residual(int m, int n, int k, const half* x, const half* w, const float* gain,
                              const float* bias, const half* residual, half* y, cudaStream_t stream) {
  tenon::GemmProblem<half, half> problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {x, k};
  problem.b = {w, k};  // column-major k x n: the columns of B are the rows of w
  problem.c = {y, n};
  return tenon::launch<Kernel>(problem, {{}, gain, bias, {residual, n}}, stream);
}
