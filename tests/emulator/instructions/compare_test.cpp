// setp and set with every comparison, type and combination, against C++'s comparisons.
#include <cmath>

#include "emulator/instructions/operands.hpp"

namespace tenon::emulator::testing {
namespace {

using numerics::Format;

// The outcome of a comparison of two numbers of any C++ type, after PTX ISA 9.3.1.
template <class Number>
bool compares(const std::string& comparison, Number x, Number y) {
  const bool unordered = x != x || y != y;
  if (comparison == "num") return !unordered;
  if (comparison == "nan") return unordered;
  std::string ordered = comparison;
  if (comparison.size() == 3 && comparison[2] == 'u') {
    if (unordered) return true;
    ordered.pop_back();
  }
  if (ordered == "eq") return x == y;
  if (ordered == "ne") return !unordered && x != y;
  if (ordered == "lt" || ordered == "lo") return x < y;
  if (ordered == "le" || ordered == "ls") return x <= y;
  if (ordered == "gt" || ordered == "hi") return x > y;
  return x >= y;  // ge, hs
}

bool combines(const std::string& combination, bool t, bool c) {
  return combination == "and" ? t && c : combination == "or" ? t || c : combination == "xor" ? t != c : t;
}

struct Kind {
  std::string type, registers;
  std::vector<std::string> comparisons;
  std::vector<Triple> inputs;
  std::function<bool(const std::string&, Bits, Bits)> holds;
};

template <class T>
bool of_integers(const std::string& comparison, Bits a, Bits b) {
  return compares(comparison, static_cast<T>(a), static_cast<T>(b));
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    const std::vector<std::string> bits = {"eq", "ne"}, of_signed = {"eq", "ne", "lt", "le", "gt", "ge"};
    std::vector<std::string> of_unsigned = of_signed, floating = of_signed;
    for (const char* more : {"lo", "ls", "hi", "hs"}) of_unsigned.emplace_back(more);
    for (const char* more : {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
      floating.emplace_back(more);
    const std::vector<Triple> integers = triples(integer_corners(), 512);
    const auto reals = [](const Format& format) { return triples(float_corners(format), 512); };
    const auto by = [](const Format& format) {
      return [&format](const std::string& comparison, Bits a, Bits b) {
        const Bits mask = format.bits() == 64 ? ~Bits{0} : (Bits{1} << format.bits()) - 1;
        return compares(comparison, numerics::to_double(format, a & mask),
                        numerics::to_double(format, b & mask));
      };
    };
    return std::vector<Kind>{{"b16", "h", bits, integers, of_integers<std::uint16_t>},
                             {"b32", "r", bits, integers, of_integers<std::uint32_t>},
                             {"b64", "d", bits, integers, of_integers<std::uint64_t>},
                             {"u16", "h", of_unsigned, integers, of_integers<std::uint16_t>},
                             {"u32", "r", of_unsigned, integers, of_integers<std::uint32_t>},
                             {"u64", "d", of_unsigned, integers, of_integers<std::uint64_t>},
                             {"s16", "h", of_signed, integers, of_integers<std::int16_t>},
                             {"s32", "r", of_signed, integers, of_integers<std::int32_t>},
                             {"s64", "d", of_signed, integers, of_integers<std::int64_t>},
                             {"f16", "h", floating, reals(numerics::f16), by(numerics::f16)},
                             {"bf16", "h", floating, reals(numerics::bf16), by(numerics::bf16)},
                             {"f32", "r", floating, reals(numerics::f32), by(numerics::f32)},
                             {"f64", "d", floating, reals(numerics::f64), by(numerics::f64)}};
  }();
  return all;
}

std::string sources(const Kind& kind) {
  return ", %" + kind.registers + "1, %" + kind.registers + "2";
}

TEST(Compare, WritesAPredicate) {
  for (const Kind& kind : kinds()) {
    for (const std::string& comparison : kind.comparisons) {
      check("setp." + comparison + "." + kind.type + " %p0" + sources(kind), kind.inputs,
            [&](Bits a, Bits b, Bits) { return kind.holds(comparison, a, b) ? 1 : 0; });
    }
  }
}

TEST(Compare, CombinesAndWritesTheComplementToo) {
  for (const Kind& kind : kinds()) {
    for (const std::string combination : {"", "and", "or", "xor"}) {
      for (const bool negated : {false, true}) {
        const std::string comparison = kind.comparisons.back();
        const std::string modifiers =
            "setp." + comparison + (combination.empty() ? "" : "." + combination) + "." + kind.type;
        const std::string tail = sources(kind) + (combination.empty() ? "" : negated ? ", !%p3" : ", %p3");
        const auto expected = [&](Bits a, Bits b, Bits c, bool complement) -> Bits {
          const bool t = kind.holds(comparison, a, b) != complement;
          return combines(combination, t, ((c & 1) != 0) != negated) ? 1 : 0;
        };
        if (kind.type == "f16" || kind.type == "bf16") {  // which have no second predicate
          check(modifiers + " %p0" + tail, kind.inputs,
                [&](Bits a, Bits b, Bits c) { return expected(a, b, c, false); });
          continue;
        }
        check(modifiers + " %p0|%p5" + tail, kind.inputs,
              [&](Bits a, Bits b, Bits c) { return expected(a, b, c, false); });
        // The same for the second predicate: p is a sink.
        OneWarp warp(modifiers + " _|%p0" + tail + ";");
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
          const Triple& input = kind.inputs[lane * 11];
          for (const char letter : {'h', 'r', 'd', 'p'}) {
            warp.lanes(std::string("%") + letter + "1")[lane] = truncated(input.a, letter);
            warp.lanes(std::string("%") + letter + "2")[lane] = truncated(input.b, letter);
            warp.lanes(std::string("%") + letter + "3")[lane] = truncated(input.c, letter);
          }
        }
        warp.run();
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
          const Triple& input = kind.inputs[lane * 11];
          EXPECT_EQ(warp.lanes("%p0")[lane], expected(input.a, input.b, input.c, true)) << modifiers;
        }
      }
    }
  }
}

TEST(Compare, FlushesSubnormals) {
  OneWarp warp(
      "setp.eq.ftz.f32 %p0, %r1, %r2; setp.eq.f32 %p1, %r1, %r2; setp.eq.ftz.f16 %p2, %h1, %h2;"
      "set.gt.ftz.u32.f32 %r3, %r1, %r2;");
  warp.set_all("%r1", 0x00000001);
  warp.set_all("%r2", 0x80000000);
  warp.set_all("%h1", 0x03ff);
  warp.run();
  EXPECT_EQ(warp.lanes("%p0")[0], 1U);
  EXPECT_EQ(warp.lanes("%p1")[0], 0U);
  EXPECT_EQ(warp.lanes("%p2")[0], 1U);
  EXPECT_EQ(warp.lanes("%r3")[0], 0U);
}

TEST(Compare, ComparesPairs) {
  // low: 1 < 2; high: 2 < NaN is false.
  OneWarp warp(
      "setp.lt.f16x2 %p0|%p1, %r1, %r2; setp.ltu.and.f16x2 %p2|%p3, %r1, %r2, !%p7;"
      "set.lt.u32.f16x2 %r3, %r1, %r2; set.lt.f16x2.f16x2 %r4, %r1, %r2;"
      "set.nan.bf16x2.bf16x2 %r5, %r1, %r6;");
  warp.set_all("%r1", 0x40003c00);
  warp.set_all("%r2", 0x7fff4000);
  warp.set_all("%r6", 0x40007fff);
  warp.run();
  EXPECT_EQ(warp.lanes("%p0")[0], 1U);
  EXPECT_EQ(warp.lanes("%p1")[0], 0U);
  EXPECT_EQ(warp.lanes("%p2")[0], 1U);
  EXPECT_EQ(warp.lanes("%p3")[0], 1U);
  EXPECT_EQ(warp.lanes("%r3")[0], 0x0000ffffU);
  EXPECT_EQ(warp.lanes("%r4")[0], 0x00003c00U);
  EXPECT_EQ(warp.lanes("%r5")[0], 0x00003f80U);
}

TEST(Compare, WritesAWord) {
  for (const Kind& kind : kinds()) {
    const bool half = kind.type == "f16" || kind.type == "bf16";
    struct Result {
      const char *type, *registers;
      Bits bits;
    };
    std::vector<Result> results = {{"u32", "r", 0xffffffff}, {"s32", "r", 0xffffffff}, {"bf16", "h", 0x3f80}};
    if (!half) results.push_back({"f32", "r", 0x3f800000});
    if (kind.type != "bf16") results.push_back({"f16", "h", 0x3c00});
    if (half) results.push_back({"u16", "h", 0xffff});
    for (const Result& result : results) {
      const std::string comparison = kind.comparisons.back();
      check("set." + comparison + "." + result.type + "." + kind.type + " %" + result.registers + "0" +
                sources(kind),
            kind.inputs,
            [&](Bits a, Bits b, Bits) { return kind.holds(comparison, a, b) ? result.bits : 0; });
      check("set." + comparison + ".xor." + result.type + "." + kind.type + " %" + result.registers + "0" +
                sources(kind) + ", %p3",
            kind.inputs, [&](Bits a, Bits b, Bits c) {
              return kind.holds(comparison, a, b) != ((c & 1) != 0) ? result.bits : 0;
            });
    }
  }
}

TEST(Compare, RefusesWhatDoesNotGoTogether) {
  const auto refuses = [](const std::string& text, const std::string& sentence) {
    EXPECT_NE(refusal(text + ";").find(sentence), std::string::npos) << text << ": " << refusal(text + ";");
  };
  refuses("setp.lt.b32 %p0, %r1, %r2", "the comparison .lt does not go with .b32");
  refuses("setp.lo.s32 %p0, %r1, %r2", "the comparison .lo does not go with .s32");
  refuses("setp.equ.u32 %p0, %r1, %r2", "the comparison .equ does not go with .u32");
  refuses("setp.hi.f32 %p0, %r1, %r2", "the comparison .hi does not go with .f32");
  refuses("setp.eq.ftz.f64 %p0, %d1, %d2", ".f64 has no .ftz");
  refuses("setp.u32 %p0, %r1, %r2", "a comparison is needed");
  refuses("setp.eq.and.u32 %p0, %r1, %r2", "3 operands are given where 4 are needed");
  refuses("set.eq.u16.u32 %h0, %r1, %r2", "has no result of type .u16");
  refuses("setp.eq.u32 %r0, %r1, %r2", "(.pred) is needed");
  refuses("setp.eq.f16 %p0|%p1, %h1, %h2", "writes one predicate only");
  refuses("set.eq.f32.f16 %r0, %h1, %h2", "has no result of type .f32");
}

}  // namespace
}  // namespace tenon::emulator::testing
