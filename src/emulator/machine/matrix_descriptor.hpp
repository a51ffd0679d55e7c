// The 64-bit matrix descriptors of wgmma (PTX ISA 9.7.15.5.1.2.2): the place of element (mn, k) of an operand
// in shared memory. mn is the row of A or the column of B.
#pragma once

#include <cstdint>

#include "emulator/machine/swizzle.hpp"

namespace tenon::emulator {

enum class Major : std::uint8_t { k, mn };  // the dimension that is contiguous

struct MatrixDescriptor {
  std::uint32_t start = 0;  // byte address in the CTA's shared memory, a multiple of 16, below 256 KiB
  std::uint32_t leading_offset = 0;  // bytes
  std::uint32_t stride_offset = 0;   // bytes
  std::uint32_t base_offset = 0;     // 128-byte rows, when the pattern's start is not aligned to its period
  Swizzle swizzle = Swizzle::none;
};

MatrixDescriptor decode_descriptor(std::uint64_t bits);

// Byte address in the CTA's shared memory of element (mn, k); elements of 1 bit are addressed by their byte.
// Layouts, with rows of 16-byte chunks (PTX ISA, "Strides"; K-major unless MN is named):
//   no swizzle      8x1-chunk core matrices of 128 bytes. leading: from a chunk to the next in k. stride:
//   from 8 rows to the next 8.
//   swizzled        rows of the span, 8 of them an atom. stride: from 8 rows to the next 8. leading: unused
//   up to a span of k, beyond it from atom to atom.
//   MN, no swizzle  leading: from 8 k to the next 8. stride: from a chunk to the next in mn.
//   MN, swizzled    rows of the span along mn, one per k. leading: from a span of mn to the next. stride:
//   from 8 k to the next 8.
std::uint32_t element_address(const MatrixDescriptor& descriptor, Major major, int element_bits, int mn,
                              int k);

}  // namespace tenon::emulator
