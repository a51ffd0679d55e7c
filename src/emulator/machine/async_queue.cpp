#include "emulator/machine/async_queue.hpp"

#include <algorithm>

#include "emulator/machine/cta.hpp"

namespace tenon::emulator {

AsyncQueue::AsyncQueue(Cluster& cluster, Schedule schedule, std::uint64_t seed)
    : cluster_(cluster), schedule_(schedule), random_(seed) {}

AsyncQueue::Ticket AsyncQueue::enqueue(std::unique_ptr<AsyncOperation> operation, Stream stream) {
  pending_.push_back({++last_, stream, std::move(operation)});
  const Ticket ticket = last_;
  if (schedule_ == Schedule::early) finish(ticket);
  return ticket;
}

bool AsyncQueue::is_done(Ticket ticket) const {
  const auto at =
      std::lower_bound(pending_.begin(), pending_.end(), ticket,
                       [](const Pending& pending, Ticket value) { return pending.ticket < value; });
  return at == pending_.end() || at->ticket != ticket;
}

// Performing may enqueue or finish other operations, so no reference into pending_ is held across it.
void AsyncQueue::perform(std::size_t index) {
  const std::unique_ptr<AsyncOperation> operation = std::move(pending_[index].operation);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  operation->perform(cluster_);
  cluster_.changed();
}

void AsyncQueue::finish(Ticket ticket) {
  while (!is_done(ticket)) {
    const auto wanted =
        std::lower_bound(pending_.begin(), pending_.end(), ticket,
                         [](const Pending& pending, Ticket value) { return pending.ticket < value; });
    auto first = wanted;
    if (wanted->stream != 0)
      first = std::find_if(pending_.begin(), wanted,
                           [&](const Pending& pending) { return pending.stream == wanted->stream; });
    perform(static_cast<std::size_t>(first - pending_.begin()));
  }
}

bool AsyncQueue::perform_oldest() {
  if (pending_.empty()) return false;
  perform(0);
  return true;
}

void AsyncQueue::perform_some() {
  if (schedule_ != Schedule::random) return;
  while (!pending_.empty() && random_() % 2 == 0) {
    const Ticket ticket = pending_[random_() % pending_.size()].ticket;
    finish(ticket);
  }
}

}  // namespace tenon::emulator
