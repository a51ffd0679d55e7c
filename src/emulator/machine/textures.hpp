// The texture and surface objects of an Emulator, and what a fetch at some coordinates reads (PTX ISA 5.3 and
// 9.7.10; CUDA C++ programming guide, texture memory and texture fetching).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/emulator/texture.hpp"

namespace tenon::emulator {

constexpr std::uint64_t texture_window = 0x6c00'0000'0000;  // of handles: no memory has such an address

inline int dimensions(const Image& image) {
  return image.depth != 0 ? 3 : image.height != 0 ? 2 : 1;
}
// "one dimension", "layers of two dimensions", "cube faces": what messages call the image.
std::string dimensions_text(const Image& image);

inline int texel_bytes(const TexelFormat& format) {
  return format.bits / 8 * format.channels;
}

// The texel of an image whose pitch is filled in. `plane`: z, or the layer, or the face.
inline std::uint64_t texel_address(const Image& image, std::int64_t x, std::int64_t y, std::int64_t plane) {
  const std::uint64_t row =
      static_cast<std::uint64_t>(plane) * std::max(image.height, 1U) + static_cast<std::uint64_t>(y);
  return image.address + row * image.pitch +
         static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(texel_bytes(image.format));
}

struct TextureObject {
  Image image;  // the pitch is filled in
  Sampling sampling;
  bool is_surface = false, is_destroyed = false;

  // A fetch returns f32: the texels are reals, or integers read as reals.
  bool gives_reals() const {
    return image.format.kind == TexelKind::real || (sampling.normalized_read && image.format.bits < 32);
  }
  // A level of a mipmap; the image itself if there are no levels.
  Image level(std::uint32_t number) const;
};

// What violates the requirements of an image, or of sampling it, as a sentence; empty: nothing.
std::string image_problem(const Image& image);
std::string sampling_problem(const Image& image, const Sampling& sampling);

// From the first byte of an image to behind its last.
std::uint64_t image_bytes(const Image& image);

class TextureObjects {
 public:
  ObjectHandle add(const TextureObject& object);
  // Null: no handle that add() has returned.
  TextureObject* find(ObjectHandle handle);
  const TextureObject* find(ObjectHandle handle) const;

 private:
  std::vector<TextureObject> objects_;
};

constexpr std::int64_t outside = -1;  // a texel of the border

// The texels that a coordinate selects along one dimension: one, or two neighbours with the weights
// 1 - weight and weight, as multiples of 1/256.
struct Texels {
  std::int64_t first = 0, second = 0;  // indices, or `outside`
  std::uint32_t weight = 0;            // of the second, 0 to 256
};

// Nearest-point sampling, or the two texels of linear filtering. `size`: in texels. False: nothing is defined
// for the coordinate, which is NaN, or infinite where it is wrapped or mirrored.
//
// Linear filtering rounds the weight to the nearest of its 1.8 fixed-point values, the larger of two; the
// documents give the format, in which 1.0 is exact, and not the rounding. Nearest-point sampling takes the
// floor of the exact coordinate.
bool texels_at(double coordinate, std::uint32_t size, TextureAddressMode mode, bool is_normalized,
               bool is_linear, Texels& texels);

// The face of a cube map that a direction selects, and the normalized coordinates in it. Of components with
// equal magnitudes z counts as the largest, then y: no document of CUDA says which. False: no face is
// selected, by zeros, NaN or infinities.
struct CubePoint {
  int face = 0;
  double s = 0, t = 0;
};
bool cube_point(double x, double y, double z, CubePoint& point);

// The levels that a level of detail selects after its bias, as texels_at selects texels: the nearest, of two
// the larger, or two with their weights, cut off after 8 fractional bits as an H200 does. False: it is NaN.
bool levels_at(double lod, const TextureObject& object, Texels& levels);

// The bits of a fetch's component for the bits of a channel: f32 for gives_reals(), else sign- or
// zero-extended. Normalized reads are the quotient, rounded once.
std::uint32_t component(const TextureObject& object, std::uint32_t channel);

// The bits of a channel for the component that a formatted store writes. Reals of 16 bits are rounded towards
// zero, which no document says, but an H200 does. is_defined: not of an integer that the channel does not
// hold.
struct Channel {
  std::uint32_t bits = 0;
  bool is_defined = true;
};
Channel channel_of(const TexelFormat& format, std::uint32_t component);

}  // namespace tenon::emulator
