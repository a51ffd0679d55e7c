// The definition of the product, one thread for each element: 2 k loads from global memory for k FFMA.
#include "reference/launch.cuh"
#include "reference/launch.hpp"
#include "reference/matrix.cuh"

namespace tenon::reference {
namespace {

// A block is 8 rows of 32 columns: the lanes of a warp share the row of A and read neighbouring columns of B.
constexpr int block_rows = 8;
constexpr int block_columns = 32;
constexpr int threads = block_rows * block_columns;

template <class T>
__global__ void __launch_bounds__(threads)
    naive_f32_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Operand<T> a, Operand<T> b, Result c) {
  const std::int64_t blocks_across = ceil_div(n, block_columns);
  const std::int64_t row = blockIdx.x / blocks_across * block_rows + threadIdx.y;
  const std::int64_t column = blockIdx.x % blocks_across * block_columns + threadIdx.x;
  if (row >= m || column >= n) return;

  float sum = 0.0F;
  for (std::int64_t p = 0; p < k; ++p) sum = fmaf(a(row, p), b(p, column), sum);
  c.store(row, column, sum);
}

template <class T>
Status run(const Gemm& p, CUstream_st* stream) {
  return launch(naive_f32_kernel<T>, ceil_div(p.m, block_rows) * ceil_div(p.n, block_columns),
                dim3(block_columns, block_rows), stream, p.m, p.n, p.k, Operand<T>(p.a), Operand<T>(p.b),
                Result(p));
}

}  // namespace

Status launch_naive_f32(const Gemm& problem, CUstream_st* stream) noexcept {
  switch (problem.a.type) {
    case Type::f16:
      return run<__half>(problem, stream);
    case Type::bf16:
      return run<__nv_bfloat16>(problem, stream);
    default:
      return run<float>(problem, stream);
  }
}

}  // namespace tenon::reference
