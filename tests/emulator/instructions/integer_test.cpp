// The integer instructions against other computations: wide or bit by bit, as the PTX ISA describes them.
#include "emulator/instructions/operands.hpp"

namespace tenon::emulator::testing {
namespace {

const std::vector<Triple>& inputs() {
  static const std::vector<Triple> all = triples(integer_corners(), 8192);
  return all;
}

void check(const std::string& text, const std::function<Bits(Bits, Bits, Bits)>& reference) {
  testing::check(text, inputs(), reference);
}

// A signed number of up to 127 bits for the tests: sign-extended operands in two 64-bit halves.
struct Wide {
  Bits high, low;
};

std::int64_t sign(Bits bits, int width) {
  return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}
Bits cut_to(Bits bits, int width) {
  return width == 64 ? bits : bits & ((Bits{1} << width) - 1);
}

// The product by adding shifted multiplicands.
Wide product(Bits a, Bits b, int width, bool is_signed) {
  const Bits x = is_signed ? static_cast<Bits>(sign(a, width)) : cut_to(a, width);
  const Bits y = is_signed ? static_cast<Bits>(sign(b, width)) : cut_to(b, width);
  Wide multiplicand{is_signed && x >> 63 != 0 ? ~Bits{0} : 0, x}, result{0, 0};
  for (int bit = 0; bit < 128; ++bit) {
    const bool set = bit < 64 ? (y >> bit & 1) != 0 : is_signed && y >> 63 != 0;
    if (set) {
      const Bits low = result.low + multiplicand.low;
      result.high += multiplicand.high + (low < result.low ? 1 : 0);
      result.low = low;
    }
    multiplicand.high = multiplicand.high << 1 | multiplicand.low >> 63;
    multiplicand.low <<= 1;
  }
  return result;
}

Bits shifted(const Wide& value, int count) {
  return count == 0 ? value.low : count == 64 ? value.high : value.low >> count | value.high << (64 - count);
}

struct Form {
  const char* type;
  const char* kind;  // of registers
  int width;
  bool is_signed;
};
const Form forms[] = {{"u16", "h", 16, false}, {"s16", "h", 16, true},  {"u32", "r", 32, false},
                      {"s32", "r", 32, true},  {"u64", "d", 64, false}, {"s64", "d", 64, true}};

std::string text(const std::string& opcode, const Form& form, int sources) {
  std::string result = opcode + "." + form.type + " %" + form.kind + "0";
  for (int i = 1; i <= sources; ++i) result += std::string(", %") + form.kind + std::to_string(i);
  return result;
}

Bits clamped(std::int64_t value) {
  return static_cast<std::uint32_t>(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

TEST(Integer, AddsAndSubtractsModuloItsWidth) {
  for (const Form& form : forms) {
    check(text("add", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a + b, form.width); });
    check(text("sub", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a - b, form.width); });
  }
  check("add.sat.s32 %r0, %r1, %r2", [](Bits a, Bits b, Bits) { return clamped(sign(a, 32) + sign(b, 32)); });
  check("sub.sat.s32 %r0, %r1, %r2", [](Bits a, Bits b, Bits) { return clamped(sign(a, 32) - sign(b, 32)); });
  for (const char* type : {"u16x2", "s16x2"}) {
    check(std::string("add.") + type + " %r0, %r1, %r2",
          [](Bits a, Bits b, Bits) { return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16; });
  }
}

TEST(Integer, MultipliesLowHighAndWide) {
  for (const Form& form : forms) {
    check(text("mul.lo", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a * b, form.width); });
    check(text("mul.hi", form, 2), [&](Bits a, Bits b, Bits) {
      return cut_to(shifted(product(a, b, form.width, form.is_signed), form.width), form.width);
    });
    check(text("mad.lo", form, 3), [&](Bits a, Bits b, Bits c) { return cut_to(a * b + c, form.width); });
    check(text("mad.hi", form, 3), [&](Bits a, Bits b, Bits c) {
      return cut_to(shifted(product(a, b, form.width, form.is_signed), form.width) + c, form.width);
    });
    if (form.width == 64) continue;
    const std::string wide = form.width == 16 ? "%r" : "%d", narrow = std::string("%") + form.kind;
    const std::string operands =
        std::string(".") + form.type + " " + wide + "0, " + narrow + "1, " + narrow + "2";
    check("mul.wide" + operands, [&](Bits a, Bits b, Bits) {
      return cut_to(product(a, b, form.width, form.is_signed).low, 2 * form.width);
    });
    check("mad.wide" + operands + ", " + wide + "3", [&](Bits a, Bits b, Bits c) {
      return cut_to(product(a, b, form.width, form.is_signed).low + c, 2 * form.width);
    });
  }
  check("mad.hi.sat.s32 %r0, %r1, %r2, %r3",
        [](Bits a, Bits b, Bits c) { return clamped((sign(a, 32) * sign(b, 32) >> 32) + sign(c, 32)); });
}

TEST(Integer, MultipliesTwentyFourBits) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s32" : ".u32";
    const auto full = [=](Bits a, Bits b) { return product(a, b, 24, is_signed).low; };
    check("mul24.lo" + type + " %r0, %r1, %r2", [=](Bits a, Bits b, Bits) { return cut_to(full(a, b), 32); });
    check("mul24.hi" + type + " %r0, %r1, %r2",
          [=](Bits a, Bits b, Bits) { return cut_to(full(a, b) >> 16, 32); });
    check("mad24.lo" + type + " %r0, %r1, %r2, %r3",
          [=](Bits a, Bits b, Bits c) { return cut_to(full(a, b) + c, 32); });
    check("mad24.hi" + type + " %r0, %r1, %r2, %r3",
          [=](Bits a, Bits b, Bits c) { return cut_to((full(a, b) >> 16) + c, 32); });
  }
  check("mad24.hi.sat.s32 %r0, %r1, %r2, %r3", [](Bits a, Bits b, Bits c) {
    return clamped(sign(cut_to(product(a, b, 24, true).low >> 16, 32), 32) + sign(c, 32));
  });
}

// Magnitudes by long division; all ones where the divisor is 0.
void divide(Bits a, Bits b, const Form& form, Bits& quotient, Bits& remainder) {
  a = cut_to(a, form.width);
  b = cut_to(b, form.width);
  if (b == 0) {
    quotient = remainder = cut_to(~Bits{0}, form.width);
    return;
  }
  const bool a_negative = form.is_signed && sign(a, form.width) < 0;
  const bool b_negative = form.is_signed && sign(b, form.width) < 0;
  if (a_negative) a = cut_to(Bits{0} - a, form.width);
  if (b_negative) b = cut_to(Bits{0} - b, form.width);
  quotient = remainder = 0;
  for (int bit = form.width - 1; bit >= 0; --bit) {
    const bool carry = remainder >> 63 != 0;
    remainder = remainder << 1 | (a >> bit & 1);
    if (!carry && remainder < b) continue;
    remainder -= b;
    quotient |= Bits{1} << bit;
  }
  if (a_negative != b_negative) quotient = cut_to(Bits{0} - quotient, form.width);
  if (a_negative) remainder = cut_to(Bits{0} - remainder, form.width);
}

TEST(Integer, DividesAsTheHardwareDoes) {
  for (const Form& form : forms) {
    check(text("div", form, 2), [&](Bits a, Bits b, Bits) {
      Bits quotient, remainder;
      divide(a, b, form, quotient, remainder);
      return quotient;
    });
    check(text("rem", form, 2), [&](Bits a, Bits b, Bits) {
      Bits quotient, remainder;
      divide(a, b, form, quotient, remainder);
      return remainder;
    });
  }
}

TEST(Integer, ComparesAndDiffers) {
  for (const Form& form : forms) {
    const auto smaller = [&](Bits a, Bits b) {
      return form.is_signed ? sign(a, form.width) < sign(b, form.width)
                            : cut_to(a, form.width) < cut_to(b, form.width);
    };
    check(text("min", form, 2),
          [&](Bits a, Bits b, Bits) { return cut_to(smaller(a, b) ? a : b, form.width); });
    check(text("max", form, 2),
          [&](Bits a, Bits b, Bits) { return cut_to(smaller(a, b) ? b : a, form.width); });
    check(text("sad", form, 3),
          [&](Bits a, Bits b, Bits c) { return cut_to(c + (smaller(a, b) ? b - a : a - b), form.width); });
    if (!form.is_signed) continue;
    check(text("abs", form, 1),
          [&](Bits a, Bits, Bits) { return cut_to(sign(a, form.width) < 0 ? Bits{0} - a : a, form.width); });
    check(text("neg", form, 1), [&](Bits a, Bits, Bits) { return cut_to(Bits{0} - a, form.width); });
  }
  const auto halves = [](Bits a, Bits b,
                         const std::function<std::int64_t(std::int64_t, std::int64_t)>& pick) {
    return cut_to(static_cast<Bits>(pick(sign(a, 16), sign(b, 16))), 16) |
           cut_to(static_cast<Bits>(pick(sign(a >> 16, 16), sign(b >> 16, 16))), 16) << 16;
  };
  const auto least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
  const auto most = [](std::int64_t x, std::int64_t y) { return x < y ? y : x; };
  check("min.s16x2 %r0, %r1, %r2", [&](Bits a, Bits b, Bits) { return halves(a, b, least); });
  check("max.s16x2 %r0, %r1, %r2", [&](Bits a, Bits b, Bits) { return halves(a, b, most); });
  check("max.relu.s16x2 %r0, %r1, %r2", [&](Bits a, Bits b, Bits) {
    return halves(a, b, [&](std::int64_t x, std::int64_t y) { return most(most(x, y), 0); });
  });
  check("min.s16x2.relu %r0, %r1, %r2", [&](Bits a, Bits b, Bits) {
    return halves(a, b, [&](std::int64_t x, std::int64_t y) { return most(least(x, y), 0); });
  });
  check("min.relu.s32 %r0, %r1, %r2", [&](Bits a, Bits b, Bits) {
    return cut_to(static_cast<Bits>(most(least(sign(a, 32), sign(b, 32)), 0)), 32);
  });
  check("max.u16x2 %r0, %r1, %r2", [](Bits a, Bits b, Bits) {
    const Bits a0 = a & 0xffff, b0 = b & 0xffff, a1 = a >> 16 & 0xffff, b1 = b >> 16 & 0xffff;
    return (a0 > b0 ? a0 : b0) | (a1 > b1 ? a1 : b1) << 16;
  });
}

// A carry chain adds numbers of 64 bits in halves; each lane has its own flag.
TEST(Integer, CarriesThroughTheFlag) {
  OneWarp add("add.cc.u32 %r0, %r1, %r2; addc.cc.u32 %r3, %r4, %r5; addc.u32 %r6, %r7, %r8;");
  OneWarp subtract("sub.cc.u32 %r0, %r1, %r2; subc.cc.u32 %r3, %r4, %r5; subc.u32 %r6, %r7, %r8;");
  OneWarp multiply("mad.lo.cc.u32 %r0, %r1, %r2, %r4; madc.hi.u32 %r3, %r1, %r2, %r5;");
  OneWarp wide("add.cc.u64 %d0, %d1, %d2; addc.u64 %d3, 0, 0;");
  const std::vector<Triple>& all = inputs();
  for (std::size_t first = 0; first < all.size(); first += warp_size) {
    for (OneWarp* warp : {&add, &subtract, &multiply, &wide}) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const Triple& in = all[first + lane];
        warp->lanes("%r1")[lane] = in.a & 0xffffffff;
        warp->lanes("%r4")[lane] = in.a >> 32;
        warp->lanes("%r2")[lane] = in.b & 0xffffffff;
        warp->lanes("%r5")[lane] = in.b >> 32;
        warp->lanes("%r7")[lane] = in.c & 0xffffffff;
        warp->lanes("%r8")[lane] = 5;
        warp->lanes("%d1")[lane] = in.a;
        warp->lanes("%d2")[lane] = in.b;
      }
      warp->run();
    }
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const Triple& in = all[first + lane];
      const Bits sum = in.a + in.b, difference = in.a - in.b;
      ASSERT_EQ(add.lanes("%r0")[lane] | add.lanes("%r3")[lane] << 32, sum);
      ASSERT_EQ(add.lanes("%r6")[lane], cut_to(in.c + 5 + (sum < in.a ? 1 : 0), 32));
      ASSERT_EQ(subtract.lanes("%r0")[lane] | subtract.lanes("%r3")[lane] << 32, difference);
      ASSERT_EQ(subtract.lanes("%r6")[lane], cut_to(in.c - 5 - (in.a < in.b ? 1 : 0), 32));
      // r1 * r2 + the 64 bits r5:r4
      const Bits expected = (in.a & 0xffffffff) * (in.b & 0xffffffff) + (in.a >> 32 | in.b >> 32 << 32);
      ASSERT_EQ(multiply.lanes("%r0")[lane] | multiply.lanes("%r3")[lane] << 32, expected);
      ASSERT_EQ(wide.lanes("%d0")[lane], sum);
      ASSERT_EQ(wide.lanes("%d3")[lane], sum < in.a ? 1U : 0U);
    }
  }
}

TEST(Integer, DotsBytes) {
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      const auto part = [](Bits bits, int index, int width, bool is_signed) {
        const Bits field = cut_to(bits >> (index * width), width);
        return is_signed ? sign(field, width) : static_cast<std::int64_t>(field);
      };
      check("dp4a" + types + " %r0, %r1, %r2, %r3", [=](Bits a, Bits b, Bits c) {
        std::int64_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += part(a, i, 8, a_signed) * part(b, i, 8, b_signed);
        return cut_to(c + static_cast<Bits>(sum), 32);
      });
      for (const int half : {0, 1}) {
        check(std::string("dp2a") + (half != 0 ? ".hi" : ".lo") + types + " %r0, %r1, %r2, %r3",
              [=](Bits a, Bits b, Bits c) {
                std::int64_t sum = 0;
                for (int i = 0; i < 2; ++i)
                  sum += part(a, i, 16, a_signed) * part(b, 2 * half + i, 8, b_signed);
                return cut_to(c + static_cast<Bits>(sum), 32);
              });
      }
    }
  }
}

TEST(Integer, CombinesBits) {
  const Form bits[] = {{"b16", "h", 16, false}, {"b32", "r", 32, false}, {"b64", "d", 64, false}};
  for (const Form& form : bits) {
    check(text("and", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a & b, form.width); });
    check(text("or", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a | b, form.width); });
    check(text("xor", form, 2), [&](Bits a, Bits b, Bits) { return cut_to(a ^ b, form.width); });
    check(text("not", form, 1), [&](Bits a, Bits, Bits) { return cut_to(~a, form.width); });
    check(text("cnot", form, 1), [&](Bits a, Bits, Bits) { return cut_to(a, form.width) == 0 ? 1 : 0; });
  }
  check("and.pred %p0, %p1, %p2", [](Bits a, Bits b, Bits) { return a & b & 1; });
  check("or.pred %p0, %p1, !%p2", [](Bits a, Bits b, Bits) { return (a | ~b) & 1; });
  check("xor.pred %p0, !%p1, %p2", [](Bits a, Bits b, Bits) { return (~a ^ b) & 1; });
  check("not.pred %p0, %p1", [](Bits a, Bits, Bits) { return ~a & 1; });
  for (const int table : {0x00, 0x80, 0xe8, 0x96, 0xca, 0x1b, 0xff}) {
    check("lop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(table), [=](Bits a, Bits b, Bits c) {
      Bits result = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const Bits entry = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
        result |= static_cast<Bits>(table >> entry & 1) << bit;
      }
      return result;
    });
  }
  OneWarp predicate("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, !%p1;");
  predicate.set_all("%r1", 6);
  predicate.set_all("%r2", 3);
  predicate.set_all("%p1", 1);
  for (std::size_t lane = 0; lane < warp_size; ++lane) predicate.lanes("%r3")[lane] = lane;
  predicate.run();
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(predicate.lanes("%r0")[lane], 2 & lane);
    EXPECT_EQ(predicate.lanes("%p0")[lane], (2 & lane) != 0 ? 1U : 0U);
  }
}

TEST(Integer, ShiftsWithClampedCounts) {
  for (const Form& form : forms) {
    const std::string kind = std::string("%") + form.kind;
    const std::string right = std::string("shr.") + form.type + " " + kind + "0, " + kind + "1, %r2";
    check(right, [&](Bits a, Bits b, Bits) {
      const Bits count = cut_to(b, 32);
      const bool negative = form.is_signed && sign(a, form.width) < 0;
      Bits result = 0;
      for (int bit = 0; bit < form.width; ++bit) {
        const Bits from = static_cast<Bits>(bit) + count;
        const bool set = from < static_cast<Bits>(form.width) ? (a >> from & 1) != 0 : negative;
        result |= static_cast<Bits>(set) << bit;
      }
      return result;
    });
    if (form.is_signed) continue;
    const std::string left = "shl.b" + std::to_string(form.width) + " " + kind + "0, " + kind + "1, %r2";
    check(left, [&](Bits a, Bits b, Bits) {
      Bits result = cut_to(a, form.width);
      for (Bits step = 0; step < cut_to(b, 32) && step < 64; ++step) result = cut_to(result * 2, form.width);
      return result;
    });
  }
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? ".wrap" : ".clamp";
    const auto count = [=](Bits c) { return wrap ? c % 32 : cut_to(c, 32) < 32 ? cut_to(c, 32) : 32; };
    check("shf.l" + mode + ".b32 %r0, %r1, %r2, %r3", [=](Bits a, Bits b, Bits c) {
      const Bits n = count(c), low = cut_to(a, 32), high = cut_to(b, 32);
      return n == 32 ? low : n == 0 ? high : cut_to(high << n | low >> (32 - n), 32);
    });
    check("shf.r" + mode + ".b32 %r0, %r1, %r2, %r3", [=](Bits a, Bits b, Bits c) {
      const Bits n = count(c), low = cut_to(a, 32), high = cut_to(b, 32);
      return n == 32 ? high : n == 0 ? low : cut_to(high << (32 - n) | low >> n, 32);
    });
  }
}

TEST(Integer, CountsAndFindsBits) {
  const auto highest = [](Bits a, int width) {
    for (int bit = width - 1; bit >= 0; --bit) {
      if ((a >> bit & 1) != 0) return bit;
    }
    return -1;
  };
  for (const int width : {32, 64}) {
    const std::string type = std::to_string(width), kind = width == 32 ? "%r" : "%d";
    check("popc.b" + type + " %r0, " + kind + "1", [=](Bits a, Bits, Bits) {
      Bits count = 0;
      for (int bit = 0; bit < width; ++bit) count += a >> bit & 1;
      return count;
    });
    check("clz.b" + type + " %r0, " + kind + "1",
          [=](Bits a, Bits, Bits) { return static_cast<Bits>(width - 1 - highest(a, width)); });
    check("brev.b" + type + " " + kind + "0, " + kind + "1", [=](Bits a, Bits, Bits) {
      Bits result = 0;
      for (int bit = 0; bit < width; ++bit) result |= (a >> bit & 1) << (width - 1 - bit);
      return result;
    });
    for (const bool is_signed : {false, true}) {
      const auto found = [=](Bits a) { return highest(is_signed && sign(a, width) < 0 ? ~a : a, width); };
      const std::string full = (is_signed ? ".s" : ".u") + type + " %r0, " + kind + "1";
      check("bfind" + full, [=](Bits a, Bits, Bits) { return cut_to(static_cast<Bits>(found(a)), 32); });
      check("bfind.shiftamt" + full, [=](Bits a, Bits, Bits) {
        return found(a) < 0 ? 0xffffffff : static_cast<Bits>(width - 1 - found(a));
      });
    }
  }
}

// fns by the loop of the ISA, for bases in range.
TEST(Integer, FindsTheNthSetBit) {
  std::mt19937_64 random(7);
  std::vector<Triple> some;
  for (int i = 0; i < 8192; ++i) {
    const auto n = static_cast<std::int64_t>(random() % 71) - 35;
    some.push_back({random() & (i % 2 != 0 ? ~Bits{0} : random()), random() % 32, static_cast<Bits>(n)});
  }
  testing::check("fns.b32 %r0, %r1, %r2, %r3", some, [](Bits mask, Bits base, Bits n) -> Bits {
    const std::int64_t offset = sign(n, 32);
    if (offset == 0) return (mask >> base & 1) != 0 ? base : 0xffffffff;
    auto position = static_cast<std::int64_t>(base);
    std::int64_t count = (offset < 0 ? -offset : offset) - 1;
    for (; position >= 0 && position<32; position += offset> 0 ? 1 : -1) {
      if ((mask >> position & 1) == 0) continue;
      if (count-- == 0) return static_cast<Bits>(position);
    }
    return 0xffffffff;
  });
}

// 8 bits of a position or a length count, but all 32 for fields of 64 bits.
int field_bound(Bits bound, int width) {
  return static_cast<int>(width == 32 ? bound & 0xff : std::min<Bits>(bound & 0xffffffff, 1000));
}

// The loops of the ISA.
TEST(Integer, ExtractsAndInsertsFields) {
  for (const int width : {32, 64}) {
    const std::string kind = width == 32 ? "%r" : "%d", type = std::to_string(width);
    for (const bool is_signed : {false, true}) {
      check((is_signed ? "bfe.s" : "bfe.u") + type + " " + kind + "0, " + kind + "1, %r2, %r3",
            [=](Bits a, Bits b, Bits c) {
              const int position = field_bound(b, width), length = field_bound(c, width);
              const int last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
              const Bits filler = is_signed && length != 0 ? a >> last & 1 : 0;
              Bits result = 0;
              for (int i = 0; i < width; ++i) {
                result |= (i < length && position + i < width ? a >> (position + i) & 1 : filler) << i;
              }
              return result;
            });
    }
    OneWarp warp("bfi.b" + type + " " + kind + "0, " + kind + "1, " + kind + "2, %r3, %r4;");
    const std::vector<Triple>& all = inputs();
    std::mt19937_64 random(11);
    for (std::size_t first = 0; first < all.size(); first += warp_size) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        warp.lanes(kind + "1")[lane] = cut_to(all[first + lane].a, width);
        warp.lanes(kind + "2")[lane] = cut_to(all[first + lane].b, width);
        warp.lanes("%r3")[lane] = cut_to(all[first + lane].c, 32);
        warp.lanes("%r4")[lane] = random() % 2 != 0 ? random() % 70 : random() & 0xffffffff;
      }
      warp.run();
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const Bits a = warp.lanes(kind + "1")[lane];
        const int position = field_bound(warp.lanes("%r3")[lane], width);
        const int length = field_bound(warp.lanes("%r4")[lane], width);
        Bits expected = warp.lanes(kind + "2")[lane];
        for (int i = 0; i < length && position + i < width; ++i) {
          const Bits bit = Bits{1} << (position + i);
          expected = (a >> i & 1) != 0 ? expected | bit : expected & ~bit;
        }
        ASSERT_EQ(warp.lanes(kind + "0")[lane], expected) << a << " " << position << " " << length;
      }
    }
  }
}

// Measured on an H200.
TEST(Integer, TakesAllBitsOfPositionsIn64Bits) {
  struct Field {
    Bits a, b, position, length, extracted, inserted;
  };
  const Field fields[] = {{0x3f, 0, 0x6d560403, 0x18, 0, 0},      {0x3, 0, 0x617fd000, 0xcd, 0, 0},
                          {0x40, 0, 0x103, 0x1d8, 0, 0},          {0x1, 0x1, 0x132, 0xe8c0d742, 0, 0x1},
                          {0x1, 0x18, 0x8e3bc100, 0x7f, 0, 0x18}, {0x1, 0x80, 0xc5e16e19, 0x128, 0, 0x80}};
  OneWarp warp("bfe.u64 %d0, %d1, %r3, %r4; bfe.s64 %d3, %d1, %r3, %r4; bfi.b64 %d4, %d1, %d2, %r3, %r4;");
  for (const Field& field : fields) {
    warp.set_all("%d1", field.a);
    warp.set_all("%d2", field.b);
    warp.set_all("%r3", field.position);
    warp.set_all("%r4", field.length);
    warp.run();
    EXPECT_EQ(warp.lanes("%d0")[0], field.extracted) << std::hex << field.position;
    EXPECT_EQ(warp.lanes("%d3")[0], field.extracted) << std::hex << field.position;
    EXPECT_EQ(warp.lanes("%d4")[0], field.inserted) << std::hex << field.position;
  }
}

TEST(Integer, MakesMasksAndExtendsFields) {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? ".wrap" : ".clamp";
    check("bmsk" + mode + ".b32 %r0, %r1, %r2", [=](Bits a, Bits b, Bits) {
      const Bits start = wrap ? a % 32 : cut_to(a, 32), length = wrap ? b % 32 : cut_to(b, 32);
      Bits result = 0;
      for (Bits bit = 0; bit < 32; ++bit)
        result |= static_cast<Bits>(bit >= start && bit - start < length) << bit;
      return result;
    });
    for (const bool is_signed : {false, true}) {
      check("szext" + mode + (is_signed ? ".s32" : ".u32") + " %r0, %r1, %r2", [=](Bits a, Bits b, Bits) {
        const Bits count = wrap ? b % 32 : cut_to(b, 32);
        if (count >= 32) return cut_to(a, 32);
        Bits result = 0;
        for (Bits bit = 0; bit < 32; ++bit) {
          const Bits from = bit < count ? bit : count - 1;
          if (count != 0 && (bit < count || is_signed)) result |= (a >> from & 1) << bit;
        }
        return result;
      });
    }
  }
}

// The tables of the ISA: bytes b3 b2 b1 b0 for the selectors 0 to 3.
TEST(Integer, PermutesBytes) {
  check("prmt.b32 %r0, %r1, %r2, %r3", [](Bits a, Bits b, Bits c) {
    Bits bytes[8], result = 0;
    for (int i = 0; i < 4; ++i) {
      bytes[i] = a >> (8 * i) & 0xff;
      bytes[4 + i] = b >> (8 * i) & 0xff;
    }
    for (int i = 0; i < 4; ++i) {
      const Bits selector = c >> (4 * i) & 15;
      const Bits byte = bytes[selector % 8];
      result |= (selector < 8 ? byte : byte >= 128 ? 0xff : 0) << (8 * i);
    }
    return result;
  });
  struct Mode {
    const char* name;
    int bytes[4][4];  // by selector, the highest byte first
  };
  const Mode modes[] = {{"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
                        {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
                        {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                        {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
                        {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
                        {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}};
  for (const Mode& mode : modes) {
    check(std::string("prmt.b32.") + mode.name + " %r0, %r1, %r2, %r3", [&](Bits a, Bits b, Bits c) {
      Bits result = 0;
      for (int i = 0; i < 4; ++i) {
        const int byte = mode.bytes[c % 4][i];
        result = result << 8 | ((byte < 4 ? a >> (8 * byte) : b >> (8 * (byte - 4))) & 0xff);
      }
      return result;
    });
  }
}

TEST(Integer, LeavesInactiveLanesAlone) {
  OneWarp warp("add.u32 %r0, %r0, 1;");
  warp.set_all("%r0", 0xffffffff);
  warp.run(0x0000ff01);
  for (int lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(warp.lanes("%r0")[lane], (0x0000ff01 >> lane & 1) != 0 ? 0U : 0xffffffffU);
  }
}

TEST(Integer, NamesWhatItDoesNotKnow) {
  EXPECT_NE(refusal("add.wrong.u32 %r0, %r1, %r2;").find("the modifier .wrong is not known"),
            std::string::npos);
  EXPECT_NE(refusal("add.u32 %d0, %r1, %r2;").find("a register of type .b64 is given where one of 32 bits"),
            std::string::npos);
  EXPECT_NE(refusal("add.u32 %r0, %r1;").find("2 operands are given where 3 are needed"), std::string::npos);
  EXPECT_NE(refusal("mul.u32 %r0, %r1, %r2;").find("one of the modifiers .lo, .hi, .wide"),
            std::string::npos);
  EXPECT_NE(refusal("mul.wide.u64 %d0, %d1, %d2;").find(".wide needs operands of 16 or 32 bits"),
            std::string::npos);
  EXPECT_NE(refusal("add.sat.u32 %r0, %r1, %r2;").find(".sat"), std::string::npos);
  EXPECT_NE(refusal("popc.b16 %r0, %h1;").find("the type .b16 is given where one of .b32, .b64"),
            std::string::npos);
  EXPECT_NE(refusal("lop3.b32 %r0, %r1, %r2, %r3, 256;").find("at most 255"), std::string::npos);
  EXPECT_NE(refusal("add.u32 %r0|%p0, %r1, %r2;").find("second destination"), std::string::npos);
  EXPECT_NE(refusal("sub.u32 %r0, %r1, -%r2;").find("negated"), std::string::npos);
}

// The pseudocode of the PTX ISA, 9.7.17, on parts as wide integers.
TEST(Video, works_on_parts_of_a_register) {
  using Wide = std::int64_t;
  struct Operation {
    std::string name;
    Wide (*result)(Wide, Wide);
  };
  const std::vector<Operation> operations = {
      {"vadd", [](Wide a, Wide b) { return a + b; }},
      {"vsub", [](Wide a, Wide b) { return a - b; }},
      {"vavrg", [](Wide a, Wide b) { return a + b >= 0 ? (a + b + 1) / 2 : -((1 - a - b) / 2); }},
      {"vabsdiff", [](Wide a, Wide b) { return a > b ? a - b : b - a; }},
      {"vmin", [](Wide a, Wide b) { return a < b ? a : b; }},
      {"vmax", [](Wide a, Wide b) { return a < b ? b : a; }},
      {"vset.lt", [](Wide a, Wide b) -> Wide { return a < b; }},
      {"vset.ge", [](Wide a, Wide b) -> Wide { return a >= b; }},
      {"vset.eq", [](Wide a, Wide b) -> Wide { return a == b; }},
      {"vset.ne", [](Wide a, Wide b) -> Wide { return a != b; }},
      {"vset.le", [](Wide a, Wide b) -> Wide { return a <= b; }},
      {"vset.gt", [](Wide a, Wide b) -> Wide { return a > b; }}};
  const std::vector<Triple> few = triples(integer_corners(), 256);
  for (const Operation& operation : operations) {
    const bool is_set = operation.name[1] == 's' && operation.name[2] == 'e';
    for (const int width : {8, 16}) {
      for (int types = 0; types < (is_set ? 4 : 8); ++types) {
        const bool a_signed = (types & 1) != 0, b_signed = (types & 2) != 0, d_signed = (types & 4) != 0;
        const auto type = [](bool is_signed) { return std::string(is_signed ? ".s32" : ".u32"); };
        for (const std::string last : {"", ".sat", ".add"}) {
          if (is_set && last == ".sat") continue;
          const std::string number = width == 8 ? "4" : "2";
          const std::string opcode =
              is_set ? "vset" + number + type(a_signed) + type(b_signed) + operation.name.substr(4)
                     : operation.name + number + type(d_signed) + type(a_signed) + type(b_signed);
          testing::check(opcode + last + " %r0, %r1, %r2, %r3", few, [=](Bits a, Bits b, Bits c) {
            Bits merged = 0, sum = c;
            for (int shift = 0; shift < 32; shift += width) {
              const auto part = [&](Bits bits, bool is_signed) {
                const auto field = static_cast<Wide>(bits >> shift & ((Bits{1} << width) - 1));
                return is_signed && field >> (width - 1) != 0 ? field - (Wide{1} << width) : field;
              };
              Wide result = operation.result(part(a, a_signed), part(b, b_signed));
              if (last == ".sat") {
                const Wide span = Wide{1} << (d_signed ? width - 1 : width);
                result = std::min(std::max(result, d_signed ? -span : Wide{0}), span - 1);
              }
              merged |= (static_cast<Bits>(result) & ((Bits{1} << width) - 1)) << shift;
              sum += static_cast<Bits>(result);
            }
            return cut_to(last == ".add" ? sum : merged, 32);
          });
        }
      }
    }
  }
  EXPECT_NE(refusal("vadd4.u32.u32.u32.sat.add %r0, %r1, %r2, %r3;").find("exclude each other"),
            std::string::npos);
  EXPECT_NE(refusal("vadd4.u32.u32.u32 %r0, %r1, %r2;"), "");
}

}  // namespace
}  // namespace tenon::emulator::testing
