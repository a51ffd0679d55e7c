// cvt (PTX ISA 9.7.9.21, .22): between any two of the integer and floating-point types, packed, and cvt.pack.
// mov, selp and slct are in conversion_move.cpp, setp and set in conversion_compare.cpp.
#include "emulator/instructions/conversion.hpp"

#include "emulator/instructions/float_arithmetic.hpp"
#include "emulator/instructions/half_on_host.hpp"
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using numerics::Format;
using numerics::Overflow;
using numerics::Rounding;
using ptx::Type;

// The parameters of cvt, packed into op.bits: [0] types, [1] rounding and modifiers, [2] bits of the
// registers.
struct Conversion {
  Type to = Type::none, from = Type::none;
  Rounding rounding = Rounding::nearest_even;
  bool to_integral = false;  // .rni ... : round to an integer first
  bool flush = false, saturate = false, rectify = false, satfinite = false;

  void pack(Op& op) const {
    op.bits[0] = static_cast<std::uint32_t>(to) | static_cast<std::uint32_t>(from) << 8;
    op.bits[1] = static_cast<std::uint32_t>(rounding) | (to_integral ? 8U : 0) | (flush ? 16U : 0) |
                 (saturate ? 32U : 0) | (rectify ? 64U : 0) | (satfinite ? 128U : 0);
  }
  static Conversion of(const Op& op) {
    const std::uint32_t modifiers = op.bits[1];
    Conversion conversion;
    conversion.to = static_cast<Type>(op.bits[0] & 0xff);
    conversion.from = static_cast<Type>(op.bits[0] >> 8);
    conversion.rounding = static_cast<Rounding>(modifiers & 7);
    conversion.to_integral = (modifiers & 8) != 0;
    conversion.flush = (modifiers & 16) != 0;
    conversion.saturate = (modifiers & 32) != 0;
    conversion.rectify = (modifiers & 64) != 0;
    conversion.satfinite = (modifiers & 128) != 0;
    return conversion;
  }
};

// --- integers

std::int64_t sign_extended(Bits bits, int width) {
  return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

// A result of `type` in a wider register is sign- or zero-extended by its type (PTX ISA 9.4.1).
Bits in_register(Bits result, Type type, int register_width) {
  if (!is_signed(type)) return result;
  return static_cast<Bits>(sign_extended(result, width(type))) & mask_of(register_width);
}

template <class From, class To>
Bits integer_to_integer(Bits a) {
  return bits_from(static_cast<To>(value_of<From>(a)));
}
template <class From, class To>
Bits integer_to_wide_register(Bits a, const Op& op) {
  return static_cast<Bits>(static_cast<std::int64_t>(static_cast<To>(value_of<From>(a)))) &
         mask_of(static_cast<int>(op.bits[2]));
}

// visit(T{}) with the C++ type of an integer type.
template <class Visit>
Handler with_integer(Type type, Visit visit) {
  switch (type) {
    case Type::u8:
      return visit(std::uint8_t{});
    case Type::s8:
      return visit(std::int8_t{});
    case Type::u16:
      return visit(std::uint16_t{});
    case Type::s16:
      return visit(std::int16_t{});
    case Type::u32:
      return visit(std::uint32_t{});
    case Type::s32:
      return visit(std::int32_t{});
    case Type::u64:
      return visit(std::uint64_t{});
    default:
      return visit(std::int64_t{});
  }
}

Handler integer_handler(Type to, Type from, bool wide) {
  return with_integer(from, [&](auto source) {
    return with_integer(to, [&](auto target) -> Handler {
      using From = decltype(source);
      using To = decltype(target);
      if (wide) return lanewise::run_with_op<&integer_to_wide_register<From, To>>;
      return lanewise::run<&integer_to_integer<From, To>>;
    });
  });
}

Bits integer_to_integer_saturated(Bits a, const Op& op) {
  const auto from = static_cast<Type>(op.bits[0] >> 8), to = static_cast<Type>(op.bits[0] & 0xff);
  a &= mask_of(width(from));
  return in_register(saturated_integer(a, width(from), is_signed(from), width(to), is_signed(to)), to,
                     static_cast<int>(op.bits[2]));
}

// --- floating point

Bits float_to_integer(Bits a, const Op& op) {
  const Conversion conversion = Conversion::of(op);
  const Format& format = format_of(conversion.from);
  a &= mask_of(format.bits());
  if (conversion.flush) a = numerics::flush_subnormal(format, a);
  const Bits result =
      numerics::to_integer(format, a, conversion.rounding, width(conversion.to), is_signed(conversion.to));
  return in_register(result, conversion.to, static_cast<int>(op.bits[2]));
}

Bits integer_to_float(Bits a, const Op& op) {
  const Conversion conversion = Conversion::of(op);
  const Format& format = format_of(conversion.to);
  const Bits result = numerics::from_integer(format, a, width(conversion.from), is_signed(conversion.from),
                                             conversion.rounding);
  return conversion.saturate ? arithmetic::saturate(format, result) : result;
}

// The result for a NaN, as measured on an H200. If f64 takes part, the NaN keeps its sign and as much of its
// payload as fits, and becomes quiet. A widening of bf16 to f32 is a shift and changes nothing.
Bits nan_to_nan(Bits a, const Conversion& conversion) {
  const Format &from = format_of(conversion.from), &to = format_of(conversion.to);
  const Type source = conversion.from, target = conversion.to;
  if (source == Type::f64 || target == Type::f64) {
    if (source == target && !conversion.to_integral) return a;
    const Bits sign = (a & from.sign_bit()) != 0 ? to.sign_bit() : 0;
    const Bits payload = a & (from.infinity() ^ from.nan());
    const int shift = to.fraction_bits - from.fraction_bits;
    const Bits quiet = Bits{1} << (to.fraction_bits - 1);
    return sign | to.infinity() | quiet | (shift < 0 ? payload >> -shift : payload << shift);
  }
  if (source == Type::bf16 && target == Type::f32 && !conversion.flush) return a << 16;
  const bool copy = source == Type::f32 && target == Type::f32 && !conversion.to_integral;
  if (copy && !conversion.flush) return a;
  if (target == Type::tf32) {
    return conversion.rounding == Rounding::nearest_away ? to_tf32_away(a, conversion.satfinite)
                                                         : to.nan() & ~mask_of(to.padding_bits);
  }
  return to.nan();
}

// One element between two floating-point formats.
Bits float_to_float(Bits a, const Conversion& conversion) {
  const Format &from = format_of(conversion.from), &to = format_of(conversion.to);
  // .ftz applies to f32 only, as an argument and as a result. It changes nothing in f32 to f16, where an H200
  // reads subnormals as they are.
  const auto is_f32 = [](Type type) { return type == Type::f32; };
  if (conversion.flush && is_f32(conversion.from) && conversion.to != Type::f16) {
    a = numerics::flush_subnormal(from, a);
  }
  Bits result = a;
  if (numerics::is_nan(from, a)) {
    result = nan_to_nan(a, conversion);
  } else if (conversion.rounding == Rounding::nearest_away) {
    result = to_tf32_away(a, conversion.satfinite);
  } else if (conversion.to_integral) {
    result = numerics::round_to_integer(from, a, conversion.rounding);
  } else if (conversion.from == Type::bf16 && is_f32(conversion.to)) {
    result = a << 16;
  } else if (conversion.from != conversion.to || conversion.from == Type::f16 ||
             conversion.from == Type::bf16) {
    result = numerics::convert(to, from, a, conversion.rounding,
                               conversion.satfinite ? Overflow::saturate : Overflow::infinity);
  }
  if (conversion.flush && is_f32(conversion.to)) result = numerics::flush_subnormal(to, result);
  if (conversion.saturate) result = arithmetic::saturate(to, result);
  if (conversion.rectify && !numerics::is_nan(to, result)) result = arithmetic::rectify(to, result);
  return result;
}

Bits one_float(Bits a, const Op& op) {
  const Conversion conversion = Conversion::of(op);
  return float_to_float(a & mask_of(format_of(conversion.from).bits()), conversion);
}

// d = {convert(a), convert(b)}, a in the upper half.
Bits two_floats(Bits a, Bits b, const Op& op) {
  const Conversion conversion = Conversion::of(op);
  return float_to_float(a, conversion) << format_of(conversion.to).bits() | float_to_float(b, conversion);
}

// Both elements of a packed register.
Bits packed_floats(Bits a, const Op& op) {
  const Conversion conversion = Conversion::of(op);
  const int half = format_of(conversion.from).bits();
  return two_floats(a >> half & mask_of(half), a & mask_of(half), op);
}

// --- common forms, without modifiers and rounded to nearest, on the host

template <Bits (*convert)(Bits)>
Bits pair_of(Bits a, Bits b) {
  return convert(a) << 16 | convert(b);
}
template <class Integer>
Bits f32_of_integer(Bits a) {
  return on_host::bits_of(static_cast<float>(value_of<Integer>(a)));
}
Bits f32_of_f64(Bits a) {
  const double value = on_host::double_of(a);
  return value == value ? on_host::bits_of(static_cast<float>(value)) : nan_to_nan(a, {Type::f32, Type::f64});
}
Bits f64_of_f32(Bits a) {
  const float value = on_host::float_of(a);
  return value == value ? on_host::bits_of(static_cast<double>(value))
                        : nan_to_nan(a, {Type::f64, Type::f32});
}
Bits f32_of_f16(Bits a) {
  return on_host::f32_of_f16(a & 0xffff);
}
Bits widened_bf16(Bits a) {
  return (a & 0xffff) << 16;
}

Handler host_handler(const Conversion& conversion) {
  const bool plain = !conversion.to_integral && !conversion.flush && !conversion.saturate &&
                     !conversion.rectify && !conversion.satfinite &&
                     conversion.rounding == Rounding::nearest_even;
  const Type to = conversion.to, from = conversion.from;
  if (!plain) return nullptr;
  if (from == Type::f32) {
    if (to == Type::f16) return lanewise::run<&on_host::f16_of_f32>;
    if (to == Type::bf16) return lanewise::run<&on_host::bf16_of_f32>;
    if (to == Type::f16x2) return lanewise::run<&pair_of<on_host::f16_of_f32>>;
    if (to == Type::bf16x2) return lanewise::run<&pair_of<on_host::bf16_of_f32>>;
    if (to == Type::f64) return lanewise::run<&f64_of_f32>;
  } else if (to == Type::f32) {
    if (from == Type::f16) return lanewise::run<&f32_of_f16>;
    if (from == Type::bf16) return lanewise::run<&widened_bf16>;
    if (from == Type::f64) return lanewise::run<&f32_of_f64>;
    if (from == Type::s32) return lanewise::run<&f32_of_integer<std::int32_t>>;
    if (from == Type::u32) return lanewise::run<&f32_of_integer<std::uint32_t>>;
  }
  return nullptr;
}

// --- decoding

struct Rounds {
  std::optional<Rounding> integral, real;
};

Rounds roundings(Decoding& decoding) {
  Rounds rounds;
  constexpr Rounding order[] = {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up};
  const int integral = decoding.accept_one({"rni", "rzi", "rmi", "rpi"});
  if (integral >= 0) rounds.integral = order[integral];
  rounds.real = decoding.accept_rounding();
  return rounds;
}

constexpr std::initializer_list<Type> any = {Type::u8,     Type::u16,   Type::u32,  Type::u64,   Type::s8,
                                             Type::s16,    Type::s32,   Type::s64,  Type::f16,   Type::bf16,
                                             Type::f32,    Type::f64,   Type::tf32, Type::f16x2, Type::bf16x2,
                                             Type::e4m3x2, Type::e5m2x2};

// A register of cvt may be wider than the type (PTX ISA 9.4.1); a result's register only for integers.
// op.bits[2] is its width.
void wide_destination(Decoding& decoding, Type type) {
  const auto* reg = std::get_if<ptx::Register>(&decoding.operand(0).value);
  const Type declared = reg == nullptr ? type : decoding.scope().register_type(*reg);
  if (width(declared) < width(type)) decoding.require_width(decoding.operand(0), type);
  decoding.destination(0, width(declared) == 128 ? type : declared);
  decoding.op().bits[2] = static_cast<std::uint32_t>(width(declared));
}
void wide_source(Decoding& decoding, int index, Type type) {
  const auto* reg = std::get_if<ptx::Register>(&decoding.operand(index).value);
  const Type declared = reg == nullptr ? type : decoding.scope().register_type(*reg);
  decoding.source(index, width(declared) > width(type) && width(declared) != 128 ? declared : type);
}

// f16x2 and bf16x2 of two f32, fp8 pairs of two f32 or an f16x2, f16x2 of an fp8 pair.
void decode_packed(Decoding& decoding, Conversion conversion, const Rounds& rounds) {
  const Type to = conversion.to, from = conversion.from;
  const bool to_half = to == Type::f16x2 || to == Type::bf16x2;
  const bool to_fp8 = to == Type::e4m3x2 || to == Type::e5m2x2;
  const bool from_fp8 = from == Type::e4m3x2 || from == Type::e5m2x2;
  const bool of_two = from == Type::f32;
  if (!(of_two || (to_fp8 && from == Type::f16x2) || (to == Type::f16x2 && from_fp8))) {
    decoding.fail("there is no conversion from ." + std::string(name(from)) + " to ." + name(to));
  }
  const bool rounds_to_zero = rounds.real == Rounding::to_zero && to_half && of_two;
  if (rounds.integral || !(rounds.real == Rounding::nearest_even || rounds_to_zero)) {
    decoding.fail(to_half && of_two ? "the rounding .rn or .rz is needed" : "the rounding .rn is needed");
  }
  if (to_fp8 && !conversion.satfinite) decoding.fail(".satfinite is needed");
  if (from_fp8 && conversion.satfinite) decoding.fail(".satfinite is not allowed");
  if (conversion.flush || conversion.saturate) decoding.fail("neither .ftz nor .sat is allowed");
  decoding.require_count(of_two ? 3 : 2, of_two ? 3 : 2);
  const Type bits = to_half ? Type::b32 : Type::b16;
  decoding.destination(0, bits);
  decoding.source(1, of_two ? Type::f32 : from_fp8 ? Type::b16 : Type::b32);
  if (of_two) decoding.source(2, Type::f32);
  decoding.op().handler = host_handler(conversion);
  if (decoding.op().handler != nullptr) return;
  // From here on, the types of the elements.
  const auto element = [](Type type) {
    switch (type) {
      case Type::f16x2:
        return Type::f16;
      case Type::bf16x2:
        return Type::bf16;
      case Type::e4m3x2:
        return Type::e4m3;
      case Type::e5m2x2:
        return Type::e5m2;
      default:
        return type;
    }
  };
  conversion.to = element(to);
  conversion.from = element(from);
  conversion.pack(decoding.op());
  decoding.op().handler = of_two ? lanewise::run_with_op<&two_floats> : lanewise::run_with_op<&packed_floats>;
}

void decode_tf32(Decoding& decoding, Conversion conversion, const Rounds& rounds, bool away) {
  if (conversion.from != Type::f32) decoding.fail(".tf32 is converted from .f32 only");
  if (away ? rounds.real || rounds.integral || conversion.rectify
           : rounds.integral || (rounds.real != Rounding::nearest_even && rounds.real != Rounding::to_zero)) {
    decoding.fail("one rounding of .rna, .rn and .rz is needed, and .relu not with .rna");
  }
  if (conversion.flush || conversion.saturate) decoding.fail("neither .ftz nor .sat is allowed");
  conversion.rounding = away ? Rounding::nearest_away : *rounds.real;
  decoding.require_count(2, 2);
  decoding.destination(0, Type::b32);
  decoding.source(1, Type::f32);
  conversion.pack(decoding.op());
  decoding.op().handler = lanewise::run_with_op<&one_float>;
}

// Which conversions to or from floating point need which roundings.
void choose_rounding(Decoding& decoding, Conversion& conversion, const Rounds& rounds) {
  const Type to = conversion.to, from = conversion.from;
  const std::string pair = "from ." + std::string(name(from)) + " to ." + name(to);
  if (is_integer(to)) {
    if (!rounds.integral || rounds.real) {
      decoding.fail("the conversion " + pair + " needs one of .rni, .rzi, .rmi, .rpi");
    }
    conversion.rounding = *rounds.integral;
    return;
  }
  if (is_real(from) && from == to) {
    if (rounds.real)
      decoding.fail("a conversion " + pair + " rounds to integers only: .rni, .rzi, .rmi, .rpi");
    conversion.to_integral = rounds.integral.has_value();
    conversion.rounding = rounds.integral.value_or(Rounding::nearest_even);
    return;
  }
  const bool exact = is_real(from) && format_of(to).exponent_bits >= format_of(from).exponent_bits &&
                     format_of(to).fraction_bits >= format_of(from).fraction_bits;
  if (rounds.integral || (exact ? rounds.real.has_value() : !rounds.real.has_value())) {
    decoding.fail("the conversion " + pair +
                  (exact ? " is exact and takes no rounding" : " needs one of .rn, .rz, .rm, .rp"));
  }
  conversion.rounding = rounds.real.value_or(Rounding::nearest_even);
}

void decode_scalar(Decoding& decoding, Conversion conversion, const Rounds& rounds) {
  const Type to = conversion.to, from = conversion.from;
  const bool floating = is_real(to) || is_real(from);
  if (conversion.rectify || conversion.satfinite) {
    if (conversion.flush || conversion.saturate) decoding.fail("neither .ftz nor .sat is allowed here");
    if (from != Type::f32 || (to != Type::f16 && to != Type::bf16)) {
      decoding.fail(".relu and .satfinite need a conversion from .f32 to a smaller floating-point type");
    }
    if (rounds.real != Rounding::nearest_even && rounds.real != Rounding::to_zero) {
      decoding.fail(".relu and .satfinite need .rn or .rz");
    }
  }
  if (floating) {
    choose_rounding(decoding, conversion, rounds);
  } else if (rounds.integral || rounds.real) {
    decoding.fail("a conversion between integers takes no rounding");
  }
  if (conversion.flush && to != Type::f32 && from != Type::f32) decoding.fail(".ftz needs .f32");
  if (conversion.saturate && to == Type::bf16) decoding.fail(".sat is not allowed for .bf16");
  decoding.require_count(2, 2);
  Op& op = decoding.op();
  if (is_integer(to)) {
    wide_destination(decoding, to);
  } else {
    decoding.destination(0, to);
  }
  wide_source(decoding, 1, from);
  const std::uint32_t register_width = op.bits[2];
  conversion.pack(op);
  op.bits[2] = register_width;
  op.handler = host_handler(conversion);
  if (op.handler != nullptr) return;
  if (!floating) {
    const bool wide = is_signed(to) && static_cast<int>(register_width) > width(to);
    op.handler = conversion.saturate ? lanewise::run_with_op<&integer_to_integer_saturated>
                                     : integer_handler(to, from, wide);
  } else if (is_integer(to)) {
    op.handler = lanewise::run_with_op<&float_to_integer>;
  } else {
    op.handler =
        is_integer(from) ? lanewise::run_with_op<&integer_to_float> : lanewise::run_with_op<&one_float>;
  }
}

// --- cvt.pack: d = c : convert(a) : convert(b), op.bits[0] the width, [1] the signedness of the parts

Bits pack_two(Bits a, Bits b, const Op& op) {
  const auto part = static_cast<int>(op.bits[0]);
  const bool is_signed = op.bits[1] != 0;
  return saturated_integer(a, 32, true, part, is_signed) << part |
         saturated_integer(b, 32, true, part, is_signed);
}
Bits pack_three(Bits a, Bits b, Bits c, const Op& op) {
  return (c << (2 * op.bits[0]) & 0xffffffff) | pack_two(a, b, op);
}

void decode_pack(Decoding& decoding) {
  decoding.require("sat");
  constexpr std::uint32_t widths[] = {16, 16, 8, 8, 4, 4, 2, 2};
  const int choice = decoding.require_one({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  decoding.require("s32");
  const bool three = choice >= 2;
  if (three) decoding.require("b32");
  decoding.require_count(three ? 4 : 3, three ? 4 : 3);
  decoding.destination(0, Type::b32);
  decoding.source(1, Type::s32);
  decoding.source(2, Type::s32);
  if (three) decoding.source(3, Type::b32);
  Op& op = decoding.op();
  op.bits[0] = widths[choice];
  op.bits[1] = choice % 2 == 1 ? 1 : 0;
  op.handler = three ? lanewise::run_with_op<&pack_three> : lanewise::run_with_op<&pack_two>;
}

void decode_cvt(Decoding& decoding) {
  if (decoding.accept("pack")) return decode_pack(decoding);
  if (decoding.accept("rs")) decoding.fail("stochastic rounding (.rs) needs sm_100a, which is not emulated");
  Conversion conversion;
  const bool away = decoding.accept("rna");
  const Rounds rounds = roundings(decoding);
  conversion.flush = decoding.accept("ftz");
  conversion.saturate = decoding.accept("sat");
  conversion.rectify = decoding.accept("relu");
  conversion.satfinite = decoding.accept("satfinite");
  conversion.to = decoding.type(any);
  conversion.from = decoding.type(any);
  if (rounds.real) conversion.rounding = *rounds.real;
  if (conversion.to == Type::tf32) return decode_tf32(decoding, conversion, rounds, away);
  if (away) decoding.fail(".rna is for conversions to .tf32 only");
  if (conversion.from == Type::tf32) decoding.fail("there is no conversion from .tf32");
  if (is_packed(conversion.to) || is_packed(conversion.from)) {
    return decode_packed(decoding, conversion, rounds);
  }
  decode_scalar(decoding, conversion, rounds);
}

}  // namespace

Bits saturated_integer(Bits a, int from_width, bool from_signed, int to_width, bool to_signed) {
  if (from_signed && sign_extended(a, from_width) < 0) {
    const std::int64_t value = sign_extended(a, from_width);
    if (!to_signed) return 0;
    const std::int64_t least = sign_extended(Bits{1} << (to_width - 1), to_width);
    return static_cast<Bits>(value < least ? least : value) & mask_of(to_width);
  }
  const Bits most = mask_of(to_signed ? to_width - 1 : to_width);
  return a > most ? most : a;
}

Bits to_tf32_away(Bits a, bool satfinite) {
  const Bits infinity = numerics::f32.infinity(), magnitude = numerics::f32.nan();
  if ((a & magnitude) < infinity) a += 0x1000;
  a &= 0xffffe000;
  return satfinite && (a & magnitude) >= infinity ? (a - 0x2000) & 0xffffffff : a;
}

void add_move_instructions(Decoders& decoders);     // conversion_move.cpp
void add_compare_instructions(Decoders& decoders);  // conversion_compare.cpp

void add_conversion_instructions(Decoders& decoders) {
  decoders["cvt"] = [](const ptx::Instruction& instruction, Scope& scope, Op& op) {
    Decoding decoding(instruction, scope, op);
    decode_cvt(decoding);
    decoding.finish();
  };
  add_move_instructions(decoders);
  add_compare_instructions(decoders);
}

}  // namespace tenon::emulator
