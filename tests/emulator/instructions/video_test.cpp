// The video instructions with selected parts: values worked out by hand, and every combination of parts and
// types against the formulas of the PTX ISA.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <random>
#include <string>

#include "emulator/instructions/one_warp.hpp"

namespace tenon::emulator::testing {
namespace {

// d of `instruction`, where a is %r1, b is %r2 and c is %r3.
std::uint32_t result(const std::string& instruction, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  OneWarp warp(instruction);
  warp.set_all("%r1", a);
  warp.set_all("%r2", b);
  warp.set_all("%r3", c);
  EXPECT_EQ(warp.run(), Flow::next);
  for (int lane = 1; lane < warp_size; ++lane) EXPECT_EQ(warp.lanes("%r0")[lane], warp.lanes("%r0")[0]);
  return static_cast<std::uint32_t>(warp.lanes("%r0")[0]);
}

TEST(Video, SelectsAndExtendsParts) {
  EXPECT_EQ(result("vadd.s32.u32.s32 %r0, %r1.b1, %r2.h1;", 0x0000f000, 0xfffe0000), 0xf0U - 2);
  EXPECT_EQ(result("vadd.s32.s32.u32 %r0, %r1.b3, %r2.h0;", 0x80000000, 0x0001ffff), 0xffffU - 128);
  EXPECT_EQ(result("vsub.u32.u32.u32 %r0, %r1, %r2.b0;", 5, 0xff07), 0xfffffffeU);
  EXPECT_EQ(result("vadd.u32.u32.u32 %r0, %r1, %r2;", 0xffffffff, 3), 2U) << "wraps";
}

TEST(Video, ComparesAsTheTypesSay) {
  EXPECT_EQ(result("vmin.s32.u32.s32 %r0, %r1, %r2;", 1, 0xffffffff), 0xffffffffU);
  EXPECT_EQ(result("vmax.u32.u32.s32 %r0, %r1, %r2;", 1, 0xffffffff), 1U);
  EXPECT_EQ(result("vmax.u32.u32.u32 %r0, %r1, %r2;", 1, 0xffffffff), 0xffffffffU);
  EXPECT_EQ(result("vabsdiff.u32.s32.u32 %r0, %r1, %r2;", 0xffffffff, 7), 8U);
  EXPECT_EQ(result("vset.u32.s32.gt %r0, %r1, %r2;", 1, 0xffffffff), 1U);
  EXPECT_EQ(result("vset.u32.u32.gt %r0, %r1, %r2;", 1, 0xffffffff), 0U);
  EXPECT_EQ(result("vset.u32.u32.le.add %r0, %r1, %r2, %r3;", 1, 1, 41), 42U);
}

TEST(Video, Saturates) {
  EXPECT_EQ(result("vadd.s32.s32.s32.sat %r0, %r1, %r2;", 0x7fffffff, 1), 0x7fffffffU);
  EXPECT_EQ(result("vsub.s32.s32.s32.sat %r0, %r1, %r2;", 0x80000000, 1), 0x80000000U);
  EXPECT_EQ(result("vadd.s32.u32.u32.sat %r0, %r1, %r2;", 0xffffffff, 0xffffffff), 0x7fffffffU);
  EXPECT_EQ(result("vsub.u32.u32.u32.sat %r0, %r1.b0, %r2.b0;", 3, 5), 0U);
  EXPECT_EQ(result("vadd.u32.u32.u32.sat %r0.b2, %r1.b0, %r2.b0, %r3;", 200, 100, 0x11223344), 0x11ff3344U);
  EXPECT_EQ(result("vadd.s32.u32.u32.sat %r0.h0, %r1, %r2, %r3;", 0x7000, 0x7000, 0x11223344), 0x11227fffU);
}

TEST(Video, MergesThePartAndKeepsTheRest) {
  EXPECT_EQ(result("vadd.u32.u32.u32 %r0.b0, %r1, %r2, %r3;", 0x1fe, 3, 0x11223344), 0x11223301U);
  EXPECT_EQ(result("vadd.u32.u32.u32 %r0.b3, %r1, %r2, %r3;", 0x1fe, 3, 0x11223344), 0x01223344U);
  EXPECT_EQ(result("vset.s32.s32.eq %r0.h0, %r1, %r2, %r3;", 4, 4, 0x11223344), 0x11220001U);
}

TEST(Video, AppliesTheSecondOperation) {
  EXPECT_EQ(result("vmin.s32.s32.s32.add %r0, %r1, %r2, %r3;", 0xfffffff0, 4, 20), 4U);
  EXPECT_EQ(result("vadd.s32.s32.s32.sat.min %r0, %r1, %r2, %r3;", 0x7fffffff, 9, 0xffffffff), 0xffffffffU);
  EXPECT_EQ(result("vadd.u32.u32.u32.max %r0, %r1.h0, %r2.h1, %r3;", 7, 0x00080000, 0x80000000), 0x80000000U);
}

TEST(Video, Shifts) {
  EXPECT_EQ(result("vshl.u32.u32.u32.clamp %r0, %r1, %r2;", 3, 31), 0x80000000U);
  EXPECT_EQ(result("vshl.u32.u32.u32.clamp %r0, %r1, %r2;", 3, 40), 0U);
  EXPECT_EQ(result("vshl.u32.u32.u32.wrap %r0, %r1, %r2;", 3, 40), 0x300U);
  EXPECT_EQ(result("vshr.s32.s32.u32.clamp %r0, %r1, %r2;", 0x80000000, 0xffffffff), 0xffffffffU);
  EXPECT_EQ(result("vshr.u32.u32.u32.clamp %r0, %r1, %r2;", 0x80000000, 32), 0U);
  EXPECT_EQ(result("vshr.u32.u32.u32.wrap %r0, %r1.h1, %r2.b1;", 0x80000000, 0x2100), 0x4000U);
}

TEST(Video, MultipliesAndAdds) {
  EXPECT_EQ(result("vmad.u32.u32.u32 %r0, %r1, %r2, %r3;", 0x10001, 0x10001, 5), 0x20006U);
  EXPECT_EQ(result("vmad.s32.s32.u32 %r0, %r1.b0, %r2.h0, %r3;", 0xff, 1000, 1), 0U - 999);
  EXPECT_EQ(result("vmad.s32.s32.s32 %r0, -%r1, %r2, %r3;", 7, 6, 2), 0U - 40);
  EXPECT_EQ(result("vmad.s32.s32.s32 %r0, -%r1, -%r2, %r3;", 7, 6, 2), 44U);
  EXPECT_EQ(result("vmad.s32.s32.s32 %r0, %r1.b0, %r2.b0, -%r3;", 7, 6, 2), 40U);
  EXPECT_EQ(result("vmad.u32.u32.u32.po %r0, %r1, %r2, %r3;", 7, 6, 2), 45U);
  EXPECT_EQ(result("vmad.s32.s32.s32.sat %r0, %r1, %r2, %r3;", 0x40000000, 4, 0), 0x7fffffffU);
  EXPECT_EQ(result("vmad.s32.s32.s32.sat %r0, -%r1, %r2, %r3;", 0x40000000, 4, 0), 0x80000000U);
  EXPECT_EQ(result("vmad.s32.s32.s32.shr7 %r0, %r1, %r2, %r3;", 0xffffffff, 0x4000, 0x100), 0U - 126);
  EXPECT_EQ(result("vmad.s32.s32.u32.po.sat.shr15 %r0, %r1, %r2.h1, %r3;", 0x7fffffff, 0xffff0000, 9),
            0x7fffffffU);
}

// Every operation without saturation, with all types, parts and additions, modulo 2^32.
TEST(Video, FollowsTheFormula) {
  struct Selector {
    const char* text;
    int shift, width;
  };
  const Selector selectors[] = {{"", 0, 32},   {".h0", 0, 16}, {".h1", 16, 16}, {".b0", 0, 8},
                                {".b1", 8, 8}, {".b2", 16, 8}, {".b3", 24, 8}};
  const Selector destinations[] = {{"", 0, 32}, {".h0", 0, 16}, {".b0", 0, 8}, {".b1", 8, 8}, {".b3", 24, 8}};
  const auto extended = [](std::uint32_t bits, const Selector& part, bool is_signed) {
    const std::uint32_t low = bits >> part.shift & (part.width == 32 ? ~0U : (1U << part.width) - 1);
    std::int64_t value = low;
    if (is_signed && (low >> (part.width - 1) & 1) != 0) value -= std::int64_t{1} << part.width;
    return value;
  };
  std::mt19937 random(1);
  const auto bits = [&] {
    const std::uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fff8000, 0x80ff7f00};
    return random() % 4 == 0 ? edges[random() % std::size(edges)] : static_cast<std::uint32_t>(random());
  };
  for (const char* name : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (int types = 0; types < 8; ++types)
      for (const Selector& a_part : selectors)
        for (const Selector& b_part : selectors) {
          const bool a_is_signed = (types & 1) != 0, b_is_signed = (types & 2) != 0;
          const Selector& d_part = destinations[random() % std::size(destinations)];
          const bool adds = d_part.width == 32 && random() % 2 != 0;
          std::string text = name;
          for (const bool is_signed : {(types & 4) != 0, a_is_signed, b_is_signed})
            text += is_signed ? ".s32" : ".u32";
          text += std::string(adds ? ".add" : "") + " %r0" + d_part.text + ", %r1" + a_part.text + ", %r2" +
                  b_part.text + (adds || d_part.width != 32 ? ", %r3;" : ";");
          const std::uint32_t a = bits(), b = bits(), c = bits();
          const std::int64_t x = extended(a, a_part, a_is_signed), y = extended(b, b_part, b_is_signed);
          const std::string operation = name;
          const std::int64_t value = operation == "vadd"       ? x + y
                                     : operation == "vsub"     ? x - y
                                     : operation == "vabsdiff" ? std::max(x - y, y - x)
                                     : operation == "vmin"     ? std::min(x, y)
                                                               : std::max(x, y);
          auto expected = static_cast<std::uint32_t>(value) + (adds ? c : 0);
          if (d_part.width != 32) {
            const std::uint32_t mask = ((1U << d_part.width) - 1) << d_part.shift;
            expected = (c & ~mask) | (expected << d_part.shift & mask);
          }
          EXPECT_EQ(result(text, a, b, c), expected) << text << " " << std::hex << a << " " << b << " " << c;
        }
}

// The formula of the PTX ISA for .sat, .min, .max and every destination, whatever GPUs compute.
TEST(Video, SaturatesAndComparesAsTheFormulaSays) {
  std::mt19937 random(3);
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return std::string(names.begin()[random() % names.size()]);
  };
  for (int i = 0; i < 8000; ++i) {
    const std::string operation =
        one_of({"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr"});
    const bool is_set = operation == "vset", is_shift = operation[2] == 'h';
    const bool d_is_signed = !is_set && random() % 2 != 0, a_is_signed = random() % 2 != 0;
    const bool b_is_signed = !is_shift && random() % 2 != 0, saturates = !is_set && random() % 2 != 0;
    const std::string d_part = one_of({"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"});
    const std::string a_part = one_of({"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"});
    const std::string b_part = one_of({"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"});
    const std::string second = d_part.empty() ? one_of({"", ".add", ".min", ".max"}) : std::string();
    const std::string mode = is_shift ? one_of({".clamp", ".wrap"}) : std::string();
    const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
    const std::string text = operation + (is_set ? "" : type(d_is_signed)) + type(a_is_signed) +
                             type(b_is_signed) + (is_set ? ".lt" : "") + (saturates ? ".sat" : "") + mode +
                             second + " %r0" + d_part + ", %r1" + a_part + ", %r2" + b_part +
                             (second.empty() && d_part.empty() ? ";" : ", %r3;");
    const auto bits = [&] {
      const std::uint32_t edges[] = {0,          1,          31,         32,        0x7fffffff,
                                     0x80000000, 0xffffffff, 0x7fff8000, 0x80ff7f00};
      return random() % 2 == 0 ? edges[random() % std::size(edges)] : static_cast<std::uint32_t>(random());
    };
    const std::uint32_t a = bits(), b = bits(), c = bits();
    const auto width_of = [](const std::string& part) { return part.empty() ? 32 : part[1] == 'h' ? 16 : 8; };
    const auto shift_of = [&](const std::string& part) {
      return part.empty() ? 0 : (part[2] - '0') * width_of(part);
    };
    const auto extended = [&](std::uint32_t from, const std::string& part, bool is_signed) {
      const auto low = std::int64_t{from >> shift_of(part)} & ((std::int64_t{1} << width_of(part)) - 1);
      return is_signed && low >> (width_of(part) - 1) != 0 ? low - (std::int64_t{1} << width_of(part)) : low;
    };
    const std::int64_t x = extended(a, a_part, a_is_signed), y = extended(b, b_part, b_is_signed);
    const std::int64_t third = extended(c, "", d_is_signed),
                       by = mode == ".wrap" ? y % 32 : std::min<std::int64_t>(y, 32);
    if (operation == "vshl" && by == 32) continue;  // 64 bits do not hold it
    const std::int64_t value = operation == "vadd"       ? x + y
                               : operation == "vsub"     ? x - y
                               : operation == "vabsdiff" ? std::max(x - y, y - x)
                               : operation == "vmin"     ? std::min(x, y)
                               : operation == "vmax"     ? std::max(x, y)
                               : operation == "vset"     ? std::int64_t{x < y}
                               : operation == "vshl"     ? x * (std::int64_t{1} << by)
                                                         : x >> by;
    const int width = width_of(d_part);
    const std::int64_t span = std::int64_t{1} << (d_is_signed ? width - 1 : width);
    const std::int64_t inner = saturates ? std::clamp(value, d_is_signed ? -span : 0, span - 1) : value;
    const std::int64_t outer = second == ".add"   ? inner + third
                               : second == ".min" ? std::min(inner, third)
                               : second == ".max" ? std::max(inner, third)
                                                  : inner;
    const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << width) - 1) << shift_of(d_part));
    const std::uint32_t expected =
        d_part.empty() ? static_cast<std::uint32_t>(outer)
                       : (c & ~mask) | (static_cast<std::uint32_t>(outer) << shift_of(d_part) & mask);
    EXPECT_EQ(result(text, a, b, c), expected) << text << " " << std::hex << a << " " << b << " " << c;
  }
}

// What the sentence of the finding says after the result; empty if there is none.
std::string doubt(const std::string& instruction, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  OneWarp warp(instruction);
  warp.set_all("%r1", a);
  warp.set_all("%r2", b);
  warp.set_all("%r3", c);
  warp.run();
  if (warp.findings().empty()) return {};
  EXPECT_EQ(warp.findings()[0].kind, FindingKind::argument);
  return warp.findings()[0].message;
}

// Values for which ptxas compiles the instruction in another way than the PTX ISA says, and some for which
// not.
TEST(Video, WhatDevicesMayComputeOtherwiseIsFound) {
  struct Case {
    const char* text;
    std::uint32_t a, b, c;
    const char* sentence;  // empty: nothing is found
  };
  for (const Case& one : {
           Case{"vadd.u32.u32.u32.sat %r0, %r1, %r2;", 1, 0xffffffff, 0, "no upper bound"},
           Case{"vadd.u32.u32.u32.sat %r0, %r1, %r2;", 1, 0xfffffffe, 0, ""},
           Case{"vsub.u32.u32.u32.sat %r0, %r1, %r2;", 1, 2, 0, ""},
           Case{"vadd.s32.s32.s32.sat %r0, %r1, %r2;", 0x7fffffff, 1, 0, ""},
           Case{"vsub.u32.u32.u32.sat %r0.b1, %r1.b0, %r2.h1, %r3;", 0, 0x10000, 0, "for an unsigned word"},
           Case{"vsub.u32.u32.u32.sat %r0.b1, %r1.b0, %r2.h1, %r3;", 9, 0x10000, 0, ""},
           Case{"vadd.s32.s32.s32.sat %r0.h0, %r1, %r2, %r3;", 0xffffffff, 0, 0, "for an unsigned word"},
           Case{"vadd.u32.u32.u32.max %r0, %r1, %r2, %r3;", 0x80000000, 0, 0, "beyond 31 bits"},
           Case{"vadd.u32.u32.u32.max %r0, %r1, %r2, %r3;", 0x7fffffff, 0, 0x80000000, ""},
           Case{"vadd.s32.s32.s32.min %r0, %r1, %r2, %r3;", 0x7fffffff, 1, 0, "beyond 31 bits"},
           Case{"vadd.s32.s32.s32.min %r0, %r1, %r2, %r3;", 0xffffffff, 1, 0, ""},
           Case{"vset.s32.u32.lt.min %r0, %r1, %r2, %r3;", 0, 1, 0x80000000, "compare c as a signed word"},
           Case{"vset.u32.u32.lt.min %r0, %r1, %r2, %r3;", 0, 1, 0x80000000, ""},
           Case{"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;", 1, 31, 0, "ignore .sat of shifts"},
           Case{"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;", 1, 32, 0, "ignore .sat of shifts"},
           Case{"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;", 1, 30, 0, ""},
           Case{"vshr.u32.u32.u32.sat.clamp %r0.b0, %r1, %r2, %r3;", 0x100, 0, 0, "ignore .sat of shifts"},
           Case{"vshr.u32.u32.u32.wrap %r0.h1, %r1.h1, %r2, %r3;", 0x10000, 0, 0, "bits 31 to 16"},
           Case{"vshr.u32.u32.u32.wrap %r0.h1, %r1.h1, %r2, %r3;", 0, 0, 0xffffffff, ""},
           Case{"vmad.s32.u32.u32.sat %r0, %r1, %r2, -%r3;", 1, 1, 0x80000000, "as signed ones"},
           Case{"vmad.s32.u32.u32.sat %r0, %r1, %r2, -%r3;", 1, 1, 7, ""},
           Case{"vmad.u32.u32.u32.shr7 %r0, %r1, %r2, %r3;", 0x80000000, 2, 0, "as signed ones"},
           Case{"vmad.u32.u32.u32.sat %r0, %r1, %r2, %r3;", 0x10000, 0x10000, 0, "as signed ones"},
           Case{"vmad.s32.u32.s32.sat %r0, %r1, %r2, %r3;", 0x80000000, 1, 0, "as signed ones"},
       }) {
    const std::string found = doubt(one.text, one.a, one.b, one.c);
    EXPECT_EQ(found.empty(), *one.sentence == '\0') << one.text << ": " << found;
    EXPECT_NE(found.find(one.sentence), std::string::npos) << one.text << ": " << found;
  }
  EXPECT_EQ(
      doubt("vadd.u32.u32.u32.sat %r0, %r1, %r2;", 1, 0xffffffff),
      "vadd.u32.u32.u32.sat is 0xffffffff in the PTX ISA, but GPUs may compute another value: their .sat "
      "has no upper bound of 2^32 - 1.");
}

TEST(Video, MultipliesWideProducts) {
  EXPECT_EQ(result("vmad.u32.u32.u32.sat %r0, %r1, %r2, %r3;", 0xffffffff, 0xffffffff, 0xffffffff),
            0xffffffffU);
  EXPECT_EQ(result("vmad.u32.u32.u32.sat.shr15 %r0, %r1, %r2, %r3;", 0x10000, 0x10000, 0x8000), 0x20001U);
  EXPECT_EQ(result("vmad.s32.u32.u32.sat %r0, -%r1, %r2, %r3;", 0xffffffff, 0xffffffff, 0), 0x80000000U);
  EXPECT_EQ(result("vmad.u32.u32.u32.shr15 %r0, %r1, %r2, %r3;", 0xffffffff, 0xffffffff, 0xffffffff),
            0xfffe0000U);
}

TEST(Video, WhatIsNoInstructionIsRefused) {
  const auto refused = [](const char* text, const char* sentence) {
    EXPECT_NE(refusal(text).find(sentence), std::string::npos) << text << ": " << refusal(text);
  };
  refused("vadd.u32.u32.u32.add %r0.b1, %r1, %r2, %r3;", "exclude each other");
  refused("vadd.u32.u32.u32 %r0.b1, %r1, %r2;", "the operand c is missing");
  refused("vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "nothing uses it");
  refused("vadd.u32.u32.u32 5, %r1, %r2;", "the destination is not a register");
  refused("vadd.u32.u32.u32 %r0, -%r1, %r2;", "a negated operand is not allowed here");
  refused("vshl.u32.u32.s32.wrap %r0, %r1, %r2;", "the number of bits to shift by is of the type .u32");
  refused("vshl.u32.u32.u32 %r0, %r1, %r2;", "one of the modifiers .clamp, .wrap is needed");
  refused("vmad.s32.s32.s32.po %r0, -%r1, %r2, %r3;", ".po excludes negated operands");
  refused("vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;", "either the product or c may be negated");
  refused("vmad.s32.s32.s32 %r0.b1, %r1, %r2, %r3;", "the destination has no parts");
  refused("add.u32 %r0, %r1.b0, %r2;", "a part of a register is not allowed here");
  refused("add.u32 %r0.b0, %r1, %r2;", "a part of a register is not allowed here");
}

TEST(SimdVideo, SelectsPartsOfBothRegisters) {
  const std::uint32_t a = 0x44332211, b = 0x88776655, c = 0xdddddddd;
  EXPECT_EQ(result("vadd2.u32.u32.u32 %r0, %r1, %r2, %r3;", a, b, c), 0xccaa8866U);
  EXPECT_EQ(result("vadd2.u32.u32.u32 %r0, %r1.h01, %r2.h23, %r3;", a, b, c), 0x8866ccaaU);
  EXPECT_EQ(result("vadd2.u32.u32.u32 %r0, %r1.h33, %r2.h00, %r3;", a, b, c), 0xaa88aa88U);
  EXPECT_EQ(result("vmax4.u32.u32.u32 %r0, %r1.b0123, %r2.b3210, %r3;", a, b, c), 0x44333344U);
  EXPECT_EQ(result("vadd4.u32.u32.u32 %r0, %r1.b7654, %r2.b0000, %r3;", a, b, c), 0x99887766U);
}

TEST(SimdVideo, ComputesWhatTheMaskNamesAndKeepsTheRestOfC) {
  const std::uint32_t a = 0x44332211, b = 0x88776655, c = 0xdddddddd;
  EXPECT_EQ(result("vadd2.u32.u32.u32 %r0.h1, %r1, %r2, %r3;", a, b, c), 0xccaaddddU);
  EXPECT_EQ(result("vadd2.u32.u32.u32 %r0.h10, %r1, %r2, %r3;", a, b, c), 0xccaa8866U);
  EXPECT_EQ(result("vsub4.s32.u32.u32.sat %r0.b20, %r1, %r2, %r3;", a, b, c), 0xddbcddbcU);
  EXPECT_EQ(result("vset4.u32.u32.lt %r0.b310, %r1, %r2, %r3;", a, b, c), 0x01dd0101U);
  EXPECT_EQ(result("vset4.u32.u32.lt.add %r0.b310, %r1, %r2, %r3;", a, b, 40), 43U);
  EXPECT_EQ(result("vabsdiff4.u32.u32.u32.add %r0.b3, %r1, %r2, %r3;", a, b, 1), 0x45U);
}

// Every operation, with random masks and selectors.
TEST(SimdVideo, FollowsTheFormula) {
  std::mt19937 random(2);
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return names.begin()[random() % names.size()];
  };
  for (int i = 0; i < 6000; ++i) {
    const bool is_half = random() % 2 != 0;
    const int width = is_half ? 16 : 8, count = 32 / width;
    const std::string operation = one_of({"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"});
    const bool is_set = operation == "vset", d_is_signed = !is_set && random() % 2 != 0;
    const bool a_is_signed = random() % 2 != 0, b_is_signed = random() % 2 != 0;
    const std::string comparison = one_of({"eq", "ne", "lt", "le", "gt", "ge"});
    const std::string last = is_set ? one_of({"", ".add"}) : one_of({"", ".sat", ".add"});
    const auto mask = static_cast<int>(random() % ((1U << count) - 1)) + 1;
    const std::string unit = is_half ? ".h" : ".b";
    std::string mask_text = unit, a_text = unit, b_text = unit;
    int a_parts[4], b_parts[4];
    for (int part = count - 1; part >= 0; --part) {
      a_parts[part] = static_cast<int>(random() % (2 * count));
      b_parts[part] = static_cast<int>(random() % (2 * count));
      if ((mask >> part & 1) != 0) mask_text += std::to_string(part);
      a_text += std::to_string(a_parts[part]);
      b_text += std::to_string(b_parts[part]);
    }
    const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
    const std::string text = operation + std::to_string(count) + (is_set ? "" : type(d_is_signed)) +
                             type(a_is_signed) + type(b_is_signed) + (is_set ? "." + comparison : "") + last +
                             " %r0" + mask_text + ", %r1" + a_text + ", %r2" + b_text + ", %r3;";
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    const auto c = static_cast<std::uint32_t>(random());
    const std::uint64_t both = std::uint64_t{b} << 32 | a, ones = (1U << width) - 1;
    const auto extended = [&](int part, bool is_signed) {
      auto value = static_cast<std::int64_t>(both >> (part * width) & ones);
      if (is_signed && value >> (width - 1) != 0) value -= std::int64_t{1} << width;
      return value;
    };
    std::uint32_t merged = 0, sum = c;
    for (int part = 0; part < count; ++part) {
      const std::int64_t x = extended(a_parts[part], a_is_signed), y = extended(b_parts[part], b_is_signed);
      const std::map<std::string, bool> holds = {{"eq", x == y}, {"ne", x != y}, {"lt", x < y},
                                                 {"le", x <= y}, {"gt", x > y},  {"ge", x >= y}};
      std::int64_t value = operation == "vadd"       ? x + y
                           : operation == "vsub"     ? x - y
                           : operation == "vavrg"    ? x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1
                           : operation == "vabsdiff" ? std::max(x - y, y - x)
                           : operation == "vmin"     ? std::min(x, y)
                           : operation == "vmax"     ? std::max(x, y)
                                                     : holds.at(comparison);
      if (last == ".sat") {
        const std::int64_t span = std::int64_t{1} << (d_is_signed ? width - 1 : width);
        value = std::clamp(value, d_is_signed ? -span : 0, span - 1);
      }
      const bool is_computed = (mask >> part & 1) != 0;
      const std::uint64_t kept = c >> (part * width);
      merged |= static_cast<std::uint32_t>(((is_computed ? static_cast<std::uint64_t>(value) : kept) & ones)
                                           << (part * width));
      if (is_computed) sum += static_cast<std::uint32_t>(value);
    }
    EXPECT_EQ(result(text, a, b, c), last == ".add" ? sum : merged)
        << text << " " << std::hex << a << " " << b << " " << c;
  }
}

TEST(SimdVideo, WhatIsNoInstructionIsRefused) {
  const auto refused = [](const char* text, const char* sentence) {
    EXPECT_NE(refusal(text).find(sentence), std::string::npos) << text << ": " << refusal(text);
  };
  refused("vadd2.u32.u32.u32 %r0.h01, %r1, %r2, %r3;", ".h01 is given where the destination needs a mask");
  refused("vadd2.u32.u32.u32 %r0.h2, %r1, %r2, %r3;", ".h2 is given where the destination needs a mask");
  refused("vadd4.u32.u32.u32 %r0.b33, %r1, %r2, %r3;", ".b33 is given where the destination needs a mask");
  refused("vadd4.u32.u32.u32 %r0.h1, %r1, %r2, %r3;", ".h1 is given where bytes (.b) are needed");
  refused("vadd2.u32.u32.u32 %r0, %r1.h4, %r2, %r3;", ".h4 is given where a source needs two half-words");
  refused("vadd2.u32.u32.u32 %r0, %r1.h40, %r2, %r3;", ".h40 is given where a source needs two half-words");
  refused("vadd4.u32.u32.u32 %r0, %r1, %r2.b321, %r3;", ".b321 is given where a source needs four bytes");
  refused("vadd4.u32.u32.u32 %r0, %r1, %r2, %r3.b0;", "a part of a register is not allowed here");
  refused("vadd2.u32.u32.u32 5, %r1, %r2, %r3;", "the destination is not a register");
  refused("vadd.u32.u32.u32 %r0.b4, %r1, %r2, %r3;", ".b4 is given where a part of one register is needed");
  refused("vadd.u32.u32.u32 %r0, %r1.h10, %r2;", ".h10 is given where a part of one register is needed");
}

}  // namespace
}  // namespace tenon::emulator::testing
