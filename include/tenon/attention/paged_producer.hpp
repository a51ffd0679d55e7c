// Copies a tile of paged keys or values to shared memory by cp.async: each row lies in a page of its own.
// Rows behind the last key, and those of pages that the pool does not have, become zeros, and nothing is read
// for them. Below: batch_sequence.hpp, shared/tile.hpp, ptx/cp_async.hpp, ptx/st_shared.hpp.
#pragma once

#include "tenon/attention/batch_sequence.hpp"
#include "tenon/ptx/cp_async.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

template <class Tile, int Threads>
class PagedProducer {
  static constexpr int chunks_per_row = Tile::row_bytes / chunk_bytes;  // within a panel
  static constexpr int rows_per_pass = Threads / chunks_per_row, passes = Tile::rows / rows_per_pass;
  static_assert(Threads % chunks_per_row == 0 && Tile::rows % rows_per_pass == 0 && rows_per_pass % 8 == 0,
                "PagedProducer: the CTA's threads must fill whole rows, their passes the tile, and a pass "
                "8 rows, after which the swizzle repeats");

 public:
  // tensor: of the pool, its batches are pages. head: of K and V.
  __device__ __forceinline__ PagedProducer(const VariableLengths& lengths,
                                           const AttentionTensor<const void*>& tensor, int head, int batch)
      : lengths_(lengths), tensor_(tensor), head_(head), batch_(batch) {}

  // By all threads of a CTA: the Tile::rows keys from `first` on. Those from `keys` on become zeros.
  __device__ __forceinline__ void copy(int first, int keys, std::uint32_t to, int thread) const {
    const int row = thread / chunks_per_row, column = thread % chunks_per_row * Tile::chunk_elements;
    const auto* const data =
        static_cast<const std::uint16_t*>(tensor_.data) + head_ * tensor_.head_stride + column;
    to += static_cast<std::uint32_t>(Tile::offset(row, column));
    const auto low_bits =
        static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(data)) |
        static_cast<unsigned>(tensor_.row_stride | tensor_.batch_stride) * Tile::element_bytes;
    if (low_bits % 16 == 0) {
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        const std::uint16_t* const source = row_at(data, first + row + pass * rows_per_pass, keys);
#pragma unroll
        for (int panel = 0; panel < Tile::panels; ++panel)
          ptx::cp_async_cg_shared_global_16(to + at(pass, panel),
                                            (source == nullptr ? data : source) + panel * Tile::panel_columns,
                                            source == nullptr ? 0U : 16U);
      }
    } else {
#pragma unroll 1
      for (int pass = 0; pass < passes; ++pass) {
        const std::uint16_t* const source = row_at(data, first + row + pass * rows_per_pass, keys);
#pragma unroll 1
        for (int panel = 0; panel < Tile::panels; ++panel)
          copy_elements(to + at(pass, panel), source, panel * Tile::panel_columns);
      }
    }
  }

 private:
  static_assert(Tile::element_bytes == 2, "PagedProducer: the elements of K and V must have 16 bits");

  __device__ __forceinline__ static constexpr std::uint32_t at(int pass, int panel) {
    return static_cast<std::uint32_t>(panel * Tile::panel_bytes + pass * rows_per_pass * Tile::row_bytes);
  }
  // nullptr: the key is not there.
  __device__ __forceinline__ const std::uint16_t* row_at(const std::uint16_t* data, int key, int keys) const {
    if (key >= keys) return nullptr;
    const KeyPlace place = place_of_key(lengths_, batch_, key);
    if (place.page >= 0) return data + (place.page * tensor_.batch_stride + place.row * tensor_.row_stride);
    report_out_of_range(lengths_);
    return nullptr;
  }
  __device__ __forceinline__ static void copy_elements(std::uint32_t to, const std::uint16_t* source,
                                                       int column) {
// Word after word: elements held for a whole chunk would spill registers of the mainloop.
#pragma unroll 1
    for (int e = 0; e < Tile::chunk_elements; e += 2) {
      std::uint32_t word = 0;
      if (source != nullptr)
        word = source[column + e] | static_cast<std::uint32_t>(source[column + e + 1]) << 16;
      ptx::st_shared_b32(to + 2 * e, word);
    }
  }

  const VariableLengths& lengths_;
  const AttentionTensor<const void*>& tensor_;
  int head_, batch_;
};

}  // namespace tenon
