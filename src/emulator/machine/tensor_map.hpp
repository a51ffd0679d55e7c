// A decoded tensor map, and what one tensor copy moves: a box, or a column of pixels, as runs of bytes.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/machine/swizzle.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator {

constexpr int max_tensor_rank = 5;

struct MappedTensor {
  TensorMapType type = TensorMapType::uint8;
  int rank = 1;
  std::uint64_t address = 0;
  std::uint64_t dimensions[max_tensor_rank] = {};  // elements
  std::uint64_t strides[max_tensor_rank] = {};     // bytes; [0] is the element size
  // Elements of the tensor that a copy spans; of im2col: channels, pixels.
  std::uint32_t box[max_tensor_rank] = {};
  std::uint32_t element_strides[max_tensor_rank] = {};
  TensorMapInterleave interleave = TensorMapInterleave::none;
  Swizzle swizzle = Swizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapFill fill = TensorMapFill::zeros;
  bool is_im2col = false;
  // For im2col, of W, H, D: the box of pixels, from the tensor's first pixel and from its last.
  int lower_corner[max_tensor_rank - 2] = {}, upper_corner[max_tensor_rank - 2] = {};

  int element_bytes() const;
  // Bytes of a slice of channels of an interleaved layout, else 0 (interleave.cpp).
  std::uint32_t slice_bytes() const;
  // Positions that a copy visits along a dimension: ceil(box / element stride). The first dimension has no
  // stride, except of an interleaved layout, whose slices are copied one at a time.
  std::uint32_t count(int dimension) const;
  // Bytes of an innermost row of a copy: elements of the first dimension, or one slice.
  std::uint32_t row_bytes() const;
  // Bytes that a copy moves, elements outside the tensor included: what complete_tx counts.
  std::uint64_t copy_bytes() const { return row_bytes() * rows(); }
  // Bytes of shared memory from one innermost row to the next: the row, or the swizzle's span if that is
  // larger and rows are no slices.
  std::uint32_t row_pitch() const;
  // Rows of a copy: the product of count(1) and up; of im2col and of interleaved layouts: pixels.
  std::uint64_t rows() const;
};

// The 128 bytes. Throws std::invalid_argument with the sentence of problem().
TensorMap checked_map(const MappedTensor& tensor);

// What violates the requirements of the CUDA driver API, as a sentence; empty: nothing.
std::string problem(const MappedTensor& tensor);

// The bits of the 128 bytes: tensor_map_bits.hpp. False: no tensor map of sm_90 has them. What is decoded may
// still violate the requirements of problem().
bool decode(const std::uint8_t (&bytes)[128], MappedTensor& tensor);
void encode(const MappedTensor& tensor, std::uint8_t (&bytes)[128]);

// The bits of an element outside the tensor, in the lowest element_bytes().
std::uint64_t fill_bits(const MappedTensor& tensor);

// One innermost row of a copy: the source or destination of its elements.
struct TensorRow {
  std::uint64_t global = 0;  // address of the first element inside the tensor
  std::uint32_t first = 0;   // elements [first, last) of the row are inside the tensor, first == last: none
  std::uint32_t last = 0;
  std::uint32_t shared = 0;  // offset of element 0 from the start of the box, before the swizzle
};

// Records the elements of a row that are inside the tensor; the first is at `start` of the innermost
// dimension. `offset`, in bytes, is the row's offset in the other dimensions.
void add_channels(const MappedTensor& tensor, std::int64_t start, std::uint64_t offset, TensorRow& row);

// Row `row` (0 .. rows() - 1, the second dimension fastest) of the box whose first element is at
// `coordinates`.
TensorRow tensor_row(const MappedTensor& tensor, const std::int32_t* coordinates, std::uint32_t row);

// The same for im2col: the pixel `row` pixels after that at `coordinates`, moved by `offsets` (for W, H, D).
// Positions traverse the box of pixels in steps of the element strides; the next image's first position
// follows an image's last (PTX ISA 5.5.4). A start outside the box counts as the last position of its row:
// this is not measured on hardware.
TensorRow pixel_row(const MappedTensor& tensor, const std::int32_t* coordinates, const std::uint16_t* offsets,
                    std::uint32_t row);

// The same for an interleaved layout: the slice of one pixel. tensor_row() calls it.
TensorRow slice_row(const MappedTensor& tensor, const std::int32_t* coordinates, std::uint32_t row);

// The requirements of im2col beyond those of problem(), which calls it.
std::string im2col_problem(const MappedTensor& tensor);

// Why the emulator does not copy by a map with an interleaved layout that problem() accepts, as a sentence;
// empty: it does, or the layout is not interleaved (interleave.cpp).
std::string interleave_problem(const MappedTensor& tensor);

}  // namespace tenon::emulator
