#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>

#include "microbench/cuda_check.hpp"
#include "microbench/device_data.hpp"

namespace tenon::microbench {
namespace {

constexpr int threads = 256;
constexpr int blocks = 1024;  // grid-stride loops: any size

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the n-th number without the ones before it.
__device__ std::uint64_t splitmix64(std::uint64_t n) {
  std::uint64_t z = n * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Box and Muller.
__device__ float normal(std::uint64_t n) {
  const std::uint64_t bits = splitmix64(n);
  const float radius = sqrtf(-2.0F * logf((static_cast<float>(bits >> 40) + 1.0F) * 0x1p-24F));
  return radius * cospif(static_cast<float>(bits & 0xffffff) * 0x1p-23F);
}

template <typename T>
__global__ void fill_normal_kernel(T* matrix, std::int64_t lines, std::int64_t extent, std::int64_t ld,
                                   std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < lines * ld;
       i += stride) {
    const std::int64_t line = i / ld;
    const std::int64_t position = i % ld;
    const std::uint64_t number = (seed << 40) + static_cast<std::uint64_t>(line * extent + position) + 1;
    matrix[i] = static_cast<T>(position < extent ? normal(number) : __int_as_float(0x7fc00000));
  }
}

__device__ bool is_poison(float value) {
  return __float_as_uint(value) == 0xffffffffU;
}
__device__ bool is_poison(__half value) {
  return __half_as_ushort(value) == 0xffffU;
}
__device__ bool is_poison(__nv_bfloat16 value) {
  return __bfloat16_as_ushort(value) == 0xffffU;
}

struct Sums {
  double error_squares, expected_squares;
  unsigned long long wrong, overwritten;
  unsigned int max_error, max_expected;  // bits of non-negative floats, which are ordered as integers are
};

__global__ void clear_sums_kernel(Sums* sums) {
  *sums = Sums{};
}

template <typename T>
__global__ void compare_kernel(const T* computed, std::int64_t ldc, const float* expected, std::int64_t m,
                               std::int64_t n, float relative, float absolute, Sums* sums) {
  Sums mine{};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < m * ldc;
       i += stride) {
    const std::int64_t row = i / ldc;
    const std::int64_t column = i % ldc;
    if (column >= n) {
      mine.overwritten += is_poison(computed[i]) ? 0 : 1;
      continue;
    }
    const float e = expected[row * n + column];
    float error = fabsf(static_cast<float>(computed[i]) - e);
    if (isnan(error)) error = __int_as_float(0x7f800000);
    mine.wrong += error <= relative * fabsf(e) + absolute ? 0 : 1;
    mine.error_squares += static_cast<double>(error) * error;
    mine.expected_squares += static_cast<double>(e) * e;
    mine.max_error = max(mine.max_error, __float_as_uint(error));
    mine.max_expected = max(mine.max_expected, __float_as_uint(fabsf(e)));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    mine.error_squares += __shfl_down_sync(0xffffffffU, mine.error_squares, offset);
    mine.expected_squares += __shfl_down_sync(0xffffffffU, mine.expected_squares, offset);
    mine.wrong += __shfl_down_sync(0xffffffffU, mine.wrong, offset);
    mine.overwritten += __shfl_down_sync(0xffffffffU, mine.overwritten, offset);
    mine.max_error = max(mine.max_error, __shfl_down_sync(0xffffffffU, mine.max_error, offset));
    mine.max_expected = max(mine.max_expected, __shfl_down_sync(0xffffffffU, mine.max_expected, offset));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums->error_squares, mine.error_squares);
    atomicAdd(&sums->expected_squares, mine.expected_squares);
    atomicAdd(&sums->wrong, mine.wrong);
    atomicAdd(&sums->overwritten, mine.overwritten);
    atomicMax(&sums->max_error, mine.max_error);
    atomicMax(&sums->max_expected, mine.max_expected);
  }
}

double float_of(unsigned int bits) {
  float value = 0;
  static_assert(sizeof value == sizeof bits, "a float is 32 bits");
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

void fill_normal(void* matrix, Type type, std::int64_t lines, std::int64_t extent, std::int64_t ld,
                 std::uint64_t seed, cudaStream_t stream) {
  switch (type) {
    case Type::f16:
      fill_normal_kernel<<<blocks, threads, 0, stream>>>(static_cast<__half*>(matrix), lines, extent, ld,
                                                         seed);
      break;
    case Type::bf16:
      fill_normal_kernel<<<blocks, threads, 0, stream>>>(static_cast<__nv_bfloat16*>(matrix), lines, extent,
                                                         ld, seed);
      break;
    case Type::f32:
      fill_normal_kernel<<<blocks, threads, 0, stream>>>(static_cast<float*>(matrix), lines, extent, ld,
                                                         seed);
      break;
  }
  require(cudaGetLastError(), "filling an operand");
}

void poison(void* data, std::size_t bytes, cudaStream_t stream) {
  require(cudaMemsetAsync(data, 0xff, bytes, stream), "poisoning the output");
}

Comparison compare(const void* computed, Type type, std::int64_t ldc, const float* expected, std::int64_t m,
                   std::int64_t n, double relative, double absolute, cudaStream_t stream) {
  DeviceBuffer buffer;
  Sums* sums = static_cast<Sums*>(buffer.reserve(sizeof(Sums)));
  clear_sums_kernel<<<1, 1, 0, stream>>>(sums);
  const float r = static_cast<float>(relative);
  const float a = static_cast<float>(absolute);
  switch (type) {
    case Type::f16:
      compare_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __half*>(computed), ldc, expected, m,
                                                     n, r, a, sums);
      break;
    case Type::bf16:
      compare_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __nv_bfloat16*>(computed), ldc,
                                                     expected, m, n, r, a, sums);
      break;
    case Type::f32:
      compare_kernel<<<blocks, threads, 0, stream>>>(static_cast<const float*>(computed), ldc, expected, m, n,
                                                     r, a, sums);
      break;
  }
  require(cudaGetLastError(), "comparing the result");
  Sums host{};
  require(cudaMemcpyAsync(&host, sums, sizeof host, cudaMemcpyDeviceToHost, stream), "comparing the result");
  require(cudaStreamSynchronize(stream), "comparing the result");
  Comparison result;
  result.max_error = float_of(host.max_error);
  result.max_expected = float_of(host.max_expected);
  result.relative_error =
      host.expected_squares > 0 ? std::sqrt(host.error_squares / host.expected_squares) : 0;
  result.wrong = host.wrong;
  result.overwritten = host.overwritten;
  return result;
}

}  // namespace tenon::microbench
