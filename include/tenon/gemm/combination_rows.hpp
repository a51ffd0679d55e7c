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
  // what apply() and store_words() wait for. By `threads` threads, of which this is number `thread`.
  __device__ __forceinline__ void prefetch(int row, int rows, int column, int columns, int thread,
                                           int threads) const {
    if (op.beta == 0.0F) return;
    constexpr int line = 128;
    const int element = static_cast<int>(bytes(c.type)), width = min(columns, c.n - column) * element;
#pragma unroll 1
    for (int r = row + thread; r < min(row + rows, c.m); r += threads) {
      const char* const from = static_cast<const char*>(c.data) + (r * c.ld + column) * element;
#pragma unroll 1
      for (int at = 0; at < width; at += line) ptx::prefetch_global_L2(from + at);
    }
  }

  // values: accumulators times factor() of elements column, column + 1, ... of a row, of which `left` lie
  // within the row.
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

  // Stores `count` elements each of `left` rows, of which there may be more, 1 to 64 from `column` on.
  // values(r, i): accumulator i of row r, times factor(). By whole warps.
  template <int rows, class Values>
  __device__ __forceinline__ void store_words(const Values& values, int row, int left, int column, int count,
                                              int lane) const {
    const std::int64_t first = row * c.ld + column;
    if (c.type == Type::f32) {
      float* const to = static_cast<float*>(c.data) + first;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int i = lane + 32 * half;
        if (i >= count) break;
        float addend[rows], value[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          addend[r] = op.beta != 0.0F && r < left ? to[r * c.ld + i] : 0.0F;
          value[r] = values(r, i);
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          if (r < left) to[r * c.ld + i] = op.beta == 0.0F ? value[r] : fmaf(op.beta, addend[r], value[r]);
        }
      }
      return;
    }
    // Elements 2 lane - shift and the next, which share a word of C. Where shift is 1, lane 0 has the last of
    // 64 instead of the one before the first.
    auto* const to = static_cast<std::uint16_t*>(c.data) + first;
    const auto index_in = [&](int r) {
      return 2 * lane - static_cast<int>(reinterpret_cast<std::uintptr_t>(to + r * c.ld) / 2 % 2);
    };
    std::uint32_t addend[rows];
    float value[rows][2];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = index_in(r);
      const bool reads = op.beta != 0.0F && r < left && i >= 0 && i + 1 < count;
      addend[r] = reads ? *reinterpret_cast<const std::uint32_t*>(to + r * c.ld + i) : 0U;
      value[r][0] = values(r, min(i < 0 ? 63 : i, count - 1));
      value[r][1] = values(r, min(i + 1, count - 1));
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r >= left) break;
      const int i = index_in(r);
      std::uint16_t* const row_start = to + r * c.ld;
      if (i >= 0 && i + 1 < count) {
        if (op.beta != 0.0F) {
          float two[2];
          unpack(addend[r], two);
          value[r][0] = fmaf(op.beta, two[0], value[r][0]), value[r][1] = fmaf(op.beta, two[1], value[r][1]);
        }
        *reinterpret_cast<std::uint32_t*>(row_start + i) = pack_pair(c.type, value[r]);
      } else if (i < 0) {
        store_half(row_start, value[r][1]);
        if (count == 64) store_half(row_start + 63, value[r][0]);
      } else if (i < count) {
        store_half(row_start + i, value[r][0]);
      }
    }
  }

 private:
  __device__ __forceinline__ void unpack(std::uint32_t word, float (&two)[2]) const {
    if (c.type == Type::f16) {
      Packing<__half>::unpack(word, two);
    } else {
      Packing<__nv_bfloat16>::unpack(word, two);
    }
  }
  __device__ __forceinline__ void store_half(std::uint16_t* to, float value) const {
    float two[2] = {value, 0.0F};
    if (op.beta != 0.0F) two[0] = fmaf(op.beta, load_number(to, c.type, 0), two[0]);
    *to = static_cast<std::uint16_t>(pack_pair(c.type, two));
  }
};

}  // namespace tenon
