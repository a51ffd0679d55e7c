// suld, sust and sured (PTX ISA 9.7.11) of surface objects with one to three dimensions, or with layers of
// one or two: unformatted, the first coordinate in bytes. Stores and reductions may be formatted: it counts
// texels then, and a store converts each component to the texels' format.
#include <algorithm>
#include <cstring>
#include <optional>

#include "emulator/instructions/async_copy_reduce.hpp"
#include "emulator/instructions/texture.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

enum class Outside : std::uint8_t { trap, clamp, zero };  // what an access outside the surface does

struct SurfaceDetail : TextureDetail {
  Outside outside = Outside::trap;
  bool is_formatted = false, is_reduction = false;
  Reduction reduction = Reduction::add;
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(width(type) / 8 * elements); }
};

const SurfaceDetail& surface_detail_of(const Op& op) {
  return static_cast<const SurfaceDetail&>(*op.detail);
}

// A lane's access: its address, nothing (.zero outside, or after a finding), or a trap.
struct Place {
  std::optional<std::uint64_t> address;
  bool traps = false;
  const TexelFormat* format = nullptr;  // with an address
};

// Whether the texels are what a formatted access needs. A reduction: one integer of 32 bits. A store: all of
// their components.
bool is_accessible(Warp& warp, const Op& op, int lane, const TexelFormat& format) {
  const SurfaceDetail& d = surface_detail_of(op);
  if (!d.is_reduction) {
    if (d.elements >= format.channels) return true;
    warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane), [&] {
      return "The texels have " + std::to_string(format.channels) + " channels, and the instruction stores " +
             std::to_string(d.elements) + "; the others get unpredictable values.";
    });
    return false;
  }
  if (format.kind != TexelKind::real && format.bits == 32 && format.channels == 1) return true;
  warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane), [&] {
    return "The texels have " + std::to_string(format.channels) + " channels of " +
           std::to_string(format.bits) + " bits" + (format.kind == TexelKind::real ? ", reals" : "") +
           "; a formatted reduction needs one integer of 32 bits.";
  });
  return false;
}

Place place_of(Warp& warp, const Op& op, int lane) {
  const SurfaceDetail& d = surface_detail_of(op);
  const TextureObject* const object = object_of(warp, op, lane, true, true);
  if (object == nullptr) return {};
  const Image& image = object->image;
  if (d.is_formatted && !is_accessible(warp, op, lane, image.format)) return {};
  const std::optional<std::int64_t> layer = layer_of(warp, op, lane, *object);
  if (!layer) return {std::nullopt, d.outside == Outside::trap};
  const auto coordinate = [&](int i) -> std::int64_t {
    return i < d.rank ? static_cast<std::int32_t>(warp.read(op.values[d.coordinate(i)], lane)) : 0;
  };
  const std::int64_t size = d.is_formatted ? texel_bytes(image.format) : d.bytes();
  const std::int64_t row = std::int64_t{image.width} * texel_bytes(image.format);
  const std::int64_t rows = std::max(image.height, 1U), planes = std::max(image.depth, 1U);
  std::int64_t x = coordinate(0) * (d.is_formatted ? size : 1), y = coordinate(1), z = coordinate(2);
  const std::uint64_t handle = warp.read(op.values[d.object], lane);
  if (x % size != 0) {
    warp.report(FindingKind::misaligned, lane, handle, [&] {
      return "The coordinate x is " + std::to_string(x) + " bytes, but must be a multiple of the " +
             std::to_string(size) + " bytes of the access.";
    });
    return {};
  }
  const bool is_inside = x >= 0 && x + size <= row && y >= 0 && y < rows && z >= 0 && z < planes;
  if (!is_inside && d.outside == Outside::zero) return {};
  if (!is_inside && (d.outside == Outside::trap || row < size)) {
    const bool traps = d.outside == Outside::trap, has_depth = d.rank == 3;
    warp.report(traps ? FindingKind::trap : FindingKind::out_of_bounds, lane, handle, [&] {
      return "The access of " + std::to_string(size) + " bytes at (" + std::to_string(x) + ", " +
             std::to_string(y) + (has_depth ? ", " + std::to_string(z) : "") +
             ") is outside the surface of " + std::to_string(row) + " bytes x " + std::to_string(rows) +
             " rows" + (has_depth ? " x " + std::to_string(planes) + " planes" : "") +
             (traps ? ", which ends the kernel." : ", which has no room for it.");
    });
    return {std::nullopt, traps};
  }
  // .clamp: the nearest location of the access's size.
  x = std::clamp<std::int64_t>(x, 0, (row / size - 1) * size);
  y = std::clamp<std::int64_t>(y, 0, rows - 1);
  z = std::clamp<std::int64_t>(z, 0, planes - 1);
  return {texel_address(image, 0, y, z + *layer) + static_cast<std::uint64_t>(x), false, &image.format};
}

// `access(lane, place)`; the place has no address where memory is not accessed.
template <class Access>
Flow for_each_access(Warp& warp, const Op& op, LaneMask active, Access&& access) {
  bool traps = false;
  for_each_lane(active, [&](int lane) {
    const Place place = place_of(warp, op, lane);
    traps = traps || place.traps;
    access(lane, place);
  });
  if (!traps) return Flow::next;
  warp.cluster().abort();
  return Flow::blocked;
}

Flow load_surface(Warp& warp, const Op& op, LaneMask active) {
  const SurfaceDetail& d = surface_detail_of(op);
  return for_each_access(warp, op, active, [&](int lane, const Place& place) {
    std::uint8_t data[16] = {};
    // The alignment is that of the coordinate: where rows begin is the host's matter.
    if (place.address)
      warp.cluster().load(warp.actor(lane), Space::global, *place.address, data, d.bytes(), Order::weak, 1);
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
  return for_each_access(warp, op, active, [&](int lane, const Place& place) {
    if (!place.address) return;
    std::uint8_t data[16] = {};
    const auto size = static_cast<std::size_t>(width(d.type) / 8);
    for (std::size_t i = 0; i < static_cast<std::size_t>(d.elements); ++i) {
      const std::uint64_t bits = warp.read(op.values[i], lane);
      std::memcpy(data + i * size, &bits, size);
    }
    warp.cluster().store(warp.actor(lane), Space::global, *place.address, data, d.bytes(), Order::weak, 1);
  });
}

Flow store_formatted(Warp& warp, const Op& op, LaneMask active) {
  return for_each_access(warp, op, active, [&](int lane, const Place& place) {
    if (!place.address) return;
    const TexelFormat& format = *place.format;
    std::uint8_t data[16] = {};
    for (int i = 0; i < format.channels; ++i) {
      const auto value = static_cast<std::uint32_t>(warp.read(op.values[static_cast<std::size_t>(i)], lane));
      const Channel channel = channel_of(format, value);
      if (!channel.is_defined)
        warp.report(FindingKind::argument, lane, *place.address, [&] {
          const bool is_signed = format.kind == TexelKind::signed_integer;
          return "The component " + std::string(1, "rgba"[i]) + " is " +
                 (is_signed ? std::to_string(static_cast<std::int32_t>(value)) : std::to_string(value)) +
                 ", which " + std::to_string(format.bits) + "-bit " + (is_signed ? "signed" : "unsigned") +
                 " texels do not hold; what a formatted store writes then is not documented.";
        });
      const std::ptrdiff_t size = format.bits / 8;
      std::memcpy(data + i * size, &channel.bits, static_cast<std::size_t>(size));
    }
    warp.cluster().store(warp.actor(lane), Space::global, *place.address, data,
                         static_cast<std::uint32_t>(texel_bytes(format)), Order::weak, 1);
  });
}

Flow reduce_surface(Warp& warp, const Op& op, LaneMask active) {
  const SurfaceDetail& d = surface_detail_of(op);
  return for_each_access(warp, op, active, [&](int lane, const Place& place) {
    if (!place.address) return;
    const std::uint64_t bits = warp.read(op.values[0], lane);
    std::uint8_t data[8];
    std::memcpy(data, &bits, sizeof data);
    const bool is_bitwise = d.reduction == Reduction::and_bits || d.reduction == Reduction::or_bits;
    const bool is_signed = place.format->kind == TexelKind::signed_integer;
    const Type type = !d.is_formatted || is_bitwise ? d.type : is_signed ? Type::s32 : Type::u32;
    reduce_into(warp.cluster(), warp.actor(lane), Space::global, *place.address, data, d.bytes(), d.reduction,
                type);
  });
}

// suld.b.geom{.cop}.vec.dtype.clamp d, [a, {b}]; sust.b.geom{.cop}.vec.ctype.clamp [a, {b}], c;
// sust.p.geom{.cop}.vec.b32.clamp [a, {b}], c; as ptxas, with layers too.
void decode_surface_access(Decoding& decoding, bool is_load) {
  auto detail = std::make_unique<SurfaceDetail>();
  if (is_load)
    decoding.require("b");
  else
    detail->is_formatted = decoding.require_one({"b", "p"}) == 1;
  decode_geometry(decoding, *detail);
  decoding.accept_one({is_load ? "ca" : "wb", "cg", "cs", is_load ? "cv" : "wt"});
  const int vector = decoding.accept_one({"v2", "v4"});
  detail->elements = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  detail->type = detail->is_formatted ? decoding.type({Type::b32})
                                      : decoding.type({Type::b8, Type::b16, Type::b32, Type::b64});
  detail->outside = static_cast<Outside>(decoding.require_one({"trap", "clamp", "zero"}));
  if (detail->bytes() > 16)
    decoding.fail(std::to_string(detail->bytes()) + " bytes are more than the 16 of one access");
  decoding.require_count(2, 2);
  decode_data(decoding, is_load ? 0 : 1, *detail, is_load, !detail->is_formatted);
  decode_object(decoding, is_load ? 1 : 0, *detail, Type::s32);
  decoding.op().handler = is_load ? load_surface : detail->is_formatted ? store_formatted : store_surface;
  decoding.op().detail = std::move(detail);
}

void decode_suld(Decoding& decoding) {
  decode_surface_access(decoding, true);
}
void decode_sust(Decoding& decoding) {
  decode_surface_access(decoding, false);
}

// sured.b.op.geom.ctype.clamp [a, {b}], c; sured.p.op.geom.ctype.clamp [a, {b}], c;
void decode_sured(Decoding& decoding) {
  auto detail = std::make_unique<SurfaceDetail>();
  detail->is_reduction = true;
  detail->is_formatted = decoding.require_one({"b", "p"}) == 1;
  constexpr Reduction reductions[] = {Reduction::add, Reduction::min, Reduction::max, Reduction::and_bits,
                                      Reduction::or_bits};
  detail->reduction = reductions[decoding.require_one({"add", "min", "max", "and", "or"})];
  decode_geometry(decoding, *detail);
  if (detail->is_layered) decoding.fail("a reduction has no layers: .1d, .2d or .3d is needed");
  if (detail->is_formatted) {
    if (decoding.accept("b64"))
      decoding.fail("no surface of the emulator has the 64-bit integers that a formatted .b64 needs");
    detail->type = decoding.type({Type::b32});
  } else if (detail->reduction == Reduction::add) {
    detail->type = decoding.type({Type::u32, Type::u64, Type::s32});
  } else if (detail->reduction == Reduction::min || detail->reduction == Reduction::max) {
    detail->type = decoding.type({Type::u32, Type::s32, Type::u64, Type::s64});
  } else {
    detail->type = decoding.type({Type::b32});
  }
  detail->outside = static_cast<Outside>(decoding.require_one({"trap", "clamp", "zero"}));
  decoding.require_count(2, 2);
  decode_data(decoding, 1, *detail, false, false);
  decode_object(decoding, 0, *detail, Type::s32);
  decoding.op().handler = reduce_surface;
  decoding.op().detail = std::move(detail);
}

}  // namespace

void add_surface_instructions(Decoders& decoders) {
  decoders["suld"] = decoder<decode_suld>;
  decoders["sust"] = decoder<decode_sust>;
  decoders["sured"] = decoder<decode_sured>;
}

}  // namespace tenon::emulator
