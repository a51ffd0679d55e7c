// bar and barrier: the sixteen barriers of a CTA, and the warp's own (PTX ISA: bar, barrier, bar.warp.sync).
//
// A barrier counts threads. With a count operand, a warp whose lanes have all arrived or exited counts as 32
// whatever its number of lanes. Without one, the barrier is for all threads of the CTA that have not exited.
// A waiting lane keeps the generation that it waits for, so that it knows when its wait ends.
#include <algorithm>
#include <array>
#include <vector>

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

constexpr std::uint32_t barriers_of_cta = 16;

enum class Reduction : std::uint32_t { none, popc, both, any };

struct Barrier {
  std::uint64_t generation = 1;  // of the current arrivals
  int arrived = 0;               // lanes, including those that do not wait (bar.arrive)
  std::uint32_t expected = 0;    // threads; 0: all of the CTA
  std::vector<ThreadId> waiting;
  SyncClock clock;  // of the lanes that do not wait
  std::uint32_t trues = 0, voters = 0;
  struct Result {
    std::uint32_t trues = 0, voters = 0;
  };
  std::array<Result, 64> results;  // by generation; no lane can be further behind
  std::vector<LaneMask> lanes_of_warps;
};

struct CtaBarriers : SideState {
  std::array<Barrier, barriers_of_cta> barriers;
};

// op.values: barrier, count, predicate, result. op.bits: 0 has a count, 1 Reduction, 2 negated, 3 only
// arrives
constexpr int at_barrier = 0, at_count = 1, at_predicate = 2, at_result = 3;

// The count of the barrier: lanes, or, with a count operand, complete warps as 32.
int arrivals(const Cta& cta, const Barrier& barrier) {
  if (barrier.expected == 0) return barrier.arrived;
  int sum = 0;
  for (std::size_t i = 0; i < barrier.lanes_of_warps.size(); ++i) {
    const LaneMask lanes = barrier.lanes_of_warps[i];
    if (lanes != 0) sum += (cta.warps[i]->live() & ~lanes) == 0 ? warp_size : count_lanes(lanes);
  }
  return sum;
}

int needed(const Cta& cta, const Barrier& barrier) {
  return barrier.expected != 0 ? static_cast<int>(barrier.expected) : cta.live_threads;
}

void complete_if_full(Cta& cta, Barrier& barrier) {
  if (barrier.arrived == 0 || arrivals(cta, barrier) < needed(cta, barrier)) return;
  cta.cluster.clocks.barrier(barrier.waiting.data(), barrier.waiting.size(), barrier.clock);
  barrier.results[barrier.generation % barrier.results.size()] = {barrier.trues, barrier.voters};
  ++barrier.generation;
  barrier.arrived = 0;
  barrier.expected = barrier.trues = barrier.voters = 0;
  barrier.waiting.clear();
  barrier.clock = {};
  barrier.lanes_of_warps.assign(barrier.lanes_of_warps.size(), 0);
  cta.cluster.wake();
}

// The lanes' barrier and count, if they are valid and equal in all lanes; else a finding.
bool check(Warp& warp, const Op& op, LaneMask active, std::uint32_t& number, std::uint32_t& count) {
  const int lane = first_lane(active);
  const auto bad = [&](const std::string& sentence) {
    warp.report(FindingKind::barrier, lane, 0, [&] { return sentence; });
    return false;
  };
  const std::uint64_t wanted = warp.read(op.values[at_barrier], lane);
  if (wanted >= barriers_of_cta)
    return bad("there is no barrier " + std::to_string(wanted) + ": a block has barriers 0 to 15");
  const std::uint64_t threads = op.bits[0] != 0 ? warp.read(op.values[at_count], lane) : 0;
  if (op.bits[0] != 0 && (threads == 0 || threads % warp_size != 0))
    return bad("barrier " + std::to_string(wanted) + " is to be of " + std::to_string(threads) +
               " threads, which must be a multiple of 32 and not 0");
  const std::uint64_t all_threads = warp.cluster().threads_per_cta();
  if (threads > (all_threads + warp_size - 1) / warp_size * warp_size)
    return bad("barrier " + std::to_string(wanted) + " is to be of " + std::to_string(threads) +
               " threads, and the block has only " + std::to_string(all_threads));
  number = static_cast<std::uint32_t>(wanted);
  count = static_cast<std::uint32_t>(threads);
  return true;
}

// The lanes of one warp arrive at the same barrier.
void arrive(Warp& warp, const Op& op, LaneMask lanes, std::uint32_t number, std::uint32_t count,
            Barrier& barrier) {
  Cta& cta = warp.cta();
  if (barrier.arrived == 0) {
    barrier.expected = count;
  } else if (barrier.expected != count) {
    warp.report(FindingKind::barrier, first_lane(lanes), 0, [&] {
      const auto threads = [](std::uint32_t n) { return n == 0 ? std::string("all") : std::to_string(n); };
      return "barrier " + std::to_string(number) + " is used for " + threads(count) +
             " threads, while it waits for " + threads(barrier.expected);
    });
  }
  const auto index = static_cast<std::size_t>(warp.index());
  if (barrier.lanes_of_warps.size() <= index) barrier.lanes_of_warps.resize(cta.warps.size());
  LaneMask& of_warp = barrier.lanes_of_warps[index];
  if ((of_warp & lanes) != 0) {
    warp.report(FindingKind::barrier, first_lane(of_warp & lanes), 0, [&] {
      return warp.cluster().describe(warp.thread(first_lane(of_warp & lanes))) + " arrives at barrier " +
             std::to_string(number) + " twice before it completes";
    });
  }
  of_warp |= lanes;
  barrier.arrived += count_lanes(lanes);
  for_each_lane(lanes, [&](int lane) {
    if (op.bits[3] != 0)
      warp.release(lane, barrier.clock);
    else
      barrier.waiting.push_back(warp.thread(lane));
    if (static_cast<Reduction>(op.bits[1]) == Reduction::none) return;
    ++barrier.voters;
    barrier.trues += static_cast<std::uint32_t>((warp.read(op.values[at_predicate], lane) ^ op.bits[2]) & 1);
  });
  if (barrier.expected != 0 && arrivals(cta, barrier) > static_cast<int>(barrier.expected)) {
    warp.report(FindingKind::barrier, first_lane(lanes), 0, [&] {
      return std::to_string(arrivals(cta, barrier)) + " threads have arrived at barrier " +
             std::to_string(number) + ", which is for " + std::to_string(barrier.expected);
    });
  }
  warp.cluster().wake();
  complete_if_full(cta, barrier);
}

void write_result(Warp& warp, const Op& op, LaneMask lanes, const Barrier::Result& result) {
  std::uint64_t value = 0;
  switch (static_cast<Reduction>(op.bits[1])) {
    case Reduction::none:
      return;
    case Reduction::popc:
      value = result.trues;
      break;
    case Reduction::both:
      value = result.trues == result.voters ? 1 : 0;
      break;
    case Reduction::any:
      value = result.trues != 0 ? 1 : 0;
      break;
  }
  for_each_lane(lanes, [&](int lane) { warp.write(op.values[at_result], lane, value); });
}

Flow barrier_of_cta(Warp& warp, const Op& op, LaneMask active) {
  auto& barriers = warp.cta().side.get<CtaBarriers>(Family::cta_barriers).barriers;
  LaneMask done = 0;
  // Usually one pass: lanes may name different barriers.
  for (LaneMask left = active; left != 0;) {
    const std::uint64_t wanted = warp.read(op.values[at_barrier], first_lane(left));
    LaneMask same = 0, arriving = 0;
    for_each_lane(left, [&](int lane) {
      if (warp.read(op.values[at_barrier], lane) != wanted) return;
      same |= lane_bit(lane);
      if (warp.wait_token(lane) == 0) arriving |= lane_bit(lane);
    });
    left &= ~same;
    std::uint32_t number = 0, count = 0;
    if (!check(warp, op, same, number, count)) {
      done |= same;
      continue;
    }
    Barrier& barrier = barriers[number];
    for_each_lane(arriving, [&](int lane) { warp.wait_token(lane) = barrier.generation; });
    if (arriving != 0)
      arrive(warp, op, arriving, number, count, barrier);
    else
      complete_if_full(warp.cta(), barrier);  // other threads may have exited
    if (op.bits[3] != 0) {
      done |= same;
      continue;
    }
    for_each_lane(same, [&](int lane) {
      const std::uint64_t generation = warp.wait_token(lane);
      if (generation >= barrier.generation) return;
      done |= lane_bit(lane);
      write_result(warp, op, lane_bit(lane), barrier.results[generation % barrier.results.size()]);
    });
  }
  if (done == active) return Flow::next;
  if (done == 0) return Flow::blocked;
  warp.jump(done, warp.pc() + 1);
  warp.jump(active & ~done, warp.pc());
  return Flow::branched;
}

std::string awaited_barrier(Warp& warp, const Op& op, int lane) {
  const std::uint64_t number = warp.read(op.values[at_barrier], lane);
  if (number >= barriers_of_cta) return {};
  const Cta& cta = warp.cta();
  const Barrier& barrier = warp.cta().side.get<CtaBarriers>(Family::cta_barriers).barriers[number];
  return "barrier " + std::to_string(number) + ", where " + std::to_string(arrivals(cta, barrier)) + " of " +
         std::to_string(needed(cta, barrier)) + " threads have arrived";
}

// --- bar.warp.sync

struct WarpBarrier : SideState {
  std::array<LaneMask, warp_size> members{};  // as each waiting lane named them
  LaneMask waiting = 0, released = 0;
};

Flow barrier_of_warp(Warp& warp, const Op& op, LaneMask active) {
  WarpBarrier& state = warp.side.get<WarpBarrier>(Family::warp_barrier);
  for_each_lane(active, [&](int lane) {
    if (warp.wait_token(lane) != 0) return;
    warp.wait_token(lane) = 1;
    const auto members = static_cast<LaneMask>(warp.read(op.values[0], lane));
    state.members[static_cast<std::size_t>(lane)] = members;
    state.waiting |= lane_bit(lane);
    if ((members & lane_bit(lane)) == 0) {
      warp.report(FindingKind::argument, lane, 0, [&] {
        return "lane " + std::to_string(lane) + " is not in the mask it names, " + std::to_string(members);
      });
      state.released |= lane_bit(lane);
      state.waiting &= ~lane_bit(lane);
    }
    warp.cluster().wake();
  });
  for (LaneMask left = active & state.waiting; left != 0;) {
    const LaneMask members = state.members[static_cast<std::size_t>(first_lane(left))];
    const LaneMask needed = members & warp.live();
    left &= ~needed;
    bool agree = (needed & ~state.waiting) == 0;
    ThreadId threads[warp_size];
    std::size_t count = 0;
    for_each_lane(needed, [&](int lane) {
      agree = agree && state.members[static_cast<std::size_t>(lane)] == members;
      threads[count++] = warp.thread(lane);
    });
    if (!agree) continue;
    warp.cluster().clocks.barrier(threads, count);
    state.waiting &= ~needed;
    state.released |= needed;
    warp.cluster().wake();
  }
  const LaneMask done = active & state.released;
  state.released &= ~done;
  if (done == active) return Flow::next;
  if (done == 0) return Flow::blocked;
  warp.jump(done, warp.pc() + 1);
  warp.jump(active & ~done, warp.pc());
  return Flow::branched;
}

// --- decoding

void decode_warp_barrier(Decoding& decoding) {
  decoding.require("sync");
  decoding.finish();
  decoding.require_count(1, 1);
  decoding.source(0, ptx::Type::b32);
  decoding.op().handler = barrier_of_warp;
}

// bar{.cta}.sync a{, b}; .arrive a, b; .red.popc.u32 d, a{, b}, {!}c; .red.and|or.pred p, a{, b}, {!}c
void decode_cta_barrier(Decoding& decoding, bool aligned) {
  Op& op = decoding.op();
  decoding.accept("cta");
  const int kind = decoding.require_one({"sync", "arrive", "red"});
  Reduction reduction = Reduction::none;
  ptx::Type result = ptx::Type::none;
  if (kind == 2) {
    reduction = static_cast<Reduction>(1 + decoding.require_one({"popc", "and", "or"}));
    result = decoding.type({reduction == Reduction::popc ? ptx::Type::u32 : ptx::Type::pred});
  }
  op.aligned = decoding.accept("aligned") || aligned;
  decoding.finish();
  const int first = kind == 2 ? 1 : 0;                      // of a
  const int last = decoding.count() - (kind == 2 ? 1 : 0);  // after a{, b}
  if (kind == 1)
    decoding.require_count(2, 2);
  else
    decoding.require_count(first * 2 + 1, first * 2 + 2);
  const Value unused;
  decoding.source(first, ptx::Type::u32);
  if (last - first == 2)
    decoding.source(first + 1, ptx::Type::u32);
  else
    op.values.push_back(unused);
  if (kind == 2) {
    op.bits[2] = decoding.predicate(decoding.count() - 1) ? 1 : 0;
    decoding.destination(0, result);
  }
  op.bits[0] = last - first == 2 ? 1 : 0;
  op.bits[1] = static_cast<std::uint32_t>(reduction);
  op.bits[3] = kind == 1 ? 1 : 0;
  op.handler = barrier_of_cta;
  op.awaited = awaited_barrier;
}

void decode_bar(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  if (decoding.accept("warp"))
    decode_warp_barrier(decoding);
  else
    decode_cta_barrier(decoding, true);
}

void decode_barrier(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_cta_barrier(decoding, false);
}

}  // namespace

void add_barrier_instructions(Decoders& decoders) {
  decoders["bar"] = decode_bar;
  decoders["barrier"] = decode_barrier;
}

}  // namespace tenon::emulator
