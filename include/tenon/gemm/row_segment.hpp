// Eight adjacent elements of a row of a matrix, as one lane loads and stores them: 16 bytes at a time where
// the row begins on a multiple of 16 bytes, else element by element. Below: output.hpp, fragment/pack.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/output.hpp"

namespace tenon {

inline constexpr int segment_columns = 8;

// Element `at` of an array of f32, f16 or bf16.
__device__ __forceinline__ float load_number(const void* data, Type type, std::int64_t at) {
  if (type == Type::f32) return static_cast<const float*>(data)[at];
  const std::uint32_t bits = static_cast<const std::uint16_t*>(data)[at];
  float pair[2];
  if (type == Type::f16) {
    Packing<__half>::unpack(bits, pair);
  } else {
    Packing<__nv_bfloat16>::unpack(bits, pair);
  }
  return pair[0];
}
__device__ __forceinline__ void store_number(void* data, Type type, std::int64_t at, float value) {
  const float pair[2] = {value, 0.0F};
  if (type == Type::f32) {
    static_cast<float*>(data)[at] = value;
  } else {
    const std::uint32_t word =
        type == Type::f16 ? Packing<__half>::pack(pair) : Packing<__nv_bfloat16>::pack(pair);
    static_cast<std::uint16_t*>(data)[at] = static_cast<std::uint16_t>(word);
  }
}

// Two adjacent words of 16-bit elements as four floats, and back.
template <class T>
__device__ __forceinline__ void unpack_segment(const uint4& words, float (&to)[segment_columns]) {
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float pair[2];
    Packing<T>::unpack(word[i], pair);
    to[2 * i] = pair[0];
    to[2 * i + 1] = pair[1];
  }
}
template <class T>
__device__ __forceinline__ uint4 pack_segment(const float (&from)[segment_columns]) {
  std::uint32_t word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float pair[2] = {from[2 * i], from[2 * i + 1]};
    word[i] = Packing<T>::pack(pair);
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

// Whether a segment can be moved 16 bytes at a time: it lies within its row, which has `left` elements from
// its start on, and begins on a multiple of 16 bytes.
__device__ __forceinline__ bool is_vector(const void* segment, int left) {
  return left >= segment_columns && reinterpret_cast<std::uintptr_t>(segment) % 16 == 0;
}

// Loads elements at, at + 1, ... of an array of f32, f16 or bf16. The row has `left` elements from there on;
// the places beyond them become 0.
__device__ __forceinline__ void load_segment(float (&to)[segment_columns], const void* data, Type type,
                                             std::int64_t at, int left) {
  const void* const from = static_cast<const char*>(data) + at * static_cast<int>(bytes(type));
  if (is_vector(from, left)) {
    const auto* const vector = static_cast<const uint4*>(from);
    if (type == Type::f16) return unpack_segment<__half>(vector[0], to);
    if (type == Type::bf16) return unpack_segment<__nv_bfloat16>(vector[0], to);
    const auto* const four = static_cast<const float4*>(from);
    const float4 low = four[0], high = four[1];
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < segment_columns; ++i) to[i] = i < left ? load_number(from, type, i) : 0.0F;
}

// Rounds the values to the type and stores them from element `at` of an array on, at most the `left` elements
// that the row has.
__device__ __forceinline__ void store_segment(void* data, Type type, std::int64_t at, int left,
                                              const float (&from)[segment_columns]) {
  void* const to = static_cast<char*>(data) + at * static_cast<int>(bytes(type));
  if (is_vector(to, left)) {
    auto* const vector = static_cast<uint4*>(to);
    if (type == Type::f32) {
      auto* const four = static_cast<float4*>(to);
      four[0] = make_float4(from[0], from[1], from[2], from[3]);
      four[1] = make_float4(from[4], from[5], from[6], from[7]);
    } else {
      *vector = type == Type::f16 ? pack_segment<__half>(from) : pack_segment<__nv_bfloat16>(from);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < segment_columns; ++i) {
    if (i < left) store_number(to, type, i, from[i]);
  }
}

}  // namespace tenon
