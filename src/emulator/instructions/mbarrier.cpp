// mbarrier.* (PTX ISA 9.7.13.15) and the fences of the asynchronous proxy (9.7.13.4).
#include <algorithm>

#include "emulator/instructions/async_decode.hpp"
#include "emulator/instructions/mbarrier_object.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

enum class Operation : std::uint8_t { arrive, expect_tx, complete_tx };

struct MbarrierDetail : Detail {
  AddressOperand address;
  Space space = Space::generic;
  bool only_own = true;    // .shared::cta: only the CTA's own
  bool is_release = true;  // arrive; of a wait: acquire
  int result = -1;         // op.values index of the state or predicate; -1: none
  int amount = -1;         // arrival count, bytes, state or parity
  Operation operation = Operation::arrive;
  bool expects = false, drop = false, no_complete = false;  // of arrive
  bool by_parity = false;                                   // of a wait
};

const MbarrierDetail& detail_of(const Op& op) {
  return static_cast<const MbarrierDetail&>(*op.detail);
}

MbarrierAt object_at(Warp& warp, const Op& op, int lane) {
  const MbarrierDetail& d = detail_of(op);
  return mbarrier_at(warp.cluster(), warp.actor(lane), d.space, d.address.of(warp, op, lane), d.only_own);
}

std::uint32_t amount_of(Warp& warp, const Op& op, int lane, std::uint32_t otherwise) {
  const int index = detail_of(op).amount;
  return index < 0 ? otherwise
                   : static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(index)], lane));
}

Flow run_init(Warp& warp, const Op& op, LaneMask active) {
  const MbarrierDetail& d = detail_of(op);
  for_each_lane(active, [&](int lane) {
    std::uint64_t address = d.address.of(warp, op, lane);
    if (!to_shared_address(warp.cluster(), warp.actor(lane), d.space, address, true,
                           "The mbarrier's address"))
      return;
    initialize_mbarrier(warp.cluster(), warp.actor(lane), static_cast<std::uint32_t>(address),
                        amount_of(warp, op, lane, 1));
  });
  return Flow::next;
}

Flow run_inval(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const MbarrierAt at = object_at(warp, op, lane);
    if (at.object != nullptr) invalidate_mbarrier(warp.cluster(), warp.actor(lane), at);
  });
  return Flow::next;
}

// If lanes arrive at one mbarrier, and no arrival before the last can end the phase, they release their
// clocks at once: one by one, each would cost as much.
bool release_together(Warp& warp, const Op& op, LaneMask active) {
  const MbarrierDetail& d = detail_of(op);
  const std::uint64_t address = d.address.of(warp, op, first_lane(active));
  std::uint64_t arrivals = 0;
  ThreadId threads[warp_size];
  std::size_t count = 0;
  bool is_one = true;
  for_each_lane(active, [&](int lane) {
    is_one = is_one && d.address.of(warp, op, lane) == address;
    arrivals += d.expects ? 1 : amount_of(warp, op, lane, 1);
    threads[count++] = warp.thread(lane);
  });
  if (!is_one || count == 1) return false;
  MbarrierObject* object = own_mbarrier(warp.cluster(), threads[0], d.space, address);
  if (object == nullptr || !object->is_live || object->state.pending() < arrivals) return false;
  warp.cluster().clocks.release(threads, count, object->arriving);
  return true;
}

Flow run_arrive(Warp& warp, const Op& op, LaneMask active) {
  const MbarrierDetail& d = detail_of(op);
  const bool are_released = d.is_release && release_together(warp, op, active);
  for_each_lane(active, [&](int lane) {
    const MbarrierAt at = object_at(warp, op, lane);
    std::uint64_t state = 0;
    if (at.object != nullptr) {
      state = at.object->state.token();
      note_remote_arrival(warp.cluster(), warp.actor(lane), at);
      if (d.is_release && !are_released) warp.release(lane, at.object->arriving);
      Arrival arrival;
      arrival.drop = d.drop;
      arrival.no_complete = d.no_complete;
      if (d.expects) {
        expect_bytes(warp.cluster(), warp.actor(lane), at, amount_of(warp, op, lane, 0));
      } else {
        arrival.count = amount_of(warp, op, lane, 1);
      }
      arrive(warp.cluster(), warp.actor(lane), at, arrival);
    }
    if (d.result >= 0) warp.write(op.values[static_cast<std::size_t>(d.result)], lane, state);
  });
  return Flow::next;
}

// mbarrier.expect_tx and mbarrier.complete_tx are relaxed: they release no clock.
Flow run_bytes(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const MbarrierAt at = object_at(warp, op, lane);
    if (at.object == nullptr) return;
    const std::uint32_t bytes = amount_of(warp, op, lane, 0);
    if (detail_of(op).operation == Operation::expect_tx) {
      expect_bytes(warp.cluster(), warp.actor(lane), at, bytes);
    } else {
      complete_bytes(warp.cluster(), warp.actor(lane), at, bytes);
    }
  });
  return Flow::next;
}

// A loop that reads a clock between its polls (as cuda::barrier does, to sleep longer and longer) never
// repeats its state, so the executor cannot see that it spins. After many polls of an unchanged cluster,
// pending operations take effect: one at first, and twice as many each time that this did not help, since a
// phase may wait for hundreds.
void help_after_many_polls(Cluster& cluster, MbarrierObject& object) {
  constexpr std::uint32_t many = 64, most = 1024;
  if (object.polled_at != cluster.changes()) object.polls = 0;
  object.polled_at = cluster.changes();
  if (++object.polls < many) return;
  object.polls = 0;
  for (std::uint32_t i = 0; i < object.forced_operations && cluster.async.perform_oldest(); ++i) {
  }
  object.forced_operations = std::min(2 * object.forced_operations, most);
}

// test_wait and try_wait. A try_wait that would suspend may also give up at once, so both return immediately.
// A loop around them polls.
Flow run_wait(Warp& warp, const Op& op, LaneMask active) {
  const MbarrierDetail& d = detail_of(op);
  MbarrierObject* waited_for = nullptr;
  // The lanes nearly always wait for the same mbarrier, and acquire its clock at the cost of one.
  const MbarrierObject* common = nullptr;
  ThreadId threads[warp_size];
  std::size_t count = 0;
  for_each_lane(active, [&](int lane) {
    const MbarrierAt at = object_at(warp, op, lane);
    bool over = true;  // without an object, a wait would only hang
    if (at.object != nullptr) {
      const std::uint64_t value = warp.read(op.values[static_cast<std::size_t>(d.amount)], lane);
      over = phase_is_over(warp.cluster(), warp.actor(lane), at, d.by_parity, value);
      if (over && d.is_release) {
        if (common == nullptr) common = at.object;
        if (at.object == common)
          threads[count++] = warp.thread(lane);
        else
          warp.acquire(lane, at.object->ended);
      }
    }
    if (!over) waited_for = at.object;
    if (over && at.object != nullptr) at.object->forced_operations = 1;
    warp.write(op.values[static_cast<std::size_t>(d.result)], lane, over ? 1 : 0);
  });
  if (count != 0) warp.cluster().clocks.acquire(threads, count, common->ended);
  if (waited_for != nullptr) {
    warp.poll();
    help_after_many_polls(warp.cluster(), *waited_for);
  }
  return Flow::next;
}

std::string awaited_phase(Warp& warp, const Op& op, int lane) {
  const MbarrierDetail& d = detail_of(op);
  const std::string object =
      description_at(warp.cluster(), warp.thread(lane), d.space, d.address.of(warp, op, lane));
  if (object.empty()) return {};
  const std::uint64_t value = warp.read(op.values[static_cast<std::size_t>(d.amount)], lane);
  return (d.by_parity ? "the end of a phase of parity " + std::to_string(value)
                      : "the end of phase " + std::to_string(MbarrierState::token_phase(value))) +
         " of " + object;
}

Flow run_pending_count(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    warp.write(op.values[0], lane, MbarrierState::token_pending(warp.read(op.values[1], lane)));
  });
  return Flow::next;
}

// {.sem{.scope}}: returns false for .relaxed.
bool decode_semantics(Decoding& decoding, const char* ordered) {
  const int sem = decoding.accept_one({ordered, "relaxed"});
  const int scope = decoding.accept_one({"cta", "cluster"});
  if (sem >= 0 && scope < 0) decoding.fail("a scope, .cta or .cluster, must follow the .sem");
  if (sem < 0 && scope >= 0) decoding.fail("a scope needs a .sem before it");
  return sem != 1;
}

void decode_space(Decoding& decoding, MbarrierDetail& d, bool cluster_allowed) {
  switch (decoding.accept_one({"shared::cta", "shared", "shared::cluster"})) {
    case 0:
    case 1:
      d.space = Space::shared;
      break;
    case 2:
      if (!cluster_allowed) decoding.fail(".shared::cluster is not allowed here");
      d.space = Space::shared;
      d.only_own = false;
      break;
    default:
      d.space = Space::generic;
      d.only_own = !cluster_allowed;
      break;
  }
}

void decode_arrive(Decoding& decoding, MbarrierDetail& d, bool drop) {
  d.drop = drop;
  d.expects = decoding.accept("expect_tx");
  d.no_complete = decoding.accept("noComplete");
  d.is_release = decode_semantics(decoding, "release");
  decode_space(decoding, d, !d.no_complete);
  decoding.require("b64");
  decoding.require_count(d.expects || d.no_complete ? 3 : 2, 3);
  const bool sinks = std::holds_alternative<ptx::Sink>(decoding.operand(0).value);
  if (d.space == Space::shared && !d.only_own && !sinks) {
    decoding.fail("an arrival at .shared::cluster gives no state; the destination must be _");
  }
  decoding.destination(0, Type::b64);
  d.result = 0;
  d.address = add_address(decoding, 1);
  if (decoding.count() == 3) d.amount = add_source(decoding, 2, Type::u32);
  decoding.op().handler = run_arrive;
}

void decode_wait(Decoding& decoding, MbarrierDetail& d, bool is_try) {
  if (is_try) decoding.require_target(90);
  d.by_parity = decoding.accept("parity");
  d.is_release = decode_semantics(decoding, "acquire");
  decode_space(decoding, d, false);
  decoding.require("b64");
  decoding.require_count(3, is_try ? 4 : 3);
  decoding.destination(0, Type::pred);
  d.result = 0;
  d.address = add_address(decoding, 1);
  d.amount = add_source(decoding, 2, d.by_parity ? Type::u32 : Type::b64);
  if (decoding.count() == 4)
    add_source(decoding, 3, Type::u32);  // the time limit, which has no effect on results
  decoding.op().handler = run_wait;
  decoding.op().awaited = awaited_phase;
}

void decode_mbarrier(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<MbarrierDetail>();
  MbarrierDetail& d = *detail;
  op.detail = std::move(detail);
  switch (decoding.require_one({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
                                "test_wait", "try_wait", "pending_count"})) {
    case 0:
    case 1: {
      const bool is_init = first_modifier_is(instruction, "init");
      decode_space(decoding, d, false);
      decoding.require("b64");
      decoding.require_count(is_init ? 2 : 1, is_init ? 2 : 1);
      d.address = add_address(decoding, 0);
      if (is_init) d.amount = add_source(decoding, 1, Type::u32);
      op.handler = is_init ? run_init : run_inval;
      break;
    }
    case 2:
    case 3:
      decode_arrive(decoding, d, first_modifier_is(instruction, "arrive_drop"));
      break;
    case 4:
    case 5:
      d.operation =
          first_modifier_is(instruction, "expect_tx") ? Operation::expect_tx : Operation::complete_tx;
      if (decoding.accept("relaxed")) decoding.accept_one({"cta", "cluster"});
      decode_space(decoding, d, true);
      decoding.require("b64");
      decoding.require_count(2, 2);
      d.address = add_address(decoding, 0);
      d.amount = add_source(decoding, 1, Type::u32);
      op.handler = run_bytes;
      break;
    case 6:
    case 7:
      decode_wait(decoding, d, first_modifier_is(instruction, "try_wait"));
      break;
    default:
      decoding.require("b64");
      decoding.require_count(2, 2);
      decoding.destination(0, Type::u32);
      decoding.source(1, Type::b64);
      op.handler = run_pending_count;
      break;
  }
  decoding.finish();
}

// --- fences

Flow run_fence_proxy(Warp& warp, const Op&, LaneMask active) {
  for_each_lane(active, [&](int lane) { warp.cluster().clocks.fence_proxy(warp.thread(lane)); });
  return Flow::next;
}

// Fences of proxies that the emulator does not distinguish (aliased addresses, tensor maps, mbarrier.init):
// they share one memory.
Flow run_fence_nothing(Warp&, const Op&, LaneMask) {
  return Flow::next;
}

Flow run_fence_inits(Warp& warp, const Op&, LaneMask active) {
  for_each_lane(active, [&](int lane) { warp.cluster().clocks.fence_inits(warp.thread(lane)); });
  return Flow::next;
}

void decode_fence_proxy(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  if (decoding.accept("mbarrier_init")) {
    decoding.require("release");
    decoding.require("cluster");
    decoding.require_count(0, 0);
    op.handler = run_fence_inits;
    decoding.finish();
    return;
  }
  decoding.require("proxy");
  switch (decoding.require_one({"async", "alias", "tensormap::generic", "async::generic"})) {
    case 0:
      // .global does nothing: proxies are distinguished in shared memory only.
      op.handler = decoding.accept_one({"global", "shared::cta", "shared::cluster"}) == 0 ? run_fence_nothing
                                                                                          : run_fence_proxy;
      decoding.require_count(0, 0);
      break;
    case 1:
      decoding.require_count(0, 0);
      op.handler = run_fence_nothing;
      break;
    case 2: {
      const bool acquires = decoding.require_one({"release", "acquire"}) == 1;
      decoding.require_one({"cta", "cluster", "gpu", "sys"});
      decoding.require_count(acquires ? 2 : 0, acquires ? 2 : 0);
      if (acquires) {
        add_address(decoding, 0);
        if (immediate(decoding, 1, "the size") != 128) decoding.fail("the size must be 128");
      }
      op.handler = run_fence_nothing;
      break;
    }
    default: {
      const bool acquires = decoding.require_one({"release", "acquire"}) == 1;
      decoding.require(acquires ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta");
      decoding.require("cluster");
      decoding.require_count(0, 0);
      op.handler = run_fence_proxy;
      break;
    }
  }
  decoding.finish();
}

bool is_proxy_fence(const ptx::Instruction& instruction) {
  return first_modifier_is(instruction, "proxy") || first_modifier_is(instruction, "mbarrier_init");
}
struct FenceTag {};

}  // namespace

void add_mbarrier_instructions(Decoders& decoders) {
  decoders["mbarrier"] = decode_mbarrier;
  share_decoder<FenceTag>(decoders, "fence", is_proxy_fence, decode_fence_proxy);
}

}  // namespace tenon::emulator
