// Scaled products, every kernel of every mode, against the same scales in double precision; what a NaN, an
// infinity and a block of zeros do; and the sentences of refusals. In the emulator and on a GPU.
//
// Memory between rows, and all of C before the product, is NaN.
#include "gemm/scaled.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "product.hpp"
#include "tenon/gemm_scaled.hpp"

namespace tenon {
namespace {

using test::Numbers;

struct Case {
  std::int64_t m, n, k;
  Type out = Type::bf16;
  Numbers numbers = Numbers::normals;
  int pad_c = 0;
  float alpha = 1.0F, beta = 0.0F;
  int pad_scales = 0;  // steps of 4 floats
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << " x " << c.n << " x " << c.k << ", C in " << name(c.out) << ", alpha " << c.alpha
             << ", beta " << c.beta;
}

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}
std::int64_t rounded_up(std::int64_t x, std::int64_t step) {
  return (x + step - 1) / step * step;
}

// A scaled product on the device, and its reference.
class ScaledProduct {
 public:
  // change: may change the operands (k contiguous) and the scales before the product.
  using Change = std::function<void(ScaledProduct&)>;

  ScaledProduct(ScaleMode mode, const Case& c, const Change& change = {}) : mode_(mode), case_(c) {
    a = test::random_numbers(c.m * c.k, c.numbers, Type::e4m3, 1);
    b = test::random_numbers(c.n * c.k, c.numbers, Type::e4m3, 2);
    const bool blocks = mode == ScaleMode::block_1x128_128x128;
    const std::int64_t blocks_k = blocks_of_128(c.k);
    ld_a = blocks ? rounded_up(c.m, 4) + 4 * c.pad_scales : 0;
    ld_b = blocks ? rounded_up(blocks_k, 4) + 4 * c.pad_scales : 0;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    scale_a.assign(blocks ? at(blocks_k * ld_a) : mode == ScaleMode::per_tensor ? 1 : at(c.m), nan);
    scale_b.assign(blocks ? at(blocks_of_128(c.n) * ld_b) : mode == ScaleMode::per_tensor ? 1 : at(c.n), nan);
    std::mt19937 random(3);
    const auto draw = [&] {
      return std::ldexp(1.0F + static_cast<float>(random() % 1024) / 1024,
                        static_cast<int>(random() % 7) - 5);
    };
    const std::int64_t scales_k = blocks ? blocks_k : 1;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t p = 0; p < scales_k; ++p) of_a(i, 128 * p) = draw();
    for (std::int64_t j = 0; j < c.n; ++j)
      for (std::int64_t p = 0; p < scales_k; ++p) of_b(128 * p, j) = draw();
    if (change) change(*this);
  }

  float& of_a(std::int64_t row, std::int64_t k) {
    return scale_a[mode_ == ScaleMode::per_tensor       ? 0
                   : mode_ == ScaleMode::per_row_column ? at(row)
                                                        : at(k / 128 * ld_a + row)];
  }
  float& of_b(std::int64_t k, std::int64_t column) {
    return scale_b[mode_ == ScaleMode::per_tensor       ? 0
                   : mode_ == ScaleMode::per_row_column ? at(column)
                                                        : at(column / 128 * ld_b + k / 128)];
  }

  // Runs the kernel of that name, or the library's choice, and compares. expected: the classes of numbers may
  // be checked by it instead.
  void expect_right(const char* kernel) {
    SCOPED_TRACE(::testing::Message() << (kernel == nullptr ? "the choice" : kernel) << ": " << case_);
    run(kernel);
    if (::testing::Test::HasFatalFailure()) return;
    for (std::int64_t i = 0; i < case_.m; ++i) {
      for (std::int64_t j = 0; j < case_.n; ++j) {
        double value = 0, magnitude = 0;
        for (std::int64_t p = 0; p < case_.k; ++p) {
          const double scale = double{of_a(i, p)} * double{of_b(p, j)};
          const double product = scale * double{a[at(i * case_.k + p)]} * double{b[at(j * case_.k + p)]};
          value += product;
          magnitude += std::fabs(product);
        }
        value *= case_.alpha, magnitude *= std::fabs(case_.alpha);
        const double old = case_.beta == 0 ? 0 : case_.beta * double{old_[at(i * case_.n + j)]};
        value += old, magnitude += std::fabs(old);
        // The tensor core truncates to 13 bits behind the leading one at each of its steps. Integers below
        // are exact there. f32 rounds once for each k-tile, and some times in the epilogue.
        const double steps =
            mode_ == ScaleMode::block_1x128_128x128 ? 5 : static_cast<double>(case_.k) / 32 + 1;
        const double of_tensor_core = case_.numbers == Numbers::integers ? 0 : steps * 0x1p-13;
        const double of_sums = (static_cast<double>(case_.k) / 128 + 8) * 0x1p-24;
        const double of_c = case_.out == Type::f32 ? 0 : case_.out == Type::f16 ? 0x1p-11 : 0x1p-8;
        const double bound = (of_tensor_core + of_sums) * magnitude +
                             of_c * (std::fabs(value) + of_tensor_core * magnitude) + 0x1p-24;
        ASSERT_NEAR(double{result[at(i * case_.n + j)]}, value, bound) << "row " << i << ", column " << j;
      }
    }
  }

  // Runs, and checks that memory around C is as it was. The elements of C are then in `result`.
  void run(const char* kernel) {
    const Case& c = case_;
    const std::int64_t ld = rounded_up(c.k, 16), ldc = c.n + c.pad_c;
    const test::Buffer<unsigned char> device_a(test::in_memory(a, c.m, c.k, Type::e4m3, true, ld, 0)),
        device_b(test::in_memory(b, c.n, c.k, Type::e4m3, true, ld, 0));
    const test::Buffer<float> device_scale_a(scale_a), device_scale_b(scale_b);
    old_ = test::random_numbers(c.m * c.n, Numbers::integers, c.out, 4);
    constexpr std::int64_t guard = 256;
    const std::size_t element = bytes(c.out);
    std::vector<unsigned char> memory(at(2 * guard + c.m * ldc) * element, 0xff);
    std::vector<unsigned char> encoded(old_.size() * element);
    reference::encode(c.out, old_.data(), old_.size(), encoded.data());
    if (c.beta != 0) {
      for (std::int64_t i = 0; i < c.m; ++i)
        std::memcpy(&memory[at(guard + i * ldc) * element], &encoded[at(i * c.n) * element],
                    at(c.n) * element);
    }
    const test::Buffer<unsigned char> device_c(memory);
    ScaledGemm problem;
    problem.m = c.m, problem.n = c.n, problem.k = c.k;
    problem.a = {device_a.get(), ld, row_major, Type::e4m3};
    problem.b = {device_b.get(), ld, column_major, Type::e4m3};
    problem.c = {device_c.get() + guard * element, ldc, c.out};
    problem.alpha = c.alpha, problem.beta = c.beta;
    problem.mode = mode_;
    problem.scale_a = {device_scale_a.get(), ld_a};
    problem.scale_b = {device_scale_b.get(), ld_b};
    problem.kernel = kernel;
    const Status status = gemm(test::launcher(), problem);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    std::vector<unsigned char> got = device_c.read();
    result.assign(at(c.m * c.n), 0.0F);
    for (std::int64_t i = 0; i < c.m; ++i) {
      unsigned char* const row = &got[at(guard + i * ldc) * element];
      reference::decode(c.out, row, at(c.n), &result[at(i * c.n)]);
      std::memset(row, 0xff, at(c.n) * element);
    }
    ASSERT_EQ(got, std::vector<unsigned char>(got.size(), 0xff)) << "memory beside C was written";
  }

  std::vector<float> a, b, scale_a, scale_b, result;
  std::int64_t ld_a = 0, ld_b = 0;

 private:
  ScaleMode mode_;
  Case case_;
  std::vector<float> old_;
};

class ScaledGemmTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

template <class F>
void for_each_kernel(const ScaledKernels& kernels, const F& f) {
  for (int i = 0; i < kernels.count; ++i) {
    f(kernels.kernels[i]);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

constexpr ScaleMode block = ScaleMode::block_1x128_128x128, row_column = ScaleMode::per_row_column;

// One element; whole tiles; tiles, k-tiles and blocks of B that are cut; more tiles than CTAs; more k-tiles
// than stages; rows of C that TMA cannot store.
const Case cases[] = {
    {1, 1, 1},
    {128, 128, 128, Type::f32},
    {130, 264, 400, Type::bf16, Numbers::normals, 0, 1.0F, 0.0F, 1},
    {65, 129, 129, Type::f16, Numbers::integers, 3},
    {40, 250, 1400, Type::bf16, Numbers::integers},
    {257, 40, 127, Type::f32, Numbers::normals, 1, -0.5F, 2.0F},
    {300, 520, 272, Type::bf16, Numbers::normals, 0, 2.0F, 0.25F},
};

TEST_F(ScaledGemmTest, EveryBlockScaledKernelHasTheProductOfTheScaledOperands) {
  for_each_kernel(block_scaled_kernels(), [](const ScaledKernel& kernel) {
    for (const Case& c : cases) ScaledProduct(block, c).expect_right(kernel.name);
  });
}
TEST_F(ScaledGemmTest, RowAndColumnScales) {
  for (const Case& c : cases) ScaledProduct(row_column, c).expect_right(nullptr);
}
TEST_F(ScaledGemmTest, TheChosenKernelIsRight) {
  for (const ScaleMode mode : {block, row_column, ScaleMode::per_tensor}) {
    for (const Case& c : {cases[1], cases[4], cases[6]}) ScaledProduct(mode, c).expect_right(nullptr);
  }
}

// k of 1 to 10 k-tiles: fewer than a ring has stages, and more; fewer than split-K has CTAs.
TEST_F(ScaledGemmTest, EveryNumberOfKTiles) {
  for_each_kernel(block_scaled_kernels(), [](const ScaledKernel& kernel) {
    for (int k_tiles = 1; k_tiles <= 10; ++k_tiles)
      ScaledProduct(block, {33, 72, 128 * k_tiles - 16, Type::f32, Numbers::integers})
          .expect_right(kernel.name);
  });
}

// Scales that are powers of two and small integers: no number is rounded, so each addition is right.
TEST_F(ScaledGemmTest, PowersOfTwoAreExact) {
  const Case c{70, 200, 700, Type::f32, Numbers::integers};
  for_each_kernel(block_scaled_kernels(), [&](const ScaledKernel& kernel) {
    ScaledProduct product(block, c, [](ScaledProduct& p) {
      for (auto* scales : {&p.scale_a, &p.scale_b})
        for (float& s : *scales)
          if (!std::isnan(s)) s = std::ldexp(1.0F, std::ilogb(s));
    });
    product.run(kernel.name);
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        double value = 0;
        for (std::int64_t p = 0; p < c.k; ++p)
          value += double{product.of_a(i, p)} * double{product.of_b(p, j)} *
                   double{product.a[at(i * c.k + p)]} * double{product.b[at(j * c.k + p)]};
        ASSERT_EQ(double{product.result[at(i * c.n + j)]}, value) << kernel.name << ": " << i << ", " << j;
      }
    }
  });
}

// A NaN reaches the elements in whose sum it is a factor, and no other.
TEST_F(ScaledGemmTest, ANaNScaleSpreadsNoFurther) {
  const Case c{150, 270, 300, Type::f32};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for_each_kernel(block_scaled_kernels(), [&](const ScaledKernel& kernel) {
    ScaledProduct product(block, c, [&](ScaledProduct& p) {
      p.of_a(77, 128) = nan;   // one row
      p.of_b(256, 128) = nan;  // columns 128 to 255
    });
    product.run(kernel.name);
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j)
        ASSERT_EQ(std::isnan(product.result[at(i * c.n + j)]), i == 77 || (j >= 128 && j < 256))
            << kernel.name << ": " << i << ", " << j;
  });
  ScaledProduct product(row_column, c, [&](ScaledProduct& p) {
    p.of_a(77, 0) = nan;
    p.of_b(0, 131) = std::numeric_limits<float>::infinity();
  });
  product.run(nullptr);
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j)
      ASSERT_EQ(std::isfinite(product.result[at(i * c.n + j)]), i != 77 && j != 131) << i << ", " << j;
  }
}

// A block of zeros contributes nothing, whatever its scale.
TEST_F(ScaledGemmTest, BlocksOfZeros) {
  ScaledProduct(block, {130, 130, 384, Type::f32}, [](ScaledProduct& p) {
    for (std::int64_t i = 0; i < 130; ++i) {
      for (std::int64_t k = 128; k < 256; ++k) p.a[at(i * 384 + k)] = 0;
      p.of_a(i, 128) = 1;
    }
  }).expect_right(nullptr);
}

TEST_F(ScaledGemmTest, NoKIsBetaTimesC) {
  for (const ScaleMode mode : {block, row_column, ScaleMode::per_tensor})
    ScaledProduct(mode, {5, 7, 0, Type::f32, Numbers::integers, 2, 1.0F, -3.0F}).expect_right(nullptr);
}

// The kernels that were fastest on an H200 (microbench/HISTORY.md).
TEST(ScaledGemmChoice, IsTheMeasuredOne) {
  const struct {
    std::int64_t m, n, k;
    const char* fastest;
  } measured[] = {
      {64, 2112, 7168, "block_scaled_64x64_splitk2"},   {64, 24576, 1536, "block_scaled_64x64"},
      {64, 7168, 16384, "block_scaled_64x64"},          {64, 4096, 7168, "block_scaled_64x64_splitk2"},
      {64, 7168, 2048, "block_scaled_64x64"},           {128, 2112, 7168, "block_scaled_64x64_splitk2"},
      {128, 24576, 1536, "block_scaled_128x64"},        {128, 7168, 16384, "block_scaled_128x64"},
      {128, 4096, 7168, "block_scaled_128x64_splitk2"}, {128, 7168, 2048, "block_scaled_128x64"},
      {4096, 2112, 7168, "block_scaled_128x192_c2x1"},  {4096, 24576, 1536, "block_scaled_256x128_c1x2"},
      {4096, 7168, 16384, "block_scaled_256x128_c1x2"}, {4096, 4096, 7168, "block_scaled_256x128_c1x2"},
      {4096, 7168, 2048, "block_scaled_256x128_c1x2"},  {8192, 8192, 8192, "block_scaled_128x192_c2x1"},
  };
  for (const auto& x : measured)
    EXPECT_STREQ(choose_scaled_kernel(block_scaled_kernels(), x.m, x.n, x.k, 132)->name, x.fastest)
        << x.m << " x " << x.n << " x " << x.k;
}

// Refusals, which need no device: nothing is launched.
class ScaledGemmRefusal : public ::testing::Test {
 protected:
  ScaledGemm problem_;

  ScaledGemmRefusal() {
    problem_.m = 100, problem_.n = 200, problem_.k = 300;
    problem_.a = {at(0x100000), 304, row_major, Type::e4m3};
    problem_.b = {at(0x200000), 304, column_major, Type::e4m3};
    problem_.c = {at(0x400000), 200, Type::bf16};
    problem_.mode = block;
    problem_.scale_a = {floats(0x600000), 100};
    problem_.scale_b = {floats(0x700000), 4};
  }
  // Addresses that are checked, and never dereferenced.
  static void* at(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  static float* floats(std::uintptr_t address) { return static_cast<float*>(at(address)); }
  struct NoDevice final : Launcher {
    int sm = 90;
    Status describe(DeviceDescription* device) noexcept override {
      *device = {sm, 132, std::size_t{227} << 10, std::size_t{50} << 20};
      return {};
    }
    Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
    Status launch(const Launch&) noexcept override {
      ADD_FAILURE() << "launched";
      return {};
    }
  };
  NoDevice device_;

  void expect(StatusCode code, const char* sentence) {
    for (const Status& s : {can_implement(device_, problem_), gemm(device_, problem_)}) {
      EXPECT_EQ(s.code(), code) << s.message();
      EXPECT_STREQ(s.message(), sentence);
    }
    EXPECT_EQ(kernel_name(device_, problem_), nullptr);
  }
};

TEST_F(ScaledGemmRefusal, NothingIsWrong) {
  EXPECT_TRUE(can_implement(device_, problem_)) << can_implement(device_, problem_).message();
  EXPECT_NE(kernel_name(device_, problem_), nullptr);
}
TEST_F(ScaledGemmRefusal, NoScales) {
  problem_.scale_b.data = nullptr;
  expect(StatusCode::invalid_argument, "the scales of B are a null pointer");
  problem_.mode = row_column;
  expect(StatusCode::invalid_argument, "the scales of B are a null pointer");
}
TEST_F(ScaledGemmRefusal, ScalesThatTmaCannotRead) {
  problem_.scale_a.data = floats(0x600008);
  expect(StatusCode::invalid_argument, "the scales of A are 8 bytes past a multiple of 16 but TMA needs 0");
}
TEST_F(ScaledGemmRefusal, AShortLeadingDimensionOfScales) {
  problem_.scale_a.ld = 96;
  expect(StatusCode::invalid_argument,
         "the ld of the scales of A is 96 but must be a multiple of 4 and >= 100");
  problem_.scale_a.ld = 102;
  expect(StatusCode::invalid_argument,
         "the ld of the scales of A is 102 but must be a multiple of 4 and >= 100");
  problem_.scale_a.ld = 100, problem_.scale_b.ld = 0;
  expect(StatusCode::invalid_argument, "the ld of the scales of B is 0 but must be a multiple of 4 and >= 3");
}
TEST_F(ScaledGemmRefusal, ScalesInC) {
  problem_.scale_a.data = floats(0x400100);
  expect(StatusCode::invalid_argument,
         "C (100 rows from 0x400000) overlaps the scales of A (from 0x400100) but needs memory of its own");
}
TEST_F(ScaledGemmRefusal, OperandsOfTheWrongKind) {
  problem_.b.type = Type::e5m2;
  expect(StatusCode::unsupported, "B is e5m2 but with block scales must be e4m3");
  problem_.b.type = Type::e4m3, problem_.b.order = row_major;
  expect(StatusCode::unsupported, "B is row-major but with block scales must be column-major");
  problem_.b.order = column_major, problem_.b.ld = 301;
  expect(StatusCode::unsupported, "ldb is 301 but TMA needs a multiple of 16 elements of type e4m3");
}
TEST_F(ScaledGemmRefusal, AModeThatDoesNotExist) {
  problem_.mode = static_cast<ScaleMode>(3);
  expect(StatusCode::invalid_argument, "the scale mode is 3 but is a number from 0 to 2");
}
TEST_F(ScaledGemmRefusal, AKernelThatDoesNotExist) {
  problem_.kernel = "block_scaled_1x1";
  expect(
      StatusCode::invalid_argument,
      "no block-scaled kernel has the name 'block_scaled_1x1'; 'block_scaled_128x128_c2x1', for example, is "
      "one");
}
TEST_F(ScaledGemmRefusal, RowScalesOf16Bits) {
  problem_.mode = row_column;
  problem_.a.type = Type::f16;
  expect(StatusCode::unsupported, "A is f16 but scaled products are of e4m3 or e5m2");
}
TEST_F(ScaledGemmRefusal, AnotherDevice) {
  device_.sm = 80;
  expect(StatusCode::device_unsupported,
         "a wgmma kernel (tenon::sm90::GemmKernel) needs sm_90a but the device is sm_80");
}

}  // namespace
}  // namespace tenon
