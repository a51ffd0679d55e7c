#include "emulator/numerics/model.hpp"

#include <algorithm>
#include <stdexcept>

namespace tenon::emulator::numerics {

Model model_of_target(int target) {
  if (target < 80) return Model::sm_75;
  if (target < 89) return Model::sm_80;
  return target < 90 ? Model::sm_89 : Model::sm_90;
}

const Format& format_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
      return f16;
    case ptx::Type::bf16:
      return bf16;
    case ptx::Type::tf32:
      return tf32;
    case ptx::Type::e4m3:
      return e4m3;
    case ptx::Type::e5m2:
      return e5m2;
    case ptx::Type::f32:
      return f32;
    case ptx::Type::f64:
      return f64;
    default:
      throw std::logic_error("format_of: not a floating-point type of a matrix instruction");
  }
}

Arithmetic arithmetic_of(Model model, Unit unit, ptx::Type input, ptx::Type output, int count) {
  Arithmetic arithmetic;
  arithmetic.exact = model == Model::ieee;
  const bool hopper = model == Model::sm_90 || arithmetic.exact;
  const bool fp8 = input == ptx::Type::e4m3 || input == ptx::Type::e5m2;
  const bool half_result = output == ptx::Type::f16;
  arithmetic.result = half_result ? Arithmetic::Result::f16_nearest : Arithmetic::Result::f32_cut;
  arithmetic.fraction = hopper ? 25 : 24;
  // The result's smallest exponent, 5 bits of headroom, and one more for each fraction bit over 23.
  arithmetic.minimum_exponent = hopper ? (half_result ? -21 : -133) : (half_result ? -20 : -132);
  if (fp8 && hopper && unit != Unit::wgmma) {
    arithmetic.fp8_by_halves = true;
    arithmetic.group = count / 2;
    return arithmetic;
  }
  if (fp8) {
    arithmetic.group = hopper ? 32 : 16;
    arithmetic.fraction = 13;
    if (!half_result) arithmetic.result = Arithmetic::Result::f32_cut_to_13_bits;
  } else if (input == ptx::Type::tf32) {
    // wmma of tf32 consists of k4 instructions on every architecture.
    arithmetic.group = hopper && unit != Unit::wmma ? 8 : 4;
  } else {
    arithmetic.group = hopper ? 16 : 8;
  }
  arithmetic.group = std::min(arithmetic.group, count);
  return arithmetic;
}

}  // namespace tenon::emulator::numerics
