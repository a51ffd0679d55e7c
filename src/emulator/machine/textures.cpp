#include "emulator/machine/textures.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emulator/machine/text.hpp"
#include "emulator/numerics/formats.hpp"

namespace tenon::emulator {
namespace {

constexpr std::uint64_t handle_step = 64;

// What an image can have at most; of two dimensions, the limits of arrays (CUDA C++ programming guide,
// technical specifications).
struct Limits {
  std::uint32_t width, height, depth, layers;
};
Limits limits_of(const Image& image) {
  if (image.is_linear) return {1U << 28, 0, 0, 0};
  if (image.is_cube) return {1U << 15, 1U << 15, 0, 2046 / 6};
  if (image.depth != 0) return {1U << 14, 1U << 14, 1U << 14, 0};
  if (image.layers != 0) return {1U << 15, 1U << 15, 0, 1U << 11};
  return {1U << 17, 1U << 16, 0, 0};
}

// What violates the requirements of an image's size, as a sentence; empty: nothing.
std::string size_problem(const Image& image) {
  if (image.width == 0) return is_but("The width", image.width, "must be at least 1 texel");
  for (const auto& [what, size] : {std::pair{"The height", image.height}, std::pair{"The depth", image.depth},
                                   std::pair{"The number of layers", image.layers}})
    if (image.is_linear && size != 0)
      return is_but(what, size, "linear memory has one dimension: it must be 0");
  if (image.depth != 0 && image.height == 0)
    return is_but("The height", image.height, "an image with a depth needs at least 1 row");
  if (image.depth != 0 && image.layers != 0)
    return is_but("The number of layers", image.layers, "an image with a depth has none: it must be 0");
  if (image.is_cube && (image.depth != 0 || image.width != image.height))
    return "The faces of a cube map have " + std::to_string(image.width) + " x " +
           std::to_string(image.height) + (image.depth != 0 ? " x " + std::to_string(image.depth) : "") +
           " texels but must be squares.";
  const Limits limits = limits_of(image);
  const auto at_most = [](std::uint32_t most) {
    return "can be at most " + std::to_string(most) + " texels";
  };
  if (image.width > limits.width) return is_but("The width", image.width, at_most(limits.width));
  if (image.height > limits.height) return is_but("The height", image.height, at_most(limits.height));
  if (image.depth > limits.depth) return is_but("The depth", image.depth, at_most(limits.depth));
  if (image.layers > limits.layers)
    return is_but("The number of layers", image.layers, "can be at most " + std::to_string(limits.layers));
  std::uint32_t most_levels = 1;
  for (std::uint32_t size = std::max({image.width, image.height, image.depth}); size > 1; size /= 2)
    ++most_levels;
  if (image.levels > most_levels)
    return is_but("The number of levels", image.levels, "can be at most " + std::to_string(most_levels));
  if (image.levels != 0 && (image.is_linear || image.pitch != 0))
    return "A mipmap is packed: it can neither be linear memory nor have a pitch.";
  return {};
}

// The texel of an index, `outside` in the border.
std::int64_t resolved(std::int64_t index, std::uint32_t size, TextureAddressMode mode) {
  const std::int64_t last = std::int64_t{size} - 1;
  if (index >= 0 && index <= last) return index;
  switch (mode) {
    case TextureAddressMode::border:
      return outside;
    case TextureAddressMode::wrap:
      return index < 0 ? last : 0;  // a neighbour of the first or the last texel
    default:
      return index < 0 ? 0 : last;
  }
}

std::uint32_t f32_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

std::string image_problem(const Image& image) {
  const TexelFormat& format = image.format;
  if (format.kind > TexelKind::real) return "The kind of the texels is not an enumerator of TexelKind.";
  const bool is_real = format.kind == TexelKind::real;
  if (format.bits != 16 && format.bits != 32 && (is_real || format.bits != 8))
    return is_but("A channel's number of bits", format.bits,
                  is_real ? "reals have 16 or 32" : "integers have 8, 16 or 32");
  if (format.channels != 1 && format.channels != 2 && format.channels != 4)
    return is_but("The number of channels", format.channels, "must be 1, 2 or 4");
  if (std::string sentence = size_problem(image); !sentence.empty()) return sentence;
  if (image.address % 16 != 0) return is_but("The address", image.address, "must be a multiple of 16");
  const std::uint64_t row = std::uint64_t{image.width} * static_cast<std::uint64_t>(texel_bytes(format));
  if (image.pitch != 0 && (image.pitch < row || image.pitch >= std::uint64_t{1} << 32))
    return is_but("The pitch", image.pitch,
                  "must be 0 or at least the " + std::to_string(row) + " bytes of a row, and less than 2^32");
  if (image.pitch % static_cast<std::uint64_t>(texel_bytes(format)) != 0)
    return is_but("The pitch", image.pitch,
                  "must be a multiple of the " + std::to_string(texel_bytes(format)) + " bytes of a texel");
  return {};
}

std::string sampling_problem(const Image& image, const Sampling& sampling) {
  for (const TextureAddressMode mode : sampling.address)
    if (mode > TextureAddressMode::border)
      return "The address mode is not an enumerator of TextureAddressMode.";
  if (sampling.filter > TextureFilter::linear) return "The filter is not an enumerator of TextureFilter.";
  const TextureObject object{image, sampling};
  if (sampling.filter == TextureFilter::linear && !image.is_linear && !object.gives_reals())
    return "The filter is linear, but the texels are integers of " + std::to_string(image.format.bits) +
           " bits that are not read as reals; linear filtering needs reals.";
  if (sampling.mipmap_filter > TextureFilter::linear)
    return "The filter of mipmaps is not an enumerator of TextureFilter.";
  if (sampling.mipmap_filter == TextureFilter::linear && image.levels != 0 && !object.gives_reals())
    return "The filter of mipmaps is linear, but the texels are integers; linear filtering needs reals.";
  if (!(sampling.least_level <= sampling.most_level) || !std::isfinite(sampling.level_bias))
    return "The levels are clamped to " + std::to_string(sampling.least_level) + " to " +
           std::to_string(sampling.most_level) + " after a bias of " + std::to_string(sampling.level_bias) +
           ", which is no range.";
  if ((image.is_cube || image.levels != 0) && !sampling.normalized_coordinates)
    return "The coordinates are not normalized, but those of cube maps and mipmaps must be.";
  return {};
}

std::uint64_t image_bytes(const Image& image) {
  const std::uint64_t row =
      std::uint64_t{image.width} * static_cast<std::uint64_t>(texel_bytes(image.format));
  const std::uint64_t pitch = image.pitch == 0 ? row : image.pitch;
  if (image.levels > 1) {
    const Image last = level_of(image, image.levels - 1);
    return last.address - image.address + image_bytes(last);
  }
  const std::uint64_t planes =
      std::uint64_t{std::max({image.depth, image.layers, 1U})} * (image.is_cube ? 6 : 1);
  return (planes * std::max(image.height, 1U) - 1) * pitch + row;
}

std::string dimensions_text(const Image& image) {
  constexpr const char* texts[] = {"one dimension", "two dimensions", "three dimensions"};
  return (image.layers != 0 ? "layers of " : "") +
         std::string(image.is_cube ? "cube faces" : texts[dimensions(image) - 1]);
}

Image TextureObject::level(std::uint32_t number) const {
  if (number == 0) return image;
  Image its = level_of(image, number);
  its.pitch = std::uint64_t{its.width} * static_cast<std::uint64_t>(texel_bytes(its.format));
  return its;
}

ObjectHandle TextureObjects::add(const TextureObject& object) {
  objects_.push_back(object);
  Image& image = objects_.back().image;
  if (image.pitch == 0)
    image.pitch = std::uint64_t{image.width} * static_cast<std::uint64_t>(texel_bytes(image.format));
  return texture_window + objects_.size() * handle_step;
}

const TextureObject* TextureObjects::find(ObjectHandle handle) const {
  const std::uint64_t distance = handle - texture_window, number = distance / handle_step;
  if (distance % handle_step != 0 || number == 0 || number > objects_.size()) return nullptr;
  return &objects_[number - 1];
}

TextureObject* TextureObjects::find(ObjectHandle handle) {
  return const_cast<TextureObject*>(static_cast<const TextureObjects*>(this)->find(handle));
}

bool texels_at(double coordinate, std::uint32_t size, TextureAddressMode mode, bool is_normalized,
               bool is_linear, Texels& texels) {
  const bool repeats = mode == TextureAddressMode::wrap || mode == TextureAddressMode::mirror;
  if (repeats && !is_normalized) mode = TextureAddressMode::clamp;
  if (std::isnan(coordinate) || (repeats && is_normalized && std::isinf(coordinate))) return false;
  if (is_normalized) {
    const double whole = std::floor(coordinate);
    if (mode == TextureAddressMode::wrap) coordinate -= whole;
    if (mode == TextureAddressMode::mirror)
      coordinate = std::fmod(whole, 2) == 0 ? coordinate - whole : 1 - (coordinate - whole);
    coordinate *= size;  // exact: 24 and 29 bits
  }
  // Nothing changes farther outside, and indices fit.
  const double margin = mode == TextureAddressMode::border ? 2 : 0;
  coordinate = std::clamp(coordinate, -margin, size + margin);
  if (!is_linear) {
    // Wrapped and mirrored coordinates are less than the size, except for rounding: they do not start again.
    const auto index = static_cast<std::int64_t>(std::floor(coordinate));
    texels.first = resolved(index, size, repeats ? TextureAddressMode::clamp : mode);
    texels.second = texels.first;
    texels.weight = 0;
    return true;
  }
  const double from_centre = coordinate - 0.5, below = std::floor(from_centre);
  const auto index = static_cast<std::int64_t>(below);
  texels.first = resolved(index, size, mode);
  texels.second = resolved(index + 1, size, mode);
  texels.weight = static_cast<std::uint32_t>(std::floor((from_centre - below) * 256 + 0.5));
  return true;
}

// CUDA C++ programming guide, cubemap textures.
bool cube_point(double x, double y, double z, CubePoint& point) {
  const double m = std::max({std::abs(x), std::abs(y), std::abs(z)});
  if (!std::isfinite(x + y + z) || m == 0) return false;
  double s = x, t = -y;
  if (std::abs(z) == m) {
    point.face = z > 0 ? 4 : 5;
    s = z > 0 ? x : -x;
  } else if (std::abs(y) == m) {
    point.face = y > 0 ? 2 : 3;
    t = y > 0 ? z : -z;
  } else {
    point.face = x > 0 ? 0 : 1;
    s = x > 0 ? -z : z;
  }
  point.s = (s / m + 1) / 2;
  point.t = (t / m + 1) / 2;
  return true;
}

bool levels_at(double lod, const TextureObject& object, Texels& levels) {
  const Sampling& sampling = object.sampling;
  if (std::isnan(lod)) return false;
  const double last = std::max(object.image.levels, 1U) - 1;
  lod = std::clamp(lod, double{sampling.least_level}, double{sampling.most_level});
  lod = std::clamp(lod, 0.0, last);
  if (sampling.mipmap_filter == TextureFilter::point) {
    levels.first = levels.second = static_cast<std::int64_t>(std::floor(lod + 0.5));
    levels.weight = 0;
    return true;
  }
  const double below = std::floor(lod);
  levels.first = static_cast<std::int64_t>(below);
  levels.second = static_cast<std::int64_t>(std::min(below + 1, last));
  levels.weight = static_cast<std::uint32_t>(std::floor((lod - below) * 256));
  return true;
}

std::uint32_t component(const TextureObject& object, std::uint32_t channel) {
  const TexelFormat& format = object.image.format;
  if (format.kind == TexelKind::real)
    return format.bits == 32
               ? channel
               : static_cast<std::uint32_t>(numerics::convert(numerics::f32, numerics::f16, channel));
  const bool is_signed = format.kind == TexelKind::signed_integer;
  const std::uint32_t sign = is_signed ? 1U << (format.bits - 1) : 0;
  const std::uint32_t extended = (channel ^ sign) - sign;
  if (!object.gives_reals()) return extended;
  const auto value =
      static_cast<double>(is_signed ? static_cast<std::int32_t>(extended) : std::int64_t{extended});
  const double most = static_cast<double>((1U << (is_signed ? format.bits - 1 : format.bits)) - 1);
  return f32_bits(static_cast<float>(std::max(value / most, -1.0)));
}

namespace {

// Towards zero, and a NaN keeps the upper bits of its payload.
std::uint32_t truncated_to_f16(std::uint32_t f32) {
  if (numerics::is_nan(numerics::f32, f32)) return (f32 >> 16 & 0x8000) | 0x7c00 | (f32 >> 13 & 0x3ff);
  return static_cast<std::uint32_t>(
      numerics::convert(numerics::f16, numerics::f32, f32, numerics::Rounding::to_zero));
}

}  // namespace

Channel channel_of(const TexelFormat& format, std::uint32_t component) {
  if (format.bits == 32) return {component};
  if (format.kind == TexelKind::real) return {truncated_to_f16(component)};
  const std::uint32_t bits = component & ((1U << format.bits) - 1);
  const std::uint32_t sign = format.kind == TexelKind::signed_integer ? 1U << (format.bits - 1) : 0;
  return {bits, ((bits ^ sign) - sign) == component};
}

}  // namespace tenon::emulator
