// LinearCombination as StoreRows applies it, to adjacent elements of a row: eight of a lane where the rows of
// C begin on multiples of 16 bytes, else a word of each lane. Below: epilogue.hpp, row_segment.hpp,
// ptx/prefetch.hpp.
//
// The stores read C this way. Applied to the accumulators where they are, the loads of C, with their bounds
// and types, would be code for each pair of accumulators, several times as much as all the rest of a kernel.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/row_segment.hpp"
#include "tenon/ptx/prefetch.hpp"

namespace tenon {

struct CombinationRows {
  LinearCombination op;
  Output c;  // f32, f16 or bf16

  static constexpr bool stores_words = true;  // see StoreRows

  __device__ __forceinline__ float factor() const { return op.alpha; }
  __device__ __forceinline__ bool has_whole_chunks() const {
    return reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
           static_cast<std::uint64_t>(c.ld) * bytes(c.type) % 16 == 0;
  }

  // Prefetches a block of C into the L2, because fetch() and store_words() wait for their loads. `threads`
  // threads call it; `thread` is the number of the calling one.
  __device__ __forceinline__ void prefetch(int row, int rows, int column, int columns, int thread,
                                           int threads) const {
    if (op.beta == 0.0F) return;
    constexpr int line_bytes = 128, threads_of_row = 2;
    const int element = static_cast<int>(bytes(c.type)), width = min(columns, c.n - column) * element;
#pragma unroll 1
    for (int r = row + thread / threads_of_row; r < min(row + rows, c.m); r += threads / threads_of_row) {
      const char* const from = static_cast<const char*>(c.data) + (r * c.ld + column) * element;
#pragma unroll 1
      for (int at = thread % threads_of_row * line_bytes; at < width; at += threads_of_row * line_bytes)
        ptx::prefetch_global_L2(from + at);
    }
  }

  // Calls f(std::integral_constant<int, B>), where an element of C has B bytes. So f is compiled for each
  // size: a branch on the type for each element would be most of the instructions.
  template <class F>
  __device__ __forceinline__ void visit_element_bytes(const F& f) const {
    if (c.type == Type::f32) {
      f(std::integral_constant<int, 4>());
    } else {
      f(std::integral_constant<int, 2>());
    }
  }

  // A lane loads, combines and stores a chunk of a row of C, 16 bytes, at a time: so many columns.
  template <int element_bytes>
  static constexpr int chunk_columns = 16 / element_bytes;
  // Loads the chunk that begins at `column`. If beta is 0, it loads nothing and returns zeros.
  template <int element_bytes>
  __device__ __forceinline__ uint4 fetch(int row, int column) const {
    if (op.beta == 0.0F) return {};
    return *at<uint4, element_bytes>(row, column);
  }
  // Combines the chunk with values, the accumulators times factor(), and stores it.
  template <int element_bytes>
  __device__ __forceinline__ void store_chunk(float (&values)[chunk_columns<element_bytes>],
                                              const uint4& fetched, int row, int column) const {
    if (op.beta != 0.0F) {
      float addend[chunk_columns<element_bytes>];
      if constexpr (element_bytes == 4) {
        addend[0] = __uint_as_float(fetched.x), addend[1] = __uint_as_float(fetched.y);
        addend[2] = __uint_as_float(fetched.z), addend[3] = __uint_as_float(fetched.w);
      } else if (c.type == Type::f16) {
        unpack_segment<__half>(fetched, addend);
      } else {
        unpack_segment<__nv_bfloat16>(fetched, addend);
      }
#pragma unroll
      for (int i = 0; i < chunk_columns<element_bytes>; ++i) values[i] = fmaf(op.beta, addend[i], values[i]);
    }
    std::uint32_t word[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (element_bytes == 4) {
        word[w] = __float_as_uint(values[w]);
      } else {
        const float pair[2] = {values[2 * w], values[2 * w + 1]};
        word[w] = pack_pair(c.type, pair);
      }
    }
    *at<uint4, element_bytes>(row, column) = make_uint4(word[0], word[1], word[2], word[3]);
  }

  // apply() and store() do the same for eight elements at any address. The row ends after `left` elements.
  __device__ __forceinline__ void apply(float (&values)[segment_columns], int row, int column,
                                        int left) const {
    if (op.beta == 0.0F) return;
    float addend[segment_columns];
    load_segment(addend, c.data, c.type, row * c.ld + column, left);
#pragma unroll
    for (int i = 0; i < segment_columns; ++i) values[i] = fmaf(op.beta, addend[i], values[i]);
  }
  __device__ __forceinline__ void store(const Output&, const float (&values)[segment_columns], int row,
                                        int column, int left) const {
    store_segment(c.data, c.type, row * c.ld + column, left, values);
  }

  // Stores `count` elements of each of `rows` rows; count is 1 to 64. Called by whole warps. staged: the
  // accumulators times factor() in shared memory; place(i) is the address of element i of row 0, load(place,
  // r) reads the same element of row r. together: the number of rows that are loaded before the first one is
  // stored, even.
  template <int together, class Staged>
  __device__ __forceinline__ void store_words(const Staged& staged, int row, int rows, int column,
                                              std::uint32_t count, std::uint32_t lane) const {
    static_assert(together % 2 == 0,
                  "store_words: alignment repeats every two rows, so `together` must be even");
    if (c.type == Type::f32) {
      store_columns<together>(staged, at<float, 4>(row, column) + lane, rows, count, lane);
    } else {
      store_pairs<together>(staged, at<std::uint16_t, 2>(row, column), rows, count, lane);
    }
  }

 private:
  template <class T, int element_bytes>
  __device__ __forceinline__ T* at(int row, int column) const {
    return reinterpret_cast<T*>(static_cast<char*>(c.data) + (row * c.ld + column) * element_bytes);
  }

  // Each lane stores elements `lane` and lane + 32 of each row. to: element `lane` of the first row.
  template <int together, class Staged>
  __device__ __forceinline__ void store_columns(const Staged& staged, float* to, int rows,
                                                std::uint32_t count, std::uint32_t lane) const {
    const std::uint32_t place[2] = {staged.place(min(lane, count - 1)),
                                    staged.place(min(lane + 32, count - 1))};
#pragma unroll 1
    for (int first = 0; first < rows; first += together) {
      float addend[together][2] = {}, value[together][2];
      const float* from = to;
      if (op.beta != 0.0F) {
#pragma unroll
        for (int r = 0; r < together; ++r, from += c.ld) {
#pragma unroll
          for (std::uint32_t half = 0; half < 2; ++half) {
            if (first + r < rows && lane + 32 * half < count) addend[r][half] = from[32 * half];
          }
        }
      }
#pragma unroll
      for (int r = 0; r < together; ++r) {
#pragma unroll
        for (int half = 0; half < 2; ++half) value[r][half] = staged.load(place[half], first + r);
      }
#pragma unroll
      for (int r = 0; r < together; ++r, to += c.ld) {
#pragma unroll
        for (std::uint32_t half = 0; half < 2; ++half) {
          if (op.beta != 0.0F) value[r][half] = fmaf(op.beta, addend[r][half], value[r][half]);
          if (first + r < rows && lane + 32 * half < count) to[32 * half] = value[r][half];
        }
      }
    }
  }

  // Stores rows of 16-bit elements by aligned 32-bit words: each lane has elements 2 lane - shift and the
  // next one, where shift is 1 if the row begins in the middle of a word. Then lane 0 has elements 63 and 0.
  // to: the first element.
  template <int together, class Staged>
  __device__ __forceinline__ void store_pairs(const Staged& staged, std::uint16_t* to, int rows,
                                              std::uint32_t count, std::uint32_t lane) const {
    std::uint32_t i[2], place[2][2];  // of even and odd rows
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const auto address = reinterpret_cast<std::uintptr_t>(to + odd * c.ld);
      i[odd] = 2 * lane - static_cast<std::uint32_t>(address) / 2 % 2;  // of lane 0 perhaps 2^32 - 1
      place[odd][0] = staged.place(min(i[odd] % 64, count - 1));
      place[odd][1] = staged.place(min(i[odd] + 1, count - 1));
    }
#pragma unroll 1
    for (int first = 0; first < rows; first += together) {
      Pair addend[together] = {};
      float value[together][2];
      const std::uint16_t* from = to;
      if (op.beta != 0.0F) {
#pragma unroll
        for (int r = 0; r < together; ++r, from += c.ld)
          addend[r] = load_pair(from, i[r % 2], first + r < rows ? count : 0U);
      }
#pragma unroll
      for (int r = 0; r < together; ++r) {
#pragma unroll
        for (int x = 0; x < 2; ++x) value[r][x] = staged.load(place[r % 2][x], first + r);
      }
#pragma unroll
      for (int r = 0; r < together; ++r, to += c.ld) {
        if (op.beta != 0.0F) {
          float two[2];
          unpack(addend[r].word | addend[r].low | addend[r].high << 16, two);
#pragma unroll
          for (int x = 0; x < 2; ++x) value[r][x] = fmaf(op.beta, two[x], value[r][x]);
        }
        store_pair(to, i[r % 2], first + r < rows ? count : 0U, pack_pair(c.type, value[r]));
      }
    }
  }
  __device__ __forceinline__ void unpack(std::uint32_t word, float (&two)[2]) const {
    if (c.type == Type::f16) {
      Packing<__half>::unpack(word, two);
    } else {
      Packing<__nv_bfloat16>::unpack(word, two);
    }
  }
  // Elements i and i + 1 of a row (63 and 0 if i is 2^32 - 1), if they exist, else 0. They are in `word`, or
  // in `low` and `high` if they do not share a word. Three members instead of one, because a lane that merged
  // two loads in a branch would wait for them before it issues those of the next row.
  struct Pair {
    std::uint32_t word, low, high;
  };
  __device__ __forceinline__ static Pair load_pair(const std::uint16_t* row, std::uint32_t i,
                                                   std::uint32_t count) {
    const bool is_word = i + 1 < count && i + 1 != 0;
    Pair pair{};
    if (is_word) pair.word = *reinterpret_cast<const std::uint32_t*>(row + i);
    if (!is_word && i % 64 < count) pair.low = row[i % 64];
    if (!is_word && i + 1 < count) pair.high = row[i + 1];
    return pair;
  }
  __device__ __forceinline__ static void store_pair(std::uint16_t* row, std::uint32_t i, std::uint32_t count,
                                                    std::uint32_t pair) {
    const bool is_word = i + 1 < count && i + 1 != 0;
    if (is_word) *reinterpret_cast<std::uint32_t*>(row + i) = pair;
    if (!is_word && i % 64 < count) row[i % 64] = static_cast<std::uint16_t>(pair);
    if (!is_word && i + 1 < count) row[i + 1] = static_cast<std::uint16_t>(pair >> 16);
  }
};

}  // namespace tenon
