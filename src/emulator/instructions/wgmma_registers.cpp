// The registers of wgmma: whom they belong to, wgmma.fence, and setmaxnreg (PTX ISA 9.7.15.7.1, 9.7.19.5).
#include "emulator/instructions/wgmma_state.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {

namespace {

const FencedSlots& fenced_slots(Warp& warp) {
  const Program& program = *warp.launch().program;
  const FunctionCode* code = program.steps[warp.place()].code;
  const auto [found, is_new] = state_of(warp.cta()).slots.try_emplace(code);
  FencedSlots& result = found->second;
  if (!is_new) return result;
  result.positions.assign(static_cast<std::size_t>(code->slots), -1);
  for (const Step& step : program.steps) {
    if (step.code != code || step.op.handler != run_wgmma) continue;
    const auto& d = static_cast<const WgmmaDetail&>(*step.op.detail);
    for (int i = d.d; i < d.b; ++i) {
      if (!d.form.a_in_registers && i >= d.a) break;
      const int slot = step.op.values[static_cast<std::size_t>(i)].slot;
      if (slot < 0 || result.positions[static_cast<std::size_t>(slot)] >= 0) continue;
      result.positions[static_cast<std::size_t>(slot)] = static_cast<int>(result.slots.size());
      result.slots.push_back(slot);
    }
  }
  return result;
}

// A register that wgmma is about to use: by whom else, and since the fence?
void check_register(Warp& warp, const FencedSlots& fenced, const Value& value, const WgmmaForm& form,
                    bool is_accumulator) {
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
  const int position = fenced.positions[static_cast<std::size_t>(value.slot)];
  if (position < 0 || state.frame != warp.frame()) return;
  const std::uint64_t* then = &state.values[static_cast<std::size_t>(position) * warp_size];
  if (std::equal(then, then + warp_size, warp.lanes(value.slot))) return;
  warp.report(FindingKind::async_use, 0, 0, [] {
    return "A register of this wgmma was written after the last wgmma.fence; wgmma.fence must stand between "
           "the write "
           "and the wgmma.";
  });
}

constexpr std::uint64_t registers_of_sm = 65536;

// How many registers a thread starts with, PTX does not say; the most that fit, in steps of 8, is what a
// kernel that is bounded for one CTA an SM gets.
void prepare_registers(Cta& cta) {
  CtaWgmma& state = state_of(cta);
  if (!state.registers.empty()) return;
  const std::uint64_t threads = cta.warps.size() * warp_size;
  const std::uint64_t each = std::min<std::uint64_t>(registers_of_sm / threads / 8 * 8, 256);
  state.registers.assign(cta.warps.size(), static_cast<std::uint32_t>(each));
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
  WarpWgmma& state = state_of(warp);
  const FencedSlots& fenced = fenced_slots(warp);
  state.has_fence = true;
  state.frame = warp.frame();
  state.values.resize(fenced.slots.size() * warp_size);
  for (std::size_t i = 0; i < fenced.slots.size(); ++i) {
    std::memcpy(&state.values[i * warp_size], warp.lanes(fenced.slots[i]), sizeof(std::uint64_t) * warp_size);
  }
  return Flow::next;
}

void check_wgmma_registers(Warp& warp, const Op& op) {
  if (!warp.cluster().findings.enabled()) return;
  WarpWgmma& state = state_of(warp);
  if (!state.has_fence) {
    warp.report(FindingKind::async_use, 0, 0, [] {
      return "This is the first wgmma of its warpgroup, and no wgmma.fence stands before it.";
    });
    return;
  }
  const auto& d = static_cast<const WgmmaDetail&>(*op.detail);
  const FencedSlots& fenced = fenced_slots(warp);
  if (state.values.size() != fenced.slots.size() * warp_size) return;  // the fence was in another function
  for (int i = d.d; i < d.a; ++i)
    check_register(warp, fenced, op.values[static_cast<std::size_t>(i)], d.form, true);
  if (!d.form.a_in_registers) return;
  for (int i = d.a; i < d.b; ++i)
    check_register(warp, fenced, op.values[static_cast<std::size_t>(i)], d.form, false);
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

// The results are the warp's now, and wgmma itself wrote them: no fence is needed before it goes on with
// them.
void give_wgmma_registers_back(Warp& warp, const WgmmaCall& call) {
  WarpWgmma& state = state_of(warp);
  const std::size_t frame = call.frames[warp.index() % group_warps];
  const bool fenced = warp.cluster().findings.enabled() && state.frame == frame && !state.values.empty();
  const FencedSlots* slots = fenced ? &fenced_slots(warp) : nullptr;
  for_each_wgmma_register(call, [&](const Value& value, bool is_accumulator) {
    warp.disown(value, frame);
    if (!is_accumulator || value.slot < 0) return;
    --state.writers[frame + static_cast<std::size_t>(value.slot)].calls;
    if (slots == nullptr || state.values.size() != slots->slots.size() * warp_size) return;
    const int position = slots->positions[static_cast<std::size_t>(value.slot)];
    if (position < 0) return;
    std::memcpy(&state.values[static_cast<std::size_t>(position) * warp_size],
                warp.lanes_of_frame(frame, value.slot), sizeof(std::uint64_t) * warp_size);
  });
}

// op.bits[0]: the count; op.bits[1]: .inc.
Flow run_setmaxnreg(Warp& warp, const Op& op, LaneMask active) {
  if (!is_complete_warpgroup(warp)) return Flow::next;
  prepare_registers(warp.cta());
  CtaWgmma& state = state_of(warp.cta());
  std::uint32_t& own = state.registers[static_cast<std::size_t>(warp.index())];
  const std::uint32_t wanted = op.bits[0];
  const bool grows = op.bits[1] != 0;
  if (grows ? wanted < own : wanted > own) {
    warp.report(FindingKind::argument, first_lane(active), 0, [&] {
      return std::string("setmaxnreg.") + (grows ? "inc" : "dec") + " asks for " + std::to_string(wanted) +
             " registers a thread, but the warp has " + (grows ? "already " : "only ") + std::to_string(own) +
             ".";
    });
    return Flow::next;
  }
  if (grows) {
    const std::uint64_t missing = std::uint64_t{wanted - own} * warp_size;
    if (missing > state.free_registers) return Flow::blocked;
    state.free_registers -= missing;
  } else {
    state.free_registers += std::uint64_t{own - wanted} * warp_size;
    warp.cluster().changed();
  }
  own = wanted;
  return Flow::next;
}

}  // namespace tenon::emulator
