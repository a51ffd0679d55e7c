// The words with which a product is described. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Types of matrix elements. tf32 operands are arrays of floats; the tensor cores use their upper 19 bits and
// ignore the lower 13. e4m3 and e5m2 are the 8-bit floats of the OCP (e4m3: no infinity).
enum class Type : int { f16 = 0, bf16 = 1, f32 = 2, tf32 = 3, e4m3 = 4, e5m2 = 5, s8 = 6, s32 = 7, f64 = 8 };
enum class Order : int { row_major = 0, column_major = 1 };
inline constexpr Order row_major = Order::row_major;
inline constexpr Order column_major = Order::column_major;

inline constexpr Type all_types[] = {Type::f16,  Type::bf16, Type::f32, Type::tf32, Type::e4m3,
                                     Type::e5m2, Type::s8,   Type::s32, Type::f64};

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
    case Type::f64:
      return "f64";
  }
  return "no type";
}
TENON_HOST_DEVICE constexpr bool is_fp8(Type type) noexcept {
  return type == Type::e4m3 || type == Type::e5m2;
}
TENON_HOST_DEVICE constexpr std::size_t bytes(Type type) noexcept {
  return is_fp8(type) || type == Type::s8          ? 1
         : type == Type::f16 || type == Type::bf16 ? 2
         : type == Type::f64                       ? 8
                                                   : 4;
}

// How gemm() multiplies operands of f32 on tensor cores, which have no instruction for them. The first three
// round A and B to a type. The others split each element into parts of a type, from which they add up the
// largest products: bf16x3 from 2 parts of bf16 (16 bits of precision), bf16x6 from 3 (24 bits, as f32),
// tf32x3 from 2 of tf32 (22 bits). bf16x6 and tf32x3 promote their accumulators.
enum class Precision : int { none = 0, tf32 = 1, f16 = 2, bf16 = 3, bf16x3 = 4, bf16x6 = 5, tf32x3 = 6 };

// All but none.
inline constexpr Precision all_precisions[] = {Precision::tf32,   Precision::f16,    Precision::bf16,
                                               Precision::bf16x3, Precision::bf16x6, Precision::tf32x3};

constexpr const char* name(Precision precision) noexcept {
  switch (precision) {
    case Precision::none:
      return "none";
    case Precision::tf32:
      return "tf32";
    case Precision::f16:
      return "f16";
    case Precision::bf16:
      return "bf16";
    case Precision::bf16x3:
      return "bf16x3";
    case Precision::bf16x6:
      return "bf16x6";
    case Precision::tf32x3:
      return "tf32x3";
  }
  return "no precision";
}

}  // namespace tenon
