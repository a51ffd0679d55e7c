// gemm() with some of the multiprocessors: the results are those of all of them, on a GPU and in the
// emulator, which here stands for a device of 132. And products whose launches do not overlap.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gemm/pad.hpp"
#include "host/gemm_on.hpp"
#include "support/device.hpp"
#include "tenon/gemm/launch_options.hpp"

namespace tenon {
namespace {

using test::Buffer;
using SomeMultiprocessors = test::DeviceTest;

// The device of the tests; the emulator with 132 multiprocessors. Counts CTAs.
class Wide final : public Launcher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    const Status s = test::launcher().describe(device);
    if (test::emulated()) device->multiprocessors = 132;
    return s;
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int rows, int columns,
                         TensorMap* map) noexcept override {
    return test::launcher().make_tensor_map(matrix, rows, columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    const unsigned ctas = launch.grid.x * launch.grid.y * launch.grid.z;
    most_ctas = ctas > most_ctas ? ctas : most_ctas;
    ++launches;
    return test::launcher().launch(launch);
  }
  unsigned most_ctas = 0;
  int launches = 0;
};

// Bits of whole numbers of -2 to 2: sums of their products are exact.
std::vector<std::uint16_t> integers(std::int64_t count, unsigned seed) {
  constexpr std::uint16_t f16[] = {0xC000, 0xBC00, 0, 0x3C00, 0x4000};
  std::mt19937 random(seed);
  std::vector<std::uint16_t> result(static_cast<std::size_t>(count));
  for (std::uint16_t& x : result) x = f16[random() % 5];
  return result;
}
std::vector<std::uint8_t> integers_of_8_bits(std::int64_t count, unsigned seed) {
  constexpr std::uint8_t e4m3[] = {0xC0, 0xB8, 0, 0x38, 0x40};
  std::mt19937 random(seed);
  std::vector<std::uint8_t> result(static_cast<std::size_t>(count));
  for (std::uint8_t& x : result) x = e4m3[random() % 5];
  return result;
}
std::vector<float> integers_of_f32(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& x : result) x = static_cast<float>(static_cast<int>(random() % 5) - 2);
  return result;
}

// C of f32 with each limit, which must be that without: the products are exact.
void expect_the_same(Gemm p, bool needs_workspace) {
  SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + " " +
               name(p.a.type));
  std::vector<float> expected;
  for (const int limit : {0, 1, 2, 7, 16, 66}) {
    SCOPED_TRACE("limit " + std::to_string(limit));
    Wide device;
    p.multiprocessors = limit;
    p.overlaps_previous = limit != 7;
    p.workspace_bytes = workspace_size(device, p);
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(p.workspace_bytes + 1, 0xff));
    p.workspace = p.workspace_bytes != 0 ? workspace.get() : nullptr;
    const Buffer<float> c(std::vector<float>(static_cast<std::size_t>(p.m * p.c.ld), -12345.0F));
    p.c.data = c.get();
    const Status s = gemm(device, p);
    // Without copies, clusters of two multiply rows that are not aligned.
    if (limit == 1 && !s) {
      EXPECT_EQ(s.code(), StatusCode::unsupported) << s.message();
      continue;
    }
    ASSERT_TRUE(s) << s.message();
    EXPECT_LE(device.most_ctas, limit == 0 ? device.most_ctas : static_cast<unsigned>(limit));
    EXPECT_GE(device.launches, needs_workspace ? 2 : 1) << "copies, too, have few CTAs";
    if (limit == 0) {
      expected = c.read();
      EXPECT_NE(expected[0], -12345.0F);
    } else {
      EXPECT_EQ(c.read(), expected);
    }
  }
}

Gemm problem(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t ld, Type type) {
  Gemm p;
  p.m = m, p.n = n, p.k = k;
  p.a = {nullptr, ld, row_major, type};
  p.b = {nullptr, ld, column_major, type};
  p.c = {nullptr, n, Type::f32};
  return p;
}

TEST_F(SomeMultiprocessors, GiveTheSameProducts) {
  const struct {
    std::int64_t m, n, k, ld;
  } cases[] = {{300, 264, 136, 136}, {65, 33, 47, 47}, {16, 520, 264, 264}};
  for (const auto& x : cases) {
    const Buffer<std::uint16_t> a(integers(x.m * x.ld, 1)), b(integers(x.n * x.ld, 2));
    Gemm p = problem(x.m, x.n, x.k, x.ld, Type::f16);
    p.a.data = a.get(), p.b.data = b.get();
    expect_the_same(p, false);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(SomeMultiprocessors, MakeTheSameCopies) {
  {
    // Rows of 100 elements that are columns of the copy: both operands are transposed.
    const Buffer<std::uint8_t> a(integers_of_8_bits(100 * 140, 1)), b(integers_of_8_bits(150 * 140, 2));
    Gemm p = problem(100, 150, 140, 0, Type::e4m3);
    p.a = {a.get(), 100, column_major, Type::e4m3};
    p.b = {b.get(), 150, row_major, Type::e4m3};
    expect_the_same(p, true);
    // Rows that do not begin on 16 bytes.
    p.a = {a.get(), 140, row_major, Type::e4m3};
    p.b = {b.get(), 140, column_major, Type::e4m3};
    p.a.ld = p.b.ld = 140 - 1, p.k = 139, p.m = 90, p.n = 140;
    expect_the_same(p, true);
  }
  const Buffer<float> a(integers_of_f32(70 * 300, 3)), b(integers_of_f32(90 * 300, 4));
  Gemm p = problem(70, 90, 300, 300, Type::f32);
  p.a.data = a.get(), p.b.data = b.get();
  p.precision = Precision::bf16x3;
  expect_the_same(p, true);
  p.a = {a.get(), 70, column_major, Type::f32};
  expect_the_same(p, true);
}

// Two copies of rows that take several CTAs each.
TEST_F(SomeMultiprocessors, CopyLongRowsInParts) {
  constexpr std::int64_t rows = 3, length = 9001, ld = 9003;
  const Buffer<std::uint8_t> from(integers_of_8_bits(rows * ld, 7)), other(integers_of_8_bits(rows * ld, 8));
  const std::vector<std::uint8_t> poison(padded_bytes(rows, length, 1), 0xff);
  std::vector<std::uint8_t> expected[2];
  for (const int limit : {0, 1, 2, 5}) {
    const Buffer<std::uint8_t> to(poison), other_to(poison);
    const PadCopy copies[] = {{from.get(), rows, length, ld, to.get(), 1, false},
                              {other.get(), rows, length, ld, other_to.get(), 1, false}};
    Wide device;
    LimitedLauncher limited(device, {limit, true});
    ASSERT_TRUE(pad_copies(limited, copies, 2));
    const std::vector<std::uint8_t> found[] = {to.read(), other_to.read()};
    if (limit == 0) {
      expected[0] = found[0], expected[1] = found[1];
      EXPECT_NE(found[0], poison);
      EXPECT_EQ(device.launches, 1);
      continue;
    }
    EXPECT_LE(device.most_ctas, static_cast<unsigned>(limit));
    EXPECT_EQ(found[0], expected[0]);
    EXPECT_EQ(found[1], expected[1]);
  }
}

TEST_F(SomeMultiprocessors, ScaleCAndApplyTheEpilogueOfZero) {
  for (const bool bias : {false, true}) {
    Gemm p = problem(70, 1030, 0, 8, Type::f16);
    const std::vector<float> before = integers_of_f32(70 * 1030, 5), of_columns = integers_of_f32(1030, 6);
    const Buffer<float> columns(of_columns);
    if (bias) p.epilogue.bias = {columns.get(), Type::f32};
    p.beta = 3.0;
    for (const int limit : {1, 7, 66}) {
      Wide device;
      const Buffer<float> c(before);
      p.c.data = c.get();
      p.multiprocessors = limit;
      const Status s = gemm(device, p);
      ASSERT_TRUE(s) << s.message();
      EXPECT_LE(device.most_ctas, static_cast<unsigned>(limit));
      const std::vector<float> got = c.read();
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], 3.0F * before[i] + (bias ? of_columns[i % 1030] : 0.0F)) << i;
    }
  }
}

}  // namespace
}  // namespace tenon
