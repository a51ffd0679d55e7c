// Limits to what the compiler may assume about registers. Each function writes an empty asm statement, no
// instruction.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// Makes the values opaque to the compiler: after the call it knows nothing about them. It keeps them in
// registers, where it could have computed them again; it keeps what depends on them after the call; and it
// compiles no special case for a value that it knew. For integers and pointers of 4 or 8 bytes. Of a pointer
// it also forgets the address space.
template <class... Values>
__device__ __forceinline__ void opaque(Values&... values) {
  static_assert(((sizeof(Values) == 4 || sizeof(Values) == 8) && ...),
                "tenon::ptx::opaque takes values of 4 or 8 bytes, each in an integer register");
  const auto hide = [](auto& value) {
    if constexpr (sizeof(value) == 4) {
      asm volatile("" : "+r"(value));
    } else {
      asm volatile("" : "+l"(value));
    }
  };
  (hide(values), ...);
}

// The same for a copy of the value: `x = opaque_copy(x);`. Use it for a variable that an unrolled loop
// changes: opaque() takes the variable's address, which changes how nvcc optimises the loop.
template <class Value>
__device__ __forceinline__ Value opaque_copy(Value value) {
  opaque(value);
  return value;
}

// Holds the registers' values at this place: the compiler moves neither their definitions after it nor their
// uses before it.
template <int count>
__device__ __forceinline__ void hold(float (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int count>
__device__ __forceinline__ void hold(uint32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}
template <int count>
__device__ __forceinline__ void hold(int32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

}  // namespace tenon::ptx
