// The SIMD video instructions on two 16-bit or four 8-bit parts of a register (PTX ISA 9.7.17): vadd2 vsub2
// vavrg2 vabsdiff2 vmin2 vmax2 vset2, and the same with 4. Only the form that compilers emit: every part in
// its place, without masks and selectors.
#include <algorithm>

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

constexpr const char* operations[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"};
constexpr int vset = 6;

// op.bits: 0 the operation, of vset 6 + which comparison; 1 bits of a part; 2 and 3 flags:
constexpr std::uint32_t a_is_signed = 1, b_is_signed = 2;                      // of bits[2]
constexpr std::uint32_t result_is_signed = 1, saturates = 2, accumulates = 4;  // of bits[3]

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
  const int width = static_cast<int>(op.bits[1]);
  const bool is_signed = (op.bits[3] & result_is_signed) != 0;
  const std::int32_t least = is_signed ? -(1 << (width - 1)) : 0;
  const std::int32_t most = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
  Bits merged = 0, sum = c;
  for (int shift = 0; shift < 32; shift += width) {
    std::int32_t part = combined(op.bits[0], part_of(a, shift, width, (op.bits[2] & a_is_signed) != 0),
                                 part_of(b, shift, width, (op.bits[2] & b_is_signed) != 0));
    if ((op.bits[3] & saturates) != 0) part = std::clamp(part, least, most);
    merged |= (static_cast<Bits>(part) & mask_of(width)) << shift;
    sum += static_cast<Bits>(part);
  }
  return ((op.bits[3] & accumulates) != 0 ? sum : merged) & mask_of(32);
}

// vop.dtype.atype.btype{.sat | .add} d, a, b, c; vset.atype.btype.cmp{.add} d, a, b, c
template <int operation, int width>
void decode_video(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  op.bits[0] = operation;
  op.bits[1] = width;
  const auto is_next_signed = [&] { return decoding.type({Type::u32, Type::s32}) == Type::s32; };
  if (operation != vset && is_next_signed()) op.bits[3] |= result_is_signed;
  if (is_next_signed()) op.bits[2] |= a_is_signed;
  if (is_next_signed()) op.bits[2] |= b_is_signed;
  if (operation == vset)
    op.bits[0] += static_cast<std::uint32_t>(decoding.require_one({"eq", "ne", "lt", "le", "gt", "ge"}));
  else if (decoding.accept("sat"))
    op.bits[3] |= saturates;
  if (decoding.accept("add")) op.bits[3] |= accumulates;
  if ((op.bits[3] & saturates) != 0 && (op.bits[3] & accumulates) != 0)
    decoding.fail(".sat and .add exclude each other");
  decoding.finish();
  decoding.require_count(4, 4);
  decoding.destination(0, Type::u32);
  for (int source = 1; source < 4; ++source) decoding.source(source, Type::u32);
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

void add_video_instructions(Decoders& decoders) {
  add_operations(decoders, std::make_integer_sequence<int, vset + 1>{});
}

}  // namespace tenon::emulator
