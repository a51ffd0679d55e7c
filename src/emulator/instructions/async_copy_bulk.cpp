// cp.async.bulk and cp.reduce.async.bulk (PTX ISA 9.7.9.25.4): contiguous bytes, and the bulk groups of a
// thread.
#include <algorithm>
#include <cstring>
#include <deque>

#include "emulator/instructions/async_copy.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;
using Ticket = AsyncQueue::Ticket;

// --- bulk groups

struct LaneGroups {
  struct Store {
    Epoch epoch;
    Ticket read, all;
  };
  Component component =
      0;          // of the reads of shared memory; the writes go to global memory, which has no clocks
  Epoch now = 1;  // of the open group
  std::deque<Epoch> groups;
  std::deque<Store> stores;
  Epoch read = 0;  // the last group whose reads a wait has covered

  // Stores whose reads alone are waited for would pile up. The oldest take effect, as they may at any time.
  void forget_some(AsyncQueue& queue) {
    constexpr std::size_t most = 4096;
    for (; stores.size() > most; stores.pop_front()) queue.finish(stores.front().all);
    while (groups.size() > most) groups.pop_front();
  }
};
struct WarpGroups : SideState {
  LaneGroups lanes[warp_size];
};

LaneGroups& groups_of(Warp& warp, int lane) {
  LaneGroups& groups = warp.side.get<WarpGroups>(Family::bulk_copies).lanes[lane];
  if (groups.component == 0) groups.component = warp.cluster().clocks.new_component();
  return groups;
}

class GroupedStoreStep : public AsyncOperation {
 public:
  GroupedStoreStep(std::shared_ptr<GroupedStore> store, bool reads_only)
      : store_(std::move(store)), reads_only_(reads_only) {}
  void perform(Cluster& cluster) override {
    reads_only_ ? store_->read_once(cluster) : store_->finish(cluster);
  }

 private:
  std::shared_ptr<GroupedStore> store_;
  bool reads_only_;
};

Flow run_bulk_commit(Warp& warp, const Op&, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    LaneGroups& groups = groups_of(warp, lane);
    groups.groups.push_back(groups.now++);
  });
  return Flow::next;
}

// Waits until at most op.bits[0] groups are pending; op.bits[1]: for their reads only.
Flow run_bulk_wait(Warp& warp, const Op& op, LaneMask active) {
  Cluster& cluster = warp.cluster();
  for_each_lane(active, [&](int lane) {
    LaneGroups& groups = groups_of(warp, lane);
    if (groups.groups.size() <= op.bits[0]) return;
    const bool reads_only = op.bits[1] != 0;
    const Epoch last = groups.groups[groups.groups.size() - op.bits[0] - 1];
    auto store = groups.stores.begin();
    if (reads_only)
      store = std::upper_bound(store, groups.stores.end(), groups.read,
                               [](Epoch read, const LaneGroups::Store& one) { return read < one.epoch; });
    for (; store != groups.stores.end() && store->epoch <= last; ++store)
      cluster.async.finish(reads_only ? store->read : store->all);
    cluster.clocks.complete(warp.thread(lane), groups.component, last);
    groups.read = std::max(groups.read, last);
    if (reads_only) return groups.forget_some(cluster.async);
    while (!groups.groups.empty() && groups.groups.front() <= last) groups.groups.pop_front();
    while (!groups.stores.empty() && groups.stores.front().epoch <= last) groups.stores.pop_front();
  });
  return Flow::next;
}

// --- copies

struct BulkDetail : Detail {
  ArrivalOperands arrivals;  // of copies that complete on mbarriers
  AddressOperand to, from;   // to: of copies in bulk groups
  int size = -1, byte_mask = -1;
  bool reduces = false;
  Reduction reduction = Reduction::add;
  Type type = Type::u8;
  Space source = Space::global;
};

const BulkDetail& detail_of(const Op& op) {
  return static_cast<const BulkDetail&>(*op.detail);
}

std::uint32_t size_of(Warp& warp, const Op& op, int lane) {
  return static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(detail_of(op).size)], lane));
}

// A copy larger than all shared memory is reported at once, before memory is allocated for its bytes.
bool fits(Warp& warp, int lane, std::uint32_t size, std::uint64_t address) {
  const std::uint32_t most = warp.cta().shared.size() - shared_reserved;
  if (size <= most) return true;
  warp.report(FindingKind::out_of_bounds, lane, address, [&] {
    return "The size is " + std::to_string(size) + " bytes, more than the " + std::to_string(most) +
           " bytes of the block's shared memory.";
  });
  return false;
}

class BulkLoad : public AsyncOperation {
 public:
  BulkLoad(const BulkDetail& detail, Arrivals arrivals, std::uint64_t from, std::uint32_t size)
      : detail_(detail), arrivals_(std::move(arrivals)), from_(from), size_(size) {}

  void perform(Cluster& cluster) override {
    std::vector<std::uint8_t> data(size_);
    cluster.load(actor_of(arrivals_.all[0].arrival.agent), detail_.source, from_, data.data(), size_,
                 Order::weak, 16);
    for (Arrivals::One& one : arrivals_.all) {
      const Actor actor = landing(cluster, one.arrival);
      if (detail_.reduces) {
        reduce_into(cluster, actor, Space::shared, one.to, data.data(), size_, detail_.reduction,
                    detail_.type);
      } else {
        cluster.store(actor, Space::shared, one.to, data.data(), size_, Order::weak, 16);
      }
      end_copy(cluster, one.arrival);
    }
    cluster.counters.count_async(arrivals_.all[0].arrival.agent.issue.pc, size_);
  }

 private:
  const BulkDetail& detail_;
  Arrivals arrivals_;
  std::uint64_t from_;
  std::uint32_t size_;
};

Flow run_load(Warp& warp, const Op& op, LaneMask active) {
  const BulkDetail& d = detail_of(op);
  for_each_lane(active, [&](int lane) {
    const std::uint32_t size = size_of(warp, op, lane);
    std::uint64_t from = d.from.of(warp, op, lane);
    if (!is_multiple(warp, lane, FindingKind::argument, "The size", size, 16) ||
        !is_multiple(warp, lane, FindingKind::misaligned, "The source address", from, 16) ||
        !fits(warp, lane, size, from)) {
      return;
    }
    if (d.source == Space::shared &&
        !to_shared_address(warp.cluster(), warp.actor(lane), Space::shared, from, true, "The source")) {
      return;
    }
    Arrivals arrivals = begin_arrivals(warp, op, lane, d.arrivals, size, 16);
    if (arrivals.all.empty() || size == 0) return;
    warp.cluster().async.enqueue(std::make_unique<BulkLoad>(d, std::move(arrivals), from, size));
  });
  return Flow::next;
}

class BulkStore : public GroupedStore {
 public:
  BulkStore(const BulkDetail& detail, Agent agent, std::uint64_t to, std::uint64_t from, std::uint32_t size,
            std::uint32_t byte_mask)
      : GroupedStore(std::move(agent)),
        detail_(detail),
        to_(to),
        from_(from),
        byte_mask_(byte_mask),
        data_(size) {}

 private:
  void read(Cluster& cluster, const Actor& actor) override {
    cluster.load(actor, Space::shared, from_, data_.data(), static_cast<std::uint32_t>(data_.size()),
                 Order::weak, 16);
  }
  void write(Cluster& cluster, const Actor& actor) override {
    const auto size = static_cast<std::uint32_t>(data_.size());
    if (detail_.reduces) {
      reduce_into(cluster, actor, Space::global, to_, data_.data(), size, detail_.reduction, detail_.type);
    } else if (byte_mask_ == 0xffff) {
      cluster.store(actor, Space::global, to_, data_.data(), size, Order::weak, 16);
    } else {
      for (std::uint32_t i = 0; i < size; ++i) {
        if ((byte_mask_ >> i % 16 & 1) != 0)
          cluster.store(actor, Space::global, to_ + i, data_.data() + i, 1);
      }
    }
    cluster.counters.count_async(actor.issue.pc, size);
  }

  const BulkDetail& detail_;
  std::uint64_t to_, from_;
  std::uint32_t byte_mask_;
  std::vector<std::uint8_t> data_;
};

Flow run_bulk_store(Warp& warp, const Op& op, LaneMask active) {
  const BulkDetail& d = detail_of(op);
  for_each_lane(active, [&](int lane) {
    const std::uint32_t size = size_of(warp, op, lane);
    const std::uint64_t to = d.to.of(warp, op, lane);
    std::uint64_t from = d.from.of(warp, op, lane);
    if (!is_multiple(warp, lane, FindingKind::argument, "The size", size, 16) ||
        !is_multiple(warp, lane, FindingKind::misaligned, "The source address", from, 16) ||
        !is_multiple(warp, lane, FindingKind::misaligned, "The destination address", to, 16) ||
        !to_shared_address(warp.cluster(), warp.actor(lane), Space::shared, from, true, "The source") ||
        !fits(warp, lane, size, from)) {
      return;
    }
    const std::uint32_t mask =
        d.byte_mask < 0
            ? 0xffff
            : static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(d.byte_mask)], lane));
    Agent agent = start_grouped_store(warp, lane);
    enqueue_grouped_store(warp, lane, std::make_shared<BulkStore>(d, std::move(agent), to, from, size, mask));
  });
  return Flow::next;
}

// Only checks that the range is mapped: a prefetch has no effect on results.
Flow run_prefetch(Warp&, const Op&, LaneMask) {
  return Flow::next;
}

// --- decoding

void decode_reduction(Decoding& decoding, BulkDetail& d, bool into_shared) {
  d.reduces = true;
  d.reduction = require_reduction(decoding);
  const bool keeps_subnormals = decoding.accept("noftz");
  const Reduction r = d.reduction;
  if (r == Reduction::inc || r == Reduction::dec) {
    d.type = decoding.type({Type::u32});
  } else if (r == Reduction::and_bits || r == Reduction::or_bits || r == Reduction::xor_bits) {
    d.type = into_shared ? decoding.type({Type::b32}) : decoding.type({Type::b32, Type::b64});
  } else if (into_shared) {
    d.type = r == Reduction::add ? decoding.type({Type::s32, Type::u32, Type::u64})
                                 : decoding.type({Type::s32, Type::u32});
  } else if (r == Reduction::add) {
    d.type = decoding.type({Type::f16, Type::bf16, Type::u32, Type::s32, Type::u64, Type::f32, Type::f64});
  } else {
    d.type = decoding.type({Type::f16, Type::bf16, Type::u32, Type::s32, Type::u64, Type::s64});
  }
  const bool narrow_sum = r == Reduction::add && (d.type == Type::f16 || d.type == Type::bf16);
  if (narrow_sum != keeps_subnormals)
    decoding.fail(".noftz belongs to .add of .f16 and .bf16, where it is needed");
}

void decode_groups(Decoding& decoding, int which) {
  Op& op = decoding.op();
  if (which == 0) {
    decoding.require_count(0, 0);
    op.handler = run_bulk_commit;
    return;
  }
  op.bits[1] = decoding.accept("read") ? 1 : 0;
  decoding.require_count(1, 1);
  const std::int64_t groups = immediate(decoding, 0, "the number of groups");
  if (groups < 0)
    decoding.fail("the number of groups is " + std::to_string(groups) + " but must not be negative");
  op.bits[0] = static_cast<std::uint32_t>(groups);
  op.handler = run_bulk_wait;
}

// [dst], [src], size, [mbar] {, mask} {, policy}
void decode_load(Decoding& decoding, BulkDetail& d, bool own_only) {
  d.source = decoding.require_one({"global", "shared::cta"}) == 0 ? Space::global : Space::shared;
  if (own_only && d.source == Space::shared) decoding.fail("the destination must be .shared::cluster");
  decoding.require("mbarrier::complete_tx::bytes");
  const bool multicast = d.source == Space::global && decoding.accept("multicast::cluster");
  const bool has_policy = d.source == Space::global && accept_cache_hint(decoding);
  decoding.require_count(4 + multicast + has_policy, 4 + multicast + has_policy);
  d.arrivals.own_only = own_only;
  d.arrivals.to = add_address(decoding, 0);
  d.from = add_address(decoding, 1);
  d.size = add_source(decoding, 2, Type::u32);
  d.arrivals.mbarrier = add_address(decoding, 3);
  if (multicast) d.arrivals.mask = add_source(decoding, 4, Type::u16);
  if (has_policy) add_source(decoding, 4 + multicast, Type::b64);
  decoding.op().handler = run_load;
}

// [dst], [src], size {, policy} {, byteMask}
void decode_store(Decoding& decoding, BulkDetail& d, bool reduces) {
  decoding.require("shared::cta");
  decoding.require("bulk_group");
  const bool has_policy = accept_cache_hint(decoding);
  const bool masks = !reduces && decoding.accept("cp_mask");
  if (masks) decoding.require_target(100);
  decoding.require_count(3 + has_policy + masks, 3 + has_policy + masks);
  d.to = add_address(decoding, 0);
  d.from = add_address(decoding, 1);
  d.size = add_source(decoding, 2, Type::u32);
  if (has_policy) add_source(decoding, 3, Type::b64);
  if (masks) d.byte_mask = add_source(decoding, 3 + has_policy, Type::u16);
  decoding.op().handler = run_bulk_store;
}

}  // namespace

bool is_multiple(Warp& warp, int lane, FindingKind kind, const char* what, std::uint64_t value,
                 std::uint32_t of) {
  if (value % of == 0) return true;
  warp.report(kind, lane, value, [&] {
    return std::string(what) + " is " + std::to_string(value) + " but must be a multiple of " +
           std::to_string(of) + " bytes.";
  });
  return false;
}

Agent start_grouped_store(Warp& warp, int lane) {
  const LaneGroups& groups = groups_of(warp, lane);
  return warp.start(lane, groups.component, groups.now, true);
}

void enqueue_grouped_store(Warp& warp, int lane, const std::shared_ptr<GroupedStore>& store) {
  LaneGroups& groups = groups_of(warp, lane);
  AsyncQueue& queue = warp.cluster().async;
  const Ticket read = queue.enqueue(std::make_unique<GroupedStoreStep>(store, true));
  const Ticket all = queue.enqueue(std::make_unique<GroupedStoreStep>(store, false));
  groups.stores.push_back({groups.now, read, all});
}

Arrivals begin_arrivals(Warp& warp, const Op& op, int lane, const ArrivalOperands& operands,
                        std::uint32_t bytes, std::uint32_t alignment) {
  Cluster& cluster = warp.cluster();
  const Actor actor = warp.actor(lane);
  std::uint64_t to = operands.to.of(warp, op, lane);
  Arrivals arrivals;
  if (!is_multiple(warp, lane, FindingKind::misaligned, "The destination address", to, alignment) ||
      !to_shared_address(cluster, actor, Space::shared, to, operands.own_only, "The destination")) {
    return arrivals;
  }
  const MbarrierAt at =
      mbarrier_at(cluster, actor, Space::shared, operands.mbarrier.of(warp, op, lane), operands.own_only);
  if (at.object == nullptr) return arrivals;
  if (operands.mask < 0) {
    if (shared_rank(at.address) != shared_rank(to)) {
      warp.report(FindingKind::argument, lane, at.address, [&] {
        return "The mbarrier is in the CTA of rank " + std::to_string(shared_rank(at.address)) +
               " but must be in that of the destination, of rank " + std::to_string(shared_rank(to)) + ".";
      });
      return arrivals;
    }
    arrivals.all.push_back({to, begin_copy(cluster, actor.issue, at, bytes, true)});
    return arrivals;
  }
  const auto mask =
      static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(operands.mask)], lane));
  if (mask == 0 || mask >> cluster.ctas.size() != 0) {
    warp.report(FindingKind::argument, lane, to, [&] {
      return "The CTA mask of the multicast is " + std::to_string(mask) +
             " but must name one or more of the " + std::to_string(cluster.ctas.size()) +
             " CTAs of the cluster.";
    });
  }
  for (std::uint32_t rank = 0; rank < cluster.ctas.size(); ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    const MbarrierAt there = mbarrier_in(cluster, actor, rank, shared_offset(at.address));
    if (there.object == nullptr) continue;
    arrivals.all.push_back(
        {shared_address(rank, shared_offset(to)), begin_copy(cluster, actor.issue, there, bytes, true)});
  }
  return arrivals;
}

void decode_bulk_copy(Decoding& decoding, bool reduces) {
  Op& op = decoding.op();
  if (const int which = decoding.accept_one({"commit_group", "wait_group"}); which >= 0) {
    decode_groups(decoding, which);
    return;
  }
  if (decoding.accept("prefetch")) {
    decoding.require("L2");
    decoding.require("global");
    const bool has_policy = accept_cache_hint(decoding);
    decoding.require_count(2 + has_policy, 2 + has_policy);
    add_address(decoding, 0);
    add_source(decoding, 1, Type::u32);
    if (has_policy) add_source(decoding, 2, Type::b64);
    op.handler = run_prefetch;
    return;
  }
  auto detail = std::make_unique<BulkDetail>();
  BulkDetail& d = *detail;
  op.detail = std::move(detail);
  switch (require_first_of(decoding, {"shared::cluster", "global", "shared::cta"})) {
    case 0:
      decode_load(decoding, d, false);
      if (reduces) {
        if (d.source != Space::shared) decoding.fail("a reduction into shared memory reads .shared::cta");
        decode_reduction(decoding, d, true);
      }
      break;
    case 1:
      decode_store(decoding, d, reduces);
      if (reduces) decode_reduction(decoding, d, false);
      break;
    default:
      if (reduces) decoding.fail("a reduction into shared memory is into .shared::cluster");
      decode_load(decoding, d, true);
      break;
  }
}

}  // namespace tenon::emulator
