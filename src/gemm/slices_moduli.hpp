// The numbers behind products of f64 by int8 slices (Ozaki scheme II): the moduli, how an integer is reduced
// by them, and how it is found again from its residues. Constants and exact integer arithmetic.
//
// Integers below the product P of pairwise coprime moduli are determined by their residues (Chinese remainder
// theorem), and residues of at most 8 bits are what int8 tensor cores multiply. Source: Ozaki, Uchino,
// Imamura, "Ozaki Scheme II", 2025.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tenon/fragment/host_device.hpp"

namespace tenon {
namespace slices {

inline constexpr int least_moduli = 4, most_moduli = 16;

// Pairwise coprime, the largest first.
TENON_HOST_DEVICE constexpr int modulus(int i) {
  const int all[most_moduli] = {256, 255, 253, 251, 247, 241, 239, 233,
                                229, 227, 223, 217, 211, 199, 197, 193};
  return all[i];
}

// 256^i modulo p, from 0 to p - 1.
TENON_HOST_DEVICE constexpr int power_of_256(int i, int p) {
  int power = 1;
  for (; i > 0; --i) power = power * 256 % p;
  return power;
}

// Four factors of a dot product of bytes, packed: 256^first to 256^(first + 3), modulo p. Signed: the
// representatives nearest to 0, which fit into 8 bits.
TENON_HOST_DEVICE constexpr int signed_byte_weights(int first, int p) {
  unsigned packed = 0;
  for (int i = 0; i < 4; ++i) {
    const int power = power_of_256(first + i, p), nearest = power > p / 2 ? power - p : power;
    packed |= (static_cast<unsigned>(nearest) & 0xffU) << 8 * i;
  }
  return static_cast<int>(packed);
}
TENON_HOST_DEVICE constexpr unsigned unsigned_byte_weights(int p) {
  unsigned packed = 0;
  for (int i = 0; i < 4; ++i) packed |= static_cast<unsigned>(power_of_256(i, p)) << 8 * i;
  return packed;
}

// 1.5 * 2^23 as an f32, and as its bits: whole numbers of less than 2^22 added to the bits, or to the number,
// mean the same. So dot products of bytes become floats, and floats become integers, without a conversion.
inline constexpr float float_bias = 12582912.0F;
inline constexpr int float_bias_bits = 0x4b400000;

// How a sum of magnitude below 2^18 is reduced modulo p in f32 (nearest_residue()).
struct Reduction {
  // Added to the bits of the sum, which makes it start + sum as a float: start is a multiple of p and of 256
  // near float_bias, so that the quotient by p begins with a whole number, and the bits with a zero byte.
  int start_bits;
  float inverse, quotient_offset, negative;  // 1 / p; float_bias - start / p; -p
};
TENON_HOST_DEVICE constexpr Reduction reduction_of(int p) {
  const int bias = 12582912, quotient = (bias / p + 128) / 256 * 256;
  return {float_bias_bits + (p * quotient - bias), 1.0F / static_cast<float>(p),
          static_cast<float>(bias - quotient), -static_cast<float>(p)};
}

// An integer of magnitude 128 at most that is `sum` modulo p, as a signed number in the lowest byte. sum:
// start + the sum (Reduction). The quotient is rounded from a product with a rounded 1 / p, which at ties may
// be wrong by one; the rest is exact. (For each modulus all sums were tried: slices_test.cpp.)
TENON_HOST_DEVICE inline std::uint32_t nearest_residue(float sum, const Reduction& by) {
  const float quotient = std::fmaf(sum, by.inverse, by.quotient_offset) - float_bias;
  const float residue = std::fmaf(quotient, by.negative, sum);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &residue, sizeof bits);
  return bits;
}

// Numbers below 2^126 in three parts of at most 42 bits with a sign each, highest first: products with
// residues, and the sums of 16 of them, are exact in f64.
struct Parts {
  double part[3];
};
// Everything that recombines residues of `count` moduli: x = sum of weight[i] * residue[i], modulo P.
struct Recombination {
  Parts weight[most_moduli];
  Parts product;   // P
  double inverse;  // 1 / P
};

__extension__ using Wide = unsigned __int128;

constexpr Wide product_of_moduli(int count) {
  Wide product = 1;
  for (int i = 0; i < count; ++i) product *= static_cast<Wide>(modulus(i));
  return product;
}

// 2^x, |x| < 1000.
constexpr double power_of_two(int x) {
  double power = 1;
  for (; x > 0; --x) power *= 2;
  for (; x < 0; ++x) power /= 2;
  return power;
}

// Where the parts of numbers below 2^bits begin: the highest part has the 42 highest bits, so that sums of it
// alone tell the quotient by P.
struct PartBits {
  int begin[3];
};
constexpr PartBits part_bits(int bits) {
  return {{bits > 42 ? bits - 42 : 0, bits > 84 ? bits - 84 : 0, 0}};
}
constexpr int bits_of(Wide x) {
  int bits = 0;
  for (; x > 0; x /= 2) ++bits;
  return bits;
}

// x < 2^126; negative: of -x. Parts but the highest are at most half the unit of the next higher one.
constexpr Parts parts_of(Wide x, bool negative, const PartBits& at) {
  Parts parts{};
  for (int i = 2; i >= 0; --i) {
    const Wide base = Wide{1} << (i == 0 ? 64 : at.begin[i - 1] - at.begin[i]);  // of this digit
    const Wide digit = x % base;
    const bool up = digit > base / 2;
    const double value = up ? -static_cast<double>(static_cast<std::uint64_t>(base - digit))
                            : static_cast<double>(static_cast<std::uint64_t>(digit));
    parts.part[i] = (negative ? -value : value) * power_of_two(at.begin[i]);
    x = x / base + (up ? 1 : 0);
  }
  return parts;
}

// y with x * y = 1 modulo p.
constexpr int inverse_modulo(int x, int p) {
  for (int y = 1; y < p; ++y) {
    if (x * y % p == 1) return y;
  }
  return 1;  // p is 1: does not happen
}

constexpr Recombination recombination_of(int count) {
  Recombination all{};
  const Wide product = product_of_moduli(count);
  const PartBits at = part_bits(bits_of(product));
  for (int i = 0; i < count; ++i) {
    const int p = modulus(i);
    const Wide others = product / static_cast<Wide>(p);
    const int inverse = inverse_modulo(static_cast<int>(others % static_cast<Wide>(p)), p);
    const Wide weight = others * static_cast<Wide>(inverse);  // below P
    const bool negative = weight > product / 2;
    all.weight[i] = parts_of(negative ? product - weight : weight, negative, at);
  }
  all.product = parts_of(product, false, at);
  all.inverse = 1.0 / static_cast<double>(product);
  return all;
}

}  // namespace slices
}  // namespace tenon
