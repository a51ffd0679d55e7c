// suld, sust and suq (PTX ISA 9.7.11) of surface objects with one and two dimensions: unformatted, the first
// coordinate in bytes.
#include <algorithm>
#include <cstring>
#include <optional>

#include "emulator/instructions/texture.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

enum class Outside : std::uint8_t { trap, clamp, zero };  // what an access outside the surface does

struct SurfaceDetail : TextureDetail {
  Outside outside = Outside::trap;
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(width(type) / 8 * elements); }
};

const SurfaceDetail& surface_detail_of(const Op& op) {
  return static_cast<const SurfaceDetail&>(*op.detail);
}

// A lane's access: its address, nothing (.zero outside, or after a finding), or a trap.
struct Place {
  std::optional<std::uint64_t> address;
  bool traps = false;
};

Place place_of(Warp& warp, const Op& op, int lane) {
  const SurfaceDetail& d = surface_detail_of(op);
  const TextureObject* const object = object_of(warp, op, lane, true, true);
  if (object == nullptr) return {};
  const auto coordinate = [&](std::size_t i) -> std::int64_t {
    return static_cast<std::int32_t>(warp.read(op.values[d.object + 1 + i], lane));
  };
  const std::int64_t size = d.bytes();
  const std::int64_t row = std::int64_t{object->image.width} * texel_bytes(object->image.format);
  const std::int64_t rows = std::max(object->image.height, 1U);
  std::int64_t x = coordinate(0), y = d.rank == 2 ? coordinate(1) : 0;
  const std::uint64_t handle = warp.read(op.values[d.object], lane);
  if (x % size != 0) {
    warp.report(FindingKind::misaligned, lane, handle, [&] {
      return "The coordinate x is " + std::to_string(x) + " bytes, but must be a multiple of the " +
             std::to_string(size) + " bytes of the access.";
    });
    return {};
  }
  const bool is_inside = x >= 0 && x + size <= row && y >= 0 && y < rows;
  if (!is_inside && d.outside == Outside::zero) return {};
  if (!is_inside && (d.outside == Outside::trap || row < size)) {
    const bool traps = d.outside == Outside::trap;
    warp.report(traps ? FindingKind::trap : FindingKind::out_of_bounds, lane, handle, [&] {
      return "The access of " + std::to_string(size) + " bytes at (" + std::to_string(x) + ", " +
             std::to_string(y) + ") is outside the surface of " + std::to_string(row) + " bytes x " +
             std::to_string(rows) + " rows" +
             (traps ? ", which ends the kernel." : ", which has no room for it.");
    });
    return {std::nullopt, traps};
  }
  // .clamp: the nearest location of the access's size.
  x = std::clamp<std::int64_t>(x, 0, (row / size - 1) * size);
  y = std::clamp<std::int64_t>(y, 0, rows - 1);
  return {object->image.address + static_cast<std::uint64_t>(y) * object->image.pitch +
              static_cast<std::uint64_t>(x),
          false};
}

// `access(lane, address)`; the address is nothing where memory is not accessed.
template <class Access>
Flow for_each_access(Warp& warp, const Op& op, LaneMask active, Access&& access) {
  bool traps = false;
  for_each_lane(active, [&](int lane) {
    const Place place = place_of(warp, op, lane);
    traps = traps || place.traps;
    access(lane, place.address);
  });
  if (!traps) return Flow::next;
  warp.cluster().abort();
  return Flow::blocked;
}

Flow load_surface(Warp& warp, const Op& op, LaneMask active) {
  const SurfaceDetail& d = surface_detail_of(op);
  return for_each_access(warp, op, active, [&](int lane, std::optional<std::uint64_t> address) {
    std::uint8_t data[16] = {};
    // The alignment is that of the coordinate: where rows begin is the host's matter.
    if (address)
      warp.cluster().load(warp.actor(lane), Space::global, *address, data, d.bytes(), Order::weak, 1);
    const auto size = static_cast<std::size_t>(width(d.type) / 8);
    for (std::size_t i = 0; i < static_cast<std::size_t>(d.elements); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, data + i * size, size);
      warp.write(op.values[i], lane, bits);
    }
  });
}

Flow store_surface(Warp& warp, const Op& op, LaneMask active) {
  const SurfaceDetail& d = surface_detail_of(op);
  return for_each_access(warp, op, active, [&](int lane, std::optional<std::uint64_t> address) {
    if (!address) return;
    std::uint8_t data[16] = {};
    const auto size = static_cast<std::size_t>(width(d.type) / 8);
    for (std::size_t i = 0; i < static_cast<std::size_t>(d.elements); ++i) {
      const std::uint64_t bits = warp.read(op.values[i], lane);
      std::memcpy(data + i * size, &bits, size);
    }
    warp.cluster().store(warp.actor(lane), Space::global, *address, data, d.bytes(), Order::weak, 1);
  });
}

// suld.b.geom{.cop}.vec.dtype.clamp d, [a, {b}]; sust.b.geom{.cop}.vec.ctype.clamp [a, {b}], c;
void decode_surface_access(Decoding& decoding, bool is_load) {
  auto detail = std::make_unique<SurfaceDetail>();
  if (decoding.accept("p"))
    decoding.fail("formatted accesses (.p) are not covered: unformatted ones (.b) are");
  decoding.require("b");
  decode_geometry(decoding, *detail);
  decoding.accept_one({is_load ? "ca" : "wb", "cg", "cs", is_load ? "cv" : "wt"});
  const int vector = decoding.accept_one({"v2", "v4"});
  detail->elements = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  detail->type = decoding.type({Type::b8, Type::b16, Type::b32, Type::b64});
  detail->outside = static_cast<Outside>(decoding.require_one({"trap", "clamp", "zero"}));
  if (detail->bytes() > 16)
    decoding.fail(std::to_string(detail->bytes()) + " bytes are more than the 16 of one access");
  decoding.require_count(2, 2);
  decode_data(decoding, is_load ? 0 : 1, *detail, is_load, true);
  decode_object(decoding, is_load ? 1 : 0, *detail, Type::s32);
  decoding.op().handler = is_load ? load_surface : store_surface;
  decoding.op().detail = std::move(detail);
}

void decode_suld(Decoding& decoding) {
  decode_surface_access(decoding, true);
}
void decode_sust(Decoding& decoding) {
  decode_surface_access(decoding, false);
}
void decode_sured(Decoding& decoding) {
  decoding.fail("reductions in surfaces are not covered");
}

// op.bits: 0 what is asked for
Flow run_surface_query(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const TextureObject* const object = object_of(warp, op, lane, true, false);
    std::uint64_t answer = 0;
    if (object != nullptr) {
      answer = op.bits[0] == 0 ? object->image.width : object->image.height;
      if (answer == 0) {
        warp.report(FindingKind::argument, lane, warp.read(op.values[1], lane),
                    [] { return std::string("The surface has one dimension: it has no height."); });
      }
    }
    warp.write(op.values[0], lane, answer);
  });
  return Flow::next;
}

void decode_suq(Decoding& decoding) {
  auto detail = std::make_unique<TextureDetail>();
  decoding.op().bits[0] = static_cast<std::uint32_t>(decoding.require_one({"width", "height"}));
  decoding.type({Type::b32});
  decoding.require_count(2, 2);
  decoding.destination(0, Type::b32);
  decode_object(decoding, 1, *detail);
  decoding.op().handler = run_surface_query;
  decoding.op().detail = std::move(detail);
}

}  // namespace

void add_surface_instructions(Decoders& decoders) {
  decoders["suld"] = decoder<decode_suld>;
  decoders["sust"] = decoder<decode_sust>;
  decoders["sured"] = decoder<decode_sured>;
  decoders["suq"] = decoder<decode_suq>;
}

}  // namespace tenon::emulator
