// txq and suq (PTX ISA 9.7.10.4 and 9.7.11.4): the size of a texture or surface object.
#include "emulator/instructions/texture.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

enum class Query : std::uint8_t { width, height, depth, array_size, normalized_coords };  // as decoded

struct QueryDetail : TextureDetail {
  Query query = Query::width;
  bool of_surface = false;
};

std::uint32_t answer_of(Query query, const TextureObject& object) {
  switch (query) {
    case Query::width:
      return object.image.width;
    case Query::height:
      return object.image.height;
    case Query::depth:
      return object.image.depth;
    case Query::array_size:
      return object.image.layers;
    default:
      return object.sampling.normalized_coordinates ? 1 : 0;
  }
}

Flow run_query(Warp& warp, const Op& op, LaneMask active) {
  const auto& d = static_cast<const QueryDetail&>(*op.detail);
  for_each_lane(active, [&](int lane) {
    const TextureObject* const object = object_of(warp, op, lane, d.of_surface, false);
    const std::uint32_t answer = object == nullptr ? 0 : answer_of(d.query, *object);
    if (object != nullptr && answer == 0 && d.query != Query::normalized_coords) {
      constexpr const char* lacks[] = {"width", "height", "depth", "layers"};
      warp.report(FindingKind::argument, lane, warp.read(op.values[d.object], lane), [&] {
        return std::string("The ") + (d.of_surface ? "surface" : "texture") + " has " +
               dimensions_text(object->image) + ": it has no " + lacks[static_cast<int>(d.query)] + ".";
      });
    }
    warp.write(op.values[0], lane, answer);
  });
  return Flow::next;
}

// txq.query.b32 d, [a]; suq.query.b32 d, [a];
void decode_query(Decoding& decoding, bool of_surface) {
  auto detail = std::make_unique<QueryDetail>();
  detail->of_surface = of_surface;
  detail->query = static_cast<Query>(
      of_surface ? decoding.require_one({"width", "height", "depth", "array_size"})
                 : decoding.require_one({"width", "height", "depth", "array_size", "normalized_coords"}));
  decoding.type({Type::b32});
  decoding.require_count(2, 2);
  decoding.destination(0, Type::b32);
  decode_object(decoding, 1, *detail);
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
