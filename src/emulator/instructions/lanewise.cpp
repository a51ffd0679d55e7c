#include "emulator/instructions/lanewise.hpp"

#include <algorithm>
#include <iterator>

namespace tenon::emulator {
namespace {

using ptx::Type;

struct TypeName {
  Type type;
  const char* name;
  int width;  // of a register
};

constexpr TypeName type_names[] = {
    {Type::pred, "pred", 1},      {Type::b8, "b8", 8},          {Type::b16, "b16", 16},
    {Type::b32, "b32", 32},       {Type::b64, "b64", 64},       {Type::b128, "b128", 128},
    {Type::u8, "u8", 8},          {Type::u16, "u16", 16},       {Type::u32, "u32", 32},
    {Type::u64, "u64", 64},       {Type::s8, "s8", 8},          {Type::s16, "s16", 16},
    {Type::s32, "s32", 32},       {Type::s64, "s64", 64},       {Type::f16, "f16", 16},
    {Type::f16x2, "f16x2", 32},   {Type::bf16, "bf16", 16},     {Type::bf16x2, "bf16x2", 32},
    {Type::tf32, "tf32", 32},     {Type::f32, "f32", 32},       {Type::f32x2, "f32x2", 64},
    {Type::f64, "f64", 64},       {Type::e4m3, "e4m3", 8},      {Type::e5m2, "e5m2", 8},
    {Type::e4m3x2, "e4m3x2", 16}, {Type::e5m2x2, "e5m2x2", 16}, {Type::u16x2, "u16x2", 32},
    {Type::s16x2, "s16x2", 32}};

const TypeName* find(Type type) {
  const auto* found = std::find_if(std::begin(type_names), std::end(type_names),
                                   [&](const TypeName& entry) { return entry.type == type; });
  return found == std::end(type_names) ? nullptr : found;
}

std::string listed(std::initializer_list<Type> types) {
  std::string text;
  for (const Type type : types) text += (text.empty() ? "." : ", .") + std::string(name(type));
  return text;
}

}  // namespace

std::optional<Type> type_named(const std::string& modifier) {
  for (const TypeName& entry : type_names) {
    if (modifier == entry.name) return entry.type;
  }
  return std::nullopt;
}

const char* name(Type type) {
  const TypeName* entry = find(type);
  return entry == nullptr ? "?" : entry->name;
}

int width(Type type) {
  const TypeName* entry = find(type);
  return entry == nullptr ? 0 : entry->width;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 ||
         type == Type::s16x2;
}

bool is_integer(Type type) {
  return (type >= Type::u8 && type <= Type::s64);
}

bool is_real(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 ||
         type == Type::tf32;
}

bool is_packed(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::f32x2 || type == Type::e4m3x2 ||
         type == Type::e5m2x2 || type == Type::u16x2 || type == Type::s16x2;
}

const numerics::Format& format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return numerics::f16;
    case Type::bf16:
    case Type::bf16x2:
      return numerics::bf16;
    case Type::tf32:
      return numerics::tf32;
    case Type::e4m3:
    case Type::e4m3x2:
      return numerics::e4m3;
    case Type::e5m2:
    case Type::e5m2x2:
      return numerics::e5m2;
    case Type::f64:
      return numerics::f64;
    default:
      return numerics::f32;
  }
}

Decoding::Decoding(const ptx::Instruction& instruction, Scope& scope, Op& op)
    : instruction_(instruction), scope_(scope), op_(op), taken_(instruction.modifiers.size(), false) {}

void Decoding::fail(const std::string& sentence) const {
  throw ptx::Error(instruction_.line, "`" + instruction_.text() + "`: " + sentence);
}

bool Decoding::accept(const char* modifier) {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i] && instruction_.modifiers[i] == modifier) {
      taken_[i] = true;
      return true;
    }
  }
  return false;
}

void Decoding::require(const char* modifier) {
  if (!accept(modifier)) fail("the modifier ." + std::string(modifier) + " is needed");
}

int Decoding::accept_one(std::initializer_list<const char*> choices) {
  int index = 0;
  for (const char* choice : choices) {
    if (accept(choice)) return index;
    ++index;
  }
  return -1;
}

int Decoding::require_one(std::initializer_list<const char*> choices) {
  const int index = accept_one(choices);
  if (index >= 0) return index;
  std::string text;
  for (const char* choice : choices) text += (text.empty() ? "." : ", .") + std::string(choice);
  fail("one of the modifiers " + text + " is needed");
}

Type Decoding::type(std::initializer_list<Type> allowed) {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const auto type = taken_[i] ? std::nullopt : type_named(instruction_.modifiers[i]);
    if (!type) continue;
    if (std::find(allowed.begin(), allowed.end(), *type) == allowed.end()) {
      fail("the type ." + instruction_.modifiers[i] + " is given where one of " + listed(allowed) +
           " is needed");
    }
    taken_[i] = true;
    return *type;
  }
  fail("a type is needed, one of " + listed(allowed));
}

std::optional<numerics::Rounding> Decoding::accept_rounding() {
  using numerics::Rounding;
  switch (accept_one({"rn", "rz", "rm", "rp"})) {
    case 0:
      return Rounding::nearest_even;
    case 1:
      return Rounding::to_zero;
    case 2:
      return Rounding::down;
    case 3:
      return Rounding::up;
    default:
      return std::nullopt;
  }
}

void Decoding::require_target(int architecture) {
  if (scope_.target() < architecture) {
    fail("the instruction needs sm_" + std::to_string(architecture) + " or later, the module is for sm_" +
         std::to_string(scope_.target()));
  }
}

void Decoding::finish() {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) fail("the modifier ." + instruction_.modifiers[i] + " is not known here");
  }
}

void Decoding::require_count(int least, int most) {
  if (count() >= least && count() <= most) return;
  fail(std::to_string(count()) + " operands are given where " + std::to_string(least) +
       (most == least ? "" : " to " + std::to_string(most)) + " are needed");
}

const ptx::Operand& Decoding::operand(int index) const {
  return instruction_.operands[static_cast<std::size_t>(index)];
}

void Decoding::refuse_extras(const ptx::Operand& operand, bool negation, bool pair) const {
  if (operand.negated && !negation) fail("an operand is negated, which the instruction does not allow");
  if (operand.predicate && !pair) fail("a second destination is given where the instruction has only one");
}

void Decoding::require_width(const ptx::Operand& operand, Type type) {
  const auto* reg = std::get_if<ptx::Register>(&operand.value);
  if (reg == nullptr) return;
  const Type declared = scope_.register_type(*reg);
  if (width(declared) == width(type)) return;
  fail("a register of type ." + std::string(name(declared)) + " is given where one of " +
       std::to_string(width(type)) + (width(type) == 1 ? " bit (.pred)" : " bits") + " is needed");
}

void Decoding::destination(int index, Type type) {
  const ptx::Operand& operand = this->operand(index);
  refuse_extras(operand, false, false);
  if (std::holds_alternative<ptx::Sink>(operand.value)) {
    Value sink;
    sink.sink = true;
    op_.values.push_back(sink);
    return;
  }
  if (!std::holds_alternative<ptx::Register>(operand.value)) {
    fail("the destination is not a register");
  }
  require_width(operand, type);
  op_.values.push_back(scope_.value(operand, type));
}

void Decoding::destination_pair(int index, Type type, Type second) {
  ptx::Operand first = operand(index);
  const auto predicate = first.predicate;
  first.predicate.reset();
  refuse_extras(first, false, false);
  Value sink;
  sink.sink = true;
  if (std::holds_alternative<ptx::Sink>(first.value)) {
    op_.values.push_back(sink);
  } else {
    if (!std::holds_alternative<ptx::Register>(first.value)) fail("the destination is not a register");
    require_width(first, type);
    op_.values.push_back(scope_.value(first, type));
  }
  if (!predicate) {
    op_.values.push_back(sink);
    return;
  }
  ptx::Operand other;
  other.value = *predicate;
  require_width(other, second);
  op_.values.push_back(scope_.value(other, second));
}

void Decoding::source(int index, Type type) {
  const ptx::Operand& operand = this->operand(index);
  refuse_extras(operand, false, false);
  require_width(operand, type);
  Value value = scope_.value(operand, type);
  if (type == Type::pred && value.slot < 0) value.constant = value.constant != 0 ? 1 : 0;
  op_.values.push_back(value);
}

bool Decoding::predicate(int index) {
  ptx::Operand operand = this->operand(index);
  refuse_extras(operand, true, false);
  const bool negated = operand.negated;
  operand.negated = false;
  require_width(operand, Type::pred);
  Value value = scope_.value(operand, Type::pred);
  if (value.slot < 0) value.constant = value.constant != 0 ? 1 : 0;
  op_.values.push_back(value);
  return negated;
}

}  // namespace tenon::emulator
