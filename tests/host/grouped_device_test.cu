// Grouped products on a device, every kernel: each row of each group has its product, exactly, and nothing
// else is written. Operands are small whole numbers; what no product may read is NaN.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gemm/grouped.hpp"
#include "host/gemm_grouped_on.hpp"
#include "support/device.hpp"

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
  int pad_c = 0, b_gap = 0;   // elements between rows of C; rows (columns) of B between groups
  Type c_type = Type::f32;
  float alpha = 1.0F, beta = 0.0F;
  bool one_b = false;  // all groups share it
};

std::uint16_t bits_of(Type type, float x) {
  std::uint16_t bits = 0;
  if (type == Type::f16) {
    const __half h = __float2half(x);
    std::memcpy(&bits, &h, sizeof bits);
  } else {
    const __nv_bfloat16 b = __float2bfloat16(x);
    std::memcpy(&bits, &b, sizeof bits);
  }
  return bits;
}

// C as the device has it: elements of 2 or 4 bytes.
std::vector<std::uint8_t> encoded(Type type, const std::vector<float>& values) {
  const std::size_t size = bytes(type);
  std::vector<std::uint8_t> result(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = bits_of(type, values[i]);
    if (size == 2) std::memcpy(&result[2 * i], &bits, 2);
    if (size == 4) std::memcpy(&result[4 * i], &values[i], 4);
  }
  return result;
}

class GroupedTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

void expect_same(const std::vector<std::uint8_t>& found, const std::vector<float>& expected, Type type,
                 int ldc) {
  const std::vector<std::uint8_t> wanted = encoded(type, expected);
  const std::size_t size = bytes(type), columns = static_cast<std::size_t>(ldc);
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size() && wrong < 5; ++i) {
    if (std::memcmp(&found[i * size], &wanted[i * size], size) == 0) continue;
    ++wrong;
    ADD_FAILURE() << "C[" << i / columns << "][" << i % columns << "] is not " << expected[i];
  }
}

void expect_right(const GroupedKernel& kernel, const Case& x) {
  SCOPED_TRACE(kernel.name);
  std::mt19937 random(5);
  const auto small = [&] { return static_cast<int>(random() % 5) - 2; };
  const int groups = static_cast<int>(x.sizes.size()), n = x.n, k = x.k, ldc = n + x.pad_c;
  const bool masked = x.layout == GroupLayout::masked, by_rows = kernel.b_order == row_major;
  // The first row of each group, and the words on the device.
  std::vector<std::int64_t> words;
  std::vector<int> first;
  int rows = x.before;
  if (!masked) words.push_back(rows);
  for (int g = 0; g < groups; ++g) {
    const int size = x.sizes[static_cast<std::size_t>(g)];
    first.push_back(masked ? g * x.capacity : rows);
    rows += size;
    words.push_back(masked ? size : rows);
  }
  rows = masked ? groups * x.capacity : rows + x.after;
  const std::vector<std::int32_t> narrow(words.begin(), words.end());

  std::vector<float> a(static_cast<std::size_t>(rows) * k, nan);
  const int lda = (k + 7) / 8 * 8, b_length = by_rows ? n : k, b_count = by_rows ? k : n;
  const int ldb = (b_length + 7) / 8 * 8, pitch = x.one_b ? 0 : b_count + x.b_gap;
  std::vector<std::uint16_t> a_bits(static_cast<std::size_t>(rows) * lda, bits_of(kernel.type, nan));
  const std::size_t b_rows = static_cast<std::size_t>((groups - 1) * pitch + b_count);
  std::vector<float> b(b_rows * b_length, nan);
  std::vector<std::uint16_t> b_bits(b_rows * ldb, bits_of(kernel.type, nan));
  std::vector<float> c(static_cast<std::size_t>(rows) * ldc, -999.0F);
  std::vector<float> expected = c;
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < b_count && (g == 0 || !x.one_b); ++i) {
      for (int j = 0; j < b_length; ++j) {
        const auto row = static_cast<std::size_t>(g * pitch + i);
        b[row * b_length + j] = static_cast<float>(small());
        b_bits[row * ldb + j] = bits_of(kernel.type, b[row * b_length + j]);
      }
    }
    for (int i = 0; i < x.sizes[static_cast<std::size_t>(g)]; ++i) {
      const auto row = static_cast<std::size_t>(first[static_cast<std::size_t>(g)] + i);
      for (int j = 0; j < k; ++j) {
        a[row * k + j] = static_cast<float>(small());
        a_bits[row * lda + j] = bits_of(kernel.type, a[row * k + j]);
      }
      for (int j = 0; j < n; ++j) {
        float& old = c[row * ldc + j];
        old = x.beta == 0.0F ? nan : static_cast<float>(small());
        float sum = 0.0F;
        for (int l = 0; l < k && x.alpha != 0.0F; ++l) {
          const auto at = by_rows ? static_cast<std::size_t>(g * pitch + l) * b_length + j
                                  : static_cast<std::size_t>(g * pitch + j) * b_length + l;
          sum += a[row * k + l] * b[at];
        }
        expected[row * ldc + j] = x.alpha * sum + (x.beta == 0.0F ? 0.0F : x.beta * old);
      }
    }
  }
  const Buffer<std::uint16_t> a_device(a_bits), b_device(b_bits);
  const Buffer<std::uint8_t> c_device(encoded(x.c_type, c));
  const Buffer<std::int64_t> words_device(words);
  const Buffer<std::int32_t> narrow_device(narrow), error(std::vector<std::int32_t>{0});
  GroupedGemm problem;
  problem.layout = x.layout;
  problem.groups = groups;
  problem.m = masked ? x.capacity : rows;
  problem.n = n, problem.k = k;
  problem.a = {a_device.get(), lda, row_major, kernel.type};
  problem.b = {b_device.get(), ldb, kernel.b_order, kernel.type};
  problem.b_stride = std::int64_t{pitch} * ldb;
  problem.c = {c_device.get(), ldc, x.c_type};
  problem.sizes = x.words_of_64 ? DeviceIntegers(words_device.get()) : DeviceIntegers(narrow_device.get());
  problem.alpha = x.alpha, problem.beta = x.beta;
  problem.error = error.get();
  problem.kernel = kernel.name.c_str();
  const Status s = gemm_grouped(test::launcher(), problem);
  ASSERT_TRUE(s) << s.message();
  EXPECT_EQ(error.read()[0], 0);
  expect_same(c_device.read(), expected, x.c_type, ldc);
}

void expect_right_with_all(const Case& x) {
  for (const GroupedKernel& kernel : grouped_kernels()) {
    if (kernel.divides_k || kernel.type == Type::e4m3) continue;  // e4m3: gemm/scaled_grouped_test.cpp
    if (kernel.b_order == row_major && x.k % 64 != 0) continue;
    expect_right(kernel, x);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_F(GroupedTest, GroupsOfAnySizeAtAnyRow) {
  expect_right_with_all({{3, 0, 130, 1, 0, 0, 64, 257}, 264, 128, GroupLayout::contiguous, false, 5, 3});
}
TEST_F(GroupedTest, MoreTilesThanCtas) {
  expect_right_with_all({{300, 129, 400}, 520, 64, GroupLayout::contiguous, true});
}
TEST_F(GroupedTest, MaskedGroups) {
  Case x{{7, 0, 140, 128, 65}, 264, 192, GroupLayout::masked};
  x.capacity = 140;
  expect_right_with_all(x);
  x.words_of_64 = true, x.capacity = 141, x.c_type = Type::bf16;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, AnyDepth) {
  for (const int k : {1, 63, 72, 449}) expect_right_with_all({{9, 70}, 24, k});
}
TEST_F(GroupedTest, AnyWidthAndAlignmentOfC) {
  for (const int n : {1, 7, 31, 257}) {
    for (const Type type : {Type::f16, Type::f32}) {
      Case x{{20, 133}, n, 64};
      x.pad_c = 3, x.c_type = type;
      expect_right_with_all(x);
    }
  }
}
TEST_F(GroupedTest, AlphaAndBeta) {
  Case x{{20, 0, 133}, 72, 64};
  x.alpha = 2.0F, x.beta = -0.5F, x.c_type = Type::f16;
  expect_right_with_all(x);
  x.alpha = 0.0F;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, NoDepthGivesZeros) {
  expect_right_with_all({{20, 0, 133}, 72, 0});
}
TEST_F(GroupedTest, GapsBetweenTheBs) {
  Case x{{20, 33, 133}, 72, 64};
  x.b_gap = 5;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, OneBForAllGroups) {
  Case x{{20, 33, 133}, 72, 64};
  x.one_b = true;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, NoRowsAtAll) {
  expect_right_with_all({{0, 0, 0}, 72, 64, GroupLayout::contiguous, false, 3, 2});
}

// Groups that divide k. sizes: k of each group; what belongs to no group is NaN.
struct KCase {
  std::vector<int> sizes;
  int m, n;
  bool words_of_64 = false;
  int before = 0, after = 0;  // k of no group
  int pad_c = 0, c_gap = 0;   // elements between rows of C; rows between the Cs
  Type c_type = Type::f32;
  float alpha = 1.0F, beta = 0.0F;
};

void expect_right_k(const GroupedKernel& kernel, const KCase& x) {
  SCOPED_TRACE(kernel.name);
  std::mt19937 random(6);
  const auto small = [&] { return static_cast<float>(static_cast<int>(random() % 5) - 2); };
  const int groups = static_cast<int>(x.sizes.size()), m = x.m, n = x.n, ldc = n + x.pad_c;
  const int lda = (m + 7) / 8 * 8, ldb = (n + 7) / 8 * 8, pitch = m + x.c_gap;
  std::vector<std::int64_t> words{x.before};
  for (const int size : x.sizes) words.push_back(words.back() + size);
  const int k = static_cast<int>(words.back()) + x.after;
  const std::vector<std::int32_t> narrow(words.begin(), words.end());
  const auto at = [](int row, int ld, int column = 0) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(column);
  };
  std::vector<float> a(at(k, lda), nan), b(at(k, ldb), nan);
  std::vector<float> c(at((groups - 1) * pitch + m, ldc), -999.0F), expected = c;
  for (int g = 0; g < groups; ++g) {
    const auto begin = static_cast<int>(words[static_cast<std::size_t>(g)]);
    const auto end = static_cast<int>(words[static_cast<std::size_t>(g) + 1]);
    for (int l = begin; l < end; ++l) {
      for (int i = 0; i < m; ++i) a[at(l, lda, i)] = small();
      for (int j = 0; j < n; ++j) b[at(l, ldb, j)] = small();
    }
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float& old = c[at(g * pitch + i, ldc, j)];
        old = x.beta == 0.0F ? nan : small();
        float sum = 0.0F;
        for (int l = begin; l < end && x.alpha != 0.0F; ++l) sum += a[at(l, lda, i)] * b[at(l, ldb, j)];
        expected[at(g * pitch + i, ldc, j)] = x.alpha * sum + (x.beta == 0.0F ? 0.0F : x.beta * old);
      }
    }
  }
  std::vector<std::uint16_t> a_bits, b_bits;
  for (const float v : a) a_bits.push_back(bits_of(kernel.type, v));
  for (const float v : b) b_bits.push_back(bits_of(kernel.type, v));
  const Buffer<std::uint16_t> a_device(a_bits), b_device(b_bits);
  const Buffer<std::uint8_t> c_device(encoded(x.c_type, c));
  const Buffer<std::int64_t> words_device(words);
  const Buffer<std::int32_t> narrow_device(narrow), error(std::vector<std::int32_t>{0});
  GroupedGemm problem;
  problem.layout = GroupLayout::divides_k;
  problem.groups = groups, problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a_device.get(), lda, column_major, kernel.type};
  problem.b = {b_device.get(), ldb, row_major, kernel.type};
  problem.c = {c_device.get(), ldc, x.c_type};
  problem.c_stride = std::int64_t{pitch} * ldc;
  problem.sizes = x.words_of_64 ? DeviceIntegers(words_device.get()) : DeviceIntegers(narrow_device.get());
  problem.alpha = x.alpha, problem.beta = x.beta;
  problem.error = error.get();
  problem.kernel = kernel.name.c_str();
  const Status s = gemm_grouped(test::launcher(), problem);
  ASSERT_TRUE(s) << s.message();
  EXPECT_EQ(error.read()[0], 0);
  expect_same(c_device.read(), expected, x.c_type, ldc);
}
void expect_right_with_all(const KCase& x) {
  for (const GroupedKernel& kernel : grouped_kernels()) {
    if (kernel.divides_k) expect_right_k(kernel, x);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_F(GroupedTest, GroupsDivideKAnywhere) {
  expect_right_with_all(KCase{{3, 0, 64, 1, 127, 0, 65, 192}, 72, 40, false, 5, 7});
}
TEST_F(GroupedTest, GroupsThatDivideKHaveManyTiles) {
  KCase x{{70, 0, 33}, 300, 520, true};
  x.c_type = Type::bf16;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, GroupsThatDivideKLeaveGapsAlone) {
  KCase x{{70, 0, 33}, 130, 17};
  x.c_gap = 3, x.pad_c = 1, x.alpha = 2.0F, x.beta = -1.0F;
  expect_right_with_all(x);
  x.alpha = 0.0F;
  expect_right_with_all(x);
}
TEST_F(GroupedTest, GroupsWithoutAnyKAreZeros) {
  expect_right_with_all(KCase{{0, 0}, 20, 24});
}

// Sizes that leave the buffer: such groups write nothing, the others are right, and the word says which.
TEST_F(GroupedTest, AGroupThatLeavesItsBufferWritesNothing) {
  constexpr int m = 150, n = 16, k = 64;
  const __half one = __float2half(1.0F);
  const Buffer<__half> a(std::vector<__half>(m * k, one)), b(std::vector<__half>(4 * n * k, one));
  const struct {
    std::vector<std::int32_t> offsets;
    std::vector<int> written;  // rows, by pairs of first and behind the last
    int error;
  } cases[] = {{{0, 20, 10, 140, 150}, {0, 20, 140, 150}, 2},
               {{0, 20, 30, 151, 150}, {0, 30}, 3},
               {{-1, 20, 30, 40, 1 << 30}, {20, 40}, 1}};
  for (const auto& x : cases) {
    const Buffer<std::int32_t> offsets(x.offsets), error(std::vector<std::int32_t>{0});
    const Buffer<float> c(std::vector<float>(m * n, -1.0F));
    GroupedGemm problem;
    problem.groups = 4, problem.m = m, problem.n = n, problem.k = k;
    problem.a = {a.get(), k, row_major};
    problem.b = {b.get(), k, column_major};
    problem.b_stride = n * k;
    problem.c = {c.get(), n};
    problem.sizes = offsets.get();
    problem.error = error.get();
    const Status s = gemm_grouped(test::launcher(), problem);
    ASSERT_TRUE(s) << s.message();
    EXPECT_EQ(error.read()[0], x.error);
    const std::vector<float> found = c.read();
    for (int row = 0; row < m; ++row) {
      bool written = false;
      for (std::size_t i = 0; i < x.written.size(); i += 2)
        written = written || (row >= x.written[i] && row < x.written[i + 1]);
      for (int column = 0; column < n; ++column)
        ASSERT_EQ(found[static_cast<std::size_t>(row * n + column)], written ? 64.0F : -1.0F)
            << "row " << row;
    }
    problem.error = nullptr;  // nobody wants to know
    EXPECT_TRUE(gemm_grouped(test::launcher(), problem));
  }
}

}  // namespace
}  // namespace tenon
