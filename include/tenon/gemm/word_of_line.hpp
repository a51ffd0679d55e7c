// Lines of 16-bit elements, two in each lane of a warp, on their way to an address that need not be that of a
// word.
#pragma once

#include <cstdint>

namespace tenon {

// What a lane stores of a line's first `elements` elements, of 16 bits, two in each lane's word. In a line
// that begins in the middle of a word of memory, a lane stores its first element and the one before, which
// is its neighbour's; those that remain at the ends of a line are stored alone.
class WordOfLine {
 public:
  __device__ __forceinline__ WordOfLine(int lane, int elements) {
    const int first = 2 * lane, second = first + 1;
    even_ = (second < elements ? word_here : 0U) | (second == elements ? first_alone : 0U);
    odd_ = (lane > 0 && first < elements ? word_before : 0U) |
           (lane == 0 && elements > 0 ? first_alone : 0U) | (second + 1 == elements ? second_alone : 0U);
  }

  // By whole warps. to: where the word's first element belongs. Each store has its predicate: the compiler
  // would branch around them, four times a line.
  __device__ __forceinline__ void store(std::uint16_t* to, std::uint32_t word, bool exists) const {
    const std::uint32_t before = __shfl_up_sync(0xffffffffU, word, 1);
    const std::uint32_t which = (reinterpret_cast<std::uintptr_t>(to) & 2U) != 0 ? odd_ : even_;
    asm volatile(
        "{.reg .pred here, before, first, second; .reg .b32 bit; .reg .b16 low, high;\n"
        "and.b32 bit, %3, %4; setp.ne.b32 here, bit, 0;\n"
        "and.b32 bit, %3, %5; setp.ne.b32 before, bit, 0;\n"
        "and.b32 bit, %3, %6; setp.ne.b32 first, bit, 0;\n"
        "and.b32 bit, %3, %7; setp.ne.b32 second, bit, 0;\n"
        "mov.b32 {low, high}, %1;\n"
        "@here st.global.b32 [%0], %1;\n"
        "@before st.global.b32 [%0 + -2], %2;\n"
        "@first st.global.b16 [%0], low;\n"
        "@second st.global.b16 [%0 + 2], high;}" ::"l"(__cvta_generic_to_global(to)),
        "r"(word), "r"(__byte_perm(before, word, 0x5432)), "r"(exists ? which : 0U), "n"(word_here),
        "n"(word_before), "n"(first_alone), "n"(second_alone)
        : "memory");
  }

 private:
  static constexpr std::uint32_t word_here = 1, word_before = 2, first_alone = 4, second_alone = 8;
  std::uint32_t even_, odd_;  // for lines that begin so
};

}  // namespace tenon
