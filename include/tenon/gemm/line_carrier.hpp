// Lines on their way from shared memory to rows of C that begin anywhere: a lane takes 16 bytes of a line,
// shifted out of two neighbouring chunks of it; what is left at its ends, less than 16 bytes each, is stored
// element by element. (RowCarrier is for warps whose lines are too long to be staged whole.) Below:
// output.hpp, drop_elements.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/output.hpp"

namespace tenon {

// What a lane does with lines of `Columns` elements of `Size` bytes, 2 or 4, each carried by `lanes` lanes of
// a warp. The same for all lines whose rows of C begin equally, modulo 16 bytes.
template <int Size, int Columns>
class LineCarrier {
  static_assert(Size == 2 || Size == 4, "LineCarrier: elements must have 2 or 4 bytes");
  static constexpr int elements = 16 / Size, chunks = Columns / elements;

 public:
  static constexpr int lanes = chunks;
  static_assert(lanes <= 32 && 32 % lanes == 0 && lanes >= 2 * elements,
                "LineCarrier: 16 or 32 lanes must carry a line");

  // Of the line whose elements go to `row` of C from `column` on. line: its address in the shared window, a
  // multiple of 16; rotation: element x is there as element (x + rotation) % Columns.
  __device__ __forceinline__ LineCarrier(const Output& c, int row, int column, std::uint32_t line,
                                         int rotation) {
    const int rows_left = c.m - row, width = min(Columns, c.n - column), lane = lane_id() % lanes;
    auto* const to = static_cast<std::uint8_t*>(c.data) + (row * c.ld + column) * Size;
    const int head = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / Size) & (elements - 1U));
    const int first = head + elements * lane, tail = head + max(width - head, 0) / elements * elements;
    const bool of_head = lane < elements;
    const int end = of_head ? lane : tail + lane - elements;
    const bool has_end = lane < 2 * elements && end < (of_head ? min(head, width) : width);
    const int moved = head + rotation;
    const auto address_of_chunk = [&](int further) {
      return line + static_cast<std::uint32_t>((moved / elements + lane + further) % chunks * 16);
    };
    chunk_ = to + first * Size;
    low_ = address_of_chunk(0);
    high_ = address_of_chunk(1);
    shift_ = static_cast<unsigned>(moved % elements * Size / 2);
    rows_for_chunk_ = first + elements <= width ? rows_left : 0;
    end_ = to + end * Size;
    end_at_ = line + static_cast<std::uint32_t>((end + rotation) % Columns * Size);
    rows_for_end_ = has_end ? rows_left : 0;
  }

  // What a lane has of a line: two chunks, and an element of an end.
  struct Loaded {
    std::uint32_t word[8], end;
  };
  // Of the line that lies so many bytes further. Load several lines before the first is stored.
  __device__ __forceinline__ Loaded load(std::uint32_t offset) const {
    Loaded loaded;
    load_chunk(low_ + offset, &loaded.word[0]);
    load_chunk(high_ + offset, &loaded.word[4]);
    if constexpr (Size == 2) {
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(loaded.end) : "r"(end_at_ + offset) : "memory");
    } else {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(loaded.end) : "r"(end_at_ + offset) : "memory");
    }
    return loaded;
  }
  // To the row of C that lies `rows` rows, `step` bytes, further. Stores have a predicate each: the compiler
  // would branch around them.
  __device__ __forceinline__ void store(Loaded& loaded, int rows, std::int64_t step) const {
    std::uint32_t(&word)[8] = loaded.word;
    drop_elements(word, shift_);
    asm volatile(
        "{.reg .pred inside; setp.gt.s32 inside, %5, %6; @inside st.global.v4.b32 [%0], {%1, %2, %3, "
        "%4};}" ::"l"(chunk_ + step),
        "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(rows_for_chunk_), "r"(rows)
        : "memory");
    if constexpr (Size == 2) {
      asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u16 [%0], %1;}" ::"l"(
                       end_ + step),
                   "r"(loaded.end), "r"(rows_for_end_), "r"(rows)
                   : "memory");
    } else {
      asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u32 [%0], %1;}" ::"l"(
                       end_ + step),
                   "r"(loaded.end), "r"(rows_for_end_), "r"(rows)
                   : "memory");
    }
  }

  // What load() and store() count from.
  __device__ __forceinline__ void advance_in_shared(std::uint32_t bytes) {
    low_ += bytes;
    high_ += bytes;
    end_at_ += bytes;
  }
  __device__ __forceinline__ void advance_in_c(int rows, std::int64_t step) {
    chunk_ += step;
    end_ += step;
    rows_for_chunk_ -= rows;
    rows_for_end_ -= rows;
  }

 private:
  __device__ __forceinline__ static void load_chunk(std::uint32_t address, std::uint32_t* word) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
  }

  // 16 bytes of C, shifted out of two chunks of the line, at low_ and high_; shift_: of 16 bits each.
  std::uint8_t* chunk_;
  std::uint32_t low_, high_;
  unsigned shift_;
  int rows_for_chunk_;  // from the line on there are so many rows of C, or none if the chunk is not whole
  // One of the elements before the first whole chunk of C, or behind the last one.
  std::uint8_t* end_;
  std::uint32_t end_at_;
  int rows_for_end_;
};

}  // namespace tenon
