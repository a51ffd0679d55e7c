// Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5): f16, bf16, f32, f64 and their pairs. The common f32 and
// f64 forms, rounded to nearest, run on the host's arithmetic; all others on float_arithmetic.
#include "emulator/instructions/float_arithmetic.hpp"
#include "emulator/instructions/float_on_host.hpp"
#include "emulator/instructions/half_on_host.hpp"
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using numerics::Format;
using numerics::Rounding;
using namespace on_host;
using ptx::Type;

// --- modifiers, packed into op.bits[0]

struct Mode {
  Rounding rounding = Rounding::nearest_even;
  bool flush = false, saturate = false, rectify = false, nan = false, xor_sign = false, absolute = false;
  bool out_of_bounds = false;  // .oob

  bool plain() const { return rounding == Rounding::nearest_even && !flush && !saturate && !rectify; }
  std::uint32_t packed() const {
    return static_cast<std::uint32_t>(rounding) | (flush ? 8U : 0) | (saturate ? 16U : 0) |
           (rectify ? 32U : 0) | (nan ? 64U : 0) | (xor_sign ? 128U : 0) | (absolute ? 256U : 0) |
           (out_of_bounds ? 512U : 0);
  }
  static Mode of(const Op& op) {
    const std::uint32_t bits = op.bits[0];
    return {static_cast<Rounding>(bits & 7),
            (bits & 8) != 0,
            (bits & 16) != 0,
            (bits & 32) != 0,
            (bits & 64) != 0,
            (bits & 128) != 0,
            (bits & 256) != 0,
            (bits & 512) != 0};
  }
};

Bits before(const Format& format, Bits a, const Mode& mode) {
  return mode.flush ? numerics::flush_subnormal(format, a) : a;
}
Bits after(const Format& format, Bits result, const Mode& mode) {
  if (mode.flush) result = numerics::flush_subnormal(format, result);
  if (mode.saturate) result = arithmetic::saturate(format, result);
  if (mode.rectify) result = arithmetic::rectify(format, result);
  return result;
}

// --- operations on one element: run(format, mode, a, b, ...)

// (16-bit types only round to nearest, and run on the host: half_on_host.)

// Operations whose subnormal results may be inexact, which .ftz needs care for. Subnormal sums are exact.
struct RoundedToSubnormals {};

struct Add {
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b) {
    if (format.bits() == 16) return half_add(format, a, b);
    return arithmetic::add(format, a, b, mode.rounding);
  }
};
struct Subtract {
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b) {
    if (format.bits() == 16) return half_add(format, a, b ^ 0x8000);
    return arithmetic::subtract(format, a, b, mode.rounding);
  }
};
struct Multiply : RoundedToSubnormals {
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b) {
    if (format.bits() == 16) return half_multiply(format, a, b);
    return arithmetic::multiply(format, a, b, mode.rounding);
  }
};
// The value that an H200 puts at elements outside a tensor: .oob makes a product with it 0, whatever its
// sign.
bool is_out_of_bounds(Bits half) {
  return (half & 0x7fff) == 0x7ff7;
}

struct FusedMultiplyAdd : RoundedToSubnormals {
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b, Bits c) {
    if (mode.out_of_bounds && (is_out_of_bounds(a) || is_out_of_bounds(b))) return 0;
    if (format.bits() == 16) return half_multiply_add(format, a, b, c);
    return arithmetic::fused_multiply_add(format, a, b, c, mode.rounding);
  }
};
struct Divide : RoundedToSubnormals {
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b) {
    return arithmetic::divide(format, a, b, mode.rounding);
  }
};
struct ApproximateQuotient {
  static Bits run(const Format&, const Mode&, Bits a, Bits b) {
    return arithmetic::approximate_quotient(a, b);
  }
};
struct SquareRoot {
  static Bits run(const Format& format, const Mode& mode, Bits a) {
    return arithmetic::square_root(format, a, mode.rounding);
  }
};
struct Reciprocal : RoundedToSubnormals {
  static Bits run(const Format& format, const Mode& mode, Bits a) {
    const Bits unit = static_cast<Bits>(format.bias()) << format.fraction_bits;
    return arithmetic::divide(format, unit, a, mode.rounding);
  }
};
template <arithmetic::Function function>
struct Approximate {
  static Bits run(const Format& format, const Mode&, Bits a) {
    return arithmetic::approximate(format, function, a);
  }
};
template <arithmetic::Function function>
struct GrossApproximation {
  static Bits run(const Format&, const Mode&, Bits a) { return arithmetic::gross_approximation(function, a); }
};
struct Absolute {
  static Bits run(const Format& format, const Mode&, Bits a) { return arithmetic::absolute(format, a); }
};
struct Negate {
  static Bits run(const Format& format, const Mode&, Bits a) { return arithmetic::negate(format, a); }
};
// min and max with .xorsign.abs (of the magnitudes, with the product's sign) and .abs.
template <bool larger>
struct Extreme {
  static Bits two(const Format& format, const Mode& mode, Bits a, Bits b) {
    return larger ? arithmetic::maximum(format, a, b, mode.nan) : arithmetic::minimum(format, a, b, mode.nan);
  }
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b) {
    if (!mode.xor_sign) return two(format, mode, a, b);
    const Bits magnitudes = ~format.sign_bit();
    const Bits result = two(format, mode, a & magnitudes, b & magnitudes);
    return numerics::is_nan(format, result) ? result : result | ((a ^ b) & format.sign_bit());
  }
  static Bits run(const Format& format, const Mode& mode, Bits a, Bits b, Bits c) {
    const Bits kept = mode.absolute ? ~format.sign_bit() : ~Bits{0};
    const Bits x = two(format, mode, a & kept, b & kept);
    return two(format, mode, x, c & kept);
  }
};

template <class Operation, const Format& format, class... Inputs>
Bits on_element(const Mode& mode, Inputs... inputs) {
  Bits result = Operation::run(format, mode, before(format, inputs, mode)...);
  if (std::is_base_of_v<RoundedToSubnormals, Operation> && mode.flush) {
    const auto run = [&](const Format& wider, auto... bits) { return Operation::run(wider, mode, bits...); };
    result = arithmetic::flush_result(format, result, run, before(format, inputs, mode)...);
  }
  return after(format, result, mode);
}

// A register of one element, or of two.
template <class Operation, const Format& format, bool packed, class... Inputs>
Bits on_register(const Mode& mode, Inputs... inputs) {
  const auto element = [&](auto... bits) { return on_element<Operation, format>(mode, bits...); };
  if constexpr (packed) {
    constexpr int half = format.bits();
    constexpr Bits mask = mask_of(half);
    return element((inputs & mask)...) | element((inputs >> half & mask)...) << half;
  } else {
    return element(inputs...);
  }
}

template <class Operation, const Format& format, bool packed>
Bits unary(Bits a, const Op& op) {
  return on_register<Operation, format, packed>(Mode::of(op), a);
}
template <class Operation, const Format& format, bool packed>
Bits binary(Bits a, Bits b, const Op& op) {
  return on_register<Operation, format, packed>(Mode::of(op), a, b);
}
template <class Operation, const Format& format, bool packed>
Bits ternary(Bits a, Bits b, Bits c, const Op& op) {
  return on_register<Operation, format, packed>(Mode::of(op), a, b, c);
}

template <class Operation, int sources, const Format& format, bool packed>
constexpr Handler handler_for() {
  if constexpr (sources == 1) return lanewise::run_with_op<&unary<Operation, format, packed>>;
  if constexpr (sources == 2) return lanewise::run_with_op<&binary<Operation, format, packed>>;
  if constexpr (sources == 3) return lanewise::run_with_op<&ternary<Operation, format, packed>>;
}

template <class Operation, int sources>
Handler handler_of(Type type) {
  switch (type) {
    case Type::f16:
      return handler_for<Operation, sources, numerics::f16, false>();
    case Type::f16x2:
      return handler_for<Operation, sources, numerics::f16, true>();
    case Type::bf16:
      return handler_for<Operation, sources, numerics::bf16, false>();
    case Type::bf16x2:
      return handler_for<Operation, sources, numerics::bf16, true>();
    case Type::f32:
      return handler_for<Operation, sources, numerics::f32, false>();
    case Type::f32x2:
      return handler_for<Operation, sources, numerics::f32, true>();
    default:
      return handler_for<Operation, sources, numerics::f64, false>();
  }
}

// --- the forms that run on the host's arithmetic

// The host's handler, if the form has one: [f32, f32 with .ftz, f64].
struct Hosted {
  Handler f32 = nullptr, f32_flush = nullptr, f64 = nullptr;
  Handler of(Type type, Mode mode) const {
    const bool flush = mode.flush;
    mode.flush = false;
    if (!mode.plain() || mode.nan || mode.xor_sign) return nullptr;
    if (type == Type::f32) return flush ? f32_flush : f32;
    return type == Type::f64 && !flush ? f64 : nullptr;
  }
};

// --- decoding

template <class Operation, int sources>
void finish(Decoding& decoding, Type type, const Mode& mode, const Hosted& hosted = {}) {
  decoding.require_count(sources + 1, sources + 1);
  decoding.destination(0, type);
  for (int i = 1; i <= sources; ++i) decoding.source(i, type);
  decoding.op().bits[0] = mode.packed();
  const Handler handler = hosted.of(type, mode);
  decoding.op().handler = handler != nullptr ? handler : handler_of<Operation, sources>(type);
}

// .f64 has no .ftz and no .sat, the 16-bit types round to nearest only.
void check_mode(Decoding& decoding, Type type, const Mode& mode) {
  const Type element = type;
  if (element == Type::f64 && (mode.flush || mode.saturate)) decoding.fail(".f64 has neither .ftz nor .sat");
  const bool half = type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
  if (half && mode.rounding != Rounding::nearest_even) decoding.fail("the type rounds by .rn only");
  if ((type == Type::bf16 || type == Type::bf16x2) && (mode.flush || mode.saturate)) {
    decoding.fail("the type has neither .ftz nor .sat");
  }
  if (type == Type::f32x2) {
    if (mode.saturate) decoding.fail(".f32x2 has no .sat");
    decoding.require_target(100);
  }
}

constexpr std::initializer_list<Type> all_types = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2,
                                                   Type::f32, Type::f32x2, Type::f64};

template <class Operation>
void decode_binary(Decoding& decoding, const Hosted& hosted) {
  Mode mode;
  mode.rounding = decoding.accept_rounding().value_or(Rounding::nearest_even);
  mode.flush = decoding.accept("ftz");
  mode.saturate = decoding.accept("sat");
  const Type type = decoding.type(all_types);
  check_mode(decoding, type, mode);
  finish<Operation, 2>(decoding, type, mode, hosted);
}

// fma, and mad, which equals it since sm_20.
void decode_fma(Decoding& decoding, bool mad) {
  const auto rounding = decoding.accept_rounding();
  if (!rounding) decoding.fail("a rounding is needed: .rn, .rz, .rm or .rp");
  Mode mode;
  mode.rounding = *rounding;
  mode.flush = decoding.accept("ftz");
  mode.saturate = decoding.accept("sat");
  mode.rectify = decoding.accept("relu");
  mode.out_of_bounds = decoding.accept("oob");
  const Type type = mad ? decoding.type({Type::f32, Type::f64}) : decoding.type(all_types);
  check_mode(decoding, type, mode);
  if (mode.rectify && (mode.saturate || type == Type::f32 || type == Type::f32x2 || type == Type::f64)) {
    decoding.fail(".relu needs a 16-bit type and no .sat");
  }
  if (mode.out_of_bounds) {
    if (width(type) > 32 || type == Type::f32 || mode.flush || mode.saturate) {
      decoding.fail(".oob needs a 16-bit type and neither .ftz nor .sat");
    }
    decoding.require_target(90);
  }
  finish<FusedMultiplyAdd, 3>(
      decoding, type, mode,
      {lanewise::run<&fma_f32<false>>, lanewise::run<&fma_f32<true>>, lanewise::run<&fma_f64>});
}

void decode_div(Decoding& decoding) {
  const int approximation = decoding.accept_one({"approx", "full"});
  const auto rounding = decoding.accept_rounding();
  Mode mode;
  mode.flush = decoding.accept("ftz");
  const Type type = decoding.type({Type::f32, Type::f64});
  if (approximation >= 0) {
    if (type == Type::f64 || rounding) decoding.fail(".approx and .full are for .f32 without a rounding");
    // .full is within 2 ulp everywhere: the rounded quotient.
    if (approximation == 0) return finish<ApproximateQuotient, 2>(decoding, type, mode);
  } else if (!rounding) {
    decoding.fail("one of .approx, .full, .rn, .rz, .rm, .rp is needed");
  }
  mode.rounding = rounding.value_or(Rounding::nearest_even);
  check_mode(decoding, type, mode);
  finish<Divide, 2>(
      decoding, type, mode,
      {lanewise::run<&divide_f32<false>>, lanewise::run<&divide_f32<true>>, lanewise::run<&divide_f64>});
}

// The host's version for f32, if there is one: sin and cos reduce angles in their own way.
template <arithmetic::Function function>
Hosted hosted_function() {
  using arithmetic::Function;
  constexpr double (*on_host)(double) = function == Function::reciprocal        ? reciprocal
                                        : function == Function::reciprocal_root ? reciprocal_root
                                        : function == Function::square_root     ? square_root
                                        : function == Function::log2            ? log2
                                        : function == Function::exp2            ? exp2
                                        : function == Function::tanh            ? tanh
                                                                                : nullptr;
  if constexpr (on_host == nullptr) {
    return {};
  } else {
    return {lanewise::run<&approximate_f32<false, on_host>>, lanewise::run<&approximate_f32<true, on_host>>};
  }
}

// rcp and sqrt: correctly rounded, or .approx for f32, or (rcp) .approx.ftz.f64.
template <class Exact, arithmetic::Function function>
void decode_root(Decoding& decoding) {
  const bool approximate = decoding.accept("approx");
  const auto rounding = decoding.accept_rounding();
  Mode mode;
  mode.flush = decoding.accept("ftz");
  const Type type = decoding.type({Type::f32, Type::f64});
  if (approximate == rounding.has_value()) {
    decoding.fail("either .approx or one of .rn, .rz, .rm, .rp is needed");
  }
  if (!approximate) {
    mode.rounding = *rounding;
    check_mode(decoding, type, mode);
    return finish<Exact, 1>(decoding, type, mode);
  }
  if (type == Type::f32) {
    return finish<Approximate<function>, 1>(decoding, type, mode, hosted_function<function>());
  }
  if (function != arithmetic::Function::reciprocal || !mode.flush) {
    decoding.fail("the only approximations for .f64 are rcp.approx.ftz and rsqrt");
  }
  finish<GrossApproximation<function>, 1>(decoding, type, Mode{});
}

void decode_rsqrt(Decoding& decoding) {
  constexpr auto function = arithmetic::Function::reciprocal_root;
  decoding.require("approx");
  Mode mode;
  mode.flush = decoding.accept("ftz");
  const Type type = decoding.type({Type::f32, Type::f64});
  if (type == Type::f64 && mode.flush) return finish<GrossApproximation<function>, 1>(decoding, type, Mode{});
  finish<Approximate<function>, 1>(decoding, type, mode, hosted_function<function>());
}

// .approx{.ftz}.f32, and the 16-bit types where the function has them.
template <arithmetic::Function function>
void decode_approximate(Decoding& decoding) {
  decoding.require("approx");
  Mode mode;
  mode.flush = decoding.accept("ftz");
  Type type = Type::f32;
  if constexpr (function == arithmetic::Function::exp2 || function == arithmetic::Function::tanh) {
    type = decoding.type({Type::f32, Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
    const bool brain = type == Type::bf16 || type == Type::bf16x2;
    const bool flushes =
        function == arithmetic::Function::tanh ? false : brain || (type == Type::f32 && mode.flush);
    if (mode.flush != flushes) {
      decoding.fail(mode.flush ? "the type has no .ftz here" : "the type needs .ftz here");
    }
  } else {
    type = decoding.type({Type::f32});
  }
  finish<Approximate<function>, 1>(decoding, type, mode, hosted_function<function>());
}

template <class Operation>
void decode_sign(Decoding& decoding) {
  Mode mode;
  mode.flush = decoding.accept("ftz");
  const Type type = decoding.type({Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64});
  check_mode(decoding, type, mode);
  finish<Operation, 1>(decoding, type, mode);
}

template <bool larger>
void decode_extreme(Decoding& decoding) {
  Mode mode;
  mode.flush = decoding.accept("ftz");
  mode.nan = decoding.accept("NaN");
  mode.xor_sign = decoding.accept("xorsign");
  mode.absolute = decoding.accept("abs");
  const Type type = decoding.type({Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64});
  check_mode(decoding, type, mode);
  if (type == Type::f64 && (mode.nan || mode.xor_sign || mode.absolute)) {
    decoding.fail(".f64 has no modifiers here");
  }
  const bool three = decoding.count() == 4;
  if (mode.xor_sign && (!mode.absolute || three)) {
    decoding.fail(".xorsign must precede .abs, and needs two sources");
  }
  if (three) {
    if (type != Type::f32) decoding.fail("only .f32 has three sources");
    decoding.require_target(100);
    return finish<Extreme<larger>, 3>(decoding, type, mode);
  }
  if (mode.absolute && !mode.xor_sign) decoding.fail(".abs needs .xorsign, or three sources");
  finish<Extreme<larger>, 2>(
      decoding, type, mode,
      larger ? Hosted{lanewise::run<&maximum_f32<false>>, lanewise::run<&maximum_f32<true>>}
             : Hosted{lanewise::run<&minimum_f32<false>>, lanewise::run<&minimum_f32<true>>});
}

template <const Format& format>
Bits copy_sign(Bits sign, Bits magnitude) {
  return (sign & format.sign_bit()) | (magnitude & ~format.sign_bit());
}

void decode_copysign(Decoding& decoding) {
  const Type type = decoding.type({Type::f32, Type::f64});
  decoding.require_count(3, 3);
  decoding.destination(0, type);
  decoding.source(1, type);
  decoding.source(2, type);
  decoding.op().handler =
      type == Type::f32 ? lanewise::run<&copy_sign<numerics::f32>> : lanewise::run<&copy_sign<numerics::f64>>;
}

enum class Property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <const Format& format, Property property>
Bits has(Bits a) {
  const Bits magnitude = a & ~format.sign_bit(), infinity = format.infinity();
  const bool subnormal = (magnitude & infinity) == 0 && magnitude != 0;  // zeros count as normal
  switch (property) {
    case Property::finite:
      return magnitude < infinity;
    case Property::infinite:
      return magnitude == infinity;
    case Property::number:
      return magnitude <= infinity;
    case Property::notanumber:
      return magnitude > infinity;
    case Property::normal:
      return magnitude < infinity && !subnormal;
    case Property::subnormal:
      return subnormal;
  }
  return 0;
}

template <const Format& format>
Handler testp_handler(int property) {
  const Handler handlers[] = {
      lanewise::run<&has<format, Property::finite>>, lanewise::run<&has<format, Property::infinite>>,
      lanewise::run<&has<format, Property::number>>, lanewise::run<&has<format, Property::notanumber>>,
      lanewise::run<&has<format, Property::normal>>, lanewise::run<&has<format, Property::subnormal>>};
  return handlers[property];
}

void decode_testp(Decoding& decoding) {
  const int property =
      decoding.require_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = decoding.type({Type::f32, Type::f64});
  decoding.require_count(2, 2);
  decoding.destination(0, Type::pred);
  decoding.source(1, type);
  decoding.op().handler =
      type == Type::f32 ? testp_handler<numerics::f32>(property) : testp_handler<numerics::f64>(property);
}

void decode_named(Decoding& decoding, const std::string& opcode) {
  using arithmetic::Function;
  if (opcode == "add") {
    return decode_binary<Add>(
        decoding, {lanewise::run<&add_f32<false>>, lanewise::run<&add_f32<true>>, lanewise::run<&add_f64>});
  }
  if (opcode == "sub") {
    return decode_binary<Subtract>(decoding,
                                   {lanewise::run<&subtract_f32<false>>, lanewise::run<&subtract_f32<true>>,
                                    lanewise::run<&subtract_f64>});
  }
  if (opcode == "mul") {
    return decode_binary<Multiply>(decoding,
                                   {lanewise::run<&multiply_f32<false>>, lanewise::run<&multiply_f32<true>>,
                                    lanewise::run<&multiply_f64>});
  }
  if (opcode == "fma") return decode_fma(decoding, false);
  if (opcode == "mad") return decode_fma(decoding, true);
  if (opcode == "div") return decode_div(decoding);
  if (opcode == "abs") return decode_sign<Absolute>(decoding);
  if (opcode == "neg") return decode_sign<Negate>(decoding);
  if (opcode == "min") return decode_extreme<false>(decoding);
  if (opcode == "max") return decode_extreme<true>(decoding);
  if (opcode == "rcp") return decode_root<Reciprocal, Function::reciprocal>(decoding);
  if (opcode == "sqrt") return decode_root<SquareRoot, Function::square_root>(decoding);
  if (opcode == "rsqrt") return decode_rsqrt(decoding);
  if (opcode == "sin") return decode_approximate<Function::sine>(decoding);
  if (opcode == "cos") return decode_approximate<Function::cosine>(decoding);
  if (opcode == "lg2") return decode_approximate<Function::log2>(decoding);
  if (opcode == "ex2") return decode_approximate<Function::exp2>(decoding);
  if (opcode == "tanh") return decode_approximate<Function::tanh>(decoding);
  if (opcode == "copysign") return decode_copysign(decoding);
  if (opcode == "testp") return decode_testp(decoding);
  decoding.fail("there is no such floating-point instruction");
}

}  // namespace

void decode_float(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_named(decoding, instruction.opcode);
  decoding.finish();
}

// add sub mul mad div abs neg min max are registered by integer.cpp, whose decoder asks for the type.
void add_float_instructions(Decoders& decoders) {
  for (const char* opcode :
       {"fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign", "testp"}) {
    decoders[opcode] = decode_float;
  }
}

}  // namespace tenon::emulator
