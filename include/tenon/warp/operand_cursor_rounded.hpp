// The walk of operand_cursor.hpp over tiles of f32 whose elements are rounded to 16 bits as they are loaded,
// so that a product of f32 operands needs no launch that converts them.
//
// The k of an instruction is permuted, for A and B alike: what m16n8k16 takes for k = 2t and 2t + 1 are k = t
// and t + 4 of the tile, and likewise 8 further on (PTX ISA, "Matrix Fragments for mma.m16n8k16"). Only the
// order changes in which 16 products are added. Where k is contiguous, these are the words that ldmatrix
// hands to lane 4g + t, two fragments of tf32. Where m (n) is contiguous, a lane loads words: of rows t and t
// + 4 of k the one that is even in t / 2 first, because rows 2 apart are on different banks and neighbours
// are not. Below: operand_cursor.hpp, fragment/rounded.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/fragment/rounded.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {

// `first`, Part: as in OperandCursor.
template <class Tile, Operand operand, int Part, class T>
class OperandCursor<Tile, operand, Part, Rounded<T>> {
  static_assert(Tile::depth % MmaOf<T>::k == 0,
                "OperandCursor: a k-tile of rounded elements has a depth that is a multiple of 16");
  static_assert(
      Tile::k_major || (Tile::row_bytes == 128 && (Part & (Part - 1)) == 0),
      "OperandCursor: where m (n) is contiguous, rows of f32 in shared memory have 128 bytes, and a "
      "warp's part is a power of two");
  using Words = OperandCursor<OperandTile<tf32, Tile::extent, Tile::depth, true>, operand, Part>;

 public:
  // Where k is contiguous, of Words. Elsewhere the byte offset of a lane's first word: of (g, t) for even t,
  // of (g, t + 4) for odd t.
  TENON_HOST_DEVICE static constexpr int lane_offset(int lane, int first) {
    if (Tile::k_major) return Words::lane_offset(lane, first);
    const int t = lane % 4;
    return Tile::offset(t % 2 == 0 ? t : t + 4, first + lane / 4);
  }
  // Where m (n) is contiguous: to block i of 16 rows (columns) and part k_part of 8 along k, row g + 8 *
  // half, the first or the second word of a lane. Four rows of k on, the swizzle flips the highest bit of the
  // chunk.
  TENON_HOST_DEVICE static constexpr int step(int lane_offset, int i, int k_part, int half, int second) {
    const int along_rows = half * 2 * chunk_bytes + i % 2 * 4 * chunk_bytes;
    const int along_k = second * (4 * Tile::row_bytes + 4 * chunk_bytes);
    return (lane_offset ^ along_rows ^ along_k) + i / 2 * Tile::panel_bytes + k_part * 8 * Tile::row_bytes;
  }

  // Wavefronts beyond the least, over the loads of a block. (The loads of other blocks differ by a constant.)
  // Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    if (Tile::k_major) return Words::conflicts();
    int total = 0;
    for (int at = 0; at < 8; ++at) {
      LaneAddresses address{};
      for (int lane = 0; lane < 32; ++lane)
        address.at[lane] = step(lane_offset(lane, 0), at / 4, 0, at / 2 % 2, at % 2);
      total += bank_conflicts(address, 4);
    }
    return total;
  }

  __device__ __forceinline__ explicit OperandCursor(int first)
      : lane_offset_(static_cast<std::uint32_t>(lane_offset(lane_id(), first))),
        halves_(lane_id() % 2 == 0 ? 0x3210 : 0x1032) {}

  // Of A one fragment, of B two, one after the other: packed elements of T.
  __device__ __forceinline__ void load(std::uint32_t (&reg)[4], std::uint32_t tile_base, int i,
                                       int k_step) const {
    // A: the registers are rows g and g + 8, then the same further along k. B: those of a fragment go along
    // k.
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      std::uint32_t word[4];
      if constexpr (Tile::k_major) {
        ldmatrix<false>(word, tile_base + static_cast<std::uint32_t>(Words::step(
                                              static_cast<int>(lane_offset_), i, 2 * k_step + part)));
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t& packed = reg[operand == Operand::a ? 2 * part + half : 2 * half + part];
        if constexpr (Tile::k_major) {
          packed = operand == Operand::a ? pack(word[half], word[half + 2])
                                         : pack(word[2 * half], word[2 * half + 1]);
        } else {
          const int k_part = 2 * k_step + part;
          packed = __byte_perm(
              pack(word_at(tile_base, i, k_part, half, 0), word_at(tile_base, i, k_part, half, 1)), 0,
              halves_);
        }
      }
    }
  }

 private:
  __device__ __forceinline__ std::uint32_t word_at(std::uint32_t tile_base, int i, int k_part, int half,
                                                   int second) const {
    return ptx::ld_shared_b32(tile_base + static_cast<std::uint32_t>(
                                              step(static_cast<int>(lane_offset_), i, k_part, half, second)));
  }
  __device__ __forceinline__ static std::uint32_t pack(std::uint32_t low, std::uint32_t high) {
    return Packing<T>::pack({__uint_as_float(low), __uint_as_float(high)});
  }

  std::uint32_t lane_offset_;
  unsigned halves_;  // __byte_perm's selector: odd t have their two words the other way round
};

}  // namespace tenon
