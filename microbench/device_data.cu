#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <limits>

#include "microbench/cuda_check.hpp"
#include "microbench/device_data.hpp"

namespace tenon::microbench {
namespace {

constexpr int threads = 256;
constexpr int blocks = 1024;  // the loops have grid stride, so this fits any size

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which computes its n-th number directly.
__device__ std::uint64_t splitmix64(std::uint64_t n) {
  std::uint64_t z = n * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Box-Muller transform.
__device__ float normal(std::uint64_t n) {
  const std::uint64_t bits = splitmix64(n);
  const float radius = sqrtf(-2.0F * logf((static_cast<float>(bits >> 40) + 1.0F) * 0x1p-24F));
  return radius * cospif(static_cast<float>(bits & 0xffffff) * 0x1p-23F);
}

// A float rounded to its upper 19 bits, to nearest, ties to even.
struct Tf32 {
  float value;
};

// The element for a random number, and the filler of the gap.
template <typename T>
__device__ T element(float drawn) {
  return static_cast<T>(drawn);
}
template <>
__device__ Tf32 element<Tf32>(float drawn) {
  const unsigned int bits = __float_as_uint(drawn);
  return {__uint_as_float((bits + 0xfffU + (bits >> 13 & 1U)) & ~0x1fffU)};
}
template <>
__device__ std::int8_t element<std::int8_t>(float drawn) {
  return static_cast<std::int8_t>(fminf(fmaxf(rintf(42 * drawn), -127.0F), 127.0F));
}

template <typename T>
__device__ T gap() {
  return element<T>(__int_as_float(0x7fc00000));
}
template <>
__device__ std::int8_t gap<std::int8_t>() {
  return -128;
}

template <typename T>
__global__ void fill_normal_kernel(T* matrix, std::int64_t rows, std::int64_t length, std::int64_t ld,
                                   std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < rows * ld;
       i += stride) {
    const std::int64_t row = i / ld;
    const std::int64_t position = i % ld;
    const std::uint64_t number = (seed << 40) + static_cast<std::uint64_t>(row * length + position) + 1;
    matrix[i] = position < length ? element<T>(normal(number)) : gap<T>();
  }
}

template <typename T>
__global__ void copy_as_f32_kernel(const T* elements, std::int64_t count, float* copies) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    copies[i] = static_cast<float>(elements[i]);
  }
}

template <typename T>
__global__ void copy_as_f16_kernel(const T* elements, std::int64_t count, __half* copies) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    copies[i] = static_cast<__half>(elements[i]);
  }
}

template <typename T>
__global__ void gate_pairs_kernel(const uint4* pairs, std::int64_t count, uint2* products) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const uint4 loaded = pairs[i];
    const auto* const elements = reinterpret_cast<const T*>(&loaded);
    uint2 stored;
    auto* const results = reinterpret_cast<T*>(&stored);
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const float gate = static_cast<float>(elements[2 * x]);
      results[x] =
          static_cast<T>(__fdividef(gate, 1.0F + __expf(-gate)) * static_cast<float>(elements[2 * x + 1]));
    }
    products[i] = stored;
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
__device__ bool is_poison(double value) {
  return __double_as_longlong(value) == -1;
}
__device__ bool is_poison(std::int32_t value) {
  return static_cast<std::uint32_t>(value) == 0x80808080U;
}

// |computed - expected|, infinity for a NaN. For integers it is 0 only if they are equal: float may round the
// difference, but never to 0.
template <typename T>
__device__ float error_of(T computed, float expected) {
  const float error = fabsf(static_cast<float>(computed) - expected);
  return isnan(error) ? __int_as_float(0x7f800000) : error;
}
__device__ float error_of(double computed, double expected) {
  const double error = fabs(computed - expected);
  return isnan(error) ? __int_as_float(0x7f800000) : static_cast<float>(error);
}
__device__ float error_of(std::int32_t computed, std::int32_t expected) {
  return fabsf(static_cast<float>(static_cast<std::int64_t>(computed) - expected));
}

// Toward expected's sign where positive.
template <typename T>
__device__ double signed_error(T computed, float expected) {
  const double error = static_cast<double>(static_cast<float>(computed)) - expected;
  return expected < 0 ? -error : expected > 0 ? error : 0;
}
__device__ double signed_error(double computed, double expected) {
  const double error = computed - expected;
  return expected < 0 ? -error : expected > 0 ? error : 0;
}
__device__ double signed_error(std::int32_t computed, std::int32_t expected) {
  const double error = static_cast<double>(computed) - expected;
  return expected < 0 ? -error : expected > 0 ? error : 0;
}

struct Totals {
  double error_squares, expected_squares, signed_errors, magnitudes;
  unsigned long long wrong, overwritten;
  unsigned int max_error, max_expected;  // bits of non-negative floats: integer order is float order
};

__global__ void clear_totals_kernel(Totals* totals) {
  *totals = Totals{};
}

template <typename T, typename Expected>
__global__ void compare_kernel(const T* computed, std::int64_t ldc, const Expected* expected, std::int64_t m,
                               std::int64_t n, float relative, float absolute, Totals* totals) {
  Totals mine{};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < m * ldc;
       i += stride) {
    const std::int64_t row = i / ldc;
    const std::int64_t column = i % ldc;
    if (column >= n) {
      mine.overwritten += is_poison(computed[i]) ? 0 : 1;
      continue;
    }
    const float error = error_of(computed[i], expected[row * n + column]);
    const float e = static_cast<float>(expected[row * n + column]);
    mine.wrong += error <= relative * fabsf(e) + absolute ? 0 : 1;
    mine.error_squares += static_cast<double>(error) * error;
    mine.expected_squares += static_cast<double>(e) * e;
    mine.signed_errors += signed_error(computed[i], expected[row * n + column]);
    mine.magnitudes += fabs(static_cast<double>(e));
    mine.max_error = max(mine.max_error, __float_as_uint(error));
    mine.max_expected = max(mine.max_expected, __float_as_uint(fabsf(e)));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    mine.error_squares += __shfl_down_sync(0xffffffffU, mine.error_squares, offset);
    mine.expected_squares += __shfl_down_sync(0xffffffffU, mine.expected_squares, offset);
    mine.signed_errors += __shfl_down_sync(0xffffffffU, mine.signed_errors, offset);
    mine.magnitudes += __shfl_down_sync(0xffffffffU, mine.magnitudes, offset);
    mine.wrong += __shfl_down_sync(0xffffffffU, mine.wrong, offset);
    mine.overwritten += __shfl_down_sync(0xffffffffU, mine.overwritten, offset);
    mine.max_error = max(mine.max_error, __shfl_down_sync(0xffffffffU, mine.max_error, offset));
    mine.max_expected = max(mine.max_expected, __shfl_down_sync(0xffffffffU, mine.max_expected, offset));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->error_squares, mine.error_squares);
    atomicAdd(&totals->expected_squares, mine.expected_squares);
    atomicAdd(&totals->signed_errors, mine.signed_errors);
    atomicAdd(&totals->magnitudes, mine.magnitudes);
    atomicAdd(&totals->wrong, mine.wrong);
    atomicAdd(&totals->overwritten, mine.overwritten);
    atomicMax(&totals->max_error, mine.max_error);
    atomicMax(&totals->max_expected, mine.max_expected);
  }
}

double float_of(unsigned int bits) {
  float value = 0;
  static_assert(sizeof value == sizeof bits, "a float is 32 bits");
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

struct DeviceMatrix {
  void* data;
  std::int64_t rows, length, ld;
};

template <typename T>
void fill_normal_as(const DeviceMatrix& matrix, std::uint64_t seed, cudaStream_t stream) {
  fill_normal_kernel<<<blocks, threads, 0, stream>>>(static_cast<T*>(matrix.data), matrix.rows, matrix.length,
                                                     matrix.ld, seed);
}

struct Tolerance {
  float relative, absolute;
};

template <typename T, typename Expected>
void compare_as(const DeviceMatrix& computed, const void* expected, const Tolerance& allowed, Totals* totals,
                cudaStream_t stream) {
  compare_kernel<<<blocks, threads, 0, stream>>>(static_cast<const T*>(computed.data), computed.ld,
                                                 static_cast<const Expected*>(expected), computed.rows,
                                                 computed.length, allowed.relative, allowed.absolute, totals);
}

}  // namespace

void fill_normal(void* matrix, Type type, std::int64_t rows, std::int64_t length, std::int64_t ld,
                 std::uint64_t seed, cudaStream_t stream) {
  const DeviceMatrix target{matrix, rows, length, ld};
  switch (type) {
    case Type::f16:
      fill_normal_as<__half>(target, seed, stream);
      break;
    case Type::bf16:
      fill_normal_as<__nv_bfloat16>(target, seed, stream);
      break;
    case Type::f32:
      fill_normal_as<float>(target, seed, stream);
      break;
    case Type::tf32:
      fill_normal_as<Tf32>(target, seed, stream);
      break;
    case Type::e4m3:
      fill_normal_as<__nv_fp8_e4m3>(target, seed, stream);
      break;
    case Type::e5m2:
      fill_normal_as<__nv_fp8_e5m2>(target, seed, stream);
      break;
    case Type::s8:
      fill_normal_as<std::int8_t>(target, seed, stream);
      break;
    case Type::f64:
      fill_normal_as<double>(target, seed, stream);
      break;
    case Type::s32:
      throw Failure("an operand is s32 but must be f16, bf16, f32, tf32, e4m3, e5m2, s8 or f64");
  }
  require(cudaGetLastError(), "filling an operand");
}

void copy_as_f16(const void* elements, Type type, std::int64_t count, void* copies, cudaStream_t stream) {
  __half* const halves = static_cast<__half*>(copies);
  if (type == Type::e4m3) {
    copy_as_f16_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __nv_fp8_e4m3*>(elements), count,
                                                       halves);
  } else if (type == Type::e5m2) {
    copy_as_f16_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __nv_fp8_e5m2*>(elements), count,
                                                       halves);
  } else {
    throw Failure(std::string("elements to copy as f16 are ") + name(type) + " but must be e4m3 or e5m2");
  }
  require(cudaGetLastError(), "copying an operand as f16");
}

void copy_as_f32(const void* elements, Type type, std::int64_t count, float* copies, cudaStream_t stream) {
  if (type == Type::f16) {
    copy_as_f32_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __half*>(elements), count, copies);
  } else if (type == Type::bf16) {
    copy_as_f32_kernel<<<blocks, threads, 0, stream>>>(static_cast<const __nv_bfloat16*>(elements), count,
                                                       copies);
  } else {
    throw Failure(std::string("elements to copy as f32 are ") + name(type) + " but must be f16 or bf16");
  }
  require(cudaGetLastError(), "copying a result as f32");
}

void gate_pairs(const void* pairs, Type type, std::int64_t count, void* products, cudaStream_t stream) {
  const auto* const from = static_cast<const uint4*>(pairs);
  auto* const to = static_cast<uint2*>(products);
  if (count % 8 != 0 || (type != Type::f16 && type != Type::bf16))
    throw Failure(std::string("elements to gate are ") + std::to_string(count) + " of " + name(type) +
                  " but must be a multiple of 8, in f16 or bf16");
  if (type == Type::f16) {
    gate_pairs_kernel<__half><<<blocks, threads, 0, stream>>>(from, count / 8, to);
  } else {
    gate_pairs_kernel<__nv_bfloat16><<<blocks, threads, 0, stream>>>(from, count / 8, to);
  }
  require(cudaGetLastError(), "gating pairs");
}

void poison(void* data, Type type, std::size_t bytes, cudaStream_t stream) {
  require(cudaMemsetAsync(data, type == Type::s32 ? 0x80 : 0xff, bytes, stream), "poisoning the output");
}

Comparison compare(const void* computed, Type type, std::int64_t ldc, const void* expected, std::int64_t m,
                   std::int64_t n, double relative, double absolute, cudaStream_t stream) {
  DeviceBuffer buffer;
  Totals* totals = static_cast<Totals*>(buffer.reserve(sizeof(Totals)));
  clear_totals_kernel<<<1, 1, 0, stream>>>(totals);
  const DeviceMatrix result{const_cast<void*>(computed), m, n, ldc};
  const Tolerance allowed{static_cast<float>(relative), static_cast<float>(absolute)};
  switch (type) {
    case Type::f16:
      compare_as<__half, float>(result, expected, allowed, totals, stream);
      break;
    case Type::bf16:
      compare_as<__nv_bfloat16, float>(result, expected, allowed, totals, stream);
      break;
    case Type::f32:
      compare_as<float, float>(result, expected, allowed, totals, stream);
      break;
    case Type::s32:
      compare_as<std::int32_t, std::int32_t>(result, expected, allowed, totals, stream);
      break;
    case Type::f64:
      compare_as<double, double>(result, expected, allowed, totals, stream);
      break;
    default:
      throw Failure(std::string("a result is ") + name(type) + " but must be f16, bf16, f32, s32 or f64");
  }
  require(cudaGetLastError(), "comparing the result");
  Totals host{};
  require(cudaMemcpyAsync(&host, totals, sizeof host, cudaMemcpyDeviceToHost, stream),
          "comparing the result");
  require(cudaStreamSynchronize(stream), "comparing the result");
  Comparison comparison;
  comparison.max_error = float_of(host.max_error);
  comparison.max_expected = float_of(host.max_expected);
  comparison.relative_error =
      host.expected_squares > 0 ? std::sqrt(host.error_squares / host.expected_squares) : 0;
  comparison.bias = host.magnitudes > 0 ? host.signed_errors / host.magnitudes : 0;
  comparison.wrong = host.wrong;
  comparison.overwritten = host.overwritten;
  return comparison;
}

}  // namespace tenon::microbench
