// Execution of a warpgroup's asynchronous matrix products: wgmma.mma_async, commit_group and wait_group (PTX
// ISA 9.7.15).
#include "emulator/instructions/wgmma_state.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Type;

Warpgroup& warpgroup_of(Warp& warp) {
  CtaWgmma& state = state_of(warp.cta());
  if (state.groups.empty()) state.groups.resize((warp.cta().warps.size() + group_warps - 1) / group_warps);
  Warpgroup& group = state.groups[static_cast<std::size_t>(warp.warpgroup())];
  if (group.stream == 0) {
    group.stream = warp.cluster().async.new_stream();
    group.component = warp.cluster().clocks.new_component();
  }
  return group;
}

// --- wgmma.mma_async

class WgmmaOperation : public AsyncOperation {
 public:
  explicit WgmmaOperation(std::shared_ptr<WgmmaCall> call) : call_(std::move(call)) {}

  void perform(Cluster& cluster) override {
    const WgmmaDetail& d = call_->detail();
    WgmmaOperands operands;
    operands.a_descriptor = call_->a_descriptor;
    operands.b_descriptor = call_->b_descriptor;
    std::memcpy(operands.metadata, call_->metadata, sizeof operands.metadata);
    operands.accumulate = call_->accumulate;
    std::uint64_t sink[warp_size] = {};
    for (int w = 0; w < group_warps; ++w) {
      Warp& warp = *call_->warps[w];
      for_each_wgmma_register(*call_, [&](const Value& value, bool is_accumulator) {
        std::uint64_t* lanes = value.slot < 0 ? sink : warp.lanes_of_frame(call_->frames[w], value.slot);
        if (is_accumulator) {
          operands.d[w].push_back(lanes);
        } else {
          operands.a[w].push_back(lanes);
        }
      });
    }
    WgmmaProduct product(d.form);
    product(model_of(cluster.launch), *call_->cta, actor_of(call_->agent), operands);
    cluster.counters.count_matrix(
        call_->pc, 2ull * 64 * static_cast<std::uint64_t>(d.form.n) * static_cast<std::uint64_t>(d.form.k));
  }

 private:
  std::shared_ptr<WgmmaCall> call_;
};

// A value that must be equal in all lanes.
std::uint64_t uniform(Warp& warp, const Op& op, int index, LaneMask active, const char* what) {
  const Value& value = op.values[static_cast<std::size_t>(index)];
  const std::uint64_t first = warp.read(value, first_lane(active));
  for_each_lane(active, [&](int lane) {
    if (warp.read(value, lane) == first) return;
    warp.report(FindingKind::argument, lane, 0, [&] {
      return std::string(what) + " must be the same in all lanes of the warp, but is not.";
    });
  });
  return first;
}

void start(Warp& warp, Warpgroup& group, const std::shared_ptr<WgmmaCall>& call, std::uint64_t number) {
  call->agent = Clocks::start({call->pc, call->warps[0]->thread(0)}, call->known, group.component,
                              static_cast<Epoch>(number + 1), true);
  call->ticket = warp.cluster().async.enqueue(std::make_unique<WgmmaOperation>(call), group.stream);
  warp.cluster().changed();
}

}  // namespace

Flow run_wgmma(Warp& warp, const Op& op, LaneMask active) {
  if (!is_complete_warpgroup(warp)) return Flow::next;
  check_wgmma_registers(warp, op);
  const auto& d = static_cast<const WgmmaDetail&>(*op.detail);
  Warpgroup& group = warpgroup_of(warp);
  WarpWgmma& state = state_of(warp);
  const std::uint64_t number = state.issued++;
  const std::uint64_t b = uniform(warp, op, d.b, active, "The descriptor of B");
  const std::uint64_t a = d.form.a_in_registers ? 0 : uniform(warp, op, d.a, active, "The descriptor of A");
  const bool accumulate = (uniform(warp, op, d.scale_d, active, "scale-d") != 0) != d.scale_d_negated;
  if (number == group.first + group.calls.size()) {
    auto fresh = std::make_shared<WgmmaCall>();
    fresh->op = &op;
    fresh->pc = warp.pc();
    fresh->cta = &warp.cta();
    fresh->a_descriptor = a;
    fresh->b_descriptor = b;
    fresh->accumulate = accumulate;
    group.calls.push_back(std::move(fresh));
  }
  const std::shared_ptr<WgmmaCall> call = group.call(number);
  if (call->op != &op || call->a_descriptor != a || call->b_descriptor != b ||
      call->accumulate != accumulate) {
    warp.report(FindingKind::divergence, first_lane(active), 0, [&] {
      return "The warps of warpgroup " + std::to_string(warp.warpgroup()) +
             " must execute the same wgmma with the same descriptors and scale-d, but another warp's " +
             (call->op == &op ? "operands differ." : "next wgmma is another instruction.");
    });
    if (call->op != &op) return Flow::next;
  }
  const int w = warp.index() % group_warps;
  call->warps[w] = &warp;
  call->frames[w] = warp.frame();
  if (d.metadata >= 0) {
    for (int lane = 0; lane < warp_size; ++lane) {
      call->metadata[w][lane] = warp.read(op.values[static_cast<std::size_t>(d.metadata)], lane);
    }
  }
  take_wgmma_registers(warp, *call);
  // A warp's actions after its part of the issue are not ordered with the product, even before the last warp
  // issues its part.
  ThreadId threads[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) threads[lane] = warp.thread(lane);
  warp.cluster().clocks.release(threads, warp_size, call->known);
  if (++call->arrived == group_warps) start(warp, group, call, number);
  return Flow::next;
}

// --- groups

Flow run_wgmma_commit(Warp& warp, const Op&, LaneMask) {
  if (!is_complete_warpgroup(warp)) return Flow::next;
  WarpWgmma& state = state_of(warp);
  state.groups.push_back(state.issued);
  return Flow::next;
}

Flow run_wgmma_wait(Warp& warp, const Op& op, LaneMask) {
  if (!is_complete_warpgroup(warp)) return Flow::next;
  WarpWgmma& state = state_of(warp);
  if (state.groups.size() <= op.bits[0]) return Flow::next;
  Warpgroup& group = warpgroup_of(warp);
  const std::uint64_t end = state.groups[state.groups.size() - op.bits[0] - 1];
  for (std::uint64_t number = state.waited; number < end; ++number) {
    if (group.call(number)->ticket == 0)
      return Flow::blocked;  // a warp of the warpgroup has not issued it yet
  }
  for (; state.waited < end; ++state.waited) {
    WgmmaCall& call = *group.call(state.waited);
    warp.cluster().async.finish(call.ticket);
    give_wgmma_registers_back(warp, call);
    ++call.waited;
  }
  if (end > 0) {
    for (int lane = 0; lane < warp_size; ++lane) {
      warp.cluster().clocks.complete(warp.thread(lane), group.component, static_cast<Epoch>(end));
    }
  }
  while (state.groups.size() > op.bits[0]) state.groups.pop_front();
  while (!group.calls.empty() && group.calls.front()->waited == group_warps) {
    group.calls.pop_front();
    ++group.first;
  }
  return Flow::next;
}

}  // namespace tenon::emulator
