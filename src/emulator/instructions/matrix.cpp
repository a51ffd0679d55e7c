// mma, mma.sp (PTX ISA 9.7.14.5, 9.7.14.6) and wmma.mma (9.7.14.4): one call of numerics::Mma on the warp's
// registers. numerics/forms.hpp lists the forms.
#include "emulator/instructions/matrix.hpp"

#include <cstring>
#include <memory>

#include "emulator/numerics/forms.hpp"
#include "emulator/numerics/mma.hpp"

namespace tenon::emulator {

using ptx::Type;

numerics::Model model_of(const Launch& launch) {
  switch (launch.numerics) {
    case Numerics::sm_75:
      return numerics::Model::sm_75;
    case Numerics::sm_80:
      return numerics::Model::sm_80;
    case Numerics::sm_89:
      return numerics::Model::sm_89;
    case Numerics::sm_90:
      return numerics::Model::sm_90;
    case Numerics::ieee:
      return numerics::Model::ieee;
    case Numerics::target:
      break;
  }
  return numerics::model_of_target(launch.program->target);
}

Type register_type_of(Type element) {
  switch (element) {
    case Type::f32:
    case Type::f64:
    case Type::s32:
      return element;
    default:
      return Type::b32;
  }
}

int add_registers(Decoding& decoding, int index, Type type, int count, bool is_destination,
                  const char* what) {
  const ptx::Operand& operand = decoding.operand(index);
  const auto* vector = std::get_if<ptx::Vector>(&operand.value);
  const int found = vector == nullptr ? 1 : static_cast<int>(vector->elements.size());
  if (found != count) {
    decoding.fail(std::string(what) + " has " + std::to_string(found) + " registers but needs " +
                  std::to_string(count));
  }
  const auto check = [&](const ptx::Operand& element) {
    if (element.negated || element.predicate)
      decoding.fail(std::string(what) + " has an operand with a sign");
    decoding.require_width(element, type);
    if (is_destination && !std::holds_alternative<ptx::Register>(element.value) &&
        !std::holds_alternative<ptx::Sink>(element.value)) {
      decoding.fail(std::string(what) + " is a destination and must be registers");
    }
  };
  if (vector == nullptr) {
    check(operand);
  } else {
    for (const ptx::Operand& element : vector->elements) check(element);
  }
  std::vector<Value>& values = decoding.op().values;
  const int first = static_cast<int>(values.size());
  for (const Value& value : decoding.scope().values(operand, type)) values.push_back(value);
  return first;
}

void write_lanes(Warp& warp, const Value& value, LaneMask active, const std::uint64_t* lanes) {
  if (value.slot < 0) return;
  std::uint64_t* to = warp.lanes(value.slot);
  if (active == all_lanes) {
    std::memcpy(to, lanes, warp_size * sizeof *lanes);
  } else {
    for_each_lane(active, [&](int lane) { to[lane] = lanes[lane]; });
  }
}

namespace {

struct MmaDetail : Detail {
  explicit MmaDetail(const numerics::Form& form) : mma(form) {}
  numerics::Mma mma;
  int d = 0, a = 0, b = 0, c = 0;  // first of each in op.values
  int metadata = -1;
  std::uint64_t flop = 0;
};

Flow run_mma(Warp& warp, const Op& op, LaneMask active) {
  const auto& detail = static_cast<const MmaDetail&>(*op.detail);
  numerics::Registers registers;
  const auto gather = [&](int first, int count, std::uint64_t(*to)[warp_size]) {
    for (int i = 0; i < count; ++i) {
      Warp::LaneBuffer buffer;
      const std::uint64_t* lanes = warp.gather(value_at(op, first + i), buffer);
      std::memcpy(to[i], lanes, sizeof to[i]);
    }
  };
  gather(detail.a, detail.mma.a().registers(), registers.a);
  gather(detail.b, detail.mma.b().registers(), registers.b);
  gather(detail.c, detail.mma.c().registers(), registers.c);
  if (detail.metadata >= 0) gather(detail.metadata, 1, &registers.metadata);
  detail.mma(model_of(warp.launch()), registers);
  for (int i = 0; i < detail.mma.d().registers(); ++i) {
    write_lanes(warp, value_at(op, detail.d + i), active, registers.d[i]);
  }
  warp.counters().count_matrix(warp.pc(), detail.flop);
  return Flow::next;
}

void decode_multiply(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const numerics::NamedForm* named = numerics::find_form(instruction.text());
  if (named == nullptr) {
    decoding.fail("the emulator knows no such shape, layout and types of " + instruction.opcode +
                  "; it knows those of the PTX ISA up to sm_90");
  }
  decoding.require_target(named->target);
  numerics::Form form = named->form;
  decoding.require_count(form.sparse ? 6 : 4, form.sparse ? 6 : 4);
  if (form.sparse) {
    const auto* selector = std::get_if<ptx::Immediate>(&decoding.operand(5).value);
    const int selectors = numerics::sparse_selectors(form.shape, form.a);
    if (selector == nullptr || selector->kind != ptx::Immediate::Kind::integer) {
      decoding.fail("the sparsity selector must be an integer constant");
    }
    if (selector->bits >= static_cast<std::uint64_t>(selectors)) {
      decoding.fail("the sparsity selector is " + std::to_string(static_cast<std::int64_t>(selector->bits)) +
                    " but must be " + (selectors == 1 ? "0" : "from 0 to " + std::to_string(selectors - 1)));
    }
    form.selector = static_cast<int>(selector->bits);
  }
  auto detail = std::make_unique<MmaDetail>(form);
  const numerics::Mma& mma = detail->mma;
  const auto add = [&](int index, const numerics::Fragment& fragment, Type element, bool is_destination,
                       const char* what) {
    return add_registers(decoding, index, register_type_of(element), fragment.registers() * fragment.copies(),
                         is_destination, what);
  };
  detail->d = add(0, mma.d(), form.d, true, "D");
  detail->a = add(1, mma.a(), form.a, false, "A");
  detail->b = add(2, mma.b(), form.b, false, "B");
  detail->c = add(3, mma.c(), form.c, false, "C");
  if (form.sparse) detail->metadata = add_registers(decoding, 4, Type::b32, 1, false, "the metadata");
  // Four products if the instruction computes four (m8n8k4 of f16).
  const int products = form.a == Type::f16 && form.shape.k == 4 ? 4 : 1;
  detail->flop = std::uint64_t{2} * form.shape.m * form.shape.n * form.shape.k * products;
  op.detail = std::move(detail);
  op.handler = run_mma;
  op.aligned = true;
}

void decode_wmma(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  const std::string& kind = instruction.modifiers.empty() ? instruction.opcode : instruction.modifiers[0];
  if (kind == "load") return decode_wmma_load(instruction, scope, op);
  if (kind == "store") return decode_wmma_store(instruction, scope, op);
  decode_multiply(instruction, scope, op);
}

}  // namespace

void add_matrix_instructions(Decoders& decoders) {
  decoders["mma"] = decode_multiply;
  decoders["wmma"] = decode_wmma;
  decoders["ldmatrix"] = decode_ldmatrix;
  decoders["stmatrix"] = decode_stmatrix;
  decoders["movmatrix"] = decode_movmatrix;
}

}  // namespace tenon::emulator
