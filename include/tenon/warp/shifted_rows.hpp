// Rows of A for wgmma from registers, whose rows begin some elements too late in shared memory: TMA reads
// from multiples of 16 bytes, but the rows of an unaligned matrix begin at any element.
//
//   ShiftedRows<half> rows(offset, shift);       // once for all k-tiles of a product
//   for (...) {                                  // k-tiles of 64 elements of k, rows of 128 bytes
//     rows.load(k_tile);                           // while the instructions of the k-tile before run
//     c.wait_for_operands<0>();
//     rows.shift(a);                             // FragmentA<WgmmaShape<n, 16>, half> a[4]
//     c.multiply<half, half>(a[0], b.at(0), true); ...
//   }
//
// A lane needs two adjacent elements of each 16 bytes: one word or, if the shift is odd, halves of two words.
// The eight rows that a load reads have the same shift. So lanes with the same position in their rows read
// the same chunk of eight rows, and lanes with different positions read different words: there are no bank
// conflicts. Below: fragment/registers.hpp, shared/swizzle.hpp, ptx/ld_shared.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// T: an element type of 16 bits. By all lanes of a warp, which has 16 rows: lane l holds the elements of rows
// l / 4 and l / 4 + 8 that wgmma expects from it.
template <class T>
class ShiftedRows {
  static_assert(sizeof(T) == 2, "ShiftedRows: elements must have 16 bits");

 public:
  static constexpr int depth = 64;  // elements of a k-tile's row: 128 bytes, with the 128-byte swizzle

  // offset: of rows l / 4 and l / 4 + 8 in a k-tile in shared memory, in bytes, a multiple of 128. For each
  // of the two, the rows of the warp's lanes must lie on different banks: their indices differ modulo 8.
  // shift: of the same two rows, 0 to 7, the same for all lanes of a warp. Element x of a row of A in a
  // k-tile is element i = x - 8 + shift of the row in shared memory. If i is below 0 it is element 64 + i of
  // the k-tile before; in the first k-tile it is zero, unless load_before() was called.
  __device__ __forceinline__ ShiftedRows(const int (&offset)[2], const int (&shift)[2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      is_odd_[h] = shift[h] % 2 != 0;
      selector_[h] = is_odd_[h] ? 0x5432U : 0x3210U;
      place(h, offset[h], lane % 4 + shift[h] / 2);
    }
    place(2, is_odd_[1] ? offset[1] : offset[0], lane % 4 + (is_odd_[1] ? shift[1] : shift[0]) / 2 + 1);
  }

  // Starts to read a k-tile. k_tile: address of its first row in the shared window, a multiple of 1024.
  __device__ __forceinline__ void load(std::uint32_t k_tile) {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 3; ++i) load_word(k_tile, i, chunk, word_[i][chunk]);
    }
  }
  // Before the first k-tile, if another one that is not multiplied precedes it: starts to read the elements
  // of that one that the first k-tile needs.
  __device__ __forceinline__ void load_before(std::uint32_t k_tile) {
#pragma unroll
    for (int i = 0; i < 3; ++i) load_word(k_tile, i, 0, last_[i]);
  }

  // The k-tile's rows as fragments of 16 elements of k. Wait until no wgmma reads `a` any more before this.
  template <class Fragment>
  __device__ __forceinline__ void shift(Fragment (&a)[depth / 16]) {
    const std::uint32_t next_k_tile[3] = {word_[0][0], word_[1][0], word_[2][0]};
#pragma unroll
    for (int i = 0; i < 3; ++i) word_[i][0] = from_before_[i] ? last_[i] : word_[i][0];
    join(a, 1);
    if (is_odd_[0] && is_odd_[1]) {
      // A lane's next word is the word of the next lane; for the last lane it is the first lane's word of the
      // next chunk.
      const int lane = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const std::uint32_t further = chunk + 1 < chunks ? word_[0][(chunk + 1) % chunks] : next_k_tile[0];
        word_[2][chunk] = __shfl_sync(0xffffffffU, lane == 0 ? further : word_[0][chunk], lane + 1, 4);
      }
    }
    join(a, 0);
#pragma unroll
    for (int i = 0; i < 3; ++i) last_[i] = next_k_tile[i];
  }

 private:
  static constexpr int chunks = depth / 8;  // of 16 bytes

  // Sets the addresses of words i. first: the word's index, counted from the start of the chunk before.
  __device__ __forceinline__ void place(int i, int offset, int first) {
    from_before_[i] = first < 4;
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int read = (chunk - (from_before_[i] ? 1 : 0)) & (chunks - 1);
      int& at = at_[i][chunk];
      at = offset + swizzled_chunk<128>(offset / 128 % 8, read) * 16 + first % 4 * 4;
      ptx::opaque(at);  // kept: ptxas would compute it again for every k-tile
    }
  }
  __device__ __forceinline__ void load_word(std::uint32_t k_tile, int i, int chunk,
                                            std::uint32_t& word) const {
    const std::uint32_t at = k_tile + static_cast<std::uint32_t>(at_[i][chunk]);
    if (i < 2) {
      word = ptx::ld_shared_b32(at);
    } else {
      // Predicated off in a warp that does not need the next word.
      ptx::ld_shared_b32(word, at, is_odd_[0] || is_odd_[1]);
    }
  }
  template <class Fragment>
  __device__ __forceinline__ void join(Fragment (&a)[depth / 16], int h) const {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      a[chunk / 2].reg[h + chunk % 2 * 2] = __byte_perm(word_[h][chunk], word_[2][chunk], selector_[h]);
  }

  bool is_odd_[2];
  unsigned selector_[2];
  // [0], [1]: words of rows l / 4 and l / 4 + 8. [2]: the next words of the row with the odd shift, the
  // second row if both are odd. at_: [chunk] the word's offset in a k-tile. If the shift reaches into the
  // k-tile before (from_before_), the address for chunk 0 is that of the last chunk, which is kept in last_
  // for the next k-tile.
  int at_[3][chunks];
  bool from_before_[3];
  std::uint32_t word_[3][chunks] = {}, last_[3] = {};
};

}  // namespace tenon
