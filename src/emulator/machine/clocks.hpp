// Who knows of what: vector clocks, the exact happened-before of a cluster's threads and asynchronous agents.
//
// A component is something that acts in an order of its own: each thread t has component t, its cp.async
// operations together component threads+t, and further agents (an mbarrier's bulk copies, a thread's bulk
// groups, a warpgroup's wgmma groups) get components when they first act. A component counts epochs. An
// access carries (component, epoch); an observer knows of it if its clock holds that component at that epoch
// or later.
//
// A thread's clock is a snapshot shared with others (what it learnt at its last synchronisation) and its own
// epoch, so a barrier costs one new snapshot for all. Beside what it has seen, a clock knows what the async
// proxy may rely on: what had been seen at the last fence.proxy.async (`fenced`). And it knows of mbarriers
// that were initialised (`inits`), which fence.mbarrier_init hands over across a barrier that hands over
// nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/findings.hpp"

namespace tenon::emulator {

using Component = std::uint32_t;
using Epoch = std::uint32_t;
using Snapshot = std::shared_ptr<const std::vector<Epoch>>;  // null: zeros; missing components are zeros

// The clock of a synchronisation object: barrier, mbarrier phase, flag in memory.
struct SyncClock {
  Snapshot seen, fenced, inits;
};

// What a thread has seen, or what the agent that it started could see: `seen` for all but the thread's own
// two components.
struct View {
  ThreadId thread = 0;
  Epoch now = 1;     // own epoch; accesses made now carry it
  Epoch copies = 0;  // own cp.async epochs that are known to be complete
  Snapshot seen;
  Epoch fenced_now = 0, fenced_copies = 0;  // the same, for the async proxy
  Snapshot fenced;
  Snapshot inits;  // the thread's own too: those before its last fence.mbarrier_init
};

// An asynchronous operation's identity: accesses carry (component, epoch) and are checked from `view`.
struct Agent {
  Issue issue;  // whose instruction started it
  View view;
  Component component = 0;
  Epoch epoch = 0;
  bool async_proxy = false;  // bulk copies and wgmma: true; cp.async: false
};

class Clocks {
 public:
  // Does nothing but keep component numbers if not enabled: findings are off.
  Clocks(ThreadId threads, bool enabled);
  bool enabled() const { return enabled_; }

  const View& view(ThreadId thread) const { return views_[thread]; }
  // Is the component a thread, rather than an asynchronous agent?
  bool is_thread(Component component) const { return component < threads_; }
  bool knows(const View& view, Component component, Epoch epoch) const {
    if (component == view.thread) return epoch <= view.now;
    if (component >= threads_ && component - threads_ == view.thread && epoch <= view.copies) return true;
    return view.seen && component < view.seen->size() && epoch <= (*view.seen)[component];
  }
  // Which of the components component + lane, all at this epoch, the observer does not know of.
  LaneMask unknown(const View& view, Component component, LaneMask lanes, Epoch epoch) const {
    LaneMask result = 0;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<Component>(__builtin_ctz(left));
      if (!knows(view, component + lane, epoch)) result |= LaneMask{1} << lane;
    }
    return result;
  }
  bool fenced(const View& view, Component component, Epoch epoch) const;  // may the async proxy rely on it?
  // Whether fence.mbarrier_init handed over an mbarrier.init of that component and epoch.
  bool knows_init(const View& view, Component component, Epoch epoch) const;

  // The object learns what the thread knows and did; what the thread does later is not part of it.
  void release(ThreadId thread, SyncClock& object);
  // A relaxed arrival: the object learns what the thread knew at its last fence, and the mbarriers that it
  // knows of.
  void release_relaxed(ThreadId thread, SyncClock& object);
  // The same of several threads, which costs hardly more than of one.
  void release(const ThreadId* threads, std::size_t count, SyncClock& object);
  // The thread learns what the object knows.
  void acquire(ThreadId thread, const SyncClock& object);
  void acquire(const ThreadId* threads, std::size_t count, const SyncClock& object);
  static void join(SyncClock& object, const SyncClock& other);
  // All learn of all, and of those who left their clock in `arrived`: bar.sync, bar.warp.sync,
  // barrier.cluster.
  void barrier(const ThreadId* threads, std::size_t count, const SyncClock& arrived = {});
  // fence.proxy.async: what the thread knows by now, the async proxy may rely on.
  void fence_proxy(ThreadId thread);
  // fence.mbarrier_init: the mbarriers that the thread initialised are handed over by whatever comes next.
  void fence_inits(ThreadId thread);

  // A new component for an agent: "the bulk copies of this mbarrier". Its epochs are the caller's to count,
  // from 1 (a phase, a group); an epoch is learnt by those who wait for it.
  Component new_component() { return components_++; }
  Component copies_of(ThreadId thread) const { return threads_ + thread; }  // its cp.async groups

  // An agent that starts now, on behalf of one thread or of several (a warpgroup): it knows what they know.
  // What the threads do later is not ordered with it, until they wait.
  Agent start(Issue issue, Component component, Epoch epoch, bool async_proxy);
  static Agent start(Issue issue, const SyncClock& known, Component component, Epoch epoch, bool async_proxy);
  // The thread, or the object, learns that a component's epochs up to this one are complete.
  void complete(ThreadId thread, Component component, Epoch epoch);
  void complete(SyncClock& object, Component component, Epoch epoch);

  // fence (membar, fence.acq_rel, fence.sc) with relaxed accesses around it: a strong write after a fence
  // releases what was known at the fence; a fence acquires what strong reads before it have met.
  void fence(ThreadId thread);
  const SyncClock& at_last_fence(ThreadId thread) const { return fences_[thread].released; }
  void met(ThreadId thread, const SyncClock& object);  // by a relaxed read

 private:
  Snapshot everything(const View& view) const;  // with the thread's own components
  Snapshot everything_fenced(const View& view) const;

  struct Fence {
    SyncClock released, met;
  };

  ThreadId threads_;
  bool enabled_;
  Component components_;
  std::vector<View> views_;
  std::vector<Fence> fences_;
};

}  // namespace tenon::emulator
