// Decoders of wgmma and setmaxnreg: the valid types, shapes and operands (PTX ISA 9.7.15.5, 9.7.19.5).
#include "emulator/instructions/async_decode.hpp"
#include "emulator/instructions/wgmma_state.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

void decode_setmaxnreg(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require_target(90);
  op.bits[1] = decoding.require_one({"dec", "inc"}) == 1 ? 1 : 0;
  decoding.require("sync");
  decoding.require("aligned");
  decoding.require("u32");
  decoding.require_count(1, 1);
  const std::int64_t count = immediate(decoding, 0, "the register count");
  if (count < 24 || count > 256 || count % 8 != 0) {
    decoding.fail("the register count is " + std::to_string(count) +
                  " but must be a multiple of 8 from 24 to 256");
  }
  op.bits[0] = static_cast<std::uint32_t>(count);
  op.aligned = true;
  op.handler = run_setmaxnreg;
  op.awaited = awaited_registers;
  decoding.finish();
}

// "m64n128k16" -> n = 128, k = 16.
void decode_shape(Decoding& decoding, WgmmaForm& form) {
  for (const std::string& modifier : decoding.instruction().modifiers) {
    if (modifier.compare(0, 4, "m64n") != 0) continue;
    std::size_t digits = 0;
    const std::size_t k = modifier.find('k');
    if (k == std::string::npos || k == 4 || k - 4 > 3 || k + 1 == modifier.size() || modifier.size() - k > 4)
      break;
    for (const char c : modifier.substr(4)) digits += c >= '0' && c <= '9' ? 1 : 0;
    if (digits != modifier.size() - 5) break;
    form.n = std::stoi(modifier.substr(4, k - 4));
    form.k = std::stoi(modifier.substr(k + 1));
    decoding.require(modifier.c_str());
    return;
  }
  decoding.fail("a shape .m64nNkK is needed");
}

void check_types(Decoding& decoding, const WgmmaForm& form) {
  const bool is_fp8 = form.a == Type::e4m3 || form.a == Type::e5m2;
  const bool b_is_fp8 = form.b == Type::e4m3 || form.b == Type::e5m2;
  const bool is_int8 = form.a == Type::s8 || form.a == Type::u8;
  const bool b_is_int8 = form.b == Type::s8 || form.b == Type::u8;
  if (is_fp8 ? !b_is_fp8 : is_int8 ? !b_is_int8 : form.a != form.b) {
    decoding.fail("the types of A and B do not go together");
  }
  const bool is_integer = is_int8 || form.a == Type::b1;
  const bool half_allowed = form.a == Type::f16 || is_fp8;
  if (is_integer != (form.d == Type::s32) || (form.d == Type::f16 && !half_allowed)) {
    decoding.fail("the type of D does not go with those of A and B");
  }
  if (form.sparse && form.a == Type::b1) decoding.fail("there is no sparse product of bits");
  const int k = 256 / form.element_bits() * (form.sparse ? 2 : 1);
  if (form.k != k) {
    decoding.fail("k is " + std::to_string(form.k) + " but must be " + std::to_string(k) +
                  " for these types");
  }
  const bool is_multiple = form.n >= 8 && form.n <= 256 && form.n % 8 == 0;
  const bool is_integer_n = form.n == 8 || form.n == 24 || form.n % 16 == 0;
  if (!is_multiple || (is_integer && !is_integer_n)) {
    decoding.fail(
        "n is " + std::to_string(form.n) + " but must be " +
        (is_integer ? "8, 24 or a multiple of 16 from 16 to 256" : "a multiple of 8 from 8 to 256"));
  }
}

// 1 or -1: true for -1.
bool decode_scale(Decoding& decoding, int operand) {
  const std::int64_t scale = immediate(decoding, operand, "the scale");
  if (scale != 1 && scale != -1)
    decoding.fail("the scale is " + std::to_string(scale) + " but must be 1 or -1");
  return scale == -1;
}

Major decode_transpose(Decoding& decoding, int operand) {
  const std::int64_t transpose = immediate(decoding, operand, "the transpose flag");
  if (transpose != 0 && transpose != 1) {
    decoding.fail("the transpose flag is " + std::to_string(transpose) + " but must be 0 or 1");
  }
  return transpose == 1 ? Major::mn : Major::k;
}

// The next type modifier, for A or B. (.b1 is not a type of a register, so Decoding::type does not accept
// it.)
Type element_type(Decoding& decoding) {
  if (decoding.accept("b1")) return Type::b1;
  return decoding.type({Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::e5m2, Type::s8, Type::u8});
}

bool is_b64_operand(Decoding& decoding, int index) {
  const ptx::Operand& operand = decoding.operand(index);
  return !std::holds_alternative<ptx::Vector>(operand.value);
}

void decode_mma(Decoding& decoding) {
  Op& op = decoding.op();
  auto detail = std::make_unique<WgmmaDetail>();
  WgmmaForm& form = detail->form;
  form.sparse = decoding.accept("sp");
  decode_shape(decoding, form);
  form.d = decoding.type({Type::f32, Type::f16, Type::s32});
  form.a = element_type(decoding);
  form.b = element_type(decoding);
  check_types(decoding, form);
  const bool is_integer = form.d == Type::s32;
  if (form.a == Type::b1) {
    decoding.require("and");
    decoding.require("popc");
  } else if (is_integer) {
    form.saturate = decoding.accept("satfinite");
  }
  decoding.require_count(4, 10);
  form.a_in_registers = !is_b64_operand(decoding, 1);
  const bool has_scales = !is_integer, has_transposes = form.a == Type::f16 || form.a == Type::bf16;
  const int needed =
      4 + (form.sparse ? 2 : 0) + (has_scales ? 2 : 0) + (has_transposes ? (form.a_in_registers ? 1 : 2) : 0);
  decoding.require_count(needed, needed);

  detail->d = add_registers(decoding, 0, register_type_of(form.d), form.accumulator_registers(), true, "D");
  if (form.a_in_registers) {
    detail->a = add_registers(decoding, 1, Type::b32, 4, false, "A");
  } else {
    detail->a = add_source(decoding, 1, Type::b64);
  }
  detail->b = add_source(decoding, 2, Type::b64);
  int next = 3;
  if (form.sparse) {
    detail->metadata = add_source(decoding, next++, Type::b32);
    const std::int64_t selector = immediate(decoding, next++, "the sparsity selector");
    const int selectors = numerics::sparse_selectors(form.tile(), form.a);
    if (selector < 0 || selector >= selectors) {
      decoding.fail("the sparsity selector is " + std::to_string(selector) + " but must be below " +
                    std::to_string(selectors));
    }
    form.selector = static_cast<int>(selector);
  }
  detail->scale_d = static_cast<int>(op.values.size());
  detail->scale_d_negated = decoding.predicate(next++);
  if (has_scales) {
    form.negate_a = decode_scale(decoding, next++);
    form.negate_b = decode_scale(decoding, next++);
  }
  if (has_transposes) {
    if (!form.a_in_registers) form.a_major = decode_transpose(decoding, next++);
    form.b_major = decode_transpose(decoding, next++);
  }
  op.handler = run_wgmma;
  op.detail = std::move(detail);
}

void decode_wgmma(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require_target(90);
  const int which = decoding.require_one({"fence", "commit_group", "wait_group", "mma_async"});
  decoding.require("sync");
  decoding.require("aligned");
  op.aligned = true;
  switch (which) {
    case 0:
    case 1:
      decoding.require_count(0, 0);
      op.handler = which == 0 ? run_wgmma_fence : run_wgmma_commit;
      break;
    case 2: {
      decoding.require_count(1, 1);
      const std::int64_t groups = immediate(decoding, 0, "the number of groups");
      if (groups < 0 || groups > 7) {
        decoding.fail("the number of groups is " + std::to_string(groups) + " but must be from 0 to 7");
      }
      op.bits[0] = static_cast<std::uint32_t>(groups);
      op.handler = run_wgmma_wait;
      break;
    }
    default:
      decode_mma(decoding);
      break;
  }
  decoding.finish();
}

}  // namespace

void add_wgmma_instructions(Decoders& decoders) {
  decoders["wgmma"] = decode_wgmma;
  decoders["setmaxnreg"] = decode_setmaxnreg;
}

}  // namespace tenon::emulator
