// C = beta * C, one element a thread and iteration: see scale.hpp. Unhurried: it runs for degenerate products
// only.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/result.hpp"
#include "gemm/scale.hpp"

namespace tenon {
namespace {

template <typename T>
__device__ T times(float beta, T x) {
  return static_cast<T>(beta * static_cast<float>(x));
}
__device__ double times(double beta, double x) {
  return beta * x;
}
// beta is a whole number of at most 31 bits; modulo 2^32, as the product itself.
__device__ std::int32_t times(float beta, std::int32_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int32_t>(beta)) *
                                   static_cast<std::uint32_t>(x));
}

template <typename T, typename Factor>
__device__ void scale(T* c, std::int64_t m, std::int64_t n, std::int64_t ld, Factor beta) {
  for (std::int64_t row = blockIdx.y; row < m; row += gridDim.y) {
    for (std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; column < n;
         column += std::int64_t{gridDim.x} * blockDim.x) {
      T& element = c[row * ld + column];
      element = beta == Factor{0} ? static_cast<T>(0.0F) : times(beta, element);
    }
  }
}

}  // namespace

// extern "C": the names of their entries in PTX.
extern "C" __global__ void tenon_scale_f16(__half* c, std::int64_t m, std::int64_t n, std::int64_t ld,
                                           float beta) {
  scale(c, m, n, ld, beta);
}
extern "C" __global__ void tenon_scale_bf16(__nv_bfloat16* c, std::int64_t m, std::int64_t n, std::int64_t ld,
                                            float beta) {
  scale(c, m, n, ld, beta);
}
extern "C" __global__ void tenon_scale_f32(float* c, std::int64_t m, std::int64_t n, std::int64_t ld,
                                           float beta) {
  scale(c, m, n, ld, beta);
}
extern "C" __global__ void tenon_scale_s32(std::int32_t* c, std::int64_t m, std::int64_t n, std::int64_t ld,
                                           float beta) {
  scale(c, m, n, ld, beta);
}

extern "C" __global__ void tenon_scale_f64(double* c, std::int64_t m, std::int64_t n, std::int64_t ld,
                                           double beta) {
  scale(c, m, n, ld, beta);
}

Status scale_c(Launcher& launcher, const Gemm& problem) noexcept {
  if (problem.beta == 1.0) return {};
  constexpr unsigned threads = 256;
  constexpr std::int64_t most_blocks = 4096;
  Launch launch;
  launch.what = "scaling C by beta";
  launch.ptx = "scale";
  switch (result_of(problem).type) {
    case Type::f16:
      launch.function = reinterpret_cast<const void*>(&tenon_scale_f16);
      launch.entry = "tenon_scale_f16";
      break;
    case Type::bf16:
      launch.function = reinterpret_cast<const void*>(&tenon_scale_bf16);
      launch.entry = "tenon_scale_bf16";
      break;
    case Type::s32:
      launch.function = reinterpret_cast<const void*>(&tenon_scale_s32);
      launch.entry = "tenon_scale_s32";
      break;
    case Type::f64:
      launch.function = reinterpret_cast<const void*>(&tenon_scale_f64);
      launch.entry = "tenon_scale_f64";
      break;
    default:  // validate() lets no other type pass
      launch.function = reinterpret_cast<const void*>(&tenon_scale_f32);
      launch.entry = "tenon_scale_f32";
      break;
  }
  launch.grid.x =
      static_cast<unsigned>(std::min<std::int64_t>((problem.n + threads - 1) / threads, most_blocks));
  launch.grid.y = static_cast<unsigned>(std::min<std::int64_t>(problem.m, most_blocks));
  launch.block.x = threads;
  launch.walks_on = true;
  const Matrix& c = result_of(problem);
  if (c.type == Type::f64) {
    launch.arguments.set(c.data, problem.m, problem.n, c.ld, problem.beta);
  } else {
    launch.arguments.set(c.data, problem.m, problem.n, c.ld, static_cast<float>(problem.beta));
  }
  return launcher.launch(launch);
}

}  // namespace tenon
