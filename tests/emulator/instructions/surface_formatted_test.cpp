// sust.p on surface objects: components converted to the texels' format, coordinates in texels, dimensions
// and layers, the three modes outside, and findings about what no document defines.
#include <algorithm>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr auto s = TexelKind::signed_integer, u = TexelKind::unsigned_integer, f = TexelKind::real;
constexpr char store_4[] = "sust.p.1d.v4.b32.trap [%rd1, {%r1}], {%r4, %r5, %r6, %r7};";

std::uint32_t negative(int value) {
  return static_cast<std::uint32_t>(value);
}

// A surface of three texels in one dimension.
struct Texels : TextureMachine {
  explicit Texels(TexelFormat format)
      : image{upload(std::vector<std::uint8_t>(48, 0xee)), format, 3},
        surface(emulator.create_surface(image)) {}
  template <class T>
  std::vector<T> now(std::size_t count) {
    return download<T>(image.address, count);
  }
  Image image;
  ObjectHandle surface;
};

// The second texel after the store, as channels.
template <class T>
std::vector<T> stored(TexelFormat format, const Words& components, const std::string& store = store_4) {
  Texels texels(format);
  texels.run(store, texels.surface, {at_bytes(1)}, {components});
  texels.expect_clean();
  const auto count = static_cast<std::ptrdiff_t>(format.channels);
  const std::vector<T> all = texels.now<T>(static_cast<std::size_t>(3 * count));
  const T untouched = all[0];
  EXPECT_EQ(std::count(all.begin(), all.begin() + count, untouched), count);
  EXPECT_EQ(std::count(all.begin() + 2 * count, all.end(), untouched), count);
  return {all.begin() + count, all.begin() + 2 * count};
}

TEST(SurfaceFormatted, ConvertsToEveryFormat) {
  EXPECT_EQ(stored<std::uint32_t>({f, 32, 4}, {1, 0x7fc12345U, 0x80000000U, 0xff800000U}),
            (std::vector<std::uint32_t>{1, 0x7fc12345U, 0x80000000U, 0xff800000U}));
  EXPECT_EQ(stored<std::uint32_t>({u, 32, 2}, {1, ~0U, 2, 3}), (std::vector<std::uint32_t>{1, ~0U}));
  EXPECT_EQ(stored<std::uint32_t>({s, 32, 1}, {negative(-7), 1, 2, 3}),
            (std::vector<std::uint32_t>{negative(-7)}));
  EXPECT_EQ(stored<std::uint16_t>({f, 16, 4}, {bits_of(1), bits_of(-2.5F), bits_of(65504), bits_of(-0.0F)}),
            (std::vector<std::uint16_t>{0x3c00, 0xc100, 0x7bff, 0x8000}));
  EXPECT_EQ(stored<std::uint16_t>({u, 16, 2}, {65535, 7, 0, 0}), (std::vector<std::uint16_t>{65535, 7}));
  EXPECT_EQ(stored<std::int16_t>({s, 16, 2}, {negative(-32768), 32767, 0, 0}),
            (std::vector<std::int16_t>{-32768, 32767}));
  EXPECT_EQ(stored<std::uint8_t>({u, 8, 4}, {255, 0, 128, 1}), (std::vector<std::uint8_t>{255, 0, 128, 1}));
  EXPECT_EQ(stored<std::int8_t>({s, 8, 4}, {127, negative(-128), negative(-1), 1}),
            (std::vector<std::int8_t>{127, -128, -1, 1}));
}

TEST(SurfaceFormatted, StoresOneTwoOrFourComponents) {
  EXPECT_EQ(stored<std::uint8_t>({u, 8, 1}, {9, 8, 7, 6}, "sust.p.1d.b32.trap [%rd1, {%r1}], {%r4};"),
            (std::vector<std::uint8_t>{9}));
  EXPECT_EQ(
      stored<std::uint8_t>({u, 8, 2}, {9, 8, 7, 6}, "sust.p.1d.wb.v2.b32.zero [%rd1, {%r1}], {%r4, %r5};"),
      (std::vector<std::uint8_t>{9, 8}));
  // More than the texels have are ignored, values of any size too.
  EXPECT_EQ(stored<std::uint8_t>({u, 8, 1}, {9, ~0U, ~0U, ~0U}), (std::vector<std::uint8_t>{9}));
}

// Not documented: the answers of an H200 (TextureOnDevice.RoundsFormattedStores).
TEST(SurfaceFormatted, RoundsTowardsZero) {
  EXPECT_EQ(stored<std::uint16_t>({f, 16, 4}, {0x3f801000, 0x3f803000, 0x3f801001, 0xbf801000}),
            (std::vector<std::uint16_t>{0x3c00, 0x3c01, 0x3c00, 0xbc00}));
  EXPECT_EQ(
      stored<std::uint16_t>({f, 16, 4}, {bits_of(65519), bits_of(65520), bits_of(1e30F), bits_of(-65520)}),
      (std::vector<std::uint16_t>{0x7bff, 0x7bff, 0x7bff, 0xfbff}));
  EXPECT_EQ(stored<std::uint16_t>({f, 16, 4}, {0x33000000, 0x33000001, 0x33c00000, 0x7fc12345}),
            (std::vector<std::uint16_t>{0, 0, 1, 0x7e09}));
}

TEST(SurfaceFormatted, OfEveryGeometry) {
  Texels texels({u, 8, 1});
  const auto stores = [&](std::uint32_t height, std::uint32_t depth, std::uint32_t layers,
                          const std::string& geometry, const std::string& place, const Coordinates& at) {
    Image image = texels.image;
    image.width = 2;
    image.height = height, image.depth = depth, image.layers = layers;
    texels.emulator.fill(image.address, 0, 48);
    texels.run("sust.p." + geometry + ".b32.trap [%rd1, {" + place + "}], %r4;",
               texels.emulator.create_surface(image), {at}, {{5, 0, 0, 0}});
    texels.expect_clean();
    const std::vector<std::uint8_t> bytes = texels.now<std::uint8_t>(48);
    return std::find(bytes.begin(), bytes.end(), 5) - bytes.begin();
  };
  EXPECT_EQ(stores(3, 0, 0, "2d", "%r1, %r2", at_bytes(1, 2)), 5);
  EXPECT_EQ(stores(3, 4, 0, "3d", "%r1, %r2, %r3, %r3", at_bytes(1, 2, 3)), 23);
  EXPECT_EQ(stores(0, 0, 4, "a1d", "%r1, %r2", at_bytes(3, 1)), 7);
  EXPECT_EQ(stores(3, 0, 4, "a2d", "%r1, %r2, %r3, %r3", at_bytes(3, 1, 2)), 23);
}

TEST(SurfaceFormatted, OutsideTheSurface) {
  Texels texels({u, 16, 1});
  for (const int x : {-1, 3, 1 << 30})
    texels.run("sust.p.1d.b32.zero [%rd1, {%r1}], %r4;", texels.surface, {at_bytes(x)}, {{5, 0, 0, 0}});
  texels.expect_clean();
  EXPECT_EQ(texels.now<std::uint16_t>(4), (std::vector<std::uint16_t>(4, 0xeeee)));
  texels.run("sust.p.1d.b32.clamp [%rd1, {%r1}], %r4;", texels.surface, {at_bytes(-9), at_bytes(4)},
             {{5, 0, 0, 0}, {6, 0, 0, 0}});
  texels.expect_clean();
  EXPECT_EQ(texels.now<std::uint16_t>(4), (std::vector<std::uint16_t>{5, 0xeeee, 6, 0xeeee}));
  texels.run(store_4, texels.surface, {at_bytes(3)});
  texels.expect_finding(FindingKind::trap,
                        "The access of 2 bytes at (6, 0) is outside the surface of 6 bytes x 1 rows");
}

TEST(SurfaceFormatted, FindsWhatIsNotDefined) {
  Texels texels({u, 8, 4});
  texels.run("sust.p.1d.v2.b32.trap [%rd1, {%r1}], {%r4, %r5};", texels.surface, {at_bytes(0)});
  texels.expect_finding(FindingKind::argument,
                        "The texels have 4 channels, and the instruction stores 2; the others get");
  texels.run(store_4, texels.surface, {at_bytes(0)}, {{1, 256, 3, 4}});
  texels.expect_finding(FindingKind::argument,
                        "The component g is 256, which 8-bit unsigned texels do not hold; what a formatted");
  Texels small({s, 16, 1});
  small.run(store_4, small.surface, {at_bytes(0)}, {{negative(-32769), 0, 0, 0}});
  small.expect_finding(FindingKind::argument, "The component r is -32769, which 16-bit signed texels do not");
}

TEST(SurfaceFormatted, SaysWhatIsNotAnInstruction) {
  const auto expect = [](const std::string& instruction, const std::string& says) {
    const std::string said = refusal(instruction);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  };
  expect("sust.p.1d.b8.trap [%rd1, {%r1}], {%r4};", "the type .b8 is given where one of .b32 is needed");
  expect("sust.p.1d.b32.trap [%rd1, {%r1}], {%h4};", "a register of type .b16 is given where one of 32 bits");
  expect("suld.p.1d.b32.trap {%r4}, [%rd1, {%r1}];", "the modifier .b is needed");
}

}  // namespace
}  // namespace tenon::emulator::testing
