// The store of warp tiles (mma.sync) to a C of 32 bits, after the mainloop: each warp moves eight rows at a
// time through shared memory, so that a lane stores 16 bytes and eight lanes a whole 128-byte line. Straight
// from registers four lanes store 32 bytes of a row. C whose rows do not begin on 16 bytes, and types of C
// that have not 32 bits, are left to store_registers.hpp. Below: store_registers.hpp, ptx/st_shared.hpp.
#pragma once

#include "tenon/gemm/store_registers.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

template <class Op>
class StoreWideRows {
  static constexpr int rows = 8;                    // at a time
  static constexpr int elements = chunk_bytes / 4;  // of a chunk

 public:
  // Shared memory of a warp with tiles N columns wide.
  template <int N>
  static constexpr int bytes_of_warp = rows* N * 4;

  // shared: bytes_of_warp for each warp of the CTA, from a multiple of 256 bytes on, which the mainloop used.
  __device__ __forceinline__ StoreWideRows(const Output& c, const Op& op, const void* shared)
      : c_(c), op_(op), registers_(c, op), shared_(ptx::shared_address(shared)) {}

  // By all threads of the CTA, with the position of each warp tile's first element in C.
  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int tile_row, int tile_column) const {
    if (c_.type == type_of<Tile> && c_.ld % elements == 0 &&
        reinterpret_cast<std::uintptr_t>(c_.data) % chunk_bytes == 0) {
      store_chunks(tile, tile_row, tile_column);
    } else {
      registers_(tile, tile_row, tile_column);
    }
  }

  // The same for a C of 32 bits whose rows begin on multiples of 16 bytes.
  template <class Tile>
  __device__ __forceinline__ void store_chunks(Tile& tile, int tile_row, int tile_column) const {
    using Value = typename Tile::Value;
    static_assert(sizeof(Value) == 4, "StoreWideRows: the accumulators have 32 bits");
    __syncthreads();  // all warps have read the last stage
    const std::uint32_t staging = shared_ + threadIdx.x / 32 * bytes_of_warp<Tile::n>;
    const int t = lane_id() % 4;
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
        const int row = tile_row + 16 * i + rows * half, g = lane_id() / 4;
        __syncwarp();  // the rows before have been read
#pragma unroll
        for (int j = 0; j < Tile::columns; j += 4) {
          LaneRow<Value> values;
#pragma unroll
          for (int x = 0; x < 4; ++x) tile.pair(i, j + x, half, values.value[x]);
          apply(op_, c_, type_of<Tile>, values, row + g, tile_column + 8 * j + 2 * t);
#pragma unroll
          for (int x = 0; x < 4; ++x) {
            std::uint32_t words[2];
            memcpy(words, values.value[x], sizeof words);
            ptx::st_shared_v2_b32(at<Tile::n>(staging, g, 2 * (j + x) + t / 2) + t % 2 * 8, words);
          }
        }
        __syncwarp();
        store_rows<Tile::n>(staging, row, tile_column);
      }
    }
  }

 private:
  // The type of C that takes the accumulators as they are.
  template <class Tile>
  static constexpr Type type_of = std::is_same_v<typename Tile::Value, float> ? Type::f32 : Type::s32;

  // The address of a chunk. The swizzle puts the four rows to which 16 lanes store 8 bytes each on different
  // banks.
  template <int N>
  __device__ __forceinline__ static std::uint32_t at(std::uint32_t staging, int row, int chunk) {
    return staging + static_cast<std::uint32_t>(row * N * 4 + (chunk ^ row % 4 * 2) * chunk_bytes);
  }

  template <int N>
  __device__ __forceinline__ void store_rows(std::uint32_t staging, int row, int column) const {
    constexpr int chunks = N / elements, rows_at_once = 32 / chunks;
    static_assert(rows % rows_at_once == 0 && 32 % chunks == 0,
                  "StoreWideRows: a warp tile is 32, 64 or 128 columns wide");
    const int chunk = lane_id() % chunks, first = column + elements * chunk;
#pragma unroll
    for (int pass = 0; pass < rows; pass += rows_at_once) {
      const int down = pass + lane_id() / chunks;
      std::uint32_t word[elements];
      ptx::ld_shared_v4_b32(word, at<N>(staging, down, chunk));
      if (row + down >= c_.m) continue;
      auto* const to = static_cast<std::uint32_t*>(c_.data) + ((row + down) * c_.ld + first);
      if (first + elements <= c_.n) {
        *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
      } else {
#pragma unroll
        for (int e = 0; e < elements; ++e) {
          if (first + e < c_.n) to[e] = word[e];
        }
      }
    }
  }

  Output c_;
  Op op_;
  StoreRegisters<Op> registers_;
  std::uint32_t shared_;
};

}  // namespace tenon
