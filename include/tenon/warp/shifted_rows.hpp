// Rows of A for wgmma out of registers, where each row lies some elements too far right in shared memory: the
// copy engine brings lines from multiples of 16 bytes on alone, and the elements of a row begin anywhere.
//
//   ShiftedRows<half> rows(offset, shift);       // once for all slabs of a product
//   for (...) {                                  // slabs of 64 elements of k, lines of 128 bytes
//     rows.load(slab);                           // while the instructions of the slab before run
//     c.wait_for_operands<0>();
//     rows.shift(a);                             // FragmentA<WgmmaShape<n, 16>, half> a[4]
//     c.multiply<half, half>(a[0], b.at(0), true); ...
//   }
//
// A lane needs two neighbours of each 16 bytes, from the same place in all of them: one word, or where the
// shift is odd the halves of two. It reads the same 16-byte chunk as all other lanes, so that no two meet on
// a bank, and takes a word from the chunk before where its place is there. Below: fragment/registers.hpp,
// shared/swizzle.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// T: an element type of 16 bits. By all lanes of a warp, which has 16 rows: lane l holds of rows l / 4 and
// l / 4 + 8 what wgmma wants.
template <class T>
class ShiftedRows {
  static_assert(sizeof(T) == 2, "ShiftedRows: elements must have 16 bits");

 public:
  static constexpr int depth = 64;  // elements of a slab's line: 128 bytes, with that swizzle

  // offset: of the lines that hold rows l / 4 and l / 4 + 8 in a slab, bytes, a multiple of 128. The lines
  // that the lanes of a warp read for one of the two must stand on different banks: their numbers differ
  // modulo 8.
  // shift: 0 to 7. Element x of a row in a slab is element x - 8 + shift of its line; where that is below 0,
  // element 64 + that of the slab before, and zero in the first without load_before().
  __device__ __forceinline__ ShiftedRows(const int (&offset)[2], const int (&shift)[2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int line_in_pattern = offset[h] / 128 % 8;
      const int first = lane % 4 + shift[h] / 2;  // word, from the chunk before on
      odd_[h] = shift[h] % 2;
      selector_[h] = odd_[h] != 0 ? 0x5432U : 0x3210U;
      from_before_[h][0] = first < 4;
      from_before_[h][1] = first + 1 < 4;
      to_next_[h] = first % 4 == 3 ? -12 : 4;
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk) {
        int& at = at_[h][chunk];
        at = offset[h] + swizzled_chunk<128>(line_in_pattern, chunk) * 16 + first % 4 * 4;
        asm volatile("" : "+r"(at));  // kept: ptxas would compute it again for every slab
      }
    }
  }

  // Starts to read a slab. slab: address of its first line in the shared window, a multiple of 1024.
  __device__ __forceinline__ void load(std::uint32_t slab) {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
      for (int h = 0; h < 2; ++h) load_words(slab, h, chunk, word_[h][chunk]);
    }
  }
  // Before the first slab, if there is one before it that is not multiplied: starts to read what the first
  // one wants of it.
  __device__ __forceinline__ void load_before(std::uint32_t slab) {
#pragma unroll
    for (int h = 0; h < 2; ++h) load_words(slab, h, chunks - 1, last_[h]);
  }

  // The slab's rows, as wgmma takes 16 elements of k each. Nobody may read `a` any more: wait before.
  template <class Fragment>
  __device__ __forceinline__ void shift(Fragment (&a)[depth / 16]) {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        std::uint32_t two[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const std::uint32_t before = chunk == 0 ? last_[h][i] : word_[h][chunk == 0 ? 0 : chunk - 1][i];
          two[i] = from_before_[h][i] ? before : word_[h][chunk][i];
        }
        a[chunk / 2].reg[h + chunk % 2 * 2] = __byte_perm(two[0], two[1], selector_[h]);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int i = 0; i < 2; ++i) last_[h][i] = word_[h][chunks - 1][i];
    }
  }

 private:
  static constexpr int chunks = depth / 8;  // of 16 bytes

  __device__ __forceinline__ void load_words(std::uint32_t slab, int h, int chunk,
                                             std::uint32_t (&word)[2]) const {
    const int at = at_[h][chunk];
    int next;
    asm("add.s32 %0, %1, %2;" : "=r"(next) : "r"(at), "r"(to_next_[h]));
    asm volatile("ld.shared.b32 %0, [%1];"
                 : "=r"(word[0])
                 : "r"(slab + static_cast<std::uint32_t>(at))
                 : "memory");
    // A warp of which no lane wants the second word does not ask for it.
    asm volatile("{.reg .pred wanted; setp.ne.s32 wanted, %2, 0; @wanted ld.shared.b32 %0, [%1];}"
                 : "+r"(word[1])
                 : "r"(slab + static_cast<std::uint32_t>(next)), "r"(odd_[h])
                 : "memory");
  }

  bool from_before_[2][2];
  int odd_[2];
  unsigned selector_[2];
  int at_[2][chunks];                      // offset of the word in a slab
  int to_next_[2];                         // and from there to the next one
  std::uint32_t word_[2][chunks][2] = {};  // [row][chunk]: the word, and the next one if that is wanted
  std::uint32_t last_[2][2] = {};          // those of the last chunk of the slab before
};

}  // namespace tenon
