// Tensor maps with an interleaved layout (PTX ISA 5.5.6; CUDA driver API, cuTensorMapEncodeTiled): channels
// in slices of 16 or 32 bytes, NC/8HWC8 or NC/16HWC16.
//
// The documents name the layouts and do not say how the strides and the box of a map address several slices,
// nor how 16-byte slices lie in a swizzled tile. A map whose innermost dimension is exactly one slice leaves
// no choice: further slices are a dimension of their own, and each row of the box is one slice. Such maps are
// copied; the others are refused with what the documents leave open.
#include "emulator/machine/tensor_map.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

std::string interleave_problem(const MappedTensor& t) {
  if (t.interleave == TensorMapInterleave::none) return {};
  const std::uint64_t slice = t.interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
  const auto element = static_cast<std::uint64_t>(t.element_bytes());
  const std::string layout = "The layout interleaved by " + std::to_string(slice) + " bytes";
  if (t.is_im2col)
    return layout + " is of im2col; how columns of pixels traverse the slices of channels is not documented.";
  if (element != 2)
    return layout + " has elements of " + std::to_string(element) +
           " bytes; only slices of 2-byte elements are documented.";
  if (const std::uint64_t bytes = t.dimensions[0] * element; bytes != slice)
    return layout + " has an innermost dimension of " + std::to_string(bytes) +
           " bytes; the emulator copies only maps whose innermost dimension is one slice of " +
           std::to_string(slice) + " bytes, with further slices in a dimension of their own.";
  if (const std::uint64_t bytes = t.box[0] * element; bytes != slice)
    return layout + " has a box of " + std::to_string(bytes) +
           " bytes in the innermost dimension; it needs " + std::to_string(slice) + ".";
  if (t.strides[1] != slice)
    return layout + " has a stride of " + std::to_string(t.strides[1]) +
           " bytes from one slice to the next; where it is not " + std::to_string(slice) +
           ", the documents do not say which of two strides counts.";
  if (t.element_strides[0] != 1)
    return layout + " has an innermost element stride of " + std::to_string(t.element_strides[0]) +
           "; what a step over channels skips is not documented.";
  if (slice == 16 && t.swizzle != Swizzle::none)
    return layout + " has a swizzle of " + std::to_string(span(t.swizzle)) +
           " bytes; how slices of 16 bytes fill its rows is not documented.";
  return {};
}

}  // namespace tenon::emulator
