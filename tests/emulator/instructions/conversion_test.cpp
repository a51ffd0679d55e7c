// cvt, mov, selp and slct: against the host's conversions if C++ has them, else against a search in the
// target format; packing is written out.
#include <cfenv>
#include <cmath>
#include <limits>

#include "emulator/instructions/operands.hpp"

namespace tenon::emulator::testing {
namespace {

using numerics::bits_of;
using numerics::double_of;
using numerics::Format;

float float_of(Bits bits) {
  return numerics::float_of(static_cast<std::uint32_t>(bits));
}
Bits cut_to(Bits bits, int width) {
  return width == 64 ? bits : bits & ((Bits{1} << width) - 1);
}
std::int64_t sign(Bits bits, int width) {
  return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

struct Integer {
  std::string type, kind;
  int width;
  bool is_signed;
};
const Integer integers[] = {{"u8", "r", 8, false},   {"s8", "r", 8, true},    {"u16", "h", 16, false},
                            {"s16", "h", 16, true},  {"u32", "r", 32, false}, {"s32", "r", 32, true},
                            {"u64", "d", 64, false}, {"s64", "d", 64, true}};

int register_width(const std::string& kind) {
  return kind == "h" ? 16 : kind == "r" ? 32 : 64;
}

// The value of an integer register as a number that every conversion below preserves: 65 bits are needed.
long double value_of(Bits bits, const Integer& type) {
  return type.is_signed ? static_cast<long double>(sign(bits, type.width))
                        : static_cast<long double>(cut_to(bits, type.width));
}

const std::vector<Triple>& integer_inputs() {
  static const std::vector<Triple> all = triples(integer_corners(), 2048);
  return all;
}

TEST(Conversion, BetweenIntegersTruncatesAndExtends) {
  for (const Integer& from : integers) {
    for (const Integer& to : integers) {
      const std::string text = to.type + "." + from.type + " %" + to.kind + "0, %" + from.kind + "1";
      check("cvt." + text, integer_inputs(), [&](Bits a, Bits, Bits) {
        const Bits wide = from.is_signed ? static_cast<Bits>(sign(a, from.width)) : cut_to(a, from.width);
        const Bits result = to.is_signed ? static_cast<Bits>(sign(wide, to.width)) : cut_to(wide, to.width);
        return cut_to(result, register_width(to.kind));
      });
      check("cvt.sat." + text, integer_inputs(), [&](Bits a, Bits, Bits) {
        const long double least = to.is_signed ? -std::ldexp(1.0L, to.width - 1) : 0;
        const long double most = std::ldexp(1.0L, to.is_signed ? to.width - 1 : to.width) - 1;
        const long double value = std::fmin(std::fmax(value_of(a, from), least), most);
        const Bits bits =
            value < 0 ? static_cast<Bits>(static_cast<std::int64_t>(value)) : static_cast<Bits>(value);
        return cut_to(bits, register_width(to.kind));
      });
    }
  }
}

TEST(Conversion, WidensIntoLargerRegisters) {
  OneWarp warp(
      "cvt.s8.s32 %r0, %r1; cvt.u8.u32 %r2, %r1; cvt.s16.s32 %d0, %r1; cvt.u32.u64 %d2, %d1;"
      "cvt.f32.f16 %r3, %r1;");
  warp.set_all("%r1", 0x3cff80ff);
  warp.set_all("%d1", 0xffffffff80000001);
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[0], 0xffffffffU);
  EXPECT_EQ(warp.lanes("%r2")[0], 0xffU);
  EXPECT_EQ(warp.lanes("%d0")[0], 0xffffffffffff80ffU);
  EXPECT_EQ(warp.lanes("%d2")[0], 0x80000001U);
  EXPECT_EQ(warp.lanes("%r3")[0], bits_of(static_cast<float>(-0xff * 0x1p-24)));
}

struct Mode {
  const char* integral;
  const char* real;
  int host;
};
const Mode modes[] = {{"rni", "rn", FE_TONEAREST},
                      {"rzi", "rz", FE_TOWARDZERO},
                      {"rmi", "rm", FE_DOWNWARD},
                      {"rpi", "rp", FE_UPWARD}};

struct Real {
  std::string type, kind;
  const Format* format;
};
const Real reals[] = {{"f16", "h", &numerics::f16},
                      {"bf16", "h", &numerics::bf16},
                      {"f32", "r", &numerics::f32},
                      {"f64", "d", &numerics::f64}};

long double rint_as(long double value, int mode) {
  switch (mode) {
    case FE_TOWARDZERO:
      return std::trunc(value);
    case FE_DOWNWARD:
      return std::floor(value);
    case FE_UPWARD:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

std::vector<Triple> real_inputs(const Real& real) {
  std::vector<Triple> all = triples(float_corners(*real.format), 2048);
  // Random bits are seldom ties or in the range of integers.
  for (int i = 0; i < 2048; ++i) {
    const double value =
        std::ldexp((i % 128) - 64 + (i % 3) * 0.5, i / 128 * 4 - 4) + (i % 5 == 0 ? 0.25 : 0);
    all.push_back({numerics::from_double(*real.format, value), 0, 0});
  }
  return all;
}

TEST(Conversion, FromFloatingPointToIntegersClamps) {
  for (const Real& from : reals) {
    const std::vector<Triple> inputs = real_inputs(from);
    for (const Integer& to : integers) {
      for (const Mode& mode : modes) {
        check(std::string("cvt.") + mode.integral + "." + to.type + "." + from.type + " %" + to.kind +
                  "0, %" + from.kind + "1",
              inputs, [&](Bits a, Bits, Bits) -> Bits {
                const double value = numerics::to_double(*from.format, cut_to(a, from.format->bits()));
                const int width = register_width(to.kind);
                if (std::isnan(value)) {
                  if (from.type != "f64" && to.width != 64) return 0;
                  const Bits top = Bits{1} << (to.width - 1);
                  return cut_to(to.is_signed ? static_cast<Bits>(sign(top, to.width)) : top, width);
                }
                const long double least = to.is_signed ? -std::ldexp(1.0L, to.width - 1) : 0;
                const long double most = std::ldexp(1.0L, to.is_signed ? to.width - 1 : to.width) - 1;
                const long double result = std::fmin(std::fmax(rint_as(value, mode.host), least), most);
                return cut_to(result < 0 ? static_cast<Bits>(static_cast<std::int64_t>(result))
                                         : static_cast<Bits>(result),
                              width);
              });
      }
    }
  }
}

// The neighbours of a value in a format, by bisection over its patterns, and the one that a rounding mode
// selects.
Bits nearest_pattern(const Format& format, long double value, int mode) {
  const bool negative = std::signbit(value);
  const long double magnitude = std::fabs(value);
  Bits low = 0, high = format.infinity();
  const auto number = [&](Bits pattern) -> long double {
    return pattern == format.infinity() ? std::ldexp(1.0L, format.maximum_exponent() + 1)
                                        : static_cast<long double>(numerics::to_double(format, pattern));
  };
  if (magnitude >= number(high)) {
    low = high - 1;
  } else {
    while (high - low > 1) {
      const Bits middle = low + (high - low) / 2;
      (number(middle) <= magnitude ? low : high) = middle;
    }
  }
  const long double below = magnitude - number(low), above = number(high) - magnitude;
  bool up = false;
  if (below != 0) {
    up = mode == FE_TONEAREST ? below > above || (below == above && (low & 1) != 0)
                              : mode == (negative ? FE_DOWNWARD : FE_UPWARD);
  }
  return (up ? high : low) | (negative ? format.sign_bit() : 0);
}

TEST(Conversion, FromIntegersToFloatingPointRounds) {
  for (const Integer& from : integers) {
    for (const Real& to : reals) {
      for (const Mode& mode : modes) {
        check(std::string("cvt.") + mode.real + "." + to.type + "." + from.type + " %" + to.kind + "0, %" +
                  from.kind + "1",
              integer_inputs(),
              [&](Bits a, Bits, Bits) { return nearest_pattern(*to.format, value_of(a, from), mode.host); });
      }
    }
  }
}

// A NaN in another format: sign and payload kept, the payload's highest bit set, its lowest bits truncated or
// zero-filled. f64 behaves so (measured on an H200).
Bits handed_on(const Format& to, const Format& from, Bits nan) {
  Bits result = (nan & from.sign_bit()) != 0 ? to.sign_bit() | to.infinity() : to.infinity();
  for (int i = 1; i <= to.fraction_bits; ++i) {  // from the payload's highest bit on
    const bool is_set = i <= from.fraction_bits && (nan >> (from.fraction_bits - i) & 1) != 0;
    if (is_set || i == 1) result |= Bits{1} << (to.fraction_bits - i);
  }
  return result;
}

TEST(Conversion, BetweenFloatingPointTypesRounds) {
  for (const Real& from : reals) {
    const std::vector<Triple> inputs = real_inputs(from);
    for (const Real& to : reals) {
      if (from.type == to.type) continue;
      const bool exact = to.format->exponent_bits >= from.format->exponent_bits &&
                         to.format->fraction_bits >= from.format->fraction_bits;
      for (const Mode& mode : modes) {
        check(std::string("cvt.") + (exact ? "" : std::string(mode.real) + ".") + to.type + "." + from.type +
                  " %" + to.kind + "0, %" + from.kind + "1",
              inputs, [&](Bits a, Bits, Bits) -> Bits {
                a = cut_to(a, from.format->bits());
                const double value = numerics::to_double(*from.format, a);
                if (!std::isnan(value)) {
                  return std::isinf(value) ? to.format->infinity() | (value < 0 ? to.format->sign_bit() : 0)
                                           : nearest_pattern(*to.format, value, mode.host);
                }
                if (from.type == "bf16" && to.type == "f32") return a << 16;
                return from.type == "f64" || to.type == "f64" ? handed_on(*to.format, *from.format, a)
                                                              : to.format->nan();
              });
        if (exact) break;
      }
    }
  }
}

TEST(Conversion, ToIntegersOfTheSameFormatRounds) {
  for (const Real& real : reals) {
    const std::vector<Triple> inputs = real_inputs(real);
    for (const Mode& mode : modes) {
      check(std::string("cvt.") + mode.integral + "." + real.type + "." + real.type + " %" + real.kind +
                "0, %" + real.kind + "1",
            inputs, [&](Bits a, Bits, Bits) -> Bits {
              a = cut_to(a, real.format->bits());
              const double value = numerics::to_double(*real.format, a);
              if (std::isnan(value)) {
                return real.type == "f64" ? handed_on(*real.format, *real.format, a) : real.format->nan();
              }
              const double result = std::copysign(static_cast<double>(rint_as(value, mode.host)), value);
              return numerics::from_double(*real.format, result);
            });
    }
  }
}

TEST(Conversion, SaturatesAndFlushes) {
  const std::vector<Triple> f32 = real_inputs(reals[2]);
  check("cvt.sat.f32.f32 %r0, %r1", f32, [](Bits a, Bits, Bits) -> Bits {
    const float x = float_of(a);
    return !(x > 0) ? 0 : x > 1 ? 0x3f800000 : a & 0xffffffff;
  });
  check("cvt.ftz.f32.f32 %r0, %r1", f32, [](Bits a, Bits, Bits) -> Bits {
    if (std::isnan(float_of(a))) return 0x7fffffff;
    return (a & 0x7f800000) == 0 ? a & 0x80000000 : a & 0xffffffff;
  });
  check("cvt.rpi.ftz.s32.f32 %r0, %r1", f32, [](Bits a, Bits, Bits) -> Bits {
    const float x = (a & 0x7f800000) == 0 ? 0 : float_of(a);
    if (std::isnan(x)) return 0;
    const double up = std::fmin(std::fmax(std::ceil(static_cast<double>(x)), -0x1p31), 0x1p31 - 1);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(up));
  });
  check("cvt.rn.sat.f16.f32 %h0, %r1", f32, [](Bits a, Bits, Bits) -> Bits {
    const float x = float_of(a);
    return !(x > 0) ? 0 : x > 1 ? 0x3c00 : numerics::from_float(numerics::f16, x);
  });
}

Bits rectified(Bits bits, const Format& format) {
  return numerics::is_nan(format, bits) ? format.nan() : (bits & format.sign_bit()) != 0 ? 0 : bits;
}

TEST(Conversion, PacksPairs) {
  const std::vector<Triple> f32 = real_inputs(reals[2]);
  struct Target {
    std::string type, kind;
    const Format* format;
    bool needs_satfinite;
  };
  const Target targets[] = {{"f16x2", "r", &numerics::f16, false},
                            {"bf16x2", "r", &numerics::bf16, false},
                            {"e4m3x2", "h", &numerics::e4m3, true},
                            {"e5m2x2", "h", &numerics::e5m2, true}};
  for (const Target& target : targets) {
    const Format& format = *target.format;
    for (const bool relu : {false, true}) {
      for (const bool satfinite : {false, true}) {
        if (target.needs_satfinite && !satfinite) continue;
        const auto element = [&](double value) -> Bits {
          Bits bits;
          if (std::isnan(value)) {
            bits = format.nan();
          } else if (satfinite && std::fabs(value) > numerics::to_double(format, format.largest())) {
            bits = format.largest() | (value < 0 ? format.sign_bit() : 0);
          } else if (std::isinf(value)) {
            bits = format.infinity() | (value < 0 ? format.sign_bit() : 0);
          } else if (format.has_infinity) {
            bits = nearest_pattern(format, value, FE_TONEAREST);
            if (satfinite && (bits & ~format.sign_bit()) == format.infinity()) --bits;
          } else {
            bits = numerics::from_double(format, value);
          }
          return relu ? rectified(bits, format) : bits;
        };
        const std::string modifiers =
            std::string("cvt.rn") + (satfinite ? ".satfinite" : "") + (relu ? ".relu" : "");
        check(modifiers + "." + target.type + ".f32 %" + target.kind + "0, %r1, %r2", f32,
              [&](Bits a, Bits b, Bits) {
                return element(float_of(a)) << format.bits() | element(float_of(b));
              });
        if (!target.needs_satfinite) continue;
        check(modifiers + "." + target.type + ".f16x2 %h0, %r1", real_inputs(reals[0]),
              [&](Bits a, Bits, Bits) {
                return element(numerics::to_double(numerics::f16, a >> 16 & 0xffff)) << 8 |
                       element(numerics::to_double(numerics::f16, a & 0xffff));
              });
      }
    }
  }
}

TEST(Conversion, UnpacksEveryPairOfFp8) {
  std::vector<Triple> every;
  for (Bits bits = 0; bits < 0x10000; bits += 1) every.push_back({bits, 0, 0});
  const auto widened = [](const Format& format, Bits bits) -> Bits {
    const double value = numerics::to_double(format, bits);
    return std::isnan(value) ? 0x7fff : numerics::from_double(numerics::f16, value);
  };
  check("cvt.rn.f16x2.e4m3x2 %r0, %h1", every, [&](Bits a, Bits, Bits) {
    return widened(numerics::e4m3, a >> 8) << 16 | widened(numerics::e4m3, a & 0xff);
  });
  check("cvt.rn.relu.f16x2.e5m2x2 %r0, %h1", every, [&](Bits a, Bits, Bits) {
    return rectified(widened(numerics::e5m2, a >> 8), numerics::f16) << 16 |
           rectified(widened(numerics::e5m2, a & 0xff), numerics::f16);
  });
}

TEST(Conversion, RoundsToTf32) {
  const std::vector<Triple> f32 = real_inputs(reals[2]);
  const auto to_10_bits = [](float x, bool away) -> Bits {
    int exponent;
    const double fraction = std::frexp(static_cast<double>(x), &exponent);
    const int unit = (exponent < -125 ? -125 : exponent) - 11;  // of the last of 11 significant bits
    const double units = std::ldexp(fraction, exponent - unit);
    const double rounded = away ? std::round(units) : std::nearbyint(units);
    return bits_of(static_cast<float>(std::ldexp(rounded, unit)));
  };
  check("cvt.rn.tf32.f32 %r0, %r1", f32, [&](Bits a, Bits, Bits) -> Bits {
    const float x = float_of(a);
    return std::isnan(x) ? 0x7fffe000 : std::isinf(x) || x == 0 ? a & 0xffffffff : to_10_bits(x, false);
  });
  check("cvt.rna.tf32.f32 %r0, %r1", f32, [&](Bits a, Bits, Bits) -> Bits {
    const float x = float_of(a);
    return !std::isfinite(x) ? a & 0xffffe000 : x == 0 ? a & 0xffffffff : to_10_bits(x, true);
  });
  check("cvt.rna.satfinite.tf32.f32 %r0, %r1", f32, [&](Bits a, Bits, Bits) -> Bits {
    const float x = float_of(a);
    if (std::isnan(x)) return (a & 0xffffe000) - 0x2000;
    const Bits bits = std::isinf(x) ? a & 0xffffffff : x == 0 ? a & 0xffffffff : to_10_bits(x, true);
    return (bits & 0x7fffffff) == 0x7f800000 ? bits - 0x2000 : bits;
  });
}

// Answers of an H200 where the PTX ISA is silent, or says otherwise (the .ftz of f32 to f16).
TEST(Conversion, AnswersAsAnH200) {
  struct Answer {
    const char *text, *result, *operand;
    Bits of, is;
  };
  const Answer answers[] = {
      {"cvt.f64.f16 %d0, %h1;", "%d0", "%h1", 0x7c01, 0x7ff8040000000000},
      {"cvt.f64.bf16 %d0, %h1;", "%d0", "%h1", 0x7f81, 0x7ff8200000000000},
      {"cvt.f64.f32 %d0, %r1;", "%d0", "%r1", 0x7f800001, 0x7ff8000020000000},
      {"cvt.rn.f16.f64 %h0, %d1;", "%h0", "%d1", 0x7ff0000000000001, 0x7e00},
      {"cvt.rz.bf16.f64 %h0, %d1;", "%h0", "%d1", 0x7ff0000000000001, 0x7fc0},
      {"cvt.rn.f32.f64 %r0, %d1;", "%r0", "%d1", 0x7ff0000000000001, 0x7fc00000},
      {"cvt.rm.ftz.f32.f64 %r0, %d1;", "%r0", "%d1", 0x7ff0000000000001, 0x7fc00000},
      {"cvt.rni.f64.f64 %d0, %d1;", "%d0", "%d1", 0x7ff0000000000001, 0x7ff8000000000001},
      {"cvt.ftz.f32.f32 %r0, %r1;", "%r0", "%r1", 0x7f800001, 0x7fffffff},
      {"cvt.rn.tf32.f32 %r0, %r1;", "%r0", "%r1", 0x7f800001, 0x7fffe000},
      {"cvt.rz.tf32.f32 %r0, %r1;", "%r0", "%r1", 0x7f800001, 0x7fffe000},
      {"cvt.rz.relu.tf32.f32 %r0, %r1;", "%r0", "%r1", 0x7f800001, 0x7fffe000},
      {"cvt.rp.ftz.f16.f32 %h0, %r1;", "%h0", "%r1", 0x1, 0x1}};
  for (const Answer& answer : answers) {
    OneWarp warp(answer.text);
    warp.set_all(answer.operand, answer.of);
    warp.run();
    EXPECT_EQ(warp.lanes(answer.result)[0], answer.is) << answer.text;
  }
}

TEST(Conversion, PacksSaturatedIntegers) {
  const auto clamp = [](Bits bits, std::int64_t least, std::int64_t most) {
    const std::int64_t value = sign(bits, 32);
    return static_cast<Bits>(value < least ? least : value > most ? most : value);
  };
  check("cvt.pack.sat.u16.s32 %r0, %r1, %r2", integer_inputs(),
        [&](Bits a, Bits b, Bits) { return clamp(a, 0, 65535) << 16 | clamp(b, 0, 65535); });
  check("cvt.pack.sat.s16.s32 %r0, %r1, %r2", integer_inputs(), [&](Bits a, Bits b, Bits) {
    return (clamp(a, -32768, 32767) & 0xffff) << 16 | (clamp(b, -32768, 32767) & 0xffff);
  });
  check("cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3", integer_inputs(), [&](Bits a, Bits b, Bits c) {
    return (c & 0xffff) << 16 | clamp(a, 0, 255) << 8 | clamp(b, 0, 255);
  });
  check("cvt.pack.sat.s4.s32.b32 %r0, %r1, %r2, %r3", integer_inputs(), [&](Bits a, Bits b, Bits c) {
    return (c & 0xffffff) << 8 | (clamp(a, -8, 7) & 15) << 4 | (clamp(b, -8, 7) & 15);
  });
  check("cvt.pack.sat.u2.s32.b32 %r0, %r1, %r2, %r3", integer_inputs(),
        [&](Bits a, Bits b, Bits c) { return (c & 0xfffffff) << 4 | clamp(a, 0, 3) << 2 | clamp(b, 0, 3); });
}

TEST(Conversion, RefusesWhatPtxRefuses) {
  const auto refuses = [](const std::string& text, const std::string& sentence) {
    EXPECT_NE(refusal(text + ";").find(sentence), std::string::npos) << text << ": " << refusal(text + ";");
  };
  refuses("cvt.f32.f64 %r0, %d1", "needs one of .rn, .rz, .rm, .rp");
  refuses("cvt.rn.f32.f16 %r0, %h1", "is exact and takes no rounding");
  refuses("cvt.s32.f32 %r0, %r1", "needs one of .rni");
  refuses("cvt.rn.u32.u32 %r0, %r1", "takes no rounding");
  refuses("cvt.rn.e4m3x2.f32 %h0, %r1, %r2", ".satfinite is needed");
  refuses("cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3", "sm_100a");
  refuses("cvt.rna.f16.f32 %h0, %r1", ".rna is for conversions to .tf32");
  refuses("cvt.ftz.u32.u32 %r0, %r1", ".ftz needs .f32");
  refuses("cvt.rn.f32.e4m3x2 %r0, %h1", "there is no conversion");
  refuses("cvt.u64.u32 %r0, %r1", "a register of type .b32 is given where one of 64 bits is needed");
}

// --- mov, selp, slct

TEST(Move, PacksAndUnpacks) {
  OneWarp warp(
      "mov.b32 %r0, {%h1, %h2}; mov.b64 %d0, {%r1, %r2}; mov.b64 %d2, {%h1, %h2, %h3, %h4};"
      "mov.b32 {%h5, %h6}, %r1; mov.b64 {%r5, _}, %d1; mov.b64 {_, %h7, %h8, _}, %d1;"
      "mov.b128 %q1, {%d1, %d3}; mov.b128 %q2, %q1; mov.b128 {%d4, %d5}, %q2;"
      "mov.b32 %r6, {%h1, 7};");
  warp.set_all("%h1", 0x1111);
  warp.set_all("%h2", 0x2222);
  warp.set_all("%h3", 0x3333);
  warp.set_all("%h4", 0x4444);
  warp.set_all("%r1", 0xaaaabbbb);
  warp.set_all("%r2", 0xccccdddd);
  warp.set_all("%d1", 0x0123456789abcdef);
  warp.set_all("%d3", 0xfedcba9876543210);
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[5], 0x22221111U);
  EXPECT_EQ(warp.lanes("%d0")[5], 0xccccddddaaaabbbbU);
  EXPECT_EQ(warp.lanes("%d2")[5], 0x4444333322221111U);
  EXPECT_EQ(warp.lanes("%h5")[5], 0xbbbbU);
  EXPECT_EQ(warp.lanes("%h6")[5], 0xaaaaU);
  EXPECT_EQ(warp.lanes("%r5")[5], 0x89abcdefU);
  EXPECT_EQ(warp.lanes("%h7")[5], 0x89abU);
  EXPECT_EQ(warp.lanes("%h8")[5], 0x4567U);
  EXPECT_EQ(warp.lanes("%d4")[5], 0x0123456789abcdefU);
  EXPECT_EQ(warp.lanes("%d5")[5], 0xfedcba9876543210U);
  EXPECT_EQ(warp.lanes("%r6")[5], 0x00071111U);
}

// A register that is both source and destination is read before it is written.
TEST(Move, ReadsBeforeItWrites) {
  OneWarp warp(
      "mov.b32 {%h1, %h2}, %r1; mov.b64 %d1, {%r2, %r1}; mov.b128 {%d2, %d3}, %q1; mov.b128 %q1, {%d3, %d2};"
      "mov.b128 {%d4, %d5}, %q1;");
  warp.set_all("%r1", 0x12345678);
  warp.set_all("%r2", 0x9abcdef0);
  warp.lanes("%q1")[0] = 1;
  warp.lanes("%q1")[warp_size] = 2;  // the upper half: the neighbouring slot
  warp.run();
  EXPECT_EQ(warp.lanes("%h1")[0], 0x5678U);
  EXPECT_EQ(warp.lanes("%d1")[0], 0x123456789abcdef0U);
  EXPECT_EQ(warp.lanes("%d4")[0], 2U);
  EXPECT_EQ(warp.lanes("%d5")[0], 1U);
}

TEST(Move, TakesConstantsSpecialRegistersAndPredicates) {
  OneWarp warp(
      "mov.u32 %r0, %laneid; mov.u16 %h0, %lanemask_lt; mov.pred %p0, -1; mov.pred %p1, !%p2;"
      "mov.f32 %r1, 0f40490FDB; mov.f64 %d0, 1.5; mov.b32 %r2, -1; mov.u64 %d1, 5;");
  warp.run();
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(warp.lanes("%r0")[lane], lane);
    EXPECT_EQ(warp.lanes("%h0")[lane], ((Bits{1} << lane) - 1) & 0xffff);
  }
  EXPECT_EQ(warp.lanes("%p0")[1], 1U);
  EXPECT_EQ(warp.lanes("%p1")[1], 1U);
  EXPECT_EQ(warp.lanes("%r1")[1], 0x40490fdbU);
  EXPECT_EQ(warp.lanes("%d0")[1], bits_of(1.5));
  EXPECT_EQ(warp.lanes("%r2")[1], 0xffffffffU);
  EXPECT_EQ(warp.lanes("%d1")[1], 5U);
}

TEST(Move, Selects) {
  check("selp.b32 %r0, %r1, %r2, %p3", integer_inputs(),
        [](Bits a, Bits b, Bits c) { return truncated((c & 1) != 0 ? a : b, 'r'); });
  check("selp.f64 %d0, %d1, %d2, !%p3", integer_inputs(),
        [](Bits a, Bits b, Bits c) { return (c & 1) != 0 ? b : a; });
  check("slct.u64.s32 %d0, %d1, %d2, %r3", integer_inputs(),
        [](Bits a, Bits b, Bits c) { return sign(c, 32) >= 0 ? a : b; });
  const std::vector<Triple> f32 = real_inputs(reals[2]);
  check("slct.b16.f32 %h0, %h1, %h2, %r3", f32,
        [](Bits a, Bits b, Bits c) { return truncated(float_of(c) >= 0 ? a : b, 'h'); });
  check("slct.ftz.f32.f32 %r0, %r1, %r2, %r3", f32, [](Bits a, Bits b, Bits c) {
    const float x = float_of((c & 0x7f800000) == 0 ? c & 0x80000000 : c);
    return truncated(x >= 0 ? a : b, 'r');
  });
}

}  // namespace
}  // namespace tenon::emulator::testing
