// suld, sust and suq on surface objects: bytes in and out, the three modes outside, dimensions and layers,
// and findings.
#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// An image of 5 x 3 texels of 4 bytes, with rows of 32 bytes. Byte i of it is i.
struct Surface : TextureMachine {
  Surface() {
    std::vector<std::uint8_t> bytes(96);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
    image = {upload(bytes), {TexelKind::real, 32, 1}, 5, 3, 32};
    surface = emulator.create_surface(image);
  }
  Image image;
  ObjectHandle surface;
};

std::uint32_t word(unsigned first) {
  return first | (first + 1) << 8 | (first + 2) << 16 | (first + 3) << 24;
}

TEST(Surface, LoadsBytes) {
  Surface s;
  EXPECT_EQ(s.run("suld.b.2d.b32.trap {%r4}, [%rd1, {%r1, %r2}];", s.surface, {at_bytes(16, 2)})[0][0],
            word(80));
  EXPECT_EQ(s.run("suld.b.2d.v4.b32.trap {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];", s.surface,
                  {at_bytes(0, 1)})[0],
            (Words{word(32), word(36), word(40), word(44)}));
  EXPECT_EQ(s.run("suld.b.2d.ca.b8.trap %r4, [%rd1, {%r1, %r2}];", s.surface, {at_bytes(19, 1)})[0][0], 51U);
  EXPECT_EQ(s.run("suld.b.2d.v2.b16.zero {%h4, %h5}, [%rd1, {%r1, %r2}]; cvt.u32.u16 %r4, %h4; "
                  "cvt.u32.u16 %r5, %h5;",
                  s.surface, {at_bytes(4, 0)})[0],
            (Words{0x0504, 0x0706, 0, 0}));
  EXPECT_EQ(s.run("suld.b.2d.b64.clamp %d4, [%rd1, {%r1, %r2}]; mov.b64 {%r4, %r5}, %d4;", s.surface,
                  {at_bytes(8, 2)})[0],
            (Words{word(72), word(76), 0, 0}));
  s.expect_clean();
}

TEST(Surface, StoresBytes) {
  Surface s;
  std::vector<std::uint8_t> expected = s.download<std::uint8_t>(s.image.address, 96);
  s.run("sust.b.2d.v2.b32.trap [%rd1, {%r1, %r2}], {%r4, %r5};", s.surface, {at_bytes(8, 1)},
        {{0x04030201, 0x08070605, 0, 0}});
  for (std::size_t i = 0; i < 8; ++i) expected[40 + i] = static_cast<std::uint8_t>(i + 1);
  s.run("sust.b.2d.wb.b8.trap [%rd1, {%r1, %r2}], {%r4};", s.surface, {at_bytes(19, 2)}, {{0xabcd, 0, 0, 0}});
  expected[83] = 0xcd;
  s.run("cvt.u16.u32 %h4, %r4; sust.b.2d.b16.trap [%rd1, {%r1, %r2}], {%h4};", s.surface, {at_bytes(0, 0)},
        {{0x1234, 0, 0, 0}});
  expected[0] = 0x34;
  expected[1] = 0x12;
  s.expect_clean();
  EXPECT_EQ(s.download<std::uint8_t>(s.image.address, 96), expected);
}

const std::vector<Coordinates> around = {at_bytes(-4, 0), at_bytes(20, 1), at_bytes(0, -1),
                                         at_bytes(16, 3), at_bytes(-4, 9), at_bytes(1 << 30, 2)};

TEST(Surface, ReadsZerosAndDropsStoresOutside) {
  Surface s;
  const std::vector<std::uint8_t> before = s.download<std::uint8_t>(s.image.address, 96);
  const std::vector<Words> ones(around.size(), Words{~0U, 0, 0, 0});
  for (const Words& words : s.run("suld.b.2d.b32.zero {%r4}, [%rd1, {%r1, %r2}];", s.surface, around, ones))
    EXPECT_EQ(words[0], 0U);
  s.run("sust.b.2d.b32.zero [%rd1, {%r1, %r2}], {%r4};", s.surface, around, ones);
  s.expect_clean();
  EXPECT_EQ(s.download<std::uint8_t>(s.image.address, 96), before);
}

TEST(Surface, ClampsToTheNearestLocation) {
  Surface s;
  std::vector<std::uint32_t> found;
  for (const Words& words : s.run("suld.b.2d.b32.clamp {%r4}, [%rd1, {%r1, %r2}];", s.surface, around))
    found.push_back(words[0]);
  EXPECT_EQ(found, (std::vector<std::uint32_t>{word(0), word(48), word(0), word(80), word(64), word(80)}));
  // 16 of the 20 bytes of a row: the last place of that size begins at 0.
  EXPECT_EQ(s.run("suld.b.2d.v4.b32.clamp {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];", s.surface,
                  {at_bytes(16, 0)})[0][0],
            word(0));
  s.run("sust.b.2d.b32.clamp [%rd1, {%r1, %r2}], {%r4};", s.surface, {at_bytes(400, 7)},
        {{0x01020304, 0, 0, 0}});
  EXPECT_EQ(s.download<std::uint32_t>(s.image.address + 80, 1)[0], 0x01020304U);
  s.expect_clean();
}

TEST(Surface, TrapsOutside) {
  Surface s;
  for (const char* access :
       {"suld.b.2d.b32.trap {%r4}, [%rd1, {%r1, %r2}];", "sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r4};"}) {
    s.run(access, s.surface, {at_bytes(20, 1)});
    s.expect_finding(FindingKind::trap,
                     "The access of 4 bytes at (20, 1) is outside the surface of 20 bytes x "
                     "3 rows, which ends the kernel.");
  }
}

TEST(Surface, OfOneDimension) {
  Surface s;
  s.image.height = 0;
  const ObjectHandle line = s.emulator.create_surface(s.image);
  EXPECT_EQ(s.run("suld.b.1d.b32.clamp {%r4}, [%rd1, {%r1}];", line, {at_bytes(64)})[0][0], word(16));
  EXPECT_EQ(s.run("suq.width.b32 %r4, [%rd1];", line, {at(0)})[0][0], 5U);
  s.expect_clean();
  s.run("suq.height.b32 %r4, [%rd1];", line, {at(0)});
  s.expect_finding(FindingKind::argument, "The surface has one dimension: it has no height.");
  s.run("suld.b.2d.b32.clamp {%r4}, [%rd1, {%r1, %r2}];", line, {at_bytes(0)});
  s.expect_finding(FindingKind::argument, " has one dimension, and the instruction is .2d.");
}

// Two planes of 2 x 3 texels of 4 bytes, with rows of 16 bytes.
TEST(Surface, OfThreeDimensions) {
  Surface s;
  s.image.width = 2;
  s.image.pitch = 16;
  s.image.depth = 2;
  const ObjectHandle volume = s.emulator.create_surface(s.image);
  const std::string load = " {%r4}, [%rd1, {%r1, %r2, %r3, %r3}];";
  EXPECT_EQ(s.run("suld.b.3d.b32.trap" + load, volume, {at_bytes(4, 1, 1)})[0][0], word(68));
  EXPECT_EQ(s.run("suld.b.3d.b32.clamp" + load, volume, {at_bytes(-4, 7, 9)})[0][0], word(80));
  EXPECT_EQ(s.run("suld.b.3d.b32.zero" + load, volume, {at_bytes(0, 0, 2)})[0][0], 0U);
  s.run("sust.b.3d.b32.trap [%rd1, {%r1, %r2, %r3, %r3}], {%r4};", volume, {at_bytes(0, 2, 1)},
        {{0x01020304, 0, 0, 0}});
  EXPECT_EQ(s.download<std::uint32_t>(s.image.address + 80, 1)[0], 0x01020304U);
  EXPECT_EQ(s.run("suq.depth.b32 %r4, [%rd1];", volume, {at(0)})[0][0], 2U);
  s.expect_clean();
  s.run("suld.b.3d.b32.trap" + load, volume, {at_bytes(0, 0, 2)});
  s.expect_finding(FindingKind::trap,
                   "at (0, 0, 2) is outside the surface of 8 bytes x 3 rows x 2 planes, which ends");
  s.run("suld.b.2d.b32.trap {%r4}, [%rd1, {%r1, %r2}];", volume, {at_bytes(0)});
  s.expect_finding(FindingKind::argument, " has three dimensions, and the instruction is .2d.");
}

TEST(Surface, HasLayers) {
  Surface s;
  s.image.height = 0;
  s.image.layers = 3;
  const ObjectHandle lines = s.emulator.create_surface(s.image);
  const std::string load = " {%r4}, [%rd1, {%r1, %r2}];";
  EXPECT_EQ(s.run("suld.b.a1d.b32.trap" + load, lines, {at_bytes(2, 4)})[0][0], word(68));
  EXPECT_EQ(s.run("suld.b.a1d.b32.clamp" + load, lines, {at_bytes(1, 64)})[0][0], word(48));
  EXPECT_EQ(s.run("suq.array_size.b32 %r4, [%rd1];", lines, {at(0)})[0][0], 3U);
  s.image.width = 2;
  s.image.height = 3;
  s.image.pitch = 16;
  s.image.layers = 2;
  const ObjectHandle planes = s.emulator.create_surface(s.image);
  s.run("sust.b.a2d.b32.zero [%rd1, {%r1, %r2, %r3, %r3}], {%r4};", planes, {at_bytes(1, 4, 2)},
        {{0x01020304, 0, 0, 0}});
  EXPECT_EQ(s.download<std::uint32_t>(s.image.address + 84, 1)[0], 0x01020304U);
  s.expect_clean();
  for (const std::string mode : {"trap", "clamp", "zero"}) {
    s.run("suld.b.a1d.b32." + mode + load, lines, {at_bytes(3, 0)});
    s.expect_finding(FindingKind::out_of_bounds, "The layer is 3, outside the 3 layers; what an access does");
  }
  s.run("suq.array_size.b32 %r4, [%rd1];", s.surface, {at(0)});
  s.expect_finding(FindingKind::argument, "The surface has two dimensions: it has no layers.");
}

TEST(Surface, FindsMisuse) {
  Surface s;
  s.run("suld.b.2d.b32.zero {%r4}, [%rd1, {%r1, %r2}];", s.surface, {at_bytes(6, 0)});
  s.expect_finding(FindingKind::misaligned,
                   "The coordinate x is 6 bytes, but must be a multiple of the 4 bytes of the access.");
  s.image.width = 1;
  s.run("suld.b.2d.b64.clamp %d4, [%rd1, {%r1, %r2}];", s.emulator.create_surface(s.image), {at_bytes(8, 0)});
  s.expect_finding(FindingKind::out_of_bounds, "which has no room for it.");
  s.run("suld.b.2d.b32.zero {%r4}, [%rd1, {%r1, %r2}];", s.emulator.create_texture(s.image),
        {at_bytes(0, 0)});
  s.expect_finding(FindingKind::argument, " is a texture object.");
  s.image.height = 0;
  s.image.is_linear = true;
  EXPECT_EQ(error_of([&] { s.emulator.create_surface(s.image); }),
            "The image is linear memory; a surface needs an image that is not.");
}

TEST(Surface, SaysWhatIsNotCovered) {
  const auto expect = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  expect("suld.b.a2d.b32.trap {%r4}, [%rd1, {%r1, %r2, %r2}];", "3 coordinates are given where .a2d needs 4");
  expect("suld.b.2d.v4.b64.trap {%d4, %d5, %d4, %d5}, [%rd1, {%r1, %r2}];",
         "32 bytes are more than the 16 of one access");
  expect("suld.b.2d.b32 {%r4}, [%rd1, {%r1, %r2}];", "one of the modifiers .trap, .clamp, .zero is needed");
  expect("suq.channel_order.b32 %r4, [%rd1];",
         "one of the modifiers .width, .height, .depth, .array_size is");
}

}  // namespace
}  // namespace tenon::emulator::testing
