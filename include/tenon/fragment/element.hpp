// The element types of mma operands and accumulators, and the shapes of mma instructions. Plain C++17,
// without CUDA headers.
#pragma once

#include "tenon/ptx/standard.hpp"

// Declarations of the CUDA types only: this header includes no CUDA header, which keeps it cheap.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's, whose right it is to take reserved ones
struct __half;
struct __nv_bfloat16;
// NOLINTEND(bugprone-reserved-identifier)

namespace tenon {

// Element types that C++ lacks. For the others the C++ types are used: int8_t is s8, uint8_t is u8, float is
// f32 (accumulators), double is f64, int32_t is s32 (accumulators).
struct tf32 {};  // 8-bit exponent, 10-bit mantissa, in the high 19 bits of a 32-bit register
struct e4m3 {};  // fp8, 4-bit exponent; no infinity
struct e5m2 {};  // fp8, 5-bit exponent
struct s4 {};
struct u4 {};
struct b1 {};

enum class Number { floating, integer, bit };

template <class T>
constexpr int bits_of_no_element();

// The bits of an element in a register, and its name in PTX. The specialisations below are the types of
// operands and accumulators. For any other T `exists` is false, and using `bits` is a compile error.
template <class T>
struct Element {
  static constexpr bool exists = false;
  static constexpr int bits = bits_of_no_element<T>();
  static constexpr Number number = Number::floating;
  static constexpr const char* name = "";
};

template <class T>
constexpr int bits_of_no_element() {
  static_assert(
      Element<T>::exists,
      "this type is not an element of an mma operand or accumulator, which are __half, __nv_bfloat16, "
      "tenon::tf32, float, double, tenon::e4m3, tenon::e5m2, int32_t, int8_t, uint8_t, tenon::s4, "
      "tenon::u4 and tenon::b1");
  return 16;  // as most elements have: the error above is the only one
}

template <int Bits, Number Kind>
struct ElementOf {
  static constexpr bool exists = true;
  static constexpr int bits = Bits;
  static constexpr Number number = Kind;
};
template <>
struct Element<__half> : ElementOf<16, Number::floating> {
  static constexpr const char* name = "f16";
};
template <>
struct Element<__nv_bfloat16> : ElementOf<16, Number::floating> {
  static constexpr const char* name = "bf16";
};
template <>
struct Element<tf32> : ElementOf<32, Number::floating> {
  static constexpr const char* name = "tf32";
};
template <>
struct Element<float> : ElementOf<32, Number::floating> {
  static constexpr const char* name = "f32";
};
template <>
struct Element<double> : ElementOf<64, Number::floating> {
  static constexpr const char* name = "f64";
};
template <>
struct Element<e4m3> : ElementOf<8, Number::floating> {
  static constexpr const char* name = "e4m3";
};
template <>
struct Element<e5m2> : ElementOf<8, Number::floating> {
  static constexpr const char* name = "e5m2";
};
template <>
struct Element<std::int32_t> : ElementOf<32, Number::integer> {
  static constexpr const char* name = "s32";
};
template <>
struct Element<std::int8_t> : ElementOf<8, Number::integer> {
  static constexpr const char* name = "s8";
};
template <>
struct Element<std::uint8_t> : ElementOf<8, Number::integer> {
  static constexpr const char* name = "u8";
};
template <>
struct Element<s4> : ElementOf<4, Number::integer> {
  static constexpr const char* name = "s4";
};
template <>
struct Element<u4> : ElementOf<4, Number::integer> {
  static constexpr const char* name = "u4";
};
template <>
struct Element<b1> : ElementOf<1, Number::bit> {
  static constexpr const char* name = "b1";
};

// D (m x n) = A (m x k) * B (k x n) + C (m x n), computed by one warp.
template <int M, int N, int K>
struct MmaShape {
  static constexpr int m = M, n = N, k = K;
};

using m8n8k4 = MmaShape<8, 8, 4>;  // f64; and f16 in its Volta form, which is four products a warp
using m8n8k16 = MmaShape<8, 8, 16>;
using m8n8k32 = MmaShape<8, 8, 32>;
using m8n8k128 = MmaShape<8, 8, 128>;
using m16n8k4 = MmaShape<16, 8, 4>;
using m16n8k8 = MmaShape<16, 8, 8>;
using m16n8k16 = MmaShape<16, 8, 16>;
using m16n8k32 = MmaShape<16, 8, 32>;
using m16n8k64 = MmaShape<16, 8, 64>;
using m16n8k128 = MmaShape<16, 8, 128>;
using m16n8k256 = MmaShape<16, 8, 256>;

// The shapes of nvcuda::wmma: types of their own, because their fragments are made of several mma fragments
// (layout_wmma.hpp).
template <int M, int N, int K>
struct WmmaShape {
  static constexpr int m = M, n = N, k = K;
};
using wmma16x16x16 = WmmaShape<16, 16, 16>;  // f16, bf16, s8, u8
using wmma32x8x16 = WmmaShape<32, 8, 16>;    // the same
using wmma8x32x16 = WmmaShape<8, 32, 16>;    // the same
using wmma16x16x8 = WmmaShape<16, 16, 8>;    // tf32
using wmma8x8x4 = WmmaShape<8, 8, 4>;        // f64

// Storage order of an operand. Only the fragments of Volta's f16 m8n8k4 and of wmma depend on it.
enum class Major { row, column };

// Whether some mma instruction multiplies operands of type T in this shape (PTX ISA 9.7.14.5). In bits the
// rule is short: a row of A is 128 or 256 bits of k; f64 has 256 to 1024; Volta's f16 m8n8k4 has 64.
template <class Shape, class T>
constexpr bool mma_has_operand() {
  if constexpr (!Element<T>::exists) {
    return false;
  } else {
    constexpr int k_bits = Shape::k * Element<T>::bits;
    constexpr bool is_f64 = Element<T>::bits == 64;
    constexpr bool is_f16 = Element<T>::bits == 16 && Element<T>::name[0] == 'f';
    constexpr bool is_accumulator_only = Element<T>::bits == 32 && Element<T>::name[0] != 't';
    if (Shape::n != 8 || is_accumulator_only) return false;
    if (Shape::m == 16)
      return is_f64 ? k_bits == 256 || k_bits == 512 || k_bits == 1024 : k_bits == 128 || k_bits == 256;
    if (Shape::m != 8) return false;
    if (Element<T>::number == Number::floating) return is_f64 ? k_bits == 256 : is_f16 && k_bits == 64;
    return k_bits == 128;
  }
}

// Whether nvcuda::wmma multiplies operands of type T in this shape.
template <class Shape, class T>
constexpr bool wmma_has_operand() {
  if constexpr (!Element<T>::exists) {
    return false;
  } else {
    constexpr int area = Shape::m * Shape::n, bits = Element<T>::bits;
    if (bits == 64) return area == 64 && Shape::k == 4;
    if (area != 256 || Shape::m % 8 != 0 || Shape::n % 8 != 0) return false;
    if (bits == 32) return Element<T>::name[0] == 't' && Shape::m == 16 && Shape::k == 8;
    return Shape::k == 16 && (bits == 16 || (bits == 8 && Element<T>::number == Number::integer));
  }
}

// Whether some mma instruction of this shape accumulates in T.
template <class Shape, class T>
struct AccumulatorExists {
  static constexpr bool value = false;
};
template <class Shape>
struct AccumulatorExists<Shape, float> {
  static constexpr bool value =
      mma_has_operand<Shape, __half>() || mma_has_operand<Shape, tf32>() || mma_has_operand<Shape, e4m3>();
};
template <class Shape>
struct AccumulatorExists<Shape, __half> {
  static constexpr bool value = mma_has_operand<Shape, __half>() || mma_has_operand<Shape, e4m3>();
};
template <class Shape>
struct AccumulatorExists<Shape, double> {
  static constexpr bool value = mma_has_operand<Shape, double>();
};
template <class Shape>
struct AccumulatorExists<Shape, std::int32_t> {
  static constexpr bool value =
      mma_has_operand<Shape, std::int8_t>() || mma_has_operand<Shape, s4>() || mma_has_operand<Shape, b1>();
};

}  // namespace tenon
