// tex.base, tex.level, tex.grad and txq on mipmaps: where levels lie, the level of a level of detail, of bias
// and clamps and of gradients, filtering between levels, and misuse.
#include <algorithm>
#include <limits>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char tex_level[] = "tex.level.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], %r3;";
constexpr char tex_grad[] =
    "tex.grad.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], {%r4, %r5}, {%r6, %r7};";

// Levels of 8 x 4, 4 x 2, 2 x 1 and 1 x 1 texels: 100 level + 10 y + x. The last two take 16 bytes each.
struct Mipmap : TextureMachine {
  Mipmap() {
    std::vector<float> texels;
    for (int level = 0; level < 4; ++level) {
      for (int y = 0; y < std::max(4 >> level, 1); ++y)
        for (int x = 0; x < 8 >> level; ++x) texels.push_back(static_cast<float>(100 * level + 10 * y + x));
      texels.resize((texels.size() + 3) / 4 * 4, -1);
    }
    image = {upload(texels), one_real, 8, 4};
    image.levels = 4;
  }
  ObjectHandle texture(TextureFilter between = TextureFilter::point, TextureFilter filter = {}) {
    Sampling sampling = sampled(TextureAddressMode::clamp, true, filter);
    sampling.mipmap_filter = between;
    return emulator.create_texture(image, sampling);
  }
  Image image;
};

TEST(TextureMipmap, HasLevelsOneAfterTheOther) {
  Mipmap mipmap;
  const std::uint64_t offsets[] = {0, 128, 160, 176};
  const std::uint32_t widths[] = {8, 4, 2, 1}, heights[] = {4, 2, 1, 1};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Image level = level_of(mipmap.image, i);
    EXPECT_EQ(level.address, mipmap.image.address + offsets[i]) << i;
    EXPECT_EQ(level.width, widths[i]) << i;
    EXPECT_EQ(level.height, heights[i]) << i;
    EXPECT_EQ(level.levels, 0U) << i;
  }
  Image volume = mipmap.image;
  volume.depth = 3;
  EXPECT_EQ(level_of(volume, 1).depth, 1U);
  EXPECT_EQ(level_of(volume, 1).address, volume.address + 8 * 4 * 3 * 4);
  Image layered = mipmap.image;
  layered.layers = 3;
  EXPECT_EQ(level_of(layered, 2).layers, 3U);
  EXPECT_EQ(level_of(layered, 2).address, layered.address + 3 * (128 + 32));
}

TEST(TextureMipmap, FetchesFromALevel) {
  Mipmap mipmap;
  EXPECT_EQ(mipmap.fetch(tex_level, mipmap.texture(),
                         {at(0.95F, 0.95F, 0), at(0.95F, 0.95F, 1), at(0.95F, 0.95F, 2), at(0.95F, 0.95F, 3),
                          at(0, 0, 4), at(0, 0, -1), at(0, 0, std::numeric_limits<float>::infinity())}),
            (std::vector<float>{37, 113, 201, 300, 300, 0, 300}));
  // The nearest level.
  EXPECT_EQ(mipmap.fetch(tex_level, mipmap.texture(), {at(0, 0, 0.49F), at(0, 0, 0.51F), at(0, 0, 2.4F)}),
            (std::vector<float>{0, 100, 200}));
  // Without a level, or from a texture without levels, the first.
  for (const std::string& base : {std::string(tex_2d), "tex.base" + std::string(tex_2d).substr(3)})
    EXPECT_EQ(mipmap.fetch(base, mipmap.texture(), {at(0.95F, 0.95F)}), (std::vector<float>{37})) << base;
  mipmap.image.levels = 0;
  EXPECT_EQ(mipmap.fetch(tex_level, mipmap.texture(), {at(0.95F, 0.95F, 2)}), (std::vector<float>{37}));
}

// Which level half way between two is the nearest is not documented: the answer of an H200
// (TextureOnDevice.LevelsOfMipmaps).
TEST(TextureMipmap, TakesTheSmallerTextureHalfWay) {
  Mipmap mipmap;
  EXPECT_EQ(mipmap.fetch(tex_level, mipmap.texture(), {at(0, 0, 0.5F), at(0, 0, 1.5F)}),
            (std::vector<float>{100, 200}));
}

TEST(TextureMipmap, AddsTheBiasThenClamps) {
  Mipmap mipmap;
  Sampling sampling = sampled(TextureAddressMode::clamp, true);
  sampling.level_bias = 1;
  sampling.most_level = 2;
  const ObjectHandle biased = mipmap.emulator.create_texture(mipmap.image, sampling);
  EXPECT_EQ(mipmap.fetch(tex_level, biased, {at(0, 0, -5), at(0, 0, 0), at(0, 0, 1), at(0, 0, 2)}),
            (std::vector<float>{0, 100, 200, 200}));
  sampling.least_level = 1;
  sampling.level_bias = -1;
  const ObjectHandle clamped = mipmap.emulator.create_texture(mipmap.image, sampling);
  EXPECT_EQ(mipmap.fetch(tex_level, clamped, {at(0, 0, 0), at(0, 0, 2), at(0, 0, 3), at(0, 0, 9)}),
            (std::vector<float>{100, 100, 200, 200}));
}

// The answers of an H200 (TextureOnDevice.BiasWithoutALevel).
TEST(TextureMipmap, ClampsButDoesNotBiasWithoutALevel) {
  Mipmap mipmap;
  Sampling sampling = sampled(TextureAddressMode::clamp, true);
  sampling.level_bias = 1;
  EXPECT_EQ(mipmap.fetch(tex_2d, mipmap.emulator.create_texture(mipmap.image, sampling), {at(0, 0)}),
            (std::vector<float>{0}));
  sampling.least_level = 2;
  EXPECT_EQ(mipmap.fetch(tex_2d, mipmap.emulator.create_texture(mipmap.image, sampling), {at(0, 0)}),
            (std::vector<float>{200}));
}

TEST(TextureMipmap, FiltersBetweenLevels) {
  Mipmap mipmap;
  // One texel of each level.
  const ObjectHandle points = mipmap.texture(TextureFilter::linear);
  EXPECT_EQ(mipmap.fetch(tex_level, points,
                         {at(0.95F, 0.95F, 1), at(0.95F, 0.95F, 0.5F), at(0.95F, 0.95F, 2.25F), at(0, 0, 9)}),
            (std::vector<float>{113, 75, 225.75F, 300}));
  // Four of each: the middle of levels 0 to 3.
  const ObjectHandle linear = mipmap.texture(TextureFilter::linear, TextureFilter::linear);
  EXPECT_EQ(mipmap.fetch(tex_level, linear,
                         {at(0.5F, 0.5F, 0), at(0.5F, 0.5F, 1), at(0.5F, 0.5F, 2), at(0.5F, 0.5F, 0.75F)}),
            (std::vector<float>{18.5F, 106.5F, 200.5F, (18.5F + 3 * 106.5F) / 4}));
  // Weights have 8 fractional bits, and an H200 cuts the others off.
  EXPECT_EQ(mipmap.fetch(tex_level, points, {at(0, 0, 1 + 3.0F / 1024), at(0, 0, 1 + 1.0F / 256)}),
            (std::vector<float>{100, 100 + 100.0F / 256}));
}

// The longer gradient in texels of level 0. Powers of two along one axis give whole levels.
TEST(TextureMipmap, TakesTheLevelOfGradients) {
  Mipmap mipmap;
  const auto fetch = [&](ObjectHandle texture, float x_x, float y_x, float x_y, float y_y) {
    const std::vector<Words> words =
        mipmap.run(tex_grad, texture, {at(0, 0)}, {{bits_of(x_x), bits_of(y_x), bits_of(x_y), bits_of(y_y)}});
    mipmap.expect_clean();
    float value;
    std::memcpy(&value, words[0].data(), 4);
    return value;
  };
  const ObjectHandle points = mipmap.texture();
  EXPECT_EQ(fetch(points, 0, 0, 0, 0), 0);
  EXPECT_EQ(fetch(points, 0.125F, 0, 0, 0.25F), 0);    // one texel along x, one along y
  EXPECT_EQ(fetch(points, 0.25F, 0, 0, 0.25F), 100);   // two texels along x
  EXPECT_EQ(fetch(points, 0, 0.0625F, 0, -1), 200);    // four along y, backwards
  EXPECT_EQ(fetch(points, 1, 0, 0, 0), 300);           // eight
  EXPECT_EQ(fetch(points, 100, 0, 0, 0), 300);         // beyond the last level
  EXPECT_EQ(fetch(points, 0.375F, 1, 0.25F, 0), 200);  // five texels, 3 along x and 4 along y: 2.32
  EXPECT_EQ(fetch(points, 1e30F, 0, 0, 1e30F), 300);
  // Half way: 2^1.5 texels are no real, so it is near.
  EXPECT_NEAR(fetch(mipmap.texture(TextureFilter::linear), 0.35355339F, 0, 0, 0), 150, 1);
}

TEST(TextureMipmap, OfEveryGeometry) {
  TextureMachine machine;
  std::vector<float> texels;
  for (int i = 0; i < 256; ++i) texels.push_back(static_cast<float>(i));
  Image image{machine.upload(texels), one_real, 4};
  image.levels = 2;
  const auto fetch = [&](const std::string& instruction, const std::vector<float>& coordinates,
                         std::uint32_t first_bits = 0) {
    const Sampling sampling = sampled(TextureAddressMode::clamp, true);
    Coordinates at_end;
    if (coordinates.size() > 0) at_end.x = bits_of(coordinates[0]);
    if (coordinates.size() > 1) at_end.y = bits_of(coordinates[1]);
    if (coordinates.size() > 2) at_end.z = bits_of(coordinates[2]);
    const std::vector<Words> words =
        machine.run(instruction, machine.emulator.create_texture(image, sampling), {at_end},
                    {{first_bits, bits_of(1), bits_of(0.5F), 0}});
    machine.expect_clean();
    float value;
    std::memcpy(&value, words[0].data(), 4);
    return value;
  };
  const std::string data = "v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, ";
  EXPECT_EQ(fetch("tex.level.1d." + data + "{%r1}], %r5;", {1}), 5);
  EXPECT_EQ(fetch("tex.grad.1d." + data + "{%r1}], {%r6}, {%r7};", {1}), 5);
  image.layers = 3;
  EXPECT_EQ(fetch("tex.level.a1d." + data + "{%r4, %r1}], %r5;", {1}, 2), 12 + 5);
  EXPECT_EQ(fetch("tex.grad.a1d." + data + "{%r4, %r1}], {%r6}, {%r7};", {1}, 2), 12 + 5);
  image.height = 2;
  EXPECT_EQ(fetch("tex.level.a2d." + data + "{%r4, %r1, %r2, %r2}], %r5;", {1, 1}, 2), 24 + 5);
  EXPECT_EQ(fetch("tex.grad.a2d." + data + "{%r4, %r1, %r2, %r2}], {%r6, %r7}, {%r7, %r7};", {1, 1}, 2),
            24 + 5);
  image.layers = 0;
  image.depth = 4;
  EXPECT_EQ(fetch("tex.level.3d." + data + "{%r1, %r2, %r3, %r3}], %r5;", {1, 1, 1}), 32 + 3);
  EXPECT_EQ(
      fetch("tex.grad.3d." + data + "{%r1, %r2, %r3, %r3}], {%r7, %r7, %r6, %r5}, {%r7, %r7, %r7, %r5};",
            {1, 1, 1}),
      32 + 3);
  image.height = 4;
  image.depth = 0;
  image.is_cube = true;
  EXPECT_EQ(fetch("tex.level.cube." + data + "{%r1, %r2, %r3, %r3}], %r5;", {0, 0, -1}), 96 + 20 + 3);
  image.layers = 2;
  EXPECT_EQ(fetch("tex.level.acube." + data + "{%r4, %r1, %r2, %r3}], %r5;", {0, 0, -1}, 1), 192 + 44 + 3);
}

TEST(TextureMipmap, AnswersQueries) {
  Mipmap mipmap;
  const ObjectHandle texture = mipmap.texture();
  EXPECT_EQ(mipmap.run("txq.num_mipmap_levels.b32 %r4, [%rd1]; txq.width.b32 %r5, [%rd1]; "
                       "txq.level.width.b32 %r6, [%rd1], %r1; txq.level.height.b32 %r7, [%rd1], 3;",
                       texture, {at_bytes(1)})[0],
            (Words{4, 8, 4, 1}));
  mipmap.expect_clean();
  mipmap.run("txq.level.width.b32 %r4, [%rd1], %r1;", texture, {at_bytes(4)});
  mipmap.expect_finding(FindingKind::argument, "The level is 4, outside the 4 levels; what a query gives");
  mipmap.image.levels = 0;
  mipmap.run("txq.num_mipmap_levels.b32 %r4, [%rd1];", mipmap.texture(), {at(0)});
  mipmap.expect_finding(FindingKind::argument, "The texture has two dimensions: it has no mipmap levels.");
}

TEST(TextureMipmap, FindsMisuse) {
  Mipmap mipmap;
  const float nan_value = std::numeric_limits<float>::quiet_NaN();
  mipmap.run(tex_level, mipmap.texture(), {at(0, 0, nan_value)});
  mipmap.expect_finding(FindingKind::argument, "The level of detail is NaN, which selects no level.");
  mipmap.run(tex_grad, mipmap.texture(), {at(0, 0)}, {{bits_of(1), 0, bits_of(nan_value), 0}});
  mipmap.expect_finding(FindingKind::argument, "The level of detail is NaN, which selects no level.");
}

TEST(TextureMipmap, IsRefusedWithASentence) {
  const auto expect = [](void (*change)(Image&, Sampling&), const std::string& says) {
    Mipmap mipmap;
    Sampling sampling = sampled(TextureAddressMode::clamp, true);
    change(mipmap.image, sampling);
    EXPECT_EQ(error_of([&] { mipmap.emulator.create_texture(mipmap.image, sampling); }), says);
  };
  expect([](Image& image, Sampling&) { image.levels = 5; },
         "The number of levels is 5 but can be at most 4.");
  expect([](Image& image, Sampling&) { image.pitch = 64; },
         "A mipmap is packed: it can neither be linear memory nor have a pitch.");
  expect([](Image& image, Sampling&) { image.layers = 2; },
         "cannot make an object of 344 bytes at offset 0 of an allocation of 192 bytes");
  expect([](Image&, Sampling& sampling) { sampling.normalized_coordinates = false; },
         "The coordinates are not normalized, but those of cube maps and mipmaps must be.");
  expect([](Image&, Sampling& sampling) { sampling.least_level = 2000; },
         "The levels are clamped to 2000.000000 to 1000.000000 after a bias of 0.000000, which is no range.");
  expect(
      [](Image& image, Sampling& sampling) {
        image.format.kind = TexelKind::unsigned_integer;
        sampling.mipmap_filter = TextureFilter::linear;
      },
      "The filter of mipmaps is linear, but the texels are integers; linear filtering needs reals.");
  Mipmap mipmap;
  EXPECT_EQ(error_of([&] { mipmap.emulator.create_surface(mipmap.image); }),
            "The image is a mipmap; a surface is one level, which level_of() describes.");
  EXPECT_EQ(error_of([&] { mipmap.emulator.create_surface(level_of(mipmap.image, 3)); }), "accepted");
  const auto refused = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  refused("tex.grad.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], {%r1, %r2}, %r1;",
          "a gradient has 0 elements in braces where 2 are needed");
  refused("tex.level.1d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}], %r1;",
          "integer coordinates fetch from linear memory, which has no mipmap");
  refused("txq.level.array_size.b32 %r4, [%rd1], %r1;", "one of the modifiers .width, .height, .depth is");
}

}  // namespace
}  // namespace tenon::emulator::testing
