// The realigned store of whole 128-byte segments: a warp stores rows of 16-bit elements from shared memory to
// unaligned rows of C, one segment of C at a time. A segment stored in two parts would be written to memory
// twice.
//
// The warp stages blocks of 8 rows x 64 columns alternately in two slots. A 128-byte segment of C holds the
// end of one block and the beginning of the next. When the next block is staged, 8 lanes store the segment,
// 16 bytes each, which they shift out of two adjacent 16-byte chunks of the slots. The fewer than 8 elements
// at each end of a row are stored one by one. Below: realign.hpp, shared/swizzle.hpp, ptx/ld_shared.hpp.
#pragma once

#include "tenon/gemm/realign.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/standard.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

class RealignedRowStore {
 public:
  static constexpr int rows = 8, slot_bytes = rows * 128;  // a slot has the 128-byte swizzle

  // By whole warps. to: the first element in C; ld: of C; rows_left: rows that C has from there on (any
  // number); width: elements of a row; slots: two slots, at a multiple of 1024 bytes.
  __device__ __forceinline__ RealignedRowStore(std::uint16_t* to, std::int64_t ld, int rows_left, int width,
                                               std::uint32_t slots, unsigned lane)
      : width_(width), slots_(slots) {
    const unsigned chunk = lane % 8;  // of a segment of C
#pragma unroll
    for (int i = 0; i < turns; ++i) {
      const unsigned row = 4 * i + lane / 8;
      std::uint16_t* const start = to + row * ld;
      // The chunk begins with element `from` of the previous and the current slot taken together.
      const unsigned before = place(start), from = 64 - before + 8 * chunk;
      Row& r = row_[i];
      r.chunk = start - before + 8 * chunk;
      r.first = static_cast<int>(row) < rows_left ? static_cast<int>(8 * chunk - before) : beyond;
      r.shift = from % 8;
#pragma unroll
      for (int parity = 0; parity < 2; ++parity) {
        r.low[parity] = chunk_address(row, from / 8, parity);
        r.high[parity] = chunk_address(row, from / 8 + (from % 8 != 0 ? 1 : 0), parity);
      }
    }
    row_of_lane_ = lane % rows;
    begin_ = to + row_of_lane_ * ld;
    mine_ = static_cast<int>(lane) < min(rows, rows_left) ? width : 0;
    head_ = static_cast<int>((8 - place(begin_) % 8) % 8);
  }

  // Address of the slot where columns 64 s to 64 s + 63 are staged.
  __device__ __forceinline__ std::uint32_t slot(int s) const {
    return slots_ + s % 2 * slot_bytes;
  }

  // After slot s has been staged and the warp has synchronised; for each slot that begins within `width`.
  __device__ __forceinline__ void store(int s) const {
    if (s == 0) store_elements(0, min(head_, mine_));
    store_segments(s, slot(s));
  }
  // After the last one.
  __device__ __forceinline__ void finish() const {
    if (width_ <= 0) return;
    const int tail = max(width_ - static_cast<int>(static_cast<unsigned>(width_ - head_) % 8), head_);
    store_elements(tail, mine_ - tail);
    const int end = (width_ + 63) / 64;
    store_segments(end, slot(end - 1));
  }

 private:
  static constexpr int turns = rows / 4, beyond = 1 << 30;

  // A lane's chunk of the first segment of C in which the row has elements.
  struct Row {
    std::uint16_t* chunk;
    int first;                      // index of its first element in the row
    unsigned shift;                 // position of its first element in the chunk of shared memory at `low`
    std::uint32_t low[2], high[2];  // addresses, if the current slot is the first, the second
  };

  // Elements since the last multiple of 128 bytes.
  __device__ __forceinline__ static unsigned place(const std::uint16_t* at) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at)) / 2 % 64;
  }
  // Address of one of a row's 16 chunks: 8 of the previous slot, then 8 of the current one.
  __device__ __forceinline__ std::uint32_t chunk_address(unsigned row, unsigned chunk, int parity) const {
    const int swizzled = swizzled_chunk<128>(static_cast<int>(row), static_cast<int>(chunk % 8));
    return slots_ + (chunk / 8 == static_cast<unsigned>(parity) ? slot_bytes : 0) + row * 128 +
           static_cast<std::uint32_t>(swizzled) * 16;
  }

  __device__ __forceinline__ static uint4 load_chunk(std::uint32_t address) {
    std::uint32_t word[4];
    ptx::ld_shared_v4_b32(word, address);
    return make_uint4(word[0], word[1], word[2], word[3]);
  }

  // Stores of each row the segment of C that ends in slot s. staged: a slot from which lanes that store
  // nothing load.
  __device__ __forceinline__ void store_segments(int s, std::uint32_t staged) const {
    uint4 low[turns], high[turns];
    bool whole[turns];
#pragma unroll
    for (int i = 0; i < turns; ++i) {
      const Row& r = row_[i];
      const int first = r.first + 64 * s;
      whole[i] = (s > 0 || first >= 0) && first + 8 <= width_;
      low[i] = load_chunk(!whole[i] ? staged : s % 2 == 0 ? r.low[0] : r.low[1]);
      high[i] = load_chunk(!whole[i] ? staged : s % 2 == 0 ? r.high[0] : r.high[1]);
    }
#pragma unroll
    for (int i = 0; i < turns; ++i) {
      const Row& r = row_[i];
      std::uint32_t word[8] = {low[i].x,  low[i].y,  low[i].z,  low[i].w,
                               high[i].x, high[i].y, high[i].z, high[i].w};
      drop_elements(word, r.shift);
      if (whole[i])
        *reinterpret_cast<uint4*>(r.chunk + 64 * s) = make_uint4(word[0], word[1], word[2], word[3]);
    }
  }

  // Each lane stores `count` elements of its row, up to 7, from `first` on.
  __device__ __forceinline__ void store_elements(int first, int count) const {
    std::uint16_t element[7];
#pragma unroll
    for (int x = 0; x < 7; ++x) {
      const auto e = static_cast<unsigned>(min(first + x, width_ - 1));
      element[x] = ptx::ld_shared_b16(
          chunk_address(row_of_lane_, 8 + e / 8 % 8, static_cast<int>(e / 64 % 2)) + e % 8 * 2);
    }
#pragma unroll
    for (int x = 0; x < 7; ++x) {
      if (x < count) begin_[first + x] = element[x];
    }
  }

  int width_;
  std::uint32_t slots_;
  Row row_[turns];
  unsigned row_of_lane_;
  std::uint16_t* begin_;  // of this lane's row
  int mine_, head_;       // elements of that row: those in C, those before a multiple of 16 bytes
};

}  // namespace tenon
