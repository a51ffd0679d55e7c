// The epilogue of kernels whose sums are C, rows of which came in eighths: of a warp's 16 rows g and the next
// one, g + 8 of its fragments, are neighbours, and those of different g are 8 apart.
//
// Each warp lays its own rows down in shared memory, 8 at a time that begin equally, and carries them to C
// (LineCarrier: rows of C begin anywhere). Nobody meets anybody. Below: epilogue.hpp, line_carrier.hpp,
// store_turned.hpp for LinesOfC.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/line_carrier.hpp"
#include "tenon/gemm/store_turned.hpp"

namespace tenon {

// Op: see epilogue.hpp. Fast: the type of 16 bits that leaves in lines, as f32 does. Used like StoreTurned,
// as the epilogue of a product whose transpose is C: "lines" are columns of C, all neighbours, and "columns"
// its rows.
template <class Op, Type Fast>
class StoreEighths {
  static constexpr int warps = 8, rows_at_once = 8;
  // Lines stand 16 bytes further than their length: those that a warp writes at once on different banks (of 4
  // bytes two on one).
  template <int size, int columns>
  static constexpr int pitch = columns* size + 16;
  static constexpr int bytes_of_warp = rows_at_once * pitch<2, 256>;

 public:
  static constexpr int bytes = warps * bytes_of_warp;  // of shared memory, from a multiple of 16 bytes on

  __device__ __forceinline__ StoreEighths(const Output& c, const Op& op, std::uint32_t staging, int)
      : c_(c), op_(op), staging_(staging) {}

  // By all 256 threads of two warpgroups, `Columns` columns of 128 rows of C. values, ready: see StoreTurned.
  template <int Columns, class Values, class Ready>
  __device__ __forceinline__ void rows(const Values& values, const LinesOfC& lines, bool,
                                       const Ready& ready) const {
    static_assert(Columns % 128 == 0, "StoreEighths: a tile must have a multiple of 128 columns");
    const int row = lines.column + warp() / 4 * 64 + warp() % 4 * 2, column = lines.row;
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      if (op_.beta == 0.0F && c_.type == Fast)
        return store_lines<2, Columns, Columns>(values, row, column, ready);
      if (op_.beta == 0.0F && c_.type == Type::f32)
        return store_lines<4, 128, Columns>(values, row, column, ready);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < Columns / 8; j += 4) {
        if (j % 8 == 0) ready(part_of<Columns>(j, half));
        Strip strip;
#pragma unroll
        for (int x = 0; x < 4; ++x) {
#pragma unroll
          for (int y = 0; y < 2; ++y) strip.value[x][y] = values.reg[4 * (j + x) + 2 * half + y];
        }
        store_strip(c_, op_, strip, row + lane_id() / 4 * 8 + half, column + 8 * j + lane_id() % 4 * 2);
      }
    }
  }
  // Number i, 0 to 15, of the registers that are a part of sums: those of 64 columns of 8 rows that begin
  // equally.
  template <int Columns>
  __device__ __forceinline__ static constexpr int register_of(int part, int i) {
    const int half = part / (Columns / 64), j = part % (Columns / 64) * 8 + i / 2;
    return 4 * j + 2 * half + i % 2;
  }
  // Nothing is left to others.
  template <int Columns>
  __device__ __forceinline__ static constexpr bool leaves_last() {
    return false;
  }
  template <int Columns>
  __device__ __forceinline__ static void last_rows(const LinesOfC&, int, int) {}

 private:
  // The part of fragment j of the rows g + 8 half.
  template <int Columns>
  __device__ __forceinline__ static constexpr int part_of(int j, int half) {
    return half * (Columns / 64) + j / 8;
  }
  __device__ __forceinline__ static int warp() {
    return static_cast<int>(threadIdx.x) / 32 % warps;
  }

  // alpha * sum in C of elements of so many bytes, Fast or f32. columns: of a line. row: of this warp's first
  // sum.
  template <int size, int columns, int Columns, class Values, class Ready>
  __device__ __forceinline__ void store_lines(const Values& values, int row, int column,
                                              const Ready& ready) const {
    using Carrier = LineCarrier<size, columns>;
    constexpr int together = 32 / Carrier::lanes, line_bytes = pitch<size, columns>;
    static_assert(rows_at_once * line_bytes <= bytes_of_warp, "StoreEighths: 8 lines must fit");
    const std::uint32_t staging = staging_ + static_cast<std::uint32_t>(warp() * bytes_of_warp);
    const int mine = lane_id() / Carrier::lanes;  // of the lines that are carried at once
    const std::int64_t step = std::int64_t{together} * 8 * c_.ld * size;
#pragma unroll
    for (int first = 0; first < Columns; first += columns) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        __syncwarp();  // what was laid down before has been read
#pragma unroll
        for (int j = 0; j < columns / 8; ++j) {
          if (j % 8 == 0) ready(part_of<Columns>(first / 8 + j, half));
          lay_down<size>(values, first / 8 + j, half,
                         staging + static_cast<std::uint32_t>(lane_id() / 4 * line_bytes +
                                                              (8 * j + lane_id() % 4 * 2) * size));
        }
        __syncwarp();
        const Carrier carrier(c_, row + half + 8 * mine, column + first,
                              staging + static_cast<std::uint32_t>(mine * line_bytes), 0);
#pragma unroll
        for (int line = 0; line < rows_at_once; line += 2 * together) {
          typename Carrier::Loaded loaded[2];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            loaded[i] = carrier.load(static_cast<std::uint32_t>((line + i * together) * line_bytes));
#pragma unroll
          for (int i = 0; i < 2; ++i)
            carrier.store(loaded[i], 8 * (line + i * together), (line / together + i) * step);
        }
      }
    }
  }

  // Fragment j of the rows g + 8 half.
  template <int size, class Values>
  __device__ __forceinline__ void lay_down(const Values& values, int j, int half, std::uint32_t to) const {
    const int at = 4 * j + 2 * half;
    const float pair[2] = {op_.alpha * values.reg[at], op_.alpha * values.reg[at + 1]};
    if constexpr (size == 2) {
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(pack_pair(Fast, pair)) : "memory");
    } else {
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(pair[0]), "f"(pair[1]) : "memory");
    }
  }

  Output c_;
  Op op_;
  std::uint32_t staging_;
};

}  // namespace tenon
