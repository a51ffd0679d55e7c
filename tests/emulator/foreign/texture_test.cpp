// Textures and surfaces as nvcc compiles them.
#include <algorithm>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;

TEST(NvccTexture, halves_an_image_by_linear_filtering) {
  constexpr int width = 4, height = 2, twice = 2 * width;
  Compiled compiled("texture");
  std::vector<std::uint8_t> texels;
  for (int i = 0; i < twice * 2 * height * 4; ++i)
    texels.push_back(static_cast<std::uint8_t>(i * i % 64 * 4));
  const TexelFormat bytes{TexelKind::unsigned_integer, 8, 4};
  const Address out = compiled.allocate<std::uint8_t>(4 * width * height);
  Sampling sampling;
  sampling.filter = TextureFilter::linear;
  sampling.normalized_coordinates = sampling.normalized_read = true;
  const ObjectHandle image =
      compiled.emulator.create_texture({compiled.upload(texels), bytes, twice, 2 * height}, sampling);
  const ObjectHandle half = compiled.emulator.create_surface({out, bytes, width, height});
  compiled.run("halve", {{1}, {8, 4}}, {image, half, width, height});
  const std::vector<std::uint8_t> found = compiled.download<std::uint8_t>(out, 4 * width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 4; ++c) {
        const auto texel = [&](int dx, int dy) {
          return texels[static_cast<std::size_t>(4 * ((2 * y + dy) * twice + 2 * x + dx) + c)];
        };
        EXPECT_EQ(found[static_cast<std::size_t>(4 * (y * width + x) + c)],
                  (texel(0, 0) + texel(1, 0) + texel(0, 1) + texel(1, 1)) / 4);
      }
}

TEST(NvccTexture, looks_up_linear_memory) {
  Compiled compiled("texture");
  Image table{compiled.upload<float>({1, 2.5F, -3}), {TexelKind::real, 32, 1}, 3};
  table.is_linear = true;
  const Address out = compiled.allocate<float>(4);
  compiled.run("look_up", {{1}, {4}},
               {compiled.emulator.create_texture(table), compiled.upload<int>({2, 0, 1, 2}), out});
  EXPECT_EQ(compiled.download<float>(out, 4), (std::vector<float>{-3, 1, 2.5F, -3}));
}

TEST(NvccTexture, sums_neighbours_in_surfaces) {
  constexpr int width = 5, height = 3;
  Compiled compiled("texture");
  std::vector<std::int16_t> texels;
  for (int i = 0; i < width * height; ++i) texels.push_back(static_cast<std::int16_t>(100 - 17 * i));
  // Rows of 16 bytes.
  std::vector<std::int16_t> padded(8 * height, 9999);
  for (int i = 0; i < width * height; ++i)
    padded[static_cast<std::size_t>(8 * (i / width) + i % width)] = texels[static_cast<std::size_t>(i)];
  const Address out = compiled.allocate<int>(width * height);
  compiled.run("sum", {{1}, {8, 4}},
               {compiled.emulator.create_surface(
                    {compiled.upload(padded), {TexelKind::signed_integer, 16, 1}, width, height, 16}),
                compiled.emulator.create_surface({out, {TexelKind::signed_integer, 32, 1}, width, height}),
                width, height});
  const std::vector<int> found = compiled.download<int>(out, width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int total = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          total += texels[static_cast<std::size_t>(std::clamp(y + dy, 0, height - 1) * width +
                                                   std::clamp(x + dx, 0, width - 1))];
      EXPECT_EQ(found[static_cast<std::size_t>(y * width + x)], total) << x << ' ' << y;
    }
}

TEST(NvccTexture, gathers_four_texels) {
  Compiled compiled("texture");
  const Image image{compiled.upload<float>({1, 2, 3, 4}), {TexelKind::real, 32, 1}, 2, 2};
  const Address out = compiled.allocate<float>(4);
  compiled.run("corners", {{1}, {1}}, {compiled.emulator.create_texture(image), 1.0F, 1.0F, out});
  EXPECT_EQ(compiled.download<float>(out, 4), (std::vector<float>{3, 4, 2, 1}));
}

TEST(NvccTexture, moves_volumes_to_layers_and_back) {
  constexpr std::uint32_t width = 3, height = 2, depth = 4, count = width * height * depth;
  Compiled compiled("texture");
  std::vector<float> texels, between, doubled;
  for (std::uint32_t i = 0; i < count; ++i) texels.push_back(static_cast<float>(i * i));
  for (std::uint32_t i = 0; i < count; ++i) {
    const float next = i + width * height < count ? texels[i + width * height] : texels[i];
    between.push_back((texels[i] + next) / 2);
    doubled.push_back(2 * between[i]);
  }
  Image volume{compiled.upload(texels), {TexelKind::real, 32, 1}, width, height};
  volume.depth = depth;
  Image layers{compiled.allocate<float>(count), volume.format, width, height};
  layers.layers = depth;
  Image back = volume;
  back.address = compiled.allocate<float>(count);
  Sampling linear;
  linear.filter = TextureFilter::linear;
  compiled.run("to_layers", {{1}, {width, height, depth}},
               {compiled.emulator.create_texture(volume, linear), compiled.emulator.create_surface(layers)});
  EXPECT_EQ(compiled.download<float>(layers.address, count), between);
  compiled.run("from_layers", {{1}, {width, height, depth}},
               {compiled.emulator.create_texture(layers), compiled.emulator.create_surface(back)});
  EXPECT_EQ(compiled.download<float>(back.address, count), doubled);
}

TEST(NvccTexture, fetches_from_levels) {
  Compiled compiled("texture");
  std::vector<float> texels;
  for (int i = 0; i < 64; ++i) texels.push_back(static_cast<float>(i));
  Image mipmap{compiled.upload(texels), {TexelKind::real, 32, 1}, 4, 4};
  mipmap.levels = 3;
  Sampling sampling;
  sampling.normalized_coordinates = true;
  const Address out = compiled.allocate<float>(3);
  compiled.run("levels", {{1}, {1}}, {compiled.emulator.create_texture(mipmap, sampling), 2.0F, 0.5F, out});
  EXPECT_EQ(compiled.download<float>(out, 3), (std::vector<float>{15, 20, 19}));
}

TEST(NvccTexture, fetches_from_what_it_wrote_to_a_cube_map) {
  Compiled compiled("texture");
  Image cubes{compiled.upload(std::vector<float>(48)), {TexelKind::real, 32, 1}, 2, 2};
  cubes.is_cube = true;
  cubes.layers = 2;
  Image last = cubes;
  last.address += 6 * 4 * sizeof(float);
  last.layers = 0;
  Sampling sampling;
  sampling.normalized_coordinates = true;
  const Address out = compiled.allocate<float>(12);
  compiled.run("write_faces", {{1}, {4}}, {compiled.emulator.create_surface(last), 2});
  compiled.run("faces", {{1}, {6}},
               {compiled.emulator.create_texture(last, sampling),
                compiled.emulator.create_texture(cubes, sampling), 1, out});
  EXPECT_EQ(compiled.download<float>(out, 12),
            (std::vector<float>{10, 11, 12, 13, 14, 15, 10, 11, 12, 13, 14, 15}));
}

}  // namespace
}  // namespace tenon::emulator
