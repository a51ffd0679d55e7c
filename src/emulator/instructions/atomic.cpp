// atom and red: read-modify-write of one word or, element by element, of a vector (PTX ISA: atom, red).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "emulator/instructions/memory_decode.hpp"

namespace tenon::emulator {
namespace {

using ptx::Space;
using ptx::Type;

// An element of up to 16 bytes and the operation on it.
struct Operands {
  std::uint64_t b[2] = {}, c[2] = {};
  bool in_global = false;
};
using Update = void (*)(std::uint8_t* at, const Operands& operands);

struct Atomic : Detail {
  Update update = nullptr;
  Space space = Space::generic;
  Order order = Order::relaxed;
  std::uint32_t bytes = 4;  // of an element
  int elements = 1;
  bool has_result = false;
  // op.values: 0 address, then the elements' results if any, b, and c if any.
  int at_b = 1, at_c = -1;
};

// --- updates

template <class T>
T get(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void put(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  }
};
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Increment {
  template <class T>
  static T apply(T a, T b) {
    return a >= b ? 0 : a + 1;
  }
};
struct Decrement {
  template <class T>
  static T apply(T a, T b) {
    return a == 0 || a > b ? b : a - 1;
  }
};

template <class T, class Operation>
void update(std::uint8_t* at, const Operands& operands) {
  put<T>(at, Operation::apply(get<T>(at), static_cast<T>(operands.b[0])));
}

template <int bytes>
void exchange(std::uint8_t* at, const Operands& operands) {
  std::memcpy(at, operands.b, bytes);
}

template <int bytes>
void compare_and_swap(std::uint8_t* at, const Operands& operands) {
  if (std::memcmp(at, operands.b, bytes) == 0) std::memcpy(at, operands.c, bytes);
}

// Subnormals are flushed in global memory, and kept in shared memory.
void add_f32(std::uint8_t* at, const Operands& operands) {
  using namespace numerics;
  const auto flushed = [&](std::uint64_t bits) {
    return float_of(static_cast<std::uint32_t>(operands.in_global ? flush_subnormal(f32, bits) : bits));
  };
  const std::uint64_t sum = bits_of(flushed(get<std::uint32_t>(at)) + flushed(operands.b[0]));
  put<std::uint32_t>(at, static_cast<std::uint32_t>(operands.in_global ? flush_subnormal(f32, sum) : sum));
}

void add_f64(std::uint8_t* at, const Operands& operands) {
  put<double>(at, get<double>(at) + numerics::double_of(operands.b[0]));
}

// The sum in double is rounded twice, which is harmless: double has more than twice the bits of both formats.
struct HalfAdd {
  static std::uint16_t apply(const numerics::Format& format, std::uint16_t a, std::uint16_t b) {
    const double sum = numerics::to_double(format, a) + numerics::to_double(format, b);
    return static_cast<std::uint16_t>(numerics::from_double(format, sum));
  }
};
template <bool is_maximum>
struct HalfExtreme {
  static std::uint16_t apply(const numerics::Format& format, std::uint16_t a, std::uint16_t b) {
    const bool a_is_nan = numerics::is_nan(format, a), b_is_nan = numerics::is_nan(format, b);
    if (a_is_nan) return b_is_nan ? static_cast<std::uint16_t>(format.nan()) : b;
    if (b_is_nan) return a;
    const double x = numerics::to_double(format, a), y = numerics::to_double(format, b);
    const bool a_is_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));  // -0 below +0
    return a_is_less == is_maximum ? b : a;
  }
};

template <class Operation, const numerics::Format& format, int count>
void update_halves(std::uint8_t* at, const Operands& operands) {
  for (int i = 0; i < count; ++i, at += 2)
    put<std::uint16_t>(at, Operation::apply(format, get<std::uint16_t>(at),
                                            static_cast<std::uint16_t>(operands.b[0] >> (16 * i))));
}

template <class Operation>
Update half_update(Type type) {
  switch (type) {
    case Type::f16:
      return update_halves<Operation, numerics::f16, 1>;
    case Type::f16x2:
      return update_halves<Operation, numerics::f16, 2>;
    case Type::bf16:
      return update_halves<Operation, numerics::bf16, 1>;
    case Type::bf16x2:
      return update_halves<Operation, numerics::bf16, 2>;
    default:
      return nullptr;
  }
}

template <class Operation>
Update integer_update(Type type) {
  switch (type) {
    case Type::b32:
    case Type::u32:
      return update<std::uint32_t, Operation>;
    case Type::b64:
    case Type::u64:
      return update<std::uint64_t, Operation>;
    case Type::s32:
      return update<std::int32_t, Operation>;
    case Type::s64:
      return update<std::int64_t, Operation>;
    default:
      return nullptr;
  }
}

// --- execution

std::uint64_t element_address(const Atomic& atomic, std::uint64_t address, int element) {
  return address + atomic.bytes * static_cast<std::uint64_t>(element);
}

Flow run(Warp& warp, const Op& op, LaneMask active) {
  const auto& atomic = static_cast<const Atomic&>(*op.detail);
  const std::uint32_t size = atomic.bytes * static_cast<std::uint32_t>(atomic.elements);
  std::uint64_t addresses[warp_size] = {};
  for_each_lane(active, [&](int lane) { addresses[lane] = warp.address(op.values[0], op, lane); });
  count_traffic(warp, atomic.space, addresses, active, static_cast<int>(size), Direction::store);
  const std::uint64_t before = warp.cluster().changes();
  const auto words = [&](int first, int element, int lane, std::uint64_t(&to)[2]) {
    const Value& value = op.values[static_cast<std::size_t>(first) + static_cast<std::size_t>(element)];
    to[0] = warp.read(value, lane);
    if (atomic.bytes == 16 && value.slot >= 0) to[1] = warp.lanes(value.slot + 1)[lane];
  };
  for_each_lane(active, [&](int lane) {
    const std::uint64_t address = addresses[lane];
    if (atomic.elements > 1 && address % size != 0) {
      warp.report(FindingKind::misaligned, lane, address, [&] {
        return "the address of a vector of " + std::to_string(size) + " bytes is not a multiple of " +
               std::to_string(size);
      });
      return;
    }
    Operands operands;
    operands.in_global = space_at(atomic.space, address) == Space::global;
    for (int i = 0; i < atomic.elements; ++i) {
      words(atomic.at_b, i, lane, operands.b);
      if (atomic.at_c >= 0) words(atomic.at_c, i, lane, operands.c);
      std::uint64_t old[2] = {};
      warp.cluster().atomic(warp.actor(lane), atomic.space, element_address(atomic, address, i), atomic.bytes,
                            atomic.order, [&](std::uint8_t* at) {
                              std::memcpy(old, at, atomic.bytes);
                              atomic.update(at, operands);
                            });
      if (!atomic.has_result) continue;
      const Value& result = op.values[1 + static_cast<std::size_t>(i)];
      warp.write(result, lane, old[0]);
      if (atomic.bytes == 16 && result.slot >= 0) warp.lanes(result.slot + 1)[lane] = old[1];
    }
  });
  if (atomic.has_result && warp.cluster().changes() == before)
    warp.poll();  // perhaps a lock that another thread holds
  return Flow::next;
}

// --- decoding

enum class Operation { add, minimum, maximum, bit_and, bit_or, bit_xor, increment, decrement, exchange, cas };

Update update_of(Operation operation, Type type) {
  const bool is_half = type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
  const bool is_bits = type == Type::b32 || type == Type::b64;
  switch (operation) {
    case Operation::add:
      if (type == Type::f32) return add_f32;
      if (type == Type::f64) return add_f64;
      if (is_bits || type == Type::s64) return nullptr;  // u64 serves both
      return is_half ? half_update<HalfAdd>(type) : integer_update<Add>(type);
    case Operation::minimum:
      if (is_bits) return nullptr;
      return is_half ? half_update<HalfExtreme<false>>(type) : integer_update<Minimum>(type);
    case Operation::maximum:
      if (is_bits) return nullptr;
      return is_half ? half_update<HalfExtreme<true>>(type) : integer_update<Maximum>(type);
    case Operation::bit_and:
      return is_bits ? integer_update<And>(type) : nullptr;
    case Operation::bit_or:
      return is_bits ? integer_update<Or>(type) : nullptr;
    case Operation::bit_xor:
      return is_bits ? integer_update<Xor>(type) : nullptr;
    case Operation::increment:
      return type == Type::u32 ? update<std::uint32_t, Increment> : nullptr;
    case Operation::decrement:
      return type == Type::u32 ? update<std::uint32_t, Decrement> : nullptr;
    case Operation::exchange:
      switch (type) {
        case Type::b32:
          return exchange<4>;
        case Type::b64:
          return exchange<8>;
        case Type::b128:
          return exchange<16>;
        default:
          return nullptr;
      }
    case Operation::cas:
      switch (type) {
        case Type::b16:
          return compare_and_swap<2>;
        case Type::b32:
          return compare_and_swap<4>;
        case Type::b64:
          return compare_and_swap<8>;
        case Type::b128:
          return compare_and_swap<16>;
        default:
          return nullptr;
      }
  }
  return nullptr;
}

void decode_atomic(const ptx::Instruction& instruction, Scope& scope, Op& op, bool has_result) {
  Decoding decoding(instruction, scope, op);
  auto atomic = std::make_unique<Atomic>();
  atomic->has_result = has_result;
  switch (decoding.accept_one({"relaxed", "acquire", "release", "acq_rel"})) {
    case 1:
      atomic->order = Order::acquire;
      break;
    case 2:
      atomic->order = Order::release;
      break;
    case 3:
      atomic->order = Order::acquire_release;
      break;
    default:
      break;
  }
  accept_scope(decoding);
  atomic->space = accept_space(decoding);
  if (atomic->space != Space::generic && atomic->space != Space::global && atomic->space != Space::shared)
    decoding.fail("the state space must be .global or .shared");
  const auto operation = static_cast<Operation>(
      decoding.require_one({"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"}));
  if (!has_result && (operation == Operation::exchange || operation == Operation::cas))
    decoding.fail("a red has no result to give");
  const bool has_noftz = decoding.accept("noftz");
  const bool has_hint = decoding.accept("L2::cache_hint");
  constexpr int lengths[] = {2, 4, 8};
  const int vector = decoding.accept_one({"v2", "v4", "v8"});
  const Type type =
      decoding.type({Type::b16, Type::b32, Type::b64, Type::b128, Type::u32, Type::u64, Type::s32, Type::s64,
                     Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64});
  decoding.finish();
  atomic->update = update_of(operation, type);
  if (atomic->update == nullptr)
    decoding.fail("the operation is not defined for the type ." + std::string(name(type)));
  const bool is_half = type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
  if (is_half != has_noftz) decoding.fail(is_half ? ".noftz is needed" : ".noftz is for f16 and bf16");
  atomic->bytes = static_cast<std::uint32_t>(bytes_of(type));
  if (vector >= 0) {
    atomic->elements = lengths[vector];
    decoding.require_target(90);
    if (!is_half && type != Type::f32) decoding.fail("vectors are of f32, f16, bf16, f16x2 or bf16x2");
    if (atomic->bytes * static_cast<std::uint32_t>(atomic->elements) > 16)
      decoding.fail("a vector is of at most 16 bytes");
    if (atomic->space == Space::shared) decoding.fail("vectors are for global memory");
  }
  const int sources = operation == Operation::cas ? 2 : 1;
  const int needed = (has_result ? 1 : 0) + 1 + sources + (has_hint ? 1 : 0);
  decoding.require_count(needed, needed);
  const auto add = [&](int operand) {
    const ptx::Operand& list = decoding.operand(operand);
    if (const auto* elements = std::get_if<ptx::Vector>(&list.value))
      for (const ptx::Operand& element : elements->elements) decoding.require_width(element, type);
    else
      decoding.require_width(list, type);
    const std::vector<Value> values = scope.values(list, type);
    if (static_cast<int>(values.size()) != atomic->elements)
      decoding.fail(std::to_string(values.size()) + " registers are given where " +
                    std::to_string(atomic->elements) + " are needed");
    op.values.insert(op.values.end(), values.begin(), values.end());
  };
  op.values.push_back(scope.address(decoding.operand(has_result ? 1 : 0), op));
  if (has_result) add(0);
  const int first_source = has_result ? 2 : 1;
  atomic->at_b = static_cast<int>(op.values.size());
  add(first_source);
  if (sources == 2) {
    atomic->at_c = static_cast<int>(op.values.size());
    add(first_source + 1);
  }
  op.detail = std::move(atomic);
  op.handler = run;
}

void decode_atom(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  decode_atomic(instruction, scope, op, true);
}
void decode_red(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  decode_atomic(instruction, scope, op, false);
}

}  // namespace

void add_atomic_instructions(Decoders& decoders) {
  decoders["atom"] = decode_atom;
  decoders["red"] = decode_red;
}

}  // namespace tenon::emulator
