// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.tensor (PTX ISA 9.7.9.27):
// boxes of a tensor that a tensor map describes; in the im2col modes, columns of its pixels.
#include "emulator/instructions/tensor_copy.hpp"
#include "emulator/machine/text.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

constexpr std::uint32_t chunk = 16;  // bytes that a swizzle moves as one unit

struct TensorDetail : Detail {
  int rank = 1;
  AddressOperand map;
  int coordinates = -1;  // op.values index of the first
  bool is_im2col = false;
  int offsets = -1;          // op.values index of the first of rank - 2; -1: none
  ArrivalOperands arrivals;  // of loads
  AddressOperand from;       // of stores
  bool reduces = false;
  Reduction reduction = Reduction::add;
};

const TensorDetail& detail_of(const Op& op) {
  return static_cast<const TensorDetail&>(*op.detail);
}

// A box of a tensor, and its address in shared memory.
struct Box {
  MappedTensor tensor;
  std::int32_t coordinates[max_tensor_rank] = {};
  std::uint16_t offsets[max_tensor_rank - 2] = {};

  TensorRow row(std::uint32_t number) const {
    return tensor.is_im2col ? pixel_row(tensor, coordinates, offsets, number)
                            : tensor_row(tensor, coordinates, number);
  }
  // Calls visit(shared address, offset in the row, bytes) for the contiguous pieces of a row.
  template <class Visit>
  void for_each_piece(std::uint64_t start, const TensorRow& row, std::uint32_t first, std::uint32_t last,
                      Visit&& visit) const {
    const std::uint64_t rank_bits = start & ~std::uint64_t{shared_offset(~0u)};
    const std::uint32_t begin = shared_offset(start) + row.shared;
    while (first < last) {
      const std::uint32_t linear = begin + first;
      const std::uint32_t piece =
          tensor.swizzle == Swizzle::none ? last - first : std::min(last - first, chunk - linear % chunk);
      visit(rank_bits | swizzled(tensor.swizzle, linear), first, piece);
      first += piece;
    }
  }
  std::uint32_t row_bytes() const { return tensor.row_bytes(); }
};

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

bool box_of(Warp& warp, const Op& op, int lane, Box& box) {
  const TensorDetail& d = detail_of(op);
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
  // The first coordinate of an interleaved layout counts pixels; whether it may be anything is not measured.
  const std::int64_t offset = std::int64_t{box.coordinates[0]} * box.tensor.element_bytes();
  if (offset % 16 == 0) return true;
  warp.report(FindingKind::argument, lane, d.map.of(warp, op, lane), [&] {
    return "The innermost coordinate is " + std::to_string(box.coordinates[0]) + ", which is " +
           std::to_string(offset) + " bytes, but needs a multiple of 16 bytes.";
  });
  return false;
}

// A box larger than all shared memory is reported at once, before memory is allocated for its bytes.
bool fits(Warp& warp, const Op& op, int lane, const Box& box) {
  const std::uint64_t bytes = box.tensor.copy_bytes();
  const std::uint32_t most = warp.cta().shared.size() - shared_reserved;
  if (bytes <= most) return true;
  warp.report(FindingKind::out_of_bounds, lane, detail_of(op).map.of(warp, op, lane), [&] {
    return "The box of the tensor map has " + std::to_string(bytes) + " bytes, more than the " +
           std::to_string(most) + " bytes of the block's shared memory.";
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
                                            Order::weak, chunk);
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

Flow run_load(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    Box box;
    if (!box_of(warp, op, lane, box) || !fits(warp, op, lane, box)) return;
    Arrivals arrivals = begin_arrivals(warp, op, lane, detail_of(op).arrivals,
                                       static_cast<std::uint32_t>(box.tensor.copy_bytes()), 128);
    if (arrivals.all.empty()) return;
    warp.cluster().async.enqueue(std::make_unique<TensorLoad>(box, std::move(arrivals)));
  });
  return Flow::next;
}

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
      const std::uint32_t end = (row.last * element + chunk - 1) / chunk * chunk;
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

Flow run_store(Warp& warp, const Op& op, LaneMask active) {
  const TensorDetail& d = detail_of(op);
  for_each_lane(active, [&](int lane) {
    Box box;
    if (!box_of(warp, op, lane, box) || !fits(warp, op, lane, box)) return;
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

// A prefetch only checks its tensor map.
Flow run_prefetch(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    Box box;
    box_of(warp, op, lane, box);
  });
  return Flow::next;
}

// --- decoding

void decode_rank(Decoding& decoding, TensorDetail& d) {
  d.rank = decoding.require_one({"1d", "2d", "3d", "4d", "5d"}) + 1;
}

// `im2col`: the name of the mode here, with offsets or without.
void decode_mode(Decoding& decoding, TensorDetail& d, const char* im2col) {
  for (const char* mode : {"im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"}) {
    if (decoding.accept(mode)) decoding.fail("the mode ." + std::string(mode) + " needs sm_100");
  }
  d.is_im2col = decoding.accept(im2col);
  if (d.is_im2col && d.rank < 3)
    decoding.fail("the mode ." + std::string(im2col) + " needs 3 to 5 dimensions");
  if (!d.is_im2col) decoding.accept("tile");
}

// {offsets} of im2col, 16 bits each.
void decode_offsets(Decoding& decoding, TensorDetail& d, int operand) {
  const auto* list = std::get_if<ptx::Vector>(&decoding.operand(operand).value);
  const std::size_t needed = static_cast<std::size_t>(d.rank) - 2;
  if (list == nullptr || list->elements.size() != needed)
    decoding.fail("the offsets of im2col are a list of " + std::to_string(needed));
  d.offsets = static_cast<int>(decoding.op().values.size());
  for (const ptx::Operand& offset : list->elements) {
    decoding.require_width(offset, Type::u16);
    decoding.op().values.push_back(decoding.scope().value(offset, Type::u16));
  }
}

// [tensorMap, {coordinates}]
void decode_box(Decoding& decoding, TensorDetail& d, int operand) {
  const auto* tensor = std::get_if<ptx::TensorAddress>(&decoding.operand(operand).value);
  if (tensor == nullptr) decoding.fail("the tensor is given as [map, {coordinates}]");
  if (static_cast<int>(tensor->coordinates.size()) != d.rank) {
    decoding.fail(std::to_string(tensor->coordinates.size()) + " coordinates are given where ." +
                  std::to_string(d.rank) + "d needs " + std::to_string(d.rank));
  }
  ptx::Operand map;
  map.value = tensor->map;
  d.map = add_address(decoding, map);
  d.coordinates = static_cast<int>(decoding.op().values.size());
  for (const ptx::Operand& coordinate : tensor->coordinates) {
    decoding.require_width(coordinate, Type::s32);
    decoding.op().values.push_back(decoding.scope().value(coordinate, Type::s32));
  }
}

// [dst], [map, coordinates], [mbar] {, offsets} {, mask} {, policy}
void decode_load(Decoding& decoding, TensorDetail& d, bool own_only) {
  decoding.require("global");
  decode_mode(decoding, d, "im2col");
  decoding.require("mbarrier::complete_tx::bytes");
  const bool multicast = decoding.accept("multicast::cluster");
  if (multicast && own_only) decoding.fail(".multicast::cluster needs the destination .shared::cluster");
  const bool has_policy = accept_cache_hint(decoding);
  const int least = 3 + (d.is_im2col ? 1 : 0), all = least + multicast + has_policy;
  decoding.require_count(all, all);
  d.arrivals.own_only = own_only;
  d.arrivals.to = add_address(decoding, 0);
  decode_box(decoding, d, 1);
  d.arrivals.mbarrier = add_address(decoding, 2);
  if (d.is_im2col) decode_offsets(decoding, d, 3);
  if (multicast) d.arrivals.mask = add_source(decoding, least, Type::u16);
  if (has_policy) add_source(decoding, least + multicast, Type::b64);
  decoding.op().handler = run_load;
}

// [map, coordinates], [src] {, policy}; without offsets
void decode_store(Decoding& decoding, TensorDetail& d, bool reduces) {
  decoding.require("shared::cta");
  d.reduces = reduces;
  if (reduces) d.reduction = require_reduction(decoding);
  decode_mode(decoding, d, "im2col_no_offs");
  decoding.require("bulk_group");
  const bool has_policy = accept_cache_hint(decoding);
  decoding.require_count(2 + has_policy, 2 + has_policy);
  decode_box(decoding, d, 0);
  d.from = add_address(decoding, 1);
  if (has_policy) add_source(decoding, 2, Type::b64);
  decoding.op().handler = run_store;
}

}  // namespace

void decode_tensor_copy(Decoding& decoding, bool reduces) {
  auto detail = std::make_unique<TensorDetail>();
  TensorDetail& d = *detail;
  decoding.op().detail = std::move(detail);
  if (!reduces && decoding.accept("prefetch")) {
    decoding.require("tensor");
    decode_rank(decoding, d);
    decoding.require("L2");
    decoding.require("global");
    decode_mode(decoding, d, "im2col");
    const bool has_policy = accept_cache_hint(decoding);
    const int least = 1 + (d.is_im2col ? 1 : 0);
    decoding.require_count(least + has_policy, least + has_policy);
    decode_box(decoding, d, 0);
    if (d.is_im2col) decode_offsets(decoding, d, 1);
    if (has_policy) add_source(decoding, least, Type::b64);
    decoding.op().handler = run_prefetch;
    return;
  }
  decoding.require("tensor");
  decode_rank(decoding, d);
  const int target = require_first_of(decoding, {"shared::cluster", "shared::cta", "global"});
  if (target == 2) {
    decode_store(decoding, d, reduces);
  } else {
    if (reduces) decoding.fail("a tensor reduction is into .global");
    decode_load(decoding, d, target == 1);
  }
}

}  // namespace tenon::emulator
