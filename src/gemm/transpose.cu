// The transposing copy of pad.hpp: lines become columns, by tiles of 64 x 64 elements through shared memory,
// so that both sides move whole 16 bytes or a row of a warp's at a time.
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/pad.hpp"

namespace tenon {
namespace transpose {

constexpr int edge = 64, block_threads = 256;

struct Task {
  const void* source;
  std::int64_t lines, length, ld;
  void* destination;
  std::int64_t destination_ld;  // >= lines; between them zeros
};

// Grid: tiles along the source's lines, tiles down them; both walk on by the grid.
template <class Word>
__device__ __forceinline__ void copy_tiles(const Task& task) {
  __shared__ Word tile[edge][edge + 4 / sizeof(Word)];  // a line's end is moved on by a bank
  const auto* const source = static_cast<const Word*>(task.source);
  auto* const destination = static_cast<Word*>(task.destination);
  const int x = static_cast<int>(threadIdx.x) % edge, y = static_cast<int>(threadIdx.x) / edge;
  constexpr int step = block_threads / edge;
  for (std::int64_t line0 = std::int64_t{blockIdx.y} * edge; line0 < task.destination_ld;
       line0 += std::int64_t{gridDim.y} * edge) {
    for (std::int64_t column0 = std::int64_t{blockIdx.x} * edge; column0 < task.length;
         column0 += std::int64_t{gridDim.x} * edge) {
      __syncthreads();  // the last tile has been read
#pragma unroll 4
      for (int i = y; i < edge; i += step) {
        const std::int64_t line = line0 + i, column = column0 + x;
        tile[i][x] = line < task.lines && column < task.length ? source[line * task.ld + column] : Word{0};
      }
      __syncthreads();
#pragma unroll 4
      for (int i = y; i < edge; i += step) {
        const std::int64_t line = column0 + i, column = line0 + x;  // of the copy
        if (line < task.length && column < task.destination_ld)
          destination[line * task.destination_ld + column] = tile[x][i];
      }
    }
  }
}

// extern "C": the names of their entries in PTX.
extern "C" __global__ void __launch_bounds__(block_threads) tenon_transpose_1(const Task task) {
  copy_tiles<std::uint8_t>(task);
}
extern "C" __global__ void __launch_bounds__(block_threads) tenon_transpose_4(const Task task) {
  copy_tiles<std::uint32_t>(task);
}

}  // namespace transpose

Status transpose_copy(Launcher& launcher, const PadCopy& copy) noexcept {
  using namespace transpose;
  constexpr std::int64_t most_blocks_across = 1024, most_blocks_down = 1024;  // each walks on
  const std::int64_t ld = padded_ld(copy.lines, copy.element_bytes);
  const auto tiles = [](std::int64_t x) { return (x + edge - 1) / edge; };
  const bool bytes = copy.element_bytes == 1;
  Launch launch;
  launch.what = "the transposing copy of an operand into the workspace";
  launch.function = bytes ? reinterpret_cast<const void*>(&tenon_transpose_1)
                          : reinterpret_cast<const void*>(&tenon_transpose_4);
  launch.ptx = "transpose";
  launch.entry = bytes ? "tenon_transpose_1" : "tenon_transpose_4";
  launch.grid = {static_cast<unsigned>(std::min(tiles(copy.length), most_blocks_across)),
                 static_cast<unsigned>(std::min(tiles(ld), most_blocks_down))};
  launch.block = {block_threads};
  launch.arguments.set(Task{copy.source, copy.lines, copy.length, copy.ld, copy.destination, ld});
  return launcher.launch(launch);
}

}  // namespace tenon
