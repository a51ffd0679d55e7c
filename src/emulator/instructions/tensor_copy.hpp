// What the sources of tensor copies share: reading a tensor map in a kernel, the box that an instruction
// names.
#pragma once

#include <algorithm>

#include "emulator/instructions/async_copy.hpp"
#include "emulator/instructions/async_copy_reduce.hpp"
#include "emulator/machine/tensor_map.hpp"

namespace tenon::emulator {

// Decodes the tensor map at a generic or shared address. False: a fault has been reported. `rank`: of the
// instruction; 0: any.
bool load_tensor_map(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address, int rank,
                     MappedTensor& tensor);

constexpr std::uint32_t tensor_chunk = 16;  // bytes that a swizzle moves as one unit

struct TensorDetail : Detail {
  int rank = 1;
  AddressOperand map;
  int coordinates = -1;  // op.values index of the first
  bool is_im2col = false;
  int offsets = -1;          // op.values index of the first of rank - 2; -1: none
  ArrivalOperands arrivals;  // of loads
  AddressOperand from;       // of stores
  bool reduces = false;
  Reduction reduction = Reduction::add;
};

inline const TensorDetail& tensor_detail_of(const Op& op) {
  return static_cast<const TensorDetail&>(*op.detail);
}

// A box of a tensor, and its address in shared memory.
struct Box {
  MappedTensor tensor;
  std::int32_t coordinates[max_tensor_rank] = {};
  std::uint16_t offsets[max_tensor_rank - 2] = {};

  TensorRow row(std::uint32_t number) const {
    return tensor.is_im2col ? pixel_row(tensor, coordinates, offsets, number)
                            : tensor_row(tensor, coordinates, number);
  }
  // Calls visit(shared address, offset in the row, bytes) for the contiguous pieces of a row.
  template <class Visit>
  void for_each_piece(std::uint64_t start, const TensorRow& row, std::uint32_t first, std::uint32_t last,
                      Visit&& visit) const {
    const std::uint64_t rank_bits = start & ~std::uint64_t{shared_offset(~0u)};
    const std::uint32_t begin = shared_offset(start) + row.shared;
    while (first < last) {
      const std::uint32_t linear = begin + first;
      const std::uint32_t piece = tensor.swizzle == Swizzle::none
                                      ? last - first
                                      : std::min(last - first, tensor_chunk - linear % tensor_chunk);
      visit(rank_bits | swizzled(tensor.swizzle, linear), first, piece);
      first += piece;
    }
  }
  std::uint32_t row_bytes() const { return tensor.row_bytes(); }
};

// The box that a lane names. False: a finding was made.
bool box_of(Warp& warp, const Op& op, int lane, Box& box);
// A box larger than all shared memory is reported at once, before memory is allocated for its bytes.
bool fits(Warp& warp, const Op& op, int lane, const Box& box);

Flow run_tensor_load(Warp& warp, const Op& op, LaneMask active);
Flow run_tensor_prefetch(Warp& warp, const Op& op, LaneMask active);
Flow run_tensor_store(Warp& warp, const Op& op, LaneMask active);  // tensor_store.cpp

void add_tensor_map_instructions(Decoders& decoders);  // the opcode tensormap

}  // namespace tenon::emulator
