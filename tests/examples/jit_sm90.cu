// y = f(x * w^T, bias) on Hopper, where f is a formula that the program reads: NVRTC compiles the GEMM of it.
#include <cuda_fp16.h>

#include "tenon/jit/launch_sm90.hpp"

using Kernel = tenon::sm90::JitGemmKernel<tenon::sm90::PingpongConfig<half, float, 128, 192>, half>;
struct Bias {  // the members of Formula below
  const float* bias;
};

// formula: such as "fmaxf(accumulator + bias[column], 0.0F)".
tenon::Status compile(const std::string& formula, const tenon::jit::CompileOptions& options, Kernel* kernel) {
  const std::string text =
      "struct Formula {\n  const float* bias;\n"
      "  __device__ float operator()(float accumulator, int row, int column) const {\n    return " +
      formula + ";\n  }\n};\n";
  return Kernel::make({"Formula", text, sizeof(Bias), alignof(Bias)}, options, kernel);
}

// x: m x k, w: n x k, y: m x n, all row-major and dense in device memory; bias: n floats.
tenon::Status run(const Kernel& kernel, int m, int n, int k, const half* x, const half* w, const float* bias,
                  half* y, cudaStream_t stream) {
  Kernel::Problem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {x, k};
  problem.b = {w, k};  // column-major k x n: the columns of B are the rows of w
  problem.c = {y, n};
  return kernel.launch(problem, Bias{bias}, stream);
}
