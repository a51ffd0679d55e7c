// The 64-bit descriptor by which wgmma finds an operand in shared memory: start address, two strides,
// swizzle. PTX ISA 9.7.15.5.1.2 (matrix descriptor, canonical layouts). Plain C++17, constexpr.
//
//   MatrixDescriptor::k_major<half, Swizzle::bytes_128>(address)      // dense rows of 128 bytes
//   operand_descriptor(tile_b, column).at(step)                       // of an OperandTile: tile.hpp
//
// An operand consists of core matrices of 8 rows of 16 bytes. The first letter of the major-ness names the
// contiguous dimension: k, or m (of A) and n (of B). In shared memory a row has 32, 64 or 128 bytes if
// swizzled. The swizzle repeats every 8 rows of 128 bytes and depends on the
// address, so the operand must start on a multiple of that. explain() of descriptor_words.hpp prints a
// descriptor in words.
#pragma once

#include "tenon/fragment/element.hpp"
#include "tenon/ptx/standard.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

enum class Swizzle { none, bytes_32, bytes_64, bytes_128 };

// Bytes of a row, in which the swizzle permutes chunks of 16 bytes; without a swizzle one chunk.
TENON_HOST_DEVICE constexpr int row_bytes_of(Swizzle swizzle) {
  return swizzle == Swizzle::none       ? 16
         : swizzle == Swizzle::bytes_32 ? 32
         : swizzle == Swizzle::bytes_64 ? 64
                                        : 128;
}
// The swizzle of rows of 16 (none), 32, 64 or 128 bytes.
TENON_HOST_DEVICE constexpr Swizzle swizzle_of(int row_bytes) {
  return row_bytes == 128  ? Swizzle::bytes_128
         : row_bytes == 64 ? Swizzle::bytes_64
         : row_bytes == 32 ? Swizzle::bytes_32
                           : Swizzle::none;
}
// The alignment of the start of an operand with this swizzle.
TENON_HOST_DEVICE constexpr int alignment_of(Swizzle swizzle) {
  return 8 * row_bytes_of(swizzle) > 128 ? 8 * row_bytes_of(swizzle) : 16;
}

class MatrixDescriptor {
 public:
  // k contiguous. stride_bytes: from 8 rows (of m or n) to the next 8. leading_bytes: without a swizzle, from
  // 16 bytes of k to the next 16; the hardware ignores it where a row holds the whole k of an instruction.
  // The default is a dense operand: without a swizzle, blocks of 8 rows x 32 bytes of k, one after the other.
  // T: an element type of wgmma. address: of the operand in the shared window.
  template <class T, Swizzle swizzle,
            int stride_bytes = swizzle == Swizzle::none ? 256 : 8 * row_bytes_of(swizzle),
            int leading_bytes = swizzle == Swizzle::none ? 128 : 16>
  TENON_HOST_DEVICE static constexpr MatrixDescriptor k_major(std::uint32_t address) {
    static_assert(Element<T>::bits <= 32, "MatrixDescriptor: wgmma has no operands of f64");
    return of<swizzle, leading_bytes, stride_bytes>(address);
  }

  // m (of A) or n (of B) contiguous, which the instruction transposes (trans_a, trans_b). Only types of 16
  // bits. With a swizzle: stride_bytes from 8 rows of k to the next 8, leading_bytes from one row's m (n) to
  // the next row's. Without a swizzle: leading_bytes from 8 rows of k to the next 8, stride_bytes from 16
  // bytes of m (n) to the next 16.
  template <class T, Swizzle swizzle, int leading_bytes, int stride_bytes = 8 * row_bytes_of(swizzle)>
  TENON_HOST_DEVICE static constexpr MatrixDescriptor mn_major(std::uint32_t address) {
    static_assert(
        Element<T>::bits == 16,
        "MatrixDescriptor: wgmma reads only types of 16 bits with m or n contiguous; others are k-major");
    return of<swizzle, leading_bytes, stride_bytes>(address);
  }

  // From the bits of a descriptor.
  TENON_HOST_DEVICE static constexpr MatrixDescriptor of_bits(std::uint64_t bits) {
    return MatrixDescriptor(bits);
  }

  // The operand of the instruction.
  TENON_HOST_DEVICE constexpr std::uint64_t bits() const { return bits_; }

  // The same layout, `bytes` further on, a multiple of 16. Also along a swizzled row: the hardware swizzles
  // by the bits of the final address.
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

  // A number of bytes as the descriptor holds it: 18 bits without the lowest four.
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

// The descriptors of one operand in an OperandTile for the instructions of a k loop: the first descriptor,
// and the steps to the next ones.
template <class Tile>
class OperandDescriptor {
  static constexpr int row_bytes = Tile::row_bytes, element_bytes = Tile::element_bytes;
  static_assert(
      Tile::panels == 1 || Tile::rows % 8 == 0,
      "OperandDescriptor: where a tile has several panels, each must be whole groups of 8 rows, after "
      "which the swizzle repeats");
  static_assert(
      Tile::k_major || element_bytes == 2,
      "OperandDescriptor: wgmma reads only types of 16 bits with m or n contiguous; others are k-major");

 public:
  // k of one instruction, and how many of them are in the tile.
  static constexpr int k = 32 / element_bytes;
  static constexpr int steps = Tile::depth / k;
  static_assert(Tile::depth % k == 0,
                "OperandDescriptor: the tile's depth must be a multiple of 32 bytes of k");

  // For the part of the tile that starts at `first` along m (of A) or n (of B): a multiple of 8 and, where m
  // (n) is contiguous, of a row.
  TENON_HOST_DEVICE constexpr OperandDescriptor(const Tile& tile, int first)
      : first_(descriptor(tile.base + static_cast<std::uint32_t>(Tile::k_major ? first * row_bytes
                                                                               : first / Tile::panel_columns *
                                                                                     Tile::panel_bytes))) {}

  // For the instruction number `step` along k.
  TENON_HOST_DEVICE constexpr MatrixDescriptor at(int step) const {
    constexpr int steps_a_row = row_bytes / 32;
    return Tile::k_major ? first_.after(step / steps_a_row * Tile::panel_bytes + step % steps_a_row * 32)
                         : first_.after(step * k * row_bytes);
  }

 private:
  TENON_HOST_DEVICE static constexpr MatrixDescriptor descriptor(std::uint32_t address) {
    if constexpr (Tile::k_major) {
      return MatrixDescriptor::k_major<typename Tile::Type, swizzle_of(row_bytes)>(address);
    } else {
      return MatrixDescriptor::mn_major<typename Tile::Type, swizzle_of(row_bytes), Tile::panel_bytes>(
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
