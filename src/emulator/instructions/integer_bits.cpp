// Logic, shifts, bit fields and byte permutation (PTX ISA 9.7.1 and 9.7.7), predicates included.
#include "emulator/instructions/integer_operations.hpp"
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;
using namespace integer;

void operands(Decoding& decoding, Type result, std::initializer_list<Type> sources) {
  const int count = static_cast<int>(sources.size()) + 1;
  decoding.require_count(count, count);
  decoding.destination(0, result);
  int index = 1;
  for (const Type source : sources) decoding.source(index++, source);
}

template <class Operation>
Handler unsigned_handler(Type type) {
  return width(type) == 64 ? lanewise::run<&Operation::template run<std::uint64_t>>
                           : lanewise::run<&Operation::template run<std::uint32_t>>;
}

// Predicates may be negated: op.bits[0] and [1] say which.
template <class Operation>
Bits on_predicates(Bits a, Bits b, const Op& op) {
  return Operation::template run<std::uint64_t>(a ^ op.bits[0], b ^ op.bits[1]);
}

template <class Operation>
void decode_logic(Decoding& decoding) {
  const Type type = decoding.type({Type::pred, Type::b16, Type::b32, Type::b64});
  if (type == Type::pred) {
    decoding.require_count(3, 3);
    decoding.destination(0, type);
    for (int i = 0; i < 2; ++i) decoding.op().bits[i] = decoding.predicate(i + 1) ? 1 : 0;
    decoding.op().handler = lanewise::run_with_op<&on_predicates<Operation>>;
    return;
  }
  operands(decoding, type, {type, type});
  decoding.op().handler = lanewise::run<&Operation::template run<std::uint64_t>>;
}

Bits changed_predicate(Bits a, const Op& op) {
  return a ^ op.bits[0];
}

void decode_not(Decoding& decoding) {
  const Type type = decoding.type({Type::pred, Type::b16, Type::b32, Type::b64});
  if (type == Type::pred) {
    decoding.require_count(2, 2);
    decoding.destination(0, type);
    decoding.op().bits[0] = decoding.predicate(1) ? 0 : 1;
    decoding.op().handler = lanewise::run_with_op<&changed_predicate>;
    return;
  }
  operands(decoding, type, {type});
  decoding.op().handler = integer_handler<Not>(type);
}

void decode_cnot(Decoding& decoding) {
  const Type type = decoding.type({Type::b16, Type::b32, Type::b64});
  operands(decoding, type, {type});
  decoding.op().handler = integer_handler<LogicalNot>(type);
}

// The table is an immediate operand of the instruction; it is stored in op.bits[0].
Bits lop3(Bits a, Bits b, Bits c, const Op& op) {
  return logic3(a, b, c, op.bits[0]);
}

// lop3.or, lop3.and: d|p with p = (d != 0) op q.
Flow lop3_with_predicate(Warp& warp, const Op& op, LaneMask active) {
  const bool is_or = op.bits[1] != 0, negated = op.bits[2] != 0;
  for_each_lane(active, [&](int lane) {
    const Bits result = logic3(warp.read(op.values[2], lane), warp.read(op.values[3], lane),
                               warp.read(op.values[4], lane), op.bits[0]);
    const bool q = (warp.read(op.values[5], lane) != 0) != negated;
    const bool p = is_or ? result != 0 || q : result != 0 && q;
    warp.write(op.values[0], lane, result);
    warp.write(op.values[1], lane, p ? 1 : 0);
  });
  return Flow::next;
}

std::uint32_t constant_operand(Decoding& decoding, int index, std::uint32_t largest) {
  const auto* immediate = std::get_if<ptx::Immediate>(&decoding.operand(index).value);
  if (immediate == nullptr || immediate->kind != ptx::Immediate::Kind::integer || immediate->bits > largest) {
    decoding.fail("an integer constant of at most " + std::to_string(largest) + " is needed as operand " +
                  std::to_string(index + 1));
  }
  return static_cast<std::uint32_t>(immediate->bits);
}

void decode_lop3(Decoding& decoding) {
  const int boolean = decoding.accept_one({"and", "or"});
  decoding.type({Type::b32});
  Op& op = decoding.op();
  if (boolean < 0) {
    decoding.require_count(5, 5);
    decoding.destination(0, Type::b32);
    for (int i = 1; i < 4; ++i) decoding.source(i, Type::b32);
    op.handler = lanewise::run_with_op<&lop3>;
  } else {
    decoding.require_count(6, 6);
    decoding.destination_pair(0, Type::b32, Type::pred);
    for (int i = 1; i < 4; ++i) decoding.source(i, Type::b32);
    op.bits[1] = boolean == 1 ? 1 : 0;
    op.bits[2] = decoding.predicate(5) ? 1 : 0;
    op.handler = lop3_with_predicate;
  }
  op.bits[0] = constant_operand(decoding, 4, 255);
}

void decode_shl(Decoding& decoding) {
  const Type type = decoding.type({Type::b16, Type::b32, Type::b64});
  operands(decoding, type, {type, Type::u32});
  decoding.op().handler = integer_handler<ShiftLeft>(type);
}

void decode_shr(Decoding& decoding) {
  const Type type = decoding.type(
      {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
  operands(decoding, type, {type, Type::u32});
  decoding.op().handler = integer_handler<ShiftRight>(type);
}

void decode_shf(Decoding& decoding) {
  const bool left = decoding.require_one({"r", "l"}) == 1;
  const bool wrap = decoding.require_one({"clamp", "wrap"}) == 1;
  decoding.type({Type::b32});
  operands(decoding, Type::b32, {Type::b32, Type::b32, Type::b32});
  decoding.op().handler =
      left ? (wrap ? lanewise::run<&funnel_shift<true, true>> : lanewise::run<&funnel_shift<true, false>>)
           : (wrap ? lanewise::run<&funnel_shift<false, true>> : lanewise::run<&funnel_shift<false, false>>);
}

void decode_prmt(Decoding& decoding) {
  decoding.type({Type::b32});
  const Handler handlers[] = {
      lanewise::run<&permute_bytes<Permutation::any>>, lanewise::run<&permute_bytes<Permutation::f4e>>,
      lanewise::run<&permute_bytes<Permutation::b4e>>, lanewise::run<&permute_bytes<Permutation::rc8>>,
      lanewise::run<&permute_bytes<Permutation::ecl>>, lanewise::run<&permute_bytes<Permutation::ecr>>,
      lanewise::run<&permute_bytes<Permutation::rc16>>};
  decoding.op().handler = handlers[decoding.accept_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1];
  operands(decoding, Type::b32, {Type::b32, Type::b32, Type::b32});
}

template <class Operation>
void decode_count(Decoding& decoding) {
  const Type type = decoding.type({Type::b32, Type::b64});
  operands(decoding, Type::u32, {type});
  decoding.op().handler = unsigned_handler<Operation>(type);
}

void decode_bfind(Decoding& decoding) {
  const bool shift_amount = decoding.accept("shiftamt");
  const Type type = decoding.type({Type::u32, Type::u64, Type::s32, Type::s64});
  operands(decoding, Type::u32, {type});
  decoding.op().handler =
      shift_amount ? integer_handler<FindHighest<true>>(type) : integer_handler<FindHighest<false>>(type);
}

void decode_brev(Decoding& decoding) {
  const Type type = decoding.type({Type::b32, Type::b64});
  operands(decoding, type, {type});
  decoding.op().handler = unsigned_handler<ReverseBits>(type);
}

void decode_fns(Decoding& decoding) {
  decoding.type({Type::b32});
  operands(decoding, Type::b32, {Type::b32, Type::b32, Type::s32});
  decoding.op().handler = lanewise::run<&find_nth_set>;
}

void decode_bfe(Decoding& decoding) {
  const Type type = decoding.type({Type::u32, Type::u64, Type::s32, Type::s64});
  operands(decoding, type, {type, Type::u32, Type::u32});
  decoding.op().handler = integer_handler<ExtractField>(type);
}

void decode_bfi(Decoding& decoding) {
  const Type type = decoding.type({Type::b32, Type::b64});
  operands(decoding, type, {type, type, Type::u32, Type::u32});
  decoding.op().handler = unsigned_handler<InsertField>(type);
}

void decode_bmsk(Decoding& decoding) {
  const bool wrap = decoding.require_one({"clamp", "wrap"}) == 1;
  decoding.type({Type::b32});
  operands(decoding, Type::b32, {Type::u32, Type::u32});
  decoding.op().handler = wrap ? lanewise::run<&bit_mask<true>> : lanewise::run<&bit_mask<false>>;
}

void decode_szext(Decoding& decoding) {
  const bool wrap = decoding.require_one({"clamp", "wrap"}) == 1;
  const Type type = decoding.type({Type::u32, Type::s32});
  operands(decoding, type, {type, Type::u32});
  Handler& handler = decoding.op().handler;
  if (type == Type::s32) {
    handler = wrap ? lanewise::run<&extend_field<std::int32_t, true>>
                   : lanewise::run<&extend_field<std::int32_t, false>>;
  } else {
    handler = wrap ? lanewise::run<&extend_field<std::uint32_t, true>>
                   : lanewise::run<&extend_field<std::uint32_t, false>>;
  }
}

}  // namespace

void add_integer_bit_instructions(Decoders& decoders) {
  decoders["and"] = decoder<decode_logic<And>>;
  decoders["or"] = decoder<decode_logic<Or>>;
  decoders["xor"] = decoder<decode_logic<ExclusiveOr>>;
  decoders["not"] = decoder<decode_not>;
  decoders["cnot"] = decoder<decode_cnot>;
  decoders["lop3"] = decoder<decode_lop3>;
  decoders["shl"] = decoder<decode_shl>;
  decoders["shr"] = decoder<decode_shr>;
  decoders["shf"] = decoder<decode_shf>;
  decoders["prmt"] = decoder<decode_prmt>;
  decoders["popc"] = decoder<decode_count<CountOnes>>;
  decoders["clz"] = decoder<decode_count<CountLeadingZeros>>;
  decoders["bfind"] = decoder<decode_bfind>;
  decoders["brev"] = decoder<decode_brev>;
  decoders["fns"] = decoder<decode_fns>;
  decoders["bfe"] = decoder<decode_bfe>;
  decoders["bfi"] = decoder<decode_bfi>;
  decoders["bmsk"] = decoder<decode_bmsk>;
  decoders["szext"] = decoder<decode_szext>;
}

}  // namespace tenon::emulator
