#include "emulator/machine/clocks.hpp"

#include <algorithm>

namespace tenon::emulator {
namespace {

using Epochs = std::vector<Epoch>;

Epoch at(const Snapshot& snapshot, Component component) {
  return snapshot && component < snapshot->size() ? (*snapshot)[component] : 0;
}

void raise(Epochs& epochs, const Epochs& other) {
  if (epochs.size() < other.size()) epochs.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) epochs[i] = std::max(epochs[i], other[i]);
}

void raise(Epochs& epochs, Component component, Epoch epoch) {
  if (epoch == 0) return;
  if (epochs.size() <= component) epochs.resize(component + std::size_t{1});
  epochs[component] = std::max(epochs[component], epoch);
}

bool covers(const Epochs& epochs, const Epochs& other) {
  for (std::size_t i = 0; i < other.size(); ++i)
    if (other[i] > (i < epochs.size() ? epochs[i] : 0)) return false;
  return true;
}

// The join of both snapshots. One of the two where it is the join, so that equal snapshots stay shared.
Snapshot joined(const Snapshot& a, const Snapshot& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  if (covers(*b, *a)) return b;
  if (covers(*a, *b)) return a;
  auto sum = std::make_shared<Epochs>(*a);
  raise(*sum, *b);
  return sum;
}

Snapshot with(const Snapshot& snapshot, Component component, Epoch epoch) {
  if (at(snapshot, component) >= epoch) return snapshot;
  auto sum = snapshot ? std::make_shared<Epochs>(*snapshot) : std::make_shared<Epochs>();
  raise(*sum, component, epoch);
  return sum;
}

}  // namespace

Clocks::Clocks(ThreadId threads, bool enabled)
    : threads_(threads), enabled_(enabled), components_(2 * threads), views_(threads), fences_(threads) {
  for (ThreadId thread = 0; thread < threads; ++thread) views_[thread].thread = thread;
}

bool Clocks::fenced(const View& view, Component component, Epoch epoch) const {
  if (component == view.thread && epoch <= view.fenced_now) return true;
  if (component >= threads_ && component - threads_ == view.thread && epoch <= view.fenced_copies)
    return true;
  return epoch <= at(view.fenced, component);
}

Snapshot Clocks::everything(const View& view) const {
  auto sum = view.seen ? std::make_shared<Epochs>(*view.seen) : std::make_shared<Epochs>(threads_);
  raise(*sum, view.thread, view.now);
  raise(*sum, threads_ + view.thread, view.copies);
  return sum;
}

Snapshot Clocks::everything_fenced(const View& view) const {
  if (view.fenced_now == 0) return view.fenced;
  return with(with(view.fenced, view.thread, view.fenced_now), threads_ + view.thread, view.fenced_copies);
}

bool Clocks::covers_init(const View& view, Component component, Epoch epoch) const {
  return epoch <= at(view.inits, component);
}

void Clocks::release(ThreadId thread, SyncClock& object) {
  if (!enabled_) return;
  View& view = views_[thread];
  object.seen = joined(object.seen, everything(view));
  object.fenced = joined(object.fenced, everything_fenced(view));
  object.inits = joined(object.inits, view.inits);
  ++view.now;
}

void Clocks::release(const ThreadId* threads, std::size_t count, SyncClock& object) {
  if (!enabled_ || count == 0) return;
  auto seen = object.seen ? std::make_shared<Epochs>(*object.seen) : std::make_shared<Epochs>(threads_);
  Snapshot last;
  for (std::size_t i = 0; i < count; ++i) {
    View& view = views_[threads[i]];
    if (view.seen && view.seen != last) raise(*seen, *view.seen);
    last = view.seen;
    raise(*seen, view.thread, view.now);
    raise(*seen, threads_ + view.thread, view.copies);
    object.fenced = joined(object.fenced, everything_fenced(view));
    object.inits = joined(object.inits, view.inits);
    ++view.now;
  }
  object.seen = std::move(seen);
}

void Clocks::release_relaxed(ThreadId thread, SyncClock& object) {
  if (!enabled_) return;
  join(object, fences_[thread].released);
  object.inits = joined(object.inits, views_[thread].inits);
}

void Clocks::acquire(ThreadId thread, const SyncClock& object) {
  if (!enabled_) return;
  View& view = views_[thread];
  view.seen = joined(view.seen, object.seen);
  view.fenced = joined(view.fenced, object.fenced);
  view.inits = joined(view.inits, object.inits);
}

void Clocks::acquire(const ThreadId* threads, std::size_t count, const SyncClock& object) {
  if (!enabled_) return;
  SyncClock before, after;  // the thread before usually had the same clock
  for (std::size_t i = 0; i < count; ++i) {
    View& view = views_[threads[i]];
    const SyncClock own{view.seen, view.fenced, view.inits};
    if (i == 0 || own.seen != before.seen) after.seen = joined(own.seen, object.seen);
    if (i == 0 || own.fenced != before.fenced) after.fenced = joined(own.fenced, object.fenced);
    if (i == 0 || own.inits != before.inits) after.inits = joined(own.inits, object.inits);
    view.seen = after.seen;
    view.fenced = after.fenced;
    view.inits = after.inits;
    before = own;
  }
}

void Clocks::join(SyncClock& object, const SyncClock& other) {
  object.seen = joined(object.seen, other.seen);
  object.fenced = joined(object.fenced, other.fenced);
  object.inits = joined(object.inits, other.inits);
}

void Clocks::barrier(const ThreadId* threads, std::size_t count, const SyncClock& arrived) {
  if (!enabled_ || count == 0) return;
  SyncClock sum = arrived;
  release(threads, count, sum);
  for (std::size_t i = 0; i < count; ++i) {
    View& view = views_[threads[i]];
    view.seen = sum.seen;
    view.fenced = sum.fenced;
    view.inits = sum.inits;
  }
}

void Clocks::fence_proxy(ThreadId thread) {
  if (!enabled_) return;
  View& view = views_[thread];
  view.fenced = joined(view.fenced, view.seen);
  view.fenced_now = view.now++;
  view.fenced_copies = view.copies;
}

void Clocks::fence_inits(ThreadId thread) {
  if (!enabled_) return;
  View& view = views_[thread];
  view.inits = with(view.inits, thread, view.now++);
}

Agent Clocks::start(Issue issue, Component component, Epoch epoch, bool async_proxy) {
  Agent agent{issue, {}, component, epoch, async_proxy};
  if (!enabled_) return agent;
  View& view = views_[issue.thread];
  agent.view = view;
  ++view.now;
  return agent;
}

Agent Clocks::start(Issue issue, const SyncClock& known, Component component, Epoch epoch, bool async_proxy) {
  Agent agent{issue, {}, component, epoch, async_proxy};
  agent.view.thread = ~ThreadId{0};  // of no single thread: the snapshots hold everything
  agent.view.seen = known.seen;
  agent.view.fenced = known.fenced;
  return agent;
}

void Clocks::complete(ThreadId thread, Component component, Epoch epoch) {
  if (!enabled_) return;
  View& view = views_[thread];
  if (component == copies_of(thread))
    view.copies = std::max(view.copies, epoch);
  else
    view.seen = with(view.seen, component, epoch);
}

void Clocks::complete(SyncClock& object, Component component, Epoch epoch) {
  if (enabled_) object.seen = with(object.seen, component, epoch);
}

void Clocks::fence(ThreadId thread) {
  if (!enabled_) return;
  Fence& fence = fences_[thread];
  acquire(thread, fence.observed);
  fence.observed = {};
  fence.released = {};
  release(thread, fence.released);
}

void Clocks::observe(ThreadId thread, const SyncClock& object) {
  if (enabled_) join(fences_[thread].observed, object);
}

}  // namespace tenon::emulator
