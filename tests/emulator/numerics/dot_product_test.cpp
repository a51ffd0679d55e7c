// The dot product against probes that an H200 has answered, and against a second implementation in floating
// point: terms as doubles (every product of two inputs fits), alignment by ldexp and trunc, rounding by the
// host. It shares only the parameters with the code under test.
#include "emulator/numerics/dot_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

struct Vectors {
  std::vector<std::uint32_t> a, b;
  std::uint32_t c = 0;
};

std::uint32_t run(Model model, Unit unit, Type a_type, Type b_type, Type output, const Vectors& vectors) {
  static const auto a = std::make_unique<Factors>(), b = std::make_unique<Factors>();
  const int k = static_cast<int>(vectors.a.size());
  std::vector<std::uint32_t> behind_3(3), behind_5(5);
  behind_3.insert(behind_3.end(), vectors.a.begin(), vectors.a.end());
  behind_5.insert(behind_5.end(), vectors.b.begin(), vectors.b.end());
  a->set(format_of(a_type), behind_3.data(), 3 + k);
  b->set(format_of(b_type), behind_5.data(), 5 + k);
  return dot_product(arithmetic_of(model, unit, a_type, output, k), *a, 3, *b, 5, k, vectors.c);
}

// --- probes

struct Term {
  int first, last;  // of k
  double a, b;
};
struct Probe {
  const char* name;
  Type type;
  int k;
  double c;
  std::vector<Term> terms;
  Unit unit;
  Model model;
  std::uint32_t expected;
};

std::uint32_t answer(const Probe& probe) {
  Vectors vectors;
  vectors.a.resize(static_cast<std::size_t>(probe.k));
  vectors.b = vectors.a;
  vectors.c = bits_of(static_cast<float>(probe.c));
  for (const Term& term : probe.terms) {
    for (int i = term.first; i <= term.last; ++i) {
      vectors.a[static_cast<std::size_t>(i)] =
          static_cast<std::uint32_t>(from_double(format_of(probe.type), term.a));
      vectors.b[static_cast<std::size_t>(i)] =
          static_cast<std::uint32_t>(from_double(format_of(probe.type), term.b));
    }
  }
  return run(probe.model, probe.unit, probe.type, probe.type, Type::f32, vectors);
}

double two(int exponent) {
  return std::ldexp(1.0, exponent);
}

TEST(Probes, AreAnsweredAsTheHardwareDoes) {
  const double largest = 3.4028234663852886e38;
  const std::vector<Probe> probes = {
      // Measured on an H200: P1..P9, T1, O1..O3.
      {"P1",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 8, two(-12), two(-13)}},
       Unit::mma,
       Model::sm_90,
       0x3f800002},
      {"P2",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 15, two(-13), two(-13)}},
       Unit::mma,
       Model::sm_90,
       0x3f800000},
      {"P3",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}, {8, 8, -1, 1}},
       Unit::mma,
       Model::sm_90,
       0x33800000},
      {"P4",
       Type::f16,
       16,
       -1,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}},
       Unit::mma,
       Model::sm_90,
       0x33800000},
      {"P5",
       Type::f16,
       16,
       0,
       {{0, 0, 1.5, 1.5}, {1, 8, two(-12), two(-13)}},
       Unit::mma,
       Model::sm_90,
       0x40100001},
      {"P6",
       Type::f16,
       16,
       0,
       {{0, 0, -1, 1}, {1, 7, -two(-12), two(-13)}},
       Unit::mma,
       Model::sm_90,
       0xbf800001},
      {"P7", Type::bf16, 16, 0, {{0, 15, two(-76), two(-76)}}, Unit::mma, Model::sm_90, 0x00000002},
      {"P8",
       Type::bf16,
       16,
       0,
       {{0, 0, 33 * two(-79), 31 * two(-80)}, {1, 1, two(-79), two(-80)}},
       Unit::mma,
       Model::sm_90,
       0x00000000},
      {"P9",
       Type::bf16,
       16,
       0,
       {{0, 0, 0, two(127)}, {1, 1, (1 + two(-7)) * two(-10), (1 + two(-7)) * two(-10)}},
       Unit::mma,
       Model::sm_90,
       0x35820200},
      {"T1",
       Type::tf32,
       8,
       0,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}, {4, 4, -1, 1}},
       Unit::mma,
       Model::sm_90,
       0x33800000},
      {"T1 wgmma",
       Type::tf32,
       8,
       0,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}, {4, 4, -1, 1}},
       Unit::wgmma,
       Model::sm_90,
       0x33800000},
      {"O1",
       Type::bf16,
       16,
       0,
       {{0, 0, two(100), two(100)}, {1, 1, -two(100), two(100)}, {2, 2, 1, 1}},
       Unit::mma,
       Model::sm_90,
       0x00000000},
      {"O2", Type::bf16, 16, 0, {{0, 0, two(64), two(64)}}, Unit::mma, Model::sm_90, 0x7f800000},
      {"O3", Type::bf16, 16, largest, {{0, 0, two(60), two(42)}}, Unit::mma, Model::sm_90, 0x7f7fffff},
      // The exact limit of the alignment: 2^-149 - 2^-163 (127 * 129 = 2^14 - 1) becomes 2^-149 if 15 terms
      // of
      // 2^-158, the last bit below an exponent of -133, are kept, but not with 15 of 2^-159. Not measured.
      {"E1",
       Type::bf16,
       16,
       0,
       {{0, 0, 127 * two(-81), 129 * two(-82)}, {1, 15, two(-79), two(-79)}},
       Unit::mma,
       Model::sm_90,
       0x00000001},
      {"E2",
       Type::bf16,
       16,
       0,
       {{0, 0, 127 * two(-81), 129 * two(-82)}, {1, 15, two(-79), two(-80)}},
       Unit::mma,
       Model::sm_90,
       0x00000000},
      // Zeros of either sign give +0.
      {"Z1", Type::f16, 16, -0.0, {{0, 15, -0.0, 1}}, Unit::mma, Model::sm_90, 0x00000000},
      {"Z2", Type::f16, 16, -0.0, {}, Unit::mma, Model::sm_90, 0x00000000},
      // Predictions of the published models for the other architectures and for fp8.
      {"P1 sm_80",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 8, two(-12), two(-13)}},
       Unit::mma,
       Model::sm_80,
       0x3f800000},
      {"P3 sm_80",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}, {8, 8, -1, 1}},
       Unit::mma,
       Model::sm_80,
       0},
      {"P6 sm_80",
       Type::f16,
       16,
       0,
       {{0, 0, -1, 1}, {1, 7, -two(-12), two(-13)}},
       Unit::mma,
       Model::sm_80,
       0xbf800000},
      {"T1 sm_80",
       Type::tf32,
       8,
       0,
       {{0, 0, 1, 1}, {1, 1, two(-12), two(-12)}, {4, 4, -1, 1}},
       Unit::mma,
       Model::sm_80,
       0},
      {"Q1 wgmma", Type::e4m3, 32, 1 + two(-14), {}, Unit::wgmma, Model::sm_90, 0x3f800000},
      {"Q1 mma", Type::e4m3, 32, 1 + two(-14), {}, Unit::mma, Model::sm_90, 0x3f800200},
      {"Q2 wgmma",
       Type::e4m3,
       32,
       0,
       {{0, 0, 1, 1}, {1, 16, two(-7), two(-7)}},
       Unit::wgmma,
       Model::sm_90,
       0x3f800000},
      {"Q2 mma",
       Type::e4m3,
       32,
       0,
       {{0, 0, 1, 1}, {1, 16, two(-7), two(-7)}},
       Unit::mma,
       Model::sm_90,
       0x3f802000},
      {"Q4 mma", Type::e4m3, 32, two(24), {{0, 2, 1, 1}}, Unit::mma, Model::sm_90, 0x4b800002},
      // Exact: the sum keeps what truncation loses.
      {"P2 ieee",
       Type::f16,
       16,
       0,
       {{0, 0, 1, 1}, {1, 15, two(-13), two(-13)}},
       Unit::mma,
       Model::ieee,
       0x3f800002},
      {"O1 ieee",
       Type::bf16,
       16,
       0,
       {{0, 0, two(100), two(100)}, {1, 1, -two(100), two(100)}, {2, 2, 1, 1}},
       Unit::mma,
       Model::ieee,
       0x3f800000},
  };
  for (const Probe& probe : probes) EXPECT_EQ(answer(probe), probe.expected) << probe.name;
}

// --- the second implementation

// The exponent by which the hardware aligns a number: that of its binade, or the smallest one for subnormals.
int alignment(double value, int smallest) {
  return std::max(std::ilogb(value), smallest);
}

// A zero is +0, also where a negative value is rounded to it.
std::uint32_t rounded(double value, Arithmetic::Result result) {
  const auto pattern_of = [](float number) { return number == 0 ? 0 : bits_of(number); };
  switch (result) {
    case Arithmetic::Result::f32_cut: {
      if (std::fabs(value) >= 0x1p128) return value < 0 ? 0xff800000 : 0x7f800000;
      std::fesetround(FE_TOWARDZERO);
      volatile double in = value;
      volatile float out = static_cast<float>(in);
      std::fesetround(FE_TONEAREST);
      return pattern_of(static_cast<float>(out));
    }
    case Arithmetic::Result::f32_cut_to_13_bits: {
      if (value == 0) return 0;
      if (std::fabs(value) >= 0x1p128) return value < 0 ? 0xff800000 : 0x7f800000;
      const int unit = alignment(value, -126) - 13;
      return pattern_of(static_cast<float>(std::ldexp(std::trunc(std::ldexp(value, -unit)), unit)));
    }
    case Arithmetic::Result::f16_nearest: {
      if (value == 0) return 0;
      const int unit = alignment(value, -14) - 10;
      const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
      if (nearest == 0) return 0;
      const std::uint32_t sign = value < 0 ? 0x8000 : 0;
      if (std::fabs(nearest) > 65504) return sign | 0x7c00;
      const double magnitude = std::fabs(nearest);
      if (magnitude < 0x1p-14) return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
      const int exponent = std::ilogb(magnitude);
      return sign | (static_cast<std::uint32_t>(exponent + 15) << 10) |
             (static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) - 1024);
    }
  }
  return 0;
}

double value_of(const Format& format, std::uint32_t pattern) {
  return to_double(format, pattern);
}

// One step: c and result are patterns of f32 or f16.
std::uint32_t slow_step(const Arithmetic& arithmetic, const Format& fa, const Format& fb,
                        const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                        std::uint32_t c) {
  const bool half = arithmetic.result == Arithmetic::Result::f16_nearest;
  const Format& out = half ? f16 : f32;
  std::vector<double> terms;
  std::vector<int> exponents;
  double plain = value_of(out, c);  // only for infinities and NaN
  bool finite = std::isfinite(plain);
  if (plain != 0 && finite) {
    terms.push_back(plain);
    exponents.push_back(alignment(plain, half ? -14 : -126));
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = value_of(fa, a[i]), y = value_of(fb, b[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      finite = false;
      plain = (std::isfinite(plain) ? 0 : plain) + x * y;
    } else if (x * y != 0) {
      const auto smallest = [&](const Format& format) {  // fp8 by halves is multiplied as f16
        return arithmetic.fp8_by_halves ? -14 : 2 - (1 << (format.exponent_bits - 1));
      };
      terms.push_back(x * y);
      exponents.push_back(alignment(x, smallest(fa)) + alignment(y, smallest(fb)));
    }
  }
  if (!finite) {
    if (std::isnan(plain)) return static_cast<std::uint32_t>(out.nan());
    return static_cast<std::uint32_t>(out.infinity() | (plain < 0 ? out.sign_bit() : 0));
  }
  int largest = arithmetic.minimum_exponent;
  for (int exponent : exponents) largest = std::max(largest, exponent);
  const int unit = largest - arithmetic.fraction;
  double sum = 0;
  for (double term : terms) sum += std::trunc(std::ldexp(term, -unit));
  return rounded(std::ldexp(sum, unit), arithmetic.result);
}

std::uint32_t slow(const Arithmetic& arithmetic, Type a_type, Type b_type, const Vectors& vectors) {
  const Format &fa = format_of(a_type), &fb = format_of(b_type);
  std::uint32_t c = arithmetic.fp8_by_halves ? 0 : vectors.c;
  const std::size_t k = vectors.a.size();
  std::vector<std::size_t> order;
  if (arithmetic.fp8_by_halves) {
    for (std::size_t i = 0; i < k; ++i) {
      if (i % 4 < 2) order.push_back(i);
    }
    for (std::size_t i = 0; i < k; ++i) {
      if (i % 4 >= 2) order.push_back(i);
    }
  } else {
    for (std::size_t i = 0; i < k; ++i) order.push_back(i);
  }
  const auto group = static_cast<std::size_t>(arithmetic.group);
  for (std::size_t first = 0; first < k; first += group) {
    std::vector<std::uint32_t> a, b;
    for (std::size_t i = first; i < first + group; ++i) {
      a.push_back(vectors.a[order[i]]);
      b.push_back(vectors.b[order[i]]);
    }
    c = slow_step(arithmetic, fa, fb, a, b, c);
  }
  if (!arithmetic.fp8_by_halves) return c;
  if (arithmetic.result == Arithmetic::Result::f16_nearest) {
    const double sum = value_of(f16, c) + value_of(f16, vectors.c);  // exact
    if (std::isnan(sum)) return 0x7fff;
    if (std::isinf(sum)) return sum < 0 ? 0xfc00 : 0x7c00;
    if (sum == 0) return std::signbit(sum) ? 0x8000 : 0;
    return rounded(sum, arithmetic.result);
  }
  const float sum = float_of(c) + float_of(vectors.c);
  return std::isnan(sum) ? 0x7fffffff : bits_of(sum);
}

// Random sets of several characters: any bits; one narrow range of exponents, with cancelling pairs;
// subnormals; now and then an infinity or a NaN.
class Sets {
 public:
  explicit Sets(std::uint64_t seed) : random_(seed) {}

  Vectors next(const Format& fa, const Format& fb, const Format& fc, int k) {
    Vectors vectors;
    const int character = static_cast<int>(random_() % 4);
    const int spread = 1 + static_cast<int>(random_() % 8);
    for (int i = 0; i < k; ++i) {
      vectors.a.push_back(number(fa, character, spread));
      vectors.b.push_back(number(fb, character, spread));
    }
    vectors.c = number(fc, character, spread);
    if (random_() % 8 == 0) vectors.c = 0;
    if (random_() % 3 == 0) {  // the second half subtracts most of the first half's products
      for (int i = 0; i < k / 2; ++i) {
        if (random_() % 8 == 0) continue;
        const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(k - 1 - i);
        vectors.a[to] = vectors.a[from] ^ static_cast<std::uint32_t>(fa.sign_bit());
        vectors.b[to] = vectors.b[from];
      }
    }
    return vectors;
  }

 private:
  std::uint32_t number(const Format& format, int character, int spread) {
    const std::uint64_t mask = format.sign_bit() * 2 - 1;
    std::uint64_t bits = random_() & mask;
    const int field = format.fraction_bits + format.padding_bits;
    const std::uint64_t top = (std::uint64_t{1} << format.exponent_bits) - 1;
    const std::uint64_t rest = ~(top << field) & mask;
    if (character == 0) {
      if (random_() % 64 != 0 && (bits >> field & top) == top) bits &= rest;  // few special values
      return static_cast<std::uint32_t>(bits);
    }
    const std::uint64_t around = character == 3 ? 0 : format.bias() - static_cast<std::uint64_t>(spread) / 2;
    bits = (bits & rest) | ((around + random_() % static_cast<std::uint64_t>(spread)) << field);
    if (random_() % 16 == 0) bits &= format.sign_bit();
    return static_cast<std::uint32_t>(bits & mask);
  }
  std::mt19937_64 random_;
};

struct Kind {
  Model model;
  Unit unit;
  Type a, b, output;
  int k;
};
const Kind kinds[] = {
    {Model::sm_90, Unit::mma, Type::f16, Type::f16, Type::f32, 16},
    {Model::sm_90, Unit::mma, Type::f16, Type::f16, Type::f32, 8},
    {Model::sm_90, Unit::mma, Type::f16, Type::f16, Type::f16, 16},
    {Model::sm_90, Unit::mma, Type::bf16, Type::bf16, Type::f32, 16},
    {Model::sm_90, Unit::mma, Type::tf32, Type::tf32, Type::f32, 8},
    {Model::sm_90, Unit::wmma, Type::tf32, Type::tf32, Type::f32, 8},
    {Model::sm_90, Unit::mma, Type::e4m3, Type::e5m2, Type::f32, 32},
    {Model::sm_90, Unit::mma, Type::e5m2, Type::e4m3, Type::f16, 32},
    {Model::sm_90, Unit::mma, Type::e5m2, Type::e5m2, Type::f32, 16},
    {Model::sm_90, Unit::wgmma, Type::e4m3, Type::e4m3, Type::f32, 32},
    {Model::sm_90, Unit::wgmma, Type::e5m2, Type::e4m3, Type::f16, 32},
    {Model::sm_89, Unit::mma, Type::e4m3, Type::e5m2, Type::f32, 32},
    {Model::sm_80, Unit::mma, Type::f16, Type::f16, Type::f32, 16},
    {Model::sm_80, Unit::mma, Type::f16, Type::f16, Type::f16, 16},
    {Model::sm_80, Unit::mma, Type::bf16, Type::bf16, Type::f32, 16},
    {Model::sm_80, Unit::mma, Type::tf32, Type::tf32, Type::f32, 8},
    {Model::sm_75, Unit::mma, Type::f16, Type::f16, Type::f32, 8},
};

TEST(DotProduct, MatchesTheSecondImplementation) {
  Sets sets(11);
  for (const Kind& kind : kinds) {
    const Arithmetic arithmetic = arithmetic_of(kind.model, kind.unit, kind.a, kind.output, kind.k);
    for (int i = 0; i < 30000; ++i) {
      const Vectors vectors = sets.next(format_of(kind.a), format_of(kind.b), format_of(kind.output), kind.k);
      const std::uint32_t found = run(kind.model, kind.unit, kind.a, kind.b, kind.output, vectors);
      const std::uint32_t expected = slow(arithmetic, kind.a, kind.b, vectors);
      ASSERT_EQ(found, expected) << "set " << i << " of kind " << &kind - kinds;
    }
  }
}

// --- the exact sum, by non-overlapping expansions of doubles (Shewchuk): the sum of all is exact, and its
// sign is that of the last.
class Expansion {
 public:
  void add(double term) {
    std::vector<double> next;
    for (double part : parts_) {
      const double sum = term + part, high = sum - term;
      const double error = (term - (sum - high)) + (part - high);
      if (error != 0) next.push_back(error);
      term = sum;
    }
    next.push_back(term);
    parts_ = next;
  }
  int sign() const {
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
      if (*part != 0) return *part < 0 ? -1 : 1;
    }
    return 0;
  }
  double about() const {
    double sum = 0;
    for (double part : parts_) sum += part;
    return sum;
  }

 private:
  std::vector<double> parts_;
};

int compare(Expansion sum, double with) {
  sum.add(-with);
  return sum.sign();
}

std::uint32_t exact_f32(const Expansion& sum) {
  const double about = sum.about();
  if (sum.sign() == 0) return 0;
  // Among the floats around, the nearest: the one whose halves to its neighbours enclose the sum.
  float candidate = static_cast<float>(std::clamp(about, -0x1.fffffep127, 0x1.fffffep127));
  for (int tries = 0; tries < 4; ++tries) {
    const bool top = std::fabs(candidate) == 0x1.fffffep127F;
    const double up = top && candidate > 0 ? 0x1p128 : double{std::nextafter(candidate, HUGE_VALF)};
    const double down = top && candidate < 0 ? -0x1p128 : double{std::nextafter(candidate, -HUGE_VALF)};
    const bool even = bits_of(candidate) % 2 == 0;
    const int above = compare(sum, (candidate + up) / 2), below = compare(sum, (candidate + down) / 2);
    if (above > 0 || (above == 0 && !even)) {
      if (top && candidate > 0) return 0x7f800000;
      candidate = std::nextafter(candidate, HUGE_VALF);
    } else if (below < 0 || (below == 0 && !even)) {
      if (top && candidate < 0) return 0xff800000;
      candidate = std::nextafter(candidate, -HUGE_VALF);
    } else {
      break;
    }
  }
  return candidate == 0 ? (sum.sign() < 0 ? 0x80000000 : 0) : bits_of(candidate);
}

TEST(DotProduct, IeeeModelIsTheExactSumRoundedOnce) {
  Sets sets(12);
  for (Type type : {Type::f16, Type::bf16, Type::tf32, Type::e5m2}) {
    const Format& format = format_of(type);
    for (int i = 0; i < 20000; ++i) {
      const Vectors vectors = sets.next(format, format, f32, 16);
      Expansion sum;
      bool finite = std::isfinite(float_of(vectors.c));
      for (std::size_t j = 0; j < vectors.a.size(); ++j) {
        const double product = to_double(format, vectors.a[j]) * to_double(format, vectors.b[j]);
        finite = finite && std::isfinite(product);
        if (finite) sum.add(product);
      }
      if (!finite) continue;  // the same code as for other models, which is tested there
      sum.add(float_of(vectors.c));
      ASSERT_EQ(run(Model::ieee, Unit::mma, type, type, Type::f32, vectors), exact_f32(sum)) << "set " << i;
    }
  }
}

TEST(DotProduct, F64IsAChainOfFusedMultiplyAdds) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t a[16], b[16];
    const int k = 4 << random() % 3;
    for (int j = 0; j < k; ++j) {
      a[j] = random() & 0xbfffffffffffffff, b[j] = random() & 0xbfffffffffffffff;
      if (i % 2 == 0) a[j] = (a[j] & 0x800fffffffffffff) | (1020 + random() % 6) << 52;
      if (i % 2 == 0) b[j] = (b[j] & 0x800fffffffffffff) | (1020 + random() % 6) << 52;
    }
    const std::uint64_t c = random() & 0xbfffffffffffffff;
    const struct {
      Rounding rounding;
      int host;
    } modes[] = {{Rounding::nearest_even, FE_TONEAREST},
                 {Rounding::to_zero, FE_TOWARDZERO},
                 {Rounding::down, FE_DOWNWARD},
                 {Rounding::up, FE_UPWARD}};
    for (const auto& mode : modes) {
      std::fesetround(mode.host);
      volatile double sum = double_of(c);
      for (int j = 0; j < k; ++j) {
        volatile double x = double_of(a[j]), y = double_of(b[j]);
        sum = std::fma(x, y, sum);
      }
      std::fesetround(FE_TONEAREST);
      const double expected = sum;
      const std::uint64_t found = dot_product_f64(Model::sm_90, mode.rounding, a, b, k, c);
      // No operand is a NaN here, so each NaN results from infinities.
      ASSERT_EQ(found, std::isnan(expected) ? 0xfff8000000000000 : bits_of(expected));
    }
  }
}

TEST(DotProduct, F64IeeeRoundsOnce) {
  const std::uint64_t one = bits_of(1.0), small = bits_of(0x1p-600), minus = bits_of(-1.0);
  const std::uint64_t a[4] = {one, small, minus, one}, b[4] = {one, small, one, bits_of(0.0)};
  EXPECT_EQ(dot_product_f64(Model::ieee, Rounding::nearest_even, a, b, 4, 0),
            0U);  // 2^-1200 is below all doubles
  EXPECT_EQ(dot_product_f64(Model::ieee, Rounding::up, a, b, 4, 0), 1U);
  const std::uint64_t big[2] = {bits_of(0x1p1000), bits_of(-0x1p1000)}, same[2] = {big[0], big[0]};
  EXPECT_EQ(dot_product_f64(Model::ieee, Rounding::nearest_even, big, same, 2, one), one);
  EXPECT_EQ(dot_product_f64(Model::sm_90, Rounding::nearest_even, big, same, 2, one), f64.infinity());
  const std::uint64_t infinite[2] = {f64.infinity(), f64.infinity()}, signs[2] = {one, minus};
  EXPECT_EQ(dot_product_f64(Model::ieee, Rounding::nearest_even, infinite, signs, 2, one), f64.nan());
  EXPECT_EQ(dot_product_f64(Model::ieee, Rounding::nearest_even, infinite, signs, 1, one), f64.infinity());
}

TEST(IntegerResult, WrapsOrClamps) {
  EXPECT_EQ(integer_result(1, 0x7fffffff, false), 0x80000000U);
  EXPECT_EQ(integer_result(1, 0x7fffffff, true), 0x7fffffffU);
  EXPECT_EQ(integer_result(-1, 0x80000000, false), 0x7fffffffU);
  EXPECT_EQ(integer_result(-1, 0x80000000, true), 0x80000000U);
  EXPECT_EQ(integer_result(-5, 3, true), static_cast<std::uint32_t>(-2));
}

}  // namespace
}  // namespace tenon::emulator::numerics
