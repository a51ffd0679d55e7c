// Reductions of elements into memory.
#include "emulator/instructions/async_copy_reduce.hpp"

#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Type;

std::int64_t sign_extended(std::uint64_t bits, int bytes) {
  const int shift = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

std::uint64_t truncated(std::uint64_t bits, int bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << 8 * bytes) - 1);
}

std::uint64_t reduce_integer(Reduction reduction, Type type, std::uint64_t target, std::uint64_t source) {
  const int bytes = ptx::bytes(type);
  const bool target_is_less =
      is_signed(type) ? sign_extended(target, bytes) < sign_extended(source, bytes) : target < source;
  switch (reduction) {
    case Reduction::add:
      return truncated(target + source, bytes);
    case Reduction::min:
      return target_is_less ? target : source;
    case Reduction::max:
      return target_is_less ? source : target;
    case Reduction::inc:
      return target >= source ? 0 : target + 1;
    case Reduction::dec:
      return target == 0 || target > source ? source : target - 1;
    case Reduction::and_bits:
      return target & source;
    case Reduction::or_bits:
      return target | source;
    default:
      return target ^ source;
  }
}

// The sum of two f16 or bf16 numbers is first rounded to f32, which has more than twice their precision, so
// the second rounding gives the correctly rounded sum. Subnormals are kept: the narrow types have .noftz, and
// additions to global memory in f32 keep them.
std::uint64_t reduce_real(Reduction reduction, Type type, std::uint64_t target, std::uint64_t source) {
  const numerics::Format& format = format_of(type);
  if (numerics::is_nan(format, target) || numerics::is_nan(format, source)) {
    if (reduction == Reduction::add) return format.nan();
    if (!numerics::is_nan(format, target)) return target;
    return numerics::is_nan(format, source) ? format.nan() : source;
  }
  const double a = numerics::to_double(format, target), b = numerics::to_double(format, source);
  if (reduction == Reduction::add) {
    if (type == Type::f64) {
      const std::uint64_t sum = numerics::bits_of(a + b);
      return numerics::is_nan(format, sum) ? format.nan() : sum;
    }
    const float sum = static_cast<float>(a) + static_cast<float>(b);
    return numerics::from_float(format, sum);
  }
  const bool target_is_less = a < b || (a == b && (target & format.sign_bit()) != 0);  // -0 below +0
  return (reduction == Reduction::min) == target_is_less ? target : source;
}

}  // namespace

Reduction require_reduction(Decoding& decoding) {
  return static_cast<Reduction>(
      decoding.require_one({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
}

std::uint64_t reduce(Reduction reduction, Type type, std::uint64_t target, std::uint64_t source) {
  return is_real(type) ? reduce_real(reduction, type, target, source)
                       : reduce_integer(reduction, type, target, source);
}

void reduce_into(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address,
                 const std::uint8_t* source, std::uint32_t bytes, Reduction reduction, Type type) {
  const auto size = static_cast<std::uint32_t>(ptx::bytes(type));
  for (std::uint32_t at = 0; at + size <= bytes; at += size) {
    std::uint64_t element = 0;
    std::memcpy(&element, source + at, size);
    cluster.atomic(actor, space, address + at, size, Order::relaxed, [&](std::uint8_t* memory) {
      std::uint64_t target = 0;
      std::memcpy(&target, memory, size);
      target = reduce(reduction, type, target, element);
      std::memcpy(memory, &target, size);
    });
  }
}

}  // namespace tenon::emulator
