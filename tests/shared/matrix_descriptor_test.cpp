// Matrix descriptors against the PTX ISA: the canonical layouts of 9.7.15.5.1.2 walked through with nothing
// but the fields of a descriptor find every element where the tile stored it.
#include "tenon/shared/matrix_descriptor.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tenon/shared/descriptor_words.hpp"

namespace tenon {
namespace {

static_assert(MatrixDescriptor::k_major<__half, Swizzle::bytes_128>(0x1400).bits() == 0x4000004000010140ULL);
static_assert(MatrixDescriptor::k_major<__half, Swizzle::bytes_64>(0).bits() == 0x8000002000010000ULL);
static_assert(MatrixDescriptor::k_major<std::int8_t, Swizzle::bytes_32>(0).bits() == 0xc000001000010000ULL);
static_assert(MatrixDescriptor::k_major<tf32, Swizzle::none>(0).bits() == 0x0000001000080000ULL);
static_assert(MatrixDescriptor::mn_major<__nv_bfloat16, Swizzle::bytes_128, 8192>(64).bits() ==
              0x4000004002000004ULL);
static_assert(MatrixDescriptor::mn_major<__half, Swizzle::none, 2048, 128>(0).bits() ==
              0x0000000800800000ULL);
// The address has 18 bits: what lies above them is the window's.
static_assert(MatrixDescriptor::k_major<__half, Swizzle::bytes_128>(0x7f040400).address() == 0x400);
static_assert(MatrixDescriptor::of_bits(0x000e000000000000ULL).base_offset() == 7);

TEST(MatrixDescriptor, FieldsAreWhatTheConstructorWasGiven) {
  constexpr auto d = MatrixDescriptor::mn_major<__half, Swizzle::bytes_64, 16384, 512>(0x2800);
  EXPECT_EQ(d.address(), 0x2800U);
  EXPECT_EQ(d.leading_bytes(), 16384U);
  EXPECT_EQ(d.stride_bytes(), 512U);
  EXPECT_EQ(d.base_offset(), 0);
  EXPECT_EQ(d.swizzle(), Swizzle::bytes_64);
  EXPECT_EQ(MatrixDescriptor::of_bits(d.bits()).bits(), d.bits());
  EXPECT_EQ(d.after(96).address(), 0x2860U);
  EXPECT_EQ(d.after(96).leading_bytes(), 16384U);
  constexpr auto most =
      MatrixDescriptor::mn_major<__half, Swizzle::none, (1 << 18) - 16, (1 << 18) - 16>(0x3fff0);
  EXPECT_EQ(most.leading_bytes(), 262128U);
  EXPECT_EQ(most.stride_bytes(), 262128U);
  EXPECT_EQ(most.address(), 262128U);
}

// Byte offset of element (mn, k) from the start address before the swizzle: the table "canonical layouts" of
// the ISA, which counts in units of T = 128 / bits elements, row by row. LBO and SBO in bytes.
int canonical_offset(bool k_major, Swizzle swizzle, int bits, int lbo, int sbo, int mn, int k) {
  const int t = 128 / bits;  // elements in 16 bytes
  const auto bytes = [&](int elements) { return elements * bits / 8; };
  if (k_major) {
    const int chunk = k / t, within = bytes(k % t);
    switch (swizzle) {
      case Swizzle::none:
        return mn % 8 * 16 + mn / 8 * sbo + chunk * lbo + within;  // ((8,m),(T,2k)):((1T,SBO),(1,LBO))
      case Swizzle::bytes_32:
        return mn % 8 * 32 + mn / 8 * sbo + chunk * 16 + within;  // ((8,m),(T,2k)):((2T,SBO),(1,T))
      case Swizzle::bytes_64:
        return mn % 8 * 64 + mn / 8 * sbo + chunk * 16 + within;
      default:
        return mn % 8 * 128 + mn / 8 * sbo + chunk * 16 + within;
    }
  }
  const int chunk = mn / t, within = bytes(mn % t);
  switch (swizzle) {
    case Swizzle::none:
      return within + chunk * sbo + k % 8 * 16 + k / 8 * lbo;  // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
    case Swizzle::bytes_32:
      return within + chunk % 2 * 16 + chunk / 2 * lbo + k % 8 * 32 + k / 8 * sbo;  // ((T,2,m),(8,k))
    case Swizzle::bytes_64:
      return within + chunk % 4 * 16 + chunk / 4 * lbo + k % 8 * 64 + k / 8 * sbo;
    default:
      return within + chunk % 8 * 16 + chunk / 8 * lbo + k % 8 * 128 + k / 8 * sbo;
  }
}

// The swizzling modes permute bits of the address: bits 4, 4..5 or 4..6 with bit 7, 7..8 or 7..9.
int swizzled(Swizzle swizzle, int address) {
  const int mask = swizzle == Swizzle::none       ? 0
                   : swizzle == Swizzle::bytes_32 ? 1
                   : swizzle == Swizzle::bytes_64 ? 3
                                                  : 7;
  return address ^ (address >> 7 & mask) << 4;
}

template <class Tile>
void expect_found(int n) {
  const Tile tile{4096};
  constexpr int bits = Element<typename Tile::Type>::bits;
  using Operand = OperandDescriptor<Tile>;
  for (int first = 0; first < Tile::extent; first += n) {
    const Operand operand(tile, first);
    for (int step = 0; step < Operand::steps; ++step) {
      const MatrixDescriptor d = operand.at(step);
      for (int mn = 0; mn < n; ++mn) {
        for (int k = 0; k < Operand::k; ++k) {
          const int offset =
              canonical_offset(Tile::k_major, d.swizzle(), bits, static_cast<int>(d.leading_bytes()),
                               static_cast<int>(d.stride_bytes()), mn, k);
          const int in_k = step * Operand::k + k;
          ASSERT_EQ(swizzled(d.swizzle(), static_cast<int>(d.address()) + offset),
                    static_cast<int>(Tile::k_major ? tile.address(first + mn, in_k)
                                                   : tile.address(in_k, first + mn)))
              << "first " << first << ", step " << step << ", element (" << mn << ", " << k
              << "): " << explain(d);
        }
      }
    }
  }
}

TEST(OperandDescriptor, FindsEveryElementOfAKMajorTile) {
  expect_found<OperandTile<__half, 128, 64, true>>(64);
  expect_found<OperandTile<__nv_bfloat16, 64, 128, true>>(64);  // two panels
  expect_found<OperandTile<__half, 192, 32, true>>(96);
  expect_found<OperandTile<__half, 256, 16, true>>(256);
  expect_found<OperandTile<tf32, 64, 32, true>>(64);
  expect_found<OperandTile<tf32, 64, 8, true>>(64);
  expect_found<OperandTile<e4m3, 128, 256, true>>(8);
  expect_found<OperandTile<std::int8_t, 64, 64, true>>(64);
  expect_found<OperandTile<std::uint8_t, 40, 32, true>>(40);
}

TEST(OperandDescriptor, FindsEveryElementOfAnMnMajorTile) {
  expect_found<OperandTile<__half, 64, 64, false>>(64);
  expect_found<OperandTile<__half, 256, 32, false>>(256);
  expect_found<OperandTile<__nv_bfloat16, 256, 64, false>>(128);
  expect_found<OperandTile<__half, 32, 48, false>>(32);
  expect_found<OperandTile<__half, 16, 32, false>>(16);
}

// Without a swizzle there is no tile type: the layouts that the default strides mean, written out.
TEST(MatrixDescriptor, DefaultsWithoutASwizzleAreDense) {
  constexpr auto d = MatrixDescriptor::k_major<__half, Swizzle::none>(0);
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < 16; ++k) {
      EXPECT_EQ(canonical_offset(true, Swizzle::none, 16, static_cast<int>(d.leading_bytes()),
                                 static_cast<int>(d.stride_bytes()), row, k),
                row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2);
    }
  }
}

TEST(MatrixDescriptor, ExplainsItself) {
  const std::string swizzled_words =
      explain(MatrixDescriptor::mn_major<__half, Swizzle::bytes_128, 8192>(4096));
  EXPECT_EQ(
      swizzled_words,
      "start at byte 4096 (0x1000) of shared memory; base offset 0; swizzle of 128 bytes: rows of 128 bytes "
      "whose 16-byte chunks are permuted; the pattern repeats every 1024 bytes. k-major: the next 8 rows of "
      "m (n) are 1024 "
      "bytes "
      "on. mn-major: the next 8 of k are 1024 bytes on, the next 128 bytes of m (n) 8192; the pattern begins "
      "at "
      "multiples of 1024");
  const std::string plain_words = explain(MatrixDescriptor::k_major<__half, Swizzle::none>(32));
  EXPECT_EQ(
      plain_words,
      "start at byte 32 (0x20) of shared memory; base offset 0; no swizzle: core matrices of 8 rows of 16 "
      "bytes. "
      "k-major: the next 16 bytes of k are 128 bytes on, the next 8 rows of m (n) 256. mn-major: the next 16 "
      "bytes of m (n) are 256 bytes on, the next 8 of k 128");
  EXPECT_NE(explain(MatrixDescriptor::of_bits(0x4006000000000000ULL)).find("begins 3 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon
