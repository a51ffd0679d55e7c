// The walk of operand_cursor.hpp over tiles of f64, whose fragments are loaded by ld.shared: ldmatrix hands a
// lane 32 bits of a row, half of an f64.
//
// The k of an instruction is permuted, for A and B alike: what m16n8k16 takes for k = t, t + 4, t + 8 and
// t + 12 are k = 2t, 2t + 1, 2t + 8 and 2t + 9 of the tile. Only the order changes in which 16 products are
// added. Where k is contiguous, a lane then loads two in 16 bytes (the fragments have them 4 apart: PTX ISA,
// "Matrix Fragments for mma.m16n8k16"). Where m (n) is contiguous, a lane loads 8 bytes at a time, and the
// four rows of k that 16 lanes read are 2 apart, so that the swizzle puts them on different banks. Below:
// operand_cursor.hpp, fragment/f64.hpp.
#pragma once

#include "tenon/fragment/f64.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {

// `first`, Part: as in OperandCursor.
template <class Tile, Operand operand, int Part>
class OperandCursor<Tile, operand, Part, double> {
  static_assert(Part % 16 == 0 && Tile::extent % Part == 0,
                "OperandCursor: a warp's part is a multiple of 16 and divides the tile's extent");
  static constexpr int k_of_part = 8;
  static_assert(Tile::depth % MmaOf<double>::k == 0,
                "OperandCursor: a k-tile of f64 has a depth that is a multiple of 16");
  static_assert(Tile::row_bytes == (Tile::k_major ? 64 : 128),
                "OperandCursor: rows of f64 in shared memory have 64 bytes where k is contiguous, else 128");

 public:
  // A fragment of A has rows g and g + 8 for lane 4 g + t, a pair of fragments of B columns g and g + 8.
  static constexpr int rows_apart = 8;

  // Byte offset of (g, k = 2t), from which step() goes on.
  TENON_HOST_DEVICE static constexpr int lane_offset(int lane, int first) {
    const int at = first + lane / 4, k = lane % 4 * 2;
    return Tile::k_major ? Tile::offset(at, k) : Tile::offset(k, at);
  }
  // To block i of 16 rows (columns) and part k_part of 8 along k, row g + 8 * half, k = 2t + odd. Where k is
  // contiguous a load holds both k, and odd is 0.
  TENON_HOST_DEVICE static constexpr int step(int lane_offset, int i, int k_part, int half, int odd) {
    if (Tile::k_major) {
      // The swizzle repeats every 8 rows.
      return lane_offset + (16 * i + rows_apart * half) * Tile::row_bytes + k_part * Tile::panel_bytes;
    }
    // 16 elements fill a row; half of it is four chunks. From an even row of k to the next one the swizzle
    // flips the lowest bit of the chunk.
    const int flipping = half * 4 * chunk_bytes + odd * (Tile::row_bytes + chunk_bytes);
    return (lane_offset ^ flipping) + i * Tile::panel_bytes + k_part * k_of_part * Tile::row_bytes;
  }

  // Wavefronts beyond the least, over the loads of a block. (The loads of other blocks are multiples of 128
  // bytes away.) Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    int total = 0;
    for (int half = 0; half < 2; ++half) {
      for (int odd = 0; odd < (Tile::k_major ? 1 : 2); ++odd) {
        LaneAddresses address{};
        for (int lane = 0; lane < 32; ++lane) address.at[lane] = step(lane_offset(lane, 0), 0, 0, half, odd);
        total += bank_conflicts(address, Tile::k_major ? 16 : 8);
      }
    }
    return total;
  }

  __device__ __forceinline__ explicit OperandCursor(int first)
      : lane_offset_(static_cast<std::uint32_t>(lane_offset(lane_id(), first))) {}

  // Of A one fragment, of B two, one after the other.
  __device__ __forceinline__ void load(double (&reg)[8], std::uint32_t tile_base, int i, int k_step) const {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // A: of registers 4 * part on, the first is row g, the second row g + 8, the others the same further
        // along k. B: registers 4 * half on belong to a fragment, 2 * part on go along k.
        double& even = reg[operand == Operand::a ? 4 * part + half : 4 * half + 2 * part];
        double& odd = reg[operand == Operand::a ? 4 * part + half + 2 : 4 * half + 2 * part + 1];
        const int k_part = 2 * k_step + part;
        if constexpr (Tile::k_major) {
          std::uint32_t word[4];
          ptx::ld_shared_v4_b32(word, tile_base + at(i, k_part, half, 0));
          even = of_words(word[0], word[1]);
          odd = of_words(word[2], word[3]);
        } else {
          std::uint32_t word[2];
          ptx::ld_shared_v2_b32(word, tile_base + at(i, k_part, half, 0));
          even = of_words(word[0], word[1]);
          ptx::ld_shared_v2_b32(word, tile_base + at(i, k_part, half, 1));
          odd = of_words(word[0], word[1]);
        }
      }
    }
  }

 private:
  __device__ __forceinline__ std::uint32_t at(int i, int k_part, int half, int odd) const {
    return static_cast<std::uint32_t>(step(static_cast<int>(lane_offset_), i, k_part, half, odd));
  }
  __device__ __forceinline__ static double of_words(std::uint32_t low, std::uint32_t high) {
    return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
  }

  std::uint32_t lane_offset_;
};

}  // namespace tenon
