// The words with which a product is described. Plain C++17.
#pragma once

#include <cstddef>

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// Types of matrix elements. tf32 operands are arrays of floats; the tensor cores use their upper 19 bits and
// ignore the lower 13. e4m3 and e5m2 are the 8-bit floats of the OCP (e4m3: no infinity).
enum class Type : int { f16 = 0, bf16 = 1, f32 = 2, tf32 = 3, e4m3 = 4, e5m2 = 5, s8 = 6, s32 = 7 };
enum class Order : int { row_major = 0, column_major = 1 };
inline constexpr Order row_major = Order::row_major;
inline constexpr Order column_major = Order::column_major;

inline constexpr Type all_types[] = {Type::f16,  Type::bf16, Type::f32, Type::tf32,
                                     Type::e4m3, Type::e5m2, Type::s8,  Type::s32};

constexpr const char* name(Type type) noexcept {
  switch (type) {
    case Type::f16:
      return "f16";
    case Type::bf16:
      return "bf16";
    case Type::f32:
      return "f32";
    case Type::tf32:
      return "tf32";
    case Type::e4m3:
      return "e4m3";
    case Type::e5m2:
      return "e5m2";
    case Type::s8:
      return "s8";
    case Type::s32:
      return "s32";
  }
  return "no type";
}
TENON_HOST_DEVICE constexpr bool is_fp8(Type type) noexcept {
  return type == Type::e4m3 || type == Type::e5m2;
}
TENON_HOST_DEVICE constexpr std::size_t bytes(Type type) noexcept {
  return is_fp8(type) || type == Type::s8 ? 1 : type == Type::f16 || type == Type::bf16 ? 2 : 4;
}

}  // namespace tenon
