// The layout of a struct argument: layout_of of emulate_arguments.hpp.
#include <algorithm>

#include "command_line/emulate_arguments.hpp"

namespace tenon::command {
namespace {

using Kind = ArgumentText::Kind;

struct Extent {
  std::uint64_t size, alignment;
};

// Size and alignment of the C++ type that a field represents: numbers and addresses are aligned to their
// size, bytes and padding are unaligned.
Extent extent_of(const ArgumentText& field, std::int64_t parameter_alignment) {
  switch (field.kind) {
    case Kind::value:
      return {field.bytes.size(), field.type.empty() ? 1 : field.bytes.size()};
    case Kind::padding:
      return {field.size, 1};
    case Kind::alignment:
      return {0, field.size};
    case Kind::map:
      return {sizeof(emulator::TensorMap), parameter_alignment >= 128 ? 128U : 64U};
    case Kind::structure: {
      const StructLayout layout = layout_of(field, parameter_alignment);
      return {layout.size, layout.alignment};
    }
    default:
      return {sizeof(emulator::Address), alignof(emulator::Address)};
  }
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

StructLayout layout_of(const ArgumentText& structure, std::int64_t parameter_alignment) {
  StructLayout layout;
  for (const ArgumentText& field : structure.fields) {
    const Extent extent = extent_of(field, parameter_alignment);
    layout.alignment = std::max(layout.alignment, extent.alignment);
    layout.offsets.push_back(round_up(layout.size, extent.alignment));
    layout.size = layout.offsets.back() + extent.size;
  }
  layout.size = round_up(layout.size, layout.alignment);
  return layout;
}

}  // namespace tenon::command
