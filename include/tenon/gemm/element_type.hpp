// The Type of an element type of C++, known when a program is compiled. Below: types.hpp,
// fragment/element.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/fragment/element.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

constexpr bool same_text(const char* a, const char* b) noexcept {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}

// Whether a Type has the name of a C++ element type (Element::name): __half is f16.
template <class T>
constexpr bool has_type() noexcept {
  for (const Type type : all_types) {
    if (same_text(name(type), Element<T>::name)) return true;
  }
  return false;
}
template <class T>
constexpr Type find_type() noexcept {
  for (const Type type : all_types) {
    if (same_text(name(type), Element<T>::name)) return type;
  }
  return Type::f16;  // not used: see TypeOf
}

template <class T>
struct TypeOf {
  static_assert(
      has_type<T>(),
      "the element types of a GEMM are those of tenon::Type (gemm/types.hpp): __half, __nv_bfloat16, "
      "float, double, tf32, e4m3, e5m2, int8_t and int32_t");
  static constexpr Type value = find_type<T>();
};

}  // namespace tenon
