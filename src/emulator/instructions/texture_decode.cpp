// Operands of the instructions of textures and surfaces, and the object that a lane names.
#include "emulator/instructions/texture.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

void add_object(Decoding& decoding, TextureDetail& detail, const ptx::Address& address) {
  ptx::Operand object;
  const auto* reg = std::get_if<ptx::Register>(&address.base);
  if (reg == nullptr || address.offset != 0)
    decoding.fail(
        "the object must be a 64-bit register: the emulator knows texture and surface objects, and no "
        ".texref, "
        ".samplerref and .surfref");
  object.value = *reg;
  decoding.require_width(object, Type::b64);
  detail.object = decoding.op().values.size();
  decoding.op().values.push_back(decoding.scope().value(object, Type::b64));
}

}  // namespace

void decode_geometry(Decoding& decoding, TextureDetail& detail, bool of_texture) {
  for (const char* other : {"2dms", "a2dms"})
    if (decoding.accept(other))
      decoding.fail("the geometry ." + std::string(other) +
                    " is not covered: .1d, .2d, .3d, .a1d, .a2d, .cube and .acube are");
  if (const int cube = of_texture ? decoding.accept_one({"cube", "acube"}) : -1; cube >= 0) {
    detail.is_cube = true;
    detail.is_layered = cube == 1;
    detail.rank = 3;
    return;
  }
  const int chosen = decoding.require_one({"1d", "2d", "3d", "a1d", "a2d"});
  detail.is_layered = chosen >= 3;
  detail.rank = chosen % 3 + 1;
}

void decode_object(Decoding& decoding, int operand, TextureDetail& detail, Type type) {
  const auto* pair = std::get_if<ptx::TensorAddress>(&decoding.operand(operand).value);
  if (pair == nullptr) decoding.fail("[object, {coordinates}] is needed");
  const std::size_t used = static_cast<std::size_t>(detail.rank) + (detail.is_layered ? 1 : 0);
  const std::size_t given = pair->coordinates.size(), needed = used == 3 ? 4 : used;
  if (given != needed)
    decoding.fail(std::to_string(given) + " coordinates are given where " + detail.geometry() + " needs " +
                  std::to_string(needed));
  add_object(decoding, detail, pair->map);
  for (std::size_t i = 0; i < used; ++i) {
    const ptx::Operand& coordinate = pair->coordinates[i];
    const Type its_type = detail.is_layered && i == 0 ? Type::u32 : type;
    decoding.require_width(coordinate, its_type);
    decoding.op().values.push_back(decoding.scope().value(coordinate, its_type));
  }
}

void decode_object(Decoding& decoding, int operand, TextureDetail& detail) {
  const auto* address = std::get_if<ptx::Address>(&decoding.operand(operand).value);
  if (address == nullptr) decoding.fail("an object in brackets is needed, such as [%rd1]");
  add_object(decoding, detail, *address);
}

void decode_data(Decoding& decoding, int operand, const TextureDetail& detail, bool is_destination,
                 bool may_be_wider) {
  const ptx::Operand& data = decoding.operand(operand);
  const auto* list = std::get_if<ptx::Vector>(&data.value);
  const auto check = [&](const ptx::Operand& element) {
    if (element.negated || element.predicate)
      decoding.fail("a register has a negation or a predicate; whether texels are resident is not covered");
    const auto* reg = std::get_if<ptx::Register>(&element.value);
    if (reg == nullptr) {
      if (is_destination && !std::holds_alternative<ptx::Sink>(element.value))
        decoding.fail("a register is needed to read to");
      return;
    }
    if (!may_be_wider) return decoding.require_width(element, detail.type);
    const Type declared = decoding.scope().register_type(*reg);
    if (declared == Type::pred || width(declared) < width(detail.type) || width(declared) > 64)
      decoding.fail("a register of type ." + std::string(name(declared)) +
                    " does not hold a value of type ." + name(detail.type));
  };
  const int given = list == nullptr ? 1 : static_cast<int>(list->elements.size());
  if (given != detail.elements)
    decoding.fail(std::to_string(given) + " registers are given where " + std::to_string(detail.elements) +
                  " are needed");
  if (data.predicate) check(data);
  if (list == nullptr) check(data);
  for (int i = 0; list != nullptr && i < given; ++i) check(list->elements[static_cast<std::size_t>(i)]);
  const std::vector<Value> values = decoding.scope().values(data, detail.type);
  decoding.op().values.insert(decoding.op().values.end(), values.begin(), values.end());
}

const TextureObject* object_of(Warp& warp, const Op& op, int lane, bool is_surface, bool has_coordinates) {
  const auto& d = static_cast<const TextureDetail&>(*op.detail);
  const std::uint64_t handle = warp.read(op.values[d.object], lane);
  const TextureObjects* const objects = warp.launch().textures;
  const TextureObject* const object = objects == nullptr ? nullptr : objects->find(handle);
  const std::string needed = is_surface ? "surface" : "texture";
  std::string wrong;
  if (object == nullptr) {
    wrong = " is none that the host has made.";
  } else if (object->is_destroyed) {
    wrong = " was destroyed by the host.";
  } else if (object->is_surface != is_surface) {
    wrong = is_surface ? " is a texture object." : " is a surface object.";
  } else if (has_coordinates &&
             (object->image.is_cube != d.is_cube || (object->image.layers != 0) != d.is_layered ||
              (!d.is_cube && dimensions(object->image) != d.rank))) {
    wrong = " has " + dimensions_text(object->image) + ", and the instruction is " + d.geometry() + ".";
  }
  if (wrong.empty()) return object;
  warp.report(FindingKind::argument, lane, handle,
              [&] { return "The " + needed + " object " + hex(handle) + wrong; });
  return nullptr;
}

std::optional<std::int64_t> layer_of(Warp& warp, const Op& op, int lane, const TextureObject& object) {
  const auto& d = static_cast<const TextureDetail&>(*op.detail);
  if (!d.is_layered) return 0;
  const auto layer = static_cast<std::uint32_t>(warp.read(op.values[d.object + 1], lane));
  if (layer < object.image.layers) return layer;
  warp.report(FindingKind::out_of_bounds, lane, warp.read(op.values[d.object], lane), [&] {
    return "The layer is " + std::to_string(layer) + ", outside the " + std::to_string(object.image.layers) +
           " layers; what an access does there is not documented.";
  });
  return std::nullopt;
}

}  // namespace tenon::emulator
