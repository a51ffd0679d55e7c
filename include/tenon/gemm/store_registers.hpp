// The store of warp tiles that multiply from registers (mma.sync): each lane applies the operation to its
// accumulators and writes them to C, in the widest stores that the alignment of C's rows allows.
//
//   StoreRegisters store{output, LinearCombination{alpha, beta}};
//   store(warp_tile, row, column);        // by whole warps; position of the tile's first element in C
//
// Below: epilogue.hpp, realign.hpp, warp/warp_tile.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/realign.hpp"
#include "tenon/warp/warp_tile.hpp"

namespace tenon {

// Word i of lane t (of each four) goes to lane i as its word t: a 4 x 4 transpose in two exchanges.
__device__ __forceinline__ void transpose_quad(std::uint32_t (&word)[4], int t) {
#pragma unroll
  for (int distance = 1; distance <= 2; ++distance) {
    const bool upper = (t & distance) != 0;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int low = distance == 1 ? 2 * pair : pair, high = low + distance;
      const std::uint32_t received = __shfl_xor_sync(0xffffffffU, upper ? word[low] : word[high], distance);
      word[low] = upper ? received : word[low];
      word[high] = upper ? word[high] : received;
    }
  }
}

// Stores a lane's accumulators to C of any type and alignment: pairs of elements of `row` at columns column,
// column + 8, column + 16 and column + 24. column is even.
template <class Op>
__device__ __forceinline__ void store_lane_row(const Output& c, const Op& op, LaneRow<float>& values, int row,
                                               int column) {
  if (row >= c.m) return;
  apply(op, c, c.type, values, row, column);
  const std::int64_t first = row * c.ld + column;
  const auto place = reinterpret_cast<std::uintptr_t>(c.data) / 4 + static_cast<std::uint64_t>(first);
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const int left = c.n - column - 8 * x;  // elements of the row
    const float(&two)[2] = values.value[x];
    if (c.type == Type::f32) {
      float* const to = static_cast<float*>(c.data) + first + 8 * x;
      if (left >= 2 && place % 2 == 0) {
        *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
      } else {
        if (left >= 1) to[0] = two[0];
        if (left >= 2) to[1] = two[1];
      }
    } else {
      std::uint16_t* const to = static_cast<std::uint16_t*>(c.data) + first + 8 * x;
      const std::uint32_t word = pack_pair(c.type, two);
      if (left >= 1) to[0] = static_cast<std::uint16_t>(word);
      if (left >= 2) to[1] = static_cast<std::uint16_t>(word >> 16);
    }
  }
}

template <class Op>
class StoreRegisters {
 public:
  __device__ __forceinline__ StoreRegisters(const Output& c, const Op& op) : c_(c), op_(op) {
    // Two elements of 32 or 64 bits leave in one store if every row allows it, eight of 16 bits likewise.
    const auto address = reinterpret_cast<std::uintptr_t>(c.data);
    pairs_aligned_ = c.ld % 2 == 0 && address % (c.type == Type::f64 ? 16 : 8) == 0;
    chunks_aligned_ = c.ld % 8 == 0 && address % 16 == 0;
  }
  // As the stores that need the memory of the ring are made.
  __device__ __forceinline__ StoreRegisters(const Output& c, const Op& op, const void* /*shared*/)
      : StoreRegisters(c, op) {}

  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int tile_row, int tile_column) const {
    // In a persistent kernel ptxas would compute the addresses of C ahead of the loop over tiles and keep
    // them in registers that the mainloop needs. An opaque leading dimension keeps that arithmetic here.
    Output c = c_;
    ptx::opaque(c.ld);
    // Chosen once for a tile. The 16-bit types share their code and differ only in how a pair is rounded.
    const Type narrow = c.type == Type::f16 ? Type::f16 : Type::bf16;
    const auto store_wide = [&](const auto& values, int row, int column, int t) {
      store_pairs(c, values, row, column + 2 * t);
    };
    if constexpr (!std::is_same_v<typename Tile::Value, float>) {
      // int32_t is stored as s32, double as f64.
      store(c.type, tile, tile_row, tile_column, store_wide);
    } else if (c.type == Type::f32) {
      store(Type::f32, tile, tile_row, tile_column, store_wide);
    } else if (chunks_aligned_) {
      store(narrow, tile, tile_row, tile_column,
            [&](const LaneRow<float>& values, int row, int column, int t) {
              store_chunk(c, narrow, values, row, column, t);
            });
    } else {
      store_shifted(c, narrow, tile, tile_row, tile_column);
    }
  }

 private:
  // Calls visit(i, half, row) for each row of the tile in which this lane holds elements.
  template <class Tile, class Visit>
  __device__ __forceinline__ static void for_each_row(int tile_row, const Visit& visit) {
    static_assert(Tile::columns % 4 == 0,
                  "StoreRegisters: a warp tile must be a multiple of 32 columns wide");
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
        visit(i, half, tile_row + 16 * i + 8 * half + lane_id() / 4);
      }
    }
  }

  // The accumulators of columns 8 * j to 8 * j + 31 of a row of the tile.
  template <class Tile>
  __device__ __forceinline__ static LaneRow<typename Tile::Value> lane_row(const Tile& tile, int i, int half,
                                                                           int j) {
    LaneRow<typename Tile::Value> values;
#pragma unroll
    for (int x = 0; x < 4; ++x) tile.pair(i, j + x, half, values.value[x]);
    return values;
  }

  template <class Tile, class StoreRow>
  __device__ __forceinline__ void store(Type type, Tile& tile, int tile_row, int tile_column,
                                        const StoreRow& store_row) const {
    for_each_row<Tile>(tile_row, [&](int i, int half, int row) {
#pragma unroll
      for (int j = 0; j < Tile::columns; j += 4) {
        const int column = tile_column + 8 * j;
        LaneRow<typename Tile::Value> values = lane_row(tile, i, half, j);
        apply(op_, c_, type, values, row, column + 2 * (lane_id() % 4));
        store_row(values, row, column, lane_id() % 4);
      }
    });
  }

  // The four lanes of a row exchange elements so that each holds 8 adjacent ones, which it stores as 16
  // bytes.
  __device__ __forceinline__ static void store_chunk(const Output& c, Type type, const LaneRow<float>& values,
                                                     int row, int column, int t) {
    std::uint32_t word[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) word[x] = pack_pair(type, values.value[x]);
    transpose_quad(word, t);
    const int first = column + 8 * t;
    if (row >= c.m || first >= c.n) return;
    store_elements(static_cast<std::uint16_t*>(c.data) + (row * c.ld + first), word, 0, min(8, c.n - first));
  }

  // 16-bit elements in rows that do not begin at a multiple of 16 bytes. The lanes that hold a row shift its
  // elements among themselves until they match the alignment in memory, so that all but the ends of the row
  // are stored 16 bytes at a time.
  template <class Tile>
  __device__ __forceinline__ void store_shifted(const Output& c, Type type, Tile& tile, int tile_row,
                                                int tile_column) const {
    constexpr int rows_of_lane = Tile::columns / 4;
    const int t = lane_id() % 4;
    for_each_row<Tile>(tile_row, [&](int i, int half, int row) {
      std::uint32_t word[rows_of_lane][4];  // 8 neighbours, from column 8 * t of each lane row
#pragma unroll
      for (int s = 0; s < rows_of_lane; ++s) {
        LaneRow<float> values = lane_row(tile, i, half, 4 * s);
        apply(op_, c_, type, values, row, tile_column + 32 * s + 2 * t);
#pragma unroll
        for (int x = 0; x < 4; ++x) word[s][x] = pack_pair(type, values.value[x]);
        transpose_quad(word[s], t);
      }
      auto* const to = static_cast<std::uint16_t*>(c.data) + (row * c.ld + tile_column + 8 * t);
      const int left = row < c.m ? c.n - tile_column - 8 * t : 0;  // elements of C from `to` on
      const int shift = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / 2) & 7U);
#pragma unroll
      for (int s = 0; s < rows_of_lane; ++s) {
        std::uint32_t run[8];  // 16 neighbours: this lane's and the next one's, which for lane 3 is lane 0
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          run[x] = word[s][x];
          const std::uint32_t wanted =
              s + 1 < rows_of_lane && t == 0 ? word[(s + 1) % rows_of_lane][x] : word[s][x];
          run[4 + x] = __shfl_sync(0xffffffffU, wanted, t + 1, 4);
        }
        if (t < 3 || s + 1 < rows_of_lane) {
          drop_elements(run, static_cast<unsigned>(shift));
          store_elements(to + 32 * s + shift, run, 0, min(8, left - 32 * s - shift));
        }
      }
      // The elements before the first lane's boundary and after the last lane's.
      std::uint32_t end[4];
#pragma unroll
      for (int x = 0; x < 4; ++x) end[x] = t == 0 ? word[0][x] : word[rows_of_lane - 1][x];
      if (t == 0) store_elements(to, end, 0, min(shift, left));
      if (t == 3)
        store_elements(to + 32 * (rows_of_lane - 1), end, shift, min(8, left - 32 * (rows_of_lane - 1)));
    });
  }

  // Elements first to last - 1 of the 8 in `word`; all 8 of them only at a multiple of 16 bytes.
  template <int N>
  __device__ __forceinline__ static void store_elements(std::uint16_t* to, const std::uint32_t (&word)[N],
                                                        int first, int last) {
    if (first == 0 && last == 8) {
      *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
      return;
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (e >= first && e < last) to[e] = static_cast<std::uint16_t>(word[e / 2] >> e % 2 * 16);
    }
  }

  // Elements of 32 or 64 bits.
  template <class Value>
  __device__ __forceinline__ void store_pairs(const Output& c, const LaneRow<Value>& values, int row,
                                              int first) const {
    if (row >= c.m) return;
    using Pair = std::conditional_t<std::is_same_v<Value, float>, float2,
                                    std::conditional_t<std::is_same_v<Value, double>, double2, int2>>;
    auto* const row_start = static_cast<Value*>(c.data) + row * c.ld;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int column = first + 8 * x;
      const bool both = column + 1 < c.n;
      if (both && pairs_aligned_) {
        *reinterpret_cast<Pair*>(row_start + column) = Pair{values.value[x][0], values.value[x][1]};
      } else {
        if (column < c.n) row_start[column] = values.value[x][0];
        if (both) row_start[column + 1] = values.value[x][1];
      }
    }
  }

  Output c_;
  Op op_;
  bool pairs_aligned_, chunks_aligned_;
};

}  // namespace tenon
