// What the compiler may know of registers. Each function writes an empty asm statement: no instruction.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// Hides the values from the compiler: after the call it knows nothing of them. It cannot compute them again,
// it cannot move what depends on them to before the call, and it cannot compile a special case of a value
// that it knew. Integers and pointers of 4 or 8 bytes; of a pointer it also forgets the address space.
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

// At this place the registers have their values: the compiler cannot move their definitions behind it nor
// their uses before it.
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
