// The store of the wgmma kernels: each warp writes its accumulators to shared memory, one epilogue subtile
// after the other, and TMA copies the subtiles to C while the warp continues. Warps never wait for each
// other.
//
// TMA stores C if its base, the length of its rows and its leading dimension are multiples of 16 bytes
// (tma_can_store), and clips subtiles at the edges of C. Otherwise the warp stores the subtiles itself. A
// LinearCombination that reads C, or is not stored by TMA, is stored by StoreRows. Below:
// epilogue_subtile.hpp, store_rows.hpp, store_subtile.hpp, pipeline/tma_ring.hpp.
#pragma once

#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/fitted_tile.hpp"
#include "tenon/gemm/store_rows.hpp"
#include "tenon/gemm/store_subtile.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/elect.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// Which subtiles TMA stores, of those as wide as its boxes. row: the subtile's first in C.
// All, where C ends where its map does: TMA clips them there.
struct ClippedByMap {
  __device__ __forceinline__ static constexpr bool stores(const Output&, int /*row*/) { return true; }
};
// Those whose rows all belong to an output that ends above the end of its map, as a group of rows does.
struct AboveLastRow {
  __device__ __forceinline__ static bool stores(const Output& c, int row) {
    return row + subtile_rows <= c.m;
  }
};

// Op: see epilogue.hpp. Subtiles: how many a warp may have in flight. rows_at_a_time: see
// store_subtile_words(). uses_tma: whether `map` is that of C; if not, the warps store every subtile. Boxes:
// which subtiles TMA stores.
//
// map: C as 16-bit elements (an f32 is two), in boxes of subtile_rows x 64 with the 128-byte swizzle. Unused
// if TMA cannot store C.
template <class Op, int Subtiles, int rows_at_a_time = 4, bool uses_tma = true, class Boxes = ClippedByMap>
class StoreTma {
 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;

  // staging: bytes_of_warp of shared memory for each warp that stores, from a multiple of 1024 bytes on.
  // The store that is made here belongs to warp threadIdx.x / 32.
  __device__ __forceinline__ StoreTma(const Output& c, const Op& op, const TensorMap& map,
                                      std::uint32_t staging)
      : StoreTma(c, op, map, staging + threadIdx.x / 32 * bytes_of_warp, 0) {}

  // Whether C has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < c_.m; }

  // By whole warps. part: 16 rows of accumulators a warp (epilogue_subtile.hpp); row and column: of the
  // warp's first accumulator in C.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    static_assert(Part::rows == 1, "StoreTma: a part is one row of 16 x 8 fragments");
    if constexpr (std::is_same_v<Op, LinearCombination> && std::is_same_v<typename Part::Value, float>) {
      if (uses_tma && only_scales_ != 0 && Boxes::stores(c_, row)) {
        with(Scaling{op_.alpha}).store(part, row, column);
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
        const Output c = reached_by(part, column);
        StoreRows<CombinationRows, Subtiles, rows_at_a_time>(c, {op_, c}, staging_, 0)(part, row, column);
      }
      return;
    }
    if constexpr (!is_linear<Op> && !is_interior<Op>) {
      if (row + subtile_rows <= c_.m && column + operation_columns<Part> <= c_.n) {
        with(InteriorOperation<Op>{op_}).store(part, row, column);
        return;
      }
    }
    store(part, row, column);
  }

  // Before the warp exits: waits until TMA has read its shared memory.
  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  template <class, int, int, bool, class>
  friend class StoreTma;
  template <class, int, int>
  friend class StoreTmaInterleaved;

  // staging: of this warp.
  __device__ __forceinline__ StoreTma(const Output& c, const Op& op, const TensorMap& map,
                                      std::uint32_t staging, int)
      : c_(c), op_(op), map_(map), staging_(staging) {
    // Opaque, so that a kernel that makes its store before the mainloop computes it there, while the first
    // k-tile is on its way.
    if constexpr (uses_tma && std::is_same_v<Op, LinearCombination>) {
      only_scales_ = op.beta == 0.0F && tma_can_store(c) ? 1 : 0;
      ptx::opaque(only_scales_);
    }
  }
  // The same places, another operation.
  template <class Other>
  __device__ __forceinline__ StoreTma<Other, Subtiles, rows_at_a_time, uses_tma, Boxes> with(
      const Other& op) const {
    return {c_, op, map_, staging_, 0};
  }

  // C up to the last column of the part.
  template <class Part>
  __device__ __forceinline__ Output reached_by(const Part& part, int column) const {
    Output c = c_;
    if constexpr (is_fitted<Part>) c.n = min(c.n, column + held_columns(part));
    return c;
  }

  template <class Part>
  __device__ __forceinline__ void store(const Part& part, int row, int column) const {
    // As in StoreRegisters: an opaque value keeps all that follows from it out of the mainloop's registers.
    Output c = c_;
    ptx::opaque(c.ld);
    if constexpr (std::is_same_v<typename Part::Value, std::int32_t>) {
      for_each_subtile<4, 4>(c, part, row, column, [&](std::uint32_t subtile, int j, int lane) {
        stage_32_bit(op_, c_, Type::s32, part, j, subtile, row, column, lane);
      });
    } else if (c.type == Type::f32) {
      for_each_subtile<4, 4>(c, part, row, column, [&](std::uint32_t subtile, int j, int lane) {
        stage_32_bit(op_, c_, Type::f32, part, j, subtile, row, column, lane);
      });
    } else if (c.type == Type::f16) {
      for_each_subtile<8, 2>(c, part, row, column, [&](std::uint32_t subtile, int j, int lane) {
        stage_16_bit(op_, c_, Type::f16, part, j, subtile, row, column, lane);
      });
    } else {
      for_each_subtile<8, 2>(c, part, row, column, [&](std::uint32_t subtile, int j, int lane) {
        stage_16_bit(op_, c_, Type::bf16, part, j, subtile, row, column, lane);
      });
    }
  }

  // stage(subtile, j, lane) writes the subtile that begins at fragment j; `fragments` of them fill it, with
  // elements of `element_bytes`. The last subtile of a part may be narrower: the boxes of the map are not, so
  // the warp stores it itself.
  template <int fragments, int element_bytes, class Part, class Stage>
  __device__ __forceinline__ void for_each_subtile(const Output& c, const Part& part, int row, int column,
                                                   const Stage& stage) const {
    constexpr int subtiles = (Part::columns + fragments - 1) / fragments;
    constexpr bool only_tma = std::is_same_v<Op, Scaling>;  // of a LinearCombination
    const bool by_tma = only_tma || tma_can_store(c), in_boxes = only_tma || Boxes::stores(c, row);
#pragma unroll
    for (int s = 0; s < subtiles; ++s) {
      const int width = held_of(part, 8 * s * fragments, 8 * fragments);
      if (width <= 0) break;
      // Opaque: the address of each subtile, and the lane, which keeps the addresses of all subtiles from
      // being held at once.
      std::uint32_t staging = staging_;
      ptx::opaque(staging);
      const std::uint32_t subtile = staging + s % Subtiles * subtile_bytes;
      int lane = lane_id();
      ptx::opaque(lane);
      // Only the elected lane has bulk stores to wait for: all but the youngest Subtiles - 1, whose subtiles
      // are overwritten later. All of them if the part before did not end with a store of the last subtile.
      constexpr int younger =
          !is_fitted<Part> && Part::columns % (fragments * Subtiles) == 0 ? Subtiles - 1 : 0;
      if (s == 0 && !in_boxes) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
      } else if (s == 0) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<younger>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Subtiles - 1>());
      }
      __syncwarp();
      stage(subtile, s * fragments, lane);
      const int first = column + 8 * s * fragments;
      if (uses_tma && by_tma && in_boxes && width == 8 * fragments) {
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // TMA reads through the other proxy
        __syncwarp();
        if (ptx::elect_sync(0xffffffffU)) {
          store_box(map_, row, first * (element_bytes / 2), subtile);
          cuda::ptx::cp_async_bulk_commit_group();
        }
      } else {
        __syncwarp();
        if (by_tma) {
          store_subtile_vectors<element_bytes>(c, subtile, row, first, width, lane);
        } else {
          store_subtile_words<element_bytes, rows_at_a_time>(c, subtile, row, first, width, lane);
        }
      }
    }
  }

  Output c_;
  Op op_;
  const TensorMap& map_;
  std::uint32_t staging_;
  int only_scales_ = 0;  // not 0: C is not read, and TMA stores it
};

}  // namespace tenon
