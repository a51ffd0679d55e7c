// Tensor maps that a kernel changes: tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.7.9.26 and
// 9.7.13.19).
#include <algorithm>

#include "emulator/instructions/tensor_copy.hpp"
#include "emulator/machine/tensor_map_bits.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

struct ReplaceDetail : Detail {
  AddressOperand map;
  Space space = Space::generic;
  MapField field = MapField::rank;
  int ordinal = 0;
  int value = -1;
};

// Checks fields with fewer bits than the operand, as the hardware loses the others: the sentence names what
// the value may be; empty: it fits.
std::string range_problem(MapField field, std::uint64_t value) {
  const auto outside = [&](std::uint64_t least, std::uint64_t most, const char* what) {
    return value >= least && value <= most
               ? std::string()
               : std::string(what) + " is " + std::to_string(value) + " but must be from " +
                     std::to_string(least) + " to " + std::to_string(most) + ".";
  };
  if (field == MapField::rank) return outside(0, max_tensor_rank - 1, "The rank less one");
  if (field == MapField::box_dim) return outside(1, 256, "The size of the box");
  if (field == MapField::element_stride) return outside(1, 8, "The element stride");
  if (field == MapField::global_stride && (value % 16 != 0 || value >= std::uint64_t{1} << 40))
    return is_but("The stride", value, "must be a multiple of 16 bytes and less than 2^40");
  return {};
}

// A weak load and store of the 128 bytes. A kernel may start from zeros, and the map may be inconsistent
// until the last field is replaced: so it is checked when a copy uses it.
Flow run_replace(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const ReplaceDetail&>(*op.detail);
  for_each_lane(active, [&](int lane) {
    const std::uint64_t address = d.map.of(warp, op, lane);
    std::uint8_t bytes[128];
    if (!warp.cluster().load(warp.actor(lane), d.space, address, bytes, 128, Order::weak, 64)) return;
    const std::uint64_t value = warp.read(op.values[static_cast<std::size_t>(d.value)], lane);
    if (std::string problem = range_problem(d.field, value); !problem.empty()) {
      warp.report(FindingKind::argument, lane, address, [&] { return problem; });
      return;
    }
    replace_field(bytes, d.field, d.ordinal, value);
    warp.cluster().store(warp.actor(lane), d.space, address, bytes, 128, Order::weak, 64);
  });
  return Flow::next;
}

void decode_replace(Decoding& decoding) {
  auto detail = std::make_unique<ReplaceDetail>();
  ReplaceDetail& d = *detail;
  decoding.require("tile");
  if (decoding.accept("swizzle_atomicity")) decoding.fail("the field .swizzle_atomicity needs sm_100");
  d.field = static_cast<MapField>(
      decoding.require_one({"global_address", "rank", "box_dim", "global_dim", "global_stride",
                            "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"}));
  const int space = decoding.accept_one({"global", "shared::cta"});
  if (space >= 0) d.space = space == 0 ? Space::global : Space::shared;
  decoding.require("b1024");
  const bool is_wide = d.field == MapField::global_address || d.field == MapField::global_stride;
  decoding.require(is_wide ? "b64" : "b32");
  const bool has_ordinal = d.field >= MapField::box_dim && d.field <= MapField::element_stride;
  decoding.require_count(has_ordinal ? 3 : 2, has_ordinal ? 3 : 2);
  d.map = add_address(decoding, 0);
  if (has_ordinal) {
    const std::int64_t ordinal = immediate(decoding, 1, "the ordinal");
    const std::int64_t most = d.field == MapField::global_stride ? 3 : 4;
    if (ordinal < 0 || ordinal > most) {
      decoding.fail("the ordinal is " + std::to_string(ordinal) + " but must be from 0 to " +
                    std::to_string(most));
    }
    d.ordinal = static_cast<int>(ordinal);
  }
  if (d.field >= MapField::elemtype) {
    constexpr std::int64_t most[] = {12, 2, 3, 1};
    const std::int64_t value = immediate(decoding, 1, "the new value");
    const std::int64_t limit = most[static_cast<int>(d.field) - static_cast<int>(MapField::elemtype)];
    if (value < 0 || value > limit) {
      decoding.fail("the new value is " + std::to_string(value) + " but must be from 0 to " +
                    std::to_string(limit));
    }
  }
  d.value = add_source(decoding, has_ordinal ? 2 : 1, is_wide ? Type::b64 : Type::b32);
  decoding.op().handler = run_replace;
  decoding.op().detail = std::move(detail);
}

struct CopyDetail : Detail {
  AddressOperand to, from;
};

// The warp copies one map from shared to global memory. Its fence needs no action, as all proxies share one
// memory.
Flow run_copy_map(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const CopyDetail&>(*op.detail);
  const int lane = first_lane(active);
  std::uint8_t bytes[128];
  if (!warp.cluster().load(warp.actor(lane), Space::shared, d.from.of(warp, op, lane), bytes, 128,
                           Order::weak, 128)) {
    return Flow::next;
  }
  warp.cluster().store(warp.actor(lane), Space::global, d.to.of(warp, op, lane), bytes, 128, Order::weak,
                       128);
  return Flow::next;
}

void decode_copy_map(Decoding& decoding) {
  auto detail = std::make_unique<CopyDetail>();
  for (const char* modifier : {"global", "shared::cta", "tensormap::generic", "release"})
    decoding.require(modifier);
  decoding.require_one({"cta", "cluster", "gpu", "sys"});
  decoding.require("sync");
  decoding.require("aligned");
  decoding.require_count(3, 3);
  detail->to = add_address(decoding, 0);
  detail->from = add_address(decoding, 1);
  if (immediate(decoding, 2, "the size") != 128) decoding.fail("the size must be 128");
  decoding.op().aligned = true;
  decoding.op().handler = run_copy_map;
  decoding.op().detail = std::move(detail);
}

void decode_tensormap(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  if (decoding.require_one({"replace", "cp_fenceproxy"}) == 0) {
    decode_replace(decoding);
  } else {
    decode_copy_map(decoding);
  }
  decoding.finish();
}

}  // namespace

bool load_tensor_map(Cluster& cluster, const Actor& actor, Space space, std::uint64_t address, int rank,
                     MappedTensor& tensor) {
  std::uint8_t bytes[128];
  if (!cluster.load(actor, space, address, bytes, 128, Order::weak, 64)) return false;
  const bool is_zero = std::all_of(bytes, bytes + 128, [](std::uint8_t byte) { return byte == 0; });
  std::string wrong = is_zero ? "All its bytes are zero: nothing was made of them." : decode_problem(bytes);
  if (wrong.empty()) {
    decode(bytes, tensor);
    wrong = problem(tensor);
  }
  if (wrong.empty() && rank != 0 && rank != tensor.rank) {
    wrong = "Its rank is " + std::to_string(tensor.rank) + " but the instruction is ." +
            std::to_string(rank) + "d.";
  }
  if (wrong.empty()) wrong = interleave_problem(tensor);
  if (wrong.empty()) return true;
  cluster.report(FindingKind::argument, actor.issue, address,
                 [&] { return "The tensor map at " + hex(address) + " cannot be used: " + wrong; });
  return false;
}

void add_tensor_map_instructions(Decoders& decoders) {
  decoders["tensormap"] = decode_tensormap;
}

}  // namespace tenon::emulator
