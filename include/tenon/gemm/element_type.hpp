// The Type of an element type of C++, known when a program is compiled. Below: types.hpp,
// fragment/element.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "tenon/fragment/element.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

template <class T>
struct TypeOf {
  static_assert(sizeof(T) == 0,
                "the element types of a GEMM are __half, __nv_bfloat16, float, tf32, e4m3, e5m2, int8_t and "
                "int32_t");
};
template <>
struct TypeOf<__half> : std::integral_constant<Type, Type::f16> {};
template <>
struct TypeOf<__nv_bfloat16> : std::integral_constant<Type, Type::bf16> {};
template <>
struct TypeOf<float> : std::integral_constant<Type, Type::f32> {};
template <>
struct TypeOf<tf32> : std::integral_constant<Type, Type::tf32> {};
template <>
struct TypeOf<e4m3> : std::integral_constant<Type, Type::e4m3> {};
template <>
struct TypeOf<e5m2> : std::integral_constant<Type, Type::e5m2> {};
template <>
struct TypeOf<std::int8_t> : std::integral_constant<Type, Type::s8> {};
template <>
struct TypeOf<std::int32_t> : std::integral_constant<Type, Type::s32> {};

}  // namespace tenon
