// tex, tld4 and txq on textures of three dimensions and on layered ones: texels, filtering against the
// formula of the programming guide, and the findings about misuse.
#include <algorithm>
#include <random>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char tex_3d[] = "tex.3d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];";
constexpr char tex_a1d[] = "tex.a1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];";
constexpr char tex_a2d[] = "tex.a2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];";

// 3 x 2 x 4 texels, 100 z + 10 y + x, with rows of 16 bytes.
struct Volume : TextureMachine {
  Volume() {
    std::vector<float> texels(32, -1);
    for (std::size_t z = 0; z < 4; ++z)
      for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 3; ++x)
          texels[8 * z + 4 * y + x] = static_cast<float>(100 * z + 10 * y + x);
    image = {upload(texels), one_real, 3, 2, 16};
    image.depth = 4;
  }
  // The same texels as four layers.
  Image layers() const {
    Image layered = image;
    layered.depth = 0;
    layered.layers = 4;
    return layered;
  }
  Image image;
};

TEST(TextureVolume, HasThreeDimensionsWithModesOfTheirOwn) {
  Volume volume;
  Sampling sampling;
  sampling.address[2] = TextureAddressMode::border;
  const ObjectHandle texture = volume.emulator.create_texture(volume.image, sampling);
  EXPECT_EQ(volume.fetch(tex_3d, texture,
                         {at(0, 0, 0), at(2.5F, 1.5F, 3.5F), at(9, -9, 1), at(1, 1, -0.5F), at(1, 1, 4)}),
            (std::vector<float>{0, 312, 102, 0, 0}));
  const ObjectHandle wrapped =
      volume.emulator.create_texture(volume.image, sampled(TextureAddressMode::wrap, true));
  EXPECT_EQ(volume.fetch(tex_3d, wrapped, {at(0.5F, 0.75F, 0.625F), at(1.5F, -0.25F, -0.375F)}),
            (std::vector<float>{211, 211}));
}

// On coordinates that are multiples of 1/16, weights and sums are exact.
float filtered(const int (&at_16)[3], TextureAddressMode mode) {
  const int sizes[] = {3, 2, 4}, scales[] = {1, 10, 100};
  float sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    int weight = 1, texel = 0;
    bool inside = true;
    for (int i = 0; i < 3; ++i) {
      const int from_centre = at_16[i] + 16 * 64 - 8, whole = from_centre / 16 - 64, part = from_centre % 16;
      const bool is_second = (corner >> i & 1) != 0;
      const int index = whole + is_second;
      weight *= is_second ? part : 16 - part;
      inside = inside && index >= 0 && index < sizes[i];
      texel += scales[i] * std::min(std::max(index, 0), sizes[i] - 1);
    }
    if (inside || mode == TextureAddressMode::clamp) sum += static_cast<float>(weight * texel);
  }
  return sum / 4096;
}

TEST(TextureVolume, FiltersEightTexels) {
  Volume volume;
  for (const TextureAddressMode mode : {TextureAddressMode::clamp, TextureAddressMode::border}) {
    const ObjectHandle texture =
        volume.emulator.create_texture(volume.image, sampled(mode, false, TextureFilter::linear));
    std::mt19937 random(11);
    std::vector<Coordinates> coordinates;
    std::vector<float> expected;
    for (int i = 0; i < 500; ++i) {
      int c[3];
      for (int& one : c) one = static_cast<int>(random() % (16 * 8)) - 32;
      coordinates.push_back(
          at(static_cast<float>(c[0]) / 16, static_cast<float>(c[1]) / 16, static_cast<float>(c[2]) / 16));
      expected.push_back(filtered(c, mode));
    }
    EXPECT_EQ(volume.fetch(tex_3d, texture, coordinates), expected);
  }
}

TEST(TextureVolume, HasLayersOfTwoDimensions) {
  Volume volume;
  const ObjectHandle texture = volume.emulator.create_texture(volume.layers());
  EXPECT_EQ(volume.fetch(tex_a2d, texture, {in_layer(0, 1, 1), in_layer(3, 9, 0), in_layer(2, -1, 1.5F)}),
            (std::vector<float>{11, 302, 210}));
  // Linear filtering stays in the layer.
  const ObjectHandle linear = volume.emulator.create_texture(
      volume.layers(), sampled(TextureAddressMode::clamp, false, TextureFilter::linear));
  EXPECT_EQ(volume.fetch(tex_a2d, linear, {in_layer(1, 1, 1), in_layer(3, 2.25F, 0)}),
            (std::vector<float>{105.5F, 301.75F}));
  EXPECT_EQ(volume.run("tld4.r.a2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];", texture,
                       {in_layer(2, 1, 1)})[0],
            (Words{bits_of(210), bits_of(211), bits_of(201), bits_of(200)}));
  volume.expect_clean();
}

TEST(TextureVolume, HasLayersOfOneDimension) {
  TextureMachine machine;
  Image image{machine.upload<float>({1, 2, 3, 4, 5, 6}), one_real, 3};
  image.layers = 2;
  const ObjectHandle texture = machine.emulator.create_texture(
      image, sampled(TextureAddressMode::border, true, TextureFilter::linear));
  EXPECT_EQ(machine.fetch(tex_a1d, texture, {in_layer(0, 0.5F), in_layer(1, 0.5F), in_layer(1, 0)}),
            (std::vector<float>{2, 5, 2}));
}

TEST(TextureVolume, AnswersQueries) {
  Volume volume;
  const ObjectHandle texture = volume.emulator.create_texture(volume.image);
  const ObjectHandle layered = volume.emulator.create_texture(volume.layers());
  EXPECT_EQ(volume.run("txq.depth.b32 %r4, [%rd1];", texture, {at(0)})[0][0], 4U);
  volume.expect_clean();
  EXPECT_EQ(volume.run("txq.array_size.b32 %r4, [%rd1]; txq.height.b32 %r5, [%rd1];", layered, {at(0)})[0],
            (Words{4, 2, 0, 0}));
  volume.expect_clean();
  volume.run("txq.array_size.b32 %r4, [%rd1];", texture, {at(0)});
  volume.expect_finding(FindingKind::argument, "The texture has three dimensions: it has no layers.");
  volume.run("txq.depth.b32 %r4, [%rd1];", layered, {at(0)});
  volume.expect_finding(FindingKind::argument, "The texture has layers of two dimensions: it has no depth.");
}

TEST(TextureVolume, FindsMisuse) {
  Volume volume;
  const ObjectHandle texture = volume.emulator.create_texture(volume.image);
  const ObjectHandle layered = volume.emulator.create_texture(volume.layers());
  volume.run(tex_2d, texture, {at(0)});
  volume.expect_finding(FindingKind::argument, " has three dimensions, and the instruction is .2d.");
  volume.run(tex_3d, layered, {at(0)});
  volume.expect_finding(FindingKind::argument, " has layers of two dimensions, and the instruction is .3d.");
  volume.run(tex_2d, layered, {at(0)});
  volume.expect_finding(FindingKind::argument, " has layers of two dimensions, and the instruction is .2d.");
  volume.run(tex_a2d, layered, {in_layer(4, 0)});
  volume.expect_finding(FindingKind::out_of_bounds, "The layer is 4, outside the 4 layers; what an access");
  volume.emulator.destroy(texture);
}

TEST(TextureVolume, IsRefusedWithASentence) {
  const auto expect = [](std::uint32_t width, std::uint32_t height, std::uint32_t depth, std::uint32_t layers,
                         const std::string& says) {
    Volume volume;
    Image image{volume.image.address, one_real, width, height};
    image.depth = depth;
    image.layers = layers;
    EXPECT_EQ(error_of([&] { volume.emulator.create_texture(image); }), says);
  };
  expect(3, 2, 4, 0, "accepted");
  expect(3, 0, 4, 0, "The height is 0 but an image with a depth needs at least 1 row.");
  expect(3, 2, 4, 4, "The number of layers is 4 but an image with a depth has none: it must be 0.");
  expect(3, 2, 16385, 0, "The depth is 16385 but can be at most 16384 texels.");
  expect(16385, 2, 4, 0, "The width is 16385 but can be at most 16384 texels.");
  expect(3, 2, 0, 2049, "The number of layers is 2049 but can be at most 2048.");
  expect(3, 2, 6, 0, "cannot make an object of 144 bytes at offset 0 of an allocation of 128 bytes");
  Volume volume;
  volume.image.is_linear = true;
  volume.image.height = 0;
  EXPECT_EQ(error_of([&] { volume.emulator.create_texture(volume.image); }),
            "The depth is 4 but linear memory has one dimension: it must be 0.");
  EXPECT_NE(refusal("tex.3d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3}];")
                .find("3 coordinates are given where .3d needs 4"),
            std::string::npos);
  EXPECT_NE(refusal("tex.a2d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];")
                .find("integer coordinates are for .1d"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::emulator::testing
