#include "emulator/machine/warp.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {
namespace {

// Beyond these limits and largest_local, recursion counts as endless.
constexpr std::size_t deepest_stack = 4096;
constexpr std::size_t most_slots = 1 << 18;  // of the frames of a warp

}  // namespace

Warp::Warp(Cta& cta, int index)
    : cta_(cta),
      index_(index),
      first_thread_(cta.rank * cta.cluster.threads_per_cta() + static_cast<ThreadId>(index * warp_size)) {
  const int threads = static_cast<int>(cta.cluster.threads_per_cta()) - index * warp_size;
  present_ = threads >= warp_size ? all_lanes : lane_bit(threads) - 1;
  const FunctionCode& entry = *launch().program->functions[0];
  clear_registers(present_, 0, static_cast<std::size_t>(entry.slots));
  for_each_lane(present_, [&](int lane) { enter(lane, {&entry, 0, 0, 0, nullptr}); });
  groups_.push_back({});
  groups_.back().pc = entry.entry;
  groups_.back().lanes = present_;
}

// Makes room for a frame's registers and zeroes them: they are unwritten, but must not depend on earlier
// frames.
void Warp::clear_registers(LaneMask lanes, std::size_t base, std::size_t slots) {
  const std::size_t end = base + slots, used = std::min(end, owners_.size());
  for (std::size_t slot = base; slot < used; ++slot)
    for_each_lane(lanes,
                  [&](int lane) { registers_[slot * warp_size + static_cast<std::size_t>(lane)] = 0; });
  if (end <= owners_.size()) return;
  registers_.resize(end * warp_size);
  owners_.resize(end);
  used_.resize(end);
}

// Makes a frame of a lane with cleared registers: fills in special registers and addresses.
void Warp::enter(int lane, const Frame& frame) {
  const FunctionCode& code = *frame.code;
  const auto column = static_cast<std::size_t>(lane);
  stacks_[column].push_back(frame);
  LocalMemory& local = local_[column];
  local.bytes.resize(frame.local);
  local.written.resize(frame.local);
  local.bytes.resize(frame.local + static_cast<std::size_t>(code.local_bytes));
  local.written.resize(local.bytes.size());
  for (const FrameSlot& slot : code.frame_slots)
    registers_[(frame.registers + static_cast<std::size_t>(slot.slot)) * warp_size + column] =
        special(slot, lane, frame.local);
}

std::uint64_t Warp::special(const FrameSlot& slot, int lane, std::size_t local) const {
  const Launch& launch = this->launch();
  const Cluster& cluster = this->cluster();
  const Dim3 tid = cluster.thread_index(thread(lane));
  const Dim3 in_cluster{cta_.index.x % launch.cluster.x, cta_.index.y % launch.cluster.y,
                        cta_.index.z % launch.cluster.z};
  const Dim3 clusters{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
                      launch.grid.z / launch.cluster.z};
  const std::uint32_t multiprocessors = emulator::multiprocessors(launch.program->target);
  const LaneMask bit = lane_bit(lane);
  constexpr std::uint64_t nanoseconds_at_start = 1'700'000'000'000'000'000;
  const std::uint64_t globaltimer = nanoseconds_at_start + cluster.clock;
  switch (slot.special) {
    case Special::tid_x:
      return tid.x;
    case Special::tid_y:
      return tid.y;
    case Special::tid_z:
      return tid.z;
    case Special::ntid_x:
      return launch.block.x;
    case Special::ntid_y:
      return launch.block.y;
    case Special::ntid_z:
      return launch.block.z;
    case Special::ctaid_x:
      return cta_.index.x;
    case Special::ctaid_y:
      return cta_.index.y;
    case Special::ctaid_z:
      return cta_.index.z;
    case Special::nctaid_x:
      return launch.grid.x;
    case Special::nctaid_y:
      return launch.grid.y;
    case Special::nctaid_z:
      return launch.grid.z;
    case Special::clusterid_x:
      return cluster.index.x;
    case Special::clusterid_y:
      return cluster.index.y;
    case Special::clusterid_z:
      return cluster.index.z;
    case Special::nclusterid_x:
      return clusters.x;
    case Special::nclusterid_y:
      return clusters.y;
    case Special::nclusterid_z:
      return clusters.z;
    case Special::cluster_ctaid_x:
      return in_cluster.x;
    case Special::cluster_ctaid_y:
      return in_cluster.y;
    case Special::cluster_ctaid_z:
      return in_cluster.z;
    case Special::cluster_nctaid_x:
      return launch.cluster.x;
    case Special::cluster_nctaid_y:
      return launch.cluster.y;
    case Special::cluster_nctaid_z:
      return launch.cluster.z;
    case Special::cluster_ctarank:
      return cta_.rank;
    case Special::cluster_nctarank:
      return launch.cluster.count();
    case Special::is_explicit_cluster:
      return launch.explicit_cluster ? 1 : 0;
    case Special::laneid:
      return static_cast<std::uint64_t>(lane);
    case Special::warpid:
      return static_cast<std::uint64_t>(index_);
    case Special::nwarpid:
      return 64;
    case Special::smid:
      return (cluster.number * launch.cluster.count() + cta_.rank) % multiprocessors;
    case Special::nsmid:
      return multiprocessors;
    case Special::gridid:
      return launch.number;
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return (bit - 1) | bit;
    case Special::lanemask_gt:
      return static_cast<LaneMask>(~((bit - 1) | bit));
    case Special::lanemask_ge:
      return static_cast<LaneMask>(~(bit - 1));
    case Special::total_smem_size:
      return launch.shared_size - shared_reserved;
    case Special::aggr_smem_size:
      return launch.shared_size;
    case Special::dynamic_smem_size:
      return launch.dynamic_shared;
    case Special::grid_workspace_hi:
      return launch.grid_workspace >> 32;
    case Special::grid_workspace_lo:
      return static_cast<std::uint32_t>(launch.grid_workspace);
    case Special::clock:
      return static_cast<std::uint32_t>(cluster.clock);
    case Special::clock_hi:
      return cluster.clock >> 32;
    case Special::clock64:
      return cluster.clock;
    case Special::globaltimer:
      return globaltimer;
    case Special::globaltimer_lo:
      return static_cast<std::uint32_t>(globaltimer);
    case Special::globaltimer_hi:
      return globaltimer >> 32;
    case Special::shared_address:
      return shared_address(cta_.rank, static_cast<std::uint32_t>(slot.offset));
    case Special::local_address:
      return local + static_cast<std::uint64_t>(slot.offset);
    case Special::param_address:
      return local_window + local + static_cast<std::uint64_t>(slot.offset);
  }
  return 0;
}

void Warp::refresh_timers(const FunctionCode& code, LaneMask mask) {
  for (const FrameSlot& timer : code.timers)
    for_each_lane(mask, [&](int lane) { lanes(timer.slot)[lane] = special(timer, lane, 0); });
}

void Warp::own(const Value& value) {
  if (value.slot < 0) return;
  ++owners_[frame_ + static_cast<std::size_t>(value.slot)];
  ++owned_;
  last_owner_ = pc_;
}

void Warp::disown(const Value& value, std::size_t frame) {
  if (value.slot < 0) return;
  --owners_[frame + static_cast<std::size_t>(value.slot)];
  --owned_;
}

void Warp::jump(LaneMask mask, Pc pc) {
  Group group;
  group.pc = pc;
  group.frame = frame_;
  group.lanes = mask;
  moved_.push_back(group);
}

std::optional<std::uint64_t> Warp::push_local(int lane, std::uint64_t size, std::uint64_t alignment) {
  LocalMemory& local = local_[static_cast<std::size_t>(lane)];
  constexpr auto most = static_cast<std::uint64_t>(largest_local);
  const std::uint64_t base = (local.bytes.size() + alignment - 1) / alignment * alignment;
  if (base > most || size > most - base) return std::nullopt;
  local.bytes.resize(base + size);
  local.written.resize(base + size);
  return base;
}

bool Warp::pop_local(int lane, std::uint64_t top) {
  LocalMemory& local = local_[static_cast<std::size_t>(lane)];
  const Frame& frame = stacks_[static_cast<std::size_t>(lane)].back();
  if (top < frame.local + static_cast<std::uint64_t>(frame.code->local_bytes) || top > local.bytes.size())
    return false;
  local.bytes.resize(top);
  local.written.resize(top);
  return true;
}

void Warp::exit(LaneMask mask) {
  exited_ |= mask;
  cta_.live_threads -= count_lanes(mask);
  cluster().live_threads -= count_lanes(mask);
  cluster().changed();
  if (cta_.live_threads == 0) cluster().block_ended(cta_);
}

// Copies an argument into a parameter, or a result to the caller's place. Unwritten bytes stay unwritten.
void Warp::pass(int lane, const Frame& from, const CallOperand& source, const Frame& to,
                const CallOperand& target) {
  LocalMemory& local = local_[static_cast<std::size_t>(lane)];
  const auto size = static_cast<std::size_t>(std::min(source.bytes, target.bytes));
  const auto in_register = [&](const Frame& frame, const Value& value) {
    return lanes_of_frame(frame.registers, value.slot) + lane;
  };
  std::uint64_t bits = 0;
  if (source.local < 0)
    bits = source.value.slot < 0 ? source.value.constant : *in_register(from, source.value);
  if (source.local >= 0 && target.local >= 0) {
    const std::size_t first = from.local + static_cast<std::size_t>(source.local);
    const std::size_t second = to.local + static_cast<std::size_t>(target.local);
    std::memcpy(&local.bytes[second], &local.bytes[first], size);
    std::memcpy(&local.written[second], &local.written[first], size);
  } else if (target.local >= 0) {
    const std::size_t at = to.local + static_cast<std::size_t>(target.local);
    std::memcpy(&local.bytes[at], &bits, std::min<std::size_t>(size, 8));
    std::memset(&local.written[at], 1, size);
  } else if (target.value.slot >= 0) {
    if (source.local >= 0)
      std::memcpy(&bits, &local.bytes[from.local + static_cast<std::size_t>(source.local)],
                  std::min<std::size_t>(size, 8));
    *in_register(to, target.value) = bits;
  }
}

void Warp::call(LaneMask mask, const FunctionCode& callee, const CallSite& site) {
  const Frame& caller = stacks_[static_cast<std::size_t>(first_lane(mask))].back();
  Frame frame{&callee, frame_ + static_cast<std::size_t>(caller.code->slots), 0, pc_ + 1, &site};
  const auto slots = static_cast<std::size_t>(callee.slots);
  bool is_too_deep = false;
  if (frame.registers + slots <= most_slots) clear_registers(mask, frame.registers, slots);
  for_each_lane(mask, [&](int lane) {
    const auto column = static_cast<std::size_t>(lane);
    frame.local = (local_[column].bytes.size() + 15) / 16 * 16;
    if (stacks_[column].size() >= deepest_stack || frame.registers + slots > most_slots ||
        frame.local + static_cast<std::size_t>(callee.local_bytes) >
            static_cast<std::size_t>(largest_local)) {
      if (!is_too_deep) {
        report(FindingKind::out_of_bounds, lane, frame.local, [&] {
          return "the call of " + callee.function->name + " at a depth of " +
                 std::to_string(stacks_[column].size()) + " with " + std::to_string(frame.local) +
                 " bytes of local memory does not fit into a thread's stack of " +
                 std::to_string(largest_local) + " bytes and " + std::to_string(deepest_stack) +
                 " calls, and its warp's of " + std::to_string(most_slots) + " registers";
        });
      }
      is_too_deep = true;
      return;
    }
    const Frame from = stacks_[column].back();
    enter(lane, frame);
    for (std::size_t i = 0; i < site.arguments.size(); ++i)
      pass(lane, from, site.arguments[i], frame, callee.parameters[i]);
  });
  if (is_too_deep) {
    cluster().abort();
    return;
  }
  Group group;
  group.pc = callee.entry;
  group.frame = frame.registers;
  group.lanes = mask;
  moved_.push_back(group);
}

Flow Warp::ret(LaneMask mask) {
  if (stacks_[static_cast<std::size_t>(first_lane(mask))].size() == 1) {
    exit(mask);
    return Flow::exited;
  }
  for_each_lane(mask, [&](int lane) {
    const auto column = static_cast<std::size_t>(lane);
    const Frame frame = stacks_[column].back();
    stacks_[column].pop_back();
    const Frame& caller = stacks_[column].back();
    for (std::size_t i = 0; i < frame.site->results.size(); ++i)
      pass(lane, frame, frame.code->results[i], caller, frame.site->results[i]);
    LocalMemory& local = local_[column];
    local.bytes.resize(frame.local);
    local.written.resize(frame.local);
    Group group;
    group.pc = frame.back;
    group.frame = caller.registers;
    group.lanes = lane_bit(lane);
    moved_.push_back(group);
  });
  return Flow::branched;
}

}  // namespace tenon::emulator
