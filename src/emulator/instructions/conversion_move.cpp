// mov with its packing and unpacking, selp and slct (PTX ISA 9.7.9.3 to .5, 9.7.6).
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;

Bits copy(Bits a) {
  return a;
}
Bits copy_predicate(Bits a, const Op& op) {
  return a ^ op.bits[0];
}
// Truncates a special register or an address to the bits of the type.
Bits copy_low(Bits a, const Op& op) {
  return a & mask_of(static_cast<int>(op.bits[0]));
}

// The other slot of a b128 (op.hpp: two neighbouring slots, the lower half first).
Value upper_half(Value value) {
  if (value.slot >= 0) {
    ++value.slot;
  } else {
    value.constant = 0;
  }
  return value;
}

// d = a for a pair of slots: values d, a, d's upper half, a's.
Flow copy_pair(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const Bits low = warp.read(op.values[1], lane), high = warp.read(op.values[3], lane);
    warp.write(op.values[0], lane, low);
    warp.write(op.values[2], lane, high);
  });
  return Flow::next;
}

// Destinations first (op.bits[1] of them), then the sources. op.bits[0]: bits of an element. A whole of 128
// bits has two values.
Flow pack(Warp& warp, const Op& op, LaneMask active) {
  const int element = static_cast<int>(op.bits[0]);
  const std::size_t wholes = op.bits[1];
  const std::size_t per_whole = (op.values.size() - wholes) / wholes;
  for_each_lane(active, [&](int lane) {
    Bits results[2] = {};
    for (std::size_t whole = 0; whole < wholes; ++whole) {
      for (std::size_t i = 0; i < per_whole; ++i) {
        const Bits bits = warp.read(op.values[wholes + whole * per_whole + i], lane);
        results[whole] |= (bits & mask_of(element)) << (static_cast<int>(i) * element);
      }
    }
    for (std::size_t whole = 0; whole < wholes; ++whole) warp.write(op.values[whole], lane, results[whole]);
  });
  return Flow::next;
}

Flow unpack(Warp& warp, const Op& op, LaneMask active) {
  const int element = static_cast<int>(op.bits[0]);
  const std::size_t wholes = op.bits[1];
  const std::size_t per_whole = (op.values.size() - wholes) / wholes;
  for_each_lane(active, [&](int lane) {
    Bits sources[2];
    for (std::size_t whole = 0; whole < wholes; ++whole) sources[whole] = warp.read(op.values[whole], lane);
    for (std::size_t whole = 0; whole < wholes; ++whole) {
      for (std::size_t i = 0; i < per_whole; ++i) {
        warp.write(op.values[wholes + whole * per_whole + i], lane,
                   sources[whole] >> (static_cast<int>(i) * element) & mask_of(element));
      }
    }
  });
  return Flow::next;
}

const ptx::Vector* vector_of(const ptx::Operand& operand) {
  return std::get_if<ptx::Vector>(&operand.value);
}

// Bits of each element of a braced list that makes up `type`.
int element_width(Decoding& decoding, const ptx::Vector& vector, Type type) {
  const auto count = static_cast<int>(vector.elements.size());
  const int element = count == 0 ? 0 : width(type) / count;
  const bool known = element == 8 || element == 16 || element == 32 || element == 64;
  if (count < 2 || count > 4 || element * count != width(type) || !known) {
    decoding.fail("a list of " + std::to_string(count) + " is given where 2 or 4 parts of a ." +
                  std::string(name(type)) + " are needed");
  }
  return element;
}

Type bits_type(int width) {
  return width == 8 ? Type::b8 : width == 16 ? Type::b16 : width == 32 ? Type::b32 : Type::b64;
}

// The whole as values: two for b128.
void whole(Decoding& decoding, const ptx::Operand& operand, Type type) {
  decoding.require_width(operand, type);
  const Value value = decoding.scope().value(operand, type);
  decoding.op().values.push_back(value);
  if (type == Type::b128) decoding.op().values.push_back(upper_half(value));
}

void decode_list(Decoding& decoding, Type type, bool packs) {
  const ptx::Operand &list = decoding.operand(packs ? 1 : 0), &other = decoding.operand(packs ? 0 : 1);
  if (vector_of(other) != nullptr) decoding.fail("both operands are lists");
  const ptx::Vector& vector = *vector_of(list);
  const int element = element_width(decoding, vector, type);
  Op& op = decoding.op();
  op.bits[0] = static_cast<std::uint32_t>(element);
  op.bits[1] = type == Type::b128 ? 2 : 1;
  if (packs && !std::holds_alternative<ptx::Register>(other.value)) {
    decoding.fail("the destination is not a register");
  }
  whole(decoding, other, type);
  for (const ptx::Operand& part : vector.elements) {
    if (!packs && std::holds_alternative<ptx::Sink>(part.value)) {
      Value sink;
      sink.sink = true;
      op.values.push_back(sink);
      continue;
    }
    if (!packs && !std::holds_alternative<ptx::Register>(part.value)) {
      decoding.fail("a destination in the list is not a register");
    }
    decoding.require_width(part, bits_type(element));
    op.values.push_back(decoding.scope().value(part, bits_type(element)));
  }
  op.handler = packs ? pack : unpack;
}

void decode_mov(Decoding& decoding) {
  const Type type = decoding.type({Type::pred, Type::b16, Type::b32, Type::b64, Type::b128, Type::u16,
                                   Type::u32, Type::u64, Type::s16, Type::s32, Type::s64, Type::f16,
                                   Type::bf16, Type::f16x2, Type::bf16x2, Type::f32, Type::f64});
  decoding.require_count(2, 2);
  Op& op = decoding.op();
  if (vector_of(decoding.operand(0)) != nullptr) return decode_list(decoding, type, false);
  if (vector_of(decoding.operand(1)) != nullptr) return decode_list(decoding, type, true);
  decoding.destination(0, type);
  if (type == Type::pred) {
    op.bits[0] = decoding.predicate(1) ? 1 : 0;
    op.handler = lanewise::run_with_op<&copy_predicate>;
  } else if (std::holds_alternative<ptx::SpecialRegister>(decoding.operand(1).value) ||
             std::holds_alternative<ptx::Symbol>(decoding.operand(1).value)) {
    if (type == Type::b128) decoding.fail("a special register or an address has no 128 bits");
    decoding.source(1, type);
    op.bits[0] = static_cast<std::uint32_t>(width(type));
    op.handler = lanewise::run_with_op<&copy_low>;
  } else {
    decoding.source(1, type);
    op.handler = lanewise::run<&copy>;
    if (type == Type::b128) {
      const Value destination = op.values[0], source = op.values[1];
      op.values.push_back(destination.sink ? destination : upper_half(destination));
      op.values.push_back(upper_half(source));
      op.handler = copy_pair;
    }
  }
}

// --- selp, slct

Bits select(Bits a, Bits b, Bits p, const Op& op) {
  return (p ^ op.bits[0]) != 0 ? a : b;
}

constexpr std::initializer_list<Type> selectable = {Type::b16, Type::b32, Type::b64, Type::u16,
                                                    Type::u32, Type::u64, Type::s16, Type::s32,
                                                    Type::s64, Type::f16, Type::f32, Type::f64};

void decode_selp(Decoding& decoding) {
  const Type type = decoding.type(selectable);
  decoding.require_count(4, 4);
  decoding.destination(0, type);
  decoding.source(1, type);
  decoding.source(2, type);
  decoding.op().bits[0] = decoding.predicate(3) ? 1 : 0;
  decoding.op().handler = lanewise::run_with_op<&select>;
}

// c >= 0. For f32 this holds for -0, not for a NaN, and with .ftz for a negative subnormal.
Bits select_by_sign(Bits a, Bits b, Bits c) {
  return (c & 0x80000000) == 0 ? a : b;
}
template <bool flush>
Bits select_by_f32(Bits a, Bits b, Bits c) {
  const Bits magnitude = c & 0x7fffffff;
  const bool zero = flush ? magnitude < 0x00800000 : magnitude == 0;
  return magnitude <= 0x7f800000 && ((c & 0x80000000) == 0 || zero) ? a : b;
}

void decode_slct(Decoding& decoding) {
  const bool flush = decoding.accept("ftz");
  const Type type = decoding.type(selectable);
  const Type by = decoding.type({Type::s32, Type::f32});
  if (flush && by != Type::f32) decoding.fail(".ftz needs .f32");
  decoding.require_count(4, 4);
  decoding.destination(0, type);
  decoding.source(1, type);
  decoding.source(2, type);
  decoding.source(3, by);
  decoding.op().handler = by == Type::s32 ? lanewise::run<&select_by_sign>
                          : flush         ? lanewise::run<&select_by_f32<true>>
                                          : lanewise::run<&select_by_f32<false>>;
}

}  // namespace

void add_move_instructions(Decoders& decoders) {
  decoders["mov"] = decoder<decode_mov>;
  decoders["selp"] = decoder<decode_selp>;
  decoders["slct"] = decoder<decode_slct>;
}

}  // namespace tenon::emulator
