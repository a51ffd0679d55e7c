// sured on surface objects: the operations on integers, by bytes and by texels, threads that meet in one
// place, the three modes outside, and findings.
#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// An image of 4 x 2 integers of 32 bits.
struct Integers : TextureMachine {
  explicit Integers(const std::vector<std::uint32_t>& values, TexelKind kind = TexelKind::unsigned_integer)
      : image{upload(values), {kind, 32, 1}, 4, 2}, surface(emulator.create_surface(image)) {}
  std::vector<std::uint32_t> now() { return download<std::uint32_t>(image.address, 8); }

  Image image;
  ObjectHandle surface;
};

const std::vector<std::uint32_t> values = {0, 1, 2, 3, 0xfffffff0, 5, 6, 7};

// The integer at (0, 1), which was 0xfffffff0, or -16, after the reduction with `operand`.
std::uint32_t reduced(const std::string& form, std::uint32_t operand,
                      TexelKind kind = TexelKind::unsigned_integer) {
  Integers s(values, kind);
  s.run("sured." + form + ".trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(0, 1)},
        {{operand, 0, 0, 0}});
  s.expect_clean();
  std::vector<std::uint32_t> others = s.now();
  const std::uint32_t result = others[4];
  others[4] = values[4];
  EXPECT_EQ(others, values) << form;
  return result;
}

TEST(SurfaceReduction, OfEveryOperation) {
  EXPECT_EQ(reduced("b.add.2d.u32", 0x20), 0x10U);
  EXPECT_EQ(reduced("b.add.2d.s32", 0x20), 0x10U);
  EXPECT_EQ(reduced("b.min.2d.u32", 3), 3U);
  EXPECT_EQ(reduced("b.min.2d.s32", 3), 0xfffffff0U);
  EXPECT_EQ(reduced("b.max.2d.u32", 3), 0xfffffff0U);
  EXPECT_EQ(reduced("b.max.2d.s32", 3), 3U);
  EXPECT_EQ(reduced("b.and.2d.b32", 0xff), 0xf0U);
  EXPECT_EQ(reduced("b.or.2d.b32", 3), 0xfffffff3U);
}

TEST(SurfaceReduction, OfTexelsTakesTheirSign) {
  constexpr auto u = TexelKind::unsigned_integer, s = TexelKind::signed_integer;
  EXPECT_EQ(reduced("p.min.2d.b32", 3, u), 3U);
  EXPECT_EQ(reduced("p.min.2d.b32", 3, s), 0xfffffff0U);
  EXPECT_EQ(reduced("p.max.2d.b32", 3, u), 0xfffffff0U);
  EXPECT_EQ(reduced("p.max.2d.b32", 3, s), 3U);
  EXPECT_EQ(reduced("p.add.2d.b32", 0x20, s), 0x10U);
  EXPECT_EQ(reduced("p.and.2d.b32", 0xff, s), 0xf0U);
}

TEST(SurfaceReduction, CountsBytesOrTexels) {
  Integers s(std::vector<std::uint32_t>(8, 100));
  s.run("sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(8, 1)}, {{1, 0, 0, 0}});
  s.run("sured.p.add.2d.b32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(1, 1)}, {{2, 0, 0, 0}});
  s.expect_clean();
  EXPECT_EQ(s.now(), (std::vector<std::uint32_t>{100, 100, 100, 100, 100, 102, 101, 100}));
}

TEST(SurfaceReduction, Of64Bits) {
  Integers s({~0U, 0, 5, ~0U, 0, 0, 0, 0});
  s.run("mov.b64 %d4, {%r4, %r5}; sured.b.add.2d.u64.trap [%rd1, {%r1, %r2}], %d4;", s.surface, {at_bytes(0)},
        {{1, 0, 0, 0}});
  s.run("mov.b64 %d4, {%r4, %r5}; sured.b.max.2d.s64.trap [%rd1, {%r1, %r2}], %d4;", s.surface, {at_bytes(8)},
        {{7, 0, 0, 0}});
  s.expect_clean();
  EXPECT_EQ(s.now(), (std::vector<std::uint32_t>{0, 1, 7, 0, 0, 0, 0, 0}));
}

TEST(SurfaceReduction, OfThreadsThatMeet) {
  Integers s(std::vector<std::uint32_t>(8));
  std::vector<Coordinates> places;
  std::vector<Words> data;
  for (std::uint32_t i = 0; i < 256; ++i) {
    places.push_back(at_bytes(i % 2 == 0 ? 4 : 12, 0));
    data.push_back({i, 0, 0, 0});
  }
  s.run("sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, places, data);
  s.expect_clean();
  EXPECT_EQ(s.now(), (std::vector<std::uint32_t>{0, 127 * 128, 0, 128 * 128, 0, 0, 0, 0}));
}

TEST(SurfaceReduction, OfThreeDimensionsAndOfOne) {
  Integers s(std::vector<std::uint32_t>(8));
  s.image.width = s.image.height = s.image.depth = 2;
  s.run("sured.b.add.3d.u32.trap [%rd1, {%r1, %r2, %r3, %r3}], %r4;", s.emulator.create_surface(s.image),
        {at_bytes(4, 0, 1)}, {{1, 0, 0, 0}});
  s.image.width = 8;
  s.image.height = s.image.depth = 0;
  s.run("sured.p.add.1d.b32.trap [%rd1, {%r1}], %r4;", s.emulator.create_surface(s.image), {at_bytes(2)},
        {{2, 0, 0, 0}});
  s.expect_clean();
  EXPECT_EQ(s.now(), (std::vector<std::uint32_t>{0, 0, 2, 0, 0, 1, 0, 0}));
}

TEST(SurfaceReduction, OutsideTheSurface) {
  Integers s(std::vector<std::uint32_t>(8));
  s.run("sured.b.add.2d.u32.zero [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(16, 1)}, {{1, 0, 0, 0}});
  s.run("sured.p.add.2d.b32.clamp [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(9, 9)}, {{2, 0, 0, 0}});
  s.expect_clean();
  EXPECT_EQ(s.now(), (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0, 0, 2}));
  s.run("sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(16, 1)});
  s.expect_finding(FindingKind::trap, "The access of 4 bytes at (16, 1) is outside the surface");
}

TEST(SurfaceReduction, FindsMisuse) {
  Integers s(values, TexelKind::real);
  s.run("sured.p.add.2d.b32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(0)});
  s.expect_finding(FindingKind::argument,
                   "The texels have 1 channels of 32 bits, reals; a formatted reduction needs one integer of "
                   "32 bits.");
  s.run("sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r4;", s.surface, {at_bytes(2)});
  s.expect_finding(FindingKind::misaligned, "The coordinate x is 2 bytes");
  const auto expect = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  expect("sured.b.add.a2d.u32.trap [%rd1, {%r1, %r2, %r3, %r3}], %r4;", "a reduction has no layers");
  expect("sured.b.add.2d.s64.trap [%rd1, {%r1, %r2}], %d4;", ".s64");
  expect("sured.b.and.2d.u32.trap [%rd1, {%r1, %r2}], %r4;", ".u32");
  expect("sured.p.min.2d.b64.trap [%rd1, {%r1, %r2}], %d4;", "that a formatted .b64 needs");
}

}  // namespace
}  // namespace tenon::emulator::testing
