// The parts of `cp`, and what linear and tensor bulk copies share: copies that complete on mbarriers, and
// stores that complete in a thread's bulk groups.
#pragma once

#include <memory>
#include <vector>

#include "emulator/instructions/async_copy_reduce.hpp"
#include "emulator/instructions/async_decode.hpp"
#include "emulator/instructions/mbarrier_object.hpp"

namespace tenon::emulator {

// Each decodes its forms of the opcode.
void decode_copy(Decoding& decoding);                       // cp.async...             async_copy.cpp
void decode_bulk_copy(Decoding& decoding, bool reduces);    // cp{.reduce}.async.bulk  async_copy_bulk.cpp
void decode_tensor_copy(Decoding& decoding, bool reduces);  // ....bulk.tensor         tensor_copy_decode.cpp

void add_async_store_instructions(Decoders& decoders);  // st.async, red.async    async_copy_store.cpp

// A store from shared memory in a bulk group. It reads its source at one moment, and writes its destination
// then or later (cp.async.bulk.wait_group.read waits for the read only).
class GroupedStore {
 public:
  explicit GroupedStore(Agent agent) : agent_(std::move(agent)) {}
  virtual ~GroupedStore() = default;
  void read_once(Cluster& cluster) {
    if (is_read_) return;
    is_read_ = true;
    read(cluster, actor_of(agent_));
  }
  void finish(Cluster& cluster) {
    read_once(cluster);
    write(cluster, actor_of(agent_));
  }

 private:
  virtual void read(Cluster& cluster, const Actor& actor) = 0;
  virtual void write(Cluster& cluster, const Actor& actor) = 0;

  Agent agent_;
  bool is_read_ = false;
};

// The agent of a lane's next grouped store; then the store, which joins the lane's open bulk group.
Agent start_grouped_store(Warp& warp, int lane);
void enqueue_grouped_store(Warp& warp, int lane, const std::shared_ptr<GroupedStore>& store);

// The destination of one copy: in the executing CTA or another one; with .multicast::cluster, at the same
// offset in each CTA of a mask, with an mbarrier each.
struct Arrivals {
  struct One {
    std::uint64_t to;  // shared address
    BulkArrival arrival;
  };
  std::vector<One> all;
};
struct ArrivalOperands {
  AddressOperand to, mbarrier;
  bool own_only = false;  // .shared::cta
  int mask = -1;          // op.values index of the CTA mask; -1: no multicast
};
// `alignment`, in bytes, of the destination. Empty: a fault has been reported.
Arrivals begin_arrivals(Warp& warp, const Op& op, int lane, const ArrivalOperands& operands,
                        std::uint32_t bytes, std::uint32_t alignment);

// True: `value` is a multiple of `of`. Else it is reported: "The size is 24 but must be a multiple of 16
// bytes."
bool is_multiple(Warp& warp, int lane, FindingKind kind, const char* what, std::uint64_t value,
                 std::uint32_t of);

}  // namespace tenon::emulator
