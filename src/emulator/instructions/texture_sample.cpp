// Nearest-point sampling, linear filtering and gathers of tex and tld4. Reads of texels are checked as loads
// are. The texture cache is not modelled: a fetch of bytes that the same kernel has written, which a GPU
// leaves undefined, is no finding.
#include "emulator/instructions/texture_sample.hpp"

#include <cmath>
#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Space;

// A fetch of a channel that the format lacks: the documents do not say, an H200 gives zero for one and for
// two channels.
constexpr std::uint32_t no_channel = 0;

const FetchDetail& detail_of(const Op& op) {
  return static_cast<const FetchDetail&>(*op.detail);
}

float real_at(Warp& warp, const Op& op, std::size_t value, int lane) {
  const auto bits = static_cast<std::uint32_t>(warp.read(op.values[value], lane));
  float real;
  std::memcpy(&real, &bits, 4);
  return real;
}

std::uint64_t handle_of(Warp& warp, const Op& op, int lane) {
  return warp.read(op.values[detail_of(op).object], lane);
}

// The components of one texel of a level; of the border, zeros. False: nothing could be read.
bool read_texel(Warp& warp, int lane, const TextureObject& object, const Image& level, std::int64_t x,
                std::int64_t y, std::int64_t plane, std::uint32_t (&components)[4]) {
  const TexelFormat& format = level.format;
  std::fill(components, components + 4, no_channel);
  std::fill(components, components + format.channels, 0U);
  if (x == outside || y == outside || plane == outside) return true;
  std::uint8_t bytes[16];
  if (!warp.load(lane, Space::global, texel_address(level, x, y, plane), bytes,
                 static_cast<std::uint32_t>(texel_bytes(format))))
    return false;
  for (int i = 0; i < format.channels; ++i) {
    std::uint32_t channel = 0;
    const std::ptrdiff_t size = format.bits / 8;
    std::memcpy(&channel, bytes + i * size, static_cast<std::size_t>(size));
    components[i] = component(object, channel);
  }
  return true;
}

// Where a lane samples: coordinates, and the plane (the layer, or the face of a cube map) if z is none.
struct Position {
  double at[3] = {};
  std::int64_t plane = 0;
  int dimensions = 1;
};

bool position_of(Warp& warp, const Op& op, int lane, const TextureObject& object, Position& position) {
  const FetchDetail& d = detail_of(op);
  const std::optional<std::int64_t> layer = layer_of(warp, op, lane, object);
  if (!layer) return false;
  position.plane = *layer;
  position.dimensions = d.rank;
  for (int i = 0; i < d.rank; ++i) position.at[i] = real_at(warp, op, d.coordinate(i), lane);
  if (!d.is_cube) return true;
  CubePoint point;
  const double x = position.at[0], y = position.at[1], z = position.at[2];
  if (!cube_point(x, y, z, point)) {
    warp.report(FindingKind::argument, lane, handle_of(warp, op, lane), [&] {
      return "The direction is (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
             "), which selects no face of the cube map.";
    });
    return false;
  }
  position.plane = 6 * position.plane + point.face;
  position.dimensions = 2;
  position.at[0] = point.s;
  position.at[1] = point.t;
  return true;
}

// The texels that a lane selects along x, y and the planes: z, or the layer.
using Selection = Texels[3];

// `linear` pairs of neighbours, or one texel.
bool select(Warp& warp, const Op& op, int lane, const TextureObject& object, const Image& level,
            const Position& position, bool is_linear, Selection& at) {
  at[2].first = at[2].second = position.plane;
  const std::uint32_t sizes[] = {level.width, level.height, level.depth};
  for (int i = 0; i < position.dimensions; ++i) {
    const Sampling& sampling = object.sampling;
    const double coordinate = position.at[i];
    if (texels_at(coordinate, sizes[i], sampling.address[i], sampling.normalized_coordinates, is_linear,
                  at[i]))
      continue;
    warp.report(FindingKind::argument, lane, handle_of(warp, op, lane), [&] {
      return std::string("The coordinate ") + "xyz"[i] + " is " + std::to_string(coordinate) +
             ", for which the address mode defines no texel.";
    });
    return false;
  }
  return true;
}

// The level of detail of gradients, as OpenGL and Vulkan have it: the logarithm of the longer one in texels.
// No document of CUDA has a formula.
double lod_of(Warp& warp, const Op& op, int lane, const TextureObject& object) {
  const FetchDetail& d = detail_of(op);
  if (d.mipmap == Mipmap::level) return real_at(warp, op, d.lod, lane);
  const std::uint32_t sizes[] = {object.image.width, object.image.height, object.image.depth};
  double longest = 0;
  for (std::size_t gradient = 0; gradient < 2; ++gradient) {
    double square = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(d.rank); ++i) {
      const double texels = double{real_at(warp, op, d.lod + gradient * d.rank + i, lane)} * sizes[i];
      square += texels * texels;
    }
    // A NaN stays.
    longest = square <= longest ? longest : square;
  }
  return std::log2(longest) / 2;
}

// Without a level it is 0 and has no bias, but is clamped, as on an H200.
bool select_levels(Warp& warp, const Op& op, int lane, const TextureObject& object, Texels& levels) {
  const bool is_base = detail_of(op).mipmap == Mipmap::base;
  const double lod = is_base ? 0 : lod_of(warp, op, lane, object) + object.sampling.level_bias;
  if (levels_at(lod, object, levels)) return true;
  warp.report(FindingKind::argument, lane, handle_of(warp, op, lane),
              [] { return "The level of detail is NaN, which selects no level."; });
  return false;
}

// Adds the weighted texels of a level to the sum; texels of weight 0 are not read.
bool add_texels(Warp& warp, int lane, const TextureObject& object, const Image& level, const Selection& at,
                double level_weight, double (&sum)[4]) {
  for (unsigned texel = 0; texel < 8; ++texel) {
    std::uint32_t weight = 1;  // a multiple of 2^-24
    std::int64_t place[3];
    for (unsigned i = 0; i < 3; ++i) {
      const bool is_second = (texel >> i & 1) != 0;
      weight *= is_second ? at[i].weight : 256 - at[i].weight;
      place[i] = is_second ? at[i].second : at[i].first;
    }
    if (weight == 0) continue;
    std::uint32_t components[4];
    if (!read_texel(warp, lane, object, level, place[0], place[1], place[2], components)) return false;
    for (int i = 0; i < object.image.format.channels; ++i) {
      float value;
      std::memcpy(&value, &components[i], 4);
      sum[i] += double{value} * weight / (1 << 24) * level_weight;
    }
  }
  return true;
}

// The weighted sum of the texels of one or two levels, in double and rounded once. The documents give the
// formula and not its rounding: the last bits may differ on a GPU.
bool fetch_filtered(Warp& warp, const Op& op, int lane, const TextureObject& object, const Position& position,
                    const Texels& levels, std::uint32_t (&result)[4]) {
  const bool is_linear = object.sampling.filter == TextureFilter::linear;
  double sum[4] = {-0.0, -0.0, -0.0, -0.0};
  for (const bool is_second : {false, true}) {
    const std::uint32_t weight = is_second ? levels.weight : 256 - levels.weight;
    if (weight == 0) continue;
    const Image level = object.level(static_cast<std::uint32_t>(is_second ? levels.second : levels.first));
    Selection at;
    if (!select(warp, op, lane, object, level, position, is_linear, at) ||
        !add_texels(warp, lane, object, level, at, weight / 256.0, sum))
      return false;
  }
  std::fill(result, result + 4, no_channel);
  for (int i = 0; i < object.image.format.channels; ++i) {
    const auto value = static_cast<float>(sum[i]);
    std::memcpy(&result[i], &value, 4);
    if (value != value) result[i] = static_cast<std::uint32_t>(numerics::f32.nan());
  }
  return true;
}

// One component of the four texels that linear filtering would take, counter-clockwise from the lower left,
// where y points down: (x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y).
bool gather(Warp& warp, int lane, const TextureObject& object, const Selection& at, int component,
            std::uint32_t (&result)[4]) {
  constexpr bool right[] = {false, true, true, false}, down[] = {true, true, false, false};
  for (int i = 0; i < 4; ++i) {
    std::uint32_t components[4];
    if (!read_texel(warp, lane, object, object.image, right[i] ? at[0].second : at[0].first,
                    down[i] ? at[1].second : at[1].first, at[2].first, components))
      return false;
    result[i] = components[component];
  }
  return true;
}

}  // namespace

// The index in linear memory. Outside it only the border mode has one meaning in all documents.
bool fetch_linear(Warp& warp, const Op& op, int lane, const TextureObject& object,
                  std::uint32_t (&result)[4]) {
  const auto x = static_cast<std::int32_t>(warp.read(op.values[detail_of(op).object + 1], lane));
  if (x >= 0 && static_cast<std::uint32_t>(x) < object.image.width)
    return read_texel(warp, lane, object, object.image, x, 0, 0, result);
  if (object.sampling.address[0] == TextureAddressMode::border)
    return read_texel(warp, lane, object, object.image, outside, 0, 0, result);
  warp.report(FindingKind::out_of_bounds, lane, texel_address(object.image, x, 0, 0), [&] {
    return "The coordinate is " + std::to_string(x) + ", outside the " + std::to_string(object.image.width) +
           " texels of the linear memory; what a fetch gives there is documented for the border mode only.";
  });
  return false;
}

bool fetch_sampled(Warp& warp, const Op& op, int lane, const TextureObject& object,
                   std::uint32_t (&result)[4]) {
  const FetchDetail& d = detail_of(op);
  Position position;
  if (!position_of(warp, op, lane, object, position)) return false;
  Selection at;
  if (d.gathered >= 0)
    return select(warp, op, lane, object, object.image, position, true, at) &&
           gather(warp, lane, object, at, d.gathered, result);
  Texels levels;
  if (!select_levels(warp, op, lane, object, levels)) return false;
  if (object.sampling.filter == TextureFilter::linear || levels.weight != 0)
    return fetch_filtered(warp, op, lane, object, position, levels, result);
  // One texel, whose bits stay as they are.
  const Image level = object.level(static_cast<std::uint32_t>(levels.first));
  return select(warp, op, lane, object, level, position, false, at) &&
         read_texel(warp, lane, object, level, at[0].first, at[1].first, at[2].first, result);
}

}  // namespace tenon::emulator
