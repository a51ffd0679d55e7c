// The bits of a tensor map: the 128 bytes that the CUDA driver encodes for sm_90 and that an H200 reads
// (tests/emulator/machine/tensor_maps_h200.json).
#pragma once

#include <cstdint>
#include <string>

#include "emulator/machine/tensor_map.hpp"

namespace tenon::emulator {

// The fields of tensormap.replace, in the order of the PTX ISA.
enum class MapField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};

// Writes one field as an H200 does: the bits of a value that the field has no room for are lost, and the
// other bits stay, whatever they are. The values are those of tensormap.replace: the rank counts from zero.
void replace_field(std::uint8_t (&bytes)[128], MapField field, int ordinal, std::uint64_t value);

// Why the bytes are no tensor map of sm_90, as a sentence; empty: decode() understands them.
std::string decode_problem(const std::uint8_t (&bytes)[128]);

}  // namespace tenon::emulator
