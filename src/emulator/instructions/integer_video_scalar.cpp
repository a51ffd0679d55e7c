// The scalar video instructions (PTX ISA 9.7.18.1): vadd vsub vabsdiff vmin vmax vshl vshr vmad vset on a
// word, half-word or byte of each operand.
//
// ptxas makes sequences of other instructions of them, and not all of these compute what the PTX ISA says:
// vadd.u32.u32.u32.sat does not clamp at 2^32 - 1, for example. What the two agree about is
// executed here. The rest is refused: saturation, minima and maxima of intermediate results that may leave
// the range in which both agree.
#include <algorithm>

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace scalar_video {
namespace {

using ptx::Type;

enum class Operation : std::uint8_t { add, sub, absdiff, min, max, shl, shr, mad, set };
enum class Second : std::uint8_t { none, add, min, max };

// A word, half-word or byte of a register.
struct Part {
  int shift = 0, width = 32;
  bool is_signed = false;

  std::int64_t of(Bits bits) const {
    const auto part = static_cast<std::int64_t>(bits >> shift & mask_of(width));
    const std::int64_t sign = std::int64_t{1} << (width - 1);
    return is_signed ? (part ^ sign) - sign : part;
  }
  std::int64_t least() const { return is_signed ? -(std::int64_t{1} << (width - 1)) : 0; }
  std::int64_t most() const { return (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1; }
};

struct VideoDetail : Detail {
  Operation operation = Operation::add;
  int comparison = 0;
  Part a, b, result;
  bool wraps = false, saturates = false, is_merged = false;
  Second second = Second::none;
  bool negates_product = false, negates_c = false, plus_one = false;
  int scale = 0;
};

bool holds(int comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    default:
      return a >= b;
  }
}

std::int64_t intermediate(const VideoDetail& d, std::int64_t a, std::int64_t b) {
  switch (d.operation) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::absdiff:
      return a < b ? b - a : a - b;
    case Operation::min:
      return std::min(a, b);
    case Operation::max:
      return std::max(a, b);
    case Operation::shl:
    case Operation::shr: {
      const std::int64_t by = d.wraps ? b & 31 : std::min<std::int64_t>(b, 32);
      if (d.operation == Operation::shr) return a >> by;
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by &
                                       mask_of(32));  // all that is used
    }
    case Operation::set:
      return holds(d.comparison, a, b) ? 1 : 0;
    case Operation::mad:
      break;
  }
  return 0;
}

Bits video(Bits a, Bits b, Bits c, const Op& op) {
  const auto& d = static_cast<const VideoDetail&>(*op.detail);
  std::int64_t value = intermediate(d, d.a.of(a), d.b.of(b));
  if (d.saturates) value = std::clamp(value, d.result.least(), d.result.most());
  if (d.is_merged) {
    const Bits mask = mask_of(d.result.width) << d.result.shift;
    return (c & ~mask & mask_of(32)) | (static_cast<Bits>(value) << d.result.shift & mask);
  }
  const Part word{0, 32, d.result.is_signed};
  switch (d.second) {
    case Second::none:
      break;
    case Second::add:
      value += word.of(c);
      break;
    case Second::min:
      value = std::min(value, word.of(c));
      break;
    case Second::max:
      value = std::max(value, word.of(c));
      break;
  }
  return static_cast<Bits>(value) & mask_of(32);
}

// The product and the sum in 64 bits: exact if the result is saturated or scaled, else the low word is used.
Bits video_mad(Bits a, Bits b, Bits c, const Op& op) {
  const auto& d = static_cast<const VideoDetail&>(*op.detail);
  auto product = static_cast<std::uint64_t>(d.a.of(a)) * static_cast<std::uint64_t>(d.b.of(b));
  auto addend = static_cast<std::uint64_t>(Part{0, 32, true}.of(c));
  if (d.negates_product) product = -product;
  if (d.negates_c) addend = -addend;
  auto value = static_cast<std::int64_t>(product + addend + (d.plus_one ? 1 : 0)) >> d.scale;
  if (d.saturates) value = std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX);
  return static_cast<Bits>(value) & mask_of(32);
}

// --- decoding

Part part_of(Decoding& decoding, const ptx::Operand& operand, bool is_signed) {
  const std::string& part = operand.part;
  if (part.empty()) return {0, 32, is_signed};
  const int width = part[0] == 'h' ? 16 : 8, index = part[1] - '0';
  if (part.size() != 2 || index >= 32 / width)
    decoding.fail("." + part + " is given where a part of one register is needed: .b0 to .b3, .h0 or .h1");
  return {width * index, width, is_signed};
}

// The operand without what only video instructions allow.
void push(Decoding& decoding, const ptx::Operand& operand, bool may_be_negated) {
  ptx::Operand whole = operand;
  whole.part.clear();
  if (may_be_negated) whole.negated = false;
  if (whole.predicate) decoding.fail("a second destination is given where the instruction has only one");
  decoding.require_width(whole, Type::u32);
  decoding.op().values.push_back(decoding.scope().value(whole, Type::u32));
}

struct Range {
  std::int64_t least, most;
  bool is_within(std::int64_t low, std::int64_t high) const { return least >= low && most <= high; }
};

// Of the intermediate result; any, for shifts to the left.
Range range_of(const VideoDetail& d) {
  const Part &a = d.a, &b = d.b;
  switch (d.operation) {
    case Operation::add:
      return {a.least() + b.least(), a.most() + b.most()};
    case Operation::sub:
      return {a.least() - b.most(), a.most() - b.least()};
    case Operation::absdiff:
      return {0, std::max(a.most() - b.least(), b.most() - a.least())};
    case Operation::min:
      return {std::min(a.least(), b.least()), std::min(a.most(), b.most())};
    case Operation::max:
      return {std::max(a.least(), b.least()), std::max(a.most(), b.most())};
    case Operation::shr:
      return {a.least(), a.most()};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

[[noreturn]] void refuse(Decoding& decoding, const std::string& what) {
  decoding.fail(what +
                " is not known here: GPUs and the PTX ISA differ about it where values leave the range of "
                "the result; select bytes or half-words as operands, so that they cannot");
}

void check_range(Decoding& decoding, const VideoDetail& d) {
  Range range = range_of(d);
  if (d.saturates) {
    const bool is_word = d.result.width == 32;
    if (d.operation == Operation::shl || (!is_word && range.least < 0) ||
        (is_word && !d.result.is_signed && range.most > UINT32_MAX))
      refuse(decoding, ".sat");
    range = {std::max(range.least, d.result.least()), std::min(range.most, d.result.most())};
  }
  if ((d.second == Second::min || d.second == Second::max) &&
      (d.operation == Operation::set || !range.is_within(d.result.is_signed ? INT32_MIN : 0, INT32_MAX)))
    refuse(decoding, d.second == Second::min ? ".min" : ".max");
}

// vop.dtype.atype.btype{.sat}{.op2} d{.part}, a{.part}, b{.part} {, c}; shifts have .clamp or .wrap, and
// vset has a comparison, and no dtype.
template <Operation operation>
void decode_video(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<VideoDetail>();
  VideoDetail& d = *detail;
  d.operation = operation;
  const auto is_next_signed = [&] { return decoding.type({Type::u32, Type::s32}) == Type::s32; };
  const bool is_signed = operation != Operation::set && is_next_signed(), a_is_signed = is_next_signed();
  const bool b_is_signed = is_next_signed();
  if constexpr (operation == Operation::set)
    d.comparison = decoding.require_one({"eq", "ne", "lt", "le", "gt", "ge"});
  else
    d.saturates = decoding.accept("sat");
  if constexpr (operation == Operation::shl || operation == Operation::shr) {
    if (b_is_signed) decoding.fail("the number of bits to shift by is of the type .u32");
    d.wraps = decoding.require_one({"clamp", "wrap"}) == 1;
  }
  d.second = static_cast<Second>(decoding.accept_one({"add", "min", "max"}) + 1);
  decoding.finish();
  decoding.require_count(3, 4);
  d.result = part_of(decoding, decoding.operand(0), is_signed);
  d.a = part_of(decoding, decoding.operand(1), a_is_signed);
  d.b = part_of(decoding, decoding.operand(2), b_is_signed);
  if (decoding.operand(0).part == "h1")
    decoding.fail(
        "a destination .h1 is not known here: GPUs and the PTX ISA differ about it. It gets bits 31 to 16 of "
        "the result (an H200, CUDA 13.0), in the ISA bits 15 to 0; .h0 and bytes are what the ISA says");
  d.is_merged = d.result.width != 32;
  if (d.is_merged && d.second != Second::none)
    decoding.fail("a part of the destination and a second operation exclude each other");
  const bool needs_c = d.is_merged || d.second != Second::none;
  if (needs_c != (decoding.count() == 4))
    decoding.fail(needs_c ? "the operand c is missing" : "an operand c is given, and nothing uses it");
  check_range(decoding, d);
  for (int i = 0; i < 3; ++i) push(decoding, decoding.operand(i), false);
  if (needs_c)
    decoding.source(3, Type::u32);
  else
    op.values.emplace_back();
  op.detail = std::move(detail);
  op.handler = lanewise::run_with_op<video>;
}

// vmad.dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.part}, {-}b{.part}, {-}c
void decode_mad(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<VideoDetail>();
  VideoDetail& d = *detail;
  d.operation = Operation::mad;
  decoding.type({Type::u32, Type::s32});  // the signs of the operands decide about that of the result
  const bool a_is_signed = decoding.type({Type::u32, Type::s32}) == Type::s32;
  const bool b_is_signed = decoding.type({Type::u32, Type::s32}) == Type::s32;
  d.plus_one = decoding.accept("po");
  d.saturates = decoding.accept("sat");
  const int scale = decoding.accept_one({"shr7", "shr15"});
  d.scale = scale < 0 ? 0 : scale == 0 ? 7 : 15;
  decoding.finish();
  decoding.require_count(4, 4);
  if (!decoding.operand(0).part.empty()) decoding.fail("the destination has no parts");
  d.a = part_of(decoding, decoding.operand(1), a_is_signed);
  d.b = part_of(decoding, decoding.operand(2), b_is_signed);
  d.negates_product = decoding.operand(1).negated != decoding.operand(2).negated;
  d.negates_c = decoding.operand(3).negated;
  const bool is_negated = decoding.operand(1).negated || decoding.operand(2).negated || d.negates_c;
  if (d.plus_one && is_negated) decoding.fail(".po excludes negated operands");
  if (d.negates_product && d.negates_c) decoding.fail("either the product or c may be negated");
  // ptxas multiplies words as signed ones, and extends c as a signed word, where the ISA says otherwise.
  const bool is_product_signed = a_is_signed || b_is_signed || d.negates_product;
  if ((d.saturates || d.scale != 0) &&
      (!is_product_signed || d.a.most() > INT32_MAX || d.b.most() > INT32_MAX))
    refuse(decoding, d.saturates ? ".sat" : ".shr");
  for (int i = 0; i < 4; ++i) push(decoding, decoding.operand(i), i != 0);
  op.detail = std::move(detail);
  op.handler = lanewise::run_with_op<video_mad>;
}

}  // namespace
}  // namespace scalar_video

void add_scalar_video_instructions(Decoders& decoders) {
  using namespace scalar_video;
  decoders["vadd"] = decode_video<Operation::add>;
  decoders["vsub"] = decode_video<Operation::sub>;
  decoders["vabsdiff"] = decode_video<Operation::absdiff>;
  decoders["vmin"] = decode_video<Operation::min>;
  decoders["vmax"] = decode_video<Operation::max>;
  decoders["vshl"] = decode_video<Operation::shl>;
  decoders["vshr"] = decode_video<Operation::shr>;
  decoders["vmad"] = decode_mad;
  decoders["vset"] = decode_video<Operation::set>;
}

}  // namespace tenon::emulator
