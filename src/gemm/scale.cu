// C = beta * C, one element a thread and iteration: see scale.hpp. Unhurried: it runs for degenerate products
// only.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/scale.hpp"

namespace tenon {
namespace {

template <typename T>
__global__ void scale_kernel(T* c, std::int64_t m, std::int64_t n, std::int64_t ld, float beta) {
  for (std::int64_t row = blockIdx.y; row < m; row += gridDim.y) {
    for (std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; column < n;
         column += std::int64_t{gridDim.x} * blockDim.x) {
      T& element = c[row * ld + column];
      element = beta == 0.0F ? static_cast<T>(0.0F) : static_cast<T>(beta * static_cast<float>(element));
    }
  }
}

template <typename T>
cudaError_t launch(const Gemm& problem, cudaStream_t stream) noexcept {
  constexpr unsigned threads = 256;
  constexpr std::int64_t most_blocks = 4096;
  const dim3 grid(
      static_cast<unsigned>(std::min<std::int64_t>((problem.n + threads - 1) / threads, most_blocks)),
      static_cast<unsigned>(std::min<std::int64_t>(problem.m, most_blocks)));
  T* c = static_cast<T*>(problem.c.data);
  std::int64_t m = problem.m, n = problem.n, ld = problem.c.ld;
  float beta = problem.beta;
  void* arguments[] = {&c, &m, &n, &ld, &beta};
  // cudaLaunchKernel rather than <<<>>>: it returns the error of this launch and leaves the caller's last
  // error be.
  return cudaLaunchKernel(reinterpret_cast<const void*>(&scale_kernel<T>), grid, dim3(threads), arguments, 0,
                          stream);
}

}  // namespace

Status scale_c(const Gemm& problem, CUstream_st* stream) noexcept {
  if (problem.beta == 1.0F) return {};
  cudaError_t error = cudaSuccess;
  switch (problem.c.type) {
    case Type::f16:
      error = launch<__half>(problem, stream);
      break;
    case Type::bf16:
      error = launch<__nv_bfloat16>(problem, stream);
      break;
    case Type::f32:
      error = launch<float>(problem, stream);
      break;
  }
  if (error != cudaSuccess) {
    cudaGetLastError();
    return Status(StatusCode::cuda_error, "scaling C by beta could not be launched: %s",
                  cudaGetErrorString(error));
  }
  return {};
}

}  // namespace tenon
