// A kernel of one instruction on a texture or surface object: each thread has three 32-bit coordinates and
// four 32-bit values of data.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {

using Words = std::array<std::uint32_t, 4>;

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

struct Coordinates {
  std::uint32_t x = 0, y = 0, z = 0, unused = 0;
};
inline Coordinates at(float x, float y = 0, float z = 0) {
  return {bits_of(x), bits_of(y), bits_of(z)};
}
inline Coordinates at_bytes(int x, int y = 0, int z = 0) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}
inline Coordinates in_layer(std::uint32_t layer, float x, float y = 0) {
  return {layer, bits_of(x), bits_of(y)};
}

// The kernel `k` of an object, coordinates and data. `instruction` may use the object %rd1, the coordinates
// %r1 to %r3, and the data %r4 to %r7, %h4 to %h7 and %d4, %d5. %r4 to %r7 are stored as data afterwards.
inline std::string texture_text(const std::string& instruction) {
  return module_text(".param .u64 object, .param .u64 in, .param .u64 data", R"(
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [object]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [data];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd4, %r0, 16; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd2]; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3];
  )" + instruction + R"(
  st.global.v4.b32 [%rd3], {%r4, %r5, %r6, %r7};
  ret;)",
                     "", "sm_80");
}

class TextureMachine : public Machine {
 public:
  // Returns the data of every thread afterwards; the findings are in `findings`.
  std::vector<Words> run(const std::string& instruction, ObjectHandle object,
                         const std::vector<Coordinates>& coordinates, std::vector<Words> data = {}) {
    data.resize(coordinates.size());
    const Address in = upload(coordinates), memory = upload(data);
    const auto threads = static_cast<std::uint32_t>(coordinates.size());
    findings =
        emulator.launch(emulator.load(texture_text(instruction)), "k", {{1}, {threads}}, {object, in, memory})
            .findings;
    return download<Words>(memory, data.size());
  }

  // The first component of each fetch as a real, without findings.
  std::vector<float> fetch(const std::string& instruction, ObjectHandle object,
                           const std::vector<Coordinates>& coordinates) {
    std::vector<float> values;
    for (const Words& words : run(instruction, object, coordinates)) {
      values.emplace_back();
      std::memcpy(&values.back(), words.data(), 4);
    }
    expect_clean();
    return values;
  }

  void expect_clean() const {
    for (const Finding& finding : findings) ADD_FAILURE() << name(finding.kind) << ": " << finding.message;
  }
  void expect_finding(FindingKind kind, const std::string& says) const {
    ASSERT_EQ(findings.size(), 1U) << says;
    EXPECT_EQ(findings[0].kind, kind) << findings[0].message;
    EXPECT_NE(findings[0].message.find(says), std::string::npos) << findings[0].message;
  }

  std::vector<Finding> findings;
};

// What the emulator says about the instruction when the kernel is decoded.
inline std::string refusal(const std::string& instruction) {
  TextureMachine machine;
  return error_of([&] { machine.run(instruction, 0, {at(0)}); });
}

constexpr TexelFormat one_real{TexelKind::real, 32, 1};

inline Sampling sampled(TextureAddressMode mode, bool is_normalized,
                        TextureFilter filter = TextureFilter::point) {
  Sampling sampling;
  for (TextureAddressMode& address : sampling.address) address = mode;
  sampling.normalized_coordinates = is_normalized;
  sampling.filter = filter;
  return sampling;
}

constexpr char tex_1d[] = "tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];";
constexpr char tex_2d[] = "tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];";

// The texels 10, 20, 30, 40, 50 in one dimension.
struct Line : TextureMachine {
  Image image{upload<float>({10, 20, 30, 40, 50}), one_real, 5};
};

}  // namespace tenon::emulator::testing
