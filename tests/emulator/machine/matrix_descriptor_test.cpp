// wgmma matrix descriptors against layouts transcribed from the figures of the PTX ISA.
#include "emulator/machine/matrix_descriptor.hpp"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

std::uint64_t descriptor(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                         std::uint64_t base_offset, std::uint64_t mode) {
  return start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | base_offset << 49 | mode << 62;
}

TEST(MatrixDescriptor, decodes_its_fields) {
  const MatrixDescriptor d = decode_descriptor(descriptor(0x3fff0, 0x120, 0x400, 5, 2));
  EXPECT_EQ(d.start, 0x3fff0u);
  EXPECT_EQ(d.leading_offset, 0x120u);
  EXPECT_EQ(d.stride_offset, 0x400u);
  EXPECT_EQ(d.base_offset, 5u);
  EXPECT_EQ(d.swizzle, Swizzle::bytes_64);
  EXPECT_EQ(decode_descriptor(0).swizzle, Swizzle::none);
  EXPECT_EQ(decode_descriptor(std::uint64_t{1} << 62).swizzle, Swizzle::bytes_128);
  EXPECT_EQ(decode_descriptor(std::uint64_t{3} << 62).swizzle, Swizzle::bytes_32);
}

TEST(MatrixDescriptor, k_major_without_swizzle_is_bricks_of_eight_rows) {
  const MatrixDescriptor d = decode_descriptor(descriptor(0x1000, 0x800, 0x80, 0, 0));
  for (int mn = 0; mn < 64; ++mn) {
    for (int k = 0; k < 16; ++k) {
      EXPECT_EQ(element_address(d, Major::k, 16, mn, k),
                static_cast<unsigned>(0x1000 + mn / 8 * 0x80 + k / 8 * 0x800 + mn % 8 * 16 + k % 8 * 2));
    }
  }
}

// A tile of rows of 64 f16, k contiguous, as TMA writes it with the 128-byte swizzle. The descriptor advances
// along k by moving its start within the row.
TEST(MatrixDescriptor, k_major_128_byte_swizzle_reads_what_tma_writes) {
  for (int step = 0; step < 4; ++step) {
    const MatrixDescriptor d =
        decode_descriptor(descriptor(0x2400 + 32u * static_cast<unsigned>(step), 16, 1024, 0, 1));
    for (int mn = 0; mn < 64; ++mn) {
      for (int k = 0; k < 16; ++k) {
        const int column = step * 16 + k;
        EXPECT_EQ(element_address(d, Major::k, 16, mn, k),
                  static_cast<unsigned>(0x2400 + mn * 128 + (column / 8 ^ mn % 8) * 16 + column % 8 * 2));
      }
    }
  }
}

TEST(MatrixDescriptor, k_major_narrow_swizzles_pack_several_rows_into_128_bytes) {
  const MatrixDescriptor d64 = decode_descriptor(descriptor(0x2000, 16, 512, 0, 2));
  const MatrixDescriptor d32 = decode_descriptor(descriptor(0x2000, 16, 256, 0, 3));
  for (int mn = 0; mn < 32; ++mn) {
    for (int k = 0; k < 32; ++k) {  // bytes
      EXPECT_EQ(element_address(d64, Major::k, 8, mn, k),
                static_cast<unsigned>(0x2000 + mn * 64 + (k / 16 ^ mn / 2 % 4) * 16 + k % 16));
      EXPECT_EQ(element_address(d32, Major::k, 8, mn, k),
                static_cast<unsigned>(0x2000 + mn * 32 + (k / 16 ^ mn / 4 % 2) * 16 + k % 16));
    }
  }
}

// Rows are k, each of 64 contiguous f16 of mn; 128 of mn are two such tiles, `leading` apart.
TEST(MatrixDescriptor, mn_major_128_byte_swizzle_reads_what_tma_writes) {
  const MatrixDescriptor d = decode_descriptor(descriptor(0x4000, 0x2000, 1024, 0, 1));
  for (int mn = 0; mn < 128; ++mn) {
    for (int k = 0; k < 16; ++k) {
      const int column = mn % 64;
      EXPECT_EQ(element_address(d, Major::mn, 16, mn, k),
                static_cast<unsigned>(0x4000 + mn / 64 * 0x2000 + k * 128 + (column / 8 ^ k % 8) * 16 +
                                      column % 8 * 2));
    }
  }
}

TEST(MatrixDescriptor, mn_major_without_swizzle_is_bricks_of_eight_k) {
  const MatrixDescriptor d = decode_descriptor(descriptor(0, 0x400, 0x80, 0, 0));
  for (int mn = 0; mn < 64; ++mn) {
    for (int k = 0; k < 16; ++k) {
      EXPECT_EQ(element_address(d, Major::mn, 16, mn, k),
                static_cast<unsigned>(mn / 8 * 0x80 + k / 8 * 0x400 + k % 8 * 16 + mn % 8 * 2));
    }
  }
}

TEST(MatrixDescriptor, base_offset_moves_the_pattern_to_its_unaligned_start) {
  // A pattern that starts at 0x2180, row 3 of its period: base offset 3 makes its first row the one without
  // permutation.
  const MatrixDescriptor d = decode_descriptor(descriptor(0x2180, 16, 1024, 3, 1));
  for (int mn = 0; mn < 8; ++mn) {
    EXPECT_EQ(element_address(d, Major::k, 16, mn, 0), static_cast<unsigned>(0x2180 + mn * 128 + mn * 16));
  }
}

}  // namespace
}  // namespace tenon::emulator
