// ld, st and other instructions on addresses: cvta, isspacep, prefetches and cache hints. Atomics are in
// atomic.cpp.
#include <cstring>

#include "emulator/instructions/memory_decode.hpp"

namespace tenon::emulator {

void add_atomic_instructions(Decoders& decoders);  // atomic.cpp
void add_stack_instructions(Decoders& decoders);   // memory_stack.cpp

namespace {

using ptx::Space;
using ptx::Type;

// op.bits: 0 elements, 1 space (and only_own_memory), 2 order, 3 width to sign-extend to (0: none).
// op.values: 0 address, then the elements.
constexpr int largest_access = 32;                  // bytes: v8.b32, v4.b64
constexpr std::uint32_t only_own_memory = 1U << 8;  // .shared::cta, which .shared implies

struct Lanes {
  Warp& warp;
  const Op& op;
  Space space;
  Order order;
  int elements;
  std::uint64_t addresses[warp_size];

  Lanes(Warp& warp, const Op& op, LaneMask active, int element_bytes, Direction direction)
      : warp(warp),
        op(op),
        space(static_cast<Space>(op.bits[1] & ~only_own_memory)),
        order(static_cast<Order>(op.bits[2])),
        elements(static_cast<int>(op.bits[0])) {
    Warp::LaneBuffer buffer;
    const std::uint64_t* base = warp.gather(op.values[0], buffer);
    for (int lane = 0; lane < warp_size; ++lane)
      addresses[lane] = base[lane] + static_cast<std::uint64_t>(op.offset);
    count_traffic(warp, space, addresses, active, element_bytes * elements, direction);
    if ((op.bits[1] & only_own_memory) != 0) check_own(active);
  }

  // A GPU raises an illegal-instruction error here.
  void check_own(LaneMask active) const {
    const std::uint32_t own = warp.cta().rank;
    for_each_lane(active, [&](int lane) {
      const std::uint32_t rank = shared_rank(addresses[lane]);
      if (rank == own || rank >= warp.cluster().ctas.size()) return;
      warp.cluster().report(FindingKind::out_of_bounds, warp.actor(lane).issue, addresses[lane], [&] {
        return "the shared memory of the CTA of rank " + std::to_string(rank) +
               " is accessed by the CTA of rank " + std::to_string(own) +
               " in its own: .shared::cluster is needed";
      });
    });
  }
};

std::uint64_t sign_extended(std::uint64_t bits, int from, std::uint32_t to) {
  const std::uint64_t sign = std::uint64_t{1} << (from - 1);
  return ((bits ^ sign) - sign) & mask_of(static_cast<int>(to));
}

template <int bytes>
Flow load(Warp& warp, const Op& op, LaneMask active) {
  const Lanes lanes(warp, op, active, bytes, Direction::load);
  const auto size = static_cast<std::uint32_t>(bytes * lanes.elements);
  for_each_lane(active, [&](int lane) {
    std::uint8_t data[largest_access];
    warp.load(lane, lanes.space, lanes.addresses[lane], data, size, lanes.order);
    const std::uint8_t* from = data;
    for (int i = 0; i < lanes.elements; ++i, from += bytes) {
      const Value& to = op.values[1 + static_cast<std::size_t>(i)];
      std::uint64_t bits[2] = {};
      std::memcpy(bits, from, bytes);
      if (bytes < 8 && op.bits[3] != 0) bits[0] = sign_extended(bits[0], 8 * bytes, op.bits[3]);
      warp.write(to, lane, bits[0]);
      if (bytes == 16 && to.slot >= 0) warp.lanes(to.slot + 1)[lane] = bits[1];
    }
  });
  if (is_strong(lanes.order)) warp.poll();
  return Flow::next;
}

template <int bytes>
Flow store(Warp& warp, const Op& op, LaneMask active) {
  const Lanes lanes(warp, op, active, bytes, Direction::store);
  const auto size = static_cast<std::uint32_t>(bytes * lanes.elements);
  for_each_lane(active, [&](int lane) {
    std::uint8_t data[largest_access];
    std::uint8_t* to = data;
    for (int i = 0; i < lanes.elements; ++i, to += bytes) {
      const Value& from = op.values[1 + static_cast<std::size_t>(i)];
      std::uint64_t bits[2] = {warp.read(from, lane), 0};
      if (bytes == 16 && from.slot >= 0) bits[1] = warp.lanes(from.slot + 1)[lane];
      std::memcpy(to, bits, bytes);
    }
    warp.store(lane, lanes.space, lanes.addresses[lane], data, size, lanes.order);
  });
  return Flow::next;
}

Handler loader(int bytes) {
  switch (bytes) {
    case 1:
      return load<1>;
    case 2:
      return load<2>;
    case 4:
      return load<4>;
    case 8:
      return load<8>;
    default:
      return load<16>;
  }
}

Handler storer(int bytes) {
  switch (bytes) {
    case 1:
      return store<1>;
    case 2:
      return store<2>;
    case 4:
      return store<4>;
    case 8:
      return store<8>;
    default:
      return store<16>;
  }
}

// .weak, .volatile, .relaxed.scope, .acquire.scope or .release.scope, .mmio.relaxed.sys
Order accept_order(Decoding& decoding, bool is_load) {
  const bool is_mmio = decoding.accept("mmio");
  Order order = Order::weak;
  switch (decoding.accept_one({"weak", "volatile", "relaxed", is_load ? "acquire" : "release"})) {
    case 1:
      order = Order::volatile_;
      break;
    case 2:
      order = Order::relaxed;
      break;
    case 3:
      order = is_load ? Order::acquire : Order::release;
      break;
    default:
      break;
  }
  const bool is_scoped = accept_scope(decoding);
  const bool needs_scope = order != Order::weak && order != Order::volatile_;
  if (is_scoped != needs_scope)
    decoding.fail(needs_scope ? "a scope is needed: .cta, .cluster, .gpu or .sys"
                              : "a scope needs .relaxed, .acquire or .release");
  if (is_mmio && order != Order::relaxed) decoding.fail(".mmio needs .relaxed.sys");
  return order;
}

// The values to be loaded or stored, in registers at least as wide as the type.
void add_elements(Decoding& decoding, int operand, Type type, int elements, bool is_load) {
  const auto check = [&](const ptx::Operand& element) {
    if (element.negated || element.predicate) decoding.fail("a register has a negation or a predicate");
    const auto* reg = std::get_if<ptx::Register>(&element.value);
    if (reg == nullptr) {
      if (is_load && !std::holds_alternative<ptx::Sink>(element.value))
        decoding.fail("a register is needed to load to");
      return;
    }
    const Type declared = decoding.scope().register_type(*reg);
    if (width(declared) < width(type) || (width(type) == 128) != (width(declared) == 128) ||
        declared == Type::pred)
      decoding.fail("a register of type ." + std::string(name(declared)) +
                    " does not hold a value of type ." + name(type));
  };
  if (const auto* list = std::get_if<ptx::Vector>(&decoding.operand(operand).value))
    for (const ptx::Operand& element : list->elements) check(element);
  else
    check(decoding.operand(operand));
  const std::vector<Value> values = decoding.scope().values(decoding.operand(operand), type);
  if (static_cast<int>(values.size()) != elements)
    decoding.fail(std::to_string(values.size()) + " registers are given where " + std::to_string(elements) +
                  " are needed");
  decoding.op().values.insert(decoding.op().values.end(), values.begin(), values.end());
}

std::uint32_t register_width(Decoding& decoding, int operand) {
  const ptx::Operand* first = &decoding.operand(operand);
  if (const auto* list = std::get_if<ptx::Vector>(&first->value)) first = &list->elements.at(0);
  const auto* reg = std::get_if<ptx::Register>(&first->value);
  return reg == nullptr ? 64 : static_cast<std::uint32_t>(width(decoding.scope().register_type(*reg)));
}

void decode_access(const ptx::Instruction& instruction, Scope& scope, Op& op, bool is_load) {
  Decoding decoding(instruction, scope, op);
  Order order = accept_order(decoding, is_load);
  bool only_own = false;
  const Space space = accept_space(decoding, &only_own);
  if (is_load && decoding.accept("nc") && (space != Space::global || is_strong(order)))
    decoding.fail(".nc is for .global and without an order");
  const bool has_hint = accept_cache_modifiers(decoding);
  constexpr int lengths[] = {2, 4, 8};
  const int vector = decoding.accept_one({"v2", "v4", "v8"});
  const int elements = vector < 0 ? 1 : lengths[vector];
  const Type type =
      decoding.type({Type::b8, Type::b16, Type::b32, Type::b64, Type::b128, Type::u8, Type::u16, Type::u32,
                     Type::u64, Type::s8, Type::s16, Type::s32, Type::s64, Type::f32, Type::f64});
  decoding.finish();
  if (bytes_of(type) * elements > largest_access)
    decoding.fail(std::to_string(bytes_of(type) * elements) + " bytes are more than the 32 of one access");
  decoding.require_count(has_hint ? 3 : 2, has_hint ? 3 : 2);
  const int address = is_load ? 1 : 0, data = is_load ? 0 : 1;
  op.values.push_back(scope.address(decoding.operand(address), op));
  add_elements(decoding, data, type, elements, is_load);
  op.bits[0] = static_cast<std::uint32_t>(elements);
  op.bits[1] = static_cast<std::uint32_t>(space) | (only_own ? only_own_memory : 0);
  op.bits[2] = static_cast<std::uint32_t>(order);
  op.bits[3] = is_load && is_signed(type) ? register_width(decoding, data) : 0;
  op.handler = is_load ? loader(bytes_of(type)) : storer(bytes_of(type));
}

void decode_ld(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  decode_access(instruction, scope, op, true);
}
void decode_st(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  decode_access(instruction, scope, op, false);
}

// --- cvta, isspacep

// op.bits: 0 space
Flow to_generic(Warp& warp, const Op& op, LaneMask active) {
  const auto space = static_cast<Space>(op.bits[0]);
  for_each_lane(active, [&](int lane) {
    warp.write(op.values[0], lane, Cluster::to_generic(space, warp.read(op.values[1], lane)));
  });
  return Flow::next;
}

Flow from_generic(Warp& warp, const Op& op, LaneMask active) {
  const auto space = static_cast<Space>(op.bits[0]);
  for_each_lane(active, [&](int lane) {
    warp.write(op.values[0], lane, Cluster::from_generic(space, warp.read(op.values[1], lane)));
  });
  return Flow::next;
}

void decode_cvta(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const bool is_back = decoding.accept("to");
  const Space space = accept_space(decoding);
  if (space == Space::generic) decoding.fail("a state space is needed, such as .global or .shared");
  decoding.type({Type::u64});
  decoding.finish();
  decoding.require_count(2, 2);
  decoding.destination(0, Type::u64);
  decoding.source(1, Type::u64);
  op.bits[0] = static_cast<std::uint32_t>(space);
  op.handler = is_back ? from_generic : to_generic;
}

// op.bits: 0 space, 1 only the CTA's own shared memory
Flow is_in_space(Warp& warp, const Op& op, LaneMask active) {
  const auto space = static_cast<Space>(op.bits[0]);
  for_each_lane(active, [&](int lane) {
    const std::uint64_t address = warp.read(op.values[1], lane);
    const bool is_in = Cluster::space_of(address) == space &&
                       (op.bits[1] == 0 || shared_rank(address - shared_window) == warp.cta().rank);
    warp.write(op.values[0], lane, is_in ? 1 : 0);
  });
  return Flow::next;
}

void decode_isspacep(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const bool is_cluster = decoding.accept("shared::cluster");
  const Space space = is_cluster ? Space::shared : accept_space(decoding);
  if (space == Space::generic) decoding.fail("a state space is needed, such as .global or .shared");
  decoding.finish();
  decoding.require_count(2, 2);
  decoding.destination(0, Type::pred);
  decoding.source(1, Type::u64);
  op.bits[0] = static_cast<std::uint32_t>(space);
  op.bits[1] = space == Space::shared && !is_cluster ? 1 : 0;
  op.handler = is_in_space;
}

// --- hints about caches

Flow nothing(Warp&, const Op&, LaneMask) {
  return Flow::next;
}

// prefetch{.global,.local}.level [a]; prefetch{.const,.param}.tensormap [a]; prefetchu.L1 [a]
void decode_prefetch(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  accept_space(decoding);
  decoding.require_one({"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"});
  decoding.finish();
  decoding.require_count(1, 1);
  op.values.push_back(scope.address(decoding.operand(0), op));
  op.handler = nothing;
}

// applypriority{.global}.L2::evict_normal [a], size
void decode_applypriority(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.accept("global");
  decoding.require("L2::evict_normal");
  decoding.finish();
  decoding.require_count(2, 2);
  op.values.push_back(scope.address(decoding.operand(0), op));
  op.handler = nothing;
}

// discard{.global}.L2 [a], 128: the memory's contents become undefined, so it counts as unwritten.
Flow discard(Warp& warp, const Op& op, LaneMask active) {
  constexpr std::uint32_t size = 128;
  for_each_lane(active, [&](int lane) {
    std::uint8_t unused[size];
    const std::uint64_t address = warp.address(op.values[0], op, lane);
    const Allocation* allocation = warp.launch().global->find(address);
    const bool is_mapped = allocation != nullptr && !allocation->is_freed && !allocation->is_read_only &&
                           address % size == 0 && allocation->size - (address - allocation->base) >= size;
    if (is_mapped && allocation->written)
      std::memset(allocation->written.get() + (address - allocation->base), 0, size);
    else if (!is_mapped)
      warp.cluster().load(warp.actor(lane), Space::global, address, unused, size);  // reports what is wrong
  });
  return Flow::next;
}

void decode_discard(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.accept("global");
  decoding.require("L2");
  decoding.finish();
  decoding.require_count(2, 2);
  const auto* size = std::get_if<ptx::Immediate>(&decoding.operand(1).value);
  if (size == nullptr || size->bits != 128) decoding.fail("the size must be 128");
  op.values.push_back(scope.address(decoding.operand(0), op));
  op.handler = discard;
}

// A cache policy is opaque; all of them are this value.
Flow make_policy(Warp& warp, const Op& op, LaneMask active) {
  constexpr std::uint64_t some_policy = 0x12f0000000000000;
  for_each_lane(active, [&](int lane) { warp.write(op.values[0], lane, some_policy); });
  return Flow::next;
}

// createpolicy.fractional.primary{.secondary}.b64 d{, fraction}; .range{.global}.primary{.secondary}.b64 d,
// [a], primary_size, total_size; createpolicy.cvt.L2.b64 d, properties
void decode_createpolicy(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const int kind = decoding.require_one({"fractional", "range", "cvt"});
  if (kind == 2) {
    decoding.require("L2");
  } else {
    decoding.accept("global");
    decoding.require_one({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
    decoding.accept_one({"L2::evict_first", "L2::evict_unchanged"});
  }
  decoding.type({Type::b64});
  decoding.finish();
  constexpr int least[] = {1, 4, 2}, most[] = {2, 4, 2};
  decoding.require_count(least[kind], most[kind]);
  decoding.destination(0, Type::b64);
  op.handler = make_policy;
}

}  // namespace

void add_memory_instructions(Decoders& decoders) {
  decoders["ld"] = decode_ld;
  decoders["ldu"] = decode_ld;
  decoders["st"] = decode_st;
  decoders["cvta"] = decode_cvta;
  decoders["isspacep"] = decode_isspacep;
  decoders["prefetch"] = decode_prefetch;
  decoders["prefetchu"] = decode_prefetch;
  decoders["applypriority"] = decode_applypriority;
  decoders["discard"] = decode_discard;
  decoders["createpolicy"] = decode_createpolicy;
  add_atomic_instructions(decoders);
  add_stack_instructions(decoders);
}

}  // namespace tenon::emulator
