// The operand types of matrix instructions as C++ types, for wrappers that differ in a type only. Such a
// wrapper is a template over these types; `name` is the type's name in the PTX text.
//
// `bits`: of an element in memory. Integers of 8 and 4 bits, floats of 8 (e4m3, e5m2), 6 (e2m3, e3m2) and 4
// bits (e2m1); the digits are the bits of exponent and mantissa.
#pragma once

#include "tenon/ptx/cpp17.hpp"

namespace tenon::ptx {

struct type_f16 {
  static constexpr char name[] = "f16";
  static constexpr int bits = 16;
};
struct type_bf16 {
  static constexpr char name[] = "bf16";
  static constexpr int bits = 16;
};
struct type_tf32 {
  static constexpr char name[] = "tf32";
  static constexpr int bits = 32;
};
struct type_e4m3 {
  static constexpr char name[] = "e4m3";
  static constexpr int bits = 8;
};
struct type_e5m2 {
  static constexpr char name[] = "e5m2";
  static constexpr int bits = 8;
};
struct type_e2m3 {
  static constexpr char name[] = "e2m3";
  static constexpr int bits = 6;
};
struct type_e3m2 {
  static constexpr char name[] = "e3m2";
  static constexpr int bits = 6;
};
struct type_e2m1 {
  static constexpr char name[] = "e2m1";
  static constexpr int bits = 4;
};
struct type_s8 {
  static constexpr char name[] = "s8";
  static constexpr int bits = 8;
};
struct type_u8 {
  static constexpr char name[] = "u8";
  static constexpr int bits = 8;
};
struct type_s4 {
  static constexpr char name[] = "s4";
  static constexpr int bits = 4;
};
struct type_u4 {
  static constexpr char name[] = "u4";
  static constexpr int bits = 4;
};
struct type_b1 {
  static constexpr char name[] = "b1";
  static constexpr int bits = 1;
};

// Whether T is one of the types that follow it.
template <class T, class U>
inline constexpr bool is_type = false;
template <class T>
inline constexpr bool is_type<T, T> = true;
template <class T, class... Types>
inline constexpr bool is_one_of = (is_type<T, Types> || ...);

template <class T>
inline constexpr bool is_int8 = is_one_of<T, type_s8, type_u8>;
template <class T>
inline constexpr bool is_int4 = is_one_of<T, type_s4, type_u4>;
template <class T>
inline constexpr bool is_fp8 = is_one_of<T, type_e4m3, type_e5m2>;
template <class T>
inline constexpr bool is_f8f6f4 = is_one_of<T, type_e4m3, type_e5m2, type_e2m3, type_e3m2, type_e2m1>;

}  // namespace tenon::ptx
