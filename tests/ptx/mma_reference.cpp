#include "ptx/mma_reference.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

namespace tenon::test {
namespace {

const std::map<std::string, Kind> kinds = {
    {"f16", Kind::f16},   {"bf16", Kind::bf16}, {"tf32", Kind::tf32}, {"f32", Kind::f32}, {"f64", Kind::f64},
    {"e4m3", Kind::e4m3}, {"e5m2", Kind::e5m2}, {"s8", Kind::s8},     {"u8", Kind::u8},   {"s4", Kind::s4},
    {"u4", Kind::u4},     {"b1", Kind::b1},     {"s32", Kind::s32}};

struct FloatFormat {
  int exponent_bits, fraction_bits;
};

// tf32 sits in the upper 19 bits of an f32, which is how f32 reads it.
FloatFormat format(Kind kind) {
  switch (kind) {
    case Kind::f16:
      return {5, 10};
    case Kind::bf16:
      return {8, 7};
    case Kind::tf32:
    case Kind::f32:
      return {8, 23};
    case Kind::f64:
      return {11, 52};
    case Kind::e4m3:
      return {4, 3};
    case Kind::e5m2:
      return {5, 2};
    default:
      throw std::logic_error("not a floating-point kind");
  }
}

std::uint64_t low_bits(int count) {
  return count == 64 ? ~0ULL : (1ULL << count) - 1;
}

// The element `e` of lane `l` in an operand.
struct Place {
  int matrix, row, column;
};

Place place_quad(const MmaSpec& spec, Operand operand, int l, int e) {
  const int q = l % 16 / 4, t = l % 4, h = l / 16;
  switch (operand) {
    case Operand::a:
      return spec.a_row_major ? Place{q, t + 4 * h, e} : Place{q, e + 4 * h, t};
    case Operand::b:
      return spec.b_row_major ? Place{q, t, e + 4 * h} : Place{q, e, t + 4 * h};
    default:
      break;
  }
  const Kind kind = operand == Operand::c ? spec.c : spec.d;
  if (kind == Kind::f16) return {q, t + 4 * h, e};
  return {q, (l & 1) + (e & 2) + 4 * h, (e & 4) + (l & 2) + (e & 1)};
}

Place place(const MmaSpec& spec, Operand operand, int l, int e) {
  if (spec.is_quad()) return place_quad(spec, operand, l, e);
  const int g = l / 4, t = l % 4;
  if (operand == Operand::c || operand == Operand::d) return {0, g + 8 * (e / 2), 2 * t + e % 2};
  const int width = bits(operand == Operand::a ? spec.a : spec.b);
  const int per_register = width >= 32 ? 1 : 32 / width;
  const int r = e / per_register, j = e % per_register;
  if (operand == Operand::a) {
    const int row_blocks = spec.m / 8;  // registers alternate between the upper and the lower 8 rows of m16
    return {0, g + 8 * (r % row_blocks), per_register * (t + 4 * (r / row_blocks)) + j};
  }
  return {0, per_register * (t + 4 * r) + j, g};
}

Kind kind_of(const MmaSpec& spec, Operand operand) {
  return operand == Operand::a   ? spec.a
         : operand == Operand::b ? spec.b
         : operand == Operand::c ? spec.c
                                 : spec.d;
}

Matrices empty(const MmaSpec& spec, Operand operand) {
  if (operand == Operand::a) return {spec.matrices(), spec.m, spec.sparse ? spec.k / 2 : spec.k};
  if (operand == Operand::b) return {spec.matrices(), spec.k, spec.n};
  return {spec.matrices(), spec.m, spec.n};
}

// Rounds std::fma as the form says; undone at the end of the scope.
class RoundingScope {
 public:
  explicit RoundingScope(const std::string& rounding) : before_(std::fegetround()) {
    static const std::map<std::string, int> modes = {
        {"", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    std::fesetround(modes.at(rounding));
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
};

double finish_integer(double sum, bool satfinite) {
  constexpr double lowest = std::numeric_limits<std::int32_t>::min();
  constexpr double highest = std::numeric_limits<std::int32_t>::max();
  if (satfinite) return std::clamp(sum, lowest, highest);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
}

}  // namespace

int bits(Kind kind) {
  switch (kind) {
    case Kind::f64:
      return 64;
    case Kind::tf32:
    case Kind::f32:
    case Kind::s32:
      return 32;
    case Kind::f16:
    case Kind::bf16:
      return 16;
    case Kind::e4m3:
    case Kind::e5m2:
    case Kind::s8:
    case Kind::u8:
      return 8;
    case Kind::s4:
    case Kind::u4:
      return 4;
    case Kind::b1:
      return 1;
  }
  throw std::logic_error("unknown kind");
}

bool is_signed(Kind kind) {
  return kind == Kind::s8 || kind == Kind::s4 || kind == Kind::s32;
}

bool is_integer(Kind kind) {
  return is_signed(kind) || kind == Kind::u8 || kind == Kind::u4 || kind == Kind::b1;
}

std::uint64_t encode(Kind kind, double value) {
  std::uint64_t pattern = 0;
  if (is_integer(kind)) {
    pattern = static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & low_bits(bits(kind));
  } else {
    const auto [exponent_bits, fraction_bits] = format(kind);
    const std::uint64_t sign = std::signbit(value) ? 1 : 0;
    std::uint64_t magnitude = 0;
    if (value != 0) {
      const int exponent = std::ilogb(value);
      const int biased = exponent + (1 << (exponent_bits - 1)) - 1;
      const double significand = std::ldexp(std::fabs(value), fraction_bits - exponent);  // 2^f .. 2^(f+1)
      magnitude = (static_cast<std::uint64_t>(biased) << fraction_bits) +
                  (static_cast<std::uint64_t>(significand) - (1ULL << fraction_bits));
    }
    pattern = sign << (exponent_bits + fraction_bits) | magnitude;
  }
  if (decode(kind, pattern) != value) {
    throw std::logic_error("the test wants a value that its type does not represent: " +
                           std::to_string(value));
  }
  return pattern;
}

double decode(Kind kind, std::uint64_t pattern) {
  if (is_signed(kind)) {
    const std::uint64_t sign = 1ULL << (bits(kind) - 1);
    return static_cast<double>(static_cast<std::int64_t>((pattern ^ sign) - sign));
  }
  if (is_integer(kind)) return static_cast<double>(pattern);
  const auto [exponent_bits, fraction_bits] = format(kind);
  const std::uint64_t fraction = pattern & low_bits(fraction_bits);
  const int biased = static_cast<int>(pattern >> fraction_bits & low_bits(exponent_bits));
  const int highest = (1 << exponent_bits) - 1, bias = (1 << (exponent_bits - 1)) - 1;
  double magnitude = std::ldexp(static_cast<double>(fraction), 1 - bias - fraction_bits);
  if (kind == Kind::e4m3 && biased == highest && fraction == 7) {  // e4m3 has one NaN and no infinity
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (kind != Kind::e4m3 && biased == highest) {
    magnitude =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (biased != 0) {
    magnitude =
        std::ldexp(static_cast<double>(fraction + (1ULL << fraction_bits)), biased - bias - fraction_bits);
  }
  return (pattern >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}

MmaSpec parse_mnemonic(const std::string& mnemonic) {
  std::vector<std::string> words;
  std::istringstream stream(mnemonic);
  for (std::string word; std::getline(stream, word, '.');) words.push_back(word);
  MmaSpec spec{};
  spec.sparse = words.at(1).rfind("sp", 0) == 0;  // "sp" or "sp::ordered_metadata"
  if (spec.sparse) words.erase(words.begin() + 1);
  if (std::sscanf(words.at(3).c_str(), "m%dn%dk%d", &spec.m, &spec.n, &spec.k) != 3) {
    throw std::logic_error("no shape in " + mnemonic);
  }
  spec.a_row_major = words.at(4) == "row";
  spec.b_row_major = words.at(5) == "row";
  std::size_t next = 6;
  spec.satfinite = words.at(next) == "satfinite";
  if (spec.satfinite) ++next;
  for (Kind* kind : {&spec.d, &spec.a, &spec.b, &spec.c}) *kind = kinds.at(words.at(next++));
  if (next < words.size()) {
    const std::string& last = words[next];
    if (last == "and") {
      spec.operation = MmaSpec::Operation::and_popc;
    } else if (last == "xor") {
      spec.operation = MmaSpec::Operation::xor_popc;
    } else {
      spec.rounding = last;
    }
  }
  return spec;
}

Registers pack(const MmaSpec& spec, Operand operand, const Matrices& source) {
  const Kind kind = kind_of(spec, operand);
  const int width = bits(kind);
  const int elements = source.matrices * source.rows * source.columns / 32;
  const int lane_words = elements * width / 32;
  Registers result(32 * lane_words);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < elements; ++e) {
      const Place p = place(spec, operand, lane, e);
      const std::uint64_t pattern = encode(kind, source.at(p.matrix, p.row, p.column));
      const int bit = e * width;
      std::uint32_t* word = &result[lane * lane_words + bit / 32];
      word[0] |= static_cast<std::uint32_t>(pattern << bit % 32);
      if (width == 64) word[1] = static_cast<std::uint32_t>(pattern >> 32);
    }
  }
  return result;
}

Matrices unpack(const MmaSpec& spec, Operand operand, const Registers& source) {
  const Kind kind = kind_of(spec, operand);
  const int width = bits(kind);
  Matrices result = empty(spec, operand);
  const int elements = static_cast<int>(result.values.size()) / 32;
  const int lane_words = elements * width / 32;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < elements; ++e) {
      const Place p = place(spec, operand, lane, e);
      const int bit = e * width;
      const std::uint32_t* word = &source.at(lane * lane_words + bit / 32);
      std::uint64_t pattern = word[0] >> bit % 32;
      if (width == 64) pattern |= static_cast<std::uint64_t>(word[1]) << 32;
      result.at(p.matrix, p.row, p.column) = decode(kind, pattern & low_bits(width));
    }
  }
  return result;
}

std::vector<std::uint8_t> sparsity_nibbles(const MmaSpec& spec) {
  if (spec.a == Kind::tf32) return {0b0100, 0b1110};
  return {0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
}

namespace {

// Whether the nibble keeps unit 0..3 (tf32: 0, 1) of its group.
bool keeps(const MmaSpec& spec, std::uint8_t nibble, int unit) {
  if (spec.a == Kind::tf32) return (nibble == 0b1110) == (unit == 1);
  return (nibble & 3) == unit || nibble >> 2 == unit;
}

bool keeps(const MmaSpec& spec, const Sparsity& sparsity, int row, int column) {
  const int unit = column / spec.unit_elements();
  return keeps(spec, sparsity.at(row * spec.groups() + unit / spec.group_units()), unit % spec.group_units());
}

// `count` nibbles of a row from group `first` on, the first lowest.
std::uint32_t word(const MmaSpec& spec, const Sparsity& sparsity, int row, int first, int count) {
  std::uint32_t result = 0;
  for (int i = 0; i < count; ++i) {
    result |= static_cast<std::uint32_t>(sparsity.at(row * spec.groups() + first + i)) << 4 * i;
  }
  return result;
}

}  // namespace

Matrices masked(const MmaSpec& spec, const Sparsity& sparsity, const Matrices& a) {
  Matrices result = a;
  for (int row = 0; row < spec.m; ++row) {
    for (int column = 0; column < spec.k; ++column) {
      if (!keeps(spec, sparsity, row, column)) result.at(0, row, column) = 0;
    }
  }
  return result;
}

Matrices compressed(const MmaSpec& spec, const Sparsity& sparsity, const Matrices& a) {
  Matrices result(1, spec.m, spec.k / 2);
  for (int row = 0; row < spec.m; ++row) {
    int kept = 0;
    for (int column = 0; column < spec.k; ++column) {
      if (keeps(spec, sparsity, row, column)) result.at(0, row, kept++) = a.at(0, row, column);
    }
    if (kept != spec.k / 2) throw std::logic_error("a row keeps other than half of its elements");
  }
  return result;
}

// PTX ISA, "Sparsity selector" and the figures of metadata: 16 bits a row where elements have 16 bits or
// more, else 32.
Registers pack_metadata(const MmaSpec& spec, const Sparsity& sparsity, int selector) {
  constexpr std::uint32_t wrong = 0xeeeeeeee;
  Registers result(32, wrong);
  const bool wide = bits(spec.a) >= 16;
  const int groups = spec.groups();
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    if (wide && groups == 4 && t == selector) {
      result[lane] = word(spec, sparsity, g, 0, 4) | word(spec, sparsity, g + 8, 0, 4) << 16;
    } else if (wide && groups == 8 && t / 2 == selector) {
      const int first = 4 * (t % 2);
      result[lane] = word(spec, sparsity, g, first, 4) | word(spec, sparsity, g + 8, first, 4) << 16;
    } else if (!wide && groups == 8 && t / 2 == selector) {
      result[lane] = word(spec, sparsity, g + 8 * (t % 2), 0, 8);
    } else if (!wide && groups == 16) {
      result[lane] = word(spec, sparsity, g + 8 * (t % 2), 8 * (t / 2), 8);
    }
  }
  return result;
}

Matrices reference(const MmaSpec& spec, const Matrices& a, const Matrices& b, const Matrices& c) {
  const RoundingScope scope(spec.rounding);
  Matrices d = empty(spec, Operand::d);
  for (int matrix = 0; matrix < d.matrices; ++matrix) {
    for (int row = 0; row < spec.m; ++row) {
      for (int column = 0; column < spec.n; ++column) {
        double sum = c.at(matrix, row, column);
        for (int k = 0; k < spec.k; ++k) {
          const double x = a.at(matrix, row, k), y = b.at(matrix, k, column);
          switch (spec.operation) {
            case MmaSpec::Operation::multiply:
              sum = std::fma(x, y, sum);
              break;
            case MmaSpec::Operation::and_popc:
              sum += x != 0 && y != 0 ? 1 : 0;
              break;
            case MmaSpec::Operation::xor_popc:
              sum += x != y ? 1 : 0;
              break;
          }
        }
        d.at(matrix, row, column) = spec.d == Kind::s32 ? finish_integer(sum, spec.satfinite) : sum;
      }
    }
  }
  return d;
}

}  // namespace tenon::test
