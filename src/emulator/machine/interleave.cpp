// Tensor maps with an interleaved layout (PTX ISA 5.5.6): channels in slices of 16 or 32 bytes, NC/8HWC8 or
// NC/16HWC16.
//
// The documents name the layouts and do not say how a map addresses them. On an H200, loads by maps of 3 and
// 4 dimensions with elements of 1, 2 and 4 bytes follow one rule
// (tests/emulator/instructions/interleave_h200.hpp):
// - Dimensions are pixels and slices, not channels: W, H, D, slices of an image, images. A position is one
//   slice, whatever the type. The slice of the next pixel of W follows at once; the others are strides apart.
// - The last dimension but one is that of the slices. A copy takes one slice, that of its coordinate: the box
//   in that dimension has no effect.
// - A step over W skips pixels, as steps over the other dimensions do.
// - Slices lie packed in shared memory, and the swizzle is the one of other maps.
// A store by such a map is an illegal instruction on an H100.
#include "emulator/machine/tensor_map.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

std::string interleave_problem(const MappedTensor& t) {
  const std::uint32_t slice = t.slice_bytes();
  if (slice == 0) return {};
  const std::string layout = "The layout interleaved by " + std::to_string(slice) + " bytes";
  if (t.is_im2col)
    return layout + " is of im2col; how columns of pixels traverse the slices of channels is not documented.";
  if (t.swizzle == Swizzle::none) return {};
  const auto swizzle = static_cast<std::uint32_t>(span(t.swizzle));
  if (slice == 32 && t.swizzle != Swizzle::bytes_32)
    return layout + " has a swizzle of " + std::to_string(swizzle) +
           " bytes; the documents allow none but that of 32 bytes.";
  if (const std::uint32_t row = t.count(0) * slice; row < swizzle)
    return layout + " has rows of " + std::to_string(row) + " bytes in a swizzle of " +
           std::to_string(swizzle) + " bytes; whether they are padded is not documented.";
  return {};
}

TensorRow slice_row(const MappedTensor& t, const std::int32_t* coordinates, std::uint32_t row) {
  TensorRow result;
  const std::uint32_t slice = t.slice_bytes();
  result.shared = row * slice;
  result.global = t.address;
  bool inside = true;
  for (int i = 0; i < t.rank; ++i) {
    const std::int64_t position =
        std::int64_t{coordinates[i]} + std::int64_t{row % t.count(i)} * std::int64_t{t.element_strides[i]};
    row /= t.count(i);
    inside = inside && position >= 0 && static_cast<std::uint64_t>(position) < t.dimensions[i];
    if (inside) result.global += static_cast<std::uint64_t>(position) * (i == 0 ? slice : t.strides[i]);
  }
  if (inside) result.last = slice / static_cast<std::uint32_t>(t.element_bytes());
  return result;
}

}  // namespace tenon::emulator
