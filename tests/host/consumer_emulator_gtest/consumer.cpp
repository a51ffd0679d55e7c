#include "tenon/emulator/gtest.hpp"

constexpr const char* ptx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x) {
  .reg .u64 %a<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %a0, [x];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a2, %a0, %a1;
  ld.global.u32 %r1, [%a2];
  add.u32 %r2, %r1, %r1;
  st.global.u32 [%a2], %r2;
  ret;
}
)";

TEST(Twice, DoublesEachElement) {
  auto device = tenon::emulator::TestDevice::of_text(ptx);
  const auto x = device.buffer(std::vector<int>{1, 2, 3});
  EXPECT_TRUE(device.launch("twice", {{1}, {3}}, {x}));
  EXPECT_TRUE(x.equals({2, 4, 6}));
  EXPECT_FALSE(device.launch("twice", {{1}, {4}}, {x}));  // beyond the end of x
}
