// tex, tld4 and txq on texture objects: nearest-point sampling and linear filtering against what the CUDA C++
// programming guide defines, formats, linear memory, and the findings about misuse.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// The texels 10, 20, 30, 40, 50 in one dimension.
struct Line : TextureMachine {
  Image image{upload<float>({10, 20, 30, 40, 50}), one_real, 5};
};

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

TEST(Texture, FindsCoordinatesWithoutATexel) {
  Line line;
  line.run(tex_1d, line.emulator.create_texture(line.image), {at(nan_value)});
  line.expect_finding(FindingKind::argument, "The coordinate x is nan");
  line.run(tex_1d, line.emulator.create_texture(line.image, sampled(TextureAddressMode::wrap, true)),
           {at(infinity)});
  line.expect_finding(FindingKind::argument, "The coordinate x is inf");
}

TEST(Texture, FindsObjectsThatDoNotFit) {
  Line line;
  const ObjectHandle texture = line.emulator.create_texture(line.image);
  line.run(tex_1d, 0, {at(0)});
  line.expect_finding(FindingKind::argument, "The texture object 0x0 is none that the host has made.");
  line.run(tex_1d, texture + 1, {at(0)});
  line.expect_finding(FindingKind::argument, " is none that the host has made.");
  line.run(tex_2d, texture, {at(0)});
  line.expect_finding(FindingKind::argument, " has one dimension, and the instruction is .2d.");
  line.run("tex.1d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];", texture, {at(0)});
  line.expect_finding(FindingKind::argument,
                      "The texels are 32-bit reals, which .f32 reads, and the instruction reads .u32.");
  line.run("tex.1d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];", texture, {at(0)});
  line.expect_finding(FindingKind::argument, "The texture is not of linear memory");
  line.run(tex_1d, line.emulator.create_surface(line.image), {at(0)});
  line.expect_finding(FindingKind::argument, " is a surface object.");
  line.image.is_linear = true;
  line.run(tex_1d, line.emulator.create_texture(line.image), {at(0)});
  line.expect_finding(FindingKind::argument, "which needs an integer coordinate (tex.1d with .s32).");
  line.emulator.destroy(texture);
  line.run(tex_1d, texture, {at(0)});
  line.expect_finding(FindingKind::argument, " was destroyed by the host.");
}

TEST(Texture, FindsTexelsThatCannotBeRead) {
  Line line;
  const ObjectHandle texture = line.emulator.create_texture(line.image);
  line.emulator.free(line.image.address);
  line.run(tex_1d, texture, {at(0)});
  ASSERT_EQ(line.findings.size(), 1U);
  EXPECT_EQ(line.findings[0].kind, FindingKind::freed);
  line.image.address = line.emulator.allocate(20);
  line.run(tex_1d, line.emulator.create_texture(line.image), {at(0)});
  ASSERT_EQ(line.findings.size(), 1U);
  EXPECT_EQ(line.findings[0].kind, FindingKind::uninitialized);
  line.run("ld.global.b32 %r4, [%rd1];", texture, {at(0)});
  ASSERT_EQ(line.findings.size(), 1U) << "a handle is no address";
  EXPECT_EQ(line.findings[0].kind, FindingKind::out_of_bounds);
}

std::string image_error(const std::function<void(Image&, Sampling&)>& change) {
  Line line;
  Sampling sampling;
  change(line.image, sampling);
  return error_of([&] { line.emulator.create_texture(line.image, sampling); });
}

TEST(Texture, IsRefusedWithASentence) {
  EXPECT_EQ(image_error([](Image&, Sampling&) {}), "accepted");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.format.bits = 8; }),
            "A channel's number of bits is 8 but reals have 16 or 32.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) {
              i.format = {TexelKind::signed_integer, 64, 1};
            }),
            "A channel's number of bits is 64 but integers have 8, 16 or 32.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.format.channels = 3; }),
            "The number of channels is 3 but must be 1, 2 or 4.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.width = 0; }),
            "The width is 0 but must be at least 1 texel.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.width = 1 << 18; }),
            "The width is 262144 but can be at most 131072 texels.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) {
              i.height = 1;
              i.is_linear = true;
            }),
            "The height is 1 but linear memory has one dimension: it must be 0.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.pitch = 16; }),
            "The pitch is 16 but must be 0 or at least the 20 bytes of a row, and less than 2^32.");
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.pitch = 30; }),
            "The pitch is 30 but must be a multiple of the 4 bytes of a texel.");
  EXPECT_NE(image_error([](Image& i, Sampling&) { i.address += 4; }).find("but must be a multiple of 16."),
            std::string::npos);
  EXPECT_EQ(image_error([](Image& i, Sampling&) { i.height = 2; }),
            "cannot make an object of 40 bytes at offset 0 of an allocation of 20 bytes");
  EXPECT_EQ(image_error([](Image& i, Sampling& s) {
              i.format.kind = TexelKind::unsigned_integer;
              s.filter = TextureFilter::linear;
            }),
            "The filter is linear, but the texels are integers of 32 bits that are not read as reals; linear "
            "filtering needs reals.");
  Line line;
  EXPECT_EQ(error_of([&] { line.emulator.destroy(line.image.address); }),
            "cannot destroy what is neither a texture nor a surface object");
}

TEST(Texture, SaysWhatIsNotCovered) {
  const auto expect = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find("line "), std::string::npos) << said;
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  expect("tex.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r1, %r1, %r1}];",
         "the geometry .cube is not covered: .1d, .2d, .3d, .a1d and .a2d are");
  expect("tex.level.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], %r0;",
         "mipmaps (.level) are not covered");
  expect("tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], {%r1, %r2};",
         "offsets and depth comparisons of a fetch are not covered");
  expect("tex.2d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];", "integer coordinates are for .1d");
  expect("tex.1d.v4.f32.f32 {%r4, %r5, %r6}, [%rd1, {%r1}];", "3 registers are given where 4 are needed");
  expect("tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];",
         "1 coordinates are given where .2d needs 2");
  expect("tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [data, {%r1}];",
         "the object must be a 64-bit register: the emulator knows texture and surface objects");
  expect("txq.addr_mode_0.b32 %r4, [%rd1];",
         "one of the modifiers .width, .height, .depth, .array_size, .normalized_coords");
  expect("istypep.texref %p0, %rd1;", "the emulator knows texture and surface objects");
}

}  // namespace
}  // namespace tenon::emulator::testing
