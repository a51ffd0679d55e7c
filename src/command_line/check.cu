// The exact product on the device: FP64 sums of 16-bit operands, one element a thread, from shared tiles of
// 16 x 16.
//
// Products of two 16-bit floats are exact in FP64 and their sum is as good as exact (k 2^-53). The largest
// prefix and product are kept as the upper 32 bits of a double, whose order is that of the integers: one
// integer maximum each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "command_line/check.hpp"

namespace tenon::command {
namespace {

constexpr int tile = 16;

template <typename T>
struct Strided {
  const T* data;
  std::int64_t row_stride, column_stride;

  __device__ double at(std::int64_t row, std::int64_t column) const {
    return static_cast<double>(static_cast<float>(data[row * row_stride + column * column_stride]));
  }
};

// Above every finite double with these upper 32 bits; infinity and NaN stay.
__device__ double upper_limit(int high) {
  return high >= 0x7FF00000 ? __hiloint2double(high, 0) : __hiloint2double(high + 1, 0);
}

template <typename T>
__global__ void dot_kernel(Strided<T> a, Strided<T> b, std::int64_t first, std::int64_t count, std::int64_t n,
                           std::int64_t k, DotProduct* dots) {
  __shared__ double a_tile[tile][tile + 1],
      b_tile[tile][tile + 1];  // [row][k], [k][column]; + 1: no bank conflict
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t column0 = std::int64_t{blockIdx.x} * tile, row0 = std::int64_t{blockIdx.y} * tile;
  // Neighbouring threads read neighbouring addresses, whichever way the operand lies.
  const int a_row = a.column_stride == 1 ? y : x, a_k = a.column_stride == 1 ? x : y;
  const int b_k = b.column_stride == 1 ? y : x, b_column = b.column_stride == 1 ? x : y;

  double sum = 0.0;
  int largest_prefix = 0, largest_product = 0;
  for (std::int64_t k0 = 0; k0 < k; k0 += tile) {
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
      largest_product = max(largest_product, __double2hiint(product) & 0x7FFFFFFF);
    }
    __syncthreads();
  }
  if (row0 + y < count && column0 + x < n) {
    DotProduct& dot = dots[(row0 + y) * n + column0 + x];
    dot.sum = sum;
    dot.largest_prefix = upper_limit(largest_prefix);
    dot.largest_product = upper_limit(largest_product);
  }
}

template <typename T>
void launch(const Gemm& p, std::int64_t first, std::int64_t count, DotProduct* dots) {
  const auto strided = [](const ConstMatrix& x) {
    return Strided<T>{static_cast<const T*>(x.data), x.order == row_major ? x.ld : 1,
                      x.order == row_major ? 1 : x.ld};
  };
  // Rows in slices: a grid is at most 65535 blocks high.
  constexpr std::int64_t most_rows = std::int64_t{65535} * tile;
  for (std::int64_t row = 0; row < count; row += most_rows) {
    const std::int64_t rows = std::min(most_rows, count - row);
    const dim3 grid(static_cast<unsigned>((p.n + tile - 1) / tile),
                    static_cast<unsigned>((rows + tile - 1) / tile));
    dot_kernel<T><<<grid, dim3(tile, tile)>>>(strided(p.a), strided(p.b), first + row, rows, p.n, p.k,
                                              dots + row * p.n);
    require_cuda(cudaGetLastError(), "the launch of the check");
  }
}

}  // namespace

void device_dot_products(Device& cuda, const Gemm& problem, std::int64_t first, std::int64_t count,
                         std::vector<DotProduct>* dots) {
  dots->resize(static_cast<std::size_t>(count * problem.n));
  const DeviceBuffer buffer(cuda, "the check", dots->size() * sizeof(DotProduct));
  if (problem.a.type == Type::f16) {
    launch<__half>(problem, first, count, static_cast<DotProduct*>(buffer.get()));
  } else {
    launch<__nv_bfloat16>(problem, first, count, static_cast<DotProduct*>(buffer.get()));
  }
  buffer.download(dots->data(), dots->size() * sizeof(DotProduct));
}

}  // namespace tenon::command
