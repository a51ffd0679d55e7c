// What a tensor map says, decoded; the box of a tensor that one tensor copy moves, as runs of bytes.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/machine/swizzle.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator {

constexpr int max_tensor_rank = 5;

struct TiledTensor {
  TensorMapType type = TensorMapType::uint8;
  int rank = 1;
  std::uint64_t address = 0;
  std::uint64_t dimensions[max_tensor_rank] = {};  // elements
  std::uint64_t strides[max_tensor_rank] = {};     // bytes; [0] is the element size
  std::uint32_t box[max_tensor_rank] = {};         // elements of the tensor that a copy spans
  std::uint32_t element_strides[max_tensor_rank] = {};
  TensorMapInterleave interleave = TensorMapInterleave::none;
  Swizzle swizzle = Swizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapFill fill = TensorMapFill::zeros;

  int element_bytes() const;
  // Elements that a copy moves along a dimension: ceil(box / element stride); the first dimension has no
  // stride.
  std::uint32_t count(int dimension) const;
  // Bytes that a copy moves, those outside the tensor too: what complete_tx gets.
  std::uint32_t copy_bytes() const;
  // Bytes of shared memory from one innermost row to the next: the row, or the swizzle's span where that is
  // more.
  std::uint32_t row_pitch() const;
  // Rows of a copy: the product of count(1) and up.
  std::uint32_t rows() const;
};

// The requirements of the CUDA driver API; empty: all are met. Else a sentence.
std::string problem(const TiledTensor& tensor);

// False: these 128 bytes are no tensor map that encode_tiled made.
bool decode(const std::uint8_t (&bytes)[128], TiledTensor& tensor);
void encode(const TiledTensor& tensor, std::uint8_t (&bytes)[128]);

// The bits of the element that stands for one outside the tensor, in the lowest element_bytes().
std::uint64_t fill_bits(const TiledTensor& tensor);

// One innermost row of a copy: where its elements come from or go to.
struct TensorRow {
  std::uint64_t global = 0;  // address of the first element inside the tensor
  std::uint32_t first = 0;   // elements [first, last) of the row are inside the tensor, first == last: none
  std::uint32_t last = 0;
  std::uint32_t shared = 0;  // offset of element 0 from the start of the box, before the swizzle
};

// Row `row` (0 .. rows() - 1, the second dimension fastest) of the box whose first element is at
// `coordinates`.
TensorRow tensor_row(const TiledTensor& tensor, const std::int32_t* coordinates, std::uint32_t row);

}  // namespace tenon::emulator
