// tex, tld4 and txq on cube maps: the face and the texel of a direction as the table of the CUDA C++
// programming guide has them, filtering in a face, layers, faces as layers of a surface, and misuse.
#include <limits>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char tex_cube[] = "tex.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];";
// The layer is a number: it is not among the coordinates.
constexpr char tex_acube[] = "tex.acube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r4, %r1, %r2, %r3}];";

// Two cube maps with faces of 4 x 4 texels: 1000 map + 100 face + 10 y + x.
struct Cubes : TextureMachine {
  Cubes() {
    std::vector<float> texels;
    for (int plane = 0; plane < 12; ++plane)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
          texels.push_back(static_cast<float>(1000 * (plane / 6) + 100 * (plane % 6) + 10 * y + x));
    image = {upload(texels), one_real, 4, 4};
    image.is_cube = true;
  }
  ObjectHandle texture(TextureFilter filter = TextureFilter::point, std::uint32_t layers = 0) {
    image.layers = layers;
    return emulator.create_texture(image, sampled(TextureAddressMode::clamp, true, filter));
  }
  Image image;
};

// The direction to the place (s, t) of [-1, 1] in a face: the table, solved for x, y and z.
Coordinates towards(int face, float s, float t, float length = 1) {
  s *= length, t *= length;
  switch (face) {
    case 0:
      return at(length, -t, -s);
    case 1:
      return at(-length, -t, s);
    case 2:
      return at(s, length, t);
    case 3:
      return at(s, -length, -t);
    case 4:
      return at(s, -t, length);
    default:
      return at(-s, -t, -length);
  }
}

TEST(TextureCube, SelectsEveryTexelOfEveryFace) {
  Cubes cubes;
  for (const float length : {1.0F, 0.25F, 1000.0F}) {
    std::vector<Coordinates> coordinates;
    std::vector<float> expected;
    for (int face = 0; face < 6; ++face)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) {
          const auto centre = [](int i) { return (static_cast<float>(i) - 1.5F) / 2; };
          coordinates.push_back(towards(face, centre(x), centre(y), length));
          expected.push_back(static_cast<float>(100 * face + 10 * y + x));
        }
    EXPECT_EQ(cubes.fetch(tex_cube, cubes.texture(), coordinates), expected);
  }
}

TEST(TextureCube, FiltersInAFace) {
  Cubes cubes;
  const ObjectHandle texture = cubes.texture(TextureFilter::linear);
  // In the middle between four texels, between two, and at an edge, where only texels of the face count.
  EXPECT_EQ(cubes.fetch(tex_cube, texture,
                        {towards(0, 0, 0), towards(3, 0, 0.25F), towards(4, -0.9375F, -0.75F),
                         towards(5, 0.25F, -0.9375F)}),
            (std::vector<float>{16.5F, 321.5F, 400, 502}));
  EXPECT_EQ(cubes.run("tld4.r.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];", texture,
                      {towards(2, 0, 0)})[0],
            (Words{bits_of(221), bits_of(222), bits_of(212), bits_of(211)}));
  cubes.expect_clean();
}

TEST(TextureCube, HasLayers) {
  Cubes cubes;
  const ObjectHandle texture = cubes.texture(TextureFilter::point, 2);
  const std::vector<Words> found = cubes.run(tex_acube, texture, {towards(1, 0.25F, 0.75F), towards(5, 0, 0)},
                                             {{0, 0, 0, 0}, {1, 0, 0, 0}});
  cubes.expect_clean();
  EXPECT_EQ(found[0][0], bits_of(132));
  EXPECT_EQ(found[1][0], bits_of(1522));
  cubes.run(tex_acube, texture, {towards(0, 0, 0)}, {{2, 0, 0, 0}});
  cubes.expect_finding(FindingKind::out_of_bounds, "The layer is 2, outside the 2 layers; what an access");
}

// Which face an edge belongs to is not documented, and to be confirmed on a GPU:
// TextureOnDevice.EdgesOfCubeMaps.
TEST(TextureCube, GivesEdgesToZThenToY) {
  Cubes cubes;
  EXPECT_EQ(cubes.fetch(tex_cube, cubes.texture(),
                        {at(1, 0.25F, 1), at(-1, -1, 0.25F), at(1, 1, -1), at(0.25F, -1, 1)}),
            (std::vector<float>{413, 310, 500, 402 + 30}));
}

TEST(TextureCube, AnswersQueries) {
  Cubes cubes;
  EXPECT_EQ(cubes.run("txq.width.b32 %r4, [%rd1]; txq.height.b32 %r5, [%rd1];", cubes.texture(), {at(0)})[0],
            (Words{4, 4, 0, 0}));
  cubes.expect_clean();
  cubes.run("txq.array_size.b32 %r4, [%rd1];", cubes.texture(), {at(0)});
  cubes.expect_finding(FindingKind::argument, "The texture has cube faces: it has no layers.");
  cubes.run("txq.array_size.b32 %r4, [%rd1];", cubes.texture(TextureFilter::point, 2), {at(0)});
  cubes.expect_finding(FindingKind::argument,
                       "The texture has layers of cube faces; whether the size of the array counts faces is "
                       "not documented.");
}

// surfCubemapLayeredwrite: the layer is 6 * map + face.
TEST(TextureCube, IsLayersToASurface) {
  Cubes cubes;
  cubes.image.layers = 2;
  const ObjectHandle surface = cubes.emulator.create_surface(cubes.image);
  EXPECT_EQ(cubes.run("suld.b.a2d.b32.trap {%r4}, [%rd1, {%r1, %r2, %r3, %r3}];", surface,
                      {at_bytes(6 + 4, 8, 1)})[0][0],
            bits_of(1412));
  cubes.expect_clean();
}

TEST(TextureCube, FindsMisuse) {
  Cubes cubes;
  const ObjectHandle texture = cubes.texture();
  for (const Coordinates& nowhere :
       {at(0, 0, 0), at(std::numeric_limits<float>::quiet_NaN(), 1, 0),
        at(1, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity())}) {
    cubes.run(tex_cube, texture, {nowhere});
    cubes.expect_finding(FindingKind::argument, "), which selects no face of the cube map.");
  }
  cubes.run(tex_2d, texture, {at(0)});
  cubes.expect_finding(FindingKind::argument, " has cube faces, and the instruction is .2d.");
  cubes.run("tex.a2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];",
            cubes.texture(TextureFilter::point, 2), {at(0)});
  cubes.expect_finding(FindingKind::argument, " has layers of cube faces, and the instruction is .a2d.");
  cubes.image.is_cube = false;
  cubes.run(tex_cube, cubes.texture(), {at(1)});
  cubes.expect_finding(FindingKind::argument, " has two dimensions, and the instruction is .cube.");
}

TEST(TextureCube, IsRefusedWithASentence) {
  const auto expect = [](void (*change)(Image&, Sampling&), const std::string& says) {
    Cubes cubes;
    Sampling sampling = sampled(TextureAddressMode::clamp, true);
    change(cubes.image, sampling);
    EXPECT_EQ(error_of([&] { cubes.emulator.create_texture(cubes.image, sampling); }), says);
  };
  expect([](Image& image, Sampling&) { image.height = 3; },
         "The faces of a cube map have 4 x 3 texels but must be squares.");
  expect([](Image& image, Sampling&) { image.depth = 6; },
         "The faces of a cube map have 4 x 4 x 6 texels but must be squares.");
  expect([](Image& image, Sampling&) { image.layers = 342; },
         "The number of layers is 342 but can be at most 341.");
  expect([](Image& image, Sampling&) { image.layers = 3; },
         "cannot make an object of 1152 bytes at offset 0 of an allocation of 768 bytes");
  expect([](Image&, Sampling& sampling) { sampling.normalized_coordinates = false; },
         "The coordinates are not normalized, but those of cube maps and mipmaps must be.");
  const auto refused = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  refused("tex.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3}];",
          "3 coordinates are given where .cube needs 4");
  refused(
      "tex.grad.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}], "
      "{%r1, %r2, %r3, %r3}, {%r1, %r2, %r3, %r3};",
      "gradients of a cube map are not covered: no document says which level they select");
  refused("suld.b.cube.b32.trap {%r4}, [%rd1, {%r1, %r2, %r3, %r3}];",
          "one of the modifiers .1d, .2d, .3d, .a1d, .a2d is needed");
}

}  // namespace
}  // namespace tenon::emulator::testing
