// The reductions of cp.reduce.async.bulk, cp.reduce.async.bulk.tensor and red.async: one element at a time.
#pragma once

#include "emulator/instructions/async_decode.hpp"

namespace tenon::emulator {

enum class Reduction : std::uint8_t { add, min, max, inc, dec, and_bits, or_bits, xor_bits };

// ".add" and so on; fails if there is none.
Reduction require_reduction(Decoding& decoding);

// The result of `target op source`, on the bits of the type (zero-extended).
std::uint64_t reduce(Reduction reduction, ptx::Type type, std::uint64_t target, std::uint64_t source);

// Applies `bytes` of elements at `source` to memory, element by element, as relaxed atomics.
void reduce_into(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address,
                 const std::uint8_t* source, std::uint32_t bytes, Reduction reduction, ptx::Type type);

}  // namespace tenon::emulator
