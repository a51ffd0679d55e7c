// The scalar video instructions (PTX ISA 9.7.18.1): vadd vsub vabsdiff vmin vmax vshl vshr vmad vset on a
// word, half-word or byte of each operand.
//
// ptxas makes sequences of other instructions of them, and not all of these compute what the PTX ISA says:
// vadd.u32.u32.u32.sat does not clamp at 2^32 - 1, for example. The results here are those of the ISA, and a
// result that GPUs are not known to share is a finding. Which they share was read from the machine code of
// ptxas 12.4, 13.0 and 13.5 for sm_80, sm_86 and sm_90, and seen on an H200 for .h1.
#include <algorithm>
#include <cstdio>

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

// A result, and why GPUs may compute another one; null if they do not.
struct Answer {
  Bits bits = 0;
  const char* doubt = nullptr;
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

// 2^32 a and more becomes +-2^62, which is beyond every range, and whose low word is the same.
std::int64_t shifted_left(std::int64_t a, std::int64_t by) {
  constexpr std::int64_t beyond = std::int64_t{1} << 62;
  if (by < 32) return a * (std::int64_t{1} << by);
  return a == 0 ? 0 : a > 0 ? beyond : -beyond;
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
      return d.operation == Operation::shl ? shifted_left(a, by) : a >> by;
    }
    case Operation::set:
      return holds(d.comparison, a, b) ? 1 : 0;
    case Operation::mad:
      break;
  }
  return 0;
}

// Why GPUs may saturate the intermediate result to another value, or null.
const char* doubt_of_saturation(const VideoDetail& d, std::int64_t value) {
  const bool is_word = d.result.width == 32;
  const bool is_within = value >= d.result.least() && value <= d.result.most();
  if (d.operation == Operation::shl || (d.operation == Operation::shr && !is_word))
    return is_within ? nullptr : "they ignore .sat of shifts";
  if (d.operation == Operation::shr) return nullptr;
  if (is_word)
    return d.result.is_signed || value <= UINT32_MAX ? nullptr : "their .sat has no upper bound of 2^32 - 1";
  const bool is_low_word = value <= UINT32_MAX || !(d.a.is_signed || d.b.is_signed);
  return value >= 0 && is_low_word
             ? nullptr
             : "their .sat to a part takes the intermediate result for an unsigned word";
}

Answer video(const VideoDetail& d, Bits a, Bits b, Bits c) {
  Answer answer;
  std::int64_t value = intermediate(d, d.a.of(a), d.b.of(b));
  if (d.saturates) {
    answer.doubt = doubt_of_saturation(d, value);
    value = std::clamp(value, d.result.least(), d.result.most());
  }
  if (d.is_merged) {
    const Bits mask = mask_of(d.result.width) << d.result.shift;
    answer.bits = (c & ~mask & mask_of(32)) | (static_cast<Bits>(value) << d.result.shift & mask);
    if (d.result.shift == 16 && d.result.width == 16 && ((value ^ value >> 16) & 0xffff) != 0)
      answer.doubt = "a destination .h1 gets bits 31 to 16 of their intermediate result";
    return answer;
  }
  const std::int64_t third = Part{0, 32, d.result.is_signed}.of(c);
  if (d.second == Second::min || d.second == Second::max) {
    const bool is_set = d.operation == Operation::set;
    if (is_set ? d.a.is_signed && third > INT32_MAX
               : value > INT32_MAX || value < (d.result.is_signed ? INT32_MIN : 0))
      answer.doubt = is_set ? "they compare c as a signed word"
                            : "they compare an intermediate result beyond 31 bits in another way";
    value = d.second == Second::min ? std::min(value, third) : std::max(value, third);
  } else if (d.second == Second::add) {
    value += third;
  }
  answer.bits = static_cast<Bits>(value) & mask_of(32);
  return answer;
}

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): only so is it no extension to -Wpedantic

Answer video_mad(const VideoDetail& d, Bits a, Bits b, Bits c) {
  const std::int64_t left = d.a.of(a), right = d.b.of(b);
  const bool is_product_signed = d.a.is_signed || d.b.is_signed || d.negates_product;
  const bool is_signed = is_product_signed || d.negates_c;
  const std::int64_t third = Part{0, 32, is_signed}.of(c);
  const Wide product = d.negates_product ? -(Wide{left} * right) : Wide{left} * right;
  Wide value = product + (d.negates_c ? -Wide{third} : Wide{third}) + (d.plus_one ? 1 : 0);
  value >>= d.scale;
  Answer answer;
  if (d.saturates || d.scale != 0) {
    const bool is_c_doubtful = !is_product_signed && static_cast<std::uint32_t>(c) > INT32_MAX;
    if (left > INT32_MAX || right > INT32_MAX || is_c_doubtful || (!is_signed && value > INT32_MAX))
      answer.doubt = "they multiply and add words as signed ones";
  }
  if (d.saturates)
    value =
        std::clamp<Wide>(value, is_signed ? INT32_MIN : 0, is_signed ? Wide{INT32_MAX} : Wide{UINT32_MAX});
  answer.bits = static_cast<Bits>(value) & mask_of(32);
  return answer;
}

std::string doubt_about(const Op& op, const Answer& answer) {
  char bits[16];
  std::snprintf(bits, sizeof bits, "0x%08x", static_cast<unsigned>(answer.bits));
  return op.instruction->text() + " is " + bits +
         " in the PTX ISA, but GPUs may compute another value: " + answer.doubt + ".";
}

template <Answer (*answer_of)(const VideoDetail&, Bits, Bits, Bits)>
Flow run(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const VideoDetail&>(*op.detail);
  Warp::LaneBuffer constants[3], unused;
  const Bits* const a = warp.gather(op.values[1], constants[0]);
  const Bits* const b = warp.gather(op.values[2], constants[1]);
  const Bits* const c = warp.gather(op.values[3], constants[2]);
  Bits* const results = warp.scatter(op.values[0], unused);
  for_each_lane(active, [&](int lane) {
    const Answer answer = answer_of(d, a[lane], b[lane], c[lane]);
    if (answer.doubt != nullptr)
      warp.report(FindingKind::argument, lane, 0, [&] { return doubt_about(op, answer); });
    results[lane] = answer.bits;
  });
  return Flow::next;
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
  if (decoding.op().values.empty() && std::holds_alternative<ptx::Immediate>(whole.value))
    decoding.fail("the destination is not a register");
  decoding.require_width(whole, Type::u32);
  decoding.op().values.push_back(decoding.scope().value(whole, Type::u32));
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
  d.is_merged = d.result.width != 32;
  if (d.is_merged && d.second != Second::none)
    decoding.fail("a part of the destination and a second operation exclude each other");
  const bool needs_c = d.is_merged || d.second != Second::none;
  if (needs_c != (decoding.count() == 4))
    decoding.fail(needs_c ? "the operand c is missing" : "an operand c is given, and nothing uses it");
  for (int i = 0; i < 3; ++i) push(decoding, decoding.operand(i), false);
  if (needs_c)
    decoding.source(3, Type::u32);
  else
    op.values.emplace_back();
  op.detail = std::move(detail);
  op.handler = run<video>;
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
  for (int i = 0; i < 4; ++i) push(decoding, decoding.operand(i), i != 0);
  op.detail = std::move(detail);
  op.handler = run<video_mad>;
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
