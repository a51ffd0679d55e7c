// The exact product on the device: FP64 accumulators, one element a thread, from shared tiles of 16 x 16.
//
// Products of two operands of up to 24 bits are exact in FP64 and their sum is as good as exact (k 2^-53; of
// s8 it is exact). The largest prefix and product are kept as the upper 32 bits of a double, whose order is
// that of the integers: one integer maximum each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "command_line/check.hpp"

namespace tenon::command {
namespace {

constexpr int tile = 16;
static_assert(promoted_chunk % tile == 0);

// The part of a float that the tensor core reads.
struct Tf32 {
  unsigned bits;
  __device__ explicit operator float() const { return __uint_as_float(bits & ~0x1FFFU); }
};

// least_normal() of an element type; 0 of all but fp8.
template <typename T>
constexpr double least = 0.0;
template <>
constexpr double least<__nv_fp8_e4m3> = least_normal(Type::e4m3);
template <>
constexpr double least<__nv_fp8_e5m2> = least_normal(Type::e5m2);

template <typename T>
struct Strided {
  const T* data;
  std::int64_t row_stride, column_stride;

  __device__ double at(std::int64_t row, std::int64_t column) const {
    const T& element = data[row * row_stride + column * column_stride];
    if constexpr (std::is_same_v<T, double>) {
      return element;
    } else {
      return static_cast<double>(static_cast<float>(element));
    }
  }
};

// Above every finite double with these upper 32 bits; infinity and NaN stay.
__device__ double upper_limit(int high) {
  return high >= 0x7FF00000 ? __hiloint2double(high, 0) : __hiloint2double(high + 1, 0);
}

template <typename A, typename B>
__global__ void dot_kernel(Strided<A> a, Strided<B> b, std::int64_t first, std::int64_t count, std::int64_t n,
                           std::int64_t k, DotProduct* dots) {
  constexpr bool fp8 = least<A> != 0.0;  // then aligned_magnitude() and promoted chunks matter
  __shared__ double a_tile[tile][tile + 1],
      b_tile[tile][tile + 1];  // [row][k], [k][column]; + 1: no bank conflict
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t column0 = std::int64_t{blockIdx.x} * tile, row0 = std::int64_t{blockIdx.y} * tile;
  // Neighbouring threads read neighbouring addresses, whichever way the operand lies.
  const int a_row = a.column_stride == 1 ? y : x, a_k = a.column_stride == 1 ? x : y;
  const int b_k = b.column_stride == 1 ? y : x, b_column = b.column_stride == 1 ? x : y;

  double sum = 0.0, before_chunk = 0.0, chunk_magnitudes = 0.0;
  int largest_prefix = 0, largest_product = 0, in_chunk = 0;
  for (std::int64_t k0 = 0; k0 < k; k0 += tile) {
    if (fp8 && k0 % promoted_chunk == 0) {
      chunk_magnitudes += upper_limit(in_chunk);
      before_chunk = sum;
      in_chunk = 0;
    }
    const bool a_inside = row0 + a_row < count && k0 + a_k < k;
    const bool b_inside = column0 + b_column < n && k0 + b_k < k;
    a_tile[a_row][a_k] = a_inside ? a.at(first + row0 + a_row, k0 + a_k) : 0.0;
    b_tile[b_k][b_column] = b_inside ? b.at(k0 + b_k, column0 + b_column) : 0.0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < tile; ++i) {
      const double product = a_tile[y][i] * b_tile[i][x];
      sum += product;
      largest_prefix = max(largest_prefix, __double2hiint(sum) & 0x7FFFFFFF);
      double aligned = product;
      if constexpr (fp8) {
        if (product != 0.0) aligned = fmax(fabs(a_tile[y][i]), least<A>) * fmax(fabs(b_tile[i][x]), least<B>);
      }
      const int magnitude = __double2hiint(aligned) & 0x7FFFFFFF;
      largest_product = max(largest_product, magnitude);
      if constexpr (fp8) {
        in_chunk = max(in_chunk, max(magnitude, __double2hiint(sum - before_chunk) & 0x7FFFFFFF));
      }
    }
    __syncthreads();
  }
  if (row0 + y < count && column0 + x < n) {
    DotProduct& dot = dots[(row0 + y) * n + column0 + x];
    dot.sum = sum;
    dot.largest_prefix = upper_limit(largest_prefix);
    dot.largest_product = upper_limit(largest_product);
    dot.chunk_magnitudes = fp8 ? chunk_magnitudes + upper_limit(in_chunk) : 0.0;
  }
}

template <typename T>
Strided<T> strided(const ConstMatrix& x) {
  return {static_cast<const T*>(x.data), x.order == row_major ? x.ld : 1, x.order == row_major ? 1 : x.ld};
}

template <typename A, typename B>
void launch(const Gemm& p, std::int64_t first, std::int64_t count, DotProduct* dots) {
  // Rows in slices: a grid is at most 65535 blocks high.
  constexpr std::int64_t most_rows = std::int64_t{65535} * tile;
  for (std::int64_t row = 0; row < count; row += most_rows) {
    const std::int64_t rows = std::min(most_rows, count - row);
    const dim3 grid(static_cast<unsigned>((p.n + tile - 1) / tile),
                    static_cast<unsigned>((rows + tile - 1) / tile));
    dot_kernel<<<grid, dim3(tile, tile)>>>(strided<A>(p.a), strided<B>(p.b), first + row, rows, p.n, p.k,
                                           dots + row * p.n);
    require_cuda(cudaGetLastError(), "the launch of the check");
  }
}

void launch(const Gemm& p, std::int64_t first, std::int64_t count, DotProduct* dots) {
  switch (p.a.type) {
    case Type::f16:
      return launch<__half, __half>(p, first, count, dots);
    case Type::bf16:
      return launch<__nv_bfloat16, __nv_bfloat16>(p, first, count, dots);
    case Type::tf32:
      return launch<Tf32, Tf32>(p, first, count, dots);
    case Type::s8:
      return launch<std::int8_t, std::int8_t>(p, first, count, dots);
    case Type::e4m3:
      return p.b.type == Type::e4m3 ? launch<__nv_fp8_e4m3, __nv_fp8_e4m3>(p, first, count, dots)
                                    : launch<__nv_fp8_e4m3, __nv_fp8_e5m2>(p, first, count, dots);
    case Type::e5m2:
      return p.b.type == Type::e4m3 ? launch<__nv_fp8_e5m2, __nv_fp8_e4m3>(p, first, count, dots)
                                    : launch<__nv_fp8_e5m2, __nv_fp8_e5m2>(p, first, count, dots);
    case Type::f64:
      return launch<double, double>(p, first, count, dots);
    case Type::f32:
    case Type::s32:
      break;  // validate() lets no such operand pass
  }
}

}  // namespace

void device_dot_products(Device& cuda, const Gemm& problem, std::int64_t first, std::int64_t count,
                         std::vector<DotProduct>* dots) {
  dots->resize(static_cast<std::size_t>(count * problem.n));
  const DeviceBuffer buffer(cuda, "the check", dots->size() * sizeof(DotProduct));
  launch(problem, first, count, static_cast<DotProduct*>(buffer.get()));
  buffer.download(dots->data(), dots->size() * sizeof(DotProduct));
}

}  // namespace tenon::command
