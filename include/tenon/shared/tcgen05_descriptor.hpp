// The two descriptors of tcgen05.mma: of an operand in shared memory (64 bits), and of the instruction (32
// bits), which holds the types, shape and signs that the PTX text leaves open. PTX ISA 9.7.16.4. Plain C++17,
// constexpr; never executed on a GPU: no such machine was available.
//
//   tcgen05_bits(MatrixDescriptor::k_major<half, Swizzle::bytes_128>(address))
//   Tcgen05Instruction::f16(Tcgen05Float::f32, Tcgen05F16::bf16, Tcgen05F16::bf16).shape<128, 256>().bits()
//
// explain() of descriptor_words.hpp prints them in words. Builds on matrix_descriptor.hpp.
#pragma once

#include "tenon/ptx/standard.hpp"
#include "tenon/shared/matrix_descriptor.hpp"

namespace tenon {

// The canonical layouts and the fields are those of wgmma, except for the encoding of the swizzle (bits 61 to
// 63) and a constant (bit 46).
TENON_HOST_DEVICE constexpr std::uint64_t tcgen05_bits(MatrixDescriptor operand) {
  const Swizzle swizzle = operand.swizzle();
  const std::uint64_t code = swizzle == Swizzle::bytes_128  ? 2
                             : swizzle == Swizzle::bytes_64 ? 4
                             : swizzle == Swizzle::bytes_32 ? 6
                                                            : 0;
  constexpr std::uint64_t fields = (std::uint64_t{1} << 46) - 1, base_offset = std::uint64_t{7} << 49;
  return (operand.bits() & (fields | base_offset)) | std::uint64_t{1} << 46 | code << 61;
}

// Types with their numbers in the instruction descriptor, a list for each kind.
enum class Tcgen05Float { f16 = 0, f32 = 1 };  // of D
enum class Tcgen05F16 { f16 = 0, bf16 = 1 };
enum class Tcgen05F8F6F4 { e4m3 = 0, e5m2 = 1, e2m3 = 3, e3m2 = 4, e2m1 = 5 };
enum class Tcgen05Int8 { u8 = 0, s8 = 1 };
enum class Tcgen05Scale { ue4m3 = 0, ue8m0 = 1 };

// The three formats: kinds without block scales, mxf8f6f4, and mxf4 and mxf4nvf4.
enum class Tcgen05Format { plain, mxf8f6f4, mxf4 };

class Tcgen05Instruction {
 public:
  // D's type, then A's and B's. Of kind::f16, kind::tf32, kind::f8f6f4, kind::i8.
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction f16(Tcgen05Float d, Tcgen05F16 a, Tcgen05F16 b) {
    return plain(static_cast<int>(d), static_cast<int>(a), static_cast<int>(b));
  }
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction tf32() { return plain(1, 2, 2); }
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction f8f6f4(Tcgen05Float d, Tcgen05F8F6F4 a,
                                                               Tcgen05F8F6F4 b) {
    return plain(static_cast<int>(d), static_cast<int>(a), static_cast<int>(b));
  }
  // saturate: accumulators are clamped to the range of s32.
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction i8(Tcgen05Int8 a, Tcgen05Int8 b,
                                                           bool saturate = false) {
    return plain(2, static_cast<int>(a), static_cast<int>(b)).with(3, saturate ? 1 : 0);
  }
  // Of kind::mxf8f6f4, whose scales are ue8m0; of kind::mxf4 (ue8m0) and kind::mxf4nvf4, whose elements are
  // e2m1. scale_a, scale_b: which of the four bytes (mxf4: of the two halves, 0 or 2) in a word of scales.
  template <int scale_a = 0, int scale_b = 0>
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction mxf8f6f4(Tcgen05F8F6F4 a, Tcgen05F8F6F4 b) {
    static_assert(scale_a >= 0 && scale_a <= 3 && scale_b >= 0 && scale_b <= 3,
                  "Tcgen05Instruction: the scales of mxf8f6f4 must be those of byte 0 to 3");
    return Tcgen05Instruction(Tcgen05Format::mxf8f6f4, 0)
        .types(static_cast<int>(a), static_cast<int>(b))
        .with(4, scale_b)
        .with(23, 1)
        .with(29, scale_a);
  }
  template <int scale_a = 0, int scale_b = 0>
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction mxf4(Tcgen05Scale scale) {
    static_assert((scale_a == 0 || scale_a == 2) && (scale_b == 0 || scale_b == 2),
                  "Tcgen05Instruction: the scales of mxf4 must be those of half 0 or 2");
    return Tcgen05Instruction(Tcgen05Format::mxf4, 0)
        .types(1, 1)
        .with(4, scale_b)
        .with(23, static_cast<int>(scale))
        .with(29, scale_a);
  }

  // m x n of D. m: 32 (.ws), 64, 128, 256 (cta_group 2); with block scales 128 or 256. n: a multiple of 8 up
  // to 256.
  template <int m, int n>
  TENON_HOST_DEVICE constexpr Tcgen05Instruction shape() const {
    static_assert(m == 32 || m == 64 || m == 128 || m == 256,
                  "Tcgen05Instruction: m must be 32, 64, 128 or 256");
    static_assert(n >= 8 && n <= 256 && n % 8 == 0,
                  "Tcgen05Instruction: n must be a multiple of 8 from 8 to 256");
    return with(17, n / 8).with(24, m / 16);  // with block scales m / 128 from bit 27 on, which is the same
  }
  // A or B negated (not of integers), or m-major, n-major (not of mxf4).
  TENON_HOST_DEVICE constexpr Tcgen05Instruction negate(bool a, bool b) const {
    return with(13, a ? 1 : 0).with(14, b ? 1 : 0);
  }
  TENON_HOST_DEVICE constexpr Tcgen05Instruction transpose(bool a, bool b) const {
    return with(15, a ? 1 : 0).with(16, b ? 1 : 0);
  }
  // For the .sp forms; the selector is that of kinds without block scales.
  template <int selector = 0>
  TENON_HOST_DEVICE constexpr Tcgen05Instruction sparse() const {
    static_assert(selector >= 0 && selector <= 3, "Tcgen05Instruction: the sparsity selector must be 0 to 3");
    return with(0, selector).with(2, 1);
  }

  TENON_HOST_DEVICE constexpr std::uint32_t bits() const { return bits_; }
  TENON_HOST_DEVICE constexpr Tcgen05Format format() const { return format_; }
  // `width` bits from `first` on.
  TENON_HOST_DEVICE constexpr int field(int first, int width) const {
    return static_cast<int>(bits_ >> first & ((1U << width) - 1));
  }

 private:
  TENON_HOST_DEVICE constexpr Tcgen05Instruction(Tcgen05Format format, std::uint32_t bits)
      : format_(format), bits_(bits) {}
  TENON_HOST_DEVICE static constexpr Tcgen05Instruction plain(int d, int a, int b) {
    return Tcgen05Instruction(Tcgen05Format::plain, 0).with(4, d).types(a, b);
  }
  TENON_HOST_DEVICE constexpr Tcgen05Instruction types(int a, int b) const { return with(7, a).with(10, b); }
  TENON_HOST_DEVICE constexpr Tcgen05Instruction with(int first, int value) const {
    return Tcgen05Instruction(format_, bits_ | static_cast<std::uint32_t>(value) << first);
  }

  Tcgen05Format format_;
  std::uint32_t bits_;
};

}  // namespace tenon
