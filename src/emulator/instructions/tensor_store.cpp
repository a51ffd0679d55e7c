// cp.async.bulk.tensor into global memory and cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.27).
#include "emulator/instructions/tensor_copy.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

// The type that elements are reduced in; none: the tensor's type has no such reduction.
Type reduction_type(TensorMapType type, Reduction reduction) {
  const bool is_bitwise = reduction >= Reduction::and_bits;
  const bool counts = reduction == Reduction::inc || reduction == Reduction::dec;
  switch (type) {
    case TensorMapType::uint32:
      return is_bitwise ? Type::b32 : Type::u32;
    case TensorMapType::int32:
      return is_bitwise ? Type::b32 : counts ? Type::none : Type::s32;
    case TensorMapType::uint64:
      return is_bitwise ? Type::b64 : counts ? Type::none : Type::u64;
    case TensorMapType::int64:
      return is_bitwise ? Type::b64 : counts || reduction == Reduction::add ? Type::none : Type::s64;
    case TensorMapType::float16:
      return is_bitwise || counts ? Type::none : Type::f16;
    case TensorMapType::bfloat16:
      return is_bitwise || counts ? Type::none : Type::bf16;
    case TensorMapType::float32:
    case TensorMapType::float32_ftz:
      return reduction == Reduction::add ? Type::f32 : Type::none;
    case TensorMapType::float64:
      return reduction == Reduction::add ? Type::f64 : Type::none;
    default:
      return Type::none;
  }
}

class TensorStore : public GroupedStore {
 public:
  TensorStore(const TensorDetail& detail, Agent agent, Box box, std::uint64_t from)
      : GroupedStore(std::move(agent)),
        detail_(detail),
        box_(box),
        from_(from),
        data_(std::size_t{box_.row_bytes()} * box_.tensor.rows()) {}

 private:
  // An H200 stores whole 16 bytes, beyond the end of a tensor's row too. (Its reductions were not measured:
  // they store only elements inside.)
  TensorRow written(std::uint32_t i) const {
    TensorRow row = box_.row(i);
    const auto element = static_cast<std::uint32_t>(box_.tensor.element_bytes());
    if (!detail_.reduces && row.first < row.last) {
      const std::uint32_t end = (row.last * element + tensor_chunk - 1) / tensor_chunk * tensor_chunk;
      row.last = std::min(end, box_.row_bytes()) / element;
    }
    return row;
  }

  // Reads only the elements that are written.
  void read(Cluster& cluster, const Actor& actor) override {
    const auto element = static_cast<std::uint32_t>(box_.tensor.element_bytes());
    for (std::uint32_t i = 0; i < box_.tensor.rows(); ++i) {
      const TensorRow row = written(i);
      std::uint8_t* to = data_.data() + std::size_t{i} * box_.row_bytes();
      box_.for_each_piece(from_, row, row.first * element, row.last * element,
                          [&](std::uint64_t from, std::uint32_t at, std::uint32_t bytes) {
                            cluster.load(actor, Space::shared, from, to + at, bytes, Order::weak, element);
                          });
    }
  }
  void write(Cluster& cluster, const Actor& actor) override {
    const auto element = static_cast<std::uint32_t>(box_.tensor.element_bytes());
    for (std::uint32_t i = 0; i < box_.tensor.rows(); ++i) {
      const TensorRow row = written(i);
      if (row.first == row.last) continue;
      const std::uint8_t* data =
          data_.data() + std::size_t{i} * box_.row_bytes() + std::size_t{row.first} * element;
      const std::uint32_t bytes = (row.last - row.first) * element;
      if (detail_.reduces) {
        reduce_into(cluster, actor, Space::global, row.global, data, bytes, detail_.reduction,
                    reduction_type(box_.tensor.type, detail_.reduction));
      } else {
        cluster.store(actor, Space::global, row.global, data, bytes, Order::weak, element);
      }
    }
    cluster.counters.count_async(actor.issue.pc, box_.tensor.copy_bytes());
  }

  const TensorDetail& detail_;
  Box box_;
  std::uint64_t from_;
  std::vector<std::uint8_t> data_;
};

}  // namespace

Flow run_tensor_store(Warp& warp, const Op& op, LaneMask active) {
  const TensorDetail& d = tensor_detail_of(op);
  for_each_lane(active, [&](int lane) {
    Box box;
    if (!box_of(warp, op, lane, box) || !fits(warp, op, lane, box)) return;
    if (box.tensor.slice_bytes() != 0) {
      warp.report(FindingKind::argument, lane, d.map.of(warp, op, lane), [&] {
        return std::string(
            "The tensor map is interleaved: on an H100 such a store is an illegal instruction.");
      });
      return;
    }
    std::uint64_t from = d.from.of(warp, op, lane);
    if (!is_multiple(warp, lane, FindingKind::misaligned, "The source address", from, 128) ||
        !to_shared_address(warp.cluster(), warp.actor(lane), Space::shared, from, true, "The source")) {
      return;
    }
    if (d.reduces && reduction_type(box.tensor.type, d.reduction) == Type::none) {
      warp.report(FindingKind::argument, lane, d.map.of(warp, op, lane), [&] {
        return "The tensor's type, CUtensorMapDataType " + std::to_string(static_cast<int>(box.tensor.type)) +
               ", does not have this reduction.";
      });
      return;
    }
    Agent agent = start_grouped_store(warp, lane);
    enqueue_grouped_store(warp, lane, std::make_shared<TensorStore>(d, std::move(agent), box, from));
  });
  return Flow::next;
}

}  // namespace tenon::emulator
