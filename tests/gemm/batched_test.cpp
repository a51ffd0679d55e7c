// gemm_batched() end to end: every kernel for batches, strided and with lists of pointers, in the emulator
// (L3) and on a GPU (L4).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gemm/batch.hpp"
#include "gemm/batched_kernels.hpp"

namespace tenon {
namespace {

using test::Batch;
using test::BatchCase;
using BatchedGemmTest = test::DeviceTest;

void expect_right(const BatchCase& c) {
  Batch batch(c);
  batch.run_and_check();
}

// Of the kernels that take any sizes: those of a whole tile, of an edge tile, and of several tiles.
class EveryKernel : public test::DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const BatchedKernel& kernel() const { return *find_batched_kernel(GetParam()); }
  BatchCase of_kernel(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) const {
    BatchCase c;
    c.m = m, c.n = n, c.k = k, c.count = count;
    c.type = kernel().type, c.a = kernel().a_order, c.b = kernel().b_order;
    c.kernel = GetParam();
    return c;
  }
  // Kernels for aligned operands need rows, pads, gaps and shifts of whole 16 bytes.
  bool aligned() const { return kernel().aligned; }
};

TEST_P(EveryKernel, WholeTiles) {
  BatchCase c = of_kernel(kernel().tile_m, kernel().tile_n, kernel().tile_k, 3);
  c.out = c.type;
  const emulator::Counts counts = [&] {
    Batch batch(c);
    return batch.run_and_check();
  }();
  if (test::emulated()) {
    EXPECT_EQ(counts.shared_wavefronts, counts.ideal_shared_wavefronts) << "bank conflicts";
  }
}

TEST_P(EveryKernel, EdgeTilesOfEveryTypeOfC) {
  for (const Type out : {Type::f16, Type::bf16, Type::f32}) {
    BatchCase c = of_kernel(kernel().tile_m - 3, kernel().tile_n - 8, kernel().tile_k - 8, 2);
    if (aligned()) c.m = kernel().tile_m - 8;
    c.out = out;
    c.pad = 8, c.gap = 8;
    for (const float beta : {0.0F, -2.0F}) {
      c.alpha = 0.5F, c.beta = beta;
      expect_right(c);
    }
  }
}

TEST_P(EveryKernel, SeveralTilesOfAProblem) {
  const int odd = aligned() ? 8 : 5;
  expect_right(
      of_kernel(kernel().tile_m + odd, kernel().tile_n + 8, kernel().tile_k / (kernel().whole_k ? 1 : 2), 3));
}

TEST_P(EveryKernel, Lists) {
  BatchCase c = of_kernel(kernel().tile_m, kernel().tile_n - 8, kernel().tile_k, 3);
  c.lists = true;
  Batch batch(c);
  BatchedGemm asked = batch.prepare();
  asked.list_alignment = 16;
  ASSERT_TRUE(gemm_batched(test::launcher(), asked)) << gemm_batched(test::launcher(), asked).message();
  ASSERT_TRUE(test::device()->synchronize());
  batch.check();
}

// A k of many k-tiles, of the kernels that take more than one.
class EveryDeepKernel : public EveryKernel {};
TEST_P(EveryDeepKernel, LongK) {
  expect_right(of_kernel(40, 24, 7 * kernel().tile_k + 8, 2));
}

// Kernels for stacked matrices: whole tiles, any k of whole 16 bytes.
class EveryStackedKernel : public EveryKernel {};
TEST_P(EveryStackedKernel, OneTileAProblem) {
  for (const Type out : {Type::f16, Type::bf16, Type::f32}) {
    BatchCase c = of_kernel(kernel().tile_m, kernel().tile_n, kernel().tile_k, 3);
    c.out = out;
    expect_right(c);
    c.alpha = 0.5F, c.beta = -2.0F;
    expect_right(c);
  }
}
TEST_P(EveryStackedKernel, SeveralTilesAProblemAndMoreThanCtas) {
  expect_right(of_kernel(2 * kernel().tile_m, 3 * kernel().tile_n, 2 * kernel().tile_k + 8, 3));
  expect_right(of_kernel(3 * kernel().tile_m, kernel().tile_n, 8, 5));
}
// C of rows that TMA cannot store: the stack is 8 bytes off.
TEST_P(EveryStackedKernel, UnalignedC) {
  BatchCase c = of_kernel(kernel().tile_m, kernel().tile_n, kernel().tile_k, 2);
  Batch batch(c);
  BatchedGemm asked = batch.prepare();
  const test::Buffer<std::uint16_t> moved(
      std::vector<std::uint16_t>(static_cast<std::size_t>(2 * c.m * c.n + 8), 0xffff));
  asked.problem.c.data = moved.get() + 4;
  ASSERT_TRUE(gemm_batched(test::launcher(), asked)) << gemm_batched(test::launcher(), asked).message();
  asked = batch.prepare();
  ASSERT_TRUE(gemm_batched(test::launcher(), asked));
  ASSERT_TRUE(test::device()->synchronize());
  const std::vector<std::uint16_t> found = moved.read(), expected = batch.halves_of_c();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool inside = i >= 4 && i < found.size() - 4;
    ASSERT_EQ(found[i], inside ? expected[i - 4] : 0xffff) << i;
  }
}

template <class Chosen>
std::vector<std::string> names(const Chosen& chosen) {
  std::vector<std::string> all;
  for (const BatchedKernel& kernel : batched_kernels()) {
    if (chosen(kernel)) all.push_back(kernel.name);
  }
  return all;
}
const auto name_of = [](const auto& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel,
                         ::testing::ValuesIn(names([](const BatchedKernel& k) { return !k.stacked; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, EveryDeepKernel, ::testing::ValuesIn(names([](const BatchedKernel& k) {
                           return !k.stacked && !k.whole_k;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, EveryStackedKernel,
                         ::testing::ValuesIn(names([](const BatchedKernel& k) { return k.stacked; })),
                         name_of);

TEST_F(BatchedGemmTest, OddSizesAnywhere) {
  const struct {
    int m, n, k;
  } sizes[] = {{1, 1, 1},    {5, 3, 7},   {17, 31, 13}, {33, 33, 33},
               {63, 61, 59}, {64, 1, 64}, {1, 64, 5},   {67, 70, 65}};
  for (const auto& s : sizes) {
    for (const bool lists : {false, true}) {
      BatchCase c;
      c.m = s.m, c.n = s.n, c.k = s.k;
      c.shift = 1, c.pad = 1, c.gap = 3;
      c.lists = lists;
      expect_right(c);
      c.a = column_major, c.b = row_major;
      c.type = c.out = Type::bf16;
      expect_right(c);
    }
  }
}

// Rows that begin on 4 bytes, which are copied by words, and rows on 16 bytes in matrices that do not.
TEST_F(BatchedGemmTest, PartlyAligned) {
  BatchCase c;
  c.m = 40, c.n = 48, c.k = 56;
  c.shift = 2, c.pad = 2;
  expect_right(c);
  c.shift = c.pad = 0, c.gap = 1;  // of every eighth problem the matrices are aligned
  c.count = 9;
  expect_right(c);
}

TEST_F(BatchedGemmTest, SharedOperands) {
  for (const int size : {16, 32, 64, 136}) {
    for (const bool lists : {false, true}) {
      BatchCase c;
      c.m = c.n = c.k = size;
      c.share_a = true, c.lists = lists;
      expect_right(c);
      c.share_a = false, c.share_b = true;
      expect_right(c);
    }
  }
}

// Each group walks over several tiles, and its ring wraps around.
TEST_F(BatchedGemmTest, MoreProblemsThanGroups) {
  for (const int size : {8, 24, 40}) {
    BatchCase c;
    c.m = c.n = c.k = size;
    c.count = test::emulated() ? (size == 40 ? 61 : 300) : 5001;
    expect_right(c);
  }
}

TEST_F(BatchedGemmTest, NoKScalesC) {
  for (const int m : {1, 40, 300}) {
    BatchCase c;
    c.m = m, c.n = 70, c.k = 0;
    expect_right(c);  // zeros
    c.beta = -0.5F;
    expect_right(c);
    c.k = 20, c.alpha = 0.0F;
    expect_right(c);
  }
}

TEST_F(BatchedGemmTest, WithAlphaZeroAAndBMayBeNull) {
  BatchCase c;
  c.k = 20, c.alpha = 0.0F, c.beta = 2.0F;
  Batch batch(c);
  BatchedGemm asked = batch.prepare();
  asked.problem.a.data = asked.problem.b.data = nullptr;
  ASSERT_TRUE(gemm_batched(test::launcher(), asked));
  ASSERT_TRUE(test::device()->synchronize());
  batch.check();
}

// A NaN and an infinity stay in their row, in their problem.
TEST_F(BatchedGemmTest, NanAndInfinityStayInTheirProblem) {
  for (const int size : {16, 33, 64, 80}) {
    BatchCase c;
    c.m = c.n = c.k = size;
    c.out = Type::f32;
    c.count = 3;
    Batch batch(c);
    Batch clean(c);
    batch.set_a(1, 2, 3, std::numeric_limits<float>::quiet_NaN());
    batch.set_a(1, 4, 5, std::numeric_limits<float>::infinity());
    const BatchedGemm asked = batch.prepare(), other = clean.prepare();
    ASSERT_TRUE(gemm_batched(test::launcher(), asked));
    ASSERT_TRUE(gemm_batched(test::launcher(), other));
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<float> found = batch.elements_of_c(), expected = clean.elements_of_c();
    ASSERT_EQ(found.size(), static_cast<std::size_t>(3 * size * size));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(size);  // of all problems
      if (row == static_cast<std::size_t>(size + 2)) {
        ASSERT_TRUE(std::isnan(found[i])) << i;
      } else if (row == static_cast<std::size_t>(size + 4)) {
        ASSERT_FALSE(std::isfinite(found[i])) << i;
      } else {
        ASSERT_EQ(found[i], expected[i]) << i;
      }
    }
  }
}

// The heads of attention: the matrices of several problems side by side in the rows of one.
TEST_F(BatchedGemmTest, InterleavedProblems) {
  constexpr std::int64_t heads = 3, m = 20, n = 24, k = 16;
  std::vector<std::uint16_t> a(static_cast<std::size_t>(m * heads * k)),
      b(static_cast<std::size_t>(n * heads * k));
  std::mt19937 random(5);
  const auto draw = [&] { return static_cast<float>(static_cast<int>(random() % 5) - 2); };
  std::vector<float> a_values(a.size()), b_values(b.size());
  for (float& v : a_values) v = draw();
  for (float& v : b_values) v = draw();
  reference::encode(Type::f16, a_values.data(), a.size(), a.data());
  reference::encode(Type::f16, b_values.data(), b.size(), b.data());
  const test::Buffer<std::uint16_t> device_a(a), device_b(b);
  const test::Buffer<float> c(std::vector<float>(static_cast<std::size_t>(m * heads * n), NAN));
  BatchedGemm batch;
  Gemm& p = batch.problem;
  p.m = m, p.n = n, p.k = k;
  p.a = {device_a.get(), heads * k, row_major, Type::f16};
  p.b = {device_b.get(), heads * k, column_major, Type::f16};
  p.c = {c.get(), heads * n};
  batch.count = heads;
  batch.stride_a = batch.stride_b = k;
  batch.stride_c = n;
  const Status status = gemm_batched(test::launcher(), batch);
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(test::device()->synchronize());
  const std::vector<float> found = c.read();
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t x = 0; x < k; ++x)
          sum += a_values[static_cast<std::size_t>(i * heads * k + h * k + x)] *
                 b_values[static_cast<std::size_t>(j * heads * k + h * k + x)];
        ASSERT_EQ(found[static_cast<std::size_t>(i * heads * n + h * n + j)], sum)
            << h << ' ' << i << ' ' << j;
      }
    }
  }
}

// Problems more than 4 GB apart. The emulator allocates memory when it is touched.
TEST_F(BatchedGemmTest, FarApart) {
  constexpr std::int64_t size = 16, stride = (std::int64_t{1} << 31) + 8;  // elements
  constexpr std::size_t one = size * size * 2;
  void* memory = nullptr;
  if (!test::device()->allocate(static_cast<std::size_t>(stride) * 2 + 3 * one, &memory))
    GTEST_SKIP() << "needs 4.3 GB";
  auto* const bytes = static_cast<unsigned char*>(memory);
  const auto identity = [&](float scale) {
    std::vector<float> values(size * size, 0.0F);
    for (std::size_t i = 0; i < size; ++i) values[i * size + i] = scale;
    std::vector<unsigned char> elements(one);
    reference::encode(Type::f16, values.data(), values.size(), elements.data());
    return elements;
  };
  const std::size_t far = static_cast<std::size_t>(stride) * 2;
  for (const std::size_t at : {std::size_t{0}, far}) {
    const float scale = at == 0 ? 2.0F : 3.0F;
    ASSERT_TRUE(test::device()->upload(bytes + at, identity(scale).data(), one));           // A
    ASSERT_TRUE(test::device()->upload(bytes + at + one, identity(scale).data(), one));     // B
    ASSERT_TRUE(test::device()->upload(bytes + at + 2 * one, identity(0.0F).data(), one));  // C
  }
  BatchedGemm batch;
  batch.problem.m = batch.problem.n = batch.problem.k = size;
  batch.problem.a = {bytes, size, row_major, Type::f16};
  batch.problem.b = {bytes + one, size, column_major, Type::f16};
  batch.problem.c = {bytes + 2 * one, size, Type::f16};
  batch.count = 2;
  batch.stride_a = batch.stride_b = batch.stride_c = stride;
  const Status status = gemm_batched(test::launcher(), batch);
  EXPECT_TRUE(status) << status.message();
  EXPECT_TRUE(test::device()->synchronize());
  std::vector<unsigned char> found(one);
  ASSERT_TRUE(test::device()->download(found.data(), bytes + 2 * one, one));
  EXPECT_EQ(found, identity(4.0F));
  ASSERT_TRUE(test::device()->download(found.data(), bytes + far + 2 * one, one));
  EXPECT_EQ(found, identity(9.0F));
  test::device()->free(memory);
}

TEST_F(BatchedGemmTest, ARefusedBatchWritesNothing) {
  BatchCase c;
  c.beta = 1.0F;
  Batch batch(c);
  BatchedGemm asked = batch.prepare();
  asked.stride_c = 63;
  EXPECT_EQ(gemm_batched(test::launcher(), asked).code(), StatusCode::invalid_argument);
  ASSERT_TRUE(test::device()->synchronize());
  batch.expect_c_untouched();
}

}  // namespace
}  // namespace tenon
