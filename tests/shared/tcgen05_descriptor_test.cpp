// The descriptors of tcgen05 against the tables of the PTX ISA (9.0, section 9.7.16.4): field by field, at
// the bits that they name.
#include "tenon/shared/tcgen05_descriptor.hpp"

#include <gtest/gtest.h>

#include "tenon/shared/descriptor_words.hpp"

namespace tenon {
namespace {

using D = MatrixDescriptor;
using I = Tcgen05Instruction;

constexpr std::uint32_t from(int first, std::uint32_t value) {
  return value << first;
}

TEST(Tcgen05Operand, HasTheFieldsOfTheTable) {
  const std::uint64_t fixed = std::uint64_t{1} << 46;
  EXPECT_EQ(tcgen05_bits(D::k_major<__half, Swizzle::bytes_128>(0x1400)),
            0x140 | std::uint64_t{1} << 16 | std::uint64_t{64} << 32 | fixed | std::uint64_t{2} << 61);
  EXPECT_EQ(tcgen05_bits(D::k_major<e4m3, Swizzle::bytes_64>(0)) >> 61, 4U);
  EXPECT_EQ(tcgen05_bits(D::k_major<e4m3, Swizzle::bytes_32>(0)) >> 61, 6U);
  EXPECT_EQ(tcgen05_bits(D::k_major<e4m3, Swizzle::none>(0)),
            (std::uint64_t{8} << 16 | std::uint64_t{16} << 32 | fixed));
  EXPECT_EQ(tcgen05_bits(D::mn_major<__half, Swizzle::bytes_128, 8192>(0)) >> 16 & 0x3fff, 512U);
  EXPECT_EQ(tcgen05_bits(D::of_bits(std::uint64_t{5} << 49)) >> 49 & 7, 5U);  // the base offset stays
}

TEST(Tcgen05Instruction, OfKindsWithoutBlockScales) {
  EXPECT_EQ(I::f16(Tcgen05Float::f32, Tcgen05F16::bf16, Tcgen05F16::f16).bits(),
            from(4, 1) | from(7, 1) | from(10, 0));
  EXPECT_EQ(I::f16(Tcgen05Float::f16, Tcgen05F16::f16, Tcgen05F16::bf16).bits(), from(10, 1));
  EXPECT_EQ(I::tf32().bits(), from(4, 1) | from(7, 2) | from(10, 2));
  EXPECT_EQ(I::f8f6f4(Tcgen05Float::f32, Tcgen05F8F6F4::e3m2, Tcgen05F8F6F4::e2m1).bits(),
            from(4, 1) | from(7, 4) | from(10, 5));
  EXPECT_EQ(I::f8f6f4(Tcgen05Float::f16, Tcgen05F8F6F4::e5m2, Tcgen05F8F6F4::e2m3).bits(),
            from(7, 1) | from(10, 3));
  EXPECT_EQ(I::i8(Tcgen05Int8::s8, Tcgen05Int8::u8, true).bits(), from(3, 1) | from(4, 2) | from(7, 1));
}

TEST(Tcgen05Instruction, ShapeSignsOrderAndSparsity) {
  constexpr I base = I::tf32();
  EXPECT_EQ((base.shape<128, 256>().bits() ^ base.bits()), from(17, 32) | from(24, 8));
  EXPECT_EQ((base.shape<64, 8>().bits() ^ base.bits()), from(17, 1) | from(24, 4));
  EXPECT_EQ((base.shape<256, 16>().bits() ^ base.bits()), from(17, 2) | from(24, 16));
  EXPECT_EQ(base.negate(true, false).bits() ^ base.bits(), from(13, 1));
  EXPECT_EQ(base.negate(false, true).bits() ^ base.bits(), from(14, 1));
  EXPECT_EQ(base.transpose(true, false).bits() ^ base.bits(), from(15, 1));
  EXPECT_EQ(base.transpose(false, true).bits() ^ base.bits(), from(16, 1));
  EXPECT_EQ((base.sparse<2>().bits() ^ base.bits()), from(0, 2) | from(2, 1));
}

TEST(Tcgen05Instruction, OfKindsWithBlockScales) {
  const I mxf8 = I::mxf8f6f4<3, 1>(Tcgen05F8F6F4::e4m3, Tcgen05F8F6F4::e2m1).shape<128, 64>();
  EXPECT_EQ(mxf8.bits(), from(4, 1) | from(10, 5) | from(17, 8) | from(23, 1) | from(27, 1) | from(29, 3));
  const I mxf4 = I::mxf4<2, 0>(Tcgen05Scale::ue4m3).shape<256, 128>();
  EXPECT_EQ(mxf4.bits(), from(7, 1) | from(10, 1) | from(17, 16) | from(27, 2) | from(29, 2));
  EXPECT_EQ(I::mxf4(Tcgen05Scale::ue8m0).bits(), from(7, 1) | from(10, 1) | from(23, 1));
}

TEST(Tcgen05Instruction, ExplainsItself) {
  EXPECT_EQ(explain(I::f16(Tcgen05Float::f32, Tcgen05F16::bf16, Tcgen05F16::bf16)
                        .shape<128, 256>()
                        .negate(true, false)),
            "kind without block scales: D is 128 x 256 f32; types A 1, B 1; A negated");
  EXPECT_EQ(
      explain(
          I::i8(Tcgen05Int8::s8, Tcgen05Int8::u8, true).shape<64, 8>().transpose(false, true).sparse<1>()),
      "kind without block scales: D is 64 x 8 s32; types A 1, B 0; B n-major; A sparse, selector 1; "
      "accumulators "
      "saturate");
  EXPECT_EQ(explain(I::mxf4<2, 0>(Tcgen05Scale::ue4m3).shape<256, 128>()),
            "kind::mxf4 or mxf4nvf4: D is 256 x 128; types A 1, B 1; scales ue4m3, those of A from place 2, "
            "of B from place "
            "0");
}

}  // namespace
}  // namespace tenon
