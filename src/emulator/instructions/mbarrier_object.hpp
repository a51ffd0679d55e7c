// mbarrier objects in shared memory: the state machine of machine/mbarrier_state.hpp, the clocks of its
// phases, and the bulk copies in flight to it. For mbarrier.cpp and for every copy that completes on an
// mbarrier.
#pragma once

#include "emulator/machine/cta.hpp"
#include "emulator/machine/mbarrier_state.hpp"

namespace tenon::emulator {

struct MbarrierObject : SideState {
  MbarrierState state;
  bool is_live = false;
  ThreadId maker = 0;  // the thread of mbarrier.init, and its epoch
  Epoch made = 0;
  Pc made_at = no_pc;
  SyncClock arriving, ended;    // the clocks of this phase's arrivals, and of all phases that ended
  Component copies = 0;         // the bulk copies that complete on this object; epoch: phase + 1
  std::uint64_t polled_at = 0;  // Cluster::changes at the last wait that failed, and how many have since
  std::uint32_t polls = 0;
  std::uint32_t forced_operations = 1;  // how many operations take effect after too many polls
  std::uint64_t bytes_in_flight = 0;    // bytes of copies issued in this phase that have not landed yet
  // Threads of other blocks, with the epoch of the last arrival of each: a clock that holds the epoch covers
  // it.
  struct RemoteArrival {
    Epoch epoch = 0;
    Pc pc = 0;
  };
  std::unordered_map<ThreadId, RemoteArrival> remote_arrivals;
  std::uint32_t address = 0;

  void block_ends(Cta& cta) override;
};

// The mbarrier of an operation: shared address with rank, and the object there.
struct MbarrierAt {
  MbarrierObject* object = nullptr;  // null: a fault was reported, nothing to do
  Cta* cta = nullptr;
  std::uint32_t address = 0;
  // Not ordered after the initialisation, as accesses to memory: that was reported, unless
  // fence.mbarrier_init ordered the two as operations of the mbarrier.
  bool is_unordered = false;
};

// Resolves an operand's address: generic or shared. `only_own`: the instruction takes no other CTA's. Null,
// with a finding, if it is not a shared address, is not mapped or not aligned, or if no live object is there.
MbarrierAt mbarrier_at(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address,
                       bool only_own);
// The same address in another CTA of the cluster, for multicast; or with a rank that is known to be valid.
MbarrierAt mbarrier_in(Cluster& cluster, const Actor& actor, std::uint32_t rank, std::uint32_t offset);

// A shared address with rank from an operand. False: a fault was reported. `only_own`: in the actor's own
// CTA.
bool to_shared_address(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t& address,
                       bool only_own, const char* operand);

void initialize_mbarrier(Cluster& cluster, const Actor& actor, std::uint32_t address, std::uint32_t count);
void invalidate_mbarrier(Cluster& cluster, const Actor& actor, const MbarrierAt& at);

// An operation's effect on the object. Misuse is reported for `actor`. The caller has joined its clock into
// object.arriving before.
struct Arrival {
  std::uint32_t count = 1;
  bool drop = false, no_complete = false;
};
void arrive(Cluster& cluster, const Actor& actor, const MbarrierAt& at, Arrival arrival);
// A thread of another block is about to arrive, and releases its clock at this epoch.
void note_remote_arrival(Cluster& cluster, const Actor& actor, const MbarrierAt& at);
void expect_bytes(Cluster& cluster, const Actor& actor, const MbarrierAt& at, std::uint32_t bytes);
void complete_bytes(Cluster& cluster, const Actor& actor, const MbarrierAt& at, std::uint32_t bytes);
void add_pending_arrival(Cluster& cluster, const Actor& actor, const MbarrierAt& at);
// The object at an operand's address in the thread's own block; null: none. Reports nothing.
MbarrierObject* own_mbarrier(const Cluster& cluster, ThreadId thread, ptx::Space space,
                             std::uint64_t address);
// The object's state, for threads that wait there for ever: "the mbarrier at 0x400, where phase 0 (parity 0)
// waits for 1 of 2 arrivals". Reports nothing; empty: no object.
std::string description_at(const Cluster& cluster, ThreadId thread, ptx::Space space, std::uint64_t address);
// Whether the phase of a token, or of a parity, has ended. Reads memory as a relaxed load.
bool phase_is_over(Cluster& cluster, const Actor& actor, const MbarrierAt& at, bool by_parity,
                   std::uint64_t value);

// A bulk copy that completes on an mbarrier: made at its issue, completed when it lands.
struct BulkArrival {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t phase = 0;
  Agent agent;
};
BulkArrival begin_copy(Cluster& cluster, Issue issue, const MbarrierAt& at, std::uint32_t bytes,
                       bool async_proxy);
// The actor that writes the bytes when they land; then the completion.
Actor landing(Cluster& cluster, BulkArrival& copy);
void end_copy(Cluster& cluster, const BulkArrival& copy);

}  // namespace tenon::emulator
