// Grouped products of block-scaled e4m3 on a device, every kernel: each row of each group has its product,
// exactly, and nothing else is written. Operands are small whole numbers and scales are powers of two, so
// that no sum is rounded. What no product may read is NaN: rows of no group, their scales, gaps.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gemm/grouped.hpp"
#include "host/gemm_grouped_on.hpp"
#include "product.hpp"

namespace tenon {
namespace {

using test::Buffer;

const float nan = std::numeric_limits<float>::quiet_NaN();

// What a case varies. sizes: rows of each group.
struct Case {
  std::vector<int> sizes;
  int n, k;
  GroupLayout layout = GroupLayout::contiguous;
  bool words_of_64 = false;
  int before = 0, after = 0;  // rows of no group (contiguous)
  int capacity = 0;           // masked
  int pad_c = 0;              // elements between rows of C
  int b_gap = 0;              // columns of B, and rows of its scales, between groups
  int pad_scales = 0;         // steps of 4 values between rows of scales
  Type c_type = Type::f32;
  float alpha = 1.0F, beta = 0.0F;
  bool one_b = false;  // all groups share it
};

std::size_t at(std::int64_t row, std::int64_t ld, std::int64_t column = 0) {
  return static_cast<std::size_t>(row * ld + column);
}
int rounded_up(int x, int step) {
  return (x + step - 1) / step * step;
}

std::vector<std::uint8_t> encoded(Type type, const std::vector<float>& values) {
  std::vector<std::uint8_t> result(values.size() * bytes(type));
  reference::encode(type, values.data(), values.size(), result.data());
  return result;
}

// A case in memory, and what C must be.
struct Matrices {
  explicit Matrices(const Case& what) : x(what) {
    std::mt19937 random(7);
    const auto small = [&] { return static_cast<float>(static_cast<int>(random() % 5) - 2); };
    const auto power = [&] { return std::ldexp(1.0F, static_cast<int>(random() % 6) - 4); };
    groups = static_cast<int>(x.sizes.size()), blocks_k = (x.k + 127) / 128, blocks_n = (x.n + 127) / 128;
    ldc = x.n + x.pad_c, ld = rounded_up(std::max(x.k, 1), 16);
    const bool masked = x.layout == GroupLayout::masked;
    rows = x.before;
    if (!masked) words.push_back(rows);
    for (int g = 0; g < groups; ++g) {
      const int size = x.sizes[static_cast<std::size_t>(g)];
      first.push_back(masked ? g * x.capacity : rows);
      rows += size;
      words.push_back(masked ? size : rows);
    }
    rows = masked ? groups * x.capacity : rows + x.after;
    b_pitch = x.one_b ? 0 : x.n + x.b_gap, scale_b_pitch = x.one_b ? 0 : blocks_n + x.b_gap;
    ld_scale_a = rounded_up(std::max(rows, 1), 4) + 4 * x.pad_scales;
    ld_scale_b = rounded_up(std::max(blocks_k, 1), 4) + 4 * x.pad_scales;
    a.assign(at(rows, ld), nan);
    b.assign(at((groups - 1) * b_pitch + x.n, ld), nan);
    scale_a.assign(at(blocks_k, ld_scale_a) + 1, nan);
    scale_b.assign(at((groups - 1) * scale_b_pitch + blocks_n, ld_scale_b), nan);
    c.assign(at(rows, ldc), -999.0F);
    expected = c;
    for (int g = 0; g < groups; ++g) fill(g, small, power);
  }

  // The problem on the device; matrices begin where their buffers do.
  GroupedGemm problem(const void* device_a, const void* device_b, const float* device_scale_a,
                      const float* device_scale_b, void* device_c) const {
    GroupedGemm p;
    p.layout = x.layout, p.groups = groups;
    p.m = x.layout == GroupLayout::masked ? x.capacity : rows;
    p.n = x.n, p.k = x.k;
    p.a = {device_a, ld, row_major, Type::e4m3};
    p.b = {device_b, ld, column_major, Type::e4m3};
    p.b_stride = std::int64_t{b_pitch} * ld;
    p.scale_a = {device_scale_a, ld_scale_a};
    p.scale_b = {device_scale_b, ld_scale_b};
    p.scale_b_stride = std::int64_t{scale_b_pitch} * ld_scale_b;
    p.c = {device_c, ldc, x.c_type};
    p.alpha = x.alpha, p.beta = x.beta;
    return p;
  }

  const Case& x;
  int groups, blocks_k, blocks_n, rows = 0, ldc, ld, b_pitch, scale_b_pitch, ld_scale_a, ld_scale_b;
  std::vector<std::int64_t> words;
  std::vector<int> first;
  std::vector<float> a, b, scale_a, scale_b, c, expected;

 private:
  template <class Small, class Power>
  void fill(int g, const Small& small, const Power& power) {
    for (int j = 0; j < x.n && (g == 0 || !x.one_b); ++j)
      for (int l = 0; l < x.k; ++l) b[at(g * b_pitch + j, ld, l)] = small();
    for (int j = 0; j < blocks_n && (g == 0 || !x.one_b); ++j)
      for (int l = 0; l < blocks_k; ++l) scale_b[at(g * scale_b_pitch + j, ld_scale_b, l)] = power();
    for (int i = 0; i < x.sizes[static_cast<std::size_t>(g)]; ++i) {
      const int row = first[static_cast<std::size_t>(g)] + i;
      for (int l = 0; l < x.k; ++l) a[at(row, ld, l)] = small();
      for (int l = 0; l < blocks_k; ++l) scale_a[at(l, ld_scale_a, row)] = power();
      for (int j = 0; j < x.n; ++j) {
        float& old = c[at(row, ldc, j)];
        old = x.beta == 0.0F ? nan : small();
        float sum = 0.0F;
        for (int l = 0; l < x.k && x.alpha != 0.0F; ++l)
          sum += scale_a[at(l / 128, ld_scale_a, row)] *
                 scale_b[at(g * scale_b_pitch + j / 128, ld_scale_b, l / 128)] * a[at(row, ld, l)] *
                 b[at(g * b_pitch + j, ld, l)];
        expected[at(row, ldc, j)] = x.alpha * sum + (x.beta == 0.0F ? 0.0F : x.beta * old);
      }
    }
  }
};

void expect_right(const GroupedKernel& kernel, const Case& x) {
  SCOPED_TRACE(kernel.name);
  const Matrices host(x);
  const Buffer<std::uint8_t> a(encoded(Type::e4m3, host.a)), b(encoded(Type::e4m3, host.b));
  const Buffer<float> scale_a(host.scale_a), scale_b(host.scale_b);
  const Buffer<std::uint8_t> c(encoded(x.c_type, host.c));
  const Buffer<std::int64_t> words(host.words);
  const Buffer<std::int32_t> narrow(std::vector<std::int32_t>(host.words.begin(), host.words.end()));
  const Buffer<std::int32_t> error(std::vector<std::int32_t>{0});
  GroupedGemm problem = host.problem(a.get(), b.get(), scale_a.get(), scale_b.get(), c.get());
  problem.sizes = x.words_of_64 ? DeviceIntegers(words.get()) : DeviceIntegers(narrow.get());
  problem.error = error.get();
  problem.kernel = kernel.name.c_str();
  const Status s = gemm_grouped(test::launcher(), problem);
  ASSERT_TRUE(s) << s.message();
  EXPECT_EQ(error.read()[0], 0);
  // Rows that belong to no group keep their bytes.
  const std::vector<std::uint8_t> found = c.read(), wanted = encoded(x.c_type, host.expected);
  const std::size_t size = bytes(x.c_type), columns = static_cast<std::size_t>(host.ldc);
  int wrong = 0;
  for (std::size_t i = 0; i < host.expected.size() && wrong < 5; ++i) {
    if (std::memcmp(&found[i * size], &wanted[i * size], size) == 0) continue;
    ++wrong;
    ADD_FAILURE() << "C[" << i / columns << "][" << i % columns << "] is not " << host.expected[i];
  }
}

class ScaledGroupedTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
  template <class F>
  static void for_each_kernel(const F& f) {
    int kernels = 0;
    for (const GroupedKernel& kernel : grouped_kernels()) {
      if (kernel.type != Type::e4m3) continue;
      ++kernels;
      f(kernel);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(kernels, 0);
  }
  static void expect_right_with_all(const Case& x) {
    for_each_kernel([&](const GroupedKernel& kernel) { expect_right(kernel, x); });
  }
};

TEST_F(ScaledGroupedTest, GroupsOfAnySizeAtAnyRow) {
  expect_right_with_all({{3, 0, 130, 1, 0, 0, 64, 257}, 264, 256, GroupLayout::contiguous, false, 5, 3});
}
TEST_F(ScaledGroupedTest, MoreTilesThanCtas) {
  expect_right_with_all({{300, 129, 400}, 520, 128, GroupLayout::contiguous, true});
}
TEST_F(ScaledGroupedTest, MaskedGroups) {
  Case x{{7, 0, 140, 128, 65}, 264, 192, GroupLayout::masked};
  x.capacity = 140;
  expect_right_with_all(x);
  x.words_of_64 = true, x.capacity = 141, x.c_type = Type::bf16;
  expect_right_with_all(x);
}
// One k-tile, parts of k-tiles, more k-tiles than stages.
TEST_F(ScaledGroupedTest, AnyDepth) {
  for (const int k : {1, 128, 129, 400, 1300}) expect_right_with_all({{9, 70}, 24, k});
}
TEST_F(ScaledGroupedTest, AnyWidthAndAlignmentOfC) {
  for (const int n : {1, 31, 129, 257}) {
    for (const Type type : {Type::f16, Type::f32}) {
      Case x{{20, 133}, n, 160};
      x.pad_c = 3, x.c_type = type;
      expect_right_with_all(x);
    }
  }
}
TEST_F(ScaledGroupedTest, AlphaAndBeta) {
  Case x{{20, 0, 133}, 72, 128};
  x.alpha = 2.0F, x.beta = -0.5F, x.c_type = Type::f16;
  expect_right_with_all(x);
  x.alpha = 0.0F;
  expect_right_with_all(x);
}
TEST_F(ScaledGroupedTest, NoDepthGivesZeros) {
  expect_right_with_all({{20, 0, 133}, 72, 0});
}
TEST_F(ScaledGroupedTest, GapsBetweenGroupsAndScales) {
  Case x{{20, 33, 133}, 200, 256};
  x.b_gap = 5, x.pad_scales = 1;
  expect_right_with_all(x);
}
TEST_F(ScaledGroupedTest, OneBForAllGroups) {
  Case x{{20, 33, 133}, 200, 256};
  x.one_b = true;
  expect_right_with_all(x);
}
TEST_F(ScaledGroupedTest, NoRowsAtAll) {
  expect_right_with_all({{0, 0, 0}, 72, 128, GroupLayout::contiguous, false, 3, 2});
}

// Sizes that leave the buffer: such groups write nothing, the others are right, and the word says which.
TEST_F(ScaledGroupedTest, AGroupThatLeavesItsBufferWritesNothing) {
  constexpr int m = 150, n = 16, k = 128;
  const Buffer<std::uint8_t> a(encoded(Type::e4m3, std::vector<float>(m * k, 1.0F)));
  const Buffer<std::uint8_t> b(encoded(Type::e4m3, std::vector<float>(4 * n * k, 1.0F)));
  const Buffer<float> scale_a(std::vector<float>(152, 0.5F)), scale_b(std::vector<float>(16, 2.0F));
  const struct {
    GroupLayout layout;
    int capacity;
    std::vector<std::int32_t> sizes;
    std::vector<int> written;  // rows, by pairs of first and behind the last
    int error;
  } cases[] = {{GroupLayout::contiguous, m, {0, 20, 10, 140, 150}, {0, 20, 140, 150}, 2},
               {GroupLayout::contiguous, m, {0, 20, 30, 151, 150}, {0, 30}, 3},
               {GroupLayout::contiguous, m, {-1, 20, 30, 40, 1 << 30}, {20, 40}, 1},
               {GroupLayout::masked, 37, {5, 38, -1, 37}, {0, 5, 111, 148}, 2}};
  for_each_kernel([&](const GroupedKernel& kernel) {
    for (const auto& x : cases) {
      const Buffer<std::int32_t> sizes(x.sizes), error(std::vector<std::int32_t>{0});
      const Buffer<float> c(std::vector<float>(m * n, -1.0F));
      GroupedGemm problem;
      problem.layout = x.layout;
      problem.groups = 4, problem.m = x.capacity, problem.n = n, problem.k = k;
      problem.a = {a.get(), k, row_major, Type::e4m3};
      problem.b = {b.get(), k, column_major, Type::e4m3};
      problem.b_stride = n * k;
      problem.scale_a = {scale_a.get(), 152};
      problem.scale_b = {scale_b.get(), 4};
      problem.scale_b_stride = 4;
      problem.c = {c.get(), n};
      problem.sizes = sizes.get();
      problem.error = error.get();
      problem.kernel = kernel.name.c_str();
      const Status s = gemm_grouped(test::launcher(), problem);
      ASSERT_TRUE(s) << s.message();
      EXPECT_EQ(error.read()[0], x.error);
      const std::vector<float> found = c.read();
      for (int row = 0; row < m; ++row) {
        bool written = false;
        for (std::size_t i = 0; i < x.written.size(); i += 2)
          written = written || (row >= x.written[i] && row < x.written[i + 1]);
        for (int column = 0; column < n; ++column)
          ASSERT_EQ(found[at(row, n, column)], written ? 128.0F : -1.0F) << "row " << row;
      }
      problem.error = nullptr;  // nobody wants to know
      EXPECT_TRUE(gemm_grouped(test::launcher(), problem));
    }
  });
}

}  // namespace
}  // namespace tenon
