// Products of f64 by int8 slices against sums in 113 bits: within the bound of gemm_f64_slices.hpp in every
// layout, exact of integers, and what zeros, subnormal numbers, infinities and NaNs do. In the emulator and
// on a GPU.
//
// Memory between rows, and all of C before a product with beta == 0, is NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "gemm/slices_moduli.hpp"
#include "host/gemm_slices_on.hpp"
#include "support/device.hpp"
#include "tenon/gemm_f64_slices.hpp"

namespace tenon {
namespace {

__extension__ using Exact = __float128;
__extension__ using Integer = __int128;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

struct Case {
  std::int64_t m, n, k;
  int slices = slices_as_f64;
  Order a = row_major, b = column_major;
  int pad = 0, shift = 0;  // elements between rows; elements from an aligned address
  double alpha = 1.0, beta = 0.0;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << " x " << c.n << " x " << c.k << " by " << c.slices << " slices, A "
             << (c.a == row_major ? "row" : "column") << "-major, B " << (c.b == row_major ? "row" : "column")
             << "-major, pad " << c.pad << ", shift " << c.shift << ", alpha " << c.alpha << ", beta "
             << c.beta;
}

// Rows of `length` as they lie in memory: contiguous, or transposed.
class InMemory {
 public:
  InMemory(const std::vector<double>& x, std::int64_t rows, std::int64_t length, bool contiguous,
           const Case& c)
      : ld((contiguous ? length : rows) + c.pad),
        memory_(at(c.shift + (contiguous ? rows : length) * ld), nan) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < length; ++j)
        memory_[at(c.shift + (contiguous ? i * ld + j : j * ld + i))] = x[at(i * length + j)];
  }
  const std::vector<double>& memory() const { return memory_; }
  std::int64_t ld;

 private:
  std::vector<double> memory_;
};

class SlicedProduct {
 public:
  explicit SlicedProduct(const Case& c) : case_(c), a(at(c.m * c.k)), b(at(c.n * c.k)), old(at(c.m * c.n)) {
    while (slices_for(bits_, c.k) == 0 || slices_for(bits_, c.k) > c.slices) --bits_;
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (auto* x : {&a, &b, &old})
      for (double& v : *x) v = normal(random);
  }

  void make_integers(int largest) {
    std::mt19937_64 random(2);
    std::uniform_int_distribution<int> integer(-largest, largest);
    for (auto* x : {&a, &b})
      for (double& v : *x) v = integer(random);
  }

  // Runs the product; its elements are then in `result`. Memory beside C must be as it was.
  void run() {
    const Case& c = case_;
    const InMemory in_a(a, c.m, c.k, c.a == row_major, c), in_b(b, c.n, c.k, c.b == column_major, c);
    const test::Buffer<double> device_a(in_a.memory()), device_b(in_b.memory());
    constexpr std::int64_t guard = 32;
    const std::int64_t ldc = c.n + c.pad, first = guard + c.shift;
    std::vector<double> memory(at(first + c.m * ldc + guard), nan);
    if (c.beta != 0)
      for (std::int64_t i = 0; i < c.m; ++i)
        for (std::int64_t j = 0; j < c.n; ++j) memory[at(first + i * ldc + j)] = old[at(i * c.n + j)];
    const test::Buffer<double> device_c(memory);
    SlicedGemm problem;
    problem.m = c.m, problem.n = c.n, problem.k = c.k;
    problem.a = {device_a.get() + c.shift, in_a.ld, c.a};
    problem.b = {device_b.get() + c.shift, in_b.ld, c.b};
    problem.c = {device_c.get() + first, ldc};
    problem.alpha = c.alpha, problem.beta = c.beta, problem.slices = c.slices;
    problem.workspace_bytes = workspace_size(problem);
    const test::Buffer<unsigned char> workspace(std::vector<unsigned char>(problem.workspace_bytes, 0x81));
    problem.workspace = workspace.get();
    const Status status = gemm(test::launcher(), problem);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    std::vector<double> got = device_c.read();
    result.assign(at(c.m * c.n), 0);
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        result[at(i * c.n + j)] = got[at(first + i * ldc + j)];
        got[at(first + i * ldc + j)] = nan;
      }
    }
    for (const double x : got) ASSERT_TRUE(std::isnan(x)) << "memory beside C was written";
  }

  Exact exact(std::int64_t i, std::int64_t j) const {
    Exact sum = 0;
    for (std::int64_t p = 0; p < case_.k; ++p)
      sum += Exact{a[at(i * case_.k + p)]} * Exact{b[at(j * case_.k + p)]};
    return sum;
  }
  // What the header promises, relative to alpha.
  double bound(std::int64_t i, std::int64_t j) const {
    double largest_a = 0, largest_b = 0;
    for (std::int64_t p = 0; p < case_.k; ++p) {
      largest_a = std::max(largest_a, std::fabs(a[at(i * case_.k + p)]));
      largest_b = std::max(largest_b, std::fabs(b[at(j * case_.k + p)]));
    }
    return (std::ldexp(2.0, -bits_) + std::ldexp(1.0, -2 * bits_)) * static_cast<double>(case_.k) *
           largest_a * largest_b;
  }

  // Returns the largest error relative to the bound.
  double expect_within_the_bound() {
    SCOPED_TRACE(::testing::Message() << case_);
    run();
    if (::testing::Test::HasFatalFailure()) return 0;
    double largest = 0;
    for (std::int64_t i = 0; i < case_.m; ++i) {
      for (std::int64_t j = 0; j < case_.n; ++j) {
        const Exact product = exact(i, j);
        const Exact of_c = case_.beta == 0 ? Exact{0} : Exact{case_.beta} * Exact{old[at(i * case_.n + j)]};
        const Exact expected = Exact{case_.alpha} * product + of_c;
        const double error = std::fabs(static_cast<double>(Exact{result[at(i * case_.n + j)]} - expected));
        const double rounding = 0x1p-51 * (std::fabs(case_.alpha * static_cast<double>(product)) +
                                           std::fabs(static_cast<double>(of_c)));
        const double of_slices = std::fabs(case_.alpha) * bound(i, j);
        EXPECT_LE(error, of_slices + rounding) << "row " << i << ", column " << j;
        if (::testing::Test::HasFailure()) return 0;
        largest = std::max(largest, error / (of_slices + rounding));
      }
    }
    return largest;
  }

  void expect_exact() {
    SCOPED_TRACE(::testing::Message() << case_);
    run();
    if (::testing::Test::HasFatalFailure()) return;
    for (std::int64_t i = 0; i < case_.m; ++i)
      for (std::int64_t j = 0; j < case_.n; ++j)
        ASSERT_EQ(result[at(i * case_.n + j)], static_cast<double>(exact(i, j)))
            << "row " << i << ", column " << j;
  }

 private:
  Case case_;
  int bits_ = 62;  // the most for which so many slices are enough

 public:
  std::vector<double> a, b, old, result;
};

class SlicesTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

TEST_F(SlicesTest, EveryLayoutIsWithinTheBound) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      SlicedProduct({67, 131, 97, 8, a, b, 3, 1, -0.75, 0.5}).expect_within_the_bound();
      SlicedProduct({17, 16, 160, 4, a, b}).expect_within_the_bound();
      if (HasFailure()) return;
    }
  }
}

TEST_F(SlicesTest, SmallSizes) {
  for (const std::int64_t size : {1, 2, 3}) SlicedProduct({size, size, size}).expect_within_the_bound();
  SlicedProduct({1, 300, 1, 4}).expect_within_the_bound();
  SlicedProduct({300, 1, 5, 4}).expect_within_the_bound();
}

// More cluster tiles than clusters, several k-tiles, more than the ring has stages.
TEST_F(SlicesTest, ManyTiles) {
  SlicedProduct({257, 270, 520, 4}).expect_within_the_bound();
}

// The result is nearer to the exact one than what f64 arithmetic gives, with the slices that the header
// names.
TEST_F(SlicesTest, EverySliceAddsAccuracy) {
  double before = 1e300;
  for (const int slices : {4, 7, 10, 13, 16}) {
    SlicedProduct product({20, 24, 100, slices});
    product.expect_within_the_bound();
    if (HasFailure()) return;
    double error = 0, of_f64 = 0;
    for (std::int64_t i = 0; i < 20; ++i) {
      for (std::int64_t j = 0; j < 24; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < 100; ++p)
          sum = std::fma(product.a[at(i * 100 + p)], product.b[at(j * 100 + p)], sum);
        const Exact exact = product.exact(i, j);
        error = std::max(error, std::fabs(static_cast<double>(product.result[at(i * 24 + j)] - exact)));
        of_f64 = std::max(of_f64, std::fabs(static_cast<double>(sum - exact)));
      }
    }
    // Three slices are 23 bits in a product, half of them in an operand.
    if (slices <= 13) {
      EXPECT_LT(error, before / 1000) << slices << " slices";
    } else {
      EXPECT_LE(error, of_f64);
    }
    before = error;
  }
}

// Integers that the slices hold, with sums of at most 53 bits, in every number of slices.
TEST_F(SlicesTest, IntegersAreExact) {
  for (int slices = least_slices; slices <= most_slices; ++slices) {
    SlicedProduct product({30, 40, 65, slices});
    int bits = 62;
    while (slices_for(bits, 65) == 0 || slices_for(bits, 65) > slices) --bits;
    product.make_integers((1 << std::min(bits - 1, 22)) - 1);
    product.expect_exact();
    if (HasFailure()) return;
  }
}

// Rows and columns of very different magnitudes, subnormal numbers and zeros among them.
TEST_F(SlicesTest, RowsMayHaveAnyMagnitude) {
  SlicedProduct product({24, 24, 40});
  for (std::int64_t i = 0; i < 24; ++i) {
    for (std::int64_t p = 0; p < 40; ++p) {
      const int power = static_cast<int>(i - 12) * 80;
      double &x = product.a[at(i * 40 + p)], &y = product.b[at(i * 40 + p)];
      x = std::ldexp(x, power);
      y = std::ldexp(y, i == 7 ? -1060 : i == 8 ? 1000 : power / 20);
      if (i == 3 || (i == 4 && p != 13)) x = 0;
      if (i == 5) y = 0;
      if (i == 9) x = p % 3 == 0 ? 4.9e-324 : 0;
    }
  }
  product.run();
  for (std::int64_t i = 0; i < 24; ++i) {
    for (std::int64_t j = 0; j < 24; ++j) {
      const double exact = static_cast<double>(product.exact(i, j)), got = product.result[at(i * 24 + j)];
      if (std::isinf(exact)) {
        EXPECT_EQ(got, exact) << i << ", " << j;
      } else {
        EXPECT_LE(std::fabs(got - exact), product.bound(i, j) + 0x1p-51 * std::fabs(exact) + 4.9e-324)
            << i << ", " << j;
      }
    }
  }
}

TEST_F(SlicesTest, ANumberThatIsNotFiniteMakesItsRowOrColumnNaN) {
  for (const bool transposed : {false, true}) {
    SlicedProduct product(
        {40, 50, 60, 5, transposed ? column_major : row_major, transposed ? row_major : column_major});
    product.a[at(7 * 60 + 59)] = nan;
    product.a[at(20 * 60 + 3)] = -infinity;
    product.b[at(33 * 60)] = infinity;
    product.run();
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 50; ++j)
        ASSERT_EQ(std::isnan(product.result[at(i * 50 + j)]), i == 7 || i == 20 || j == 33) << i << ", " << j;
  }
}

TEST_F(SlicesTest, WithoutAProductItIsBetaTimesC) {
  SlicedProduct({5, 7, 0, 15, row_major, column_major, 2, 1, 1.0, -3.0}).expect_within_the_bound();
  SlicedProduct({5, 7, 0}).expect_within_the_bound();
  SlicedProduct product({33, 65, 4, 15, row_major, column_major, 0, 0, 0.0, 2.0});
  product.a[0] = nan;
  product.run();
  for (std::size_t i = 0; i < product.old.size(); ++i) ASSERT_EQ(product.result[i], 2.0 * product.old[i]);
}

// Accumulators that reach 31 bits, and a k that takes two products: too much for the emulator.
class SlicesCudaTest : public test::CudaTest {};

TEST_F(SlicesCudaTest, LargeK) {
  if (test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  for (const std::int64_t k : {(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 300000}) {
    SlicedProduct({5, 9, k, 15, row_major, row_major, 0, 0, 2.0, -1.0}).expect_within_the_bound();
    SlicedProduct equal({3, 3, k, 8});
    for (auto* x : {&equal.a, &equal.b}) std::fill(x->begin(), x->end(), -1.0);
    equal.expect_exact();
  }
}

TEST(Slices, ForBits) {
  EXPECT_EQ(slices_for(1, 1), least_slices);
  EXPECT_EQ(slices_for(48, 8192), 14);
  EXPECT_EQ(slices_for(49, 8192), 15);
  EXPECT_EQ(slices_for(53, 8192), 16);
  EXPECT_EQ(slices_for(53, 1 << 16), 16);
  EXPECT_EQ(slices_for(53, std::int64_t{1} << 30), 16);
  EXPECT_EQ(slices_for(62, 8192), 0);
  EXPECT_EQ(slices_for(0, 8192), 0);
  EXPECT_EQ(slices_for(63, 1), 0);
}

// Every sum of the dot products of bytes, in every modulus.
TEST(Slices, NearestResidues) {
  for (int i = 0; i < slices::most_moduli; ++i) {
    const int p = slices::modulus(i);
    const slices::Reduction by = slices::reduction_of(p);
    for (int sum = -8 * 128 * 128; sum <= 4 * 255 * 255 + 256; ++sum) {
      const int bits = by.start_bits + sum;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      const auto residue = static_cast<std::int8_t>(slices::nearest_residue(value, by));
      ASSERT_EQ((residue - sum) % p, 0) << sum << " modulo " << p;
    }
  }
}

// The moduli are coprime, and the recombination's weights are 1 modulo their own and 0 modulo all others.
TEST(Slices, Weights) {
  for (int count = slices::least_moduli; count <= slices::most_moduli; ++count) {
    const slices::Recombination all = slices::recombination_of(count);
    const auto modulo = [](const slices::Parts& parts, int p) {
      Integer rest = 0;
      for (const double part : parts.part) rest += static_cast<Integer>(part) % p;
      return static_cast<int>((rest % p + p) % p);
    };
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(modulo(all.product, slices::modulus(i)), 0) << count << " slices, modulus " << i;
      for (int j = 0; j < count; ++j)
        EXPECT_EQ(modulo(all.weight[i], slices::modulus(j)), i == j ? 1 : 0)
            << count << " slices, weight " << i << ", modulus " << j;
    }
  }
}

// Refusals, which need no device: nothing is launched.
class SlicesRefusal : public ::testing::Test {
 protected:
  SlicesRefusal() {
    problem_.m = 100, problem_.n = 200, problem_.k = 300;
    problem_.a = {doubles(0x1000000), 300};
    problem_.b = {doubles(0x2000000), 300, column_major};
    problem_.c = {doubles(0x4000000), 200};
    problem_.workspace = doubles(0x10000000);
    problem_.workspace_bytes = workspace_size(problem_);
  }
  // Addresses that are checked, and never dereferenced.
  static double* doubles(std::uintptr_t address) {
    return reinterpret_cast<double*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  struct NoDevice final : Launcher {
    int sm = 90;
    Status describe(DeviceDescription* device) noexcept override {
      *device = {sm, 132, std::size_t{227} << 10, std::size_t{50} << 20};
      return {};
    }
    Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
    Status launch(const Launch&) noexcept override {
      ++launches;
      return {};
    }
    int launches = 0;
  };
  void expect_refused(StatusCode code, const char* sentence) {
    for (const Status& status : {can_implement(device_, problem_), gemm(device_, problem_)}) {
      EXPECT_EQ(status.code(), code);
      EXPECT_STREQ(status.message(), sentence);
    }
    EXPECT_EQ(device_.launches, 0);
  }

  SlicedGemm problem_;
  NoDevice device_;
};

TEST_F(SlicesRefusal, NotOfAValidProblem) {
  EXPECT_TRUE(can_implement(device_, problem_));
  EXPECT_EQ(device_.launches, 0);
  EXPECT_TRUE(gemm(device_, problem_));
  EXPECT_EQ(device_.launches, 4);
}
TEST_F(SlicesRefusal, Slices) {
  problem_.slices = 3;
  EXPECT_EQ(workspace_size(problem_), 0U);
  expect_refused(StatusCode::invalid_argument, "slices is 3 but must be 4 to 16");
  problem_.slices = 17;
  expect_refused(StatusCode::invalid_argument, "slices is 17 but must be 4 to 16");
}
TEST_F(SlicesRefusal, Sizes) {
  problem_.k = -1;
  expect_refused(StatusCode::invalid_argument, "k is -1 but must be 0 to 2147479552");
  problem_.k = 300;
  problem_.m = std::int64_t{1} << 28;
  expect_refused(StatusCode::unsupported, "m is 268435456 but with 15 slices must be at most 143165440");
}
TEST_F(SlicesRefusal, Tiles) {
  problem_.m = problem_.n = 100000000;
  EXPECT_EQ(workspace_size(problem_), 0U);
  expect_refused(StatusCode::unsupported,
                 "m = 100000000 and n = 100000000 with 15 slices make more than 2^31 tiles of 256 x 256");
}
TEST_F(SlicesRefusal, LeadingDimensions) {
  problem_.a.ld = 299;
  expect_refused(StatusCode::invalid_argument, "the leading dimension of A is 299 but needs >= 300 here");
  problem_.a = {problem_.a.data, 99, column_major};
  expect_refused(StatusCode::invalid_argument, "the leading dimension of A is 99 but needs >= 100 here");
}
TEST_F(SlicesRefusal, Pointers) {
  problem_.b.data = nullptr;
  expect_refused(StatusCode::invalid_argument, "B is a null pointer");
  problem_.b.data = doubles(0x2000004);
  expect_refused(StatusCode::invalid_argument,
                 "B is at 0x2000004 but its elements of type f64 lie on multiples of 8 bytes");
}
TEST_F(SlicesRefusal, Orders) {
  problem_.b.order = static_cast<Order>(2);
  expect_refused(StatusCode::invalid_argument,
                 "the order of B is 2 but is 0 (row-major) or 1 (column-major)");
}
TEST_F(SlicesRefusal, Workspace) {
  --problem_.workspace_bytes;
  expect_refused(StatusCode::workspace_too_small,
                 "workspace_bytes is 3442687 but the slices of A, B and C need >= 3442688");
  ++problem_.workspace_bytes;
  problem_.workspace = doubles(0x10000008);
  expect_refused(StatusCode::invalid_argument, "workspace is 8 bytes past a multiple of 256 but needs 0");
  problem_.workspace = nullptr;
  expect_refused(StatusCode::invalid_argument, "workspace is a null pointer");
}
TEST_F(SlicesRefusal, Overlap) {
  problem_.c.data = doubles(0x1000000 + 100 * 300 * 8 - 8);
  expect_refused(StatusCode::invalid_argument,
                 "C (from 0x103a978) overlaps A (from 0x1000000) but needs memory of its own");
  problem_.c.data = doubles(0x4000000);
  problem_.workspace = doubles(0x4000100);
  expect_refused(StatusCode::invalid_argument,
                 "the workspace (from 0x4000100) overlaps C (from 0x4000000) but needs memory of its own");
}
TEST_F(SlicesRefusal, OtherDevices) {
  device_.sm = 80;
  expect_refused(StatusCode::device_unsupported,
                 "products of f64 by slices need sm_90 but the device is sm_80");
}

}  // namespace
}  // namespace tenon
