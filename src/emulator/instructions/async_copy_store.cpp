// st.async and red.async (PTX ISA 9.7.9.12 and 9.7.13.13): a thread's registers into another CTA's shared
// memory, with completion on an mbarrier there. They share their opcodes with st and red.
#include <cstring>
#include <vector>

#include "emulator/instructions/async_copy.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

struct StoreDetail : Detail {
  AddressOperand to, mbarrier;
  Type type = Type::b32;
  int first = -1, count = 1;  // op.values of the source
  bool reduces = false;
  Reduction reduction = Reduction::add;
};

// The stores of one instruction. All lanes' stores land at once, as any schedule permits: separate landings
// would wake every waiting thread 32 times.
class AsyncStores : public AsyncOperation {
 public:
  struct Store {
    std::uint64_t to;
    BulkArrival arrival;
    std::uint8_t data[32];
  };

  explicit AsyncStores(const StoreDetail& detail) : detail_(detail) {}
  std::vector<Store>& stores() { return stores_; }

  void perform(Cluster& cluster) override {
    for (Store& store : stores_) {
      const Actor actor = landing(cluster, store.arrival);
      if (detail_.reduces) {
        reduce_into(cluster, actor, Space::shared, store.to, store.data, store.arrival.bytes,
                    detail_.reduction, detail_.type);
      } else {
        cluster.store(actor, Space::shared, store.to, store.data, store.arrival.bytes);
      }
      end_copy(cluster, store.arrival);
    }
  }

 private:
  const StoreDetail& detail_;
  std::vector<Store> stores_;
};

Flow run_store(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const StoreDetail&>(*op.detail);
  const auto size = static_cast<std::uint32_t>(ptx::bytes(d.type));
  Cluster& cluster = warp.cluster();
  auto stores = std::make_unique<AsyncStores>(d);
  for_each_lane(active, [&](int lane) {
    std::uint64_t to = d.to.of(warp, op, lane);
    if (!to_shared_address(cluster, warp.actor(lane), Space::shared, to, false, "The destination")) return;
    const MbarrierAt at =
        mbarrier_at(cluster, warp.actor(lane), Space::shared, d.mbarrier.of(warp, op, lane), false);
    if (at.object == nullptr) return;
    if (shared_rank(at.address) != shared_rank(to)) {
      warp.report(FindingKind::argument, lane, at.address, [&] {
        return "The mbarrier is in the CTA of rank " + std::to_string(shared_rank(at.address)) +
               " but must be in that of the destination, of rank " + std::to_string(shared_rank(to)) + ".";
      });
      return;
    }
    const auto count = static_cast<std::uint32_t>(d.count);
    const std::uint32_t bytes = size * count;
    AsyncStores::Store& store = stores->stores().emplace_back(
        AsyncStores::Store{to, begin_copy(cluster, warp.issue(lane), at, bytes, false), {}});
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t value = warp.read(op.values[static_cast<std::size_t>(d.first) + i], lane);
      std::memcpy(store.data + size * i, &value, size);
    }
  });
  if (!stores->stores().empty()) cluster.async.enqueue(std::move(stores));
  return Flow::next;
}

void decode_target(Decoding& decoding, bool reduces) {
  decoding.require("async");
  decoding.accept_one({reduces ? "relaxed" : "weak"});
  if (reduces) decoding.accept("cluster");
  decoding.accept("shared::cluster");
  decoding.require("mbarrier::complete_tx::bytes");
  decoding.require_count(3, 3);
}

void decode_async_store(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<StoreDetail>();
  decode_target(decoding, false);
  const int vector = decoding.accept_one({"v2", "v4"});
  detail->type = vector == 1 ? decoding.type({Type::b32, Type::u32, Type::s32, Type::f32})
                             : decoding.type({Type::b32, Type::b64, Type::u32, Type::u64, Type::s32,
                                              Type::s64, Type::f32, Type::f64});
  detail->to = add_address(decoding, 0);
  detail->first = static_cast<int>(op.values.size());
  for (const Value& value : scope.values(decoding.operand(1), detail->type)) op.values.push_back(value);
  detail->count = static_cast<int>(op.values.size()) - detail->first;
  const int needed = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  if (detail->count != needed) {
    decoding.fail(std::to_string(detail->count) + " values are given where " + std::to_string(needed) +
                  " are needed");
  }
  detail->mbarrier = add_address(decoding, 2);
  op.handler = run_store;
  op.detail = std::move(detail);
  decoding.finish();
}

void decode_async_reduction(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  auto detail = std::make_unique<StoreDetail>();
  detail->reduces = true;
  decode_target(decoding, true);
  detail->reduction = require_reduction(decoding);
  switch (detail->reduction) {
    case Reduction::inc:
    case Reduction::dec:
      detail->type = decoding.type({Type::u32});
      break;
    case Reduction::min:
    case Reduction::max:
      detail->type = decoding.type({Type::u32, Type::s32});
      break;
    case Reduction::add:
      detail->type = decoding.type({Type::u32, Type::s32, Type::u64});
      break;
    default:
      detail->type = decoding.type({Type::b32});
      break;
  }
  detail->to = add_address(decoding, 0);
  detail->first = add_source(decoding, 1, detail->type);
  detail->mbarrier = add_address(decoding, 2);
  op.handler = run_store;
  op.detail = std::move(detail);
  decoding.finish();
}

bool is_async(const ptx::Instruction& instruction) {
  return first_modifier_is(instruction, "async");
}
struct StoreTag {};
struct ReductionTag {};

}  // namespace

void add_async_store_instructions(Decoders& decoders) {
  share_decoder<StoreTag>(decoders, "st", is_async, decode_async_store);
  share_decoder<ReductionTag>(decoders, "red", is_async, decode_async_reduction);
}

}  // namespace tenon::emulator
