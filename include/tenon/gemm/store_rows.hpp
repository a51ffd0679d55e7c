// The store of kernels whose epilogue is chosen when they run, or reads C: each warp moves 16 rows x 64
// columns of accumulators through shared memory, so that a lane has eight adjacent elements of a row. The
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
// warp has memory for; two are used. rows_at_a_time: 4, or 2 where registers are scarce; a lane then has
// one segment of eight columns or one row by words, else two segments or four rows.
template <class Op, int Subtiles = 2, int rows_at_a_time = 2>
class StoreRows {
  static constexpr int used = Subtiles < 2 ? 1 : 2;  // subtiles
  static constexpr int words_at_a_time = rows_at_a_time == 4 ? 4 : 1;

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
      if (!op_.has_whole_chunks()) return store_words(staging, lane, row, column, width);
    }
    constexpr int segments = group / segment_columns;  // of a row
    constexpr int step = 32 / segments, together = rows_at_a_time / 2;
    const int segment = lane % segments, first = column + segment_columns * segment;
    const int left = (op_.gated ? 2 * d_.n : d_.n) - first;
    const int rows = segment_columns * segment < width && left > 0 ? min(subtile_rows, d_.m - row) : 0;
    const std::uint32_t subtile = staging + segment / 4 * subtile_bytes;
#pragma unroll 1
    for (int from = lane / segments; from < rows; from += together * step) {
      float values[together][segment_columns];
      // All loads before all stores: what the first segment of a lane waits for, the others need not.
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const int r = min(from + i * step, rows - 1);
        load_segment_of_tile(subtile, r, segment, values[i]);
        op_.apply(values[i], row + r, first, left);
      }
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const int r = from + i * step;
        if (r < rows) finish_segment(subtile, r, segment, values[i], row, first, left);
      }
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
  // The same by words of rows.
  __device__ __forceinline__ void store_words(std::uint32_t staging, int lane, int row, int column,
                                              int width) const {
    const int rows = min(subtile_rows, d_.m - row), count = min(width, d_.n - column);
    if (count <= 0) return;
#pragma unroll 1
    for (int first = 0; first < rows; first += words_at_a_time) {
      const auto value = [&](int r, int i) {
        return __uint_as_float(
            ptx::ld_shared_b32(at(staging + i / 32 * subtile_bytes, first + r, i % 32 / 4) + i % 4 * 4));
      };
      op_.template store_words<words_at_a_time>(value, row + first, rows - first, column, count, lane);
    }
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

// LinearCombination for such a tile. OfTile: the store of an operation that does not read C, made from C, the
// operation and the memory of the ring.
template <template <class> class OfTile>
class StoreTileCombination {
 public:
  __device__ __forceinline__ StoreTileCombination(const Output& c, const LinearCombination& op,
                                                  const void* shared)
      : c_(c), op_(op), shared_(shared) {}

  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int row, int column) const {
    if (op_.beta == 0.0F) {
      OfTile<Scaling>(c_, Scaling{op_.alpha}, shared_)(tile, row, column);
    } else {
      StoreTileRows<CombinationRows, 4>(c_, {op_, c_}, shared_)(tile, row, column);
    }
  }

 private:
  Output c_;
  LinearCombination op_;
  const void* shared_;
};

}  // namespace tenon
