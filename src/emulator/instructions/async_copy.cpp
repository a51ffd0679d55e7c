// cp.async (PTX ISA 9.7.9.25.3) and its two ways of completion: a thread's groups, and mbarriers. Also the
// decoder of the opcode `cp`.
//
// A thread's copies carry epochs of its component Clocks::copies_of. A commit ends an epoch, and so does a
// cp.async.mbarrier.arrive. So a wait for one of these acquires exactly the copies before it.
#include "emulator/instructions/async_copy.hpp"
#include "emulator/instructions/tensor_copy.hpp"

#include <deque>

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;
using Ticket = AsyncQueue::Ticket;

struct LaneEpochs {
  Epoch now = 1;             // of the copies issued next
  std::deque<Epoch> groups;  // last epoch of each committed group that has not been waited for
};

struct WarpCopies : SideState {
  struct Issued {
    Ticket ticket;
    LaneMask lanes;
    Epoch epochs[warp_size];
  };
  std::deque<Issued> issued;
  LaneEpochs lanes[warp_size];

  void forget_done(const AsyncQueue& queue) {
    while (!issued.empty() && queue.is_done(issued.front().ticket)) issued.pop_front();
  }
  // Performs the lane's copies up to an epoch.
  void finish(AsyncQueue& queue, int lane, Epoch last) {
    for (std::size_t i = 0; i < issued.size(); ++i) {
      if ((issued[i].lanes & lane_bit(lane)) != 0 && issued[i].epochs[lane] <= last)
        queue.finish(issued[i].ticket);
    }
  }
};

WarpCopies& copies_of(Warp& warp) {
  return warp.side.get<WarpCopies>(Family::copies);
}

// --- copies

struct CopyDetail : Detail {
  AddressOperand to, from;
  std::uint32_t bytes = 0;
  int source_bytes = -1;   // op.values index: bytes that are read; zeros fill the rest
  int ignore_source = -1;  // op.values index of a predicate; true: all zeros
  bool ignore_negated = false;
};

// The copies of one warp instruction.
class WarpCopy : public AsyncOperation {
 public:
  struct Lane {
    Agent agent;
    std::uint64_t to, from;
    std::uint32_t read;  // bytes
  };
  explicit WarpCopy(std::uint32_t bytes) : bytes_(bytes) {}
  void add(Lane lane) { lanes_[count_++] = std::move(lane); }

  void perform(Cluster& cluster) override {
    for (int i = 0; i < count_; ++i) {
      const Lane& lane = lanes_[i];
      const Actor actor = actor_of(lane.agent);
      std::uint8_t data[16] = {};
      // A shorter read keeps the alignment of the whole copy: the source is aligned to cp-size.
      if (lane.read != 0) cluster.load(actor, Space::global, lane.from, data, lane.read, Order::weak, bytes_);
      cluster.store(actor, Space::shared, lane.to, data, bytes_);
      cluster.counters.count_async(lane.agent.issue.pc, lane.read);
    }
  }

 private:
  std::uint32_t bytes_;
  int count_ = 0;
  Lane lanes_[warp_size];
};

Flow run_copy(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const CopyDetail&>(*op.detail);
  WarpCopies& copies = copies_of(warp);
  AsyncQueue& queue = warp.cluster().async;
  auto copy = std::make_unique<WarpCopy>(d.bytes);
  WarpCopies::Issued issued{0, 0, {}};
  for_each_lane(active, [&](int lane) {
    std::uint64_t to = d.to.of(warp, op, lane);
    if (!to_shared_address(warp.cluster(), warp.actor(lane), Space::shared, to, true, "The destination"))
      return;
    std::uint32_t read = d.bytes;
    if (d.source_bytes >= 0) {
      read = static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(d.source_bytes)], lane));
      if (read > d.bytes) {
        warp.report(FindingKind::argument, lane, to, [&] {
          return "The src-size is " + std::to_string(read) + " but must be at most the cp-size, " +
                 std::to_string(d.bytes) + ".";
        });
        read = d.bytes;
      }
    } else if (d.ignore_source >= 0) {
      const bool predicate = warp.read(op.values[static_cast<std::size_t>(d.ignore_source)], lane) != 0;
      if (predicate != d.ignore_negated) read = 0;
    }
    const Epoch epoch = copies.lanes[lane].now;
    const Component component = warp.cluster().clocks.copies_of(warp.thread(lane));
    copy->add({warp.start(lane, component, epoch, false), to, d.from.of(warp, op, lane), read});
    issued.lanes |= lane_bit(lane);
    issued.epochs[lane] = epoch;
  });
  issued.ticket = queue.enqueue(std::move(copy));
  copies.forget_done(queue);
  if (!queue.is_done(issued.ticket)) copies.issued.push_back(issued);
  return Flow::next;
}

void decode_copy_itself(Decoding& decoding) {
  auto detail = std::make_unique<CopyDetail>();
  CopyDetail& d = *detail;
  const bool global_level = decoding.require_one({"ca", "cg"}) == 1;
  decoding.require_one({"shared::cta", "shared"});
  decoding.require("global");
  const bool has_policy = accept_cache_hint(decoding);
  decoding.accept_one({"L2::64B", "L2::128B", "L2::256B"});
  decoding.require_count(has_policy ? 4 : 3, has_policy ? 5 : 4);
  d.to = add_address(decoding, 0);
  d.from = add_address(decoding, 1);
  const std::int64_t bytes = immediate(decoding, 2, "cp-size");
  if (global_level ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16) {
    decoding.fail("cp-size is " + std::to_string(bytes) + " but must be 16" +
                  (global_level ? "" : ", 8 or 4"));
  }
  d.bytes = static_cast<std::uint32_t>(bytes);
  const int last = decoding.count() - (has_policy ? 1 : 0);
  if (last == 4) {
    const auto* reg = std::get_if<ptx::Register>(&decoding.operand(3).value);
    if (reg != nullptr && decoding.scope().register_type(*reg) == Type::pred) {
      d.ignore_source = static_cast<int>(decoding.op().values.size());
      d.ignore_negated = decoding.predicate(3);
    } else {
      d.source_bytes = add_source(decoding, 3, Type::u32);
    }
  }
  if (has_policy) add_source(decoding, last, Type::b64);
  decoding.op().handler = run_copy;
  decoding.op().detail = std::move(detail);
}

// --- groups

Flow run_commit(Warp& warp, const Op&, LaneMask active) {
  WarpCopies& copies = copies_of(warp);
  for_each_lane(active, [&](int lane) {
    LaneEpochs& epochs = copies.lanes[lane];
    epochs.groups.push_back(epochs.now++);
  });
  return Flow::next;
}

// Waits until at most op.bits[0] groups are pending. op.bits[1]: first commits the copies that are in no
// group.
Flow run_wait(Warp& warp, const Op& op, LaneMask active) {
  WarpCopies& copies = copies_of(warp);
  Cluster& cluster = warp.cluster();
  for_each_lane(active, [&](int lane) {
    LaneEpochs& epochs = copies.lanes[lane];
    if (op.bits[1] != 0) epochs.groups.push_back(epochs.now++);
    Epoch last = 0;
    while (epochs.groups.size() > op.bits[0]) {
      last = epochs.groups.front();
      epochs.groups.pop_front();
    }
    if (last == 0) return;
    copies.finish(cluster.async, lane, last);
    cluster.clocks.complete(warp.thread(lane), cluster.clocks.copies_of(warp.thread(lane)), last);
  });
  copies.forget_done(cluster.async);
  return Flow::next;
}

// --- completion on an mbarrier

struct ArriveDetail : Detail {
  AddressOperand address;
  Space space = Space::generic;
  bool no_increment = false;
};

// The arrival of one thread, when its copies up to an epoch have landed.
class CopyArrival : public AsyncOperation {
 public:
  CopyArrival(Warp& warp, int lane, Epoch epoch, const MbarrierAt& at, Agent agent)
      : warp_(warp), lane_(lane), epoch_(epoch), at_(at), agent_(std::move(agent)) {}

  void perform(Cluster& cluster) override {
    copies_of(warp_).finish(cluster.async, lane_, epoch_);
    Actor actor = actor_of(agent_);
    actor.async_proxy = true;  // the object's memory is not checked against the agent's clock
    if (!at_.object->is_live) return;
    cluster.clocks.complete(at_.object->arriving, agent_.component, epoch_);
    arrive(cluster, actor, at_, {});
  }

 private:
  Warp& warp_;
  int lane_;
  Epoch epoch_;
  MbarrierAt at_;
  Agent agent_;
};

Flow run_copy_arrive(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const ArriveDetail&>(*op.detail);
  WarpCopies& copies = copies_of(warp);
  for_each_lane(active, [&](int lane) {
    const MbarrierAt at =
        mbarrier_at(warp.cluster(), warp.actor(lane), d.space, d.address.of(warp, op, lane), true);
    if (at.object == nullptr) return;
    if (!d.no_increment) add_pending_arrival(warp.cluster(), warp.actor(lane), at);
    const Epoch epoch = copies.lanes[lane].now++;
    const Component component = warp.cluster().clocks.copies_of(warp.thread(lane));
    warp.cluster().async.enqueue(
        std::make_unique<CopyArrival>(warp, lane, epoch, at, warp.start(lane, component, epoch, false)));
  });
  return Flow::next;
}

void decode_copy_arrive(Decoding& decoding) {
  auto detail = std::make_unique<ArriveDetail>();
  decoding.require("arrive");
  detail->no_increment = decoding.accept("noinc");
  if (decoding.accept_one({"shared::cta", "shared"}) >= 0) detail->space = Space::shared;
  decoding.require("b64");
  decoding.require_count(1, 1);
  detail->address = add_address(decoding, 0);
  decoding.op().handler = run_copy_arrive;
  decoding.op().detail = std::move(detail);
}

void decode_cp(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const bool reduces = decoding.accept("reduce");
  decoding.require("async");
  if (decoding.accept("bulk")) {
    const bool is_tensor = [&] {
      for (const std::string& modifier : instruction.modifiers) {
        if (modifier == "tensor") return true;
      }
      return false;
    }();
    is_tensor ? decode_tensor_copy(decoding, reduces) : decode_bulk_copy(decoding, reduces);
  } else {
    if (reduces) decoding.fail("cp.reduce.async needs .bulk");
    decode_copy(decoding);
  }
  decoding.finish();
}

}  // namespace

void decode_copy(Decoding& decoding) {
  Op& op = decoding.op();
  switch (decoding.accept_one({"commit_group", "wait_group", "wait_all", "mbarrier"})) {
    case 0:
      decoding.require_count(0, 0);
      op.handler = run_commit;
      return;
    case 1: {
      decoding.require_count(1, 1);
      const std::int64_t groups = immediate(decoding, 0, "the number of groups");
      if (groups < 0)
        decoding.fail("the number of groups is " + std::to_string(groups) + " but must not be negative");
      op.bits[0] = static_cast<std::uint32_t>(groups);
      op.handler = run_wait;
      return;
    }
    case 2:
      decoding.require_count(0, 0);
      op.bits[1] = 1;
      op.handler = run_wait;
      return;
    case 3:
      decode_copy_arrive(decoding);
      return;
    default:
      decode_copy_itself(decoding);
      return;
  }
}

void add_async_copy_instructions(Decoders& decoders) {
  decoders["cp"] = decode_cp;
  add_tensor_map_instructions(decoders);
  add_async_store_instructions(decoders);
}

}  // namespace tenon::emulator
