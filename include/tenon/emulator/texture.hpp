// Texture and surface objects for the emulator: what a kernel takes as a cudaTextureObject_t or a
// cudaSurfaceObject_t. Made by Emulator::create_texture and create_surface (emulator.hpp) from texels in the
// emulator's memory. CUDA arrays and pitched memory are the same here: rows of texels, and planes of rows,
// which the host copies in and out as any other bytes.
#pragma once

#include <cstdint>

namespace tenon::emulator {

// A texture or surface object: the 64 bits that a kernel takes. Never an address, and never given twice.
using ObjectHandle = std::uint64_t;

// Values as in cudaChannelFormatKind.
enum class TexelKind : std::uint8_t { signed_integer, unsigned_integer, real };

// As cudaChannelFormatDesc. 8, 16 or 32 bits a channel, reals 16 or 32; 1, 2 or 4 channels.
struct TexelFormat {
  TexelKind kind = TexelKind::real;
  int bits = 32;
  int channels = 1;
};

// Texels in the emulator's memory, at a multiple of 16 bytes.
struct Image {
  std::uint64_t address = 0;
  TexelFormat format;
  std::uint32_t width = 0, height = 0;  // texels; height 0: one dimension
  // Bytes from one row to the next; 0: packed. Planes, of depth or layers, follow without a gap.
  std::uint64_t pitch = 0;
  // cudaResourceTypeLinear: one dimension, fetched by integers (tex1Dfetch), without sampling. Others are
  // fetched by real coordinates only.
  bool is_linear = false;
  std::uint32_t depth = 0;   // texels; 0: at most two dimensions
  std::uint32_t layers = 0;  // of one or two dimensions, or cube maps; 0: not a layered texture
  // Six square faces, planes in the order +x, -x, +y, -y, +z, -z (cudaArrayCubemap). To a surface they are
  // layers.
  bool is_cube = false;
  // Levels of a mipmap, packed; 0: not a mipmap. level_of() says where each lies.
  std::uint32_t levels = 0;
};

// A level of a mipmap as an image of its own (cudaGetMipmappedArrayLevel): each size is half of that of the
// level before, rounded down, and at least 1, but for layers. Level 0 lies at the image's address, the others
// at the next multiple of 16 bytes.
constexpr Image level_of(Image image, std::uint32_t level) {
  const auto half = [](std::uint32_t size) { return size > 1 ? size / 2 : size; };
  const auto or_1 = [](std::uint32_t size) { return size == 0 ? std::uint64_t{1} : std::uint64_t{size}; };
  for (; level != 0; --level) {
    const int texel = image.format.bits / 8 * image.format.channels;
    const std::uint64_t bytes = static_cast<std::uint64_t>(texel) * image.width * or_1(image.height) *
                                or_1(image.depth) * or_1(image.layers) * (image.is_cube ? 6 : 1);
    image.address += (bytes + 15) / 16 * 16;
    image.width = half(image.width);
    image.height = half(image.height);
    image.depth = half(image.depth);
  }
  image.levels = 0;
  return image;
}

// Values as in cudaTextureAddressMode: what stands for a coordinate outside the texture.
enum class TextureAddressMode : std::uint8_t { wrap, clamp, mirror, border };

// Values as in cudaTextureFilterMode.
enum class TextureFilter : std::uint8_t { point, linear };

// As cudaTextureDesc. The border is zeros. As in CUDA, wrap and mirror count as clamp where coordinates are
// not normalized; those of cube maps and mipmaps must be. Each face of a cube map is sampled alone, by x and
// y of the address modes (seamlessCubemap = 0).
struct Sampling {
  TextureAddressMode address[3] = {TextureAddressMode::clamp, TextureAddressMode::clamp,
                                   TextureAddressMode::clamp};  // x, y, z
  TextureFilter filter = TextureFilter::point;
  bool normalized_coordinates = false;
  // cudaReadModeNormalizedFloat: 8- and 16-bit integers are read as reals of [0, 1] or [-1, 1].
  bool normalized_read = false;
  // Of mipmaps: between levels. The level is clamped after the bias was added, which tex.level and tex.grad
  // have. Without a level it is 0, clamped.
  TextureFilter mipmap_filter = TextureFilter::point;
  float level_bias = 0, least_level = 0, most_level = 1000;
};

}  // namespace tenon::emulator
