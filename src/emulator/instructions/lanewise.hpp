// What all lane-wise instructions share: reading modifiers and operands of a PTX instruction into an Op, and
// the loop over lanes that applies a function on bits. Builds on machine/warp.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/op.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/numerics/formats.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

using Bits = std::uint64_t;  // a register of one lane

// "s32" -> Type::s32; nothing for modifiers that are not ptx::Type.
std::optional<ptx::Type> type_named(const std::string& modifier);
// "s32"
const char* name(ptx::Type type);

bool is_signed(ptx::Type type);   // s8 ... s64, s16x2
bool is_integer(ptx::Type type);  // u8 ... s64
bool is_real(ptx::Type type);     // f16, bf16, f32, f64, tf32
int width(ptx::Type type);        // bits of a register of the type; pred: 1
// For is_real types, the packed ones and fp8.
const numerics::Format& format_of(ptx::Type type);
bool is_packed(ptx::Type type);  // f16x2 ...: two elements in a register

constexpr Bits mask_of(int width) {
  return width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
}

// Reads an instruction part by part. A decoder must accept every modifier: finish() fails with the name of
// one that is left. Operands are appended to op.values in the order of the calls.
class Decoding {
 public:
  Decoding(const ptx::Instruction& instruction, Scope& scope, Op& op);

  // --- modifiers
  bool accept(const char* modifier);  // accepts it if it is present
  void require(const char* modifier);
  // Which of the choices is present; -1 (or an error, if one is required) for none.
  int accept_one(std::initializer_list<const char*> choices);
  int require_one(std::initializer_list<const char*> choices);
  // The first type that is not yet accepted, which must be one of these.
  ptx::Type type(std::initializer_list<ptx::Type> allowed);
  std::optional<numerics::Rounding> accept_rounding();  // .rn .rz .rm .rp
  void require_target(int architecture);                // 100: sm_100 or later
  void finish();

  // --- operands
  int count() const { return static_cast<int>(instruction_.operands.size()); }
  void require_count(int least, int most);
  const ptx::Operand& operand(int index) const;
  // A register as wide as the type, or a sink. With `second`, the q of p|q follows (a sink if there is none).
  void destination(int index, ptx::Type type);
  void destination_pair(int index, ptx::Type type, ptx::Type second);
  // A register as wide as the type, a constant or a special register.
  void source(int index, ptx::Type type);
  // {!}p: true if negated.
  bool predicate(int index);
  void require_width(const ptx::Operand& operand, ptx::Type type);  // of a register

  [[noreturn]] void fail(const std::string& sentence) const;

  const ptx::Instruction& instruction() const { return instruction_; }
  Scope& scope() { return scope_; }
  Op& op() { return op_; }

 private:
  void refuse_extras(const ptx::Operand& operand, bool negation, bool pair) const;

  const ptx::Instruction& instruction_;
  Scope& scope_;
  Op& op_;
  std::vector<bool> taken_;
};

// The decoder for `decode`, which must accept all modifiers of an instruction.
template <void (*decode)(Decoding&)>
void decoder(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode(decoding);
  decoding.finish();
}

// op.values[0] = function(op.values[1], ...) for every active lane. `Extra...` is passed too: nothing, or the
// Op.
namespace lanewise {

template <class Result, class... Arguments>
constexpr std::size_t arity(Result (*)(Arguments...)) {
  return sizeof...(Arguments);
}

template <class Function, std::size_t... input>
void apply(Warp& warp, const Op& op, LaneMask active, Function function, std::index_sequence<input...>) {
  Warp::LaneBuffer constants[sizeof...(input)];
  const Bits* const inputs[] = {warp.gather(op.values[input + 1], constants[input])...};
  Warp::LaneBuffer results;
  Bits* const target = warp.scatter(op.values[0], results);
  if (active == all_lanes) {
    // Into a buffer first: the result may be one of the inputs, and the compiler can then vectorise.
    for (int lane = 0; lane < warp_size; ++lane) results[lane] = function(inputs[input][lane]...);
    if (target != results) std::memcpy(target, results, sizeof results);
  } else {
    for_each_lane(active, [&](int lane) { target[lane] = function(inputs[input][lane]...); });
  }
}

// function(a, b, ...)
template <auto function>
Flow run(Warp& warp, const Op& op, LaneMask active) {
  apply(
      warp, op, active, [](auto... inputs) { return function(inputs...); },
      std::make_index_sequence<arity(function)>{});
  return Flow::next;
}

// function(a, b, ..., op)
template <auto function>
Flow run_with_op(Warp& warp, const Op& op, LaneMask active) {
  apply(
      warp, op, active, [&op](auto... inputs) { return function(inputs..., op); },
      std::make_index_sequence<arity(function) - 1>{});
  return Flow::next;
}

}  // namespace lanewise

// A register as a C++ integer, and back (zero-extended).
template <class T>
constexpr T value_of(Bits bits) {
  return static_cast<T>(bits);
}
template <class T>
constexpr Bits bits_from(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

// The handler of Operation::run<T>(a, b, ...) for an integer type; bit types count as unsigned.
template <class Operation>
Handler integer_handler(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::b16:
    case Type::u16:
      return lanewise::run<&Operation::template run<std::uint16_t>>;
    case Type::b32:
    case Type::u32:
      return lanewise::run<&Operation::template run<std::uint32_t>>;
    case Type::b64:
    case Type::u64:
      return lanewise::run<&Operation::template run<std::uint64_t>>;
    case Type::s16:
      return lanewise::run<&Operation::template run<std::int16_t>>;
    case Type::s32:
      return lanewise::run<&Operation::template run<std::int32_t>>;
    case Type::s64:
      return lanewise::run<&Operation::template run<std::int64_t>>;
    default:
      return nullptr;
  }
}

// The decoders of opcodes whose type selects integers or floating-point numbers.
void decode_integer(const ptx::Instruction& instruction, Scope& scope, Op& op);  // integer.cpp
void decode_float(const ptx::Instruction& instruction, Scope& scope, Op& op);    // float.cpp

}  // namespace tenon::emulator
