// The 32-bit address of an object in shared memory: what every wrapper that touches shared memory takes.
//
// A generic pointer has 64 bits, and the chip must find out which memory it points to. An address in the
// block's shared window has 32 bits, takes one register, and is computed with 32-bit arithmetic.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvta.to.shared.u64, then the low 32 bits. `pointer` must point into shared memory of this block. PTX ISA
// 3.1, every architecture (PTX ISA, "Data Movement and Conversion Instructions: cvta").
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace tenon::ptx
