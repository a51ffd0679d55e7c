// The transposed store of the kernel for unaligned operands: its accumulators are C^T, and what a warp holds
// of a row of C are 16 columns.
//
// The eight consumer warps of a tile stage a few rows of C in shared memory, 128 columns each. They store
// each other's rows while they stage the next ones (RealignedStore: rows of C at any address). They may leave
// the last rows to the store warps. Below: epilogue.hpp, realigned_store.hpp, store_registers.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/realigned_store.hpp"
#include "tenon/gemm/store_registers.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

// Where the rows of a tile are in C: rows row, row + rows_apart, row + 2 * rows_apart, ..., from column
// `column` on, a multiple of 128.
struct RowsOfC {
  int row, rows_apart, column;
  __device__ __forceinline__ int row_of(int i) const { return row + i * rows_apart; }
};

// Op: see epilogue.hpp. Fast: the 16-bit type of C that has realigned stores, beside f32.
template <class Op, Type Fast>
class StoreUnalignedTransposed {
 public:
  static constexpr int columns = 128, threads = 256;
  static constexpr int bytes = 24576;  // of shared memory, from a multiple of 1024 bytes on

  // Takes the named barrier 1 for these threads.
  __device__ __forceinline__ StoreUnalignedTransposed(const Output& c, const Op& op, std::uint32_t staging)
      : c_(c), op_(op), staging_(staging) {}

  // Stores `Rows` rows of C. Called by all 256 threads of two warpgroups. values: the accumulators; `reg` is
  // what WgmmaAccumulator::when_done() passes. Column x of the accumulators is row x of C; rows g and g + 8
  // of warp w are columns first_column() and the next one. leave_last: if leaves_last(), the last rows are
  // only staged, for last_rows(); they are in shared memory when all threads have returned. ready(part):
  // called by all threads before they read the accumulators of a part, part 0 first.
  template <int Rows, class Values, class Ready>
  __device__ __forceinline__ void rows(const Values& values, const RowsOfC& to, bool leave_last,
                                       const Ready& ready) const {
    static_assert(Rows % 32 == 0, "StoreUnalignedTransposed: a tile must have a multiple of 32 rows");
    if constexpr (is_plain) {
      if (op_.beta == 0.0F && c_.type == Fast) return store_rows<2, Rows>(values, to, leave_last, ready);
      if (op_.beta == 0.0F && c_.type == Type::f32) return store_rows<4, Rows>(values, to, leave_last, ready);
    }
    store_any<Rows>(values, to, ready);
  }
  // The i-th register, 0 to 15, of a part of the accumulators. A part is 32 rows.
  template <int Rows>
  __device__ __forceinline__ static constexpr int register_of(int part, int i) {
    return 16 * part + i;
  }
  // Whether rows() leaves any of `Rows` rows: realigned stores do, if the buffers do not hold all rows.
  template <int Rows>
  __device__ __forceinline__ bool leaves_last() const {
    if constexpr (is_plain)
      return op_.beta == 0.0F &&
             ((c_.type == Fast && fill_buffers<2, Rows>) || (c_.type == Type::f32 && fill_buffers<4, Rows>));
    return false;
  }
  // Stores the rows that were left. Called by `warps` warps; `warp` is the number of this one.
  template <int Rows>
  __device__ __forceinline__ void last_rows(const RowsOfC& to, int warp, int warps) const {
    if (c_.type == Type::f32) {
      if constexpr (fill_buffers<4, Rows>) store_last<4, Rows>(to, warp, warps);
    } else {
      if constexpr (fill_buffers<2, Rows>) store_last<2, Rows>(to, warp, warps);
    }
  }

 private:
  static constexpr int part_rows = 32, barrier = 1;
  static constexpr bool is_plain = std::is_same_v<Op, LinearCombination>;
  // Used in turn.
  static constexpr int buffers = 3, buffer_bytes = bytes / buffers;
  template <int size>
  static constexpr int rows_of_buffer = buffer_bytes / (size * columns);
  template <int size, int Rows>
  static constexpr bool fill_buffers = Rows / rows_of_buffer<size> > buffers;

  __device__ __forceinline__ static void synchronise() { ptx::bar_sync<threads>(barrier); }
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32 % 8; }

  // The column of row g of this warp's accumulators. The columns of a warp are 8 apart.
  __device__ __forceinline__ static int first_column() {
    return warp() / 4 * 64 + lane_id() / 4 * 8 + warp() % 4 * 2;
  }

  // Elements by which a row is rotated in a buffer. Rows 2r and 2r + 1 rotate equally, and the four rows that
  // a warp writes at once stand on different banks.
  __device__ __forceinline__ static int rotation_of(int row) { return row / 2 % 4 * 2; }
  // Address of element x of a row.
  template <int size>
  __device__ __forceinline__ static std::uint32_t address_of(std::uint32_t buffer, int row, int x) {
    return buffer + static_cast<std::uint32_t>((row * columns + (x + rotation_of(row)) % columns) * size);
  }

  // The same for elements of 4 bytes. Each quarter of a row is rotated by itself, so that equal places of the
  // quarters stand on different banks.
  __device__ __forceinline__ static std::uint32_t address_in_quarters(std::uint32_t buffer, int row, int x) {
    const int quarter = x / 32, in_quarter = (x + rotation_of(row) + 8 * quarter) % 32;
    return buffer + static_cast<std::uint32_t>((row * columns + quarter * 32 + in_quarter) * 4);
  }

  // Stores alpha * accumulator where C is Fast or f32, with elements of `size` bytes. leave_last: leaves the
  // rows that fill all buffers.
  template <int size, int Rows, class Values, class Ready>
  __device__ __forceinline__ void store_rows(const Values& values, const RowsOfC& to, bool leave_last,
                                             const Ready& ready) const {
    constexpr int rows = rows_of_buffer<size>, passes = Rows / rows, share = rows / 8;
    static_assert(share == 2 * (32 / Realigned<size>::lanes),
                  "StoreUnalignedTransposed: a lane has two rows of a buffer");
    const int first = share * warp() + lane_id() / Realigned<size>::lanes;
    const Realigned<size> stores[] = {store_from<size>(to, first), store_from<size>(to, first + share / 2)};
    const std::int64_t step = std::int64_t{rows} * to.rows_apart * c_.ld * size;
    const auto stage_pass = [&](int pass) {
      if (pass >= passes) return;
      if (pass * rows % part_rows == 0) ready(pass * rows / part_rows);
      stage<size, rows>(values, pass, staging_ + staging_offset(pass, passes));
    };
    stage_pass(0);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      synchronise();
      stage_pass(pass + 1);
      if (fill_buffers<size, Rows> && pass == passes - buffers && leave_last) {
        stage_pass(pass + 2);
        return;
      }
      const std::uint32_t buffer = staging_offset(pass, passes);
      typename Realigned<size>::Loaded loaded[] = {stores[0].load(buffer), stores[1].load(buffer)};
      const int rows_before = pass * rows * to.rows_apart;  // since the first pass
#pragma unroll
      for (int i = 0; i < 2; ++i) stores[i].store(loaded[i], rows_before, pass * step);
    }
  }
  // The last passes take the buffers in their order.
  __device__ __forceinline__ static constexpr std::uint32_t staging_offset(int pass, int passes) {
    return static_cast<std::uint32_t>((pass + (buffers - 1) * passes) % buffers * buffer_bytes);
  }

  // Stores what store_rows() left. A warp takes rows 8 apart, whose addresses have the same offset.
  template <int size, int Rows>
  __device__ __forceinline__ void store_last(const RowsOfC& to, int warp, int warps) const {
    constexpr int rows = buffers * rows_of_buffer<size>;
    constexpr int together = 32 / Realigned<size>::lanes, apart = 8 * together;  // rows of a warp at a time
    static_assert(rows % (2 * apart) == 0, "StoreUnalignedTransposed: a warp stores two rows at a time");
    const std::int64_t step = std::int64_t{apart} * to.rows_apart * c_.ld * size;
    const RowsOfC last{to.row_of(Rows - rows), to.rows_apart, to.column};
#pragma unroll 1
    for (int first = warp; first < 8; first += warps) {
      Realigned<size> store = store_from<size>(last, first + 8 * (lane_id() / Realigned<size>::lanes));
#pragma unroll 1
      for (int row = 0; row < rows; row += 2 * apart) {
        typename Realigned<size>::Loaded loaded[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) loaded[i] = store.load(i * apart * size * columns);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          store.store(loaded[i], 0, 0);
          store.advance_in_c(apart * to.rows_apart, step);
        }
        store.advance_in_shared(2 * apart * size * columns);
      }
    }
  }

  // Rows g and g + 8 of the accumulators are two neighbours of a row of C.
  template <int size, int rows, class Values>
  __device__ __forceinline__ void stage(const Values& values, int pass, std::uint32_t buffer) const {
    const int t = lane_id() % 4;
    const std::uint32_t place = address_of<size>(buffer, 2 * t, first_column());  // 2 t + 1 rotates equally
#pragma unroll
    for (int j = 0; j < rows / 8; ++j) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int first = 4 * (pass * rows / 8 + j) + y;
        const float pair[2] = {op_.alpha * values.reg[first], op_.alpha * values.reg[first + 2]};
        const std::uint32_t to = place + (8 * j + y) * columns * size;
        if constexpr (size == 2) {
          ptx::st_shared_b32(to, pack_pair(Fast, pair));
        } else {
          ptx::st_shared_v2_f32(to, pair);
        }
      }
    }
  }

  template <int size>
  using Realigned = RealignedStore<size, columns>;
  // The store of row `row` of a buffer. It serves every row that passes through this place of the buffer:
  // their addresses have the same offset from a multiple of 16 bytes.
  template <int size>
  __device__ __forceinline__ Realigned<size> store_from(const RowsOfC& to, int row) const {
    return Realigned<size>(c_, to.row_of(row), to.column,
                           staging_ + static_cast<std::uint32_t>(row * columns * size), rotation_of(row));
  }

  // Applies any operation, with C of any type. The accumulators are staged as f32.
  template <int Rows, class Values, class Ready>
  __device__ __forceinline__ void store_any(const Values& values, const RowsOfC& to,
                                            const Ready& ready) const {
    constexpr int rows = buffer_bytes / (4 * columns);
#pragma unroll 1
    for (int pass = 0; pass < Rows / rows; ++pass) {
      const std::uint32_t buffer = staging_ + static_cast<std::uint32_t>(pass % 2 * buffer_bytes);
      const std::uint32_t place = address_in_quarters(buffer, 2 * (lane_id() % 4), first_column());
#pragma unroll
      for (int i = 0; i < Rows / rows; ++i) {
        if (i != pass) continue;  // registers have no index
        if (i * rows % part_rows == 0) ready(i * rows / part_rows);
#pragma unroll
        for (int j = 0; j < rows / 8; ++j) {
#pragma unroll
          for (int y = 0; y < 2; ++y) {
            const int first = 4 * (i * rows / 8 + j) + y;
            const float pair[2] = {values.reg[first], values.reg[first + 2]};
            ptx::st_shared_v2_f32(place + (8 * j + y) * columns * 4, pair);
          }
        }
      }
      synchronise();
      const int row = 2 * warp() + lane_id() / 16, l = lane_id() % 16;
      LaneRow<float> of_lane;
#pragma unroll
      for (int x = 0; x < 4; ++x)
        ptx::ld_shared_v2_f32(of_lane.value[x],
                              address_in_quarters(buffer, row, l / 4 * 32 + l % 4 * 2 + 8 * x));
      store_lane_row(c_, op_, of_lane, to.row_of(pass * rows + row), to.column + l / 4 * 32 + l % 4 * 2);
    }
  }

  Output c_;
  Op op_;
  std::uint32_t staging_;
};

}  // namespace tenon
