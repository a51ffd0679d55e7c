// The store of a C whose rows consist of whole, aligned chunks of 16 bytes, from the registers of a warp: a
// short form of StoreRegisters for C = alpha * accumulators. Below: store_registers.hpp.
#pragma once

#include "tenon/gemm/store_registers.hpp"

namespace tenon {

// Whether C takes whole chunks: rows begin on 16 bytes and end with a whole chunk. C: f32, f16 or bf16.
__device__ __forceinline__ bool takes_whole_chunks(const Output& c) {
  const int chunk = c.type == Type::f32 ? 4 : 8;  // elements
  return c.n % chunk == 0 && c.ld % chunk == 0 && reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
}

// Of f32: four lanes store 32 bytes of a row.
template <class Tile>
__device__ __forceinline__ void store_float_chunks(const Output& c, float alpha, const Tile& tile, int row,
                                                   int column) {
  row += lane_id() / 4;
  column += lane_id() % 4 * 2;
  auto* const to = static_cast<float*>(c.data) + (row * c.ld + column);
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
      const int down = 16 * i + 8 * half;
#pragma unroll
      for (int j = 0; j < Tile::columns; ++j) {
        float pair[2];
        tile.pair(i, j, half, pair);
        if (row + down < c.m && column + 8 * j < c.n)
          *reinterpret_cast<float2*>(to + (down * c.ld + 8 * j)) =
              make_float2(alpha * pair[0], alpha * pair[1]);
      }
    }
  }
}

// By whole warps. Tile: WarpTile of a multiple of 32 columns. row, column: of the tile's first element in C.
template <class Tile>
__device__ __forceinline__ void store_chunks(const Output& c, float alpha, const Tile& tile, int row,
                                             int column) {
  if (c.type == Type::f32) {
    store_float_chunks(c, alpha, tile, row, column);
    return;
  }
  const int g = lane_id() / 4, t = lane_id() % 4;
  auto* const to = static_cast<std::uint16_t*>(c.data) + ((row + g) * c.ld + column + 8 * t);
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
#pragma unroll
      for (int j = 0; j < Tile::columns; j += 4) {
        std::uint32_t word[4];
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          float pair[2];
          tile.pair(i, j + x, half, pair);
          pair[0] *= alpha;
          pair[1] *= alpha;
          word[x] = pack_pair(c.type, pair);
        }
        transpose_quad(word, t);
        const int down = 16 * i + 8 * half;
        if (row + g + down < c.m && column + 8 * (j + t) < c.n)
          *reinterpret_cast<uint4*>(to + (down * c.ld + 8 * j)) =
              make_uint4(word[0], word[1], word[2], word[3]);
      }
    }
  }
}

}  // namespace tenon
