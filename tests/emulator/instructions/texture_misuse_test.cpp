// Textures that do not fit, images and instructions that are refused, and what the messages say.
#include <functional>
#include <limits>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

TEST(TextureMisuse, FindsCoordinatesWithoutATexel) {
  Line line;
  line.run(tex_1d, line.emulator.create_texture(line.image), {at(std::numeric_limits<float>::quiet_NaN())});
  line.expect_finding(FindingKind::argument, "The coordinate x is nan");
  line.run(tex_1d, line.emulator.create_texture(line.image, sampled(TextureAddressMode::wrap, true)),
           {at(std::numeric_limits<float>::infinity())});
  line.expect_finding(FindingKind::argument, "The coordinate x is inf");
}

TEST(TextureMisuse, FindsObjectsThatDoNotFit) {
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

TEST(TextureMisuse, FindsTexelsThatCannotBeRead) {
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

TEST(TextureMisuse, IsRefusedWithASentence) {
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

TEST(TextureMisuse, SaysWhatIsNotCovered) {
  const auto expect = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find("line "), std::string::npos) << said;
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  expect("tex.2dms.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r1, %r1, %r1}];",
         "the geometry .2dms is not covered: .1d, .2d, .3d, .a1d, .a2d, .cube and .acube are");
  expect("tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], {%r1, %r2};",
         "offsets and depth comparisons of a fetch are not covered");
  expect("tex.2d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];", "integer coordinates are for .1d");
  expect("tex.1d.v4.f32.f32 {%r4, %r5, %r6}, [%rd1, {%r1}];", "3 registers are given where 4 are needed");
  expect("tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];",
         "1 coordinates are given where .2d needs 2");
  expect("tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [data, {%r1}];",
         "the object must be a 64-bit register: the emulator knows texture and surface objects");
  expect("txq.addr_mode_0.b32 %r4, [%rd1];",
         "one of the modifiers .width, .height, .depth, .array_size, .num_mipmap_levels, .normalized_coords");
  expect("istypep.texref %p0, %rd1;", "the emulator knows texture and surface objects");
}

}  // namespace
}  // namespace tenon::emulator::testing
