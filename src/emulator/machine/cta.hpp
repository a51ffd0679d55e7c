// A CTA and a cluster of CTAs: the state that their threads share, and checked access to memory. A launch
// without clusters runs clusters of one CTA. All CTAs of a cluster run interleaved on one host thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/machine/async_queue.hpp"
#include "emulator/machine/clocks.hpp"
#include "emulator/machine/counters.hpp"
#include "emulator/machine/findings.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/memory.hpp"
#include "emulator/machine/printed.hpp"

namespace tenon::emulator {

class Warp;
class Cta;

// State that an instruction family keeps per warp, CTA, cluster or word of shared memory. A family derives
// its own type from this one, and casts it back.
struct SideState {
  virtual ~SideState() = default;
  // Called when the block's last thread has ended and findings are on: reports operations that were not
  // completed.
  virtual void block_ends(Cta&) {}
};
enum class Family : std::uint8_t { copies, bulk_copies, wgmma, cluster_barrier, cta_barriers, warp_barrier };
constexpr int families = 6;
class SideStates {
 public:
  // The family's state, constructed on first use.
  template <class State>
  State& get(Family family) {
    auto& state = states_[static_cast<int>(family)];
    if (!state) state = std::make_unique<State>();
    return static_cast<State&>(*state);
  }
  void block_ends(Cta& cta) {
    for (const auto& state : states_)
      if (state) state->block_ends(cta);
  }

 private:
  std::unique_ptr<SideState> states_[families];
};

class Cta {
 public:
  Cta(Cluster& cluster, std::uint32_t rank, Dim3 index);
  ~Cta();
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  Cluster& cluster;
  const std::uint32_t rank;  // in the cluster
  const Dim3 index;          // %ctaid
  SharedMemory shared;
  std::vector<std::unique_ptr<Warp>> warps;
  SideStates side;
  int live_threads = 0;
  bool has_remote_accesses = false;  // threads of other blocks have accessed its shared memory

  // Lives as long as the CTA, keyed by offset in its shared memory: for an mbarrier, the clock that belongs
  // to its 64 opaque bits.
  std::unordered_map<std::uint32_t, std::unique_ptr<SideState>> state_by_offset;
  template <class State>
  State& state_at(std::uint32_t offset) {
    auto& state = state_by_offset[offset];
    if (!state) state = std::make_unique<State>();
    return static_cast<State&>(*state);
  }
};

class Cluster {
 public:
  Cluster(const Launch& launch, std::uint64_t number, PcCounters& counters);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const Launch& launch;
  const std::uint64_t number;              // in the grid
  const Dim3 index;                        // %clusterid
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank
  Clocks clocks;
  Findings findings;
  PcCounters& counters;
  AsyncQueue async;
  SideStates side;
  Printed printed;
  int live_threads = 0;

  ThreadId thread_count() const { return threads_per_cta_ * static_cast<ThreadId>(ctas.size()); }
  ThreadId threads_per_cta() const { return threads_per_cta_; }

  // A blocked or spinning thread may be waiting for this: memory, a barrier, an asynchronous operation or a
  // thread's end has changed. store, atomic and the queue call it; a family that keeps other state must call
  // it too.
  void changed() {
    data_changes_.store(data_changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    wake();
  }
  // Blocked threads may go on, but no data has changed: an arrival at a barrier. Threads that only pass
  // barriers, and return to an earlier state, make no progress.
  void wake() { changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  std::uint64_t data_changes() const {
    return data_changes_.load(std::memory_order_acquire);
  }  // calls of changed()
  // Ends all threads at once: after a trap, or when no thread can go on.
  void abort() { aborted_ = true; }
  bool is_aborted() const { return aborted_; }
  std::uint64_t clock = 0;  // instructions of the cluster so far, and slept time: %clock, %globaltimer

  // Checked access: bounds, null, alignment, written bytes (loads), races and proxies (shared memory). False,
  // with a finding, if no memory can be accessed: loads return zeros, stores do nothing, and the caller goes
  // on. `alignment` 0 means `size`, which then must be a power of two up to 32. Space::generic is resolved.
  // Space::shared takes addresses of any CTA of the cluster. may_be_unwritten: of a weak load; bytes that
  // nobody wrote are no fault.
  bool load(const Actor& actor, ptx::Space space, std::uint64_t address, void* to, std::uint32_t size,
            Order order = Order::weak, std::uint32_t alignment = 0, bool may_be_unwritten = false);
  bool store(const Actor& actor, ptx::Space space, std::uint64_t address, const void* from,
             std::uint32_t size, Order order = Order::weak, std::uint32_t alignment = 0);
  // Read-modify-write, atomic against other clusters too. `update(std::uint8_t* bytes)` changes the bytes in
  // place and must not access emulated memory. False as above, without a call of update.
  template <class Update>
  bool atomic(const Actor& actor, ptx::Space space, std::uint64_t address, std::uint32_t size, Order order,
              Update&& update) {
    Location at;
    if (!locate(actor, space, address, size, size, Use::atomic, order, at)) return false;
    {
      const std::unique_lock<std::mutex> lock = lock_if_global(at);
      note_written(actor, at, size, Use::atomic);
      std::uint8_t before[16];
      std::memcpy(before, at.bytes, size);
      update(at.bytes);
      if (std::memcmp(before, at.bytes, size) != 0) changed();
    }
    synchronize(actor, at, Use::atomic, order);
    return true;
  }
  // Unchecked and unrecorded: the bytes, or null if not all are mapped. For state whose accesses are ordered
  // by other means (the 64 bits of an mbarrier, once checked), and for tests.
  std::uint8_t* raw(ThreadId thread, ptx::Space space, std::uint64_t address, std::uint32_t size);

  // The block's last thread has ended: every other user of its shared memory must have been waited for.
  void block_ended(Cta& cta);
  // Reports an access to the shared memory of a block that ended without waiting for it.
  void report_outlived(Issue issue, const Cta& cta, std::uint32_t offset, bool write);
  // A thread that acquires the object also learns that all blocks of the cluster have started.
  void all_have_started(SyncClock& object);

  // The space that holds the generic address (Space::generic if none does), and conversion in both
  // directions.
  static ptx::Space space_of(std::uint64_t generic_address);
  static std::uint64_t to_generic(ptx::Space space, std::uint64_t address);
  static std::uint64_t from_generic(ptx::Space space, std::uint64_t address);

  Warp& warp_of(ThreadId thread) const;
  Cta& cta_of(ThreadId thread) const { return *ctas[thread / threads_per_cta_]; }
  // "thread (3,0,0) of block (1,0,0)"
  std::string describe(ThreadId thread) const;
  Dim3 thread_index(ThreadId thread) const;  // %tid

  // Counts a finding. `sentence()` makes the message, and is called only for the first one at its program
  // counter. `other`: the other instruction of a conflict.
  template <class Sentence>
  void report(FindingKind kind, Issue issue, std::uint64_t address, Sentence&& sentence, Pc other = no_pc) {
    auto* first = findings.add(kind, issue, address);
    if (first == nullptr) return;
    first->message = sentence();
    first->other = other;
  }

 private:
  enum class Use : std::uint8_t { load, store, atomic };
  struct Location {
    std::uint8_t* bytes = nullptr;
    std::uint8_t* written = nullptr;
    const void* from = nullptr;  // what a store puts there
    bool is_global = false, is_local = false;
    std::uint64_t key = 0;  // the generic address, for clocks and locks; 0: needs neither
    ptx::Space space = ptx::Space::generic;
    std::uint64_t address = 0;  // in it
  };
  bool is_repetition(const Actor& actor, const AccessRecord& earlier, const Location& at,
                     std::uint32_t size) const;
  bool locate_shared(const Actor& actor, std::uint64_t address, std::uint32_t size, Use use, Order order,
                     Location& at);
  bool locate_local(const Actor& actor, std::uint64_t address, std::uint32_t size, Location& at);
  bool locate_global(const Actor& actor, std::uint64_t address, std::uint32_t size, Use use, Location& at);
  void report_conflict(const Actor& actor, Cta& cta, const SharedMemory::Conflict& conflict, bool write);
  void check_started(const Actor& actor, const Cta& cta, std::uint32_t offset, bool write);
  // False, with a finding, if no memory can be accessed. Reports other faults of the access too, except those
  // that note_written finds.
  bool locate(const Actor& actor, ptx::Space space, std::uint64_t address, std::uint32_t size,
              std::uint32_t alignment, Use use, Order order, Location& at);
  std::unique_lock<std::mutex> lock_if_global(const Location& at);
  // Checks that bytes to be read were written, and marks bytes to be written. Under the lock, if there is
  // one.
  void note_written(const Actor& actor, const Location& at, std::uint32_t size, Use use);
  // Releases and acquires clocks for a strong access, after it has happened.
  void synchronize(const Actor& actor, const Location& at, Use use, Order order);

  ThreadId threads_per_cta_;
  std::atomic<std::uint64_t> changes_{0}, data_changes_{0};
  std::vector<Component> started_;  // by rank: the start of the block, epoch 1; empty: a cluster of one
  bool aborted_ = false;
  std::vector<Pc> unwaited_;  // asynchronous operations reported as used too early
  std::vector<Pc> raced_;     // accesses reported as races
  // By address / 4 in shared memory: reads reported as uninitialized, which a later write may explain.
  std::unordered_map<std::uint64_t, std::set<Pc>> read_unwritten_;
  std::set<Pc> unstarted_;  // accesses reported as too early for their block's start
  const Allocation* near_ = nullptr;
  std::unordered_map<std::uint64_t, SyncClock>
      flags_;  // clocks of strongly written words, by generic address
};

}  // namespace tenon::emulator
