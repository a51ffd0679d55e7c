// Adjacent elements of a row of a matrix, as one lane loads and stores them: up to 16 bytes at a time where
// the address allows it, else element by element. Below: output.hpp, saturate.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/gemm/saturate.hpp"

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

// Four words of 16-bit elements as eight floats.
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

// Four values as four 8-bit elements.
__device__ __forceinline__ std::uint32_t pack_four(Type type, const float (&from)[4]) {
  return type == Type::e4m3   ? saturate_to<e4m3>(from)
         : type == Type::e5m2 ? saturate_to<e5m2>(from)
                              : saturate_to<std::int8_t>(from);
}

// Rounds the values to the type, f32, f16, bf16, e4m3, e5m2 or s8, and stores them from element `at` of an
// array on, at most the `left` elements that the row has.
template <int count>
__device__ __forceinline__ void store_segment(void* data, Type type, std::int64_t at, int left,
                                              const float (&from)[count]) {
  static_assert(count == 4 || count == 8, "store_segment: a lane has four or eight elements");
  const int element = static_cast<int>(bytes(type));
  void* const to = static_cast<char*>(data) + at * element;
  const bool is_whole = left >= count && reinterpret_cast<std::uintptr_t>(to) % min(16, count * element) == 0;
  if (element == 4) {
    auto* const numbers = static_cast<float*>(to);
#pragma unroll
    for (int i = 0; i < count; i += 4) {
      if (is_whole) {
        *reinterpret_cast<float4*>(numbers + i) = make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
      } else {
#pragma unroll
        for (int x = i; x < i + 4; ++x) {
          if (x < left) numbers[x] = from[x];
        }
      }
    }
    return;
  }
  std::uint32_t word[count / 2];  // of 8-bit elements the first half
#pragma unroll
  for (int i = 0; i < count / 2; ++i) {
    const float pair[2] = {from[2 * i], from[2 * i + 1]};
    word[i] = type == Type::f16 ? Packing<__half>::pack(pair) : Packing<__nv_bfloat16>::pack(pair);
  }
  if (element == 1) {
#pragma unroll
    for (int i = 0; i < count / 4; ++i) {
      const float four[4] = {from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]};
      word[i] = pack_four(type, four);
    }
  }
  if (is_whole) {
    if (count * element == 16) {
      *static_cast<uint4*>(to) = make_uint4(word[0], word[1], word[count / 2 - 2], word[count / 2 - 1]);
    } else if (count * element == 8) {
      *static_cast<uint2*>(to) = make_uint2(word[0], word[1]);
    } else {
      *static_cast<std::uint32_t*>(to) = word[0];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if (i >= left) break;
    if (element == 2) {
      static_cast<std::uint16_t*>(to)[i] = static_cast<std::uint16_t>(word[i / 2] >> i % 2 * 16);
    } else {
      static_cast<std::uint8_t*>(to)[i] = static_cast<std::uint8_t>(word[i / 4] >> i % 4 * 8);
    }
  }
}

}  // namespace tenon
