// tex and tld4 (PTX ISA 9.7.10) of texture objects with one to three dimensions, with layers of one or two,
// or with the faces of a cube, and of mipmaps of these: decoding, and whether the instruction fits the
// object. texture_sample.hpp reads the texels.
#include "emulator/instructions/texture_sample.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

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
  const auto& d = static_cast<const FetchDetail&>(*op.detail);
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

bool fetch(Warp& warp, const Op& op, int lane, std::uint32_t (&result)[4]) {
  const TextureObject* const object = object_of(warp, op, lane, false, true);
  if (object == nullptr || !is_fitting(warp, op, lane, *object)) return false;
  const bool is_linear = static_cast<const FetchDetail&>(*op.detail).by_integer;
  return is_linear ? fetch_linear(warp, op, lane, *object, result)
                   : fetch_sampled(warp, op, lane, *object, result);
}

Flow run_fetch(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    std::uint32_t result[4];
    if (!fetch(warp, op, lane, result)) std::fill(result, result + 4, 0U);
    for (std::size_t i = 0; i < 4; ++i) warp.write(op.values[i], lane, result[i]);
  });
  return Flow::next;
}

// A gradient: as many elements in braces as there are dimensions, and after three one that is ignored.
void decode_gradient(Decoding& decoding, int operand, int rank) {
  const auto* list = std::get_if<ptx::Vector>(&decoding.operand(operand).value);
  const int given = list == nullptr ? 0 : static_cast<int>(list->elements.size()),
            needed = rank == 3 ? 4 : rank;
  if (given != needed)
    decoding.fail("a gradient has " + std::to_string(given) + " elements in braces where " +
                  std::to_string(needed) + " are needed");
  for (int i = 0; i < rank; ++i) {
    const ptx::Operand& element = list->elements[static_cast<std::size_t>(i)];
    decoding.require_width(element, Type::f32);
    decoding.op().values.push_back(decoding.scope().value(element, Type::f32));
  }
}

// d, [a, {c}]; with a level or two gradients behind them
void decode_operands(Decoding& decoding, std::unique_ptr<FetchDetail> detail) {
  const int needed = 2 + static_cast<int>(detail->mipmap);
  if (decoding.count() > needed) decoding.fail("offsets and depth comparisons of a fetch are not covered");
  decoding.require_count(needed, needed);
  detail->elements = 4;
  decode_data(decoding, 0, *detail, true, false);
  decode_object(decoding, 1, *detail, detail->by_integer ? Type::s32 : Type::f32);
  detail->lod = decoding.op().values.size();
  if (detail->mipmap == Mipmap::level) {
    decoding.require_width(decoding.operand(2), Type::f32);
    decoding.op().values.push_back(decoding.scope().value(decoding.operand(2), Type::f32));
  }
  for (int i = 2; detail->mipmap == Mipmap::gradients && i < 4; ++i)
    decode_gradient(decoding, i, detail->rank);
  decoding.op().handler = run_fetch;
  decoding.op().detail = std::move(detail);
}

void decode_tex(Decoding& decoding) {
  auto detail = std::make_unique<FetchDetail>();
  const int mipmap = decoding.accept_one({"base", "level", "grad"});
  detail->mipmap = static_cast<Mipmap>(std::max(mipmap, 0));
  decode_geometry(decoding, *detail, true);
  if (detail->is_cube && detail->mipmap == Mipmap::gradients)
    decoding.fail("gradients of a cube map are not covered: no document says which level they select");
  decoding.require("v4");
  detail->type = decoding.type({Type::u32, Type::s32, Type::f32});
  detail->by_integer = decoding.type({Type::s32, Type::f32}) == Type::s32;
  if (detail->by_integer && (detail->rank != 1 || detail->is_layered))
    decoding.fail("integer coordinates are for .1d, which fetches from linear memory");
  if (detail->by_integer && detail->mipmap != Mipmap::base)
    decoding.fail("integer coordinates fetch from linear memory, which has no mipmap");
  decode_operands(decoding, std::move(detail));
}

void decode_tld4(Decoding& decoding) {
  auto detail = std::make_unique<FetchDetail>();
  detail->gathered = decoding.require_one({"r", "g", "b", "a"});
  decode_geometry(decoding, *detail, true);
  if (detail->rank != 2 && !detail->is_cube)
    decoding.fail("the geometry .2d, .a2d, .cube or .acube is needed");
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
