// The arithmetic that IEEE 754 defines: f32 and f64 in every rounding against the host's (which changes its
// rounding mode here only), 16-bit types against sums and products that are exact in f64. NaNs follow the
// rules of the PTX ISA, since the host's differ.
#include <cfenv>
#include <cmath>

#include "emulator/instructions/float_arithmetic.hpp"
#include "emulator/instructions/operands.hpp"

namespace tenon::emulator::testing {
namespace {

using numerics::bits_of;
using numerics::double_of;
using numerics::Format;
using numerics::Rounding;

float float_of(Bits bits) {
  return numerics::float_of(static_cast<std::uint32_t>(bits));
}

struct Mode {
  const char* modifier;
  int host;
};
const Mode modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// Evaluates an operation of the host with another rounding mode. The compiler neither knows the operands
// (volatile) nor moves the call across the mode changes (an opaque function pointer).
template <class Number>
Number rounded(int mode, Number (*operation)(Number, Number, Number), Number a, Number b, Number c) {
  Number (*volatile hidden)(Number, Number, Number) = operation;
  std::fesetround(mode);
  volatile Number x = a, y = b, z = c;
  volatile Number result = hidden(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class Number>
Number sum(Number a, Number b, Number) {
  return a + b;
}
template <class Number>
Number difference(Number a, Number b, Number) {
  return a - b;
}
template <class Number>
Number product(Number a, Number b, Number) {
  return a * b;
}
template <class Number>
Number fused(Number a, Number b, Number c) {
  return std::fma(a, b, c);
}
template <class Number>
Number quotient(Number a, Number b, Number) {
  return a / b;
}
template <class Number>
Number root(Number a, Number, Number) {
  return std::sqrt(a);
}
template <class Number>
Number reciprocal(Number a, Number, Number) {
  return 1 / a;
}

template <class Number>
struct Operation {
  const char* opcode;
  int sources;
  Number (*host)(Number, Number, Number);
};
template <class Number>
std::vector<Operation<Number>> operations() {
  return {{"add", 2, sum},      {"sub", 2, difference}, {"mul", 2, product},   {"fma", 3, fused},
          {"div", 2, quotient}, {"sqrt", 1, root},      {"rcp", 1, reciprocal}};
}

// Random bits rarely interact: adds operands of nearby exponents, and products near the addend.
std::vector<Triple> inputs(const Format& format, std::size_t random_count) {
  std::vector<Triple> all = triples(float_corners(format), random_count);
  std::mt19937_64 random(5);
  const Bits fraction = (Bits{1} << format.fraction_bits) - 1;
  const auto near = [&](int spread) {
    const auto exponent = static_cast<Bits>(format.bias() + static_cast<int>(random() % spread) - spread / 2);
    return (random() & format.sign_bit()) | exponent << format.fraction_bits | (random() & fraction);
  };
  for (std::size_t i = 0; i < random_count; ++i) all.push_back({near(8), near(8), near(16)});
  const int range = 2 * format.bias() - 4;
  for (std::size_t i = 0; i < random_count; ++i) all.push_back({near(range), near(range), near(range)});
  for (std::size_t i = 0; i < random_count; ++i) {  // results around the smallest normal number
    Bits a = near(range / 2);
    Bits b = ((2 - (a >> format.fraction_bits & ((1U << format.exponent_bits) - 1)) + format.bias()) &
              ((1U << format.exponent_bits) - 2))
             << format.fraction_bits;
    all.push_back({a, b | (random() & fraction), near(4) & (format.sign_bit() | fraction)});
  }
  while (all.size() % warp_size != 0) all.push_back(all.front());
  return all;
}

std::string operands(const char* kind, int sources) {
  std::string text = std::string(" %") + kind + "0";
  for (int i = 1; i <= sources; ++i) text += std::string(", %") + kind + std::to_string(i);
  return text;
}

TEST(Float, RoundsF32AsTheHostInEveryMode) {
  const std::vector<Triple> all = inputs(numerics::f32, 8192);
  for (const auto& operation : operations<float>()) {
    for (const Mode& mode : modes) {
      check(std::string(operation.opcode) + "." + mode.modifier + ".f32" + operands("r", operation.sources),
            all, [&](Bits a, Bits b, Bits c) -> Bits {
              const float result = rounded(mode.host, operation.host, float_of(a), float_of(b), float_of(c));
              return std::isnan(result) ? 0x7fffffff : bits_of(result);
            });
    }
  }
}

Bits flushed(Bits bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits & 0xffffffff;
}

// 2^24 times a result that is about 2^-126, rounded to the bits of a normal number.
float scaled(const std::string& opcode, int mode, float a, float b, float c) {
  const float scale = 0x1p24F;
  if (opcode == "rcp") return rounded(mode, quotient<float>, scale, a, 0.0F);
  if (opcode == "div") return rounded(mode, quotient<float>, scale * a, b, 0.0F);
  if (opcode == "add") return rounded(mode, sum<float>, scale * a, scale * b, 0.0F);
  if (opcode == "sub") return rounded(mode, difference<float>, scale * a, scale * b, 0.0F);
  if (std::fabs(a) > std::fabs(b)) std::swap(a, b);  // the smaller one has room above it
  if (opcode == "mul") return rounded(mode, product<float>, scale * a, b, 0.0F);
  return rounded(mode, fused<float>, scale * a, b, scale * c);
}

// A result that is rounded up to the smallest normal number is flushed if 24 bits would have held less
// (measured on an H200).
TEST(Float, FlushesSubnormalF32OnTheWayInAndOut) {
  const std::vector<Triple> all = inputs(numerics::f32, 4096);
  for (const auto& operation : operations<float>()) {
    for (const Mode& mode : modes) {
      check(
          std::string(operation.opcode) + "." + mode.modifier + ".ftz.f32" + operands("r", operation.sources),
          all, [&](Bits a, Bits b, Bits c) -> Bits {
            const float result = rounded(mode.host, operation.host, float_of(flushed(a)),
                                         float_of(flushed(b)), float_of(flushed(c)));
            if (std::isnan(result)) return 0x7fffffff;
            if (std::fabs(result) == 0x1p-126F) {
              const float large = scaled(operation.opcode, mode.host, float_of(flushed(a)),
                                         float_of(flushed(b)), float_of(flushed(c)));
              if (std::fabs(large) < 0x1p-102F) return bits_of(std::copysign(0.0F, result));
            }
            return flushed(bits_of(result));
          });
    }
  }
}

// The NaN operand that is propagated, made quiet: b's before c's before a's, but a dividend's first (measured
// on an H200); otherwise the NaN of operations on numbers.
Bits nan_of(const std::string& opcode, int sources, Bits a, Bits b, Bits c) {
  std::vector<Bits> order;
  if (sources == 1) order = {a};
  if (sources == 2) order = {b, a};
  if (sources == 3) order = {b, c, a};
  if (opcode == "div") order = {a, b};
  for (const Bits operand : order) {
    if (std::isnan(double_of(operand))) return operand | 0x0008000000000000;
  }
  return 0xfff8000000000000;
}

TEST(Float, RoundsF64AsTheHostInEveryMode) {
  const std::vector<Triple> all = inputs(numerics::f64, 8192);
  for (const auto& operation : operations<double>()) {
    for (const Mode& mode : modes) {
      check(std::string(operation.opcode) + "." + mode.modifier + ".f64" + operands("d", operation.sources),
            all, [&](Bits a, Bits b, Bits c) -> Bits {
              const double result =
                  rounded(mode.host, operation.host, double_of(a), double_of(b), double_of(c));
              return std::isnan(result) ? nan_of(operation.opcode, operation.sources, a, b, c)
                                        : bits_of(result);
            });
    }
  }
}

// The fast paths of f32 and f64 bypass the exact engine: tests the engine against the host directly.
TEST(Float, ExactArithmeticRoundsToNearestAsTheHost) {
  const Rounding nearest = Rounding::nearest_even;
  for (const Triple& input : inputs(numerics::f64, 16384)) {
    const double a = double_of(input.a), b = double_of(input.b), c = double_of(input.c);
    const auto expect = [](Bits found, double right) {
      if (!std::isnan(right)) {
        ASSERT_EQ(found, bits_of(right));
      }
    };
    expect(arithmetic::add(numerics::f64, input.a, input.b, nearest), a + b);
    expect(arithmetic::subtract(numerics::f64, input.a, input.b, nearest), a - b);
    expect(arithmetic::multiply(numerics::f64, input.a, input.b, nearest), a * b);
    expect(arithmetic::fused_multiply_add(numerics::f64, input.a, input.b, input.c, nearest),
           std::fma(a, b, c));
    expect(arithmetic::divide(numerics::f64, input.a, input.b, nearest), a / b);
  }
  for (const Triple& input : inputs(numerics::f32, 16384)) {
    const float a = float_of(input.a), b = float_of(input.b), c = float_of(input.c);
    const Bits x = input.a & 0xffffffff, y = input.b & 0xffffffff, z = input.c & 0xffffffff;
    const auto expect = [](Bits found, float right) {
      if (!std::isnan(right)) {
        ASSERT_EQ(found, bits_of(right));
      }
    };
    expect(arithmetic::add(numerics::f32, x, y, nearest), a + b);
    expect(arithmetic::multiply(numerics::f32, x, y, nearest), a * b);
    expect(arithmetic::fused_multiply_add(numerics::f32, x, y, z, nearest), std::fma(a, b, c));
    expect(arithmetic::divide(numerics::f32, x, y, nearest), a / b);
    expect(arithmetic::square_root(numerics::f32, x, nearest), std::sqrt(a));
  }
}

// --- 16-bit types

// Rounding x to odd in f64 keeps every later rounding to fewer than 52 bits correct.
double sum_to_odd(double x, double y) {
  const double sum = x + y, part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  if (error == 0 || !std::isfinite(sum) || (bits_of(sum) & 1) != 0) return sum;
  return std::nextafter(sum, (error > 0) == (sum > 0) ? sum * 2 : 0.0);
}

struct Half {
  const char* type;
  const char* kind;
  const Format* format;
  bool packed;
};
const Half halves[] = {{"f16", "h", &numerics::f16, false},
                       {"f16x2", "r", &numerics::f16, true},
                       {"bf16", "h", &numerics::bf16, false},
                       {"bf16x2", "r", &numerics::bf16, true}};

// 16-bit triples; for packed types two of them side by side.
std::vector<Triple> half_inputs(const Half& half, std::size_t random_count) {
  std::vector<Triple> all = inputs(*half.format, random_count);
  if (!half.packed) return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Triple& other = all[(i * 7 + 13) % all.size()];
    all[i] = {(all[i].a & 0xffff) | (other.b & 0xffff) << 16, (all[i].b & 0xffff) | (other.c & 0xffff) << 16,
              (all[i].c & 0xffff) | (other.a & 0xffff) << 16};
  }
  return all;
}

using OnNumbers = std::function<double(double, double, double)>;
using AfterRounding = std::function<Bits(Bits)>;

// Applies a computation in f64, exact or rounded to odd, to each element.
Bits on_elements(const Half& half, const OnNumbers& compute, const AfterRounding& after, Bits a, Bits b,
                 Bits c) {
  Bits result = 0;
  for (int element = 0; element < (half.packed ? 2 : 1); ++element) {
    const auto number = [&](Bits bits) {
      return numerics::to_double(*half.format, bits >> (16 * element) & 0xffff);
    };
    const double exact = compute(number(a), number(b), number(c));
    Bits rounded = std::isnan(exact) ? 0x7fff : numerics::from_double(*half.format, exact);
    if (after) rounded = after(rounded);
    result |= rounded << (16 * element);
  }
  return result;
}

TEST(Float, RoundsSixteenBitTypesOnce) {
  for (const Half& half : halves) {
    const std::vector<Triple> all = half_inputs(half, 4096);
    const std::string type = half.type;
    const auto run = [&](const std::string& opcode, int sources, const OnNumbers& compute,
                         const AfterRounding& after = {}) {
      check(opcode + "." + type + operands(half.kind, sources), all,
            [&](Bits a, Bits b, Bits c) { return on_elements(half, compute, after, a, b, c); });
    };
    const OnNumbers fma = [](double x, double y, double z) { return sum_to_odd(x * y, z); };
    run("add", 2, [](double x, double y, double) { return sum_to_odd(x, y); });
    run("add.rn", 2, [](double x, double y, double) { return sum_to_odd(x, y); });
    run("sub", 2, [](double x, double y, double) { return sum_to_odd(x, -y); });
    run("mul", 2, [](double x, double y, double) { return x * y; });
    run("fma.rn", 3, fma);
    run("fma.rn.relu", 3, fma, [](Bits bits) { return bits == 0x7fff || bits < 0x8000 ? bits : 0; });
    if (half.format->exponent_bits != 5) continue;
    const auto saturated = [](Bits bits) -> Bits {
      return bits >= 0x7c01 ? 0 : bits > 0x3c00 ? 0x3c00 : bits;
    };
    run("fma.rn.sat", 3, fma, saturated);
    run(
        "add.sat", 2, [](double x, double y, double) { return sum_to_odd(x, y); }, saturated);
    const auto flush = [](double x) { return std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x; };
    // A result whose first 11 bits, rounded, are less than 2^-14: a tie is not, as 2^-14 is the even one.
    const auto flush_result = [](double x) {
      return std::fabs(x) < 0x1p-14 - 0x1p-26 ? std::copysign(0.0, x) : x;
    };
    run("mul.ftz", 2, [&](double x, double y, double) { return flush_result(flush(x) * flush(y)); });
    run("fma.rn.ftz", 3, [&](double x, double y, double z) {
      return flush_result(sum_to_odd(flush(x) * flush(y), flush(z)));
    });
  }
}

// Sums so close to the middle of two neighbours that f32 cannot tell the difference, where a second rounding
// shows: 1 + m/1024 plus (1 + i/1024) (1 - i/1024) / 2048, whose distance from the middle is (i/1024)^2 /
// 2048.
TEST(Float, RoundsSixteenBitSumsNearTheMiddleOnce) {
  std::vector<Triple> close;
  const auto f16 = [](double value) { return numerics::from_double(numerics::f16, value); };
  for (int m = 0; m < 64; ++m) {
    for (int i = -48; i <= 48; ++i) {
      const double a = 1 + i / 1024.0, b = 1 - i / 1024.0, c = 1 + m / 1024.0;
      for (const double sign : {1.0, -1.0}) close.push_back({f16(a), f16(sign * b / 2048), f16(sign * c)});
    }
  }
  while (close.size() % warp_size != 0) close.push_back(close.front());
  check("fma.rn.f16 %h0, %h1, %h2, %h3", close, [](Bits a, Bits b, Bits c) {
    const auto number = [](Bits bits) { return numerics::to_double(numerics::f16, bits); };
    return numerics::from_double(numerics::f16, number(a) * number(b) + number(c));  // exact: 31 bits
  });
}

// 0x7ff7 is the NaN that stands for an element outside a tensor; any other NaN is propagated.
TEST(Float, MakesZeroOfProductsOutsideATensor) {
  OneWarp warp("fma.rn.oob.bf16x2 %r0, %r1, %r2, %r3; fma.rn.oob.relu.f16 %h0, %h1, %h2, %h3;");
  warp.set_all("%r1", 0x7ff73f80);
  warp.set_all("%r2", 0x3f803f80);
  warp.set_all("%r3", 0x3f803f80);
  warp.set_all("%h1", 0x7ff6);
  warp.set_all("%h2", 0x3c00);
  warp.run();
  EXPECT_EQ(warp.lanes("%r0")[0], 0x00004000U);
  EXPECT_EQ(warp.lanes("%h0")[0], 0x7fffU);
  for (const Bits outside : {0x7ff7, 0xfff7}) {  // of either sign: measured on an H200
    warp.set_all("%h2", outside);
    warp.run();
    EXPECT_EQ(warp.lanes("%h0")[0], 0U) << std::hex << outside;
  }
}

// Answers of an H200 where a result just below the smallest normal number is rounded up to it: it is flushed
// if it has no more bits than a number of the format, else only if it would be rounded to less.
TEST(Float, FlushesWhatOnlyRoundsUpToNormalAsAnH200) {
  struct Answer {
    const char *text, *kind;
    Bits a, b, c, is;
  };
  const Answer answers[] = {{"mul.rn.ftz.f32", "r", 0x00800000, 0x3f7fffff, 0, 0x00000000},
                            {"mul.rn.ftz.f32", "r", 0x00800000, 0xbf7fffff, 0, 0x80000000},
                            {"mul.rm.ftz.f32", "r", 0x00800000, 0xbf7fffff, 0, 0x80000000},
                            {"mul.rp.ftz.f32", "r", 0x80800000, 0xbf7fffff, 0, 0x00000000},
                            {"div.rm.ftz.f32", "r", 0x01000000, 0xc0000001, 0, 0x80000000},
                            {"div.rp.ftz.f32", "r", 0x00800000, 0x3f800001, 0, 0x00000000},
                            {"fma.rp.ftz.sat.f32", "r", 0x80800000, 0xbf7fffff, 0x807fffff, 0x00000000},
                            {"mul.rn.ftz.f16", "h", 0x0400, 0xbbff, 0, 0x8000},
                            {"mul.rn.ftz.sat.f16", "h", 0x0400, 0x3bff, 0, 0x0000},
                            {"fma.rn.ftz.relu.f16", "h", 0x0400, 0x3bff, 0x8000, 0x0000},
                            {"fma.rn.ftz.relu.f16", "h", 0x8400, 0x0401, 0x0400, 0x0400},
                            {"mul.rn.ftz.f16x2", "r", 0xc2fc0400, 0xb3463bff, 0, 0x3a5a0000},
                            {"fma.rn.ftz.f16x2", "r", 0x5928bbff, 0x22408400, 0x09360000, 0x40070000},
                            {"fma.rn.ftz.f16x2", "r", 0xcde40800, 0x2cbc0400, 0x31af8400, 0xbe438400}};
  for (const Answer& answer : answers) {
    const std::string opcode = answer.text, kind = std::string("%") + answer.kind;
    OneWarp warp(opcode + operands(answer.kind, opcode[0] == 'f' ? 3 : 2) + ";");
    warp.set_all(kind + "1", answer.a);
    warp.set_all(kind + "2", answer.b);
    warp.set_all(kind + "3", answer.c);
    warp.run();
    EXPECT_EQ(warp.lanes(kind + "0")[0], answer.is) << answer.text << std::hex << " of " << answer.a;
  }
}

// Which NaN is propagated, in the answers of an H200.
TEST(Float, PropagatesTheNanOfF64AsAnH200) {
  const auto run = [](const char* text, Bits a, Bits b, Bits c = 0) {
    OneWarp warp(text);
    warp.set_all("%d1", a);
    warp.set_all("%d2", b);
    warp.set_all("%d3", c);
    warp.run();
    return warp.lanes("%d0")[0];
  };
  const Bits nan = 0x7ff0000000000001;
  for (const char* text :
       {"add.rn.f64 %d0, %d1, %d2;", "sub.rz.f64 %d0, %d1, %d2;", "mul.rm.f64 %d0, %d1, %d2;"}) {
    EXPECT_EQ(run(text, nan, 0x7ff8000000000000), 0x7ff8000000000000U) << text;
    EXPECT_EQ(run(text, nan, 0x7fffffffffffffff), 0x7fffffffffffffffU) << text;
    EXPECT_EQ(run(text, nan, 0xfff0000000000001), 0xfff8000000000001U) << text;
  }
  EXPECT_EQ(run("fma.rn.f64 %d0, %d1, %d2, %d3;", nan, 0, 0xffffffffffffffff), 0xffffffffffffffffU);
  EXPECT_EQ(run("fma.rm.f64 %d0, %d1, %d2, %d3;", nan, 0x7fffffffffffffff, 0xbff0000000000000),
            0x7fffffffffffffffU);
  EXPECT_EQ(run("fma.rp.f64 %d0, %d1, %d2, %d3;", nan, 0x7ff8000000000000, 0x8000000000000),
            0x7ff8000000000000U);
  EXPECT_EQ(run("abs.f64 %d0, %d1;", 0xfff0000000000001, 0), 0xfff8000000000001U);
  EXPECT_EQ(run("neg.f64 %d0, %d1;", nan, 0), 0x7ff8000000000001U);
  EXPECT_EQ(run("rcp.approx.ftz.f64 %d0, %d1;", nan, 0), 0U);
  EXPECT_EQ(run("rsqrt.approx.ftz.f64 %d0, %d1;", nan, 0), 0U);
}

TEST(Float, SaturatesToTheUnitInterval) {
  const std::vector<Triple> all = inputs(numerics::f32, 4096);
  for (const char* opcode : {"add", "mul"}) {
    check(std::string(opcode) + ".sat.f32 %r0, %r1, %r2", all, [&](Bits a, Bits b, Bits) -> Bits {
      const float result = opcode[0] == 'a' ? float_of(a) + float_of(b) : float_of(a) * float_of(b);
      return !(result > 0) ? 0 : result > 1 ? 0x3f800000 : bits_of(result);
    });
  }
  check("fma.rn.sat.f32 %r0, %r1, %r2, %r3", all, [&](Bits a, Bits b, Bits c) -> Bits {
    const float result = std::fma(float_of(a), float_of(b), float_of(c));
    return !(result > 0) ? 0 : result > 1 ? 0x3f800000 : bits_of(result);
  });
}

TEST(Float, PairsF32InSixtyFourBits) {
  EXPECT_NE(refusal("add.f32x2 %d0, %d1, %d2;").find("needs sm_100 or later"), std::string::npos);
  OneWarp warp("add.rn.f32x2 %d0, %d1, %d2; mul.rn.ftz.f32x2 %d3, %d1, %d2; fma.rz.f32x2 %d4, %d1, %d2, %d1;",
               "sm_100a");
  const auto pair = [](float low, float high) { return Bits{bits_of(high)} << 32 | bits_of(low); };
  warp.set_all("%d1", pair(1.5F, -0x1p-100F));
  warp.set_all("%d2", pair(0x1p-30F, 0x1p-40F));
  warp.run();
  EXPECT_EQ(warp.lanes("%d0")[31], pair(1.5F, 0x1p-40F));
  EXPECT_EQ(warp.lanes("%d3")[31], pair(1.5F * 0x1p-30F, -0.0F));
  EXPECT_EQ(warp.lanes("%d4")[31], pair(1.5F, -0x1p-100F));
}

TEST(Float, RefusesWhatPtxDoesNotHave) {
  EXPECT_NE(refusal("fma.f32 %r0, %r1, %r2, %r3;").find("a rounding is needed"), std::string::npos);
  EXPECT_NE(refusal("add.rz.f16 %h0, %h1, %h2;").find("rounds by .rn only"), std::string::npos);
  EXPECT_NE(refusal("add.ftz.f64 %d0, %d1, %d2;").find("neither .ftz nor .sat"), std::string::npos);
  EXPECT_NE(refusal("fma.rn.oob.f32 %r0, %r1, %r2, %r3;").find(".oob needs a 16-bit type"),
            std::string::npos);
  EXPECT_NE(refusal("fma.rn.oob.f16 %h0, %h1, %h2, %h3;", "sm_80").find("sm_90"), std::string::npos);
  EXPECT_NE(refusal("fma.rn.relu.f32 %r0, %r1, %r2, %r3;").find(".relu"), std::string::npos);
  EXPECT_NE(refusal("add.f32 %r0, %r1, -%r2;").find("negated"), std::string::npos);
  EXPECT_NE(refusal("div.f32 %r0, %r1, %r2;").find(".approx, .full, .rn"), std::string::npos);
  EXPECT_NE(refusal("sqrt.f32 %r0, %r1;").find("either .approx or"), std::string::npos);
}

}  // namespace
}  // namespace tenon::emulator::testing
