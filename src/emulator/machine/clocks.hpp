// Vector clocks: the exact happened-before relation of a cluster's threads and asynchronous agents.
//
// A component is something that acts in program order: thread t is component t, its cp.async operations
// together are component threads+t, and further agents (an mbarrier's bulk copies, a thread's bulk groups, a
// warpgroup's wgmma groups) get components when they first act. A component counts epochs. An access is
// recorded as (component, epoch). It happened before an observer if the observer's clock holds that component
// at that epoch or a later one.
//
// A thread's clock is a shared snapshot (its state at the last synchronisation) and its own epoch, so that a
// barrier costs one new snapshot for all threads. A clock also records what the async proxy may rely on: what
// had been seen at the last fence.proxy.async (`fenced`). And it records initialised mbarriers (`inits`):
// fence.mbarrier_init makes them visible across a relaxed barrier, which makes nothing else visible.
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

// What a thread has seen, or what was visible to the agent that it started. `seen` covers all components but
// the thread's own two.
struct View {
  ThreadId thread = 0;
  Epoch now = 1;     // own epoch, which its accesses are recorded with
  Epoch copies = 0;  // own cp.async epochs that are known to be complete
  Snapshot seen;
  Epoch fenced_now = 0, fenced_copies = 0;  // the same, for the async proxy
  Snapshot fenced;
  Snapshot inits;  // the thread's own included, up to its last fence.mbarrier_init
};

// An asynchronous operation's identity: accesses carry (component, epoch) and are checked from `view`.
struct Agent {
  Issue issue;  // the instruction that started it
  View view;
  Component component = 0;
  Epoch epoch = 0;
  bool async_proxy = false;  // bulk copies and wgmma: true; cp.async: false
};

class Clocks {
 public:
  // If not enabled (findings are off), only component numbers are kept.
  Clocks(ThreadId threads, bool enabled);
  bool enabled() const { return enabled_; }

  const View& view(ThreadId thread) const { return views_[thread]; }
  // Is the component a thread, rather than an asynchronous agent?
  bool is_thread(Component component) const { return component < threads_; }
  bool covers(const View& view, Component component, Epoch epoch) const {
    if (component == view.thread) return epoch <= view.now;
    if (component >= threads_ && component - threads_ == view.thread && epoch <= view.copies) return true;
    return view.seen && component < view.seen->size() && epoch <= (*view.seen)[component];
  }
  // The components component + lane, all at this epoch, that did not happen before the observer.
  LaneMask unknown(const View& view, Component component, LaneMask lanes, Epoch epoch) const {
    LaneMask result = 0;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<Component>(__builtin_ctz(left));
      if (!covers(view, component + lane, epoch)) result |= LaneMask{1} << lane;
    }
    return result;
  }
  bool fenced(const View& view, Component component, Epoch epoch) const;  // may the async proxy rely on it?
  // Whether fence.mbarrier_init made an mbarrier.init of that component and epoch visible.
  bool covers_init(const View& view, Component component, Epoch epoch) const;

  // Release: the object's clock takes over the thread's clock. Later actions of the thread are not part of
  // it.
  void release(ThreadId thread, SyncClock& object);
  // A relaxed arrival: the object takes over the thread's clock at its last fence, and the initialised
  // mbarriers.
  void release_relaxed(ThreadId thread, SyncClock& object);
  // The same for several threads, which costs little more than for one.
  void release(const ThreadId* threads, std::size_t count, SyncClock& object);
  // Acquire: the thread's clock takes over the object's.
  void acquire(ThreadId thread, const SyncClock& object);
  void acquire(const ThreadId* threads, std::size_t count, const SyncClock& object);
  static void join(SyncClock& object, const SyncClock& other);
  // Every thread acquires the clocks of all threads and `arrived`: bar.sync, bar.warp.sync, barrier.cluster.
  void barrier(const ThreadId* threads, std::size_t count, const SyncClock& arrived = {});
  // fence.proxy.async: the async proxy may rely on what the thread's clock holds now.
  void fence_proxy(ThreadId thread);
  // fence.mbarrier_init: the next release, relaxed or not, makes the thread's initialised mbarriers visible.
  void fence_inits(ThreadId thread);

  // A new component for an agent, such as 'the bulk copies of this mbarrier'. The caller counts its epochs
  // (phases, groups) from 1. A wait acquires an epoch.
  Component new_component() { return components_++; }
  Component copies_of(ThreadId thread) const { return threads_ + thread; }  // its cp.async groups

  // An agent that starts now for one thread or several (a warpgroup), with their clocks. Later actions of the
  // threads are unordered with it until they wait for it.
  Agent start(Issue issue, Component component, Epoch epoch, bool async_proxy);
  static Agent start(Issue issue, const SyncClock& known, Component component, Epoch epoch, bool async_proxy);
  // The component's epochs up to this one are complete for the thread, or for the object.
  void complete(ThreadId thread, Component component, Epoch epoch);
  void complete(SyncClock& object, Component component, Epoch epoch);

  // fence (membar, fence.acq_rel, fence.sc) combined with relaxed accesses: a strong write after a fence
  // releases the clock at the fence; a fence acquires the clocks of the strong reads before it.
  void fence(ThreadId thread);
  const SyncClock& at_last_fence(ThreadId thread) const { return fences_[thread].released; }
  void observe(ThreadId thread, const SyncClock& object);  // by a relaxed read

 private:
  struct Fence {
    SyncClock released, observed;
  };

  ThreadId threads_;
  bool enabled_;
  Component components_;
  std::vector<View> views_;
  std::vector<Fence> fences_;
};

}  // namespace tenon::emulator
