// The 64 bits that tell wgmma where an operand lies in shared memory and how: start address, two strides, the
// swizzle. PTX ISA 9.7.15.5.1.2 (matrix descriptor, canonical layouts). Plain C++17, constexpr.
//
//   MatrixDescriptor::k_major<half, Swizzle::bytes_128>(address)      // dense lines of 128 bytes
//   operand_descriptor(tile_b, column).at(step)                       // of an OperandTile: tile.hpp
//
// An operand is cut into core matrices of 8 lines of 16 bytes. The first letter of the major-ness says what
// is contiguous in a line: k, or m (of A) and n (of B). Swizzled, a line has 32, 64 or 128 bytes and the
// pattern begins anew every 8 lines of 128 bytes; it counts from address 0, so the operand starts on a
// multiple of that. explain() of descriptor_words.hpp says in words what a descriptor holds.
#pragma once

#include <cstdint>

#include "tenon/fragment/element.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

enum class Swizzle { none, bytes_32, bytes_64, bytes_128 };

// Bytes of a line, which is what the pattern permutes chunks within; without a swizzle one chunk.
TENON_HOST_DEVICE constexpr int line_bytes_of(Swizzle swizzle) {
  return swizzle == Swizzle::none       ? 16
         : swizzle == Swizzle::bytes_32 ? 32
         : swizzle == Swizzle::bytes_64 ? 64
                                        : 128;
}
// The swizzle of lines of 16 (none), 32, 64 or 128 bytes.
TENON_HOST_DEVICE constexpr Swizzle swizzle_of(int line_bytes) {
  return line_bytes == 128  ? Swizzle::bytes_128
         : line_bytes == 64 ? Swizzle::bytes_64
         : line_bytes == 32 ? Swizzle::bytes_32
                            : Swizzle::none;
}
// What the start of a swizzled operand must be a multiple of.
TENON_HOST_DEVICE constexpr int alignment_of(Swizzle swizzle) {
  return 8 * line_bytes_of(swizzle) > 128 ? 8 * line_bytes_of(swizzle) : 16;
}

class MatrixDescriptor {
 public:
  // k contiguous. stride_bytes: from 8 lines (of m or n) to the next 8. leading_bytes: from 16 bytes of k to
  // the next 16 where there is no swizzle; ignored by the hardware where a line holds all of an instruction's
  // k. The default is a dense operand, which without a swizzle is 8 lines x 32 bytes of k after another. T:
  // an element type of wgmma. address: of the operand in the shared window.
  template <class T, Swizzle swizzle,
            int stride_bytes = swizzle == Swizzle::none ? 256 : 8 * line_bytes_of(swizzle),
            int leading_bytes = swizzle == Swizzle::none ? 128 : 16>
  TENON_HOST_DEVICE static constexpr MatrixDescriptor k_major(std::uint32_t address) {
    static_assert(Element<T>::bits <= 32, "MatrixDescriptor: wgmma has no operands of f64");
    return of<swizzle, leading_bytes, stride_bytes>(address);
  }

  // m (of A) or n (of B) contiguous; the instruction transposes: trans_a, trans_b. Only types of 16 bits.
  // Swizzled: stride_bytes from 8 lines of k to the next 8, leading_bytes from one line's worth of m (n) to
  // the next. Without a swizzle: leading_bytes from 8 lines of k to the next 8, stride_bytes from 16 bytes of
  // m (n) to the next 16.
  template <class T, Swizzle swizzle, int leading_bytes, int stride_bytes = 8 * line_bytes_of(swizzle)>
  TENON_HOST_DEVICE static constexpr MatrixDescriptor mn_major(std::uint32_t address) {
    static_assert(
        Element<T>::bits == 16,
        "MatrixDescriptor: wgmma reads only types of 16 bits with m or n contiguous; others are k-major");
    return of<swizzle, leading_bytes, stride_bytes>(address);
  }

  // From the instruction's operand, as it is.
  TENON_HOST_DEVICE static constexpr MatrixDescriptor of_bits(std::uint64_t bits) {
    return MatrixDescriptor(bits);
  }

  // What wgmma takes.
  TENON_HOST_DEVICE constexpr std::uint64_t bits() const { return bits_; }

  // The same layout from `bytes` further on, a multiple of 16. Along a swizzled line too: the hardware
  // permutes by the bits of the final address.
  TENON_HOST_DEVICE constexpr MatrixDescriptor after(int bytes) const {
    return MatrixDescriptor(bits_ + static_cast<std::uint64_t>(bytes / 16));
  }

  // The fields, in bytes.
  TENON_HOST_DEVICE constexpr std::uint32_t address() const { return field(0); }
  TENON_HOST_DEVICE constexpr std::uint32_t leading_bytes() const { return field(16); }
  TENON_HOST_DEVICE constexpr std::uint32_t stride_bytes() const { return field(32); }
  TENON_HOST_DEVICE constexpr int base_offset() const { return static_cast<int>(bits_ >> 49 & 7); }
  TENON_HOST_DEVICE constexpr Swizzle swizzle() const {
    const int mode = static_cast<int>(bits_ >> 62);
    return mode == 0   ? Swizzle::none
           : mode == 1 ? Swizzle::bytes_128
           : mode == 2 ? Swizzle::bytes_64
                       : Swizzle::bytes_32;
  }

 private:
  TENON_HOST_DEVICE constexpr explicit MatrixDescriptor(std::uint64_t bits) : bits_(bits) {}

  // A number of bytes as the descriptor holds it: 18 bits, the lowest four left out.
  TENON_HOST_DEVICE static constexpr std::uint64_t encoded(std::uint32_t bytes) {
    return (bytes & 0x3ffff) >> 4;
  }
  TENON_HOST_DEVICE constexpr std::uint32_t field(int shift) const {
    return static_cast<std::uint32_t>(bits_ >> shift & 0x3fff) << 4;
  }

  template <Swizzle swizzle, int leading_bytes, int stride_bytes>
  TENON_HOST_DEVICE static constexpr MatrixDescriptor of(std::uint32_t address) {
    static_assert(leading_bytes % 16 == 0 && stride_bytes % 16 == 0,
                  "MatrixDescriptor: strides must be multiples of 16 bytes");
    static_assert(
        leading_bytes >= 0 && leading_bytes < 1 << 18 && stride_bytes >= 0 && stride_bytes < 1 << 18,
        "MatrixDescriptor: strides must be less than 262144 bytes");
    constexpr std::uint64_t mode = swizzle == Swizzle::none        ? 0
                                   : swizzle == Swizzle::bytes_128 ? 1
                                   : swizzle == Swizzle::bytes_64  ? 2
                                                                   : 3;
    return MatrixDescriptor(encoded(address) | encoded(leading_bytes) << 16 | encoded(stride_bytes) << 32 |
                            mode << 62);
  }

  std::uint64_t bits_;
};

// Where the instructions of a k-loop find one operand in an OperandTile: the descriptor of the first, and how
// many bytes further the next ones are.
template <class Tile>
class OperandDescriptor {
  static constexpr int line_bytes = Tile::line_bytes, element_bytes = Tile::element_bytes;
  static_assert(
      Tile::panels == 1 || Tile::lines % 8 == 0,
      "OperandDescriptor: where a tile has several panels, each must be whole groups of 8 lines, after "
      "which the swizzle begins anew");
  static_assert(
      Tile::k_major || element_bytes == 2,
      "OperandDescriptor: wgmma reads only types of 16 bits with m or n contiguous; others are k-major");

 public:
  // k of one instruction, and how many of them are in the tile.
  static constexpr int k = 32 / element_bytes;
  static constexpr int steps = Tile::depth / k;
  static_assert(Tile::depth % k == 0,
                "OperandDescriptor: the tile's depth must be a multiple of 32 bytes of k");

  // Of the part of the tile that starts at `first` along m (of A) or n (of B): a multiple of 8, and of a line
  // where m (n) is contiguous.
  TENON_HOST_DEVICE constexpr OperandDescriptor(const Tile& tile, int first)
      : first_(descriptor(tile.base + static_cast<std::uint32_t>(Tile::k_major ? first * line_bytes
                                                                               : first / Tile::panel_columns *
                                                                                     Tile::panel_bytes))) {}

  // For the instruction number `step` along k.
  TENON_HOST_DEVICE constexpr MatrixDescriptor at(int step) const {
    constexpr int steps_a_line = line_bytes / 32;
    return Tile::k_major ? first_.after(step / steps_a_line * Tile::panel_bytes + step % steps_a_line * 32)
                         : first_.after(step * k * line_bytes);
  }

 private:
  TENON_HOST_DEVICE static constexpr MatrixDescriptor descriptor(std::uint32_t address) {
    if constexpr (Tile::k_major) {
      return MatrixDescriptor::k_major<typename Tile::Type, swizzle_of(line_bytes)>(address);
    } else {
      return MatrixDescriptor::mn_major<typename Tile::Type, swizzle_of(line_bytes), Tile::panel_bytes>(
          address);
    }
  }

  MatrixDescriptor first_;
};

template <class Tile>
TENON_HOST_DEVICE constexpr OperandDescriptor<Tile> operand_descriptor(const Tile& tile, int first) {
  return OperandDescriptor<Tile>(tile, first);
}

}  // namespace tenon
