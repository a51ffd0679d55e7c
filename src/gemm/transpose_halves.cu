// The transposing copy of 16-bit elements on sm_90: lines become columns, at memory speed, whatever the
// alignment of either. See pad.hpp.
//
// TMA brings tiles of the source, though it begins at multiples of 16 bytes alone: every eighth
// line lies equally, so that eight maps reach all of them, up to 7 elements further right than where their
// tile begins. Threads gather 8 lines of a column and store them as 16 bytes. What one of them stores with
// its neighbours is a line of the L2: where lines of the copy begin between two such, so do the tiles of
// their columns, some lines earlier. Below: tenon/gemm/row_interleaved_maps.hpp, pipeline/tma_ring.hpp.
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/pad.hpp"
#include "tenon/gemm/row_interleaved_maps.hpp"
#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {
namespace transpose {

struct HalvesTask {
  std::int64_t length;  // of a line of the source: lines of the copy
  int lines;            // of the source
  int shift, ld_mod_8;  // line i of the source begins at element (shift + i * ld_mod_8) % 8 of its map
  std::uint16_t* destination;
  std::int64_t destination_ld;
  std::int64_t destination_length;  // of a line of the copy: what the source has no line for is zero
};

// Lead: lines of a box before those of a tile, which tiles may begin earlier by; 0 where lines of the copy
// begin at multiples of 128 bytes.
template <int Lead>
struct Halves {
  static constexpr int lines = 64, columns = 64, threads = 256;  // of a tile, of a CTA
  static constexpr int box_lines = (Lead + lines) / 8, box_columns = columns + 8;

  struct Shared {
    static constexpr int box_elements = (box_lines * box_columns + 63) / 64 * 64;  // whole 128 bytes
    alignas(128) std::uint16_t box[8][box_elements];
    alignas(8) std::uint8_t barriers[TmaRing<1>::bytes];
  };

  // By all threads of a CTA. Grid: tiles along the source's lines, tiles down them; both walk on by it.
  __device__ __forceinline__ static void run(const RowInterleavedMaps& maps, const HalvesTask& task,
                                             Shared& shared) {
    const TmaRing<1> ring(reinterpret_cast<std::uint64_t*>(shared.barriers));
    if (works_for_warp(0)) {
      ring.initialize(1);
      for (const TensorMap& map : maps.view) prefetch_map(map);
    }
    __syncthreads();
    // Of a column's chunks of 8 lines a quarter of a warp has 8, then comes the next column.
    const int thread = static_cast<int>(threadIdx.x);
    const int chunk = thread % 8 + thread / (8 * step) * 8, column = thread / 8 % step;
    std::uint16_t* const to = task.destination + column * task.destination_ld + 8 * chunk;
    // A thread's columns are a multiple of 8 apart: lines of the copy begin alike, but for whole chunks.
    const int within = Lead == 0 ? 0 : place(to) % 8;
    int from[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int line = Lead + 8 * chunk - within + i, eighth = line % 8;
      from[i] = eighth * Shared::box_elements + line / 8 * box_columns + column +
                (task.shift + eighth * task.ld_mod_8) % 8;
    }
    if (works_for_warp(0)) {  // of the first tile, while the kernel before this one ends
      for (int i = 0; i < 8; ++i) {
        if (i < task.lines)
          prefetch_box(maps.view[i], (static_cast<int>(blockIdx.y) * lines - Lead) / 8,
                       static_cast<int>(blockIdx.x) * columns);
      }
    }
    cudaGridDependencySynchronize();
    Stage<1> stage;
    for (std::int64_t line0 = std::int64_t{blockIdx.y} * lines; line0 < end(task.destination_length);
         line0 += std::int64_t{gridDim.y} * lines) {
      for (std::int64_t column0 = std::int64_t{blockIdx.x} * columns; column0 < task.length;
           column0 += std::int64_t{gridDim.x} * columns) {
        if (works_for_warp(0)) {
          ring.expect(stage, 8 * box_lines * box_columns * 2);
          for (int i = 0; i < 8; ++i) {
            // An eighth without a line has a map of another one: beyond it, where all is zero.
            const auto first = static_cast<int>((line0 - Lead) / 8) + (i < task.lines ? 0 : box_lines);
            copy_box(shared.box[i], maps.view[i], first, static_cast<int>(column0), ring.full_barrier(stage));
          }
        }
        ring.wait_full(stage);
        stage = stage.next();
        std::uint16_t* at = to + (column0 * task.destination_ld + line0);
#pragma unroll
        for (int i = 0; i < rounds; ++i) {
          const int before = Lead == 0 ? 0 : (place(at) - 8 * chunk) & 63;
          const std::uint16_t* const tile = shared.box[0] + i * step - (before - within) / 8 * box_columns;
          std::uint16_t element[8];
#pragma unroll
          for (int x = 0; x < 8; ++x) element[x] = tile[from[x]];
          if (column0 + column + i * step < task.length)
            store(at - before, element, line0 + 8 * chunk - before, task.destination_length);
          at += step * task.destination_ld;
        }
        __syncthreads();
      }
    }
  }

  // Where tiles end that may begin earlier.
  __host__ __device__ static std::int64_t end(std::int64_t destination_length) {
    return destination_length + (Lead == 0 ? 0 : Lead - 1);
  }

 private:
  static constexpr int chunks = lines / 8, step = threads / chunks, rounds = columns / step;
  static_assert(step % 8 == 0 && columns % step == 0 && chunks % 8 == 0,
                "Halves: a thread's columns must be a multiple of 8 apart");
  static_assert(Lead == 0 || Lead == 64, "Halves: tiles begin anywhere within 128 bytes, or at their start");

  // In elements, within 128 bytes.
  __device__ __forceinline__ static int place(const std::uint16_t* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) / 2 % 64);
  }

  // Lines line to line + 7 of a column, as far as the copy has them.
  __device__ __forceinline__ static void store(std::uint16_t* to, const std::uint16_t (&element)[8],
                                               std::int64_t line, std::int64_t end) {
    if (line >= 0 && line + 8 <= end) {
      const auto pair = [&](int i) { return element[i] | static_cast<unsigned>(element[i + 1]) << 16; };
      *reinterpret_cast<uint4*>(to) = make_uint4(pair(0), pair(2), pair(4), pair(6));
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (line + i >= 0 && line + i < end) to[i] = element[i];
      }
    }
  }
};

using ToLines = Halves<0>;
using ToAnywhere = Halves<64>;

// extern "C": the names of their entries in PTX.
extern "C" __global__ void __launch_bounds__(ToLines::threads)
    tenon_transpose_halves(const __grid_constant__ RowInterleavedMaps maps,
                           const __grid_constant__ HalvesTask task) {
  __shared__ ToLines::Shared shared;
  cudaTriggerProgrammaticLaunchCompletion();
  ToLines::run(maps, task, shared);
}
extern "C" __global__ void __launch_bounds__(ToAnywhere::threads)
    tenon_transpose_halves_to_anywhere(const __grid_constant__ RowInterleavedMaps maps,
                                       const __grid_constant__ HalvesTask task) {
  __shared__ ToAnywhere::Shared shared;
  cudaTriggerProgrammaticLaunchCompletion();
  ToAnywhere::run(maps, task, shared);
}

namespace {

template <class Halves_>
Status launch_halves(Launcher& launcher, const PadCopy& c, const HalvesTask& task, Launch& launch) noexcept {
  RowInterleavedMaps maps;
  if (Status s = make_row_interleaved_maps(launcher, {c.source, c.ld, row_major, Type::f16}, task.lines,
                                           static_cast<int>(c.length), Halves_::box_lines,
                                           Halves_::box_columns, &maps);
      !s) {
    return s;
  }
  constexpr std::int64_t most_blocks_across = 1024, most_blocks_down = 1024;  // each walks on
  const auto tiles = [](std::int64_t extent, int of) { return (extent + of - 1) / of; };
  launch.grid = {static_cast<unsigned>(std::min(tiles(c.length, Halves_::columns), most_blocks_across)),
                 static_cast<unsigned>(std::min(tiles(Halves_::end(task.destination_length), Halves_::lines),
                                                most_blocks_down))};
  launch.block = {Halves_::threads};
  launch.arguments.set(maps, task);
  return launcher.launch(launch);
}

}  // namespace
}  // namespace transpose

Status transpose_halves(Launcher& launcher, const PadCopy& c, std::int64_t ld, std::int64_t length) noexcept {
  using namespace transpose;
  const HalvesTask task{c.length,
                        static_cast<int>(c.lines),
                        static_cast<int>(reinterpret_cast<std::uintptr_t>(c.source) % 16 / 2),
                        static_cast<int>(c.ld % 8),
                        static_cast<std::uint16_t*>(c.destination),
                        ld,
                        length};
  Launch launch;
  launch.what = "a transposing copy";
  launch.ptx = "transpose_halves";
  launch.overlaps_previous = true;
  if (reinterpret_cast<std::uintptr_t>(c.destination) % 128 == 0 && ld % 64 == 0) {
    launch.function = reinterpret_cast<const void*>(&tenon_transpose_halves);
    launch.entry = "tenon_transpose_halves";
    return launch_halves<ToLines>(launcher, c, task, launch);
  }
  launch.function = reinterpret_cast<const void*>(&tenon_transpose_halves_to_anywhere);
  launch.entry = "tenon_transpose_halves_to_anywhere";
  return launch_halves<ToAnywhere>(launcher, c, task, launch);
}

}  // namespace tenon
