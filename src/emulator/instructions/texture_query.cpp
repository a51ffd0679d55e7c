// txq and suq (PTX ISA 9.7.10.4 and 9.7.11.4): the size of a texture or surface object.
#include "emulator/instructions/texture.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

// As decoded.
enum class Query : std::uint8_t { width, height, depth, array_size, mipmap_levels, normalized_coords };

struct QueryDetail : TextureDetail {
  Query query = Query::width;
  bool of_surface = false;
  std::size_t level = 0;  // index in op.values; 0: of the whole object
};

std::uint32_t answer_of(Query query, const TextureObject& object, const Image& level) {
  switch (query) {
    case Query::width:
      return level.width;
    case Query::height:
      return level.height;
    case Query::depth:
      return level.depth;
    case Query::array_size:
      return level.layers;
    case Query::mipmap_levels:
      return object.image.levels;
    default:
      return object.sampling.normalized_coordinates ? 1 : 0;
  }
}

// What no document says, as a sentence; empty: nothing.
std::string undefined(const QueryDetail& d, const Image& image, std::uint32_t level) {
  if (level >= std::max(image.levels, 1U))
    return "The level is " + std::to_string(level) + ", outside the " + std::to_string(image.levels) +
           " levels; what a query gives there is not documented.";
  if (image.is_cube && d.query == Query::array_size && image.layers != 0)
    return "The texture has layers of cube faces; whether the size of the array counts faces is not "
           "documented.";
  return {};
}

Flow run_query(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const QueryDetail&>(*op.detail);
  for_each_lane(active, [&](int lane) {
    const TextureObject* const object = object_of(warp, op, lane, d.of_surface, false);
    const std::uint32_t level =
        d.level == 0 ? 0 : static_cast<std::uint32_t>(warp.read(op.values[d.level], lane));
    const std::string unknown = object == nullptr ? "" : undefined(d, object->image, level);
    const bool is_known = object != nullptr && unknown.empty();
    const std::uint32_t answer = is_known ? answer_of(d.query, *object, object->level(level)) : 0;
    if (!unknown.empty())
      warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane),
                  [&] { return std::string(unknown); });
    if (is_known && answer == 0 && d.query != Query::normalized_coords) {
      constexpr const char* lacks[] = {"width", "height", "depth", "layers", "mipmap levels"};
      warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane), [&] {
        return std::string("The ") + (d.of_surface ? "surface" : "texture") + " has " +
               dimensions_text(object->image) + ": it has no " + lacks[static_cast<int>(d.query)] + ".";
      });
    }
    warp.write(op.values[0], lane, answer);
  });
  return Flow::next;
}

// txq.query.b32 d, [a]; txq.level.query.b32 d, [a], level; suq.query.b32 d, [a];
void decode_query(Decoding& decoding, bool of_surface) {
  auto detail = std::make_unique<QueryDetail>();
  detail->of_surface = of_surface;
  const bool of_level = !of_surface && decoding.accept("level");
  detail->query =
      static_cast<Query>(of_level     ? decoding.require_one({"width", "height", "depth"})
                         : of_surface ? decoding.require_one({"width", "height", "depth", "array_size"})
                                      : decoding.require_one({"width", "height", "depth", "array_size",
                                                              "num_mipmap_levels", "normalized_coords"}));
  decoding.type({Type::b32});
  decoding.require_count(of_level ? 3 : 2, of_level ? 3 : 2);
  decoding.destination(0, Type::b32);
  decode_object(decoding, 1, *detail);
  if (of_level) {
    detail->level = decoding.op().values.size();
    decoding.require_width(decoding.operand(2), Type::s32);
    decoding.op().values.push_back(decoding.scope().value(decoding.operand(2), Type::s32));
  }
  decoding.op().handler = run_query;
  decoding.op().detail = std::move(detail);
}

void decode_txq(Decoding& decoding) {
  decode_query(decoding, false);
}
void decode_suq(Decoding& decoding) {
  decode_query(decoding, true);
}

}  // namespace

void add_query_instructions(Decoders& decoders) {
  decoders["txq"] = decoder<decode_txq>;
  decoders["suq"] = decoder<decode_suq>;
}

}  // namespace tenon::emulator
