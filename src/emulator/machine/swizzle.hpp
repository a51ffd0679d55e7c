// The shared-memory swizzles that TMA writes and wgmma reads (PTX ISA 5.5.7 and 9.7.15.5.1.2): within every
// 128 bytes of shared memory, the row's number permutes the 16-byte chunks.
#pragma once

#include <cstdint>

namespace tenon::emulator {

enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

// Bytes of a row that a pattern permutes; 16 without a pattern.
constexpr int span(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 16 : 16 << static_cast<int>(swizzle);
}

// The swizzled address of the byte at `address` of the unswizzled layout. The pattern depends on bits of the
// address in shared memory: the number of the 128-byte row changes bits 4..6 (128 bytes), 4..5 (64 bytes) or
// 4 (32 bytes). Rows count from `first_row`: 0, or the start of a pattern that is not aligned to its period
// of 1024, 512 or 256 bytes.
constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address, std::uint32_t first_row = 0) {
  const std::uint32_t mask = (1u << static_cast<int>(swizzle)) - 1;
  return address ^ ((((address >> 7) - first_row) & mask) << 4);
}

}  // namespace tenon::emulator
