// Stores of a staged epilogue subtile by its warp, where TMA cannot store C: by 16-byte stores if the rows of
// C begin on multiples of 16 bytes, else by words. Elements outside C are not written. By whole warps. Below:
// epilogue_subtile.hpp, unaligned_word_store.hpp.
#pragma once

#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/unaligned_word_store.hpp"
#include "tenon/ptx/ld_shared.hpp"

namespace tenon {

// Elements of 16 or 32 bits as they are moved.
template <int element_bytes>
using MovedElement = std::conditional_t<element_bytes == 4, std::uint32_t, std::uint16_t>;

// Stores the first `width` elements of a subtile's rows to C, from (row, column) on. All rows of C begin on
// multiples of 16 bytes.
template <int element_bytes>
__device__ __forceinline__ void store_subtile_vectors(const Output& c, std::uint32_t subtile, int row,
                                                      int column, int width, int lane) {
  constexpr int elements = chunk_bytes / element_bytes;  // of a chunk
  using Element = MovedElement<element_bytes>;
  const int chunks = width / elements;  // of a row
#pragma unroll
  for (int i = 0; i < subtile_rows * chunks; i += 32) {
    // Rows in bit-reversed order, so that the 8 chunks that are read at once lie on different banks if a row
    // has 2 or 4 chunks.
    const int turn = (i + lane) / chunks, chunk = (i + lane) % chunks;
    if (turn >= subtile_rows) break;  // half of the lanes, where a row is one chunk
    const int r = turn / 8 * 8 + (turn % 2 * 4 | (turn & 2) | turn / 4 % 2);
    const int left = row + r < c.m ? c.n - column - chunk * elements : 0;  // elements of the row
    auto* const to = static_cast<Element*>(c.data) + (row + r) * c.ld + column + chunk * elements;
    std::uint32_t word[4];
    ptx::ld_shared_v4_b32(word, in_subtile(subtile, r, 8 * chunk));
    if (left >= elements) {
      *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
    } else {
#pragma unroll
      for (int e = 0; e < elements - 1; ++e) {
        if (e < left) to[e] = static_cast<Element>(word[e * element_bytes / 4] >> e * element_bytes % 4 * 8);
      }
    }
  }
  __syncwarp();
}

// The same for any alignment of C: a row has up to 32 words, one for each lane. A warp loads rows_at_a_time
// rows before it stores the first of them, to wait only once.
template <int element_bytes, int rows_at_a_time>
__device__ __forceinline__ void store_subtile_words(const Output& c, std::uint32_t subtile, int row,
                                                    int column, int width, int lane) {
  constexpr int per_word = 4 / element_bytes;
  static_assert(subtile_rows % rows_at_a_time == 0,
                "store_subtile_words: the 16 rows of a subtile must be a multiple of rows_at_a_time");
  using Element = MovedElement<element_bytes>;
  const int rows = min(subtile_rows, c.m - row);
  const int elements = min(width, c.n - column);            // of a row that are in C
  const int mine = min(per_word * lane, width - per_word);  // lanes beyond the subtile load its last word
  const UnalignedWordStore store(lane, elements);
  auto* to = static_cast<Element*>(c.data) + row * c.ld + column + per_word * lane;
#pragma unroll 1
  for (int first = 0; first < rows; first += rows_at_a_time) {
    std::uint32_t word[rows_at_a_time];
#pragma unroll
    for (int i = 0; i < rows_at_a_time; ++i)
      word[i] = ptx::ld_shared_b32(in_subtile(subtile, first + i, mine * element_bytes / 2));
#pragma unroll
    for (int i = 0; i < rows_at_a_time; ++i) {
      if constexpr (element_bytes == 4) {
        if (first + i < rows && lane < elements) *to = word[i];
      } else {
        store(to, word[i], first + i < rows);
      }
      to += c.ld;
    }
  }
  __syncwarp();
}

}  // namespace tenon
