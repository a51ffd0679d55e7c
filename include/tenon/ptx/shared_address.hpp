// The 32-bit address of an object in shared memory: what every wrapper that touches shared memory takes.
//
// A generic pointer is 64 bits and makes the chip find out which memory it means. An address within the
// shared window of the block is 32 bits, costs one register, and is added to with 32-bit arithmetic.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvta.to.shared.u64, then the low 32 bits. `pointer` must point into shared memory of this block.
// PTX ISA 3.1, every architecture (PTX ISA, "Data Movement and Conversion Instructions: cvta").
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace tenon::ptx
