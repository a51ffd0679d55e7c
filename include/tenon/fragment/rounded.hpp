// Elements that lie in memory as f32 and are rounded to T on their way into the operands of an instruction.
// Plain C++17. Below: element.hpp.
#pragma once

#include "tenon/fragment/element.hpp"

namespace tenon {

// T: __half or __nv_bfloat16.
template <class T>
struct Rounded {};

template <class T>
struct Element<Rounded<T>> : ElementOf<32, Number::floating> {
  static constexpr const char* name = "f32";
};

// The type that an instruction multiplies where memory holds Stored.
template <class Stored>
struct MultipliedType {
  using Type = Stored;
  static constexpr bool is_rounded = false;
};
template <class T>
struct MultipliedType<Rounded<T>> {
  using Type = T;
  static constexpr bool is_rounded = true;
};

}  // namespace tenon
