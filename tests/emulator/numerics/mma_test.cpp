// Whole instructions on a warp's registers: every form multiplies small integers exactly, whatever its
// rounding; special routines follow their own rules; and the speed suffices for a GEMM.
#include "emulator/numerics/mma.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <random>

#include "emulator/numerics/forms.hpp"

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

Form make_form(Shape shape, Type a, Type b, Type c, Type d) {
  Form form;
  form.shape = shape;
  form.a = a, form.b = b, form.c = c, form.d = d;
  return form;
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::tf32 || type == Type::e4m3 ||
         type == Type::e5m2 || type == Type::f32 || type == Type::f64;
}

std::uint64_t pattern_of(Type type, int value) {
  if (is_float(type)) return from_double(format_of(type), value);
  const int bits = element_bits(type);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) &
         (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}

int value_of(Type type, std::uint64_t pattern) {
  if (is_float(type)) return static_cast<int>(to_double(format_of(type), pattern));
  return static_cast<std::int32_t>(pattern);  // s32
}

class Warp32 {
 public:
  // Random small integers in both operands and the accumulator, laid out by the fragments.
  Warp32(const Mma& mma, std::mt19937_64& random, bool ordered) : form_(mma.form()) {
    blocks_ = form_.a == Type::f16 && form_.shape.k == 4 ? 4 : 1;
    const bool is_unsigned = form_.a == Type::u8 || form_.a == Type::u4 || form_.a == Type::b1;
    const bool b_unsigned = form_.b == Type::u8 || form_.b == Type::u4 || form_.b == Type::b1;
    const int high = form_.a == Type::b1 ? 1 : 2;
    const auto draw = [&](bool never_negative) {
      return static_cast<int>(random() % static_cast<unsigned>(never_negative ? high + 1 : 2 * high + 1)) -
             (never_negative ? 0 : high);
    };
    const int stored = form_.sparse ? form_.shape.k / 2 : form_.shape.k;
    a.resize(static_cast<std::size_t>(form_.shape.m * blocks_ * stored));
    b.resize(static_cast<std::size_t>(form_.shape.n * blocks_ * form_.shape.k));
    c.resize(static_cast<std::size_t>(form_.shape.m * blocks_ * form_.shape.n));
    for (int& x : a) x = draw(is_unsigned);
    for (int& x : b) x = draw(b_unsigned);
    for (int& x : c) x = static_cast<int>(random() % 41) - 20;
    lay(mma.a(), registers.a, form_.a,
        [&](Coord at) { return a[static_cast<std::size_t>(at.row * stored + at.column)]; });
    lay(mma.b(), registers.b, form_.b,
        [&](Coord at) { return b[static_cast<std::size_t>(at.column * form_.shape.k + at.row)]; });
    lay(mma.c(), registers.c, form_.c,
        [&](Coord at) { return c[static_cast<std::size_t>(at.row * form_.shape.n + at.column)]; });
    for (std::uint64_t& lane : registers.metadata) {
      lane = 0;
      for (int group = 0; group < 8; ++group) {
        unsigned first = random() % 4, second = (first + 1 + random() % 3) % 4;
        if (ordered && first > second) std::swap(first, second);
        if (form_.a == Type::tf32) first = 2 * (random() % 2), second = first + 1;
        lane |= std::uint64_t{first | second << 2} << (4 * group);
      }
    }
  }

  // The expected value at a coordinate of D.
  int expected(Coord at) const {
    const int stored = form_.sparse ? form_.shape.k / 2 : form_.shape.k;
    int sum = c[static_cast<std::size_t>(at.row * form_.shape.n + at.column)];
    const int block = at.row / form_.shape.m;
    for (int i = 0; i < stored; ++i) {
      const int k = form_.sparse
                        ? sparse_column(form_.shape, form_.a, form_.selector, registers.metadata, at.row, i)
                        : i;
      const int x = a[static_cast<std::size_t>(at.row * stored + i)];
      const int y = b[static_cast<std::size_t>((block * form_.shape.n + at.column) * form_.shape.k + k)];
      sum += form_.exclusive ? x ^ y : x * y;
    }
    return sum;
  }

  Registers registers{};
  std::vector<int> a, b, c;

 private:
  template <typename Get>
  void lay(const Fragment& fragment, std::uint64_t (*to)[32], Type type, Get get) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < fragment.registers(); ++reg) {
        to[reg][lane] = 0;
        for (int element = 0; element < fragment.elements(); ++element) {
          to[reg][lane] |= pattern_of(type, get(fragment.at(lane, reg, element)))
                           << (element * fragment.element_bits() % 64);
        }
      }
    }
  }
  Form form_;
  int blocks_ = 1;
};

void expect_exact_integers(const NamedForm& named, Model model) {
  std::mt19937_64 random(5);
  const Mma mma(named.form);
  for (int repeat = 0; repeat < 4; ++repeat) {
    Warp32 warp(mma, random, named.is_ordered);
    mma(model, warp.registers);
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < mma.d().registers(); ++reg) {
        for (int element = 0; element < mma.d().elements(); ++element) {
          const int bits = mma.d().element_bits();
          const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
          const std::uint64_t pattern = warp.registers.d[reg][lane] >> (bits * element % 64) & mask;
          ASSERT_EQ(value_of(named.form.d, pattern), warp.expected(mma.d().at(lane, reg, element)))
              << named.text << " model " << static_cast<int>(model) << " lane " << lane;
        }
      }
    }
  }
}

TEST(Mma, EveryFormMultipliesIntegersExactlyOnEveryModel) {
  for (NamedForm named : forms()) {
    if (named.is_alternative) continue;
    const int selectors = named.form.sparse ? sparse_selectors(named.form.shape, named.form.a) : 1;
    for (named.form.selector = 0; named.form.selector < selectors; ++named.form.selector) {
      for (Model model : {Model::sm_75, Model::sm_80, Model::sm_89, Model::sm_90, Model::ieee}) {
        expect_exact_integers(named, model);
      }
    }
  }
}

TEST(Mma, SaturationClampsAfterTheWholeSum) {
  Form form = make_form({16, 8, 32}, Type::s8, Type::s8, Type::s32, Type::s32);
  form.saturate = true;
  const Mma mma(form);
  Registers registers{};
  for (auto& reg : registers.a) {
    for (auto& lane : reg) lane = 0x7f7f7f7f;
  }
  for (auto& reg : registers.b) {
    for (auto& lane : reg) lane = 0x7f7f7f7f;
  }
  for (auto& reg : registers.c) {
    for (auto& lane : reg) lane = 0x7fffffff - 32 * 127 * 127 + 1;
  }
  mma(Model::sm_90, registers);
  EXPECT_EQ(registers.d[0][0], 0x7fffffffU);
  form.saturate = false;
  const Mma wrapping(form);
  wrapping(Model::sm_90, registers);
  EXPECT_EQ(registers.d[3][31], 0x80000000U);
}

// m8n8k4 of f16 has no tensor core from sm_80 on; the order of the routine shows in the last bits.
TEST(Mma, M8n8k4FollowsTheRoutineOfF32Instructions) {
  const auto one_row = [](Type accumulator, std::initializer_list<double> a, std::initializer_list<double> b,
                          std::uint32_t c) {
    Form form = make_form({8, 8, 4}, Type::f16, Type::f16, accumulator, accumulator);
    const Mma mma(form);
    auto registers = std::make_unique<Registers>();
    *registers = {};
    const auto lay = [](std::initializer_list<double> numbers, std::uint64_t(*to)[32]) {
      int i = 0;
      for (double x : numbers) {
        to[i / 2][0] |= from_double(f16, x) << (16 * (i % 2));
        ++i;
      }
    };
    lay(a, registers->a);  // row 0 of A and column 0 of B are lane 0's, row.col
    lay(b, registers->b);
    registers->c[0][0] = c;
    mma(Model::sm_90, *registers);
    return registers->d[0][0];
  };
  // f32: the products are summed first, from k = 0, then added to c: 1 + 2^-24 alone is a tie to even, and is
  // lost.
  EXPECT_EQ(one_row(Type::f32, {1, 0x1p-12, 0x1p-12, 0}, {1, 0x1p-12, 0x1p-12, 0}, 0), 0x3f800000U);
  EXPECT_EQ(one_row(Type::f32, {0x1p-12, 0x1p-12, 1, 0}, {0x1p-12, 0x1p-12, 1, 0}, 0), 0x3f800001U);
  EXPECT_EQ(one_row(Type::f32, {0x1p-12, 0x1p-12, 0, 0}, {0x1p-12, 0x1p-12, 0, 0}, 0x3f800000), 0x3f800001U);
  // f16: c + (k 0, 1), then + (k 2, 3), and one rounding to f16. 2048 + 2^-14 loses the small term in f32, so
  // + 1 is exactly between two f16 numbers and rounds to the even one.
  EXPECT_EQ(one_row(Type::f16, {0x1p-7, 0, 1, 0}, {0x1p-7, 0, 1, 0}, 0x6800), 0x6800U);
  EXPECT_EQ(one_row(Type::f16, {0x1p-6, 0, 1, 0}, {0x1p-6, 0, 1, 0}, 0x6800), 0x6801U);
  // -1024 + 2^-15 is -1024 again in f32; -1024 + 1024 first leaves room for 2^-15.
  EXPECT_EQ(one_row(Type::f16, {0x1p-7, 0, 32, 0}, {0x1p-8, 0, 32, 0}, 0xe400), 0x0000U);
  EXPECT_EQ(one_row(Type::f16, {32, 0, 0x1p-7, 0}, {32, 0, 0x1p-8, 0}, 0xe400), 0x0200U);
}

TEST(Mma, WmmaConvertsAnAccumulatorOfAnotherTypeAroundASumInF32) {
  Form form = make_form({16, 16, 16}, Type::f16, Type::f16, Type::f32, Type::f16);
  form.unit = Unit::wmma;
  const Mma mma(form);
  Registers registers{};
  registers.c[0][0] = bits_of(1.0F + 0x1p-11F + 0x1p-20F);  // just over the middle of two f16 numbers
  mma(Model::sm_90, registers);
  EXPECT_EQ(registers.d[0][0] & 0xffff, 0x3c01U);
}

TEST(Mma, EightThousandM16n8k16TakeLittleOfASecond) {
  // A 256 x 256 x 256 product. The bound is generous: a debugging build or a busy machine must pass too.
  const Form form = make_form({16, 8, 16}, Type::f16, Type::f16, Type::f32, Type::f32);
  const Mma mma(form);
  Registers registers{};
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal;
  for (auto* operand : {&registers.a, &registers.b}) {
    for (auto& reg : *operand) {
      for (auto& lane : reg) lane = from_float(f16, normal(random)) << 16 | from_float(f16, normal(random));
    }
  }
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 8192; ++i) {
    mma(Model::sm_90, registers);
    for (int reg = 0; reg < 4; ++reg) std::copy(registers.d[reg], registers.d[reg] + 32, registers.c[reg]);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
  EXPECT_LT(seconds.count(), 3.0);
  EXPECT_NE(registers.d[0][0], 0U);
}

}  // namespace
}  // namespace tenon::emulator::numerics
