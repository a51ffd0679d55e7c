// The store of wgmma kernels whose epilogue has a matrix of 16 bits that TMA loads: each warp reads an
// epilogue subtile of the matrix (SubtileLoads), applies the operation, writes the results to where the
// elements were, and TMA stores them. Below: subtile_loads_tma.hpp, ptx/ldmatrix.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/subtile_loads_tma.hpp"
#include "tenon/ptx/ldmatrix.hpp"

namespace tenon {

// How many subtiles a warp loads ahead, of at most `most`, so that each of their barriers completes an even
// number of phases for a tile; 0 if it cannot. parts, width: see SubtileLoads.
constexpr int subtiles_ahead(int parts, int width, int most) {
  for (int depth = most; depth >= 1; --depth)
    if (width % depth == 0 && parts * width / depth % 2 == 0) return depth;
  return 0;
}

// Writes 8 fragments of results of type T over the elements that the operation takes. op(two, elements, half,
// column): turns two accumulators of row g or (half) g + 8, at `column` and the next, into results.
template <class T, class Op, class Part>
__device__ __forceinline__ void stage_over_matrix(const Op& op, const Part& part, int j,
                                                  std::uint32_t subtile, int column, int lane) {
  static_assert(Part::columns % 8 == 0, "stage_over_matrix: a part must be a whole number of subtiles wide");
  const int to_row = lane % 16, chunk = lane / 16;  // that this lane addresses for ldmatrix and stmatrix
#pragma unroll
  for (int x = 0; x < 8; x += 2) {
    const std::uint32_t at =
        subtile +
        static_cast<std::uint32_t>(to_row * subtile_row_bytes +
                                   swizzled_chunk<subtile_row_bytes>(to_row, x + chunk) * chunk_bytes);
    std::uint32_t four[4];  // of fragments x and x + 1, rows g and g + 8 of each
    ptx::ldmatrix_sync_aligned_m8n8_x4_shared_b16(four, at);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int fragment = j + x + i / 2, first = column + 8 * fragment + 2 * (lane % 4);
      float two[2], elements[2];
      part.pair(0, fragment, i % 2, two);
      Packing<T>::unpack(four[i], elements);
      op(two, elements, i % 2, first);
      four[i] = Packing<T>::pack(two);
    }
    ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(at, four);
  }
}

// By whole warps: stores a part of `width` subtiles. map: of D, as StoreTma has it. loads(): the SubtileLoads
// of the warp. parts: how many it has; row, column: of its first accumulator in D.
template <class T, int parts, int width, class Op, class Part, class Loads>
__device__ __forceinline__ void store_over_matrix(const Op& op, const Part& part, const TensorMap& map,
                                                  const Loads& loads, int row, int column) {
  static_assert(Part::columns == 8 * width, "store_over_matrix: width is that of a part, in subtiles");
  const int number = row / 64 % parts;  // of the part
#pragma unroll
  for (int s = 0; s < width; ++s) {
    const auto loaded = loads();
    int lane = lane_id();
    ptx::opaque(lane);  // as in StoreTma
    loaded.wait(number, s);
    stage_over_matrix<T>(op, part, 8 * s, loaded.subtile(s), column, lane);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // TMA reads through the other proxy
    __syncwarp();
    if (ptx::elect_sync(0xffffffffU)) {
      store_box(map, row, column + 64 * s, loaded.subtile(s));
      cuda::ptx::cp_async_bulk_commit_group();
      loaded.stored(number, s, row, column + 64 * s);
    }
  }
}

}  // namespace tenon
