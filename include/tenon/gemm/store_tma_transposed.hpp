// The transposed store of the swap-AB kernels: their accumulators are C^T, and a warp has 16 columns of C.
// The warps of a warpgroup write their accumulators to shared memory side by side, as boxes of 16 rows of C.
// TMA copies the boxes to device memory while the warps go on.
//
// Where TMA cannot write C, the warps store the boxes element by element, which is correct but slow. A
// LinearCombination that reads C, or is not stored by TMA, is stored by rows. Below: combination_rows.hpp,
// epilogue_subtile.hpp, store_subtile.hpp, transposed_place.hpp, pipeline/tma_ring.hpp, ptx/barrier.hpp.
#pragma once

#include "tenon/gemm/combination_rows.hpp"
#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/fitted_tile.hpp"
#include "tenon/gemm/store_subtile.hpp"
#include "tenon/gemm/transposed_place.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// Op: see epilogue.hpp. Subtiles: how many a warp may have in flight. Warps: how many warps store together, 4
// (a warpgroup) or 1.
//
// map: C as 16-bit elements (an f32 is two), boxes of transposed_box_rows of transposed_box_width() bytes,
// with the swizzle of that width, or of half as many rows if a tile has an odd number of them
// (transposed_box_rows_of()); not used where TMA cannot write C. A row of C has less than 2^31 bytes.
// Takes the named barriers NamedBarrier::transposed_store and the next one.
template <class Op, int Subtiles, int Warps>
class StoreTmaTransposed {
  static_assert(Warps == 1 || Warps == 4,
                "StoreTmaTransposed: a warp stores alone, or with the four warps of its warpgroup");

 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;

  // staging: bytes_of_warp of shared memory for each warp that stores, from a multiple of 1024 bytes on.
  __device__ __forceinline__ StoreTmaTransposed(const Output& c, const Op& op, const TensorMap& map,
                                                std::uint32_t staging)
      : c_(c), op_(op), map_(map), staging_(staging + threadIdx.x / (32 * Warps) * (Subtiles * place_bytes)) {
    if constexpr (std::is_same_v<Op, LinearCombination>) {  // as in StoreTma
      only_scales_ = op.beta == 0.0F && tma_can_store(c) ? 1 : 0;
      ptx::opaque(only_scales_);
    }
  }

  // Whether C has columns for the warps that store together. row: of the warp's first accumulator.
  __device__ __forceinline__ bool has_row(int row) const { return row - 16 * rank() < c_.n; }

  // By all threads of the warps that store together. part: 16 rows of accumulators a warp
  // (epilogue_subtile.hpp); row and column: of the warp's first accumulator, a column and a row of C.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    static_assert(Part::rows == 1, "StoreTmaTransposed: a part is one row of 16 x 8 fragments");
    static_assert(Part::columns % 2 == 0, "StoreTmaTransposed: a box has two fragments");
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      const StoreTmaTransposed<Scaling, Subtiles, Warps> scaled(*this, Scaling{op_.alpha});
      if (only_scales_ != 0) {
        scaled(part, row, column);
      } else {
        scaled.store_rows({op_, c_}, part, row, column);
      }
    } else {
      apply_and_store(part, row, column);
    }
  }

  // Before the warp ends: its shared memory has been read.
  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  template <class, int, int>
  friend class StoreTmaTransposed;
  // The same places, another operation.
  template <class Other>
  __device__ __forceinline__ StoreTmaTransposed(const StoreTmaTransposed<Other, Subtiles, Warps>& store,
                                                const Op& op)
      : c_(store.c_), op_(op), map_(store.map_), staging_(store.staging_) {}

  template <class Part>
  __device__ __forceinline__ void apply_and_store(const Part& part, int row, int column) const {
    if constexpr (!is_linear<Op> && !is_interior<Op>) {
      // The same for all warps that store together: they synchronise.
      const int first = row - 16 * rank();
      if (first + 16 * Warps <= c_.n && column + operation_columns<Part> <= c_.m) {
        const InteriorOperation<Op> interior{op_};
        StoreTmaTransposed<InteriorOperation<Op>, Subtiles, Warps>(*this, interior)(part, row, column);
        return;
      }
    }
    // As in StoreTma: an opaque value keeps all that follows from it out of the mainloop's registers.
    Output c = c_;
    ptx::opaque(c.ld);
    if (c.type == Type::f32) {
      for_each_subtile<4, 4>(c, part, row, column, [&](std::uint32_t place, int j, int thread) {
        stage_32_bit(part, j, place, row, column, thread);
      });
    } else {
      const Type type = c.type == Type::f16 ? Type::f16 : Type::bf16;
      for_each_subtile<8, 2>(c, part, row, column, [&](std::uint32_t place, int j, int thread) {
        stage_16_bit(type, part, j, place, row, column, thread);
      });
    }
  }

  using Place = TransposedPlace<Warps>;
  static constexpr int place_bytes = Place::bytes;
  // The warp's number among the warps that store together.
  __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x) / 32 % Warps; }

  __device__ __forceinline__ static void synchronise() {
    if constexpr (Warps == 1) {
      __syncwarp();
    } else {
      ptx::bar_sync<32 * Warps>(NamedBarrier::transposed_store +
                                static_cast<int>(threadIdx.x) / (32 * Warps));
    }
  }

  // stage(place, j, thread) writes this warp's part of the boxes from fragment j on; `fragments` of them,
  // with elements of `element_bytes`, fill the place.
  template <int fragments, int element_bytes, class Part, class Stage>
  __device__ __forceinline__ void for_each_subtile(const Output& c, const Part& part, int row, int column,
                                                   const Stage& stage) const {
    constexpr int subtiles = (Part::columns + fragments - 1) / fragments;
    constexpr int width = transposed_box_width(Warps, element_bytes),
                  across = Warps * 16 * element_bytes / width;
    const bool by_tma = std::is_same_v<Op, Scaling> || tma_can_store(c);  // see operator()
    row -= 16 * rank();                                                   // the first warp's
#pragma unroll
    for (int s = 0; s < subtiles; ++s) {
      const int held = held_of(part, 8 * s * fragments, 8 * fragments);
      if (held <= 0) break;
      std::uint32_t staging = staging_;
      int thread = static_cast<int>(threadIdx.x) % (32 * Warps);
      ptx::opaque(staging, thread);  // as in StoreTma
      const std::uint32_t place = staging + s % Subtiles * place_bytes;
      // One thread has started the stores and waits for them: for all but the newest, which read other
      // places.
      if (s == 0) {
        constexpr int younger = is_fitted<Part> ? 0 : (subtiles - 1) % Subtiles;
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<younger>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Subtiles - 1>());
      }
      synchronise();
      stage(place, s * fragments, thread);
      // TMA reads through the other proxy.
      if (by_tma) cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
      synchronise();
      if (!by_tma) {
        Place::template store_elements<element_bytes>(c, place, row, column + 8 * s * fragments, held,
                                                      thread);
      } else if (thread == 0) {
#pragma unroll
        for (int i = 0; i < fragments / 2 * across; ++i) {
          const int j = s * fragments + i / across * 2;
          const int rows = held_of(part, 8 * j, 16);
          if (rows <= 0) break;
          const int to = (row * element_bytes + i % across * width) / 2;
          const std::uint32_t box = place + static_cast<std::uint32_t>(i * transposed_box_rows * width);
          store_box(map_, column + 8 * j, to, box);
          if (is_fitted<Part> && held_columns(part) % transposed_box_rows != 0 && rows == transposed_box_rows)
            store_box(map_, column + 8 * j + 8, to, box + 8 * width);
        }
        cuda::ptx::cp_async_bulk_commit_group();
      }
    }
  }

  // Stores by rows: a thread takes eight adjacent elements of a row of C at a time from the place, where they
  // are in f32 after this object's operation.
  template <class Part>
  __device__ __forceinline__ void store_rows(const CombinationRows& op, const Part& part, int row,
                                             int column) const {
    constexpr int fragments = 4, segments = 16 * Warps / segment_columns;  // of a place; of a row
    op.prefetch(column, held_columns(part), row - 16 * rank(), 16 * Warps,
                static_cast<int>(threadIdx.x) % (32 * Warps), 32 * Warps);
    // Not unrolled, as in StoreRows.
#pragma unroll 1
    for (int j = 0; j < Part::columns; j += fragments) {
      std::uint32_t place = staging_;
      int thread = static_cast<int>(threadIdx.x) % (32 * Warps);
      ptx::opaque(place, thread);  // as in StoreTma
      synchronise();               // the rows before have been read
#pragma unroll
      for (int i = 0; i < Part::columns; i += fragments) {
        if (i == j) stage_32_bit(RowOfTile<Part>{part, 0}, i, place, row, column, thread);
      }
      synchronise();
      const int first_row = column + 8 * j, first_column = row - 16 * rank(),
                rows = min(held_of(part, 8 * j, 8 * fragments), c_.m - first_row);
      if (op.has_whole_chunks() && (first_column + 16 * Warps <= c_.n || c_.n % segment_columns == 0)) {
        op.visit_element_bytes([&](auto bytes) {
          constexpr int element_bytes = decltype(bytes)::value;
          constexpr int columns = CombinationRows::chunk_columns<element_bytes>,
                        of_a_row = 16 * Warps / columns;
          const int first = thread % of_a_row * columns;
          if (first_column + first >= c_.n) return;
#pragma unroll 1
          for (int r = thread / of_a_row; r < rows; r += 32 * Warps / of_a_row) {
            const uint4 fetched = op.template fetch<element_bytes>(first_row + r, first_column + first);
            float values[columns];
            Place::load_row(place, r, first, values);
            op.template store_chunk<element_bytes>(values, fetched, first_row + r, first_column + first);
          }
        });
      } else {
        const int first = thread % segments * segment_columns, left = c_.n - first_column - first;
#pragma unroll 1
        for (int r = thread / segments; r < rows && left > 0; r += 32 * Warps / segments) {
          float values[segment_columns];
          Place::load_row(place, r, first, values);
          op.apply(values, first_row + r, first_column + first, left);
          op.store(c_, values, first_row + r, first_column + first, left);
        }
      }
    }
  }
  // The operation's result for this lane's part of four fragments from fragment j on, in column g of C, or
  // g + 8 where half is 1.
  template <class Part>
  __device__ __forceinline__ LaneRow<float> lane_column(Type type, const Part& part, int j, int half, int row,
                                                        int column, int lane) const {
    LaneRow<float> values{};
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      if (j + x < Part::columns) part.pair(0, j + x, half, values.value[x]);
    }
    apply_transposed(op_, c_, type, values, column + 8 * j + 2 * (lane % 4), row + 8 * half + lane / 4);
    return values;
  }

  // Writes 8 fragments, four boxes, by stmatrix, which transposes. No two rows of an 8 x 8 matrix conflict on
  // a bank.
  template <class Part>
  __device__ __forceinline__ void stage_16_bit(Type type, const Part& part, int j, std::uint32_t place,
                                               int row, int column, int thread) const {
    const int lane = thread % 32;
    // The row of 16 bytes that this lane addresses for stmatrix.
    const std::uint32_t to = Place::template address<2>(place, lane / 16 * 8 + lane % 8,
                                                        thread / 32 * 32 + lane / 8 % 2 * chunk_bytes);
#pragma unroll
    for (int quad = 0; quad < 2; ++quad) {
      if (j + 4 * quad >= Part::columns) break;
      std::uint32_t word[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const LaneRow<float> values = lane_column(type, part, j + 4 * quad, half, row, column, lane);
#pragma unroll
        for (int x = 0; x < 4; ++x) word[half][x] = pack_pair(type, values.value[x]);
      }
#pragma unroll
      for (int x = 0; x < 4; x += 2) {
        const std::uint32_t four[4] = {word[0][x], word[1][x], word[0][x + 1], word[1][x + 1]};
        constexpr int box_bytes = transposed_box_rows * 32 * Warps;
        ptx::stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(
            to + static_cast<std::uint32_t>((4 * quad + x) / 2 * box_bytes), four);
      }
    }
  }

  // Writes 4 fragments, two boxes, an element at a time. In boxes 64 bytes wide, the rows that a warp writes
  // at once would all stand on the same half of the banks: so lanes 16 to 31 write their two values in the
  // other order.
  template <class Part>
  __device__ __forceinline__ void stage_32_bit(const Part& part, int j, std::uint32_t place, int row,
                                               int column, int thread) const {
    const int lane = thread % 32, g = lane / 4, t = lane % 4;
    const bool swaps = Warps == 1 && g >= 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const LaneRow<float> values = lane_column(Type::f32, part, j, half, row, column, lane);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
#pragma unroll
        for (int y = 0; y < 2; ++y) {
          // 8 rows further the swizzle is the same.
          const std::uint32_t to = Place::template address<4>(place, 2 * t + (swaps ? 1 - y : y),
                                                              thread / 32 * 64 + (8 * half + g) * 4) +
                                   static_cast<std::uint32_t>(x / 2 * (transposed_box_rows * 64 * Warps) +
                                                              x % 2 * 8 * transposed_box_width(Warps, 4));
          ptx::st_shared_f32(to, swaps ? values.value[x][1 - y] : values.value[x][y]);
        }
      }
    }
  }

  Output c_;
  Op op_;
  const TensorMap& map_;
  std::uint32_t staging_;
  int only_scales_ = 0;  // see StoreTma
};

}  // namespace tenon
