// What gemm_grouped() refuses, each with a sentence that names the value found and the value needed, and the
// choice of a kernel. No device.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/grouped.hpp"
#include "host/gemm_grouped_on.hpp"
#include "host/validate_grouped.hpp"

namespace tenon {
namespace {

// Addresses are checked and never dereferenced.
void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

class GroupedRefusals : public ::testing::Test {
 protected:
  GroupedGemm problem_;

  GroupedRefusals() {
    problem_.groups = 3, problem_.m = 100, problem_.n = 40, problem_.k = 64;
    problem_.a = {at(1 << 20), 64, row_major, Type::bf16};
    problem_.b = {at(2 << 20), 64, column_major, Type::bf16};
    problem_.b_stride = 40 * 64;
    problem_.c = {at(3 << 20), 40, Type::bf16};
    problem_.sizes = static_cast<const std::int32_t*>(at(4 << 20));
    problem_.error = static_cast<std::int32_t*>(at(5 << 20));
  }
  void expect(StatusCode code, const char* sentence) const {
    const Status s = validate(problem_);
    EXPECT_EQ(s.code(), code);
    EXPECT_STREQ(s.message(), sentence);
  }
  void expect_ok() const { expect(StatusCode::ok, ""); }
};

TEST_F(GroupedRefusals, AValidProblemIsNone) {
  expect_ok();
  problem_.layout = GroupLayout::masked;
  expect_ok();
  problem_.error = nullptr;
  expect_ok();
}
TEST_F(GroupedRefusals, NothingToDoIsNone) {
  problem_.groups = 0, problem_.sizes = {};
  expect_ok();
}
TEST_F(GroupedRefusals, Sizes) {
  problem_.groups = -1;
  expect(StatusCode::invalid_argument, "groups is -1 but must be 0 to 2147479552");
  problem_.groups = 3, problem_.k = -5;
  expect(StatusCode::invalid_argument, "k is -5 but must be 0 to 2147479552");
  problem_.k = 64, problem_.m = -2;
  expect(StatusCode::invalid_argument, "m is -2 but must be 0 to 2147479552");
  problem_.layout = GroupLayout::masked, problem_.m = std::int64_t{1} << 30;
  expect(StatusCode::unsupported, "3 groups of m = 1073741824 rows are more than 2147479552 rows in all");
  problem_.layout = static_cast<GroupLayout>(7);
  expect(StatusCode::invalid_argument, "layout is 7 but must be contiguous (0), masked (1) or divides_k (2)");
}
TEST_F(GroupedRefusals, TypesAndOrders) {
  problem_.b.type = Type::f16;
  expect(StatusCode::unsupported, "A is bf16 and B is f16 but they must have the same type");
  problem_.a.type = Type::e5m2;
  expect(StatusCode::unsupported, "A is e5m2 but must be f16, bf16 or e4m3");
  problem_.a.type = Type::e4m3;
  expect(StatusCode::unsupported, "A is e4m3 and B is f16 but they must have the same type");
  problem_.a.type = Type::f16, problem_.c.type = Type::s32;
  expect(StatusCode::unsupported, "C is s32 but must be f16, bf16 or f32");
  problem_.c.type = Type::f32, problem_.a.order = column_major;
  expect(StatusCode::unsupported, "A is column-major but the rows of a group must be contiguous: row-major");
}
TEST_F(GroupedRefusals, LeadingDimensionsAndAlignment) {
  problem_.a.ld = 63;
  expect(StatusCode::invalid_argument, "lda is 63 but needs >= 64 here");
  problem_.a.ld = 66;
  expect(StatusCode::unsupported, "lda is 66 but TMA needs a multiple of 8 elements of type bf16");
  problem_.a.ld = 64, problem_.b.data = at((2 << 20) + 2);
  expect(StatusCode::unsupported, "B is 2 bytes past a multiple of 16 but TMA needs 0");
}
TEST_F(GroupedRefusals, StridesOfB) {
  problem_.b_stride = 40 * 64 + 8;
  expect(StatusCode::unsupported, "b_stride is 2568 but must be a multiple of ldb = 64");
  problem_.b_stride = 39 * 64;
  expect(StatusCode::invalid_argument,
         "b_stride is 2496 but B[g] has 40 columns of ldb = 64: 0, or >= 2560 is needed");
  problem_.b_stride = 64 * (std::int64_t{1} << 30);
  expect(StatusCode::unsupported,
         "3 groups, b_stride = 68719476736 apart, have 3221225472 columns in all but TMA reads at most "
         "2147479552");
  problem_.b_stride = 0;  // one B for all
  expect_ok();
  problem_.b_stride = 17, problem_.groups = 1;  // not used
  expect_ok();
}
TEST_F(GroupedRefusals, ARowMajorBNeedsWholeKTiles) {
  problem_.k = 72, problem_.a.ld = 72;
  problem_.b = {at(2 << 20), 40, row_major, Type::bf16};
  problem_.b_stride = 72 * 40;
  expect(StatusCode::unsupported,
         "k is 72 but with a row-major B and several groups must be a multiple of 64");
}
TEST_F(GroupedRefusals, GroupsThatDivideK) {
  problem_.layout = GroupLayout::divides_k;
  expect(StatusCode::unsupported,
         "A is row-major and B is column-major but groups that divide k need column-major and row-major");
  problem_.a = {at(1 << 20), 104, column_major, Type::bf16};
  problem_.b = {at(2 << 20), 40, row_major, Type::bf16};
  problem_.c_stride = 100 * 40 + 1;
  expect(StatusCode::unsupported, "c_stride is 4001 but must be a multiple of ldc = 40");
  problem_.c_stride = 99 * 40;
  expect(StatusCode::invalid_argument,
         "c_stride is 3960 but C[g] has 100 rows of ldc = 40: >= 4000 is needed");
  problem_.c_stride = 100 * 40;
  expect_ok();
  problem_.k = 63;  // any
  expect_ok();
}
TEST_F(GroupedRefusals, TheSizesAndTheErrorWord) {
  problem_.sizes = {};
  expect(StatusCode::invalid_argument,
         "sizes is a null pointer but must point to 4 integers in device memory");
  problem_.sizes = static_cast<const std::int64_t*>(at((4 << 20) + 4));
  expect(StatusCode::invalid_argument,
         "sizes is at an address 4 past a multiple of 8 but needs a multiple of 8");
  problem_.sizes = static_cast<const std::int32_t*>(at(4 << 20));
  problem_.error = static_cast<std::int32_t*>(at((5 << 20) + 1));
  expect(StatusCode::invalid_argument,
         "error is at an address 1 past a multiple of 4 but needs a multiple of 4");
}
TEST_F(GroupedRefusals, Overlaps) {
  problem_.c.data = at((2 << 20) - 2);
  expect(StatusCode::invalid_argument, "C at 0x1ffffe overlaps B at 0x200000 but needs memory of its own");
  problem_.c.data = problem_.a.data == nullptr ? nullptr : at(1 << 20);
  expect(StatusCode::invalid_argument, "C at 0x100000 overlaps A at 0x100000 but needs memory of its own");
  problem_.alpha = 0.0F;  // A is not read
  expect_ok();
  problem_.error = static_cast<std::int32_t*>(at((4 << 20) + 12));
  expect(StatusCode::invalid_argument,
         "error at 0x40000c overlaps sizes at 0x400000 but needs memory of its own");
}

// Block-scaled e4m3.
class ScaledGroupedRefusals : public GroupedRefusals {
 protected:
  ScaledGroupedRefusals() {
    problem_.n = 200, problem_.k = 300;
    problem_.a = {at(1 << 20), 304, row_major, Type::e4m3};
    problem_.b = {at(2 << 20), 304, column_major, Type::e4m3};
    problem_.b_stride = 200 * 304;
    problem_.c = {at(3 << 20), 200, Type::bf16};
    problem_.scale_a = {floats(6 << 20), 100};
    problem_.scale_b = {floats(7 << 20), 4};
    problem_.scale_b_stride = 8;
  }
  static float* floats(std::uintptr_t address) { return static_cast<float*>(at(address)); }
};

TEST_F(ScaledGroupedRefusals, AValidProblemIsNone) {
  expect_ok();
  problem_.layout = GroupLayout::masked, problem_.scale_a.ld = 300;
  expect_ok();
  problem_.b_stride = problem_.scale_b_stride = 0;  // one B for all
  expect_ok();
  problem_.alpha = 0.0F, problem_.scale_a = problem_.scale_b = {};  // not read
  expect_ok();
}
TEST_F(ScaledGroupedRefusals, OperandsOfTheWrongKind) {
  problem_.layout = GroupLayout::divides_k;
  expect(StatusCode::unsupported, "A is e4m3 but where groups divide k must be f16 or bf16");
  problem_.layout = GroupLayout::contiguous, problem_.b.order = row_major;
  expect(StatusCode::unsupported, "B is row-major but with block scales must be column-major");
  problem_.a.type = problem_.b.type = Type::bf16;
  expect(StatusCode::unsupported, "A has scales but is bf16: operands with block scales must be e4m3");
  problem_.scale_a = {};
  expect(StatusCode::unsupported, "B has scales but is bf16: operands with block scales must be e4m3");
}
TEST_F(ScaledGroupedRefusals, ScalesOfTheWrongShape) {
  problem_.scale_a.ld = 96;
  expect(StatusCode::invalid_argument,
         "the ld of the scales of A is 96 but must be a multiple of 4 and >= 100");
  problem_.layout = GroupLayout::masked, problem_.scale_a.ld = 100;  // of all groups
  expect(StatusCode::invalid_argument,
         "the ld of the scales of A is 100 but must be a multiple of 4 and >= 300");
  problem_.scale_a.ld = 300, problem_.scale_b.ld = 2;
  expect(StatusCode::invalid_argument, "the ld of the scales of B is 2 but must be a multiple of 4 and >= 3");
}
TEST_F(ScaledGroupedRefusals, ScalesThatTmaCannotRead) {
  problem_.scale_b.data = floats((7 << 20) + 8);
  expect(StatusCode::invalid_argument, "the scales of B are 8 bytes past a multiple of 16 but TMA needs 0");
  problem_.scale_b.data = nullptr;
  expect(StatusCode::invalid_argument, "the scales of B are a null pointer");
}
TEST_F(ScaledGroupedRefusals, StridesOfTheScales) {
  problem_.scale_b_stride = 10;
  expect(StatusCode::unsupported, "scale_b_stride is 10 but must be a multiple of scale_b.ld = 4");
  problem_.scale_b_stride = 4;
  expect(StatusCode::invalid_argument,
         "scale_b_stride is 4 but the scales of B[g] have 2 rows of ld = 4: 0, or >= 8 is needed");
  problem_.scale_b_stride = 0;
  expect(StatusCode::invalid_argument,
         "scale_b_stride is 0 but b_stride is 60800: groups with a B each need scales of it");
  problem_.scale_b_stride = std::int64_t{4} << 30;
  expect(
      StatusCode::unsupported,
      "3 groups, scale_b_stride = 4294967296 apart, have 3221225472 rows of scales in all but TMA reads at "
      "most 2147479552");
  problem_.groups = 1;  // not used
  expect_ok();
}
TEST_F(ScaledGroupedRefusals, ScalesInC) {
  problem_.scale_a.data = floats((3 << 20) + 64);
  expect(StatusCode::invalid_argument,
         "C at 0x300000 overlaps the scales of A at 0x300040 but needs memory of its own");
  problem_.scale_a.data = floats(6 << 20), problem_.scale_b.data = floats((3 << 20) - 16);
  expect(StatusCode::invalid_argument,
         "C at 0x300000 overlaps the scales of B at 0x2ffff0 but needs memory of its own");
}

struct NoDevice final : Launcher {
  int sm = 90;
  int launches = 0;
  Status describe(DeviceDescription* device) noexcept override {
    *device = {sm, 132, std::size_t{227} << 10, std::size_t{50} << 20};
    return {};
  }
  Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
  Status launch(const Launch&) noexcept override {
    ++launches;
    return {};
  }
};

TEST_F(GroupedRefusals, AnotherDevice) {
  NoDevice device;
  device.sm = 80;
  EXPECT_STREQ(gemm_grouped(device, problem_).message(),
               "grouped products need sm_90a but the device is sm_80");
  EXPECT_EQ(device.launches, 0);
}
TEST_F(GroupedRefusals, AKernelOfNoSuchName) {
  NoDevice device;
  problem_.kernel = "gemm";
  EXPECT_STREQ(gemm_grouped(device, problem_).message(),
               "no kernel for grouped products has the name 'gemm'");
  problem_.kernel = "grouped_f16_tt_128x256x64_s4_c2x1";
  EXPECT_STREQ(
      gemm_grouped(device, problem_).message(),
      "'grouped_f16_tt_128x256x64_s4_c2x1' does not take this problem: its name has the type, the layout "
      "(here bf16, tn), and dividesk if groups divide k");
  EXPECT_EQ(device.launches, 0);
}
TEST_F(GroupedRefusals, NothingToDoLaunchesNothing) {
  NoDevice device;
  problem_.m = 0;
  EXPECT_TRUE(gemm_grouped(device, problem_));
  problem_.m = 100, problem_.k = 0, problem_.beta = 1.0F;
  EXPECT_TRUE(gemm_grouped(device, problem_));
  EXPECT_EQ(device.launches, 0);
  EXPECT_EQ(kernel_name(device, problem_), nullptr);
  problem_.beta = 0.0F;
  EXPECT_TRUE(gemm_grouped(device, problem_));
  EXPECT_EQ(device.launches, 1);
}

// Every kernel can be named, and is then the one that runs.
TEST_F(GroupedRefusals, EveryKernelCanBeNamed) {
  NoDevice device;
  int kernels = 0;
  for (; const char* name = grouped_kernel_name(kernels); ++kernels) {
    const GroupedKernel& kernel = grouped_kernels()[static_cast<std::size_t>(kernels)];
    problem_.kernel = name;
    problem_.a.type = problem_.b.type = kernel.type;
    problem_.b_stride = 64 * 64;
    const bool scaled = kernel.type == Type::e4m3;
    problem_.scale_a = {scaled ? static_cast<const float*>(at(6 << 20)) : nullptr, 100};
    problem_.scale_b = {scaled ? static_cast<const float*>(at(7 << 20)) : nullptr, 4};
    problem_.scale_b_stride = 4;
    problem_.a.order = kernel.a_order;
    problem_.b.order = kernel.b_order;
    problem_.a.ld = kernel.divides_k ? 104 : 64;
    problem_.layout = kernel.divides_k ? GroupLayout::divides_k : GroupLayout::contiguous;
    problem_.c_stride = 100 * 40;
    const Status s = can_implement(device, problem_);
    EXPECT_TRUE(s) << s.message();
    EXPECT_STREQ(kernel_name(device, problem_), name);
  }
  EXPECT_EQ(kernels, static_cast<int>(grouped_kernels().size()));
}

}  // namespace
}  // namespace tenon
