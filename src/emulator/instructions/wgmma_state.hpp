// A CTA's state for wgmma and setmaxnreg: the instructions in flight of each warpgroup, the registers that
// they own, and the pool of registers.
//
// A wgmma is one operation of four warps. Each warp issues its part at its own time; the fourth starts the
// operation. Its clock component belongs to the warpgroup, and its epoch is its number (from 1). So a wait
// for a group acquires all instructions up to the group's last.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "emulator/instructions/wgmma_product.hpp"
#include "emulator/machine/async_queue.hpp"

namespace tenon::emulator {

constexpr int group_warps = WgmmaOperands::warps;

struct WgmmaDetail : Detail {
  WgmmaForm form;
  int d = -1, a = -1, b = -1;  // op.values: first registers, or descriptors
  int metadata = -1, scale_d = -1;
  bool scale_d_negated = false;
};

// One instruction of a warpgroup.
struct WgmmaCall {
  const Op* op = nullptr;
  Pc pc = 0;
  Cta* cta = nullptr;
  Warp* warps[WgmmaOperands::warps] = {};
  std::size_t frames[WgmmaOperands::warps] = {};
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  std::uint64_t metadata[WgmmaOperands::warps][warp_size] = {};
  bool accumulate = true;
  int arrived = 0, waited = 0;  // warps
  SyncClock known;              // the clocks of the warps, each at its issue
  Agent agent;
  AsyncQueue::Ticket ticket = 0;  // 0: not all warps have issued it

  const WgmmaDetail& detail() const { return static_cast<const WgmmaDetail&>(*op->detail); }
};

struct Warpgroup {
  Component component = 0;
  AsyncQueue::Stream stream = 0;
  std::uint64_t first = 0;  // number of calls.front(), from 0
  std::deque<std::shared_ptr<WgmmaCall>> calls;

  const std::shared_ptr<WgmmaCall>& call(std::uint64_t number) const { return calls[number - first]; }
};

struct CtaWgmma : SideState {
  std::vector<Warpgroup> groups;
  // setmaxnreg: by warp, and the CTA's registers that belong to no warp.
  struct Registers {
    std::uint32_t count = 0;    // of a thread
    bool is_bound = false;      // it may be fewer: nothing has set the number yet
    std::uint32_t changes = 0;  // by setmaxnreg; the last one is at `pc`
    Pc pc = no_pc;
  };
  std::vector<Registers> registers;
  std::uint64_t free_registers = 0;

  void block_ends(Cta& cta) override;
};

// The state of one warp.
struct WarpWgmma : SideState {
  std::uint64_t issued = 0, waited = 0;  // calls
  std::deque<std::uint64_t> groups;      // committed, not waited for: number of calls at the commit
  bool has_fence = false;
  // By absolute slot: the calls in flight that write it, and the form of the last of them.
  struct Writer {
    std::uint32_t calls = 0;
    const WgmmaForm* form = nullptr;
  };
  std::unordered_map<std::size_t, Writer> writers;
};

inline WarpWgmma& state_of(Warp& warp) {
  return warp.side.get<WarpWgmma>(Family::wgmma);
}
inline CtaWgmma& state_of(Cta& cta) {
  return cta.side.get<CtaWgmma>(Family::wgmma);
}

template <class Visit>
void for_each_wgmma_register(const WgmmaCall& call, Visit&& visit) {
  const WgmmaDetail& d = call.detail();
  const int end = d.form.a_in_registers ? d.b : d.a;
  for (int i = d.d; i < end; ++i) visit(call.op->values[static_cast<std::size_t>(i)], i < d.a);
}

// wgmma_registers.cpp
bool is_complete_warpgroup(Warp& warp);  // or a finding
void check_wgmma_registers(Warp& warp, const Op& op);
void take_wgmma_registers(Warp& warp, const WgmmaCall& call);
void give_wgmma_registers_back(Warp& warp, const WgmmaCall& call);
Flow run_wgmma_fence(Warp& warp, const Op& op, LaneMask active);
Flow run_setmaxnreg(Warp& warp, const Op& op, LaneMask active);  // bits[0]: the count; bits[1]: .inc
std::string awaited_registers(Warp& warp, const Op& op, int lane);

// wgmma.cpp
Flow run_wgmma(Warp& warp, const Op& op, LaneMask active);
Flow run_wgmma_commit(Warp& warp, const Op& op, LaneMask active);
Flow run_wgmma_wait(Warp& warp, const Op& op, LaneMask active);  // bits[0]: groups that may stay pending

}  // namespace tenon::emulator
