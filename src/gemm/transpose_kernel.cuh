// Transposing copies: lines become columns, by tiles of 64 x 64 elements through shared memory. See pad.hpp.
//
// Of 16-bit elements a thread loads 16 bytes at a time, as pad_kernel.cuh does, and a warp stores half a line
// of a cache of the copy. Below: pad_kernel.cuh.
#pragma once

#include "gemm/pad_kernel.cuh"

namespace tenon {
namespace transpose {

constexpr int edge = 64, block_threads = 512;

struct Task {
  const void* source;
  std::int64_t lines, length, ld;
  void* destination;
  std::int64_t destination_ld;
  std::int64_t destination_length;  // of a line of the copy, >= lines: zeros between them
};

// Calls f(line, column) for the tiles of the source that this block takes. Grid: tiles along the source's
// lines, tiles down them; both walk on by the grid.
template <class F>
__device__ __forceinline__ void for_each_tile(const Task& task, const F& f) {
  for (std::int64_t line = std::int64_t{blockIdx.y} * edge; line < task.destination_length;
       line += std::int64_t{gridDim.y} * edge) {
    for (std::int64_t column = std::int64_t{blockIdx.x} * edge; column < task.length;
         column += std::int64_t{gridDim.x} * edge) {
      __syncthreads();  // the last tile has been read
      f(line, column);
    }
  }
}

// Elements of 1 or 4 bytes.
template <class Word>
__device__ __forceinline__ void copy_elements(const Task& task) {
  __shared__ Word tile[edge][edge + 4 / sizeof(Word)];  // a line's end is moved on by a bank
  const auto* const source = static_cast<const Word*>(task.source);
  auto* const destination = static_cast<Word*>(task.destination);
  const int x = static_cast<int>(threadIdx.x) % edge, y = static_cast<int>(threadIdx.x) / edge;
  constexpr int step = block_threads / edge;
  for_each_tile(task, [&](std::int64_t line0, std::int64_t column0) {
#pragma unroll 4
    for (int i = y; i < edge; i += step) {
      const std::int64_t line = line0 + i, column = column0 + x;
      tile[i][x] = line < task.lines && column < task.length ? source[line * task.ld + column] : Word{0};
    }
    __syncthreads();
#pragma unroll 4
    for (int i = y; i < edge; i += step) {
      const std::int64_t line = column0 + i, column = line0 + x;  // of the copy
      if (line < task.length && column < task.destination_length)
        destination[line * task.destination_ld + column] = tile[x][i];
    }
  });
}

}  // namespace transpose
}  // namespace tenon
