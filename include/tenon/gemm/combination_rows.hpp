// LinearCombination as StoreRows applies it, to adjacent elements of a row: eight of a lane where the rows of
// C begin on multiples of 16 bytes, else a word of each lane. Below: epilogue.hpp, row_segment.hpp.
//
// The stores read C this way. Applied to the accumulators where they are, the loads of C, with their bounds
// and types, would be code for each pair of accumulators, several times as much as all the rest of a kernel.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/row_segment.hpp"

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

  // Stores `count` elements of a row, at most 64, from `column` on. values(i): accumulator i times factor().
  // By whole warps.
  template <class Values>
  __device__ __forceinline__ void store_words(const Values& values, int row, int column, int count,
                                              int lane) const {
    const std::int64_t first = row * c.ld + column;
    if (c.type == Type::f32) {
      float* const to = static_cast<float*>(c.data) + first;
#pragma unroll
      for (int i = lane; i < count; i += 32) {
        const float value = values(i);
        to[i] = op.beta == 0.0F ? value : fmaf(op.beta, to[i], value);
      }
      return;
    }
    // Elements 2 lane - shift and the next, which share a word of C. Where shift is 1, lane 0 has the last of
    // 64 too.
    auto* const to = static_cast<std::uint16_t*>(c.data) + first;
    const int shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / 2 % 2), i = 2 * lane - shift;
    if (i >= 0 && i + 1 < count) {
      auto* const word = reinterpret_cast<std::uint32_t*>(to + i);
      float two[2] = {values(i), values(i + 1)};
      if (op.beta != 0.0F) {
        float addend[2];
        unpack(*word, addend);
        two[0] = fmaf(op.beta, addend[0], two[0]), two[1] = fmaf(op.beta, addend[1], two[1]);
      }
      *word = pack_pair(c.type, two);
    } else if (i < count) {
      store_half(to, values, i < 0 ? 0 : i);
    }
    if (lane == 0 && shift != 0 && count == 64) store_half(to, values, 63);
  }

 private:
  __device__ __forceinline__ void unpack(std::uint32_t word, float (&two)[2]) const {
    if (c.type == Type::f16) {
      Packing<__half>::unpack(word, two);
    } else {
      Packing<__nv_bfloat16>::unpack(word, two);
    }
  }
  template <class Values>
  __device__ __forceinline__ void store_half(std::uint16_t* row, const Values& values, int i) const {
    float two[2] = {values(i), 0.0F};
    if (op.beta != 0.0F) two[0] = fmaf(op.beta, load_number(row, c.type, i), two[0]);
    row[i] = static_cast<std::uint16_t>(pack_pair(c.type, two));
  }
};

}  // namespace tenon
