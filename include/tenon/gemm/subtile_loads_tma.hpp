// Loads of a matrix for the epilogue of wgmma kernels. TMA copies what lies under a warp's accumulators to
// the warp's epilogue subtiles: the first before the mainloop, each later one as soon as its subtile is free.
// The elements of C then lie where stmatrix will write those of D. Below: epilogue_subtile.hpp,
// pipeline/tma_ring.hpp.
#pragma once

#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/elect.hpp"

namespace tenon {

// Of one warp. parts: how many times 16 rows of accumulators a warp has, 64 rows apart; width: subtiles of 64
// columns in each; depth: subtiles that are loaded ahead.
template <int parts, int width, int depth>
class SubtileLoads {
 public:
  static_assert(
      width % depth == 0 && parts * width / depth % 2 == 0,
      "SubtileLoads: each barrier must complete an even number of phases for a tile, so that all tiles "
      "begin with the same phase");
  static constexpr int bytes_of_warp = depth * static_cast<int>(sizeof(std::uint64_t));

  // map: of 16-bit elements in boxes of subtile_rows x 64 with the 128-byte swizzle. subtiles, barriers: of
  // this warp, in the shared window.
  __device__ __forceinline__ SubtileLoads(const TensorMap& map, std::uint32_t subtiles,
                                          std::uint32_t barriers)
      : map_(map), subtiles_(subtiles), barriers_(barriers) {}

  // Once, by the whole warp.
  __device__ __forceinline__ void initialize() const {
    if (lane_id() == 0) {
      for (int i = 0; i < depth; ++i) cuda::ptx::mbarrier_init(barrier(i), 1);
      cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
    __syncwarp();
  }

  // Before the mainloop of a tile, by the whole warp. row, column: of its first accumulator in the matrix.
  __device__ __forceinline__ void begin(int row, int column) const {
    if (ptx::elect_sync(0xffffffffU)) {
      // TMA has read the last subtiles of the tile before.
      cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
#pragma unroll
      for (int s = 0; s < depth; ++s) load(s, row, column + 64 * s);
    }
    __syncwarp();  // by which ptxas knows that the mainloop is the same for a whole warp
  }

  // Waits for subtile s of part `part`, by the whole warp.
  __device__ __forceinline__ void wait(int part, int s) const {
    const auto phase = static_cast<std::uint32_t>(part * (width / depth) + s / depth) % 2;
    while (!cuda::ptx::mbarrier_try_wait_parity(barrier(s % depth), phase)) {
    }
  }

  // By the elected lane, after it has committed the store of subtile s of part `part`: loads a later subtile
  // to the place of the one that was stored before. row, column: of the first element of subtile s.
  __device__ __forceinline__ void stored(int part, int s, int row, int column) const {
    constexpr int lag = depth > 1 ? 1 : 0;
    const int next = s - lag + depth;  // of this part, or beyond it of the next one
    if (part * width + s < lag || part * width + next >= parts * width) return;
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<lag>());
    const bool is_in_next_part = next >= width;
    load(next % depth, row + (is_in_next_part ? 64 : 0),
         column + 64 * (next - s - (is_in_next_part ? width : 0)));
  }

  __device__ __forceinline__ std::uint32_t subtile(int s) const {
    return subtiles_ + static_cast<std::uint32_t>(s % depth * subtile_bytes);
  }

 private:
  __device__ __forceinline__ std::uint64_t* barrier(int i) const {
    return static_cast<std::uint64_t*>(__cvta_shared_to_generic(barriers_)) + i;
  }
  __device__ __forceinline__ void load(int place, int row, int column) const {
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                         cuda::ptx::space_shared, barrier(place), subtile_bytes);
    copy_box(__cvta_shared_to_generic(subtile(place)), map_, row, column, barrier(place));
  }

  const TensorMap& map_;
  std::uint32_t subtiles_, barriers_;
};

}  // namespace tenon
