// Signs, minimum and maximum, and the functions that PTX allows to be approximate: their special values
// exactly, the others within the bounds of the ISA.
#include <cmath>

#include "emulator/instructions/operands.hpp"

namespace tenon::emulator::testing {
namespace {

using numerics::bits_of;
using numerics::double_of;
using numerics::Format;

float float_of(Bits bits) {
  return numerics::float_of(static_cast<std::uint32_t>(bits));
}

const std::vector<Triple>& f32_inputs() {
  static const std::vector<Triple> all = triples(float_corners(numerics::f32), 8192);
  return all;
}

TEST(FloatFunction, ChangesSigns) {
  check("abs.f32 %r0, %r1", f32_inputs(),
        [](Bits a, Bits, Bits) -> Bits { return std::isnan(float_of(a)) ? 0x7fffffff : a & 0x7fffffff; });
  check("neg.ftz.f32 %r0, %r1", f32_inputs(), [](Bits a, Bits, Bits) -> Bits {
    if (std::isnan(float_of(a))) return 0x7fffffff;
    const Bits negated = (a & 0xffffffff) ^ 0x80000000;
    return (a & 0x7f800000) == 0 ? negated & 0x80000000 : negated;
  });
  const std::vector<Triple> f64 = triples(float_corners(numerics::f64), 4096);
  // A NaN keeps its sign: measured on an H200.
  check("neg.f64 %d0, %d1", f64, [](Bits a, Bits, Bits) {
    return std::isnan(double_of(a)) ? a | Bits{1} << 51 : a ^ Bits { 1 } << 63;
  });
  check("abs.f64 %d0, %d1", f64, [](Bits a, Bits, Bits) {
    return std::isnan(double_of(a)) ? a | Bits{1} << 51 : a & ~(Bits{1} << 63);
  });
  check("copysign.f64 %d0, %d1, %d2", f64,
        [](Bits a, Bits b, Bits) { return (a & Bits{1} << 63) | (b & ~(Bits{1} << 63)); });
  check("copysign.f32 %r0, %r1, %r2", f32_inputs(),
        [](Bits a, Bits b, Bits) { return (a & 0x80000000) | (b & 0x7fffffff); });
  const std::vector<Triple> half = triples(float_corners(numerics::f16), 4096);
  const auto one = [](Bits a, Bits infinity) -> Bits {
    return (a & 0x7fff) > infinity ? 0x7fff : (a & 0xffff) ^ 0x8000;
  };
  check("neg.f16 %h0, %h1", half, [&](Bits a, Bits, Bits) { return one(a, 0x7c00); });
  check("neg.bf16x2 %r0, %r1", triples(float_corners(numerics::bf16), 4096),
        [&](Bits a, Bits, Bits) { return one(a & 0xffff, 0x7f80) | one(a >> 16 & 0xffff, 0x7f80) << 16; });
}

// The smaller number by the host; NaNs and zeros by explicit rules.
Bits extreme(Bits a, Bits b, bool larger, bool nan) {
  a &= 0xffffffff;
  b &= 0xffffffff;
  const float x = float_of(a), y = float_of(b);
  if (std::isnan(x) && std::isnan(y)) return 0x7fffffff;
  if (std::isnan(x) || std::isnan(y)) return nan ? 0x7fffffff : std::isnan(x) ? b : a;
  if (x == 0 && y == 0) return std::signbit(x) == std::signbit(y) ? a : larger ? 0 : 0x80000000;
  return (x < y) != larger ? a : b;
}

TEST(FloatFunction, PicksTheSmallerAndTheLarger) {
  for (const bool larger : {false, true}) {
    const std::string opcode = larger ? "max" : "min";
    const auto flush = [](Bits a) { return (a & 0x7f800000) == 0 ? a & 0x80000000 : a; };
    check(opcode + ".f32 %r0, %r1, %r2", f32_inputs(),
          [=](Bits a, Bits b, Bits) { return extreme(a, b, larger, false); });
    check(opcode + ".ftz.f32 %r0, %r1, %r2", f32_inputs(),
          [=](Bits a, Bits b, Bits) { return extreme(flush(a), flush(b), larger, false); });
    check(opcode + ".NaN.f32 %r0, %r1, %r2", f32_inputs(),
          [=](Bits a, Bits b, Bits) { return extreme(a, b, larger, true); });
    check(opcode + ".NaN.xorsign.abs.f32 %r0, %r1, %r2", f32_inputs(), [=](Bits a, Bits b, Bits) {
      const Bits result = extreme(a & 0x7fffffff, b & 0x7fffffff, larger, true);
      return std::isnan(float_of(result)) ? result : result | ((a ^ b) & 0x80000000);
    });
    const std::vector<Triple> brain = triples(float_corners(numerics::bf16), 4096);
    check(opcode + ".bf16 %h0, %h1, %h2", brain, [=](Bits a, Bits b, Bits) {
      const Bits result = extreme((a & 0xffff) << 16, (b & 0xffff) << 16, larger, false);
      return result == 0x7fffffff ? 0x7fff : result >> 16;
    });
    const std::vector<Triple> f64 = triples(float_corners(numerics::f64), 4096);
    check(opcode + ".f64 %d0, %d1, %d2", f64, [=](Bits a, Bits b, Bits) -> Bits {
      const double x = double_of(a), y = double_of(b);
      if (std::isnan(x)) return std::isnan(y) ? b | Bits{1} << 51 : b;
      if (std::isnan(y)) return a;
      if (x == 0 && y == 0) return std::signbit(x) == std::signbit(y) ? a : larger ? 0 : Bits{1} << 63;
      return (x < y) != larger ? a : b;
    });
  }
  OneWarp three("max.f32 %r0, %r1, %r2, %r3; min.abs.NaN.f32 %r4, %r1, %r2, %r3;", "sm_100a");
  three.set_all("%r1", bits_of(1.0F));
  three.set_all("%r2", bits_of(-3.0F));
  three.set_all("%r3", bits_of(2.0F));
  three.run();
  EXPECT_EQ(three.lanes("%r0")[0], bits_of(2.0F));
  EXPECT_EQ(three.lanes("%r4")[0], bits_of(1.0F));
  EXPECT_NE(refusal("max.f32 %r0, %r1, %r2, %r3;").find("sm_100"), std::string::npos);
}

TEST(FloatFunction, PicksInPairsOfHalves) {
  // low: NaN against 1; high: -0 against +0.
  OneWarp warp(
      "min.f16x2 %r0, %r1, %r2; min.NaN.f16x2 %r3, %r1, %r2; max.f16x2 %r4, %r1, %r2;"
      "max.xorsign.abs.f16x2 %r5, %r2, %r6;");
  warp.set_all("%r1", 0x80007e01);
  warp.set_all("%r2", 0x00003c00);
  warp.set_all("%r6", 0xc000c000);
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[3], 0x80003c00U);
  EXPECT_EQ(warp.lanes("%r3")[3], 0x80007fffU);
  EXPECT_EQ(warp.lanes("%r4")[3], 0x00003c00U);
  EXPECT_EQ(warp.lanes("%r5")[3], 0xc000c000U);
}

TEST(FloatFunction, ClassifiesNumbers) {
  for (const char* property : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    const std::string name = property;
    check("testp." + name + ".f32 %p0, %r1", f32_inputs(), [&](Bits a, Bits, Bits) -> Bits {
      switch (std::fpclassify(float_of(a))) {
        case FP_NAN:
          return name == "notanumber";
        case FP_INFINITE:
          return name == "infinite" || name == "number";
        case FP_SUBNORMAL:
          return name == "subnormal" || name == "finite" || name == "number";
        default:  // zeros count as normal
          return name == "normal" || name == "finite" || name == "number";
      }
    });
  }
}

struct Function {
  const char* text;
  double (*host)(double);
  double relative, absolute;  // at most the bounds of PTX ISA 9.7.3
};

double reciprocal(double x) {
  return 1 / x;
}
double reciprocal_root(double x) {
  return x == 0 ? std::copysign(INFINITY, x) : 1 / std::sqrt(x);
}

TEST(FloatFunction, ApproximatesF32WithinTheBounds) {
  const Function functions[] = {{"rcp.approx.f32", reciprocal, 0x1p-23, 0},
                                {"sqrt.approx.f32", std::sqrt, 0x1p-23, 0},
                                {"rsqrt.approx.f32", reciprocal_root, std::exp2(-22.4), 0},
                                {"lg2.approx.f32", std::log2, 0x1p-22, 0x1p-22},
                                {"ex2.approx.f32", std::exp2, 0x1p-22, 0},
                                {"tanh.approx.f32", std::tanh, 0x1p-11, 0}};
  for (const Function& function : functions) {
    OneWarp warp(std::string(function.text) + " %r0, %r1;");
    for (std::size_t first = 0; first < f32_inputs().size(); first += warp_size) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        warp.lanes("%r1")[lane] = f32_inputs()[first + lane].a & 0xffffffff;
      }
      warp.run();
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const float x = float_of(warp.lanes("%r1")[lane]), found = float_of(warp.lanes("%r0")[lane]);
        const double right = function.host(x);
        if (std::isnan(right)) {
          ASSERT_EQ(warp.lanes("%r0")[lane], 0x7fffffffU) << function.text << " of " << x;
        } else if (std::isinf(static_cast<float>(right))) {
          ASSERT_EQ(found, static_cast<float>(right)) << function.text << " of " << x;
        } else {
          // A subnormal result is within half its unit.
          const double bound = std::fabs(right) * function.relative + function.absolute + 0x1p-149;
          ASSERT_LE(std::fabs(found - right), bound) << function.text << " of " << x;
          ASSERT_EQ(std::signbit(found), std::signbit(right)) << function.text << " of " << x;
        }
      }
    }
  }
}

TEST(FloatFunction, ReducesAnglesLikeTheHardware) {
  OneWarp warp("sin.approx.f32 %r0, %r1; cos.approx.f32 %r2, %r1;");
  for (int step = 0; step < 64; ++step) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const float x = (static_cast<float>(step) - 32 + static_cast<float>(lane) / 32) * 0.196F;
      warp.lanes("%r1")[lane] = bits_of(x);
    }
    warp.run();
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const double x = float_of(warp.lanes("%r1")[lane]);
      ASSERT_LE(std::fabs(float_of(warp.lanes("%r0")[lane]) - std::sin(x)), std::exp2(-20.5)) << x;
      ASSERT_LE(std::fabs(float_of(warp.lanes("%r2")[lane]) - std::cos(x)), std::exp2(-20.5)) << x;
    }
  }
  warp.set_all("%r1", bits_of(INFINITY));
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[0], 0x7fffffffU);
  warp.set_all("%r1", 0x80000000);
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[0], 0x80000000U);
  EXPECT_EQ(warp.lanes("%r2")[0], bits_of(1.0F));
}

TEST(FloatFunction, ApproximatesQuotients) {
  const auto run = [](const char* text, float a, float b) {
    OneWarp warp(std::string(text) + " %r0, %r1, %r2;");
    warp.set_all("%r1", bits_of(a));
    warp.set_all("%r2", bits_of(b));
    warp.run();
    return static_cast<std::uint32_t>(warp.lanes("%r0")[0]);
  };
  EXPECT_EQ(run("div.approx.f32", 6, 3), bits_of(2.0F));
  EXPECT_EQ(run("div.approx.f32", 0x1p126F, 0x1p126F), bits_of(1.0F));
  EXPECT_EQ(run("div.approx.f32", 0x1p127F, 0x1p127F), 0U);  // |b| above 2^126: 0
  EXPECT_EQ(run("div.approx.f32", -0x1p127F, 0x1.8p126F), 0x80000000U);
  EXPECT_EQ(run("div.approx.f32", INFINITY, 0x1p127F), 0x7fffffffU);
  EXPECT_EQ(run("div.approx.f32", 1, INFINITY), 0U);
  EXPECT_EQ(run("div.full.f32", 0x1p127F, 0x1p127F), bits_of(1.0F));
  EXPECT_EQ(run("div.full.ftz.f32", 0x1p-140F, 1), 0U);
}

TEST(FloatFunction, ApproximatesSixteenBitTypes) {
  struct Case {
    const char* text;
    const Format* format;
    double (*host)(double);
  };
  const Case cases[] = {{"ex2.approx.f16 %h0, %h1", &numerics::f16, std::exp2},
                        {"tanh.approx.f16 %h0, %h1", &numerics::f16, std::tanh},
                        {"ex2.approx.ftz.bf16 %h0, %h1", &numerics::bf16, std::exp2},
                        {"tanh.approx.bf16 %h0, %h1", &numerics::bf16, std::tanh}};
  for (const Case& one : cases) {
    std::vector<Triple> every;
    for (Bits bits = 0; bits < 0x10000; ++bits) every.push_back({bits, 0, 0});
    const bool flush = std::string(one.text).find("ftz") != std::string::npos;
    check(one.text, every, [&](Bits a, Bits, Bits) -> Bits {
      if (flush) a = numerics::flush_subnormal(*one.format, a);
      const double right = one.host(numerics::to_double(*one.format, a));
      if (std::isnan(right)) return 0x7fff;
      const Bits rounded = numerics::from_double(*one.format, right);
      return flush ? numerics::flush_subnormal(*one.format, rounded) : rounded;
    });
  }
  OneWarp pair("ex2.approx.f16x2 %r0, %r1; tanh.approx.bf16x2 %r2, %r3;");
  pair.set_all("%r1", 0xc0004000);  // -2, 2
  pair.set_all("%r3", 0xff807f80);  // -inf, inf
  pair.run();
  EXPECT_EQ(pair.lanes("%r0")[9], 0x34004400U);
  EXPECT_EQ(pair.lanes("%r2")[9], 0xbf803f80U);
  EXPECT_NE(refusal("ex2.approx.bf16 %h0, %h1;").find("needs .ftz"), std::string::npos);
  EXPECT_NE(refusal("tanh.approx.ftz.f32 %r0, %r1;").find("no .ftz"), std::string::npos);
}

TEST(FloatFunction, ApproximatesF64Grossly) {
  const std::vector<Triple> all = triples(float_corners(numerics::f64), 4096);
  for (const bool root : {false, true}) {
    OneWarp warp(std::string(root ? "rsqrt" : "rcp") + ".approx.ftz.f64 %d0, %d1;");
    for (std::size_t first = 0; first < all.size(); first += warp_size) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) warp.lanes("%d1")[lane] = all[first + lane].a;
      warp.run();
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const Bits bits = all[first + lane].a, found = warp.lanes("%d0")[lane];
        ASSERT_EQ(found & 0xffffffff, 0U);
        const double upper = double_of(numerics::flush_subnormal(numerics::f64, bits & 0xffffffff00000000));
        double right = root ? reciprocal_root(upper) : 1 / upper;
        if (std::fabs(right) < 0x1p-1022) right = std::copysign(0.0, right);
        if (std::isnan(right)) {
          ASSERT_EQ(found, 0x7fffffff00000000U) << std::hex << bits;
        } else if (right == 0 || std::isinf(right)) {
          ASSERT_EQ(double_of(found), right) << std::hex << bits;
        } else {
          ASSERT_LE(std::fabs(double_of(found) / right - 1), 0x1p-20) << std::hex << bits;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
