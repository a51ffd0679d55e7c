// tex, tld4 and txq on texture objects: nearest-point sampling and linear filtering against what the CUDA C++
// programming guide defines, formats, linear memory, gathers and queries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

TEST(Texture, ClampsCoordinates) {
  Line line;
  const ObjectHandle texture = line.emulator.create_texture(line.image);
  EXPECT_EQ(line.fetch(tex_1d, texture,
                       {at(-infinity), at(-1e30F), at(-0.5F), at(0), at(0.999F), at(1), at(2.5F), at(4.999F),
                        at(5), at(1e30F), at(infinity)}),
            (std::vector<float>{10, 10, 10, 10, 10, 20, 30, 50, 50, 50, 50}));
  const ObjectHandle normalized =
      line.emulator.create_texture(line.image, sampled(TextureAddressMode::clamp, true));
  EXPECT_EQ(
      line.fetch(tex_1d, normalized, {at(-2), at(0), at(0.19F), at(0.21F), at(0.5F), at(1), at(infinity)}),
      (std::vector<float>{10, 10, 10, 20, 30, 50, 50}));
}

TEST(Texture, HasABorderOfZeros) {
  Line line;
  const ObjectHandle texture =
      line.emulator.create_texture(line.image, sampled(TextureAddressMode::border, false));
  EXPECT_EQ(line.fetch(tex_1d, texture,
                       {at(-infinity), at(-0.001F), at(0), at(4.999F), at(5), at(1e30F), at(infinity)}),
            (std::vector<float>{0, 0, 10, 50, 0, 0, 0}));
}

TEST(Texture, WrapsAndMirrorsNormalizedCoordinates) {
  Line line;
  const ObjectHandle wrapped =
      line.emulator.create_texture(line.image, sampled(TextureAddressMode::wrap, true));
  EXPECT_EQ(
      line.fetch(tex_1d, wrapped, {at(0.1F), at(1), at(1.25F), at(-0.1F), at(-3), at(7.9375F), at(-1e-30F)}),
      (std::vector<float>{10, 10, 20, 50, 10, 50, 50}));
  const ObjectHandle mirrored =
      line.emulator.create_texture(line.image, sampled(TextureAddressMode::mirror, true));
  EXPECT_EQ(
      line.fetch(tex_1d, mirrored, {at(0.1F), at(0.9F), at(1), at(1.1F), at(1.75F), at(2.1F), at(-0.1F)}),
      (std::vector<float>{10, 50, 50, 50, 20, 10, 10}));
}

TEST(Texture, ClampsWhereWrappedCoordinatesAreNotNormalized) {
  Line line;
  for (const TextureAddressMode mode : {TextureAddressMode::wrap, TextureAddressMode::mirror}) {
    const ObjectHandle texture = line.emulator.create_texture(line.image, sampled(mode, false));
    EXPECT_EQ(line.fetch(tex_1d, texture, {at(-3), at(2), at(7), at(infinity)}),
              (std::vector<float>{10, 30, 50, 50}));
  }
}

// An image of 5 x 3 texels, 10 * y + x, with rows of 32 bytes.
struct Plane : TextureMachine {
  Plane() {
    std::vector<float> texels(24, -1);
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 5; ++x) texels[8 * y + x] = static_cast<float>(10 * y + x);
    image = {upload(texels), one_real, 5, 3, 32};
  }
  Image image;
};

TEST(Texture, HasTwoDimensionsWithModesOfTheirOwn) {
  Plane plane;
  Sampling sampling;
  sampling.address[1] = TextureAddressMode::border;
  const ObjectHandle texture = plane.emulator.create_texture(plane.image, sampling);
  EXPECT_EQ(
      plane.fetch(tex_2d, texture, {at(0, 0), at(4.5F, 2.5F), at(9, 1), at(-9, 2), at(2, -1), at(2, 3)}),
      (std::vector<float>{0, 24, 14, 20, 0, 0}));
}

// The formula of the programming guide on coordinates that are multiples of 1/64, whose weights and sums are
// exact.
float filtered(int x64, int y64, TextureAddressMode mode) {
  const auto texel = [&](int x, int y) -> int {
    if (mode == TextureAddressMode::border && (x < 0 || x > 4 || y < 0 || y > 2)) return 0;
    return 10 * std::min(std::max(y, 0), 2) + std::min(std::max(x, 0), 4);
  };
  const int sizes[] = {5, 3};
  int whole[2], part[2];
  for (int i = 0; i < 2; ++i) {
    int c = i == 0 ? x64 : y64;
    if (mode == TextureAddressMode::clamp) c = std::min(std::max(c, 0), 64 * sizes[i]);
    c += 64 * 100 - 32;  // to positive numbers
    whole[i] = c / 64 - 100;
    part[i] = c % 64;
  }
  const int sum = (64 - part[0]) * (64 - part[1]) * texel(whole[0], whole[1]) +
                  part[0] * (64 - part[1]) * texel(whole[0] + 1, whole[1]) +
                  (64 - part[0]) * part[1] * texel(whole[0], whole[1] + 1) +
                  part[0] * part[1] * texel(whole[0] + 1, whole[1] + 1);
  return static_cast<float>(sum) / 4096;
}

TEST(Texture, FiltersLinearly) {
  for (const TextureAddressMode mode : {TextureAddressMode::clamp, TextureAddressMode::border}) {
    Plane plane;
    const ObjectHandle texture =
        plane.emulator.create_texture(plane.image, sampled(mode, false, TextureFilter::linear));
    std::mt19937 random(7);
    std::vector<Coordinates> coordinates;
    std::vector<float> expected;
    for (int i = 0; i < 500; ++i) {
      const int x = static_cast<int>(random() % (64 * 9)) - 128,
                y = static_cast<int>(random() % (64 * 7)) - 128;
      coordinates.push_back(at(static_cast<float>(x) / 64, static_cast<float>(y) / 64));
      expected.push_back(filtered(x, y, mode));
    }
    EXPECT_EQ(plane.fetch(tex_2d, texture, coordinates), expected);
  }
}

TEST(Texture, FiltersWithWeightsOf8Bits) {
  Line line;
  const ObjectHandle texture = line.emulator.create_texture(
      line.image, sampled(TextureAddressMode::clamp, false, TextureFilter::linear));
  const float step = 10.0F / 256;
  EXPECT_EQ(line.fetch(tex_1d, texture,
                       {at(1.5F), at(1.5F + 1.0F / 1024), at(1.5F + 1.0F / 512), at(1.5F + 1.0F / 256),
                        at(1.5F + 1.4F / 256), at(2.5F - 1.0F / 512), at(2.5F - 1.0F / 1024)}),
            (std::vector<float>{20, 20, 20 + step, 20 + step, 20 + step, 30, 30}));
}

TEST(Texture, FiltersAcrossTheEdgeOfAWrappedTexture) {
  Line line;
  const ObjectHandle texture = line.emulator.create_texture(
      line.image, sampled(TextureAddressMode::wrap, true, TextureFilter::linear));
  EXPECT_EQ(line.fetch(tex_1d, texture, {at(0), at(1), at(-4), at(0.5F)}),
            (std::vector<float>{30, 30, 30, 30}));
}

TEST(Texture, FiltersNoTexelOfWeightZeroAndPropagatesNaN) {
  TextureMachine machine;
  const Image image{machine.upload<float>({-0.0F, nan_value, 4, infinity}), one_real, 4};
  const ObjectHandle texture = machine.emulator.create_texture(
      image, sampled(TextureAddressMode::clamp, false, TextureFilter::linear));
  const std::vector<Words> values =
      machine.run(tex_1d, texture, {at(0.5F), at(1), at(1.5F), at(2.5F), at(3)});
  machine.expect_clean();
  EXPECT_EQ(values[0][0], bits_of(-0.0F));
  EXPECT_EQ(values[1][0], 0x7fffffffU);
  EXPECT_EQ(values[2][0], 0x7fffffffU);
  EXPECT_EQ(values[3][0], bits_of(4));
  EXPECT_EQ(values[4][0], bits_of(infinity));
}

// The components of the second of two texels.
template <class T>
Words components(const std::vector<T>& texels, TexelFormat format, const std::string& type,
                 bool normalized_read = false) {
  TextureMachine machine;
  Sampling sampling;
  sampling.normalized_read = normalized_read;
  const Image image{machine.upload(texels), format, 2};
  const Words words = machine.run("tex.1d.v4." + type + ".f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];",
                                  machine.emulator.create_texture(image, sampling), {at(1.5F)})[0];
  machine.expect_clean();
  return words;
}

TEST(Texture, ReadsEveryFormat) {
  constexpr auto s = TexelKind::signed_integer, u = TexelKind::unsigned_integer, f = TexelKind::real;
  using i8 = std::int8_t;
  using u8 = std::uint8_t;
  using i16 = std::int16_t;
  using u16 = std::uint16_t;
  EXPECT_EQ(components<i8>({0, 0, 0, 0, -1, 127, -128, 5}, {s, 8, 4}, "s32"),
            (Words{0xffffffff, 127, 0xffffff80, 5}));
  EXPECT_EQ(components<u16>({7, 65535}, {u, 16, 1}, "u32")[1], 0U) << "a channel that the format lacks";
  EXPECT_EQ(components<u8>({0, 0, 0, 0, 255, 127, 128, 5}, {u, 8, 4}, "u32"), (Words{255, 127, 128, 5}));
  EXPECT_EQ(components<i16>({0, 0, -2, 300}, {s, 16, 2}, "s32")[0], 0xfffffffeU);
  EXPECT_EQ(components<u16>({0, 65535}, {u, 16, 1}, "u32")[0], 65535U);
  EXPECT_EQ(components<std::uint32_t>({0, 0x80000001U}, {u, 32, 1}, "u32")[0], 0x80000001U);
  EXPECT_EQ(components<std::uint32_t>({0, 0x80000001U}, {s, 32, 1}, "u32")[0], 0x80000001U);
  EXPECT_EQ(components<u16>({0, 0, 0x3e00, 0xfc00}, {f, 16, 2}, "f32")[1], bits_of(-infinity));
  EXPECT_EQ(
      components<std::uint32_t>({0, 0, 0, 0, 1, 0x7fc12345U, 0x80000000U, 0xff800000U}, {f, 32, 4}, "f32"),
      (Words{1, 0x7fc12345U, 0x80000000U, 0xff800000U}));
}

TEST(Texture, ReadsSmallIntegersAsReals) {
  constexpr auto s = TexelKind::signed_integer, u = TexelKind::unsigned_integer;
  EXPECT_EQ(components<std::uint8_t>({0, 0, 0, 0, 255, 0, 1, 128}, {u, 8, 4}, "f32", true),
            (Words{bits_of(1), bits_of(0), bits_of(1.0F / 255), bits_of(128.0F / 255)}));
  EXPECT_EQ(components<std::int8_t>({0, 0, 0, 0, 127, -127, -128, 1}, {s, 8, 4}, "f32", true),
            (Words{bits_of(1), bits_of(-1), bits_of(-1), bits_of(1.0F / 127)}));
  EXPECT_EQ(components<std::uint16_t>({0, 12345}, {u, 16, 1}, "f32", true)[0], bits_of(12345.0F / 65535));
  // Integers of 32 bits stay integers.
  EXPECT_EQ(components<std::uint32_t>({0, 7}, {u, 32, 1}, "u32", true)[0], 7U);
}

TEST(Texture, FetchesLinearMemoryByIntegers) {
  const std::string fetch = "tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];";
  TextureMachine machine;
  Image image{machine.upload<std::int32_t>({7, -8, 9}), {TexelKind::signed_integer, 32, 1}, 3};
  image.is_linear = true;
  const ObjectHandle texture = machine.emulator.create_texture(image);
  const std::vector<Words> words = machine.run(fetch, texture, {at_bytes(2), at_bytes(0), at_bytes(1)});
  machine.expect_clean();
  EXPECT_EQ(words[0][0], 9U);
  EXPECT_EQ(words[1][0], 7U);
  EXPECT_EQ(words[2][0], 0xfffffff8U);
  for (const int outside : {3, -1, 1 << 30}) {
    EXPECT_EQ(machine.run(fetch, texture, {at_bytes(outside)})[0][0], 0U);
    machine.expect_finding(FindingKind::out_of_bounds, "The coordinate is " + std::to_string(outside) +
                                                           ", outside the 3 texels of the linear memory");
  }
  const ObjectHandle bordered =
      machine.emulator.create_texture(image, sampled(TextureAddressMode::border, false));
  EXPECT_EQ(machine.run(fetch, bordered, {at_bytes(3)})[0][0], 0U);
  machine.expect_clean();
}

TEST(Texture, GathersAComponentOfFourTexels) {
  TextureMachine machine;
  std::vector<std::uint8_t> texels;
  for (std::uint8_t i = 0; i < 9; ++i) texels.insert(texels.end(), {i, static_cast<std::uint8_t>(100 + i)});
  const Image image{machine.upload(texels), {TexelKind::unsigned_integer, 8, 2}, 3, 3};
  const ObjectHandle texture = machine.emulator.create_texture(image);
  const std::string gather = ".2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];";
  EXPECT_EQ(machine.run("tld4.r" + gather, texture, {at(1.25F, 1.75F)})[0], (Words{6, 7, 4, 3}));
  EXPECT_EQ(machine.run("tld4.g" + gather, texture, {at(1, 1)})[0], (Words{103, 104, 101, 100}));
  EXPECT_EQ(machine.run("tld4.r" + gather, texture, {at(-5, 0)})[0], (Words{0, 0, 0, 0}));
  machine.expect_clean();
}

TEST(Texture, AnswersQueries) {
  Plane plane;
  const ObjectHandle texture =
      plane.emulator.create_texture(plane.image, sampled(TextureAddressMode::wrap, true));
  EXPECT_EQ(plane.run("txq.width.b32 %r4, [%rd1]; txq.height.b32 %r5, [%rd1]; "
                      "txq.normalized_coords.b32 %r6, [%rd1];",
                      texture, {at(0)})[0],
            (Words{5, 3, 1, 0}));
  plane.expect_clean();
  Line line;
  line.run("txq.height.b32 %r4, [%rd1];", line.emulator.create_texture(line.image), {at(0)});
  line.expect_finding(FindingKind::argument, "The texture has one dimension: it has no height.");
}

}  // namespace
}  // namespace tenon::emulator::testing
