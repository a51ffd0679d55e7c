// y = max(x * w^T + bias, 0) in one kernel on Ampere and newer: tenon's GEMM with your own epilogue.
#include <cuda_fp16.h>

#include "tenon/gemm/launch_sm80.hpp"

struct BiasRelu {
  const float* bias;
  __device__ float operator()(float accumulator, int /*row*/, int column) const {
    return fmaxf(accumulator + bias[column], 0.0F);
  }
};
using Kernel = tenon::sm80::GemmKernel<tenon::sm80::Config<half, float, 128, 128>, BiasRelu>;

// x: m x k, w: n x k, y: m x n, all row-major and dense in device memory; bias: n floats.
tenon::Status linear_relu(int m, int n, int k, const half* x, const half* w, const float* bias, half* y,
                          cudaStream_t stream) {
  tenon::GemmProblem<half, half> problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {x, k};
  problem.b = {w, k};  // column-major k x n: the columns of B are the rows of w
  problem.c = {y, n};
  return tenon::launch<Kernel>(problem, BiasRelu{bias}, stream);
}
