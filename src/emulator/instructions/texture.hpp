// What the instructions of textures and surfaces share: operands [object, {coordinates}], lists of registers,
// the object of a lane.
#pragma once

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/textures.hpp"

namespace tenon::emulator {

// op.values: the registers of the data, the object, the coordinates.
struct TextureDetail : Detail {
  int rank = 1;
  std::size_t object = 0;           // index in op.values; the coordinates follow it
  ptx::Type type = ptx::Type::f32;  // of an element of the data
  int elements = 1;                 // of the data
};

// Accepts .1d or .2d; names another geometry in its refusal.
void decode_geometry(Decoding& decoding, TextureDetail& detail);

// [object, {coordinates}] with a coordinate of `type` for each dimension, or without coordinates [object].
// The object is a 64-bit register.
void decode_object(Decoding& decoding, int operand, TextureDetail& detail, ptx::Type type);
void decode_object(Decoding& decoding, int operand, TextureDetail& detail);

// The registers of the data, in braces or a single one: each of the element's width, or `may_be_wider`.
void decode_data(Decoding& decoding, int operand, const TextureDetail& detail, bool is_destination,
                 bool may_be_wider);

// The object of a lane, with one dimension for each coordinate. Null: a finding was made.
const TextureObject* object_of(Warp& warp, const Op& op, int lane, bool is_surface, bool has_coordinates);

void add_surface_instructions(Decoders& decoders);  // texture_surface.cpp

}  // namespace tenon::emulator
