// The store of kernels with FusedEpilogue: each warp moves 16 rows x 64 columns of accumulators through
// shared memory, so that a lane has eight adjacent elements of a row. The epilogue then loads bias and C, and
// stores D, in whole 128-byte rows. Below: epilogue_subtile.hpp, fused_epilogue.hpp.
//
// The stores of plain kernels (store_tma.hpp, store_registers.hpp) apply an operation to accumulators where
// they are. That is a copy of its code for each pair of accumulators: too much where the operation is chosen
// when the kernel runs. Here it stands once for 64 columns.
#pragma once

#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/float_part.hpp"
#include "tenon/gemm/fused_epilogue.hpp"
#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

// Op: FusedEpilogue, or a type with its members.
template <class Op>
class StoreRows {
 public:
  // Shared memory of a warp: two subtiles of 32 columns in f32.
  static constexpr int bytes_of_warp = 2 * subtile_bytes;
  static constexpr int group = 64;  // columns

  // staging: bytes_of_warp of shared memory for each warp that stores, from a multiple of 1024 bytes on. The
  // store that is made here belongs to warp threadIdx.x / 32.
  __device__ __forceinline__ StoreRows(const Output& d, const Op& op, std::uint32_t staging)
      : d_(d), op_(op), staging_(staging + threadIdx.x / 32 * bytes_of_warp) {}
  // As the other stores of wgmma kernels are made; TMA does not take part.
  __device__ __forceinline__ StoreRows(const Output& d, const Op& op, const TensorMap& /*map*/,
                                       std::uint32_t staging)
      : StoreRows(d, op, staging) {}

  // Whether D has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < d_.m; }

  // By whole warps. part: 16 rows of accumulators a warp (epilogue_subtile.hpp); row and column: of the
  // warp's first accumulator in D.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& accumulators, int row, int column) const {
    decltype(auto) part = as_floats(accumulators);
    static_assert(Part::rows == 1, "StoreRows: a part is one row of 16 x 8 fragments");
    const Scaling scaling{op_.factor()};
#pragma unroll
    for (int j = 0; j < Part::columns; j += group / 8) {
      int lane = lane_id();
      std::uint32_t staging = staging_;
      ptx::opaque(staging);  // as in StoreTma: addresses are computed here, not kept across the mainloop
      ptx::opaque(lane);
      __syncwarp();  // the group before has been read
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        if (j + 4 * x < Part::columns)
          stage_32_bit(scaling, d_, Type::f32, part, j + 4 * x, staging + x * subtile_bytes, row, column,
                       lane);
      }
      __syncwarp();
      store_group(staging, lane, row, column + 8 * j, min(group, 8 * (Part::columns - j)));
    }
  }

  __device__ __forceinline__ void finish() const {}

 private:
  // Applies the epilogue to 16 rows of `width` columns and stores them: eight lanes a row, four rows at a
  // time.
  __device__ __forceinline__ void store_group(std::uint32_t staging, int lane, int row, int column,
                                              int width) const {
    const int segment = lane % 8, first = column + segment_columns * segment;
    const int left = (op_.gated ? 2 * d_.n : d_.n) - first;
    const int rows = segment_columns * segment < width && left > 0 ? min(subtile_rows, d_.m - row) : 0;
    const std::uint32_t subtile = staging + segment / 4 * subtile_bytes;
#pragma unroll 1
    for (int r = lane / 8; r < rows; r += 4) {
      // Lanes 4 to 7 of a row read their second chunk first: the eight chunks lie on different banks.
      const int chunk = segment % 4 * 2, swap = segment / 4;
      std::uint32_t one[4], other[4];
      ptx::ld_shared_v4_b32(one, at(subtile, r, chunk + swap));
      ptx::ld_shared_v4_b32(other, at(subtile, r, chunk + 1 - swap));
      float values[segment_columns];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[i] = __uint_as_float(swap ? other[i] : one[i]);
        values[4 + i] = __uint_as_float(swap ? one[i] : other[i]);
      }
      op_.apply(values, row + r, first, left);
      if (op_.bias_gradient != nullptr) {  // the results go back to where the accumulators were
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          std::uint32_t four[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) four[i] = __float_as_uint(values[4 * x + i]);
          ptx::st_shared_v4_b32(at(subtile, r, chunk + x), four);
        }
      }
      op_.store(d_, values, row + r, first, left);
    }
    if (op_.bias_gradient != nullptr) add_columns(staging, lane, row, column, width);
  }
  // Adds each column of a group of results to the bias gradient: a lane has two columns.
  __device__ __forceinline__ void add_columns(std::uint32_t staging, int lane, int row, int column,
                                              int width) const {
    const int rows = min(subtile_rows, d_.m - row);
    __syncwarp();
#pragma unroll 1
    for (int x = lane; x < width; x += 32) {
      if (column + x >= d_.n) break;
      const std::uint32_t subtile = staging + x / 32 * subtile_bytes;
      float sum = 0.0F;
#pragma unroll 1
      for (int r = 0; r < rows; ++r)
        sum += __uint_as_float(ptx::ld_shared_b32(at(subtile, r, x % 32 / 4) + x % 4 * 4));
      atomicAdd(op_.bias_gradient + column + x, sum);
    }
  }
  __device__ __forceinline__ static std::uint32_t at(std::uint32_t subtile, int row, int chunk) {
    return subtile + static_cast<std::uint32_t>(row * subtile_row_bytes +
                                                swizzled_chunk<subtile_row_bytes>(row, chunk) * chunk_bytes);
  }

  Output d_;
  const Op& op_;
  std::uint32_t staging_;
};

// The same for a warp tile of a kernel that multiplies from registers (mma.sync), after the mainloop. shared:
// the CTA's memory of the ring, which the epilogue takes over: StoreRows::bytes_of_warp for each warp.
template <class Op>
class StoreTileRows {
 public:
  __device__ __forceinline__ StoreTileRows(const Output& d, const Op& op, const void* shared)
      : store_(d, op, ptx::shared_address(shared)) {}

  // By all threads of the CTA, with the position of each warp tile's first element in D.
  template <class Tile>
  __device__ __forceinline__ void operator()(const Tile& tile, int row, int column) const {
    __syncthreads();  // all warps have read the last stage
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) store_(RowOfTile<Tile>{tile, i}, row + 16 * i, column);
  }

 private:
  // A row of 16 x 8 fragments as WarpgroupTile::for_each_part gives it.
  template <class Tile>
  struct RowOfTile {
    using Value = typename Tile::Value;
    static constexpr int rows = 1, columns = Tile::columns;
    const Tile& tile;
    int i;
    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      tile.pair(i, j, half, two);
    }
  };
  StoreRows<Op> store_;
};

}  // namespace tenon
