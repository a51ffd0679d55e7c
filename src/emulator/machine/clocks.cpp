#include "emulator/machine/clocks.hpp"

#include <algorithm>

namespace tenon::emulator {
namespace {

using Epochs = std::vector<Epoch>;

Epoch at(const Epochs* epochs, Component component) {
  return epochs != nullptr && component < epochs->size() ? (*epochs)[component] : 0;
}

// Clocks are long, and compared at every synchronisation: the loops have no exit, so that they become vector
// instructions.
void raise(Epochs& epochs, const Epochs& other) {
  if (epochs.size() < other.size()) epochs.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) epochs[i] = std::max(epochs[i], other[i]);
}

bool covers(const Epochs& epochs, const Epochs& other) {
  constexpr std::size_t piece = 64;
  const std::size_t common = std::min(epochs.size(), other.size());
  for (std::size_t begin = 0; begin < common; begin += piece) {
    const std::size_t end = std::min(begin + piece, common);
    int later = 0;
    for (std::size_t i = begin; i < end; ++i) later |= static_cast<int>(other[i] > epochs[i]);
    if (later != 0) return false;
  }
  for (std::size_t i = common; i < other.size(); ++i)
    if (other[i] != 0) return false;
  return true;
}

// A snapshot while it is added to: copied when it first changes, unless nobody else has it, and not again.
class Sum {
 public:
  explicit Sum(Snapshot&& start) : start_(std::move(start)) {}
  // The join with the other one, which is shared where it is the join.
  void raise(const Snapshot& other) {
    if (!other || other == last_ || other == start_) return;
    last_ = other;
    if (own_)
      tenon::emulator::raise(*own_, *other);
    else if (!start_ || covers(*other, *start_))
      start_ = other;
    else if (!covers(*start_, *other))
      tenon::emulator::raise(own(), *other);
  }
  void raise(Component component, Epoch epoch) {
    if (epoch <= at(own_ ? own_.get() : start_.get(), component)) return;
    Epochs& epochs = own();
    if (epochs.size() <= component) epochs.resize(component + std::size_t{1});
    epochs[component] = epoch;
  }
  Snapshot take() { return own_ ? std::move(own_) : std::move(start_); }

 private:
  Epochs& own() {
    if (!own_) {
      if (start_.use_count() == 1)
        own_ = std::const_pointer_cast<Epochs>(start_);  // every snapshot is made as one that may change
      else
        own_ = start_ ? std::make_shared<Epochs>(*start_) : std::make_shared<Epochs>();
      start_.reset();
    }
    return *own_;
  }

  Snapshot start_, last_;
  std::shared_ptr<Epochs> own_;
};

// The join of both snapshots. One of the two where it is the join, so that equal snapshots stay shared.
Snapshot joined(Snapshot a, const Snapshot& b) {
  Sum sum(std::move(a));
  sum.raise(b);
  return sum.take();
}

Snapshot with(Snapshot snapshot, Component component, Epoch epoch) {
  Sum sum(std::move(snapshot));
  sum.raise(component, epoch);
  return sum.take();
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
  return epoch <= at(view.fenced.get(), component);
}

bool Clocks::covers_init(const View& view, Component component, Epoch epoch) const {
  return epoch <= at(view.inits.get(), component);
}

void Clocks::release(ThreadId thread, SyncClock& object) {
  release(&thread, 1, object);
}

void Clocks::release(const ThreadId* threads, std::size_t count, SyncClock& object) {
  if (!enabled_ || count == 0) return;
  Sum seen(std::move(object.seen)), fenced(std::move(object.fenced)), inits(std::move(object.inits));
  for (std::size_t i = 0; i < count; ++i) {
    View& view = views_[threads[i]];
    seen.raise(view.seen);
    seen.raise(view.thread, view.now);
    seen.raise(threads_ + view.thread, view.copies);
    fenced.raise(view.fenced);
    fenced.raise(view.thread, view.fenced_now);
    fenced.raise(threads_ + view.thread, view.fenced_copies);
    inits.raise(view.inits);
    ++view.now;
  }
  object = {seen.take(), fenced.take(), inits.take()};
}

void Clocks::release_relaxed(ThreadId thread, SyncClock& object) {
  if (!enabled_) return;
  join(object, fences_[thread].released);
  object.inits = joined(std::move(object.inits), views_[thread].inits);
}

void Clocks::acquire(ThreadId thread, const SyncClock& object) {
  if (!enabled_) return;
  View& view = views_[thread];
  view.seen = joined(std::move(view.seen), object.seen);
  view.fenced = joined(std::move(view.fenced), object.fenced);
  view.inits = joined(std::move(view.inits), object.inits);
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
  object.seen = joined(std::move(object.seen), other.seen);
  object.fenced = joined(std::move(object.fenced), other.fenced);
  object.inits = joined(std::move(object.inits), other.inits);
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
  view.fenced = joined(std::move(view.fenced), view.seen);
  view.fenced_now = view.now++;
  view.fenced_copies = view.copies;
}

void Clocks::fence_inits(ThreadId thread) {
  if (!enabled_) return;
  View& view = views_[thread];
  view.inits = with(std::move(view.inits), thread, view.now++);
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
    view.seen = with(std::move(view.seen), component, epoch);
}

void Clocks::complete(SyncClock& object, Component component, Epoch epoch) {
  if (enabled_) object.seen = with(std::move(object.seen), component, epoch);
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
