// Epilogue subtiles: 16 rows x 128 bytes of C in shared memory, with the 128-byte swizzle. A warp writes its
// accumulators there after the epilogue operation. Then TMA (store_tma.hpp) or the warp itself
// (store_subtile.hpp) stores them to C. Below: epilogue.hpp, shared/swizzle.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/epilogue.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/ptx/stmatrix.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

inline constexpr int subtile_rows = 16, subtile_row_bytes = 128;
inline constexpr int subtile_bytes = subtile_rows * subtile_row_bytes;

// Address of the 16-bit element e of a row of a subtile. subtile: its address in the shared window.
__device__ __forceinline__ std::uint32_t in_subtile(std::uint32_t subtile, int row, int e) {
  return subtile +
         static_cast<std::uint32_t>(row * subtile_row_bytes +
                                    swizzled_chunk<subtile_row_bytes>(row, e / 8) * chunk_bytes + e % 8 * 2);
}

// The functions below are called by whole warps. part: 16 rows of accumulators as wgmma holds them
// (WarpgroupTile::for_each_part): part.pair(0, j, half, two) gives this lane's two adjacent elements of the
// 16 x 8 fragment j, in row g or (half) g + 8. row, column: of the warp's first accumulator in C. type: that
// of C.

// Row i of a tile of such parts, for a loop over parts that is not unrolled: registers have no addresses, so
// each part is staged by code of its own in the loop, and the compiler would compute what that needs of all
// accumulators before the loop if it could.
template <class Tile>
struct RowOfTile {
  using Value = typename Tile::Value;
  static constexpr int rows = 1, columns = Tile::columns;
  const Tile& tile;
  int i;
  __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
    tile.pair(i, j, half, two);
    ptx::hold(two);
  }
};

// The columns for which the operation is called: those of a part, rounded up to groups of four fragments.
template <class Part>
inline constexpr int operation_columns = (Part::columns + 3) / 4 * 32;

// This lane's elements of four fragments, from fragment j on, after the operation.
template <class Op, class Part>
__device__ __forceinline__ LaneRow<typename Part::Value> lane_row(const Op& op, const Output& c, Type type,
                                                                  const Part& part, int j, int half, int row,
                                                                  int column, int lane) {
  LaneRow<typename Part::Value> values{};
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if (j + x < Part::columns) part.pair(0, j + x, half, values.value[x]);
  }
  apply(op, c, type, values, row + 8 * half + lane / 4, column + 8 * j + 2 * (lane % 4));
  return values;
}

// Writes 8 fragments of 16-bit elements by stmatrix; what is beyond the part is zero. No two rows of an 8 x 8
// matrix conflict on a bank.
template <class Op, class Part>
__device__ __forceinline__ void stage_16_bit(const Op& op, const Output& c, Type type, const Part& part,
                                             int j, std::uint32_t subtile, int row, int column, int lane) {
  const int to_row = lane % 16, chunk = lane / 16;  // that this lane addresses for stmatrix
#pragma unroll
  for (int quad = 0; quad < 2; ++quad) {
    if (j + 4 * quad >= Part::columns) break;
    std::uint32_t word[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto values = lane_row(op, c, type, part, j + 4 * quad, half, row, column, lane);
#pragma unroll
      for (int x = 0; x < 4; ++x) word[half][x] = pack_pair(type, values.value[x]);
    }
#pragma unroll
    for (int x = 0; x < 4; x += 2) {
      const int at = to_row * subtile_row_bytes +
                     swizzled_chunk<subtile_row_bytes>(to_row, 4 * quad + x + chunk) * chunk_bytes;
      const std::uint32_t four[4] = {word[0][x], word[1][x], word[0][x + 1], word[1][x + 1]};
      ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(subtile + static_cast<std::uint32_t>(at), four);
    }
  }
}

// Writes 8 fragments of 16-bit elements of 8 rows alone, g or (half) g + 8, to 8 rows of 128 bytes.
template <class Op, class Part>
__device__ __forceinline__ void stage_16_bit_half(const Op& op, const Output& c, Type type, const Part& part,
                                                  int j, int half, std::uint32_t to, int row, int column,
                                                  int lane) {
  const int to_row = lane % 8;
#pragma unroll
  for (int quad = 0; quad < 2; ++quad) {
    if (j + 4 * quad >= Part::columns) break;
    const auto values = lane_row(op, c, type, part, j + 4 * quad, half, row, column, lane);
    std::uint32_t word[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) word[x] = pack_pair(type, values.value[x]);
    const int at = to_row * subtile_row_bytes +
                   swizzled_chunk<subtile_row_bytes>(to_row, 4 * quad + lane / 8) * chunk_bytes;
    ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(to + static_cast<std::uint32_t>(at), word);
  }
}

__device__ __forceinline__ void store_two(std::uint32_t address, float x, float y) {
  const float two[2] = {x, y};
  ptx::st_shared_v2_f32(address, two);
}
__device__ __forceinline__ void store_two(std::uint32_t address, std::int32_t x, std::int32_t y) {
  const std::uint32_t two[2] = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)};
  ptx::st_shared_v2_b32(address, two);
}

// Writes 4 fragments of 32-bit elements, 8 bytes a lane. Half a warp writes at once, 4 rows x 32 bytes, and
// rows 2r and 2r + 1 would conflict on the same banks: so every other row takes its fragments in another
// order.
template <class Op, class Part>
__device__ __forceinline__ void stage_32_bit(const Op& op, const Output& c, Type type, const Part& part,
                                             int j, std::uint32_t subtile, int row, int column, int lane) {
  const int g = lane / 4, t = lane % 4;
  const bool odd = g % 2 != 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const auto values = lane_row(op, c, type, part, j, half, row, column, lane);
    const int to_row = g + 8 * half;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int mine = odd ? x ^ 2 : x;
      const auto& even_values = values.value[x];
      const auto& odd_values = values.value[x ^ 2];
      const int at = to_row * subtile_row_bytes +
                     swizzled_chunk<subtile_row_bytes>(to_row, 2 * mine + t / 2) * chunk_bytes + t % 2 * 8;
      store_two(subtile + static_cast<std::uint32_t>(at), odd ? odd_values[0] : even_values[0],
                odd ? odd_values[1] : even_values[1]);
    }
  }
}

}  // namespace tenon
