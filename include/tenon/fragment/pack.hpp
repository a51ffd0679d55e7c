// Packing of numbers into the 32-bit register of an mma operand, and unpacking. The first argument goes to
// the lowest bits. On the device these are PTX conversions where the target has them, elsewhere the functions
// of number.hpp, with the same results. Floating-point values round to nearest even (tf32: ties away from
// zero); fp8 and integers saturate.
//
//   pack_f16x2 pack_bf16x2 pack_e4m3x4 pack_e5m2x4 pack_s8x4 pack_u8x4 pack_s4x8 pack_u4x8 pack_b1x32 to_tf32
//
// Packing<T> offers the same by element type, for generic code: Value, pack and unpack. Builds on number.hpp
// and, in device code, on the ptx/convert headers.
#pragma once

#include "tenon/fragment/element.hpp"
#include "tenon/fragment/number.hpp"
#if defined(__CUDACC__)
#include "tenon/ptx/convert.hpp"
#include "tenon/ptx/convert_fp8.hpp"
#include "tenon/ptx/convert_integer.hpp"
#endif

namespace tenon {

TENON_HOST_DEVICE inline std::uint32_t pack_f16x2(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return ptx::cvt_rn_f16x2_f32(high, low);
#else
  return encode<FormatF16>(low) | encode<FormatF16>(high) << 16;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_bf16x2(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return ptx::cvt_rn_bf16x2_f32(high, low);
#else
  return encode<FormatBf16>(low) | encode<FormatBf16>(high) << 16;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_e4m3x4(float v0, float v1, float v2, float v3) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  return ptx::cvt_rn_satfinite_e4m3x2_f32(v1, v0) |
         static_cast<std::uint32_t>(ptx::cvt_rn_satfinite_e4m3x2_f32(v3, v2)) << 16;
#else
  return encode<FormatE4m3>(v0) | encode<FormatE4m3>(v1) << 8 | encode<FormatE4m3>(v2) << 16 |
         encode<FormatE4m3>(v3) << 24;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_e5m2x4(float v0, float v1, float v2, float v3) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  return ptx::cvt_rn_satfinite_e5m2x2_f32(v1, v0) |
         static_cast<std::uint32_t>(ptx::cvt_rn_satfinite_e5m2x2_f32(v3, v2)) << 16;
#else
  return encode<FormatE5m2>(v0) | encode<FormatE5m2>(v1) << 8 | encode<FormatE5m2>(v2) << 16 |
         encode<FormatE5m2>(v3) << 24;
#endif
}

// The register of a tf32 operand: one rounded float.
TENON_HOST_DEVICE inline std::uint32_t to_tf32(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return ptx::cvt_rna_tf32_f32(value);
#else
  return round_to_tf32(value);
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_s8x4(std::int32_t v0, std::int32_t v1, std::int32_t v2,
                                                 std::int32_t v3) {
#if defined(__CUDA_ARCH__)
  return ptx::cvt_pack_sat_s8_s32_b32(v1, v0, ptx::cvt_pack_sat_s8_s32_b32(v3, v2, 0));
#else
  return encode_signed(v0, 8) | encode_signed(v1, 8) << 8 | encode_signed(v2, 8) << 16 |
         encode_signed(v3, 8) << 24;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_u8x4(std::int32_t v0, std::int32_t v1, std::int32_t v2,
                                                 std::int32_t v3) {
#if defined(__CUDA_ARCH__)
  return ptx::cvt_pack_sat_u8_s32_b32(v1, v0, ptx::cvt_pack_sat_u8_s32_b32(v3, v2, 0));
#else
  return encode_unsigned(v0, 8) | encode_unsigned(v1, 8) << 8 | encode_unsigned(v2, 8) << 16 |
         encode_unsigned(v3, 8) << 24;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_s4x8(const std::int32_t (&values)[8]) {
#if defined(__CUDA_ARCH__)
  std::uint32_t packed = 0;  // each conversion shifts what it is given to the left of its own two numbers
  for (int i = 6; i >= 0; i -= 2) packed = ptx::cvt_pack_sat_s4_s32_b32(values[i + 1], values[i], packed);
  return packed;
#else
  std::uint32_t packed = 0;
  for (int i = 0; i < 8; ++i) packed |= encode_signed(values[i], 4) << 4 * i;
  return packed;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_u4x8(const std::int32_t (&values)[8]) {
#if defined(__CUDA_ARCH__)
  std::uint32_t packed = 0;  // each conversion shifts what it is given to the left of its own two numbers
  for (int i = 6; i >= 0; i -= 2) packed = ptx::cvt_pack_sat_u4_s32_b32(values[i + 1], values[i], packed);
  return packed;
#else
  std::uint32_t packed = 0;
  for (int i = 0; i < 8; ++i) packed |= encode_unsigned(values[i], 4) << 4 * i;
  return packed;
#endif
}

TENON_HOST_DEVICE inline std::uint32_t pack_b1x32(const bool (&values)[32]) {
  std::uint32_t packed = 0;
  for (int i = 0; i < 32; ++i) packed |= static_cast<std::uint32_t>(values[i]) << i;
  return packed;
}

// Exact. values[0] comes from the lowest bits.
TENON_HOST_DEVICE inline void unpack_f16x2(std::uint32_t packed, float (&values)[2]) {
  for (int i = 0; i < 2; ++i) {
#if defined(__CUDA_ARCH__)
    values[i] = ptx::cvt_f32_f16(static_cast<std::uint16_t>(packed >> 16 * i));
#else
    values[i] = decode<FormatF16>(packed >> 16 * i & 0xffffU);
#endif
  }
}
TENON_HOST_DEVICE inline void unpack_bf16x2(std::uint32_t packed, float (&values)[2]) {
  values[0] = float_of(packed << 16);
  values[1] = float_of(packed & 0xffff0000U);
}
TENON_HOST_DEVICE inline void unpack_e4m3x4(std::uint32_t packed, float (&values)[4]) {
  for (int i = 0; i < 4; ++i) values[i] = decode<FormatE4m3>(packed >> 8 * i & 0xffU);
}
TENON_HOST_DEVICE inline void unpack_e5m2x4(std::uint32_t packed, float (&values)[4]) {
  for (int i = 0; i < 4; ++i) values[i] = decode<FormatE5m2>(packed >> 8 * i & 0xffU);
}
TENON_HOST_DEVICE inline void unpack_s8x4(std::uint32_t packed, std::int32_t (&values)[4]) {
  for (int i = 0; i < 4; ++i) values[i] = decode_signed(packed >> 8 * i, 8);
}
TENON_HOST_DEVICE inline void unpack_u8x4(std::uint32_t packed, std::int32_t (&values)[4]) {
  for (int i = 0; i < 4; ++i) values[i] = decode_unsigned(packed >> 8 * i, 8);
}
TENON_HOST_DEVICE inline void unpack_s4x8(std::uint32_t packed, std::int32_t (&values)[8]) {
  for (int i = 0; i < 8; ++i) values[i] = decode_signed(packed >> 4 * i, 4);
}
TENON_HOST_DEVICE inline void unpack_u4x8(std::uint32_t packed, std::int32_t (&values)[8]) {
  for (int i = 0; i < 8; ++i) values[i] = decode_unsigned(packed >> 4 * i, 4);
}
TENON_HOST_DEVICE inline void unpack_b1x32(std::uint32_t packed, bool (&values)[32]) {
  for (int i = 0; i < 32; ++i) values[i] = (packed >> i & 1U) != 0;
}

// How to read and write a register of elements of type T as ordinary values: float, int32_t, double or bool.
// For the types of Element<T>; Element<T> reports any other type.
template <class T>
struct Packing {
  using Value = float;
};

template <>
struct Packing<__half> {
  using Value = float;
  TENON_HOST_DEVICE static std::uint32_t pack(const float (&v)[2]) { return pack_f16x2(v[0], v[1]); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, float (&v)[2]) { unpack_f16x2(packed, v); }
};
template <>
struct Packing<__nv_bfloat16> {
  using Value = float;
  TENON_HOST_DEVICE static std::uint32_t pack(const float (&v)[2]) { return pack_bf16x2(v[0], v[1]); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, float (&v)[2]) { unpack_bf16x2(packed, v); }
};
template <>
struct Packing<tf32> {
  using Value = float;
  TENON_HOST_DEVICE static std::uint32_t pack(const float (&v)[1]) { return to_tf32(v[0]); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, float (&v)[1]) { v[0] = float_of(packed); }
};
template <>
struct Packing<e4m3> {
  using Value = float;
  TENON_HOST_DEVICE static std::uint32_t pack(const float (&v)[4]) {
    return pack_e4m3x4(v[0], v[1], v[2], v[3]);
  }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, float (&v)[4]) { unpack_e4m3x4(packed, v); }
};
template <>
struct Packing<e5m2> {
  using Value = float;
  TENON_HOST_DEVICE static std::uint32_t pack(const float (&v)[4]) {
    return pack_e5m2x4(v[0], v[1], v[2], v[3]);
  }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, float (&v)[4]) { unpack_e5m2x4(packed, v); }
};
template <>
struct Packing<std::int8_t> {
  using Value = std::int32_t;
  TENON_HOST_DEVICE static std::uint32_t pack(const Value (&v)[4]) {
    return pack_s8x4(v[0], v[1], v[2], v[3]);
  }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, Value (&v)[4]) { unpack_s8x4(packed, v); }
};
template <>
struct Packing<std::uint8_t> {
  using Value = std::int32_t;
  TENON_HOST_DEVICE static std::uint32_t pack(const Value (&v)[4]) {
    return pack_u8x4(v[0], v[1], v[2], v[3]);
  }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, Value (&v)[4]) { unpack_u8x4(packed, v); }
};
template <>
struct Packing<s4> {
  using Value = std::int32_t;
  TENON_HOST_DEVICE static std::uint32_t pack(const Value (&v)[8]) { return pack_s4x8(v); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, Value (&v)[8]) { unpack_s4x8(packed, v); }
};
template <>
struct Packing<u4> {
  using Value = std::int32_t;
  TENON_HOST_DEVICE static std::uint32_t pack(const Value (&v)[8]) { return pack_u4x8(v); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, Value (&v)[8]) { unpack_u4x8(packed, v); }
};
template <>
struct Packing<b1> {
  using Value = bool;
  TENON_HOST_DEVICE static std::uint32_t pack(const bool (&v)[32]) { return pack_b1x32(v); }
  TENON_HOST_DEVICE static void unpack(std::uint32_t packed, bool (&v)[32]) { unpack_b1x32(packed, v); }
};

// Accumulators of 32 and 64 bits, and f64 operands, need no packing.
template <class T>
struct PackingOfOne {
  using Value = T;
  TENON_HOST_DEVICE static T pack(const T (&v)[1]) { return v[0]; }
  TENON_HOST_DEVICE static void unpack(T packed, T (&v)[1]) { v[0] = packed; }
};
template <>
struct Packing<float> : PackingOfOne<float> {};
template <>
struct Packing<double> : PackingOfOne<double> {};
template <>
struct Packing<std::int32_t> : PackingOfOne<std::int32_t> {};

}  // namespace tenon
