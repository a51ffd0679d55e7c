// The shared-memory addresses of one lane as a warp walks an operand tile with ldmatrix.x4: one register,
// then constants. A step of 32 bytes along one direction flips bits under the swizzle (an XOR with a
// constant), a step of 16 along the other adds a constant that goes into the instruction: nothing is
// multiplied in the loop. Below: shared/tile.hpp, fragment/ldmatrix_rows.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

enum class Operand { a, b };

// The mma instruction with which a warp tile multiplies. Its operands have 256 bits of k, so that ldmatrix.x4
// loads one fragment of A, or two of B: m16n8k8 of tf32, m16n8k16 of 16-bit types, m16n8k32 of fp8 and s8. Of
// f64 (operand_cursor_f64.hpp) m16n8k16.
template <class T>
using MmaOf = MmaShape<16, 8, Element<T>::bits == 64 ? 16 : 256 / Element<T>::bits>;

// The walk over Tile (an OperandTile) of a warp whose part starts at `first` along m (or n). Part: how far
// the warp's part reaches; `first` is a multiple of it. Elements that are not of 16 bits need k contiguous
// (ldmatrix_rows.hpp).
template <class Tile, Operand operand, int Part, class Stored = typename Tile::Type>
class OperandCursor {
  static_assert(Part % 16 == 0 && Tile::extent % Part == 0,
                "OperandCursor: a warp's part is a multiple of 16 and divides the tile's extent");
  using Shape = MmaOf<typename Tile::Type>;
  static_assert(
      Tile::depth % Shape::k == 0 && Tile::depth <= (Tile::k_major ? Tile::panel_columns : Tile::depth),
      "OperandCursor: a k-tile's depth is a multiple of 32 bytes and, where k is contiguous, at most 128");
  // Steps along m (n) within a panel flip bits only if they do not carry: parts are then powers of two.
  static_assert(Tile::k_major || (Part & (Part - 1)) == 0,
                "OperandCursor: where m (n) is contiguous, a warp's part must be a power of two");

 public:
  // The step that flips, the number of steps before the next panel.
  static constexpr int flip_bytes = 32;
  static constexpr int flips_per_panel = Tile::row_bytes / flip_bytes;

  // Byte offset, for this lane, of the block of 16 x Shape::k (i along m or n, k_step along k): what
  // address() adds up.
  TENON_HOST_DEVICE static constexpr int lane_offset(int lane, int first) {
    using LayoutOfA = LayoutA<Shape, typename Tile::Type>;
    using LayoutOfB = LayoutB<Shape, typename Tile::Type>;
    const Coord at = operand == Operand::a ? ldmatrix_row_a<LayoutOfA, Tile::k_major>(lane)
                                           : ldmatrix_row_b<LayoutOfB, Tile::k_major, 2>(lane);
    const int extent_at = first + (operand == Operand::a ? at.row : at.col);
    const int k_at = operand == Operand::a ? at.col : at.row;
    return Tile::k_major ? Tile::offset(extent_at, k_at) : Tile::offset(k_at, extent_at);
  }
  TENON_HOST_DEVICE static constexpr int step(int lane_offset, int i, int k_step) {
    const int flipping = Tile::k_major ? k_step : i % flips_per_panel;
    const int adding = Tile::k_major
                           ? i * 16 * Tile::row_bytes
                           : i / flips_per_panel * Tile::panel_bytes + k_step * Shape::k * Tile::row_bytes;
    return (lane_offset ^ (flipping * flip_bytes)) + adding;
  }

  // Wavefronts beyond the least, over the whole walk. Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    int total = 0;
    for (int k_step = 0; k_step < Tile::depth / Shape::k; ++k_step) {
      for (int i = 0; i < Part / 16; ++i) {
        LaneAddresses address{};
        for (int lane = 0; lane < 32; ++lane) address.at[lane] = step(lane_offset(lane, 0), i, k_step);
        total += matrix_bank_conflicts(address, 4);
      }
    }
    return total;
  }

  __device__ __forceinline__ explicit OperandCursor(int first)
      : lane_offset_(static_cast<std::uint32_t>(lane_offset(lane_id(), first))) {}

  // Loads four core matrices of 8 x 16 bytes: of A one fragment, of B two.
  __device__ __forceinline__ void load(std::uint32_t (&reg)[4], std::uint32_t tile_base, int i,
                                       int k_step) const {
    ldmatrix<!Tile::k_major>(
        reg, tile_base + static_cast<std::uint32_t>(step(static_cast<int>(lane_offset_), i, k_step)));
  }

 private:
  std::uint32_t lane_offset_;
};

}  // namespace tenon
