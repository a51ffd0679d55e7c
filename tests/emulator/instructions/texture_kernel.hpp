// A kernel of one instruction on a texture or surface object: each thread has two 32-bit coordinates and four
// 32-bit values of data.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator::testing {

using Words = std::array<std::uint32_t, 4>;

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

struct Coordinates {
  std::uint32_t x = 0, y = 0;
};
inline Coordinates at(float x, float y = 0) {
  return {bits_of(x), bits_of(y)};
}
inline Coordinates at_bytes(int x, int y = 0) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)};
}

class TextureMachine {
 public:
  Emulator emulator;

  // Memory with these values.
  template <class T>
  Address upload(const std::vector<T>& values) {
    const Address address = emulator.allocate(values.size() * sizeof(T));
    emulator.copy_in(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(Address address, std::size_t count) {
    std::vector<T> values(count);
    emulator.copy_out(values.data(), address, count * sizeof(T));
    return values;
  }

  // `instruction` may use the object %rd1, the coordinates %r1 and %r2, and the data %r4 to %r7, %h4 to %h7
  // and %d4, %d5. Returns the data (%r4 ...) of every thread afterwards; its findings are in `findings`.
  std::vector<Words> run(const std::string& instruction, ObjectHandle object,
                         const std::vector<Coordinates>& coordinates, std::vector<Words> data = {}) {
    const std::string text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 in, .param .u64 data) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .b16 %h<8>; .reg .b64 %d<8>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [object]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [data];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd4, %r0, 8; add.s64 %rd2, %rd2, %rd4; ld.global.v2.b32 {%r1, %r2}, [%rd2];
  mul.wide.u32 %rd4, %r0, 16; add.s64 %rd3, %rd3, %rd4; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3];
  )" + instruction + R"(
  st.global.v4.b32 [%rd3], {%r4, %r5, %r6, %r7};
  ret;
})";
    data.resize(coordinates.size());
    const Address in = upload(coordinates), memory = upload(data);
    const auto threads = static_cast<std::uint32_t>(coordinates.size());
    findings = emulator.launch(emulator.load(text), "k", {{1}, {threads}}, {object, in, memory}).findings;
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

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// What the emulator says about the instruction when the kernel is decoded.
inline std::string refusal(const std::string& instruction) {
  TextureMachine machine;
  return error_of([&] { machine.run(instruction, 0, {at(0)}); });
}

constexpr char tex_1d[] = "tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1}];";
constexpr char tex_2d[] = "tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}];";

}  // namespace tenon::emulator::testing
