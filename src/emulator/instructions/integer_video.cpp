// The SIMD video instructions on two 16-bit or four 8-bit parts of a register (PTX ISA 9.7.17): vadd2 vsub2
// vavrg2 vabsdiff2 vmin2 vmax2 vset2, and the same with 4. A source selects its parts among those of both
// registers, a and b; a mask says which parts of the result are computed.
#include <algorithm>
#include <array>
#include <functional>

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace simd_video {
namespace {

using ptx::Type;

constexpr const char* operations[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"};
constexpr int vset = 6;

// A source: where in b:a, which are 64 bits, each of its parts begins.
struct Source {
  std::array<std::uint8_t, 4> shifts{};
  bool is_signed = false;
};

struct VideoDetail : Detail {
  std::uint32_t operation = 0;  // of vset 6 + which comparison
  int width = 16;               // of a part
  Source a, b;
  std::array<bool, 4> is_computed{};  // the mask
  bool result_is_signed = false, saturates = false, accumulates = false;
};

std::int32_t part_of(Bits bits, int shift, int width, bool is_signed) {
  const auto part = static_cast<std::int32_t>(bits >> shift & mask_of(width));
  const std::int32_t sign = 1 << (width - 1);
  return is_signed ? (part ^ sign) - sign : part;
}

std::int32_t combined(std::uint32_t operation, std::int32_t a, std::int32_t b) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:  // a half rounds up, for negative sums down
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case 3:
      return a < b ? b - a : a - b;
    case 4:
      return std::min(a, b);
    case 5:
      return std::max(a, b);
    case vset:
      return a == b ? 1 : 0;
    case vset + 1:
      return a != b ? 1 : 0;
    case vset + 2:
      return a < b ? 1 : 0;
    case vset + 3:
      return a <= b ? 1 : 0;
    case vset + 4:
      return a > b ? 1 : 0;
    default:
      return a >= b ? 1 : 0;
  }
}

Bits video(Bits a, Bits b, Bits c, const Op& op) {
  const auto& d = static_cast<const VideoDetail&>(*op.detail);
  const std::int32_t least = d.result_is_signed ? -(1 << (d.width - 1)) : 0;
  const std::int32_t most = d.result_is_signed ? (1 << (d.width - 1)) - 1 : (1 << d.width) - 1;
  const Bits both = b << 32 | a;
  Bits merged = c, sum = c;
  for (int i = 0; i < 32 / d.width; ++i) {
    if (!d.is_computed[i]) continue;
    std::int32_t part = combined(d.operation, part_of(both, d.a.shifts[i], d.width, d.a.is_signed),
                                 part_of(both, d.b.shifts[i], d.width, d.b.is_signed));
    if (d.saturates) part = std::clamp(part, least, most);
    const Bits mask = mask_of(d.width) << (i * d.width);
    merged = (merged & ~mask) | (static_cast<Bits>(part) << (i * d.width) & mask);
    sum += static_cast<Bits>(part);
  }
  return (d.accumulates ? sum : merged) & mask_of(32);
}

// "b3210" or "h10": the parts that an operand of the instruction names, the highest first.
std::string parts_of(Decoding& decoding, int operand, int width, const char* all) {
  const std::string& part = decoding.operand(operand).part;
  if (part.empty()) return all;
  if (part[0] != (width == 16 ? 'h' : 'b'))
    decoding.fail("." + part + " is given where " + (width == 16 ? "half-words (.h)" : "bytes (.b)") +
                  " are needed");
  return part.substr(1);
}

Source source_of(Decoding& decoding, int operand, int width, bool is_signed) {
  const bool is_a = operand == 1;
  const std::string parts = parts_of(decoding, operand, width,
                                     width == 16 ? is_a ? "10" : "32"
                                     : is_a      ? "3210"
                                                 : "7654");
  const int count = 32 / width;
  Source source;
  source.is_signed = is_signed;
  const bool is_known = std::all_of(parts.begin(), parts.end(), [&](char c) { return c - '0' < 2 * count; });
  if (static_cast<int>(parts.size()) != count || !is_known)
    decoding.fail(
        "." + decoding.operand(operand).part + " is given where a source needs " +
        (width == 16 ? "two half-words of 0 to 3, such as .h32" : "four bytes of 0 to 7, such as .b7654"));
  for (int i = 0; i < count; ++i)
    source.shifts[i] = static_cast<std::uint8_t>(width * (parts[count - 1 - i] - '0'));
  return source;
}

std::array<bool, 4> mask_given(Decoding& decoding, int width) {
  const std::string parts = parts_of(decoding, 0, width, width == 16 ? "10" : "3210");
  const bool descends = std::adjacent_find(parts.begin(), parts.end(), std::less_equal<>()) == parts.end();
  if (parts[0] - '0' >= 32 / width || !descends)
    decoding.fail("." + decoding.operand(0).part + " is given where the destination needs a mask of " +
                  (width == 16 ? "half-words, .h0, .h1 or .h10" : "bytes, the highest first, such as .b310"));
  std::array<bool, 4> mask{};
  for (const char part : parts) mask[part - '0'] = true;
  return mask;
}

// The operand without its parts.
Value register_of(Decoding& decoding, int operand) {
  ptx::Operand whole = decoding.operand(operand);
  whole.part.clear();
  if (whole.predicate) decoding.fail("a second destination is given where the instruction has only one");
  if (operand == 0 && std::holds_alternative<ptx::Immediate>(whole.value))
    decoding.fail("the destination is not a register");
  decoding.require_width(whole, Type::u32);
  return decoding.scope().value(whole, Type::u32);
}

// vop.dtype.atype.btype{.sat | .add} d{.mask}, a{.parts}, b{.parts}, c; vset.atype.btype.cmp{.add} likewise
template <int operation, int width>
void decode_video(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<VideoDetail>();
  VideoDetail& d = *detail;
  d.operation = operation;
  d.width = width;
  const auto is_next_signed = [&] { return decoding.type({Type::u32, Type::s32}) == Type::s32; };
  if (operation != vset) d.result_is_signed = is_next_signed();
  const bool a_is_signed = is_next_signed(), b_is_signed = is_next_signed();
  if (operation == vset)
    d.operation += static_cast<std::uint32_t>(decoding.require_one({"eq", "ne", "lt", "le", "gt", "ge"}));
  else
    d.saturates = decoding.accept("sat");
  d.accumulates = decoding.accept("add");
  if (d.saturates && d.accumulates) decoding.fail(".sat and .add exclude each other");
  decoding.finish();
  decoding.require_count(4, 4);
  d.is_computed = mask_given(decoding, width);
  d.a = source_of(decoding, 1, width, a_is_signed);
  d.b = source_of(decoding, 2, width, b_is_signed);
  for (int i = 0; i < 3; ++i) op.values.push_back(register_of(decoding, i));
  decoding.source(3, Type::u32);
  op.detail = std::move(detail);
  op.handler = lanewise::run_with_op<video>;
}

template <int operation>
void add_operation(Decoders& decoders) {
  decoders[std::string(operations[operation]) + "2"] = decode_video<operation, 16>;
  decoders[std::string(operations[operation]) + "4"] = decode_video<operation, 8>;
}

template <int... operation>
void add_operations(Decoders& decoders, std::integer_sequence<int, operation...>) {
  (add_operation<operation>(decoders), ...);
}

}  // namespace
}  // namespace simd_video

void add_video_instructions(Decoders& decoders) {
  simd_video::add_operations(decoders, std::make_integer_sequence<int, simd_video::vset + 1>{});
}

}  // namespace tenon::emulator
