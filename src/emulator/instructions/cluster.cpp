// Clusters of CTAs: mapa, getctarank (PTX ISA 9.7.9.23, 9.7.9.24) and barrier.cluster (9.7.13.5).
#include <algorithm>
#include <vector>

#include "emulator/instructions/async_decode.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

// --- addresses

// op.bits[0]: the address is in the shared space, not generic. bits[1]: it has 64 bits.
Flow run_mapa(Warp& warp, const Op& op, LaneMask active) {
  const auto ctas = static_cast<std::uint64_t>(warp.cluster().ctas.size());
  for_each_lane(active, [&](int lane) {
    std::uint64_t address = warp.address(op.values[1], op, lane);
    const std::uint64_t rank = static_cast<std::uint32_t>(warp.read(op.values[2], lane));
    const bool is_generic = op.bits[0] == 0;
    if (is_generic && Cluster::space_of(address) != Space::shared) {
      warp.report(FindingKind::argument, lane, address,
                  [&] { return "The generic address that mapa maps is not in shared memory."; });
      return;
    }
    if (rank >= ctas) {
      warp.report(FindingKind::argument, lane, address, [&] {
        return "mapa asks for the CTA of rank " + std::to_string(rank) + " but the cluster has " +
               std::to_string(ctas) + ".";
      });
    }
    const std::uint64_t shared = is_generic ? Cluster::from_generic(Space::shared, address) : address;
    std::uint64_t result = shared_address(static_cast<std::uint32_t>(rank), shared_offset(shared));
    if (is_generic) result = Cluster::to_generic(Space::shared, result);
    warp.write(op.values[0], lane, op.bits[1] != 0 ? result : result & 0xffffffff);
  });
  return Flow::next;
}

Flow run_getctarank(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    std::uint64_t address = warp.address(op.values[1], op, lane);
    if (op.bits[0] == 0) {
      if (Cluster::space_of(address) != Space::shared) {
        warp.report(FindingKind::argument, lane, address, [&] {
          return "The generic address that getctarank is asked about is not in shared memory.";
        });
        return;
      }
      address = Cluster::from_generic(Space::shared, address);
    }
    warp.write(op.values[0], lane, shared_rank(address));
  });
  return Flow::next;
}

// .shared::cluster addresses have 32 or 64 bits, generic ones have 64.
void decode_address_form(Decoding& decoding, Op& op) {
  op.bits[0] = decoding.accept("shared::cluster") ? 1 : 0;
  const bool is_wide = decoding.require_one({"u32", "u64"}) == 1;
  op.bits[1] = is_wide ? 1 : 0;
  if (op.bits[0] == 0 && !is_wide) decoding.fail("a generic address needs .u64");
}

// The address operand of mapa has no brackets: it is a register, a variable, or a variable with an offset.
void add_plain_address(Decoding& decoding, int index, bool is_wide) {
  const ptx::Operand& operand = decoding.operand(index);
  Op& op = decoding.op();
  if (std::holds_alternative<ptx::Address>(operand.value)) {
    op.values.push_back(decoding.scope().address(operand, op));
  } else {
    op.values.push_back(decoding.scope().value(operand, is_wide ? Type::u64 : Type::u32));
  }
}

void decode_mapa(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_address_form(decoding, op);
  decoding.require_count(3, 3);
  decoding.destination(0, op.bits[1] != 0 ? Type::u64 : Type::u32);
  add_plain_address(decoding, 1, op.bits[1] != 0);
  decoding.source(2, Type::u32);
  op.handler = run_mapa;
  decoding.finish();
}

void decode_getctarank(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_address_form(decoding, op);
  decoding.require_count(2, 2);
  decoding.destination(0, Type::u32);
  add_plain_address(decoding, 1, op.bits[1] != 0);
  op.handler = run_getctarank;
  decoding.finish();
}

// --- barrier.cluster

// Threads arrive for a phase, at most once. A phase ends when every live thread of the cluster has arrived. A
// thread waits for the phase that it arrived for.
struct ClusterBarrier : SideState {
  std::uint64_t phase = 0;
  std::vector<LaneMask> arrived;  // by warp of the cluster
  std::vector<std::uint64_t>
      waits_for;  // by thread: 1 + the phase that it arrived for and has not waited for; 0: none
  SyncClock arriving, ended;

  void prepare(const Cluster& cluster) {
    if (!waits_for.empty()) return;
    waits_for.resize(cluster.thread_count());
    for (const auto& cta : cluster.ctas) arrived.resize(arrived.size() + cta->warps.size());
  }
};

ClusterBarrier& barrier_of(Warp& warp) {
  auto& barrier = warp.cluster().side.get<ClusterBarrier>(Family::cluster_barrier);
  barrier.prepare(warp.cluster());
  return barrier;
}

LaneMask& arrived_of(ClusterBarrier& barrier, const Warp& warp) {
  return barrier.arrived[warp.cta().rank * warp.cta().warps.size() + static_cast<std::size_t>(warp.index())];
}

void end_phase_if_all_arrived(Cluster& cluster, ClusterBarrier& barrier) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      if ((warp->live() & ~arrived_of(barrier, *warp)) != 0) return;
    }
  }
  ++barrier.phase;
  cluster.all_have_started(barrier.ended);
  Clocks::join(barrier.ended, barrier.arriving);
  barrier.arriving = {};
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), LaneMask{0});
  cluster.wake();
}

// The threads of the lanes, for operations of clocks on all of them at once.
struct Threads {
  ThreadId list[warp_size];
  std::size_t count = 0;
  void add(ThreadId thread) { list[count++] = thread; }
};

// op.bits[0]: .relaxed, the arrival releases only what an earlier fence released.
Flow run_arrive(Warp& warp, const Op& op, LaneMask active) {
  ClusterBarrier& barrier = barrier_of(warp);
  Threads releasing;
  for_each_lane(active, [&](int lane) {
    std::uint64_t& waits_for = barrier.waits_for[warp.thread(lane)];
    if (waits_for != 0) {
      warp.report(FindingKind::barrier, lane, 0, [&] {
        return "This barrier.cluster.arrive is the second without a barrier.cluster.wait between them.";
      });
    }
    waits_for = barrier.phase + 1;
    if (op.bits[0] == 0) {
      releasing.add(warp.thread(lane));
    } else {
      warp.cluster().clocks.release_relaxed(warp.thread(lane), barrier.arriving);
    }
  });
  warp.cluster().clocks.release(releasing.list, releasing.count, barrier.arriving);
  arrived_of(barrier, warp) |= active;
  warp.cluster().wake();
  end_phase_if_all_arrived(warp.cluster(), barrier);
  return Flow::next;
}

Flow run_wait(Warp& warp, const Op&, LaneMask active) {
  ClusterBarrier& barrier = barrier_of(warp);
  const auto is_waiting = [&](int lane) { return barrier.waits_for[warp.thread(lane)] > barrier.phase; };
  // A phase can also end because threads exit.
  bool waits = false;
  for_each_lane(active, [&](int lane) { waits = waits || is_waiting(lane); });
  if (waits) {
    end_phase_if_all_arrived(warp.cluster(), barrier);
    waits = false;
    for_each_lane(active, [&](int lane) { waits = waits || is_waiting(lane); });
  }
  if (waits) return Flow::blocked;
  Threads acquiring;
  for_each_lane(active, [&](int lane) {
    std::uint64_t& waits_for = barrier.waits_for[warp.thread(lane)];
    if (waits_for == 0) {
      warp.report(FindingKind::barrier, lane, 0,
                  [&] { return "This barrier.cluster.wait has no barrier.cluster.arrive before it."; });
      return;
    }
    waits_for = 0;
    acquiring.add(warp.thread(lane));
  });
  warp.cluster().clocks.acquire(acquiring.list, acquiring.count, barrier.ended);
  return Flow::next;
}

std::string awaited_cluster(Warp& warp, const Op&, int) {
  const ClusterBarrier& barrier = barrier_of(warp);
  int arrived = 0;
  for (const LaneMask lanes : barrier.arrived) arrived += count_lanes(lanes);
  return "the cluster's barrier, where " + std::to_string(arrived) + " of " +
         std::to_string(warp.cluster().live_threads) + " threads have arrived";
}

void decode_cluster_barrier(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require("cluster");
  if (decoding.require_one({"arrive", "wait"}) == 0) {
    op.bits[0] = decoding.accept_one({"release", "relaxed"}) == 1 ? 1 : 0;
    op.handler = run_arrive;
  } else {
    decoding.accept("acquire");
    op.handler = run_wait;
    op.awaited = awaited_cluster;
  }
  op.aligned = decoding.accept("aligned");
  decoding.require_count(0, 0);
  decoding.finish();
}

bool is_of_cluster(const ptx::Instruction& instruction) {
  return first_modifier_is(instruction, "cluster");
}
struct BarrierTag {};

}  // namespace

void add_cluster_instructions(Decoders& decoders) {
  decoders["mapa"] = decode_mapa;
  decoders["getctarank"] = decode_getctarank;
  share_decoder<BarrierTag>(decoders, "barrier", is_of_cluster, decode_cluster_barrier);
}

}  // namespace tenon::emulator
