// A warp: 32 lanes with registers, program counters and call stacks of their own. Handlers work on it.
//
// A handler is called for the lanes of `active`, which share the instruction and the frame. It reads and
// writes registers with read/write (one lane) or lanes/gather (all), accesses memory by load/store or through
// cluster(), reports with report, and returns a Flow:
//  - next: the machine moves the lanes on.
//  - blocked: the machine calls again for these lanes, perhaps with more of them, after a call of
//    Cluster::changed or when lanes have joined them. What must be done only once (the arrival at a barrier)
//    is kept in wait_token.
//  - branched: the handler has called jump for every active lane. exited: it has called exit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/machine/cta.hpp"
#include "emulator/machine/op.hpp"
#include "emulator/machine/program.hpp"

namespace tenon::emulator {

constexpr LaneMask all_lanes = ~LaneMask{0};
constexpr LaneMask lane_bit(int lane) {
  return LaneMask{1} << lane;
}
inline int count_lanes(LaneMask mask) {
  return __builtin_popcount(mask);
}
inline int first_lane(LaneMask mask) {
  return __builtin_ctz(mask);
}

template <class Function>
void for_each_lane(LaneMask mask, Function&& function) {
  if (mask == all_lanes) {
    for (int lane = 0; lane < warp_size; ++lane) function(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) function(first_lane(mask));
}

class Warp {
 public:
  Warp(Cta& cta, int index);  // index: %warpid

  // --- identity
  Cta& cta() const { return cta_; }
  Cluster& cluster() const { return cta_.cluster; }
  const Launch& launch() const { return cta_.cluster.launch; }
  int index() const { return index_; }
  int warpgroup() const { return index_ / 4; }
  ThreadId thread(int lane) const { return first_thread_ + static_cast<ThreadId>(lane); }
  LaneMask present() const { return present_; }          // lanes that exist: the last warp may be partial
  LaneMask live() const { return present_ & ~exited_; }  // and have not exited
  SideStates side;  // the family's state of this warp (cp.async groups of its lanes, ...)

  // --- registers: 64 bits a lane, see op.hpp
  // The 32 lanes of a slot of the current frame.
  std::uint64_t* lanes(int slot) {
    return registers_.data() + (frame_ + static_cast<std::size_t>(slot)) * warp_size;
  }
  std::uint64_t read(const Value& value, int lane) {
    return value.slot < 0 ? value.constant : lanes(value.slot)[lane];
  }
  void write(const Value& value, int lane, std::uint64_t bits) {
    if (value.slot >= 0) lanes(value.slot)[lane] = bits;
  }
  // All 32 lanes of a value: in place, or a constant broadcast into `buffer`. A sink reads as zeros.
  using LaneBuffer = std::uint64_t[warp_size];
  const std::uint64_t* gather(const Value& value, LaneBuffer& buffer) {
    if (value.slot >= 0) return lanes(value.slot);
    for (std::uint64_t& lane : buffer) lane = value.constant;
    return buffer;
  }
  // Where to write the 32 lanes of a result: in place, or `buffer` for a sink.
  std::uint64_t* scatter(const Value& value, LaneBuffer& buffer) {
    return value.slot >= 0 ? lanes(value.slot) : buffer;
  }

  // --- the instruction that is running
  Pc pc() const { return pc_; }
  Issue issue(int lane) const { return {pc_, thread(lane)}; }
  Actor actor(int lane) const {
    const ThreadId id = thread(lane);
    const View& view = cluster().clocks.view(id);
    return {{pc_, id}, &view, id, view.now, false};
  }
  Counts& counts() { return cluster().counters.at(pc_); }
  PcCounters& counters() { return cluster().counters; }
  template <class Sentence>
  void report(FindingKind kind, int lane, std::uint64_t address, Sentence&& sentence) {
    cluster().report(kind, issue(lane), address, sentence);
  }
  // This lane has read something that other threads change, and will likely read it again (a failed try_wait,
  // a volatile or acquire load, nanosleep). Lets other warps run, and makes endless polling a deadlock.
  void poll() { polled_ = true; }

  // --- memory as one lane accesses it; see Cluster::load, store, atomic
  bool load(int lane, ptx::Space space, std::uint64_t address, void* to, std::uint32_t size,
            Order order = Order::weak) {
    return cluster().load(actor(lane), space, address, to, size, order);
  }
  bool store(int lane, ptx::Space space, std::uint64_t address, const void* from, std::uint32_t size,
             Order order = Order::weak) {
    return cluster().store(actor(lane), space, address, from, size, order);
  }
  // base + offset of an op's address operand.
  std::uint64_t address(const Value& base, const Op& op, int lane) {
    return read(base, lane) + static_cast<std::uint64_t>(op.offset);
  }

  // --- the local memory of one lane as a stack, on top of the frames of its functions
  std::uint64_t local_top(int lane) const { return local_[static_cast<std::size_t>(lane)].bytes.size(); }
  // The address of `size` unwritten bytes; nothing if the stack has no room for them.
  std::optional<std::uint64_t> push_local(int lane, std::uint64_t size, std::uint64_t alignment);
  // Frees all bytes from `top` on. False: they are not of the current function.
  bool pop_local(int lane, std::uint64_t top);

  // --- clocks
  void acquire(int lane, const SyncClock& object) { cluster().clocks.acquire(thread(lane), object); }
  void release(int lane, SyncClock& object) { cluster().clocks.release(thread(lane), object); }
  Agent start(int lane, Component component, Epoch epoch, bool async_proxy) {
    return cluster().clocks.start(issue(lane), component, epoch, async_proxy);
  }

  // --- waiting: 0 when a lane comes to an instruction; kept while it is blocked there.
  std::uint64_t& wait_token(int lane) {
    tokens_used_ = true;
    return wait_tokens_[static_cast<std::size_t>(lane)];
  }

  // --- registers that an asynchronous operation owns (wgmma accumulators and A fragments in flight).
  // The machine reports an access by any other instruction as async_use. Ownership is counted.
  void own(const Value& value);
  void disown(const Value& value, std::size_t frame);
  bool is_owned(const Value& value) const {
    return owned_ != 0 && value.slot >= 0 && owners_[frame_ + static_cast<std::size_t>(value.slot)] != 0;
  }
  // Registers of the frame that an instruction other than wgmma has used since the last forget_used. The
  // machine records this for registers that a wgmma of the function names too.
  bool is_used(const Value& value) const {
    return value.slot >= 0 && used_[frame_ + static_cast<std::size_t>(value.slot)];
  }
  void forget_used() { used_.assign(used_.size(), false); }
  std::size_t frame() const { return frame_; }  // to return to registers of this frame later:
  std::uint64_t* lanes_of_frame(std::size_t frame, int slot) {
    return registers_.data() + (frame + static_cast<std::size_t>(slot)) * warp_size;
  }

  // --- control, for instructions/control.cpp
  void jump(LaneMask lanes, Pc pc);
  void exit(LaneMask lanes);
  void call(LaneMask lanes, const FunctionCode& callee, const CallSite& site);  // comes back to pc() + 1
  Flow ret(LaneMask lanes);                                                     // of the entry: exit

 private:
  friend class Executor;
  friend class Cluster;
  // Lanes with the same program counter, in frames with the same base.
  struct Group {
    Pc pc = 0;
    std::size_t frame = 0;
    LaneMask lanes = 0;
    bool is_blocked = false, is_forced = false;  // forced: runs an .aligned operation without the other lanes
    std::uint64_t blocked_at = 0;                // Cluster::changes when it was blocked
    std::uint64_t last_run = 0;
  };
  struct Frame {
    const FunctionCode* code = nullptr;
    std::size_t registers = 0;  // base of its slots
    std::size_t local = 0;      // base of its local bytes
    Pc back = 0;                // the caller's program counter to return to
    const CallSite* site = nullptr;
  };
  void clear_registers(LaneMask lanes, std::size_t base, std::size_t slots);
  void enter(int lane, const Frame& frame);
  void pass(int lane, const Frame& from, const CallOperand& source, const Frame& to,
            const CallOperand& target);
  std::uint64_t special(const FrameSlot& slot, int lane, std::size_t local) const;
  void refresh_timers(const FunctionCode& code, LaneMask lanes);

  Cta& cta_;
  int index_;
  ThreadId first_thread_;
  LaneMask present_ = 0, exited_ = 0;
  std::vector<std::uint64_t> registers_;  // [slot][lane], frames stacked
  std::size_t frame_ = 0;                 // of the group that is running
  Pc pc_ = 0;
  bool polled_ = false;
  std::vector<Group> groups_;
  std::vector<Group> moved_;  // where jump, call and ret have moved lanes
  std::array<std::vector<Frame>, warp_size> stacks_;
  std::array<LocalMemory, warp_size> local_;
  std::array<std::uint64_t, warp_size> wait_tokens_{};
  bool tokens_used_ = false;
  std::vector<std::uint16_t> owners_;  // by absolute slot
  std::vector<bool> used_;             // by absolute slot
  std::uint32_t owned_ = 0;
  Pc last_owner_ = no_pc;  // the last instruction that took registers
};

}  // namespace tenon::emulator
