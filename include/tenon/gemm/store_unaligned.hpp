// The store of the swap-AB kernel for unaligned operands. Its accumulators are C, with the rows in the order
// of the row-interleaved views: rows g and g + 8 of a warp's fragments are adjacent rows of C, and rows g and
// g + 1 are 8 rows of C apart.
//
// Each warp stages its own rows in shared memory, 8 rows with the same alignment at a time, and stores them
// (RealignedStore: unaligned rows of C). Warps never wait for each other. Below: epilogue.hpp,
// realigned_store.hpp, store_unaligned_transposed.hpp for RowsOfC.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/realigned_store.hpp"
#include "tenon/gemm/store_unaligned_transposed.hpp"

namespace tenon {

// Op: see epilogue.hpp. Fast: the 16-bit type of C that, like f32, is stored by realigned stores. The
// interface is that of StoreUnalignedTransposed, which stores the transpose of its product: here "rows" are
// adjacent columns of C, and "columns" its rows.
template <class Op, Type Fast>
class StoreUnaligned {
  static constexpr int warps = 8, rows_at_once = 8;
  // Staged rows are padded by 16 bytes, so that the rows that a warp writes at once lie on different banks
  // (two on each bank for elements of 4 bytes).
  template <int size, int columns>
  static constexpr int pitch = columns* size + 16;
  static constexpr int bytes_of_warp = rows_at_once * pitch<2, 256>;

 public:
  static constexpr int bytes = warps * bytes_of_warp;  // of shared memory, from a multiple of 16 bytes on

  __device__ __forceinline__ StoreUnaligned(const Output& c, const Op& op, std::uint32_t staging)
      : c_(c), op_(op), staging_(staging) {}

  // By all 256 threads of two warpgroups, `Columns` columns of 128 rows of C. values, ready: see
  // StoreUnalignedTransposed.
  template <int Columns, class Values, class Ready>
  __device__ __forceinline__ void rows(const Values& values, const RowsOfC& to, bool,
                                       const Ready& ready) const {
    static_assert(Columns % 128 == 0, "StoreUnaligned: a tile must have a multiple of 128 columns");
    const int row = to.column + warp() / 4 * 64 + warp() % 4 * 2, column = to.row;
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      if (op_.beta == 0.0F && c_.type == Fast)
        return store_rows<2, Columns, Columns>(values, row, column, ready);
      if (op_.beta == 0.0F && c_.type == Type::f32)
        return store_rows<4, 128, Columns>(values, row, column, ready);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < Columns / 8; j += 4) {
        if (j % 8 == 0) ready(part_of<Columns>(j, half));
        LaneRow<float> of_lane;
#pragma unroll
        for (int x = 0; x < 4; ++x) {
#pragma unroll
          for (int y = 0; y < 2; ++y) of_lane.value[x][y] = values.reg[4 * (j + x) + 2 * half + y];
        }
        store_lane_row(c_, op_, of_lane, row + lane_id() / 4 * 8 + half, column + 8 * j + lane_id() % 4 * 2);
      }
    }
  }
  // Register i, 0 to 15, of a part of the accumulators: 64 columns of 8 rows that have the same alignment.
  template <int Columns>
  __device__ __forceinline__ static constexpr int register_of(int part, int i) {
    const int half = part / (Columns / 64), j = part % (Columns / 64) * 8 + i / 2;
    return 4 * j + 2 * half + i % 2;
  }
  // The consumers store all rows: the store warps get none.
  template <int Columns>
  __device__ __forceinline__ static constexpr bool leaves_last() {
    return false;
  }
  template <int Columns>
  __device__ __forceinline__ static void last_rows(const RowsOfC&, int, int) {}

 private:
  // The part that holds fragment j of the rows g + 8 * half.
  template <int Columns>
  __device__ __forceinline__ static constexpr int part_of(int j, int half) {
    return half * (Columns / 64) + j / 8;
  }
  __device__ __forceinline__ static int warp() {
    return static_cast<int>(threadIdx.x) / 32 % warps;
  }

  // Stores alpha * accumulator to C of type Fast or f32. size: bytes of an element. columns: of a staged row.
  // row: of this warp's first accumulator.
  template <int size, int columns, int Columns, class Values, class Ready>
  __device__ __forceinline__ void store_rows(const Values& values, int row, int column,
                                             const Ready& ready) const {
    using Realigned = RealignedStore<size, columns>;
    constexpr int together = 32 / Realigned::lanes, row_bytes = pitch<size, columns>;
    static_assert(rows_at_once * row_bytes <= bytes_of_warp,
                  "StoreUnaligned: 8 rows must fit the warp's memory");
    const std::uint32_t staging = staging_ + static_cast<std::uint32_t>(warp() * bytes_of_warp);
    const int mine = lane_id() / Realigned::lanes;  // this lane's row among those stored at once
    const std::int64_t step = std::int64_t{together} * 8 * c_.ld * size;
#pragma unroll
    for (int first = 0; first < Columns; first += columns) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        __syncwarp();  // the rows staged before have been read
#pragma unroll
        for (int j = 0; j < columns / 8; ++j) {
          if (j % 8 == 0) ready(part_of<Columns>(first / 8 + j, half));
          stage<size>(values, first / 8 + j, half,
                      staging + static_cast<std::uint32_t>(lane_id() / 4 * row_bytes +
                                                           (8 * j + lane_id() % 4 * 2) * size));
        }
        __syncwarp();
        const Realigned store(c_, row + half + 8 * mine, column + first,
                              staging + static_cast<std::uint32_t>(mine * row_bytes), 0);
#pragma unroll
        for (int r = 0; r < rows_at_once; r += 2 * together) {
          typename Realigned::Loaded loaded[2];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            loaded[i] = store.load(static_cast<std::uint32_t>((r + i * together) * row_bytes));
#pragma unroll
          for (int i = 0; i < 2; ++i)
            store.store(loaded[i], 8 * (r + i * together), (r / together + i) * step);
        }
      }
    }
  }

  // Stages fragment j of the rows g + 8 * half.
  template <int size, class Values>
  __device__ __forceinline__ void stage(const Values& values, int j, int half, std::uint32_t to) const {
    const int at = 4 * j + 2 * half;
    const float pair[2] = {op_.alpha * values.reg[at], op_.alpha * values.reg[at + 1]};
    if constexpr (size == 2) {
      ptx::st_shared_b32(to, pack_pair(Fast, pair));
    } else {
      ptx::st_shared_v2_f32(to, pair);
    }
  }

  Output c_;
  Op op_;
  std::uint32_t staging_;
};

}  // namespace tenon
