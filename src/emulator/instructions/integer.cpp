// Integer arithmetic: add sub mul mad and similar (PTX ISA 9.7.1), with the carry flag of 9.7.2. Logic,
// shifts and bit fields are in integer_bits.cpp.
#include "emulator/instructions/carry.hpp"
#include "emulator/instructions/integer_operations.hpp"
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;
using namespace integer;

// Appends the operands of d, a, b, ... of one type.
void same_operands(Decoding& decoding, int sources, Type type) {
  decoding.require_count(sources + 1, sources + 1);
  decoding.destination(0, type);
  for (int i = 1; i <= sources; ++i) decoding.source(i, type);
}

template <class Operation>
Handler packed_handler(Type type) {
  return type == Type::s16x2 ? lanewise::run<&run_packed<Operation, std::int16_t>>
                             : lanewise::run<&run_packed<Operation, std::uint16_t>>;
}

// The type of operations on 32 bits only: .s32 or .u32.
template <class Operation>
Handler handler32(Type type) {
  return type == Type::s32 ? lanewise::run<&Operation::template run<std::int32_t>>
                           : lanewise::run<&Operation::template run<std::uint32_t>>;
}

void decode_add(Decoding& decoding) {
  if (decode_add_with_carry(decoding)) return;
  const Type type = decoding.type(
      {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64, Type::u16x2, Type::s16x2});
  same_operands(decoding, 2, type);
  if (type == Type::s32 && decoding.accept("sat")) {
    decoding.op().handler = lanewise::run<&add_saturated>;
  } else {
    decoding.op().handler = is_packed(type) ? packed_handler<Add>(type) : integer_handler<Add>(type);
  }
}

void decode_sub(Decoding& decoding) {
  if (decode_add_with_carry(decoding)) return;
  const Type type = decoding.type({Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
  same_operands(decoding, 2, type);
  decoding.op().handler = type == Type::s32 && decoding.accept("sat") ? lanewise::run<&subtract_saturated>
                                                                      : integer_handler<Subtract>(type);
}

enum Part { low_part, high_part, wide_part };

Type widened(Decoding& decoding, Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      decoding.fail(".wide needs operands of 16 or 32 bits");
  }
}

// mul and mad.
void decode_product(Decoding& decoding, bool accumulates) {
  const int part = decoding.require_one({"lo", "hi", "wide"});
  if (accumulates && decode_mad_with_carry(decoding, part == high_part)) return;
  const Type type = decoding.type({Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
  const Type result = part == wide_part ? widened(decoding, type) : type;
  decoding.require_count(accumulates ? 4 : 3, accumulates ? 4 : 3);
  decoding.destination(0, result);
  decoding.source(1, type);
  decoding.source(2, type);
  if (accumulates) decoding.source(3, result);
  Handler& handler = decoding.op().handler;
  if (!accumulates) {
    handler = part == low_part    ? integer_handler<MultiplyLow>(type)
              : part == high_part ? integer_handler<MultiplyHigh>(type)
                                  : integer_handler<MultiplyWide>(type);
  } else if (part == high_part && type == Type::s32 && decoding.accept("sat")) {
    handler = lanewise::run<&multiply_add_high_saturated>;
  } else {
    handler = part == low_part    ? integer_handler<MultiplyAdd<MultiplyLow>>(type)
              : part == high_part ? integer_handler<MultiplyAdd<MultiplyHigh>>(type)
                                  : integer_handler<MultiplyAddWide>(type);
  }
}

void decode_product24(Decoding& decoding, bool accumulates) {
  const bool high = decoding.require_one({"lo", "hi"}) == 1;
  const Type type = decoding.type({Type::u32, Type::s32});
  same_operands(decoding, accumulates ? 3 : 2, type);
  Handler& handler = decoding.op().handler;
  if (!accumulates) {
    handler = high ? handler32<Multiply24High>(type) : handler32<Multiply24Low>(type);
  } else if (high && type == Type::s32 && decoding.accept("sat")) {
    handler = lanewise::run<&multiply_add24_high_saturated>;
  } else {
    handler =
        high ? handler32<MultiplyAdd<Multiply24High>>(type) : handler32<MultiplyAdd<Multiply24Low>>(type);
  }
}

// d, a, b, ... of one type of 16, 32 or 64 bits, no modifiers.
template <class Operation>
void decode_plain(Decoding& decoding, int sources) {
  const Type type = decoding.type({Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
  same_operands(decoding, sources, type);
  decoding.op().handler = integer_handler<Operation>(type);
}

template <class Operation>
void decode_signed(Decoding& decoding) {
  const Type type = decoding.type({Type::s16, Type::s32, Type::s64});
  same_operands(decoding, 1, type);
  decoding.op().handler = integer_handler<Operation>(type);
}

template <class Operation>
void decode_extreme(Decoding& decoding) {
  const Type type = decoding.type(
      {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64, Type::u16x2, Type::s16x2});
  same_operands(decoding, 2, type);
  Handler& handler = decoding.op().handler;
  if (type == Type::s32 && decoding.accept("relu")) {
    handler = lanewise::run<&Rectified<Operation>::template run<std::int32_t>>;
  } else if (type == Type::s16x2 && decoding.accept("relu")) {
    handler = lanewise::run<&run_packed<Rectified<Operation>, std::int16_t>>;
  } else {
    handler = is_packed(type) ? packed_handler<Operation>(type) : integer_handler<Operation>(type);
  }
}

template <class A, class B>
Handler dot_handler(int elements, bool high) {
  using WideA = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  return elements == 4 ? lanewise::run<&dot4<A, B>>
         : high        ? lanewise::run<&dot2<WideA, B, true>>
                       : lanewise::run<&dot2<WideA, B, false>>;
}

void decode_dot(Decoding& decoding, int elements) {
  const bool high = elements == 2 && decoding.require_one({"lo", "hi"}) == 1;
  const Type a = decoding.type({Type::u32, Type::s32}), b = decoding.type({Type::u32, Type::s32});
  same_operands(decoding, 3, Type::b32);
  Handler& handler = decoding.op().handler;
  if (is_signed(a)) {
    handler = is_signed(b) ? dot_handler<std::int8_t, std::int8_t>(elements, high)
                           : dot_handler<std::int8_t, std::uint8_t>(elements, high);
  } else {
    handler = is_signed(b) ? dot_handler<std::uint8_t, std::int8_t>(elements, high)
                           : dot_handler<std::uint8_t, std::uint8_t>(elements, high);
  }
}

void decode_named(Decoding& decoding, const std::string& opcode) {
  if (opcode == "add") return decode_add(decoding);
  if (opcode == "sub") return decode_sub(decoding);
  if (opcode == "mul") return decode_product(decoding, false);
  if (opcode == "mad") return decode_product(decoding, true);
  if (opcode == "mul24") return decode_product24(decoding, false);
  if (opcode == "mad24") return decode_product24(decoding, true);
  if (opcode == "addc" || opcode == "subc") {
    if (!decode_add_with_carry(decoding)) decoding.fail("a type of 32 or 64 bits is needed");
    return;
  }
  if (opcode == "madc") {
    decode_mad_with_carry(decoding, decoding.require_one({"lo", "hi"}) == 1);
    return;
  }
  if (opcode == "sad") return decode_plain<AbsoluteDifferenceAdd>(decoding, 3);
  if (opcode == "div") return decode_plain<Divide>(decoding, 2);
  if (opcode == "rem") return decode_plain<Remainder>(decoding, 2);
  if (opcode == "abs") return decode_signed<Absolute>(decoding);
  if (opcode == "neg") return decode_signed<Negate>(decoding);
  if (opcode == "min") return decode_extreme<Minimum>(decoding);
  if (opcode == "max") return decode_extreme<Maximum>(decoding);
  if (opcode == "dp4a") return decode_dot(decoding, 4);
  if (opcode == "dp2a") return decode_dot(decoding, 2);
  decoding.fail("there is no such integer instruction");
}

// The opcodes whose type selects integers or floating-point numbers.
void decode_arithmetic(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  for (const std::string& modifier : instruction.modifiers) {
    const auto type = type_named(modifier);
    if (type && (is_real(*type) || *type == Type::f16x2 || *type == Type::bf16x2 || *type == Type::f32x2)) {
      return decode_float(instruction, scope, op);
    }
  }
  decode_integer(instruction, scope, op);
}

}  // namespace

void decode_integer(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_named(decoding, instruction.opcode);
  decoding.finish();
}

void add_integer_bit_instructions(Decoders& decoders);   // integer_bits.cpp
void add_video_instructions(Decoders& decoders);         // integer_video.cpp
void add_scalar_video_instructions(Decoders& decoders);  // integer_video_scalar.cpp

void add_integer_instructions(Decoders& decoders) {
  for (const char* opcode : {"add", "sub", "mul", "mad", "div", "abs", "neg", "min", "max"}) {
    decoders[opcode] = decode_arithmetic;
  }
  for (const char* opcode : {"addc", "subc", "madc", "mul24", "mad24", "sad", "rem", "dp4a", "dp2a"}) {
    decoders[opcode] = decode_integer;
  }
  add_integer_bit_instructions(decoders);
  add_video_instructions(decoders);
  add_scalar_video_instructions(decoders);
}

}  // namespace tenon::emulator
