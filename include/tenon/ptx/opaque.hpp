// What the optimiser may know of registers, without any instruction: both functions write an empty asm
// statement.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// Hides the values from the compiler: behind the call it knows nothing of them. It keeps what it then cannot
// compute again, it cannot move what depends on them to before the call, and it makes no special case of a
// value that it knew. Integers and pointers of 4 or 8 bytes.
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

// Where the program stands, these registers have their values: no instruction, an order for the compiler.
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
