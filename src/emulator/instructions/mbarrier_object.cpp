// The operations on an mbarrier, and the findings about them.
#include "emulator/instructions/mbarrier_object.hpp"
#include "emulator/machine/text.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {

namespace {

std::string named(const MbarrierAt& at) {
  return "The mbarrier at " + hex(at.address);
}

// An asynchronous agent changes the object's memory too, in an order that only the object knows.
void write_image_unchecked(Cluster& cluster, const Actor& actor, const MbarrierAt& at) {
  const std::uint64_t image = at.object->state.memory_image();
  if (std::uint8_t* bytes = cluster.raw(actor.issue.thread, ptx::Space::shared, at.address, 8)) {
    std::memcpy(bytes, &image, 8);
  }
  cluster.changed();
}

void write_image(Cluster& cluster, const Actor& actor, const MbarrierAt& at) {
  if (at.is_unordered) return write_image_unchecked(cluster, actor, at);
  const std::uint64_t image = at.object->state.memory_image();
  cluster.atomic(actor, ptx::Space::shared, at.address, 8, Order::relaxed,
                 [&](std::uint8_t* bytes) { std::memcpy(bytes, &image, 8); });
  cluster.changed();
}

void settle(Cluster& cluster, const Actor& actor, const MbarrierAt& at, MbarrierState::Outcome outcome,
            std::uint32_t amount) {
  MbarrierObject& object = *at.object;
  if (outcome.misuse != MbarrierState::Misuse::none) {
    cluster.report(FindingKind::barrier, actor.issue, at.address, [&] {
      return "This operation on the mbarrier at " + hex(at.address) + " " +
             describe(outcome.misuse, object.state, amount) + ".";
    });
    // The intended operation continues, so that a deadlock of the waiting threads does not hide the cause.
    if (outcome.misuse == MbarrierState::Misuse::bytes_without_expectation)
      outcome = object.state.forget_unexpected();
    if (outcome.misuse == MbarrierState::Misuse::too_many_arrivals && object.state.pending() != 0)
      outcome = object.state.arrive(object.state.pending());
  }
  if (!outcome.phase_ended) return;
  if (object.bytes_in_flight != 0) {
    cluster.report(FindingKind::barrier, actor.issue, at.address, [&] {
      return named(at) + " ended phase " + std::to_string(object.state.phase() - 1) + " while " +
             std::to_string(object.bytes_in_flight) +
             " bytes of copies issued in it were still in flight: expect_tx announced too few.";
    });
    object.bytes_in_flight = 0;
  }
  Clocks::join(object.ended, object.arriving);
  object.arriving = {};
  if (object.copies != 0) {
    cluster.clocks.complete(object.ended, object.copies, static_cast<Epoch>(object.state.phase()));
  }
}

// A release by the maker and an acquire by the user must order the two. Of relaxed arrivals at the cluster
// barrier, only a fence by the maker makes a release.
void report_unordered_init(Cluster& cluster, Issue use, const MbarrierObject& object, const MbarrierAt& at) {
  cluster.report(
      FindingKind::barrier, use, at.address,
      [&] {
        const bool is_same_cta = &cluster.cta_of(object.maker) == &cluster.cta_of(use.thread);
        const bool is_fenced =
            cluster.clocks.covers_init(cluster.clocks.view(object.maker), object.maker, object.made);
        return named(at) + " was initialized by " + cluster.describe(object.maker) + " at line " +
               std::to_string(cluster.launch.program->line(object.made_at)) +
               ", and nothing orders that before this use by " + cluster.describe(use.thread) +
               "; a barrier" + (is_same_cta ? "" : " of the cluster") + " is needed between them" +
               (cluster.ctas.size() == 1 || is_fenced
                    ? "."
                    : ", and if its arrival is relaxed, a fence.mbarrier_init before it by the thread that "
                      "initialized the mbarrier, which has executed none since.");
      },
      object.made_at);
}

MbarrierAt checked(Cluster& cluster, const Actor& actor, std::uint32_t address) {
  MbarrierAt at;
  at.address = address;
  const std::uint32_t rank = shared_rank(address), offset = shared_offset(address);
  std::uint8_t* bytes = rank < cluster.ctas.size() && offset % 8 == 0
                            ? cluster.raw(actor.issue.thread, ptx::Space::shared, address, 8)
                            : nullptr;
  if (bytes == nullptr) {  // the ordinary checks report what is wrong with the address
    std::uint64_t ignored;
    cluster.load(actor, ptx::Space::shared, address, &ignored, 8, Order::relaxed);
    return at;
  }
  at.cta = cluster.ctas[rank].get();
  const auto found = at.cta->state_by_offset.find(offset);
  auto* object =
      found == at.cta->state_by_offset.end() ? nullptr : static_cast<MbarrierObject*>(found->second.get());
  if (object == nullptr || !object->is_live) {
    cluster.report(FindingKind::barrier, actor.issue, address, [&] {
      return "There is no mbarrier at " + hex(address) + ": mbarrier.init has not been executed for it" +
             (object == nullptr ? "." : " since it was invalidated.");
    });
    return at;
  }
  const std::uint64_t image = object->state.memory_image();
  if (std::memcmp(bytes, &image, 8) != 0) {
    cluster.report(FindingKind::barrier, actor.issue, address, [&] {
      return "The mbarrier at " + hex(address) +
             " was overwritten by something other than mbarrier operations.";
    });
  }
  if (cluster.clocks.enabled() && !actor.async_proxy) {
    at.is_unordered = !cluster.clocks.covers(*actor.view, object->maker, object->made);
    if (at.is_unordered && !cluster.clocks.covers_init(*actor.view, object->maker, object->made))
      report_unordered_init(cluster, actor.issue, *object, at);
  }
  at.object = object;
  return at;
}

}  // namespace

bool to_shared_address(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t& address,
                       bool only_own, const char* operand) {
  if (space == ptx::Space::generic) {
    if (Cluster::space_of(address) != ptx::Space::shared) {
      cluster.report(FindingKind::argument, actor.issue, address, [&] {
        return std::string(operand) + " is the generic address " + hex(address) +
               ", which is not in shared memory.";
      });
      return false;
    }
    address = Cluster::from_generic(ptx::Space::shared, address);
  }
  address &= 0xffffffff;
  const std::uint32_t own = cluster.cta_of(actor.issue.thread).rank;
  if (only_own && shared_rank(address) != own) {
    cluster.report(FindingKind::argument, actor.issue, address, [&] {
      return std::string(operand) + " is in the shared memory of the CTA of rank " +
             std::to_string(shared_rank(address)) + ", but must be in that of the executing CTA, of rank " +
             std::to_string(own) + ".";
    });
    return false;
  }
  return true;
}

MbarrierAt mbarrier_at(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address,
                       bool only_own) {
  if (!to_shared_address(cluster, actor, space, address, only_own, "The mbarrier's address")) return {};
  return checked(cluster, actor, static_cast<std::uint32_t>(address));
}

MbarrierAt mbarrier_in(Cluster& cluster, const Actor& actor, std::uint32_t rank, std::uint32_t offset) {
  return checked(cluster, actor, static_cast<std::uint32_t>(shared_address(rank, offset)));
}

void initialize_mbarrier(Cluster& cluster, const Actor& actor, std::uint32_t address, std::uint32_t count) {
  MbarrierState fresh;
  const MbarrierState::Outcome outcome = fresh.initialize(count);
  if (outcome.misuse != MbarrierState::Misuse::none) {
    cluster.report(FindingKind::barrier, actor.issue, address,
                   [&] { return "This mbarrier.init " + describe(outcome.misuse, fresh, count) + "."; });
    return;
  }
  const std::uint64_t image = fresh.memory_image();
  if (!cluster.store(actor, ptx::Space::shared, address, &image, 8)) return;
  auto& object = cluster.ctas[shared_rank(address)]->state_at<MbarrierObject>(shared_offset(address));
  if (object.is_live) {
    cluster.report(FindingKind::barrier, actor.issue, address, [&] {
      return "This mbarrier.init is of an mbarrier that is in use: at " + hex(address) + ", " +
             object.state.description() + "; mbarrier.inval must come first.";
    });
  }
  object.state = fresh;
  object.address = address;
  object.remote_arrivals.clear();
  object.maker = actor.component;
  object.made = actor.epoch;
  object.made_at = actor.issue.pc;
  object.is_live = true;
  object.arriving = object.ended = {};
  object.bytes_in_flight = 0;
  object.copies = 0;
  cluster.changed();
}

void invalidate_mbarrier(Cluster& cluster, const Actor& actor, const MbarrierAt& at) {
  const std::uint64_t none = 0;
  cluster.store(actor, ptx::Space::shared, at.address, &none, 8);
  at.object->is_live = false;
  cluster.changed();
}

void arrive(Cluster& cluster, const Actor& actor, const MbarrierAt& at, Arrival arrival) {
  const auto outcome = at.object->state.arrive(arrival.count, arrival.drop, arrival.no_complete);
  settle(cluster, actor, at, outcome, arrival.count);
  actor.async_proxy ? write_image_unchecked(cluster, actor, at) : write_image(cluster, actor, at);
}

void note_remote_arrival(Cluster& cluster, const Actor& actor, const MbarrierAt& at) {
  if (!cluster.clocks.enabled() || at.cta == &cluster.cta_of(actor.issue.thread)) return;
  at.object->remote_arrivals[actor.issue.thread] = {actor.epoch, actor.issue.pc};
  // Otherwise the access to memory finds it.
  if (at.is_unordered && at.cta->live_threads == 0)
    cluster.report_outlived(actor.issue, *at.cta, shared_offset(at.address), true);
}

// An arrival from another block must have been waited for: it may come when the memory belongs to another
// block.
void MbarrierObject::block_ends(Cta& cta) {
  const Cluster& cluster = cta.cluster;
  const ThreadId first = cta.rank * cluster.threads_per_cta();
  for (const auto& [thread, remote] : remote_arrivals) {
    bool is_known = false;
    for (ThreadId own = first; own < first + cluster.threads_per_cta() && !is_known; ++own)
      is_known = cluster.clocks.covers(cluster.clocks.view(own), thread, remote.epoch);
    if (!is_known) cta.cluster.report_outlived({remote.pc, thread}, cta, shared_offset(address), true);
  }
}

void expect_bytes(Cluster& cluster, const Actor& actor, const MbarrierAt& at, std::uint32_t bytes) {
  settle(cluster, actor, at, at.object->state.expect_bytes(bytes), bytes);
  write_image(cluster, actor, at);
}

void complete_bytes(Cluster& cluster, const Actor& actor, const MbarrierAt& at, std::uint32_t bytes) {
  settle(cluster, actor, at, at.object->state.complete_bytes(bytes), bytes);
  write_image_unchecked(cluster, actor, at);
}

void add_pending_arrival(Cluster& cluster, const Actor& actor, const MbarrierAt& at) {
  settle(cluster, actor, at, at.object->state.add_pending(), 1);
  write_image(cluster, actor, at);
}

MbarrierObject* own_mbarrier(const Cluster& cluster, ThreadId thread, ptx::Space space,
                             std::uint64_t address) {
  if (space == ptx::Space::generic) {
    if (Cluster::space_of(address) != ptx::Space::shared) return nullptr;
    address = Cluster::from_generic(ptx::Space::shared, address);
  }
  const Cta& cta = cluster.cta_of(thread);
  const auto found = cta.state_by_offset.find(shared_offset(address));
  if (shared_rank(address) != cta.rank || found == cta.state_by_offset.end()) return nullptr;
  return static_cast<MbarrierObject*>(found->second.get());
}

std::string description_at(const Cluster& cluster, ThreadId thread, ptx::Space space, std::uint64_t address) {
  const MbarrierObject* object = own_mbarrier(cluster, thread, space, address);
  if (object == nullptr) return {};
  if (space == ptx::Space::generic) address = Cluster::from_generic(ptx::Space::shared, address);
  return "the mbarrier at " + hex(address) + ", where " + object->state.description();
}

bool phase_is_over(Cluster& cluster, const Actor& actor, const MbarrierAt& at, bool by_parity,
                   std::uint64_t value) {
  std::uint64_t ignored;
  if (!at.is_unordered) cluster.load(actor, ptx::Space::shared, at.address, &ignored, 8, Order::relaxed);
  const MbarrierState& state = at.object->state;
  if (by_parity) {
    if (value > 1) {
      cluster.report(FindingKind::barrier, actor.issue, at.address,
                     [&] { return "The phase parity is " + std::to_string(value) + " but must be 0 or 1."; });
    }
    return state.ended_parity(static_cast<std::uint32_t>(value));
  }
  const std::uint64_t phase = MbarrierState::token_phase(value);
  if (phase > state.phase() || phase + 1 < state.phase()) {
    cluster.report(FindingKind::barrier, actor.issue, at.address, [&] {
      return "The state names phase " + std::to_string(phase) + " of " + named(at).substr(4) +
             ", which is in phase " + std::to_string(state.phase()) +
             "; only the current phase and the one before can be waited for.";
    });
  }
  return state.ended(value);
}

// No proxy fence is due between mbarrier.init and a copy: the copy "accesses its mbarrier operand using
// generic-proxy" (PTX ISA 9.3, cp.async.bulk; by NVIDIA/cccl#5102 it has held since the instruction exists).
// Hence program order or a barrier is enough in one CTA, and checked() has found whether there is one.
BulkArrival begin_copy(Cluster& cluster, Issue issue, const MbarrierAt& at, std::uint32_t bytes,
                       bool async_proxy) {
  MbarrierObject& object = *at.object;
  if (object.copies == 0) object.copies = cluster.clocks.new_component();
  BulkArrival copy;
  copy.address = at.address;
  copy.bytes = bytes;
  copy.phase = object.state.phase();
  copy.agent = cluster.clocks.start(issue, object.copies, static_cast<Epoch>(copy.phase + 1), async_proxy);
  object.bytes_in_flight += bytes;
  return copy;
}

// The bytes count in the phase in which they land, whatever phase the copy was issued in. A wait for an
// earlier phase does not cover them.
Actor landing(Cluster& cluster, BulkArrival& copy) {
  const auto& states = cluster.ctas[shared_rank(copy.address)]->state_by_offset;
  const auto found = states.find(shared_offset(copy.address));
  if (found != states.end()) {
    const auto& object = static_cast<const MbarrierObject&>(*found->second);
    copy.agent.epoch = std::max(copy.agent.epoch, static_cast<Epoch>(object.state.phase() + 1));
  }
  return actor_of(copy.agent);
}

void end_copy(Cluster& cluster, const BulkArrival& copy) {
  const Actor actor = actor_of(copy.agent);
  const MbarrierAt at = checked(cluster, actor, copy.address);
  if (at.object == nullptr) return;
  if (at.object->state.phase() == copy.phase) at.object->bytes_in_flight -= copy.bytes;
  complete_bytes(cluster, actor, at, copy.bytes);
}

}  // namespace tenon::emulator
