// The realigned store: a warp stores whole rows from shared memory to unaligned rows of C. A lane stores 16
// bytes of a row, which it shifts out of two adjacent chunks of it. The less than 16 bytes at each end of a
// row are stored element by element. (realigned_row_store.hpp is for rows that are too long to be staged
// whole.) Below: output.hpp, realign.hpp, ptx/ld_shared.hpp, ptx/st_global.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/gemm/realign.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/st_global.hpp"

namespace tenon {

// One lane's part of the store of rows of `Columns` elements of `Size` bytes, 2 or 4; `lanes` lanes store a
// row. One object serves all rows that have the same offset in C from a multiple of 16 bytes.
template <int Size, int Columns>
class RealignedStore {
  static_assert(Size == 2 || Size == 4, "RealignedStore: elements must have 2 or 4 bytes");
  static constexpr int elements = 16 / Size, chunks = Columns / elements;

 public:
  static constexpr int lanes = chunks;
  static_assert(lanes <= 32 && 32 % lanes == 0 && lanes >= 2 * elements,
                "RealignedStore: 16 or 32 lanes must store a row");

  // For the row that is stored to (row, column) of C. staged: its address in the shared window, a multiple of
  // 16; rotation: element x is staged as element (x + rotation) % Columns.
  __device__ __forceinline__ RealignedStore(const Output& c, int row, int column, std::uint32_t staged,
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
      return staged + static_cast<std::uint32_t>((moved / elements + lane + further) % chunks * 16);
    };
    chunk_ = to + first * Size;
    low_ = address_of_chunk(0);
    high_ = address_of_chunk(1);
    shift_ = static_cast<unsigned>(moved % elements * Size / 2);
    rows_for_chunk_ = first + elements <= width ? rows_left : 0;
    end_ = to + end * Size;
    end_at_ = staged + static_cast<std::uint32_t>((end + rotation) % Columns * Size);
    rows_for_end_ = has_end ? rows_left : 0;
  }

  // A lane's data of a row: two chunks, and one element of an end.
  struct Loaded {
    std::uint32_t word[8], end;
  };
  // Loads from the row that is staged `offset` bytes further. Load several rows before the first store.
  __device__ __forceinline__ Loaded load(std::uint32_t offset) const {
    Loaded loaded;
    load_chunk(low_ + offset, &loaded.word[0]);
    load_chunk(high_ + offset, &loaded.word[4]);
    loaded.end = Size == 2 ? ptx::ld_shared_u16(end_at_ + offset) : ptx::ld_shared_b32(end_at_ + offset);
    return loaded;
  }
  // Stores to the row of C that lies `rows` rows, `step` bytes, further.
  __device__ __forceinline__ void store(Loaded& loaded, int rows, std::int64_t step) const {
    drop_elements(loaded.word, shift_);
    const std::uint32_t chunk[4] = {loaded.word[0], loaded.word[1], loaded.word[2], loaded.word[3]};
    ptx::st_global_v4_b32(chunk_ + step, chunk, rows_for_chunk_ > rows ? 1U : 0U);
    if constexpr (Size == 2) {
      ptx::st_global_u16(end_ + step, loaded.end, rows_for_end_ > rows ? 1U : 0U);
    } else {
      ptx::st_global_b32(end_ + step, loaded.end, rows_for_end_ > rows ? 1U : 0U);
    }
  }

  // Moves the row from which load() and store() count.
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
    std::uint32_t four[4];
    ptx::ld_shared_v4_b32(four, address);
#pragma unroll
    for (int x = 0; x < 4; ++x) word[x] = four[x];
  }

  // 16 bytes of C, shifted out of two chunks of the row, at low_ and high_; shift_: of 16 bits each.
  std::uint8_t* chunk_;
  std::uint32_t low_, high_;
  unsigned shift_;
  int rows_for_chunk_;  // rows that C has from this one on; 0 if the chunk is not whole
  // One of the elements before the first whole chunk of C, or after the last one.
  std::uint8_t* end_;
  std::uint32_t end_at_;
  int rows_for_end_;
};

}  // namespace tenon
