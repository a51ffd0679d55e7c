// The store of kernels whose epilogue is chosen when they run, or reads C: each warp moves 16 rows x 64
// columns of accumulators through shared memory, so that a lane has adjacent elements of a row. The
// epilogue then loads bias and C, and stores D, in whole 128-byte rows. Below: epilogue_subtile.hpp,
// combination_rows.hpp.
//
// The other stores (store_tma.hpp, store_registers.hpp) apply an operation to accumulators where they are.
// That is a copy of its code for each pair of accumulators. Here it stands once for 64 columns.
#pragma once

#include "tenon/gemm/combination_rows.hpp"
#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/float_part.hpp"
#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

// Whether an operation stores rows that begin anywhere by words: CombinationRows.
template <class Op, class = void>
inline constexpr bool stores_words = false;
template <class Op>
inline constexpr bool stores_words<Op, std::void_t<decltype(Op::stores_words)>> = Op::stores_words;

// Op: FusedEpilogue, CombinationRows, or a type with their members. Subtiles: of 32 columns in f32 that a
// warp has memory for; two are used. rows_at_a_time: 4, 2 or 1; fewer need fewer
// registers. A lane has so many rows of words (at least 2) in flight, or twice as many chunks.
template <class Op, int Subtiles = 2, int rows_at_a_time = 2>
class StoreRows {
  static constexpr int used = Subtiles < 2 ? 1 : 2;  // subtiles

 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;
  static constexpr int group = 32 * used;  // columns

  // staging: bytes_of_warp of shared memory for each warp that stores, from a multiple of 1024 bytes on. The
  // store that is made here belongs to warp threadIdx.x / 32.
  __device__ __forceinline__ StoreRows(const Output& d, const Op& op, std::uint32_t staging)
      : StoreRows(d, op, staging + threadIdx.x / 32 * bytes_of_warp, 0) {}
  // staging: of this warp.
  __device__ __forceinline__ StoreRows(const Output& d, const Op& op, std::uint32_t staging, int)
      : d_(d), op_(op), staging_(staging) {}
  // As the other stores of wgmma kernels are made; TMA does not take part.
  __device__ __forceinline__ StoreRows(const Output& d, const Op& op, const TensorMap& /*map*/,
                                       std::uint32_t staging)
      : StoreRows(d, op, staging) {}

  // Whether D has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < d_.m; }

  // By whole warps. tile: Tile::rows times 16 rows of accumulators a warp, as WarpTile or a part of
  // WarpgroupTile; row and column: of the warp's first accumulator in D.
  template <class Tile>
  __device__ __forceinline__ void operator()(const Tile& tile, int row, int column) const {
    constexpr int fragments = group / 8, groups = (Tile::columns + fragments - 1) / fragments;
    if constexpr (stores_words<Op>)
      op_.prefetch(row, Tile::rows * subtile_rows, column, 8 * Tile::columns, lane_id(), 32);
      // Not unrolled: the epilogue's code stands once, whatever the tile's size.
#pragma unroll 1
    for (int number = 0; number < Tile::rows * groups; ++number) {
      int lane = lane_id();
      std::uint32_t staging = staging_;
      ptx::opaque(staging);  // as in StoreTma: addresses are computed here, not kept across the mainloop
      ptx::opaque(lane);
      __syncwarp();  // the group before has been read
                     // Registers have no addresses: each group is staged by code of its own.
#pragma unroll
      for (int i = 0; i < Tile::rows * groups; ++i) {
        if (i == number) stage(RowOfTile<Tile>{tile, i / groups}, i % groups * fragments, staging, lane);
      }
      __syncwarp();
      const int j = number % groups * fragments;
      store_group(staging, lane, row + number / groups * subtile_rows, column + 8 * j,
                  min(group, 8 * (Tile::columns - j)));
    }
  }

  __device__ __forceinline__ void finish() const {}

 private:
  // Writes a group, from fragment j on, as f32 and times the factor.
  template <class Row>
  __device__ __forceinline__ void stage(const Row& accumulators, int j, std::uint32_t staging,
                                        int lane) const {
    decltype(auto) part = as_floats(accumulators);
#pragma unroll
    for (int x = 0; x < used; ++x) {
      if (j + 4 * x < Row::columns)
        stage_32_bit(Scaling{op_.factor()}, d_, Type::f32, part, j + 4 * x, staging + x * subtile_bytes, 0, 0,
                     lane);
    }
  }

  // Applies the epilogue to 16 rows of `width` columns and stores them: a lane has a segment of a row.
  __device__ __forceinline__ void store_group(std::uint32_t staging, int lane, int row, int column,
                                              int width) const {
    if constexpr (stores_words<Op>) {
      const bool has_part = d_.n - column < width && d_.n % segment_columns != 0;
      if (has_part || !op_.has_whole_chunks()) {
        store_words(staging, lane, row, column, width);
      } else {
        store_chunks(staging, lane, row, column, width);
      }
    } else {
      store_segments(staging, lane, row, column, width);
    }
  }
  // Stores the group by chunks of 16 bytes. The rows of C end with whole chunks.
  __device__ __forceinline__ void store_chunks(std::uint32_t staging, int lane, int row, int column,
                                               int width) const {
    const int rows = min(subtile_rows, d_.m - row), count = min(width, d_.n - column);
    op_.visit_element_bytes([&](auto bytes) {
      constexpr int element_bytes = decltype(bytes)::value,
                    columns = Op::template chunk_columns<element_bytes>;
      constexpr int of_a_row = group / columns, step = 32 / of_a_row;
      constexpr int most = subtile_rows / step,
                    together = 2 * rows_at_a_time < most ? 2 * rows_at_a_time : most;
      const int first = lane % of_a_row * columns;
      if (first >= count) return;
#pragma unroll 1
      for (int from = lane / of_a_row; from < rows; from += together * step) {
        // All loads of C are issued before the first one is waited for.
        uint4 fetched[together];
#pragma unroll
        for (int i = 0; i < together; ++i)
          fetched[i] =
              op_.template fetch<element_bytes>(row + min(from + i * step, rows - 1), column + first);
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const int r = from + i * step;
          if (r >= rows) break;
          float values[columns];
          load_chunk(staging, r, first, values);
          op_.template store_chunk<element_bytes>(values, fetched[i], row + r, column + first);
        }
      }
    });
  }
  // Accumulators first, first + 1, ... of row r: four, or eight.
  template <int count>
  __device__ __forceinline__ static void load_chunk(std::uint32_t staging, int r, int first,
                                                    float (&values)[count]) {
    const std::uint32_t subtile = staging + first / 32 * subtile_bytes;
    if constexpr (count == 8) {
      load_segment_of_tile(subtile, r, first / 8, values);
    } else {
      ptx::ld_shared_v4_f32(values, at(subtile, r, first % 32 / 4));
    }
  }
  // Stores the group by segments of eight elements. A segment may end beyond the row.
  __device__ __forceinline__ void store_segments(std::uint32_t staging, int lane, int row, int column,
                                                 int width) const {
    constexpr int segments = group / segment_columns, step = 32 / segments;
    const int segment = lane % segments, first = column + segment_columns * segment;
    const int left = (op_.gated ? 2 * d_.n : d_.n) - first;
    const int rows = segment_columns * segment < width && left > 0 ? min(subtile_rows, d_.m - row) : 0;
    const std::uint32_t subtile = staging + segment / 4 * subtile_bytes;
#pragma unroll 1
    for (int r = lane / segments; r < rows; r += step) {
      float values[segment_columns];
      load_segment_of_tile(subtile, r, segment, values);
      op_.apply(values, row + r, first, left);
      finish_segment(subtile, r, segment, values, row, first, left);
    }
    if (op_.bias_gradient != nullptr) add_columns(staging, lane, row, column, width);
  }
  __device__ __forceinline__ static void load_segment_of_tile(std::uint32_t subtile, int r, int segment,
                                                              float (&values)[segment_columns]) {
    // Lanes 4 to 7 of a row read their second chunk first: the eight chunks that are read at once lie on
    // different banks. Those of two rows do anyway.
    const int chunk = segment % 4 * 2, swap = segment / 4;
    std::uint32_t one[4], other[4];
    ptx::ld_shared_v4_b32(one, at(subtile, r, chunk + swap));
    ptx::ld_shared_v4_b32(other, at(subtile, r, chunk + 1 - swap));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = __uint_as_float(swap ? other[i] : one[i]);
      values[4 + i] = __uint_as_float(swap ? one[i] : other[i]);
    }
  }
  __device__ __forceinline__ void finish_segment(std::uint32_t subtile, int r, int segment,
                                                 const float (&values)[segment_columns], int row, int first,
                                                 int left) const {
    if (op_.bias_gradient != nullptr) {  // the results go back to where the accumulators were
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        std::uint32_t four[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) four[i] = __float_as_uint(values[4 * x + i]);
        ptx::st_shared_v4_b32(at(subtile, r, segment % 4 * 2 + x), four);
      }
    }
    op_.store(d_, values, row + r, first, left);
  }
  // The elements of a group in the warp's shared memory.
  struct Staged {
    std::uint32_t staging;
    // Address of element i of row 0. load() applies the swizzle of another row by an exclusive or.
    __device__ __forceinline__ std::uint32_t place(std::uint32_t i) const {
      return at(staging + i / 32 * subtile_bytes, 0, i % 32 / 4) + i % 4 * 4;
    }
    __device__ __forceinline__ static float load(std::uint32_t place, std::uint32_t row) {
      return __uint_as_float(ptx::ld_shared_b32((place ^ row % 8 * chunk_bytes) + row * subtile_row_bytes));
    }
  };
  // The same by words of rows.
  __device__ __forceinline__ void store_words(std::uint32_t staging, int lane, int row, int column,
                                              int width) const {
    const int rows = min(subtile_rows, d_.m - row), count = min(width, d_.n - column);
    if (count <= 0) return;
    op_.template store_words<rows_at_a_time == 1 ? 2 : rows_at_a_time>(Staged{staging}, row, rows, column,
                                                                       count, lane);
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
  __device__ __forceinline__ static std::uint32_t at(std::uint32_t subtile, std::uint32_t row,
                                                     std::uint32_t chunk) {
    return subtile + row * subtile_row_bytes +
           swizzled_chunk<subtile_row_bytes>(static_cast<int>(row), static_cast<int>(chunk)) * chunk_bytes;
  }

  Output d_;
  const Op& op_;
  std::uint32_t staging_;
};

// The same for a warp tile of a kernel that multiplies from registers (mma.sync), after the mainloop. shared:
// the CTA's memory of the ring, which the epilogue takes over: StoreRows::bytes_of_warp for each warp.
template <class Op, int rows_at_a_time = 2>
class StoreTileRows {
 public:
  __device__ __forceinline__ StoreTileRows(const Output& d, const Op& op, const void* shared)
      : store_(d, op, ptx::shared_address(shared)) {}

  // By all threads of the CTA, with the position of each warp tile's first element in D.
  template <class Tile>
  __device__ __forceinline__ void operator()(const Tile& tile, int row, int column) const {
    __syncthreads();  // all warps have read the last stage
    store_(tile, row, column);
  }

 private:
  StoreRows<Op, 2, rows_at_a_time> store_;
};

}  // namespace tenon
