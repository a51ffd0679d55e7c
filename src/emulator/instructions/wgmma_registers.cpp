// The registers of wgmma: ownership, wgmma.fence, and setmaxnreg (PTX ISA 9.7.15.7.1, 9.7.19.5).
#include "emulator/instructions/wgmma_state.hpp"

#include <algorithm>

namespace tenon::emulator {

namespace {

// Checks a register that wgmma is about to use: has another instruction used it since the last fence?
void check_register(Warp& warp, const Value& value, const WgmmaForm& form, bool is_accumulator) {
  if (value.slot < 0) return;
  WarpWgmma& state = state_of(warp);
  const std::size_t absolute = warp.frame() + static_cast<std::size_t>(value.slot);
  const auto writer = state.writers.find(absolute);
  const bool is_written = writer != state.writers.end() && writer->second.calls != 0;
  if (is_written) {
    const WgmmaForm& last = *writer->second.form;
    if (is_accumulator && last.n == form.n && last.k == form.k && last.d == form.d) return;
    warp.report(FindingKind::async_use, 0, 0, [&] {
      return std::string(is_accumulator ? "An accumulator of this wgmma is one of a wgmma of another shape"
                                        : "A register of A is an accumulator of a wgmma") +
             " that is still running; a wgmma.wait_group and a wgmma.fence are needed between them.";
    });
    return;
  }
  if (is_accumulator && warp.is_owned(value)) {
    warp.report(FindingKind::async_use, 0, 0, [] {
      return "An accumulator of this wgmma holds A of a wgmma that is still running; a wgmma.wait_group and "
             "a "
             "wgmma.fence are needed between them.";
    });
    return;
  }
  // PTX requires the fence after any access, even a read.
  if (!warp.is_used(value)) return;
  warp.report(FindingKind::async_use, 0, 0, [] {
    return "A register of this wgmma was written or read after the last wgmma.fence by another instruction; "
           "wgmma.fence is needed between that and the wgmma.";
  });
}

constexpr std::uint64_t registers_of_sm = 65536;

// The registers of a thread at the start: as .maxnreg says. Otherwise PTX defines nothing: this takes the
// most that fit, in steps of 8, for a kernel of so many threads and blocks per SM.
void prepare_registers(Cta& cta) {
  CtaWgmma& state = state_of(cta);
  if (!state.registers.empty()) return;
  const ptx::Function& entry = *cta.cluster.launch.program->entry;
  const auto product = [](const int(&sizes)[3]) {
    return static_cast<std::uint64_t>(sizes[0]) * static_cast<std::uint64_t>(sizes[1]) *
           static_cast<std::uint64_t>(sizes[2]);
  };
  const std::uint64_t threads = std::max({std::uint64_t{cta.warps.size()} * warp_size,
                                          product(entry.max_threads), product(entry.required_threads)});
  const auto blocks = static_cast<std::uint64_t>(std::max(entry.min_blocks, 1));
  std::uint64_t each = std::min<std::uint64_t>(registers_of_sm / blocks / threads / 8 * 8, 256);
  CtaWgmma::Registers first;
  first.is_bound = entry.max_registers == 0;
  if (!first.is_bound) each = static_cast<std::uint64_t>(entry.max_registers) / 8 * 8;
  first.count = static_cast<std::uint32_t>(each);
  state.registers.assign(cta.warps.size(), first);
}

}  // namespace

// Four warps of 32 threads, or a finding.
bool is_complete_warpgroup(Warp& warp) {
  const auto& warps = warp.cta().warps;
  const auto first = static_cast<std::size_t>(warp.warpgroup()) * group_warps;
  bool complete = first + group_warps <= warps.size();
  for (std::size_t i = first; complete && i < first + group_warps; ++i)
    complete = warps[i]->present() == all_lanes;
  if (!complete) {
    warp.report(FindingKind::divergence, first_lane(warp.live()), 0, [&] {
      return "This instruction is for a warpgroup, four whole warps from a multiple of four on, but the CTA "
             "ends within "
             "warpgroup " +
             std::to_string(warp.warpgroup()) + ".";
    });
  }
  return complete;
}

Flow run_wgmma_fence(Warp& warp, const Op&, LaneMask) {
  if (!warp.cluster().findings.enabled() || !is_complete_warpgroup(warp)) return Flow::next;
  state_of(warp).has_fence = true;
  warp.forget_used();
  return Flow::next;
}

void check_wgmma_registers(Warp& warp, const Op& op) {
  if (!warp.cluster().findings.enabled()) return;
  WarpWgmma& state = state_of(warp);
  if (!state.has_fence) {
    warp.report(FindingKind::async_use, 0, 0,
                [] { return "This is the first wgmma of its warpgroup, and no wgmma.fence precedes it."; });
    return;
  }
  const auto& d = static_cast<const WgmmaDetail&>(*op.detail);
  for (int i = d.d; i < d.a; ++i) check_register(warp, op.values[static_cast<std::size_t>(i)], d.form, true);
  if (!d.form.a_in_registers) return;
  for (int i = d.a; i < d.b; ++i) check_register(warp, op.values[static_cast<std::size_t>(i)], d.form, false);
}

void take_wgmma_registers(Warp& warp, const WgmmaCall& call) {
  WarpWgmma& state = state_of(warp);
  for_each_wgmma_register(call, [&](const Value& value, bool is_accumulator) {
    warp.own(value);
    if (!is_accumulator || value.slot < 0) return;
    WarpWgmma::Writer& writer = state.writers[warp.frame() + static_cast<std::size_t>(value.slot)];
    ++writer.calls;
    writer.form = &call.detail().form;
  });
}

// The results belong to the warp now, and wgmma itself wrote them: the next wgmma on them needs no fence.
void give_wgmma_registers_back(Warp& warp, const WgmmaCall& call) {
  WarpWgmma& state = state_of(warp);
  const std::size_t frame = call.frames[warp.index() % group_warps];
  for_each_wgmma_register(call, [&](const Value& value, bool is_accumulator) {
    warp.disown(value, frame);
    if (is_accumulator && value.slot >= 0)
      --state.writers[frame + static_cast<std::size_t>(value.slot)].calls;
  });
}

// op.bits[0]: the count; op.bits[1]: .inc. Waits for registers before it counts as executed.
Flow run_setmaxnreg(Warp& warp, const Op& op, LaneMask active) {
  if (!is_complete_warpgroup(warp)) return Flow::next;
  prepare_registers(warp.cta());
  CtaWgmma& state = state_of(warp.cta());
  CtaWgmma::Registers& own = state.registers[static_cast<std::size_t>(warp.index())];
  const std::uint32_t wanted = op.bits[0];
  const bool grows = op.bits[1] != 0;
  // A correct kernel starts with no more registers than it requests.
  if (grows && own.is_bound) own.count = std::min(own.count, wanted);
  const bool is_wrong = grows ? wanted < own.count : wanted > own.count;
  if (grows && !is_wrong) {
    const std::uint64_t missing = std::uint64_t{wanted - own.count} * warp_size;
    if (missing > state.free_registers) return Flow::blocked;
    state.free_registers -= missing;
  }
  own.is_bound = false;
  ++own.changes;
  own.pc = warp.pc();
  if (is_wrong) {
    warp.report(FindingKind::argument, first_lane(active), 0, [&] {
      return std::string("setmaxnreg.") + (grows ? "inc" : "dec") + " asks for " + std::to_string(wanted) +
             " registers a thread, but the warp has " + (grows ? "already " : "only ") +
             std::to_string(own.count) + ".";
    });
    return Flow::next;
  }
  if (!grows) {
    state.free_registers += std::uint64_t{own.count - wanted} * warp_size;
    warp.cluster().changed();
  }
  own.count = wanted;
  return Flow::next;
}

std::string awaited_registers(Warp& warp, const Op& op, int) {
  const CtaWgmma& state = state_of(warp.cta());
  const auto own = state.registers[static_cast<std::size_t>(warp.index())].count;
  return std::to_string(op.bits[0] - std::min(own, op.bits[0])) +
         " more registers for each thread of the warp; " + std::to_string(state.free_registers) + " are free";
}

// setmaxnreg is for all four warps of a warpgroup; each warp executes its own part.
void CtaWgmma::block_ends(Cta& cta) {
  for (std::size_t first = 0; first + group_warps <= registers.size(); first += group_warps) {
    const auto begin = registers.begin() + static_cast<std::ptrdiff_t>(first);
    const auto by_changes = [](const Registers& a, const Registers& b) { return a.changes < b.changes; };
    const auto [least, most] = std::minmax_element(begin, begin + group_warps, by_changes);
    if (least->changes == most->changes) continue;
    const Warp& warp = *cta.warps[static_cast<std::size_t>(most - registers.begin())];
    cta.cluster.report(FindingKind::divergence, {most->pc, warp.thread(0)}, 0,
                       [&, least = least, most = most] {
                         return "Warp " + std::to_string(most - registers.begin()) + " has executed " +
                                std::to_string(most->changes) + " setmaxnreg and warp " +
                                std::to_string(least - registers.begin()) + " of the same warpgroup " +
                                std::to_string(least->changes) + "; all four warps must execute each.";
                       });
  }
}

}  // namespace tenon::emulator
