// What the instructions of textures and surfaces share: operands [object, {coordinates}], lists of registers,
// the object of a lane.
#pragma once

#include <optional>

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/textures.hpp"

namespace tenon::emulator {

// op.values: the registers of the data, the object, the layer if there are layers, the coordinates.
struct TextureDetail : Detail {
  int rank = 1;  // coordinates, without the layer
  bool is_layered = false, is_cube = false;
  std::size_t object = 0;           // index in op.values
  ptx::Type type = ptx::Type::f32;  // of an element of the data
  int elements = 1;                 // of the data

  std::size_t coordinate(int dimension) const {  // its index in op.values
    return object + 1 + (is_layered ? 1 : 0) + static_cast<std::size_t>(dimension);
  }
  std::string geometry() const {
    return (is_layered ? ".a" : ".") + (is_cube ? "cube" : std::to_string(rank) + "d");
  }
};

// Accepts .1d, .2d, .3d, .a1d and .a2d, of textures .cube and .acube too; names another geometry in its
// refusal.
void decode_geometry(Decoding& decoding, TextureDetail& detail, bool of_texture = false);

// [object, {coordinates}] with a coordinate of `type` for each dimension, after the layer if there are layers
// and before one that is ignored where they would be three; or without coordinates [object]. The object is a
// 64-bit register.
void decode_object(Decoding& decoding, int operand, TextureDetail& detail, ptx::Type type);
void decode_object(Decoding& decoding, int operand, TextureDetail& detail);

// The registers of the data, in braces or a single one: each of the element's width, or `may_be_wider`.
void decode_data(Decoding& decoding, int operand, const TextureDetail& detail, bool is_destination,
                 bool may_be_wider);

// The object of a lane, with one dimension for each coordinate. Null: a finding was made.
const TextureObject* object_of(Warp& warp, const Op& op, int lane, bool is_surface, bool has_coordinates);

// The plane of the layer that a lane names; 0 without layers. Nothing: a finding was made, as no document
// says what a layer outside does.
std::optional<std::int64_t> layer_of(Warp& warp, const Op& op, int lane, const TextureObject& object);

void add_surface_instructions(Decoders& decoders);  // texture_surface.cpp
void add_query_instructions(Decoders& decoders);    // texture_query.cpp

}  // namespace tenon::emulator
