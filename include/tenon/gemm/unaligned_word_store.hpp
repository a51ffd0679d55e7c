// Stores rows of 16-bit elements, two from each lane of a warp, to any address that is a multiple of 2.
// Below: ptx/st_global.hpp.
#pragma once

#include "tenon/ptx/st_global.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Each lane has a word with two of a row's first `elements` elements. If the row begins in the middle of a
// 4-byte word of memory, a lane stores its first element together with the element before it, which it gets
// from its neighbour. Elements that share no word with another at the ends of a row are stored alone.
class UnalignedWordStore {
 public:
  __device__ __forceinline__ UnalignedWordStore(int lane, int elements) {
    const int first = 2 * lane, second = first + 1;
    even_ = (second < elements ? word_here : 0U) | (second == elements ? first_alone : 0U);
    odd_ = (lane > 0 && first < elements ? word_before : 0U) |
           (lane == 0 && elements > 0 ? first_alone : 0U) | (second + 1 == elements ? second_alone : 0U);
  }

  // By whole warps. to: where the word's first element belongs; exists: whether C has the row.
  __device__ __forceinline__ void operator()(std::uint16_t* to, std::uint32_t word, bool exists) const {
    const std::uint32_t before = __shfl_up_sync(0xffffffffU, word, 1);
    const std::uint32_t kind = (reinterpret_cast<std::uintptr_t>(to) & 2U) != 0 ? odd_ : even_;
    const std::uint32_t which = exists ? kind : 0U;
    auto* const at = reinterpret_cast<std::uint16_t*>(__cvta_generic_to_global(to));
    ptx::st_global_b32(at, word, which & word_here);
    ptx::st_global_b32(at - 1, __byte_perm(before, word, 0x5432), which & word_before);
    ptx::st_global_u16(at, word, which & first_alone);
    ptx::st_global_u16(at + 1, word >> 16, which & second_alone);
  }

 private:
  static constexpr std::uint32_t word_here = 1, word_before = 2, first_alone = 4, second_alone = 8;
  std::uint32_t even_, odd_;  // for rows that begin on a word, and in the middle of one
};

}  // namespace tenon
