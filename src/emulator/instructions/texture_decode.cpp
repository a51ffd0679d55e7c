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

void decode_geometry(Decoding& decoding, TextureDetail& detail) {
  for (const char* other : {"3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"})
    if (decoding.accept(other))
      decoding.fail("the geometry ." + std::string(other) + " is not covered: .1d and .2d are");
  detail.rank = decoding.require_one({"1d", "2d"}) + 1;
}

void decode_object(Decoding& decoding, int operand, TextureDetail& detail, Type type) {
  const auto* pair = std::get_if<ptx::TensorAddress>(&decoding.operand(operand).value);
  if (pair == nullptr) decoding.fail("[object, {coordinates}] is needed");
  if (static_cast<int>(pair->coordinates.size()) != detail.rank)
    decoding.fail(std::to_string(pair->coordinates.size()) + " coordinates are given where ." +
                  std::to_string(detail.rank) + "d needs " + std::to_string(detail.rank));
  add_object(decoding, detail, pair->map);
  for (const ptx::Operand& coordinate : pair->coordinates) {
    decoding.require_width(coordinate, type);
    decoding.op().values.push_back(decoding.scope().value(coordinate, type));
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
  const char* wrong = nullptr;
  if (object == nullptr) {
    wrong = " is none that the host has made.";
  } else if (object->is_destroyed) {
    wrong = " was destroyed by the host.";
  } else if (object->is_surface != is_surface) {
    wrong = is_surface ? " is a texture object." : " is a surface object.";
  } else if (has_coordinates && (object->image.height != 0) != (d.rank == 2)) {
    wrong = d.rank == 2 ? " has one dimension, and the instruction is .2d."
                        : " has two dimensions, and the instruction is .1d.";
  }
  if (wrong == nullptr) return object;
  warp.report(FindingKind::argument, lane, handle,
              [&] { return "The " + needed + " object " + hex(handle) + wrong; });
  return nullptr;
}

}  // namespace tenon::emulator
