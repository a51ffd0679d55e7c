// cp.async.bulk.tensor into shared memory and cp.async.bulk.prefetch.tensor (PTX ISA 9.7.9.27): boxes of a
// tensor that a tensor map describes; in the im2col modes, columns of its pixels.
#include "emulator/instructions/tensor_copy.hpp"
#include "emulator/machine/text.hpp"

#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Space;

// A copy takes its tensor map from parameters, constants or global memory. A map elsewhere is the copy of a
// parameter that was not declared __grid_constant__.
bool is_map_in_reach(Warp& warp, int lane, std::uint64_t address) {
  const Space space = Cluster::space_of(address);
  if (space != Space::local && space != Space::shared) return true;
  warp.report(FindingKind::argument, lane, address, [&] {
    return "The tensor map at " + hex(address) + " is in " + (space == Space::local ? "local" : "shared") +
           " memory, but must be a parameter of the kernel (const __grid_constant__) or in constant or "
           "global "
           "memory.";
  });
  return false;
}

class TensorLoad : public AsyncOperation {
 public:
  TensorLoad(Box box, Arrivals arrivals) : box_(box), arrivals_(std::move(arrivals)) {}

  void perform(Cluster& cluster) override {
    const MappedTensor& t = box_.tensor;
    const auto element = static_cast<std::uint32_t>(t.element_bytes());
    std::vector<Actor> writers;
    for (Arrivals::One& one : arrivals_.all) writers.push_back(landing(cluster, one.arrival));
    const Actor& reader = writers[0];
    std::vector<std::uint8_t> row(box_.row_bytes());
    for (std::uint32_t i = 0; i < t.rows(); ++i) {
      const TensorRow where = box_.row(i);
      fill(row, element);
      if (where.first < where.last) {
        std::uint8_t* const inside = row.data() + std::size_t{where.first} * element;
        cluster.load(reader, Space::global, where.global, inside, (where.last - where.first) * element,
                     Order::weak, element);
        convert(inside, where.last - where.first);
      }
      for (std::size_t w = 0; w < writers.size(); ++w) {
        box_.for_each_piece(arrivals_.all[w].to, where, 0, box_.row_bytes(),
                            [&](std::uint64_t to, std::uint32_t at, std::uint32_t bytes) {
                              cluster.store(writers[w], Space::shared, to, row.data() + at, bytes,
                                            Order::weak, tensor_chunk);
                            });
      }
    }
    for (const Arrivals::One& one : arrivals_.all) end_copy(cluster, one.arrival);
    cluster.counters.count_async(reader.issue.pc, t.copy_bytes());
  }

 private:
  void fill(std::vector<std::uint8_t>& row, std::uint32_t element) const {
    const std::uint64_t bits = fill_bits(box_.tensor);
    for (std::uint32_t at = 0; at < row.size(); at += element) std::memcpy(row.data() + at, &bits, element);
  }
  // A tensor of tfloat32 is one of float32 in memory; elements are rounded to tf32 when they arrive, as on an
  // H200: to nearest even, NaN becomes 0x7fffe000, subnormal numbers stay, in the _ftz types too (which flush
  // in reductions only), and elements outside the tensor stay as fill() made them.
  void convert(std::uint8_t* elements, std::uint32_t count) const;

  Box box_;
  Arrivals arrivals_;
};

void TensorLoad::convert(std::uint8_t* elements, std::uint32_t count) const {
  const TensorMapType type = box_.tensor.type;
  if (type != TensorMapType::tfloat32 && type != TensorMapType::tfloat32_ftz) return;
  for (std::uint32_t i = 0; i < count; ++i, elements += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, elements, 4);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    bits = is_nan ? 0x7fffe000U
                  : static_cast<std::uint32_t>(numerics::convert(numerics::tf32, numerics::f32, bits));
    std::memcpy(elements, &bits, 4);
  }
}

}  // namespace

bool box_of(Warp& warp, const Op& op, int lane, Box& box) {
  const TensorDetail& d = tensor_detail_of(op);
  if (!is_map_in_reach(warp, lane, d.map.of(warp, op, lane))) return false;
  if (!load_tensor_map(warp.cluster(), warp.actor(lane), Space::generic, d.map.of(warp, op, lane), d.rank,
                       box.tensor)) {
    return false;
  }
  if (box.tensor.is_im2col != d.is_im2col) {
    warp.report(FindingKind::argument, lane, d.map.of(warp, op, lane), [&] {
      return std::string("The tensor map is of ") + (box.tensor.is_im2col ? "im2col" : "tiles") +
             ", and the instruction is not.";
    });
    return false;
  }
  for (int i = 0; d.offsets >= 0 && i < d.rank - 2; ++i) {
    const std::size_t index = static_cast<std::size_t>(d.offsets) + static_cast<std::size_t>(i);
    box.offsets[i] = static_cast<std::uint16_t>(warp.read(op.values[index], lane));
  }
  for (int i = 0; i < d.rank; ++i) {
    box.coordinates[i] = static_cast<std::int32_t>(
        warp.read(op.values[static_cast<std::size_t>(d.coordinates) + static_cast<std::size_t>(i)], lane));
  }
  // Otherwise an H200 stops with an illegal instruction, for loads and stores, inside the tensor and outside.
  // Interleaved layouts, whose first coordinate counts pixels, were measured at such multiples only.
  const std::int64_t offset = std::int64_t{box.coordinates[0]} * box.tensor.element_bytes();
  if (offset % 16 == 0) return true;
  warp.report(FindingKind::argument, lane, d.map.of(warp, op, lane), [&] {
    if (box.tensor.slice_bytes() != 0)
      return "The innermost coordinate is " + std::to_string(box.coordinates[0]) +
             "; in an interleaved layout only multiples of " +
             std::to_string(16 / box.tensor.element_bytes()) + " are known to work.";
    return "The innermost coordinate is " + std::to_string(box.coordinates[0]) + ", which is " +
           std::to_string(offset) + " bytes, but needs a multiple of 16 bytes.";
  });
  return false;
}

bool fits(Warp& warp, const Op& op, int lane, const Box& box) {
  const std::uint64_t bytes = box.tensor.copy_bytes();
  const std::uint32_t most = warp.cta().shared.size() - shared_reserved;
  if (bytes <= most) return true;
  warp.report(FindingKind::out_of_bounds, lane, tensor_detail_of(op).map.of(warp, op, lane), [&] {
    return "The box of the tensor map has " + std::to_string(bytes) + " bytes, more than the " +
           std::to_string(most) + " bytes of the block's shared memory.";
  });
  return false;
}

Flow run_tensor_load(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    Box box;
    if (!box_of(warp, op, lane, box) || !fits(warp, op, lane, box)) return;
    Arrivals arrivals = begin_arrivals(warp, op, lane, tensor_detail_of(op).arrivals,
                                       static_cast<std::uint32_t>(box.tensor.copy_bytes()), 128);
    if (arrivals.all.empty()) return;
    warp.cluster().async.enqueue(std::make_unique<TensorLoad>(box, std::move(arrivals)));
  });
  return Flow::next;
}

// A prefetch only checks its tensor map.
Flow run_tensor_prefetch(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    Box box;
    box_of(warp, op, lane, box);
  });
  return Flow::next;
}

}  // namespace tenon::emulator
