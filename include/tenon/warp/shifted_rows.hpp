// Rows of A for wgmma out of registers, where each row lies some elements too far right in shared memory:
// TMA reads from multiples of 16 bytes; rows of an unaligned matrix start at any element.
//
//   ShiftedRows<half> rows(offset, shift);       // once for all k-tiles of a product
//   for (...) {                                  // k-tiles of 64 elements of k, lines of 128 bytes
//     rows.load(k_tile);                           // while the instructions of the k-tile before run
//     c.wait_for_operands<0>();
//     rows.shift(a);                             // FragmentA<WgmmaShape<n, 16>, half> a[4]
//     c.multiply<half, half>(a[0], b.at(0), true); ...
//   }
//
// A lane needs two neighbours of each 16 bytes: one word, or where the shift is odd the halves of two. The
// eight rows that a load reads have one shift, so that lanes of equal place in a row take equal chunks of
// eight lines, and those of different place different words: no two meet on a bank. Below:
// fragment/registers.hpp, shared/swizzle.hpp, ptx/ld_shared.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// T: an element type of 16 bits. By all lanes of a warp, which has 16 rows: lane l holds of rows l / 4 and
// l / 4 + 8 what wgmma wants.
template <class T>
class ShiftedRows {
  static_assert(sizeof(T) == 2, "ShiftedRows: elements must have 16 bits");

 public:
  static constexpr int depth = 64;  // elements of a k-tile's line: 128 bytes, with that swizzle

  // offset: of the lines that hold rows l / 4 and l / 4 + 8 in a k-tile, bytes, a multiple of 128. The lines
  // that the lanes of a warp read for one of the two must stand on different banks: their numbers differ
  // modulo 8.
  // shift: 0 to 7, of each of the two the same for all lanes of a warp. Element x of a row in a k-tile is
  // element x - 8 + shift of its line; where that is below 0, element 64 + that of the k-tile before, and
  // zero in the first without load_before().
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

  // Starts to read a k-tile. k_tile: address of its first line in the shared window, a multiple of 1024.
  __device__ __forceinline__ void load(std::uint32_t k_tile) {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 3; ++i) load_word(k_tile, i, chunk, word_[i][chunk]);
    }
  }
  // Before the first k-tile, if there is one before it that is not multiplied: starts to read what the first
  // one wants of it.
  __device__ __forceinline__ void load_before(std::uint32_t k_tile) {
#pragma unroll
    for (int i = 0; i < 3; ++i) load_word(k_tile, i, 0, last_[i]);
  }

  // The k-tile's rows, as wgmma takes 16 elements of k each. Nobody may read `a` any more: wait before.
  template <class Fragment>
  __device__ __forceinline__ void shift(Fragment (&a)[depth / 16]) {
    const std::uint32_t next_k_tile[3] = {word_[0][0], word_[1][0], word_[2][0]};
#pragma unroll
    for (int i = 0; i < 3; ++i) word_[i][0] = from_before_[i] ? last_[i] : word_[i][0];
    join(a, 1);
    if (is_odd_[0] && is_odd_[1]) {
      // The next word of a lane is the word of the next lane or, of the last one, a chunk further of the
      // first.
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

  // Where words number i are. first: counted from the chunk before on.
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
      // A warp that does not want the next word does not ask for it.
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
  // Of rows l / 4 and l / 4 + 8, and the next ones of the odd row, the second if both are odd: [chunk] offset
  // in a k-tile of the word. The first is in the k-tile before where the shift reaches so far: then the last
  // of this k-tile stands there, for the next one.
  int at_[3][chunks];
  bool from_before_[3];
  std::uint32_t word_[3][chunks] = {}, last_[3] = {};
};

}  // namespace tenon
