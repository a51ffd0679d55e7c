// tex and tld4 (PTX ISA 9.7.10) of texture objects with one to three dimensions, or with layers of one or
// two. machine/textures.hpp selects the texels and their weights. Reads of texels are checked as loads are.
// The texture cache is not modelled: a fetch of bytes that the same kernel has written, which a GPU leaves
// undefined, is no finding.
#include "emulator/instructions/texture.hpp"

#include <cstring>

#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

using ptx::Space;
using ptx::Type;

// A fetch of a channel that the format lacks: the documents do not say, an H200 gives zero for one and for
// two channels.
constexpr std::uint32_t no_channel = 0;

struct FetchDetail : TextureDetail {
  bool by_integer = false;
  int gathered = -1;  // the component of tld4
};

const FetchDetail& detail_of(const Op& op) {
  return static_cast<const FetchDetail&>(*op.detail);
}

std::string kind_text(const TextureObject& object) {
  const TexelFormat& format = object.image.format;
  const std::string bits = std::to_string(format.bits) + "-bit ";
  if (format.kind == TexelKind::real) return bits + "reals";
  return bits + (format.kind == TexelKind::signed_integer ? "signed" : "unsigned") + " integers" +
         (object.gives_reals() ? " read as reals" : "");
}

Type result_type(const TextureObject& object) {
  if (object.gives_reals()) return Type::f32;
  return object.image.format.kind == TexelKind::signed_integer ? Type::s32 : Type::u32;
}

// Whether the instruction fits the texture: its result, its coordinates.
bool is_fitting(Warp& warp, const Op& op, int lane, const TextureObject& object) {
  const FetchDetail& d = detail_of(op);
  const std::uint64_t handle = warp.read(op.values[d.object], lane);
  const Type type = result_type(object);
  // Integers of 32 bits are the same bits for both.
  const bool is_alike = object.image.format.bits == 32 && type != Type::f32 && d.type != Type::f32;
  if (type != d.type && !is_alike) {
    warp.report(FindingKind::argument, lane, handle, [&] {
      return "The texels are " + kind_text(object) + ", which ." + name(type) +
             " reads, and the instruction reads ." + name(d.type) + ".";
    });
    return false;
  }
  if (object.image.is_linear == d.by_integer) return true;
  warp.report(FindingKind::argument, lane, handle, [&]() -> std::string {
    return d.by_integer
               ? "The texture is not of linear memory, which alone integers can fetch from."
               : "The texture is of linear memory, which needs an integer coordinate (tex.1d with .s32).";
  });
  return false;
}

// The components of one texel; of the border, zeros. False: nothing could be read.
bool read_texel(Warp& warp, int lane, const TextureObject& object, std::int64_t x, std::int64_t y,
                std::int64_t plane, std::uint32_t (&components)[4]) {
  const TexelFormat& format = object.image.format;
  std::fill(components, components + 4, no_channel);
  std::fill(components, components + format.channels, 0U);
  if (x == outside || y == outside || plane == outside) return true;
  std::uint8_t bytes[16];
  if (!warp.load(lane, Space::global, object.address_of(x, y, plane), bytes,
                 static_cast<std::uint32_t>(texel_bytes(format))))
    return false;
  for (int i = 0; i < format.channels; ++i) {
    std::uint32_t channel = 0;
    const std::ptrdiff_t size = format.bits / 8;
    std::memcpy(&channel, bytes + i * size, static_cast<std::size_t>(size));
    components[i] = component(object, channel);
  }
  return true;
}

// The texels that a lane selects along x, y and the planes: z, or the layer.
using Selection = Texels[3];

// `linear` pairs of neighbours, or one texel.
bool select(Warp& warp, const Op& op, int lane, const TextureObject& object, bool is_linear, Selection& at) {
  const FetchDetail& d = detail_of(op);
  const std::optional<std::int64_t> layer = layer_of(warp, op, lane, object);
  if (!layer) return false;
  at[2].first = at[2].second = *layer;
  const std::uint32_t sizes[] = {object.image.width, object.image.height, object.image.depth};
  for (int i = 0; i < d.rank; ++i) {
    const auto bits = static_cast<std::uint32_t>(warp.read(op.values[d.coordinate(i)], lane));
    float coordinate;
    std::memcpy(&coordinate, &bits, 4);
    const Sampling& sampling = object.sampling;
    if (texels_at(coordinate, sizes[i], sampling.address[i], sampling.normalized_coordinates, is_linear,
                  at[i]))
      continue;
    warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane), [&] {
      return std::string("The coordinate ") + "xyz"[i] + " is " + std::to_string(coordinate) +
             ", for which the address mode defines no texel.";
    });
    return false;
  }
  return true;
}

// The index in linear memory. Outside it only the border mode has one meaning in all documents.
bool fetch_linear(Warp& warp, const Op& op, int lane, const TextureObject& object,
                  std::uint32_t (&result)[4]) {
  const auto x = static_cast<std::int32_t>(warp.read(op.values[detail_of(op).object + 1], lane));
  if (x >= 0 && static_cast<std::uint32_t>(x) < object.image.width)
    return read_texel(warp, lane, object, x, 0, 0, result);
  if (object.sampling.address[0] == TextureAddressMode::border)
    return read_texel(warp, lane, object, outside, 0, 0, result);
  warp.report(FindingKind::out_of_bounds, lane, object.address_of(x, 0, 0), [&] {
    return "The coordinate is " + std::to_string(x) + ", outside the " + std::to_string(object.image.width) +
           " texels of the linear memory; what a fetch gives there is documented for the border mode only.";
  });
  return false;
}

// The weighted sum of the texels, in double and rounded once; texels of weight 0 are not read. The documents
// give the formula and not its rounding: the last bits may differ on a GPU.
bool fetch_filtered(Warp& warp, int lane, const TextureObject& object, const Selection& at,
                    std::uint32_t (&result)[4]) {
  double sum[4] = {-0.0, -0.0, -0.0, -0.0};
  for (unsigned texel = 0; texel < 8; ++texel) {
    std::uint32_t weight = 1;  // a multiple of 2^-24
    std::int64_t place[3];
    for (unsigned i = 0; i < 3; ++i) {
      const bool is_second = (texel >> i & 1) != 0;
      weight *= is_second ? at[i].weight : 256 - at[i].weight;
      place[i] = is_second ? at[i].second : at[i].first;
    }
    if (weight == 0) continue;
    std::uint32_t components[4];
    if (!read_texel(warp, lane, object, place[0], place[1], place[2], components)) return false;
    for (int i = 0; i < object.image.format.channels; ++i) {
      float value;
      std::memcpy(&value, &components[i], 4);
      sum[i] += double{value} * weight / (1 << 24);
    }
  }
  std::fill(result, result + 4, no_channel);
  for (int i = 0; i < object.image.format.channels; ++i) {
    const auto value = static_cast<float>(sum[i]);
    std::memcpy(&result[i], &value, 4);
    if (value != value) result[i] = static_cast<std::uint32_t>(numerics::f32.nan());
  }
  return true;
}

// One component of the four texels that linear filtering would take, counter-clockwise from the lower left,
// where y points down: (x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y).
bool gather(Warp& warp, int lane, const TextureObject& object, const Selection& at, int component,
            std::uint32_t (&result)[4]) {
  constexpr bool right[] = {false, true, true, false}, down[] = {true, true, false, false};
  for (int i = 0; i < 4; ++i) {
    std::uint32_t components[4];
    if (!read_texel(warp, lane, object, right[i] ? at[0].second : at[0].first,
                    down[i] ? at[1].second : at[1].first, at[2].first, components))
      return false;
    result[i] = components[component];
  }
  return true;
}

bool fetch(Warp& warp, const Op& op, int lane, std::uint32_t (&result)[4]) {
  const FetchDetail& d = detail_of(op);
  const TextureObject* const object = object_of(warp, op, lane, false, true);
  if (object == nullptr || !is_fitting(warp, op, lane, *object)) return false;
  if (d.by_integer) return fetch_linear(warp, op, lane, *object, result);
  Selection at;
  const bool is_linear = d.gathered >= 0 || object->sampling.filter == TextureFilter::linear;
  if (!select(warp, op, lane, *object, is_linear, at)) return false;
  if (d.gathered >= 0) return gather(warp, lane, *object, at, d.gathered, result);
  return is_linear ? fetch_filtered(warp, lane, *object, at, result)
                   : read_texel(warp, lane, *object, at[0].first, at[1].first, at[2].first, result);
}

Flow run_fetch(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    std::uint32_t result[4];
    if (!fetch(warp, op, lane, result)) std::fill(result, result + 4, 0U);
    for (std::size_t i = 0; i < 4; ++i) warp.write(op.values[i], lane, result[i]);
  });
  return Flow::next;
}

// d, [a, {c}]
void decode_operands(Decoding& decoding, std::unique_ptr<FetchDetail> detail) {
  if (decoding.count() > 2) decoding.fail("offsets and depth comparisons of a fetch are not covered");
  decoding.require_count(2, 2);
  detail->elements = 4;
  decode_data(decoding, 0, *detail, true, false);
  decode_object(decoding, 1, *detail, detail->by_integer ? Type::s32 : Type::f32);
  decoding.op().handler = run_fetch;
  decoding.op().detail = std::move(detail);
}

void decode_tex(Decoding& decoding) {
  auto detail = std::make_unique<FetchDetail>();
  for (const char* mipmap : {"base", "level", "grad"})
    if (decoding.accept(mipmap)) decoding.fail("mipmaps (." + std::string(mipmap) + ") are not covered");
  decode_geometry(decoding, *detail);
  decoding.require("v4");
  detail->type = decoding.type({Type::u32, Type::s32, Type::f32});
  detail->by_integer = decoding.type({Type::s32, Type::f32}) == Type::s32;
  if (detail->by_integer && (detail->rank != 1 || detail->is_layered))
    decoding.fail("integer coordinates are for .1d, which fetches from linear memory");
  decode_operands(decoding, std::move(detail));
}

void decode_tld4(Decoding& decoding) {
  auto detail = std::make_unique<FetchDetail>();
  detail->gathered = decoding.require_one({"r", "g", "b", "a"});
  decode_geometry(decoding, *detail);
  if (detail->rank != 2) decoding.fail("the geometry .2d or .a2d is needed");
  decoding.require("v4");
  detail->type = decoding.type({Type::u32, Type::s32, Type::f32});
  decoding.type({Type::f32});
  decode_operands(decoding, std::move(detail));
}

void decode_istypep(Decoding& decoding) {
  decoding.fail("the emulator knows texture and surface objects, and no .texref, .samplerref and .surfref");
}

}  // namespace

void add_texture_instructions(Decoders& decoders) {
  decoders["tex"] = decoder<decode_tex>;
  decoders["tld4"] = decoder<decode_tld4>;
  decoders["istypep"] = decoder<decode_istypep>;
  add_surface_instructions(decoders);
  add_query_instructions(decoders);
}

}  // namespace tenon::emulator
