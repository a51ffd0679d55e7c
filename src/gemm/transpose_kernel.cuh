// Transposing copies of elements of 1 or 4 bytes: rows become columns, by tiles of 64 x 64 elements through
// shared memory. See pad.hpp. Below: pad_kernel.cuh.
#pragma once

#include "gemm/pad_kernel.cuh"

namespace tenon {
namespace transpose {

constexpr int edge = 64, block_threads = 512;

struct Task {
  const void* source;
  std::int64_t rows, length, ld;
  void* destination;
  std::int64_t destination_ld;
  std::int64_t destination_length;  // of a row of the copy, >= rows; elements from `rows` on become zero
};

// Calls f(row, column) for the tiles of the source that this CTA copies. Grid: x along the source's rows, y
// over the rows, both with a grid stride.
template <class F>
__device__ __forceinline__ void for_each_tile(const Task& task, const F& f) {
  for (std::int64_t row = std::int64_t{blockIdx.y} * edge; row < task.destination_length;
       row += std::int64_t{gridDim.y} * edge) {
    for (std::int64_t column = std::int64_t{blockIdx.x} * edge; column < task.length;
         column += std::int64_t{gridDim.x} * edge) {
      __syncthreads();  // the last tile has been read
      f(row, column);
    }
  }
}

// Elements of 1 or 4 bytes.
template <class Word>
__device__ __forceinline__ void copy_elements(const Task& task) {
  __shared__ Word tile[edge][edge + 4 / sizeof(Word)];  // padded: each row begins one bank later
  const auto* const source = static_cast<const Word*>(task.source);
  auto* const destination = static_cast<Word*>(task.destination);
  const int x = static_cast<int>(threadIdx.x) % edge, y = static_cast<int>(threadIdx.x) / edge;
  constexpr int step = block_threads / edge;
  for_each_tile(task, [&](std::int64_t row0, std::int64_t column0) {
#pragma unroll 4
    for (int i = y; i < edge; i += step) {
      const std::int64_t row = row0 + i, column = column0 + x;
      tile[i][x] = row < task.rows && column < task.length ? source[row * task.ld + column] : Word{0};
    }
    __syncthreads();
#pragma unroll 4
    for (int i = y; i < edge; i += step) {
      const std::int64_t row = column0 + i, column = row0 + x;  // of the copy
      if (row < task.length && column < task.destination_length)
        destination[row * task.destination_ld + column] = tile[x][i];
    }
  });
}

}  // namespace transpose
}  // namespace tenon
