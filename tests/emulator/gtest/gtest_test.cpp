// TestDevice: a correct kernel passes, and each planted fault makes the test fail with a sentence that says
// what is wrong and where. The kernel reverses its block of 64 numbers in shared memory.
#include "tenon/emulator/gtest.hpp"

#include <gtest/gtest-spi.h>

#include <cstdio>
#include <limits>
#include <numeric>

namespace tenon::emulator {
namespace {

// ORDER is the barrier, SCALE the factor's bits.
constexpr const char* text = R"(
.version 7.0
.target sm_80
.address_size 64
.file 1 "reverse.cu"
.visible .entry reverse(.param .u64 from, .param .u64 to, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .f32 %f<4>;
  .reg .b64 %a<6>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %a0, [from];
  ld.param.u64 %a1, [to];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %a2, %r1, 4;
  add.u64 %a3, %a0, %a2;
  add.u64 %a4, %a1, %a2;
  ld.global.f32 %f0, [%a3];
  mul.f32 %f1, %f0, SCALE;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  st.shared.f32 [%r4], %f1;
  ORDER
  sub.u32 %r5, %r2, %r3;
  .loc 1 12 3
  ld.shared.f32 %f2, [%r5+252];
  setp.lt.u32 %p0, %r1, %r0;
  .loc 1 13 3
  @%p0 st.global.f32 [%a4], %f2;
  ret;
}
)";

std::string module_with(const std::string& order, const std::string& scale) {
  std::string module = text;
  module.replace(module.find("ORDER"), 5, order);
  return module.replace(module.find("SCALE"), 5, scale);
}
const std::string barrier = "bar.sync 0;", one = "0f3F800000", two = "0f40000000";

struct Reverse {
  explicit Reverse(const std::string& module, std::size_t size = 64)
      : device(TestDevice::of_text(module)), y(device.buffer<float>(size)) {
    std::vector<float> values(64);
    std::iota(values.begin(), values.end(), 0.0F);
    expected.assign(values.rbegin(), values.rend());
    x = std::make_unique<TestBuffer<float>>(device.buffer(values));
  }
  ::testing::AssertionResult launch(std::uint32_t n = 64) {
    return device.launch("reverse", {{1}, {64}}, {*x, y, n});
  }
  TestDevice device;
  TestBuffer<float> y;
  std::unique_ptr<TestBuffer<float>> x;
  std::vector<float> expected;
};

TEST(GoogleTestHelper, PassesACorrectKernel) {
  Reverse test(module_with(barrier, one));
  EXPECT_TRUE(test.launch());
  EXPECT_TRUE(test.y.equals(test.expected));
  EXPECT_TRUE(test.y.near(test.expected, 0));
  EXPECT_EQ(test.y.values(), test.expected);
  ASSERT_EQ(test.device.results().size(), 3u);
  for (const Result& result : test.device.results()) EXPECT_EQ(result.counters.total.instructions, 2 * 19u);
}

TEST(GoogleTestHelper, FailsForARace) {
  Reverse test(module_with("", one));
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.launch()),
                          "Actual: false (1 finding:\n  race at reverse.cu:12, PTX line 28, ");
  const std::string sentence = test.launch().message();
  EXPECT_NE(sentence.find("under the schedules early, late, random:1: thread ("), std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("without an order between them"), std::string::npos) << sentence;
}

TEST(GoogleTestHelper, FailsForAnAccessOutOfBounds) {
  Reverse test(module_with(barrier, one), 60);
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.launch()),
                          "1 finding:\n  out_of_bounds at reverse.cu:13, PTX line 31, 4 times, first by "
                          "thread (60,0,0) of block (0,0,0), ");
  EXPECT_TRUE(test.launch(60));  // as the caller of the kernel must do it
}

TEST(GoogleTestHelper, FailsForAWrongValue) {
  Reverse test(module_with(barrier, two));
  EXPECT_TRUE(test.launch());
  EXPECT_NONFATAL_FAILURE(
      EXPECT_TRUE(test.y.equals(test.expected)),
      "element 0 is 126, but 63 is expected; 63 of 64 elements are wrong under the schedule early");
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.y.near(test.expected, 20.5)),
                          "element 0 is 126, but 63 within 20.5 is expected; 43 of 64 elements are wrong");
  EXPECT_TRUE(test.y.near(test.expected, 63));
  test.expected[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.y.near(test.expected, 63)),
                          "element 5 is 116, but nan within 63 is expected; 1 of 64");
}

TEST(GoogleTestHelper, FailsForElementsThatAreNotWritten) {
  Reverse test(module_with(barrier, one));
  EXPECT_TRUE(test.launch(32));
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.y.equals(test.expected)),
                          "element 32 is 0, since nothing has written it, but 31 is expected; 31 of 64");
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.y.equals({1, 2})),
                          "the buffer has 64 elements, but 2 are expected");
}

// A result that only one of the schedules makes wrong: the copy is not waited for.
TEST(GoogleTestHelper, ComparesTheResultOfEachSchedule) {
  TestDevice device = TestDevice::of_text(R"(
    .version 7.0
    .target sm_80
    .address_size 64
    .visible .entry copy(.param .u64 from, .param .u64 to) {
      .reg .b32 %r<3>;
      .reg .b64 %a<3>;
      .shared .align 4 .b32 word;
      ld.param.u64 %a0, [from];
      ld.param.u64 %a1, [to];
      mov.u32 %r0, word;
      mov.u32 %r1, 0;
      st.shared.u32 [%r0], %r1;
      cp.async.ca.shared.global [%r0], [%a0], 4;
      ld.shared.u32 %r1, [%r0];
      st.global.u32 [%a1], %r1;
      ret;
    })");
  const auto x = device.buffer(std::vector<int>{7}), y = device.buffer<int>(1);
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(device.launch("copy", {{1}, {1}}, {x, y})), "async_use at PTX line 15");
  EXPECT_NONFATAL_FAILURE(
      EXPECT_TRUE(y.equals({7})),
      "element 0 is 0, but 7 is expected; 1 of 1 elements are wrong under the schedule late");
}

TEST(GoogleTestHelper, FailsForALaunchThatIsRefused) {
  Reverse test(module_with(barrier, one));
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(test.device.launch("reverse", {{1}, {64}}, {*test.x})),
                          "has 3 parameters; 1 arguments are given");
  EXPECT_THROW(TestDevice("no_such_file.ptx"), Error);
}

TEST(GoogleTestHelper, HasTexturesAndSurfaces) {
  TestDevice device = TestDevice::of_text(R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<4>; .reg .f32 %f<5>; .reg .b64 %a<2>;
  ld.param.u64 %a0, [from]; ld.param.u64 %a1, [to];
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; cvt.rn.f32.u32 %f4, %r0;
  tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%a0, {%f4}];
  sust.b.1d.b32.trap [%a1, {%r1}], {%f0};
  ret;
})");
  const auto x = device.buffer(std::vector<float>{1, 2, 3});
  const auto y = device.buffer<float>(3);
  const TexelFormat reals{TexelKind::real, 32, 1};
  const ObjectHandle from = device.texture({x.address(), reals, 3}),
                     to = device.surface({y.address(), reals, 3});
  EXPECT_TRUE(device.launch("copy", {{1}, {3}}, {from, to}));
  EXPECT_TRUE(y.equals({1, 2, 3}));
  const auto beyond = device.launch("copy", {{1}, {4}}, {from, to});
  EXPECT_FALSE(beyond);
  EXPECT_NE(std::string(beyond.message()).find("is outside the surface of 12 bytes x 1 rows"),
            std::string::npos)
      << beyond.message();
}

}  // namespace
}  // namespace tenon::emulator
