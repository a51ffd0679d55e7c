// How a float is split into parts of a narrower type, and which products of parts stand for a product of
// floats: the arithmetic of Precision, on host and device.
//
//   x = head + second + third        head: x rounded to the type; second: what is left, rounded; and so on
//
//   a * b  ~  the products of parts in the order below, least first: a sum that grows loses less
//
// In bf16 three parts hold every bit of x (8 bits each, and a sign). The products that bf16x6 leaves out are
// at most 2^-23 of |a * b| together, in practice a tenth of that.
//
// An element that is not finite has no parts but itself: in `whole`, which takes part in whole * whole alone,
// so that infinity times the second part of something, which may be zero, does not make a NaN. For the same
// reason `head` is zero there. An element that would round to infinity is rounded towards zero instead, and
// `second` makes up for it. Where the least bits of an element lie below the least subnormal of the type
// (2^-133 in bf16, 2^-136 in tf32), they are lost.
//
// Plain C++17. Below: fragment/pack.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

struct Parts {
  float whole, head, second, third;
};
enum class Part { whole, head, second, third };

// The type that the tensor cores multiply.
TENON_HOST_DEVICE constexpr Type part_type(Precision precision) noexcept {
  return precision == Precision::f16                                      ? Type::f16
         : precision == Precision::tf32 || precision == Precision::tf32x3 ? Type::tf32
                                                                          : Type::bf16;
}

// Products of parts that stand for one product.
TENON_HOST_DEVICE constexpr int products_of(Precision precision) noexcept {
  return precision == Precision::bf16x6                                     ? 6
         : precision == Precision::bf16x3 || precision == Precision::tf32x3 ? 3
                                                                            : 1;
}

// Whether the product of parts promotes its accumulators (Gemm::promote): the tensor core truncates, over a
// long k, more than f32 on CUDA cores rounds.
TENON_HOST_DEVICE constexpr bool promotes(Precision precision) noexcept {
  return precision == Precision::bf16x6 || precision == Precision::tf32x3;
}

// The part of A (of B) in a product, 0 <= product < products_of(precision).
TENON_HOST_DEVICE constexpr Part part_of(Precision precision, bool is_b, int product) noexcept {
  constexpr Part six[2][6] = {{Part::head, Part::third, Part::second, Part::head, Part::second, Part::whole},
                              {Part::third, Part::head, Part::second, Part::second, Part::head, Part::whole}};
  constexpr Part three[2][3] = {{Part::head, Part::second, Part::whole},
                                {Part::second, Part::head, Part::whole}};
  switch (products_of(precision)) {
    case 6:
      return six[is_b ? 1 : 0][product];
    case 3:
      return three[is_b ? 1 : 0][product];
    default:
      return Part::whole;
  }
}

// The nearest value of the type.
template <Type type>
TENON_HOST_DEVICE float nearest(float x) {
  static_assert(type == Type::f16 || type == Type::bf16 || type == Type::tf32);
  if constexpr (type == Type::f16) {
    float values[2];
    unpack_f16x2(pack_f16x2(x, 0.0F), values);
    return values[0];
  } else if constexpr (type == Type::bf16) {
    return float_of(pack_bf16x2(x, 0.0F) << 16);
  } else {
    return float_of(to_tf32(x) & ~0x1fffU);
  }
}

TENON_HOST_DEVICE inline bool is_finite(float x) {
  return (bits_of(x) & 0x7f800000U) != 0x7f800000U;
}

// type: bf16 or tf32, which have the exponents of f32.
template <Type type>
TENON_HOST_DEVICE Parts split_into(float x) {
  static_assert(type == Type::bf16 || type == Type::tf32);
  constexpr unsigned ignored = type == Type::bf16 ? 0xffffU : 0x1fffU;
  float whole = nearest<type>(x);
  if (!is_finite(x)) return {whole, 0.0F, 0.0F, 0.0F};
  if (!is_finite(whole)) whole = float_of(bits_of(x) & ~ignored);
  const float rest = x - whole, second = nearest<type>(rest);  // both differences are exact
  return {whole, whole, second, nearest<type>(rest - second)};
}

template <Precision precision>
TENON_HOST_DEVICE Parts parts_of(float x) {
  constexpr Type type = part_type(precision);
  if constexpr (products_of(precision) == 1) {
    return {nearest<type>(x), 0.0F, 0.0F, 0.0F};
  } else {
    return split_into<type>(x);
  }
}

TENON_HOST_DEVICE inline float select(const Parts& parts, Part part) {
  return part == Part::whole    ? parts.whole
         : part == Part::head   ? parts.head
         : part == Part::second ? parts.second
                                : parts.third;
}

}  // namespace tenon
