// setp and set (PTX ISA 9.7.6): compare, combine with a predicate, write predicates or a word.
#include "emulator/instructions/float_on_host.hpp"
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using numerics::Format;
using ptx::Type;

// A comparison is the set of outcomes for which it is true.
enum : std::uint8_t { less = 1, equal = 2, greater = 4, unordered = 8 };

struct Comparison {
  const char* name;
  std::uint8_t outcomes;
};
constexpr Comparison comparisons[] = {
    {"eq", equal},
    {"ne", less | greater},
    {"lt", less},
    {"le", less | equal},
    {"gt", greater},
    {"ge", greater | equal},
    {"lo", less},  // of unsigned integers, like the next three
    {"ls", less | equal},
    {"hi", greater},
    {"hs", greater | equal},
    {"equ", equal | unordered},  // of floating-point numbers, like those below
    {"neu", less | greater | unordered},
    {"ltu", less | unordered},
    {"leu", less | equal | unordered},
    {"gtu", greater | unordered},
    {"geu", greater | equal | unordered},
    {"num", less | equal | greater},
    {"nan", unordered},
};
constexpr int first_unsigned = 6, first_float = 10;

template <class T>
std::uint8_t outcome(T a, T b) {
  return a < b ? less : a > b ? greater : a == b ? equal : unordered;
}

// --- an instance for each type; in the fast loop the outcomes are a template argument

template <class T>
struct OfIntegers {
  static std::uint8_t compare(Bits a, Bits b) { return outcome(static_cast<T>(a), static_cast<T>(b)); }
};
template <bool flush>
struct OfF32 {
  static float number(Bits bits) {
    if (flush && (bits & 0x7f800000) == 0) bits &= 0x80000000;
    return on_host::float_of(bits);
  }
  static std::uint8_t compare(Bits a, Bits b) { return outcome(number(a), number(b)); }
};
struct OfF64 {
  static std::uint8_t compare(Bits a, Bits b) {
    return outcome(on_host::double_of(a), on_host::double_of(b));
  }
};
template <const Format& format, bool flush>
struct OfHalves {
  static std::uint8_t compare(Bits a, Bits b) {
    if (flush) {
      a = numerics::flush_subnormal(format, a);
      b = numerics::flush_subnormal(format, b);
    }
    switch (arithmetic::compare(format, a, b)) {
      case arithmetic::Order::less:
        return less;
      case arithmetic::Order::equal:
        return equal;
      case arithmetic::Order::greater:
        return greater;
      default:
        return unordered;
    }
  }
};

template <class Type, int outcomes>
Bits holds(Bits a, Bits b) {
  return (Type::compare(a, b) & outcomes) != 0 ? 1 : 0;
}

// The handler of a setp that writes one predicate and combines it with none.
template <class Type>
Handler plain_handler(int outcomes) {
  switch (outcomes) {
    case equal:
      return lanewise::run<&holds<Type, equal>>;
    case less | greater:
      return lanewise::run<&holds<Type, less | greater>>;
    case less:
      return lanewise::run<&holds<Type, less>>;
    case less | equal:
      return lanewise::run<&holds<Type, less | equal>>;
    case greater:
      return lanewise::run<&holds<Type, greater>>;
    case greater | equal:
      return lanewise::run<&holds<Type, greater | equal>>;
    case less | greater | unordered:
      return lanewise::run<&holds<Type, less | greater | unordered>>;
    default:
      return nullptr;
  }
}

using Compare = std::uint8_t (*)(Bits, Bits);
struct Choice {
  Compare compare = nullptr;
  Handler plain = nullptr;
};
template <class T>
Choice choice(int outcomes) {
  return {&T::compare, plain_handler<T>(outcomes)};
}

Choice choose(Type type, bool flush, int outcomes) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return choice<OfIntegers<std::uint16_t>>(outcomes);
    case Type::b32:
    case Type::u32:
      return choice<OfIntegers<std::uint32_t>>(outcomes);
    case Type::b64:
    case Type::u64:
      return choice<OfIntegers<std::uint64_t>>(outcomes);
    case Type::s16:
      return choice<OfIntegers<std::int16_t>>(outcomes);
    case Type::s32:
      return choice<OfIntegers<std::int32_t>>(outcomes);
    case Type::s64:
      return choice<OfIntegers<std::int64_t>>(outcomes);
    case Type::f32:
      return flush ? choice<OfF32<true>>(outcomes) : choice<OfF32<false>>(outcomes);
    case Type::f64:
      return choice<OfF64>(outcomes);
    case Type::bf16:
    case Type::bf16x2:
      return choice<OfHalves<numerics::bf16, false>>(outcomes);
    default:  // f16, f16x2
      return flush ? choice<OfHalves<numerics::f16, true>>(outcomes)
                   : choice<OfHalves<numerics::f16, false>>(outcomes);
  }
}

// --- the general case

enum class Combination : std::uint8_t { none, and_, or_, xor_ };

struct CompareDetail : Detail {
  Compare compare = nullptr;
  std::uint8_t outcomes = 0;
  Combination combination = Combination::none;
  bool negated = false;  // the predicate combined with
  bool packed = false;   // two elements of 16 bits
  Bits true_value = 0;   // of set, for each element

  bool combine(bool t, bool c) const {
    switch (combination) {
      case Combination::and_:
        return t && c;
      case Combination::or_:
        return t || c;
      case Combination::xor_:
        return t != c;
      default:
        return t;
    }
  }
  bool holds(Bits a, Bits b) const { return (compare(a, b) & outcomes) != 0; }
};

const CompareDetail& detail_of(const Op& op) {
  return static_cast<const CompareDetail&>(*op.detail);
}

// values: p, q, a, b, c. q is the complement, combined with c; for packed types, the upper elements' result.
Flow setp(Warp& warp, const Op& op, LaneMask active) {
  const CompareDetail& detail = detail_of(op);
  for_each_lane(active, [&](int lane) {
    const Bits a = warp.read(op.values[2], lane), b = warp.read(op.values[3], lane);
    const bool c = (warp.read(op.values[4], lane) != 0) != detail.negated;
    bool first, second;
    if (detail.packed) {
      first = detail.holds(a & 0xffff, b & 0xffff);
      second = detail.holds(a >> 16, b >> 16);
    } else {
      first = detail.holds(a, b);
      second = !first;
    }
    warp.write(op.values[0], lane, detail.combine(first, c) ? 1 : 0);
    warp.write(op.values[1], lane, detail.combine(second, c) ? 1 : 0);
  });
  return Flow::next;
}

// values: d, a, b, c
Flow set(Warp& warp, const Op& op, LaneMask active) {
  const CompareDetail& detail = detail_of(op);
  for_each_lane(active, [&](int lane) {
    const Bits a = warp.read(op.values[1], lane), b = warp.read(op.values[2], lane);
    const bool c = (warp.read(op.values[3], lane) != 0) != detail.negated;
    Bits result;
    if (detail.packed) {
      const Bits low = detail.combine(detail.holds(a & 0xffff, b & 0xffff), c) ? detail.true_value : 0;
      const Bits high = detail.combine(detail.holds(a >> 16, b >> 16), c) ? detail.true_value : 0;
      result = high << 16 | low;
    } else {
      result = detail.combine(detail.holds(a, b), c) ? detail.true_value : 0;
    }
    warp.write(op.values[0], lane, result);
  });
  return Flow::next;
}

// --- decoding

const Comparison& comparison(Decoding& decoding, int& index) {
  index = 0;
  for (const Comparison& candidate : comparisons) {
    if (decoding.accept(candidate.name)) return candidate;
    ++index;
  }
  decoding.fail("a comparison is needed: .eq, .ne, .lt, .le, .gt, .ge, ...");
}

// .and, .or or .xor
Combination combination(Decoding& decoding) {
  return static_cast<Combination>(decoding.accept_one({"and", "or", "xor"}) + 1);
}

void check(Decoding& decoding, Type type, int index, bool flush) {
  const bool bits = type == Type::b16 || type == Type::b32 || type == Type::b64;
  const bool floating = !bits && !is_integer(type);
  const bool allowed = index < 2 || (bits                      ? false
                                     : index >= first_float    ? floating
                                     : index >= first_unsigned ? !floating && !is_signed(type)
                                                               : true);
  if (!allowed) {
    decoding.fail("the comparison ." + std::string(comparisons[index].name) + " does not go with ." +
                  name(type));
  }
  if (flush && type != Type::f32 && type != Type::f16 && type != Type::f16x2) {
    decoding.fail("." + std::string(name(type)) + " has no .ftz");
  }
}

// The predicate that the result is combined with, if any, as the next value.
void combined_operand(Decoding& decoding, CompareDetail& detail) {
  const int needed = detail.combination == Combination::none ? 3 : 4;
  decoding.require_count(needed, needed);
  if (needed == 4) {
    detail.negated = decoding.predicate(3);
  } else {
    decoding.op().values.emplace_back();
  }
}

constexpr std::initializer_list<Type> comparable = {
    Type::b16, Type::b32, Type::b64,   Type::u16,  Type::u32,    Type::u64, Type::s16, Type::s32,
    Type::s64, Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64};

void decode_setp(Decoding& decoding) {
  auto detail = std::make_unique<CompareDetail>();
  int index;
  detail->outcomes = comparison(decoding, index).outcomes;
  detail->combination = combination(decoding);
  const bool flush = decoding.accept("ftz");
  const Type type = decoding.type(comparable);
  check(decoding, type, index, flush);
  detail->packed = is_packed(type);
  const Choice chosen = choose(type, flush, detail->outcomes);
  detail->compare = chosen.compare;
  decoding.require_count(3, 4);
  Op& op = decoding.op();
  if (decoding.operand(0).predicate && (type == Type::f16 || type == Type::bf16)) {
    decoding.fail("a comparison of ." + std::string(name(type)) + " writes one predicate only");
  }
  const bool one = !decoding.operand(0).predicate && !detail->packed &&
                   detail->combination == Combination::none && chosen.plain != nullptr;
  if (one) {
    decoding.require_count(3, 3);
    decoding.destination(0, Type::pred);
  } else {
    decoding.destination_pair(0, Type::pred, Type::pred);
  }
  decoding.source(1, type);
  decoding.source(2, type);
  if (one) {
    op.handler = chosen.plain;
    return;
  }
  combined_operand(decoding, *detail);
  op.detail = std::move(detail);
  op.handler = setp;
}

// 1.0 in floating-point types, all ones in integers.
Bits true_value(Type type) {
  if (is_integer(type)) return mask_of(width(type));
  const Format& format = format_of(type);
  return static_cast<Bits>(format.bias()) << format.fraction_bits;
}

void decode_set(Decoding& decoding) {
  auto detail = std::make_unique<CompareDetail>();
  int index;
  detail->outcomes = comparison(decoding, index).outcomes;
  detail->combination = combination(decoding);
  const bool flush = decoding.accept("ftz");
  const Type to = decoding.type({Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::bf16, Type::f32,
                                 Type::f16x2, Type::bf16x2});
  const Type type = decoding.type(comparable);
  check(decoding, type, index, flush);
  const bool half = type == Type::f16 || type == Type::bf16;
  detail->packed = is_packed(type);
  const bool refused = half && (to == Type::f32 || (to == Type::f16 && type == Type::bf16));
  bool allowed = !is_packed(to) && !refused;
  if (detail->packed) {
    allowed = to == type || to == Type::u32 || to == Type::s32;
  } else if (to == Type::u16 || to == Type::s16) {
    allowed = half;
  }
  if (!allowed) {
    decoding.fail("a comparison of ." + std::string(name(type)) + " has no result of type ." + name(to));
  }
  detail->compare = choose(type, flush, detail->outcomes).compare;
  detail->true_value = detail->packed && is_integer(to) ? 0xffff : true_value(to);
  decoding.require_count(3, 4);
  decoding.destination(0, to);
  decoding.source(1, type);
  decoding.source(2, type);
  combined_operand(decoding, *detail);
  decoding.op().detail = std::move(detail);
  decoding.op().handler = set;
}

}  // namespace

void add_compare_instructions(Decoders& decoders) {
  decoders["setp"] = decoder<decode_setp>;
  decoders["set"] = decoder<decode_set>;
}

}  // namespace tenon::emulator
