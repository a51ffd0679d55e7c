// What tex and tld4 read of a texture object: the levels, texels and weights that a lane's coordinates
// select, and their sum. machine/textures.hpp has the arithmetic.
#pragma once

#include "emulator/instructions/texture.hpp"

namespace tenon::emulator {

enum class Mipmap : std::uint8_t { base, level, gradients };  // .base (or nothing), .level, .grad

struct FetchDetail : TextureDetail {
  bool by_integer = false;
  int gathered = -1;  // the component of tld4
  Mipmap mipmap = Mipmap::base;
  std::size_t lod = 0;  // index in op.values: of the level, or of dP/dx, which dP/dy follows
};

// All return false after a finding, or if nothing could be read.
bool fetch_linear(Warp& warp, const Op& op, int lane, const TextureObject& object,
                  std::uint32_t (&result)[4]);
bool fetch_sampled(Warp& warp, const Op& op, int lane, const TextureObject& object,
                   std::uint32_t (&result)[4]);

}  // namespace tenon::emulator
