// Rounding of f32 results to the 8-bit types of an output: int8_t, e4m3 and e5m2. To nearest, ties to even;
// what is too large, infinities included, becomes the largest finite value of its sign. A NaN becomes 0 as
// int8_t, which has none, and stays NaN in fp8. The same bits on host and device, where these are conversions
// of PTX: cvt.rni.s32.f32 and cvt.pack.sat.s8.s32, cvt.rn.satfinite.e4m3x2.f32 and its like (before sm_89 by
// number.hpp). Below: fragment/pack.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// The nearest integer, ties to even, within the 32 bits of the result. NaN becomes 0.
TENON_HOST_DEVICE inline std::int32_t round_to_integer(float value) {
#if defined(__CUDA_ARCH__)
  return __float2int_rn(value);
#else
  constexpr float limit = 0x1p31F, whole = 0x1p23F;  // from `whole` on, every float is an integer
  if (!(value == value)) return 0;
  if (value >= limit) return INT32_MAX;
  if (value <= -limit) return INT32_MIN;
  const float magnitude = value < 0.0F ? -value : value;
  if (magnitude >= whole) return static_cast<std::int32_t>(value);
  const auto below = static_cast<std::int32_t>(magnitude);
  const float rest = magnitude - static_cast<float>(below);
  const std::int32_t nearest = below + (rest > 0.5F || (rest == 0.5F && below % 2 != 0) ? 1 : 0);
  return value < 0.0F ? -nearest : nearest;
#endif
}

// Four values packed, the first in the lowest byte. T: int8_t, e4m3 or e5m2.
template <class T>
TENON_HOST_DEVICE inline std::uint32_t saturate_to(const float (&v)[4]) {
  static_assert(std::is_same_v<T, std::int8_t> || std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>,
                "saturate_to: the 8-bit types of an output are int8_t, e4m3 and e5m2");
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return pack_s8x4(round_to_integer(v[0]), round_to_integer(v[1]), round_to_integer(v[2]),
                     round_to_integer(v[3]));
  } else {
    return Packing<T>::pack(v);
  }
}

// One value, as the bits of the element.
template <class T>
TENON_HOST_DEVICE inline std::uint8_t saturate_to(float value) {
  const float four[4] = {value, 0.0F, 0.0F, 0.0F};
  return static_cast<std::uint8_t>(saturate_to<T>(four));
}

}  // namespace tenon
