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

  // What StoreRows asks of an operation: there is no gated pair and no gradient.
  static constexpr bool gated = false, stores_words = true;
  static constexpr float* bias_gradient = nullptr;

  __device__ __forceinline__ float factor() const { return op.alpha; }
  __device__ __forceinline__ bool has_whole_chunks() const {
    return reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
           static_cast<std::uint64_t>(c.ld) * bytes(c.type) % 16 == 0;
  }

  // Begins to bring `rows` rows of C from `row` on, `columns` elements each from `column` on, into the L2:
  // what fetch() and store_words() wait for. By `threads` threads, of which this is number `thread`.
  __device__ __forceinline__ void prefetch(int row, int rows, int column, int columns, int thread,
                                           int threads) const {
    if (op.beta == 0.0F) return;
    constexpr int line = 128, of_a_row = 2;  // threads
    const int element = static_cast<int>(bytes(c.type)), width = min(columns, c.n - column) * element;
#pragma unroll 1
    for (int r = row + thread / of_a_row; r < min(row + rows, c.m); r += threads / of_a_row) {
      const char* const from = static_cast<const char*>(c.data) + (r * c.ld + column) * element;
#pragma unroll 1
      for (int at = thread % of_a_row * line; at < width; at += of_a_row * line)
        ptx::prefetch_global_L2(from + at);
    }
  }

  // Calls f(std::integral_constant<int, B>) for the B bytes of an element of C. What f does is compiled for
  // both: asked for each element, the type would be most of the code.
  template <class F>
  __device__ __forceinline__ void visit_element_bytes(const F& f) const {
    if (c.type == Type::f32) {
      f(std::integral_constant<int, 4>());
    } else {
      f(std::integral_constant<int, 2>());
    }
  }

  // 16 bytes of a row of C: the elements that a lane loads, combines and stores at a time.
  template <int element_bytes>
  static constexpr int chunk_columns = 16 / element_bytes;
  // Begins to load those from `column` on; nothing if beta is 0.
  template <int element_bytes>
  __device__ __forceinline__ uint4 fetch(int row, int column) const {
    if (op.beta == 0.0F) return {};
    return *at<uint4, element_bytes>(row, column);
  }
  // Stores there what belongs there. values: accumulators times factor().
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

  // The same for eight elements, of which `left` lie within the row, at any address.
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

  // Stores `count` elements, 1 to 64 from `column` on, of each of `rows` rows. staged: the accumulators,
  // times factor(): place(i) says where element i is, load(place, r) gives that of row r. together: how many
  // rows are loaded before the first is stored, an even number. By whole warps.
  template <int together, class Staged>
  __device__ __forceinline__ void store_words(const Staged& staged, int row, int rows, int column,
                                              std::uint32_t count, std::uint32_t lane) const {
    static_assert(together % 2 == 0, "store_words: what holds for a row holds for the next but one");
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

  // Elements `lane` and lane + 32 of each row; to: the first.
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

  // Rows of 16-bit elements, by the words that two of them share: elements 2 lane - shift and the next. Where
  // shift is 1, lane 0 has the last of 64 instead of the one before the first. to: the first element.
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
  // Elements i and i + 1 of a row, as far as there are so many; where i is 2^32 - 1, elements 63 and 0. Both
  // in a word, or each in its own; the others are 0. So no lane waits for one before it loads the next.
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
