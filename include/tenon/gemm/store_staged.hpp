// The store of a warp tile through shared memory: the warp writes its rounded accumulators into memory of its
// own and reads them back as chunks of rows, which it stores 16 bytes at a time. That takes a third of the
// instructions of StoreRegisters, which counts where a warp stores after a few mma. Below:
// store_registers.hpp, shared/tile.hpp, ptx/ld_shared.hpp, ptx/st_shared.hpp.
#pragma once

#include "tenon/gemm/store_registers.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// M x N: the warp tile.
template <int M, int N>
class StoreStaged {
  using Staged = SharedTile<__half, M, N>;
  static_assert(Staged::panels == 1, "StoreStaged: a row of the warp tile must fit into 128 bytes");
  static constexpr int chunks_per_row = N / Staged::chunk_elements, rows_per_pass = 32 / chunks_per_row;

 public:
  static constexpr int bytes = Staged::bytes;  // of each warp, from where the swizzle begins

  // Whether C takes whole chunks: 16-bit elements, rows that begin on 16 bytes and end with a whole chunk.
  __device__ __forceinline__ static bool takes(const Output& c) {
    return c.type != Type::f32 && c.n % 8 == 0 && c.ld % 8 == 0 &&
           reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
  }

  // By whole warps, C = alpha * tile, for a C that it takes. staging: shared-window address of `bytes`, which
  // no other warp uses. row, column: of the tile's first element in C.
  template <class Tile>
  __device__ __forceinline__ static void store(const Output& c, float alpha, const Tile& tile, int row,
                                               int column, std::uint32_t staging) {
    const int lane = lane_id();
    // The 16-bit types share their code and differ only in how a pair is rounded.
    if (c.type == Type::f16) {
      stage(Type::f16, alpha, tile, lane, staging);
    } else {
      stage(Type::bf16, alpha, tile, lane, staging);
    }
    __syncwarp();
    const int first_row = lane / chunks_per_row, chunk = lane % chunks_per_row;
    auto* to = static_cast<std::uint16_t*>(c.data) + ((row + first_row) * c.ld + column + 8 * chunk);
    const int rows_left = column + 8 * chunk < c.n ? c.m - row - first_row : 0;
#pragma unroll
    for (int pass = 0; pass < M / rows_per_pass; ++pass) {
      std::uint32_t words[4];
      ptx::ld_shared_v4_b32(words, staging + static_cast<std::uint32_t>(Staged::offset(
                                                 pass * rows_per_pass + first_row, 8 * chunk)));
      if (pass * rows_per_pass < rows_left)
        *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
      to += rows_per_pass * c.ld;
    }
  }

  // Wavefronts beyond the least. Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    int total = 0;
    LaneAddresses address{};
    for (int j = 0; j < N / 8; ++j) {
      for (int lane = 0; lane < 32; ++lane)
        address.at[lane] = Staged::offset(lane / 4, 8 * j) + 4 * (lane % 4);
      total += bank_conflicts(address, 4);
    }
    for (int lane = 0; lane < 32; ++lane)
      address.at[lane] = Staged::offset(lane / chunks_per_row, 8 * (lane % chunks_per_row));
    return total + bank_conflicts(address, chunk_bytes);
  }

 private:
  template <class Tile>
  __device__ __forceinline__ static void stage(Type type, float alpha, const Tile& tile, int lane,
                                               std::uint32_t staging) {
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
#pragma unroll
        for (int j = 0; j < Tile::columns; ++j) {
          float pair[2];
          tile.pair(i, j, half, pair);
          pair[0] *= alpha;
          pair[1] *= alpha;
          const int offset = Staged::offset(16 * i + 8 * half + lane / 4, 8 * j) + 4 * (lane % 4);
          ptx::st_shared_b32(staging + static_cast<std::uint32_t>(offset), pack_pair(type, pair));
        }
      }
    }
  }
};

}  // namespace tenon
