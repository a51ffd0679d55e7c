// Asynchronous operations between their issue and their effect.
//
// An operation takes effect once, at a moment that the schedule chooses. early: inside enqueue. random: at
// any moment after that. late: when a wait finishes it, or when nothing else in the cluster can run (so a
// bulk copy lands that only an mbarrier waits for). Operations of one stream take effect in the order of
// their issue. Operations of different streams, and of stream 0, take effect in any order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>

#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

class Cluster;

class AsyncOperation {
 public:
  virtual ~AsyncOperation() = default;
  // Reads and writes with the operation's Agent as the actor, and signals the completion (complete_tx on an
  // mbarrier, ...). The wait itself joins the clocks (Clocks::complete).
  virtual void perform(Cluster& cluster) = 0;
};

class AsyncQueue {
 public:
  using Ticket = std::uint64_t;  // from 1, in the order of issue
  using Stream = std::uint64_t;  // 0: a stream of its own

  AsyncQueue(Cluster& cluster, Schedule schedule, std::uint64_t seed);

  Stream new_stream() { return ++streams_; }
  Ticket enqueue(std::unique_ptr<AsyncOperation> operation, Stream stream = 0);
  bool is_done(Ticket ticket) const;
  // Performs it now if it is still pending, after the operations before it in its stream.
  void finish(Ticket ticket);
  bool is_empty() const { return pending_.empty(); }

  // For the executor.
  bool perform_oldest();  // false: none is pending
  void perform_some();    // random: sometimes performs one or more; other schedules: nothing

 private:
  struct Pending {
    Ticket ticket;
    Stream stream;
    std::unique_ptr<AsyncOperation> operation;
  };
  void perform(std::size_t index);

  Cluster& cluster_;
  Schedule schedule_;
  std::mt19937_64 random_;
  std::deque<Pending> pending_;  // by ticket
  Ticket last_ = 0;
  Stream streams_ = 0;
};

}  // namespace tenon::emulator
