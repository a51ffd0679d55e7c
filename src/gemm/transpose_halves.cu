// The transposing copy of 16-bit elements on sm_90: rows become columns, at memory speed, for any alignment
// of source and copy. See pad.hpp.
//
// TMA loads tiles of the source through eight row-interleaved (stride-8) views, since it needs addresses that
// are multiples of 16 bytes. It reads the rows of a view up to 7 elements too early. Threads gather 8 rows of
// a column and store them as 16 bytes. Adjacent threads together store an L2 line. If rows of the copy do not
// begin on L2 lines, the tile of each column begins some rows earlier, so that its stores begin on one.
// Below: tenon/gemm/row_interleaved_maps.hpp, pipeline/tma_ring.hpp.
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/pad.hpp"
#include "tenon/gemm/row_interleaved_maps.hpp"
#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {
namespace transpose {

struct HalvesTask {
  std::int64_t length;  // of a row of the source; the number of rows of the copy
  int rows;             // of the source
  int shift, ld_mod_8;  // row i of the source begins at element (shift + i * ld_mod_8) % 8 of its map
  std::uint16_t* destination;
  std::int64_t destination_ld;
  std::int64_t destination_length;  // of a row of the copy; elements beyond the source's rows become zero
};

// Lead: rows of a box before the tile, by which a column's tile may begin earlier; 0 if rows of the copy
// begin at multiples of 128 bytes.
template <int Lead>
struct Halves {
  static constexpr int rows = 64, columns = 64, threads = 256;  // of a tile, of a CTA
  static constexpr int box_rows = (Lead + rows) / 8, box_columns = columns + 8;

  struct Shared {
    static constexpr int box_elements = (box_rows * box_columns + 63) / 64 * 64;  // whole 128 bytes
    alignas(128) std::uint16_t box[8][box_elements];
    alignas(8) std::uint8_t barriers[TmaRing<1>::bytes];
  };

  // By all threads of a CTA. Grid: x along the source's rows, y over the rows, both with a grid stride.
  __device__ __forceinline__ static void run(const RowInterleavedMaps& maps, const HalvesTask& task,
                                             Shared& shared) {
    const TmaRing<1> ring(reinterpret_cast<std::uint64_t*>(shared.barriers));
    if (works_for_warp(0)) {
      ring.initialize(1);
      for (const TensorMap& map : maps.view) prefetch_map(map);
    }
    __syncthreads();
    // Eight consecutive lanes have 8 chunks of a column, each of 8 rows; the next eight lanes have the next
    // column.
    const int thread = static_cast<int>(threadIdx.x);
    const int chunk = thread % 8 + thread / (8 * step) * 8, column = thread / 8 % step;
    std::uint16_t* const to = task.destination + column * task.destination_ld + 8 * chunk;
    // A thread's columns differ by multiples of 8, so their rows of the copy have the same offset within a
    // chunk.
    const int within = Lead == 0 ? 0 : place(to) % 8;
    int from[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = Lead + 8 * chunk - within + i, view = row % 8;
      from[i] = view * Shared::box_elements + row / 8 * box_columns + column +
                (task.shift + view * task.ld_mod_8) % 8;
    }
    if (works_for_warp(0)) {  // prefetches the first tile while the kernel before this one ends
      for (int i = 0; i < 8; ++i) {
        if (i < task.rows)
          prefetch_box(maps.view[i], (static_cast<int>(blockIdx.y) * rows - Lead) / 8,
                       static_cast<int>(blockIdx.x) * columns);
      }
    }
    cudaGridDependencySynchronize();
    Stage<1> stage;
    for (std::int64_t row0 = std::int64_t{blockIdx.y} * rows; row0 < end(task.destination_length);
         row0 += std::int64_t{gridDim.y} * rows) {
      for (std::int64_t column0 = std::int64_t{blockIdx.x} * columns; column0 < task.length;
           column0 += std::int64_t{gridDim.x} * columns) {
        if (works_for_warp(0)) {
          ring.expect(stage, 8 * box_rows * box_columns * 2);
          for (int i = 0; i < 8; ++i) {
            // A view without rows has the map of another view: load from beyond that one, where all is zero.
            const auto first = static_cast<int>((row0 - Lead) / 8) + (i < task.rows ? 0 : box_rows);
            copy_box(shared.box[i], maps.view[i], first, static_cast<int>(column0), ring.full_barrier(stage));
          }
        }
        ring.wait_full(stage);
        stage = stage.next();
        std::uint16_t* at = to + (column0 * task.destination_ld + row0);
#pragma unroll
        for (int i = 0; i < passes; ++i) {
          const int before = Lead == 0 ? 0 : (place(at) - 8 * chunk) & 63;
          const std::uint16_t* const tile = shared.box[0] + i * step - (before - within) / 8 * box_columns;
          std::uint16_t element[8];
#pragma unroll
          for (int x = 0; x < 8; ++x) element[x] = tile[from[x]];
          if (column0 + column + i * step < task.length)
            store(at - before, element, row0 + 8 * chunk - before, task.destination_length);
          at += step * task.destination_ld;
        }
        __syncthreads();
      }
    }
  }

  // The end of the tiles along the copy's rows, since a tile may begin earlier.
  __host__ __device__ static std::int64_t end(std::int64_t destination_length) {
    return destination_length + (Lead == 0 ? 0 : Lead - 1);
  }

 private:
  static constexpr int chunks = rows / 8, step = threads / chunks, passes = columns / step;
  static_assert(step % 8 == 0 && columns % step == 0 && chunks % 8 == 0,
                "Halves: a thread's columns must differ by multiples of 8");
  static_assert(Lead == 0 || Lead == 64, "Halves: Lead must be 0 or 64, the elements of 128 bytes");

  // The position within 128 bytes, in elements.
  __device__ __forceinline__ static int place(const std::uint16_t* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) / 2 % 64);
  }

  // Stores the rows row to row + 7 of a column that lie in the copy.
  __device__ __forceinline__ static void store(std::uint16_t* to, const std::uint16_t (&element)[8],
                                               std::int64_t row, std::int64_t end) {
    if (row >= 0 && row + 8 <= end) {
      const auto pair = [&](int i) { return element[i] | static_cast<unsigned>(element[i + 1]) << 16; };
      *reinterpret_cast<uint4*>(to) = make_uint4(pair(0), pair(2), pair(4), pair(6));
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (row + i >= 0 && row + i < end) to[i] = element[i];
      }
    }
  }
};

using ToAligned = Halves<0>;
using ToUnaligned = Halves<64>;

// extern "C": the names of their entries in PTX.
extern "C" __global__ void __launch_bounds__(ToAligned::threads)
    tenon_transpose_halves(const __grid_constant__ RowInterleavedMaps maps,
                           const __grid_constant__ HalvesTask task) {
  __shared__ ToAligned::Shared shared;
  cudaTriggerProgrammaticLaunchCompletion();
  ToAligned::run(maps, task, shared);
}
extern "C" __global__ void __launch_bounds__(ToUnaligned::threads)
    tenon_transpose_halves_to_unaligned(const __grid_constant__ RowInterleavedMaps maps,
                                        const __grid_constant__ HalvesTask task) {
  __shared__ ToUnaligned::Shared shared;
  cudaTriggerProgrammaticLaunchCompletion();
  ToUnaligned::run(maps, task, shared);
}

namespace {

template <class Halves_>
Status launch_halves(Launcher& launcher, const PadCopy& c, const HalvesTask& task, Launch& launch) noexcept {
  RowInterleavedMaps maps;
  if (Status s = make_row_interleaved_maps(launcher, {c.source, c.ld, row_major, Type::f16}, task.rows,
                                           static_cast<int>(c.length), Halves_::box_rows,
                                           Halves_::box_columns, &maps);
      !s) {
    return s;
  }
  constexpr std::int64_t most_blocks_across = 1024, most_blocks_down = 1024;  // each walks on
  const auto tiles = [](std::int64_t extent, int of) { return (extent + of - 1) / of; };
  launch.grid = {static_cast<unsigned>(std::min(tiles(c.length, Halves_::columns), most_blocks_across)),
                 static_cast<unsigned>(std::min(tiles(Halves_::end(task.destination_length), Halves_::rows),
                                                most_blocks_down))};
  launch.block = {Halves_::threads};
  launch.walks_on = true;
  launch.arguments.set(maps, task);
  return launcher.launch(launch);
}

}  // namespace
}  // namespace transpose

Status transpose_halves(Launcher& launcher, const PadCopy& c, std::int64_t ld, std::int64_t length) noexcept {
  using namespace transpose;
  const HalvesTask task{c.length,
                        static_cast<int>(c.rows),
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
    return launch_halves<ToAligned>(launcher, c, task, launch);
  }
  launch.function = reinterpret_cast<const void*>(&tenon_transpose_halves_to_unaligned);
  launch.entry = "tenon_transpose_halves_to_unaligned";
  return launch_halves<ToUnaligned>(launcher, c, task, launch);
}

}  // namespace tenon
