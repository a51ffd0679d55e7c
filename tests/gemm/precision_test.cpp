// Products of f32 operands (Gemm::precision) on a device: values against FP64, with the bound that each
// precision promises.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gemm/kernel.hpp"
#include "gemm/split.hpp"
#include "host/error_bound.hpp"
#include "host/gemm_on.hpp"
#include "host/precision.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// What the products of parts leave out, relative to the product (gemm.hpp), and the error of an element that
// is too small for the type.
double product_error(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return 0x1.02p-7;
    case Precision::bf16x3:
      return 0x1p-14;
    case Precision::tf32x3:
      return 0x1p-21;
    case Precision::bf16x6:
      return 0x1p-23;
    default:
      return 0x1.01p-10;
  }
}
double element_error(Precision precision) {
  return precision == Precision::f16                                      ? 0x1p-25
         : precision == Precision::tf32 || precision == Precision::tf32x3 ? 0x1p-136
                                                                          : 0x1p-133;
}

// Where an operand lies: its order, elements off an aligned address, elements between its rows (columns).
struct Place {
  Order order = row_major;
  int shift = 0, pad = 0;
};
struct Case {
  std::int64_t m, n, k;
  Place a = {}, b = {column_major};
  float alpha = 1.0F, beta = 0.0F;
  Type out = Type::f32;
  int pad_c = 0, shift_c = 0;
};

Parts parts_in(Precision precision, float x) {
  switch (precision) {
    case Precision::f16:
      return parts_of<Precision::f16>(x);
    case Precision::bf16:
      return parts_of<Precision::bf16>(x);
    case Precision::bf16x3:
      return parts_of<Precision::bf16x3>(x);
    case Precision::bf16x6:
      return parts_of<Precision::bf16x6>(x);
    case Precision::tf32x3:
      return parts_of<Precision::tf32x3>(x);
    default:
      return parts_of<Precision::tf32>(x);
  }
}

std::vector<float> normals(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

// A matrix on the device that ends with its last element. Memory between its rows is NaN. values: dense,
// row-major.
class Matrix {
 public:
  Matrix(const std::vector<float>& values, std::int64_t rows, std::int64_t columns, const Place& place)
      : order_(place.order), shift_(place.shift) {
    const bool by_rows = place.order == row_major;
    const std::int64_t vectors = by_rows ? rows : columns, length = by_rows ? columns : rows;
    ld_ = length + place.pad;
    std::vector<float> memory(
        static_cast<std::size_t>(shift_ + std::max<std::int64_t>((vectors - 1) * ld_ + length, 0)), nan);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        memory[static_cast<std::size_t>(shift_ + (by_rows ? i * ld_ + j : j * ld_ + i))] =
            values[static_cast<std::size_t>(i * columns + j)];
      }
    }
    buffer_ = std::make_unique<Buffer<float>>(memory);
  }
  ConstMatrix get() const { return ConstMatrix(buffer_->get() + shift_, ld_, order_, Type::f32); }

 private:
  Order order_;
  int shift_;
  std::int64_t ld_;
  std::unique_ptr<Buffer<float>> buffer_;
};

class PrecisionTest : public test::DeviceTest, public ::testing::WithParamInterface<Precision> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Gemm p;
    p.m = p.n = p.k = 8;
    p.precision = GetParam();
    p.a = ConstMatrix(at(0x10000), 8, row_major, Type::f32);
    p.b = ConstMatrix(at(0x20000), 8, row_major, Type::f32);
    p.c = tenon::Matrix(at(0x30000), 8, Type::f32);
    p.workspace = at(0x40000);
    p.workspace_bytes = 0x10000;
    if (const Status s = can_implement(test::launcher(), p); s.code() == StatusCode::device_unsupported)
      GTEST_SKIP() << s.message();
  }

  static void* at(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): never read through
  }

  // Runs a case on given operands (dense, row-major), with guarded workspace and C. Returns C, dense.
  static std::vector<float> run(const Case& c, const std::vector<float>& a, const std::vector<float>& b,
                                const std::vector<float>& old_c, Precision precision = GetParam(),
                                const char* kernel = nullptr) {
    const Matrix on_device_a(a, c.m, c.k, c.a), on_device_b(b, c.k, c.n, c.b);
    const std::int64_t ldc = c.n + c.pad_c;
    constexpr std::size_t guard = 64;
    const auto element = bytes(c.out);
    const std::size_t first = guard + static_cast<std::size_t>(c.shift_c);
    std::vector<unsigned char> before((first + static_cast<std::size_t>(c.m * ldc) + guard) * element, 0xff);
    const auto place = [&](std::int64_t i, std::int64_t j) {
      return (first + static_cast<std::size_t>(i * ldc + j)) * element;
    };
    if (c.beta != 0.0F) {
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j)
          std::memcpy(&before[place(i, j)], &old_c[static_cast<std::size_t>(i * c.n + j)], element);
      }
    }
    const Buffer<unsigned char> result(before);
    Gemm p;
    p.m = c.m;
    p.n = c.n;
    p.k = c.k;
    p.a = on_device_a.get();
    p.b = on_device_b.get();
    p.c = tenon::Matrix(result.get() + first * element, ldc, c.out);
    p.alpha = c.alpha;
    p.beta = c.beta;
    p.precision = precision;
    p.kernel = kernel;
    p.workspace_bytes = workspace_size(test::launcher(), p);
    std::optional<Buffer<unsigned char>> workspace;
    constexpr std::size_t beyond = 512;
    if (p.workspace_bytes != 0) {
      workspace.emplace(std::vector<unsigned char>(p.workspace_bytes + beyond, 0xff));
      p.workspace = workspace->get();
    }
    Status s = gemm(test::launcher(), p);
    if (s) s = test::device()->synchronize();
    EXPECT_TRUE(s) << s.message();
    test::expect_no_findings();
    if (workspace) {
      const std::vector<unsigned char> bytes_of = workspace->read();
      for (std::size_t i = p.workspace_bytes; i < bytes_of.size(); ++i)
        EXPECT_EQ(bytes_of[i], 0xff) << "after the workspace";
    }
    std::vector<unsigned char> after = result.read();
    std::vector<float> dense(static_cast<std::size_t>(c.m * c.n));
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        float& value = dense[static_cast<std::size_t>(i * c.n + j)];
        if (element == 4) {
          std::memcpy(&value, &after[place(i, j)], 4);
        } else {
          std::uint16_t bits = 0;
          std::memcpy(&bits, &after[place(i, j)], 2);
          value = c.out == Type::f16 ? decode<FormatF16>(bits) : decode<FormatBf16>(bits);
        }
        std::fill_n(&after[place(i, j)], element, 0xff);
        std::fill_n(&before[place(i, j)], element, 0xff);
      }
    }
    EXPECT_EQ(after, before) << "written around C";
    return dense;
  }

  // Each element against the exact product of the parts, within the bound of the kernel's arithmetic, and
  // that against the exact product, within what the precision promises.
  static void expect_right(const Case& c, const std::vector<float>& a, const std::vector<float>& b,
                           const std::vector<float>& old_c, const std::vector<float>& found) {
    const Precision precision = GetParam();
    const Summation sums(part_type(precision), Type::f32, promotes(precision));
    const int products = products_of(precision);
    std::vector<Parts> parts_a(a.size()), parts_b(b.size());
    const auto to_parts = [&](float x) { return parts_in(precision, x); };
    std::transform(a.begin(), a.end(), parts_a.begin(), to_parts);
    std::transform(b.begin(), b.end(), parts_b.begin(), to_parts);
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        DotProduct dot;
        for (int product = 0; product < products; ++product) {
          const Part of_a = part_of(precision, false, product), of_b = part_of(precision, true, product);
          for (std::int64_t p = 0; p < c.k; ++p) {
            dot.add(static_cast<double>(select(parts_a[static_cast<std::size_t>(i * c.k + p)], of_a)) *
                    static_cast<double>(select(parts_b[static_cast<std::size_t>(p * c.n + j)], of_b)));
          }
          for (std::int64_t p = c.k; products > 1 && p < block_depth(c.k); ++p) dot.add(0.0);
        }
        double exact = 0.0, magnitude = 0.0, elements = 0.0;
        for (std::int64_t p = 0; p < c.k; ++p) {
          const double x = static_cast<double>(a[static_cast<std::size_t>(i * c.k + p)]);
          const double y = static_cast<double>(b[static_cast<std::size_t>(p * c.n + j)]);
          exact += x * y;
          magnitude += std::fabs(x * y);
          elements += std::fabs(x) + std::fabs(y);
        }
        const double alpha = static_cast<double>(c.alpha), beta = static_cast<double>(c.beta);
        const double old =
            c.beta == 0.0F ? 0.0 : static_cast<double>(old_c[static_cast<std::size_t>(i * c.n + j)]);
        const double kernel_bound =
            error_bound(dot, split_depth(c.k, precision), sums, c.out, alpha, beta, old);
        const double split_bound = std::fabs(alpha) * (product_error(precision) * magnitude +
                                                       element_error(precision) * elements + 0x1p-149);
        ASSERT_LE(std::fabs(alpha * (dot.sum - exact)), split_bound * 1.0001)
            << "row " << i << ", column " << j;
        const auto value = static_cast<double>(found[static_cast<std::size_t>(i * c.n + j)]);
        ASSERT_LE(std::fabs(value - (alpha * dot.sum + beta * old)), kernel_bound)
            << "row " << i << ", column " << j << " is " << value << " but should be "
            << alpha * dot.sum + beta * old;
      }
    }
  }

  static void check(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << c.m << " x " << c.n << " x " << c.k << ", A " << (c.a.order == row_major ? "t" : "n")
                 << " shift " << c.a.shift << " pad " << c.a.pad << ", B "
                 << (c.b.order == row_major ? "t" : "n") << " shift " << c.b.shift << " pad " << c.b.pad
                 << ", alpha " << c.alpha << ", beta " << c.beta << ", C in " << name(c.out));
    const std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2),
                             old = normals(c.m * c.n, 3);
    const std::vector<float> found = run(c, a, b, old);
    if (!HasFailure()) expect_right(c, a, b, old, found);
  }
};

TEST_P(PrecisionTest, EveryOrderAndAlignment) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      check({70, 66, 75, {a}, {b}});
      check({35, 72, 40, {a, 1, 3}, {b, 3, 2}, 0.5F, 0.25F});
    }
  }
}

TEST_P(PrecisionTest, Sizes) {
  constexpr std::int64_t sizes[][3] = {{1, 1, 1},    {1, 37, 5},    {37, 1, 8},    {3, 2, 9},
                                       {17, 31, 64}, {65, 129, 65}, {129, 65, 127}};
  for (const auto& [m, n, k] : sizes) {
    check({m, n, k});
    if (HasFailure()) return;
  }
}

// Every kernel that rounds f32 itself, in tiles that k, m and n fill and do not fill.
TEST_P(PrecisionTest, RoundedWhileLoaded) {
  int count = 0;
  for (const Kernel& kernel : kernels()) {
    if (!kernel.rounds_f32 || part_type(GetParam()) != kernel.type || products_of(GetParam()) != 1) continue;
    SCOPED_TRACE(kernel.name);
    ++count;
    const Case cases[] = {{kernel.tile_m + 20, kernel.tile_n + 4, 100},
                          {kernel.tile_m, kernel.tile_n, 32},
                          {4, 8, 4, {}, {}, 0.5F, -2.0F, Type::f32, 3, 1},
                          {36, 40, 260, {row_major, 0, 4}, {row_major, 4, 8}, 1.0F, 0.0F, Type::bf16}};
    for (Case c : cases) {
      c.a.order = kernel.a_order;
      c.b.order = kernel.b_order;
      const std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2),
                               old = normals(c.m * c.n, 3);
      const std::vector<float> found = run(c, a, b, old, GetParam(), kernel.name.c_str());
      if (HasFailure()) return;
      expect_right(c, a, b, old, found);
    }
  }
  const bool is_rounded = GetParam() == Precision::f16 || GetParam() == Precision::bf16;
  EXPECT_EQ(count > 0, is_rounded);
}

// Where that is faster, and where no workspace is given, the library takes such a kernel by itself.
TEST_P(PrecisionTest, OneLaunchNeedsNoWorkspace) {
  const bool is_rounded = GetParam() == Precision::f16 || GetParam() == Precision::bf16;
  const auto kernel_of = [](std::int64_t m, std::int64_t n, std::int64_t k, std::size_t workspace_bytes,
                            std::size_t* needed) {
    Gemm p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = ConstMatrix(at(0x10000), k, row_major, Type::f32);
    p.b = ConstMatrix(at(std::uintptr_t{1} << 40), k, column_major, Type::f32);
    p.c = tenon::Matrix(at(std::uintptr_t{1} << 41), n, Type::f32);
    p.precision = GetParam();
    p.workspace = workspace_bytes != 0 ? at(std::uintptr_t{1} << 42) : nullptr;
    p.workspace_bytes = workspace_bytes;
    *needed = workspace_size(test::launcher(), p);
    const char* const found = kernel_name(test::launcher(), p);
    return std::string(found == nullptr ? "none" : found);
  };
  const auto rounds = [](const std::string& name) {
    const Kernel* const kernel = find_kernel(name);
    return kernel != nullptr && kernel->rounds_f32;
  };
  std::size_t needed = 0;
  EXPECT_EQ(rounds(kernel_of(256, 256, 256, 0, &needed)), is_rounded);
  EXPECT_EQ(needed == 0, is_rounded);
  EXPECT_EQ(rounds(kernel_of(8192, 8192, 8192, 0, &needed)), is_rounded);
  EXPECT_GT(needed, 0U) << "two launches are faster";
  EXPECT_FALSE(rounds(kernel_of(8192, 8192, 8192, needed, &needed)));
}

TEST_P(PrecisionTest, OutputsAndFactors) {
  check({33, 65, 40, {}, {column_major}, 1.0F, 0.0F, Type::f16});
  check({33, 65, 40, {}, {row_major}, -2.0F, 0.0F, Type::bf16, 3, 1});
  check({33, 65, 40, {}, {row_major}, 0.75F, -1.5F, Type::f32, 3, 1});
}

TEST_P(PrecisionTest, NothingToMultiply) {
  // Without k, or with alpha 0, C is scaled, and A, B and the workspace are not needed.
  const std::vector<float> old = normals(15, 3);
  for (const bool without_k : {true, false}) {
    const Buffer<float> c(old);
    Gemm p;
    p.m = 3;
    p.n = 5;
    p.k = without_k ? 0 : 4;
    p.alpha = without_k ? 1.0F : 0.0F;
    p.beta = 2.0F;
    p.a = ConstMatrix(nullptr, 4, row_major, Type::f32);
    p.b = ConstMatrix(nullptr, 5, row_major, Type::f32);
    p.c = tenon::Matrix(c.get(), 5, Type::f32);
    p.precision = GetParam();
    EXPECT_EQ(workspace_size(test::launcher(), p), 0U);
    EXPECT_EQ(kernel_name(test::launcher(), p), nullptr);
    const Status s = gemm(test::launcher(), p);
    ASSERT_TRUE(s) << s.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<float> after = c.read();
    for (std::size_t i = 0; i < old.size(); ++i) EXPECT_EQ(after[i], 2.0F * old[i]);
  }
  EXPECT_TRUE(run({0, 5, 4}, {}, normals(20, 1), {}).empty());
  EXPECT_TRUE(run({3, 0, 4}, normals(12, 1), {}, {}).empty());
}

// Infinity and NaN give what f32 arithmetic gives: in particular an infinite operand does not become NaN by
// the parts of what it meets, and two infinities meet.
TEST_P(PrecisionTest, InfinityAndNanAreThoseOfF32) {
  const Case c{40, 40, 20};
  std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2);
  // Whole numbers have no second part: infinity times it would be NaN.
  for (std::size_t i = 0; i < a.size(); i += 3) a[i] = static_cast<float>(1 + i % 4);
  for (std::size_t i = 0; i < b.size(); i += 3) b[i] = -static_cast<float>(1 + i % 4);
  const auto element = [](std::vector<float>& x, std::int64_t columns, int row, int column) -> float& {
    return x[static_cast<std::size_t>(row * columns + column)];
  };
  element(a, c.k, 3, 5) = infinity;
  element(a, c.k, 7, 0) = -infinity;
  element(a, c.k, 7, 19) = infinity;
  element(a, c.k, 9, 2) = nan;
  element(b, c.n, 5, 11) = -infinity;
  element(b, c.n, 5, 12) = 0.0F;
  element(b, c.n, 4, 20) = infinity;
  element(b, c.n, 2, 30) = nan;
  const std::vector<float> found = run(c, a, b, {});
  int infinities = 0, nans = 0;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      float sum = 0.0F;
      for (std::int64_t p = 0; p < c.k; ++p)
        sum += a[static_cast<std::size_t>(i * c.k + p)] * b[static_cast<std::size_t>(p * c.n + j)];
      const float value = found[static_cast<std::size_t>(i * c.n + j)];
      infinities += std::isinf(sum) ? 1 : 0;
      nans += std::isnan(sum) ? 1 : 0;
      ASSERT_EQ(std::isnan(value), std::isnan(sum)) << i << ", " << j << ": " << value << ", f32 " << sum;
      ASSERT_EQ(std::isinf(value), std::isinf(sum)) << i << ", " << j << ": " << value << ", f32 " << sum;
      if (std::isinf(sum)) {
        ASSERT_EQ(value, sum) << i << ", " << j;
      }
    }
  }
  EXPECT_GT(infinities, 80);
  EXPECT_GT(nans, 100);
}

// Subnormal operands, and magnitudes whose parts are subnormal; f16 holds none of them.
TEST_P(PrecisionTest, TinyOperands) {
  if (GetParam() == Precision::f16) GTEST_SKIP() << "f16 rounds them to zero";
  const Case c{33, 40, 24};
  std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] *= i % 3 == 0 ? 0x1p-130F : i % 3 == 1 ? 0x1p-120F : 0x1p-140F;
  for (float& x : b) x *= 0x1p100F;
  const std::vector<float> found = run(c, a, b, {});
  if (!HasFailure()) expect_right(c, a, b, {}, found);
}

TEST_P(PrecisionTest, WithoutEnoughWorkspaceNothingIsWritten) {
  const std::int64_t m = 20, n = 30, k = 50;
  const Matrix a(normals(m * k, 1), m, k, {}), b(normals(k * n, 2), k, n, {});
  const std::vector<float> before(static_cast<std::size_t>(m * n), 7.0F);
  const Buffer<float> c(before);
  Gemm p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a.get();
  p.b = b.get();
  p.c = tenon::Matrix(c.get(), n, Type::f32);
  p.precision = GetParam();
  const std::size_t needed = workspace_size(test::launcher(), p);
  ASSERT_EQ(needed, (split_bytes(m, k, GetParam()) + 255) / 256 * 256 + split_bytes(n, k, GetParam()));
  const Buffer<unsigned char> workspace(std::vector<unsigned char>(needed, 0xff));
  for (const std::size_t given : {std::size_t{0}, needed - 1}) {
    p.workspace = given == 0 ? nullptr : workspace.get();
    p.workspace_bytes = given;
    EXPECT_EQ(kernel_name(test::launcher(), p), nullptr);
    for (const Status& s : {can_implement(test::launcher(), p), gemm(test::launcher(), p)}) {
      EXPECT_EQ(s.code(), StatusCode::workspace_too_small);
      EXPECT_EQ(s.message(), "workspace_bytes is " + std::to_string(given) + " but precision " +
                                 name(GetParam()) + " needs >= " + std::to_string(needed) +
                                 " here to split A and B");
    }
  }
  ASSERT_TRUE(test::device()->synchronize());
  EXPECT_EQ(c.read(), before);
  p.workspace_bytes = needed;
  EXPECT_NE(kernel_name(test::launcher(), p), nullptr);
  EXPECT_TRUE(gemm(test::launcher(), p));
}

// The error of a product, relative to the root of the sum of the squares of the exact elements.
struct Errors {
  double largest = 0.0, root_mean_square = 0.0;
};
Errors errors_of(const std::vector<float>& found, const std::vector<double>& exact) {
  Errors errors;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::fabs(static_cast<double>(found[i]) - exact[i]);
    errors.largest = std::max(errors.largest, error);
    errors.root_mean_square += error * error;
  }
  errors.root_mean_square = std::sqrt(errors.root_mean_square / static_cast<double>(exact.size()));
  return errors;
}

// bf16x6 (from any k on) and tf32x3 (from 256 on) against a loop of FP32 fused multiply-adds, which is what
// SGEMM does: on numbers of both signs, and on positive ones, where truncation would add up.
TEST_P(PrecisionTest, IsAsAccurateAsF32) {
  if (!promotes(GetParam())) GTEST_SKIP() << "not promised";
  for (const bool positive : {false, true}) {
    for (const std::int64_t k : {16, 64, 256, 1024}) {
      if (k < 256 && GetParam() == Precision::tf32x3) continue;
      const Case c{64, 64, k};
      std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2);
      if (positive) {
        for (float& x : a) x = std::fabs(x);
        for (float& x : b) x = std::fabs(x);
      }
      const std::vector<float> found = run(c, a, b, {});
      std::vector<float> in_f32(found.size());
      std::vector<double> exact(found.size());
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          float sum = 0.0F;
          double precise = 0.0;
          for (std::int64_t p = 0; p < c.k; ++p) {
            const float x = a[static_cast<std::size_t>(i * c.k + p)],
                        y = b[static_cast<std::size_t>(p * c.n + j)];
            sum = std::fma(x, y, sum);
            precise += static_cast<double>(x) * static_cast<double>(y);
          }
          in_f32[static_cast<std::size_t>(i * c.n + j)] = sum;
          exact[static_cast<std::size_t>(i * c.n + j)] = precise;
        }
      }
      const Errors errors = errors_of(found, exact), of_f32 = errors_of(in_f32, exact);
      EXPECT_LE(errors.largest, of_f32.largest) << "k " << k << (positive ? ", positive" : "");
      EXPECT_LE(errors.root_mean_square, of_f32.root_mean_square)
          << "k " << k << (positive ? ", positive" : "");
    }
  }
}

// The leading parts, promoted, and then the others, added to C.
TEST_P(PrecisionTest, LargeProductsAreTwoLaunches) {
  if (!promotes(GetParam())) GTEST_SKIP() << "one launch suffices";
  const Case c{512, 520, 260, {row_major, 0, 1}, {row_major, 1, 0}, 0.5F, -1.0F};
  const std::vector<float> a = normals(c.m * c.k, 1), b = normals(c.k * c.n, 2), old = normals(c.m * c.n, 3);
  DeviceDescription description;
  ASSERT_TRUE(test::launcher().describe(&description));
  Gemm p;
  p.m = c.m;
  p.n = c.n;
  p.k = c.k;
  p.beta = c.beta;
  p.precision = GetParam();
  p.c = tenon::Matrix(at(0x30000), c.n, Type::f32);
  const Products products = products_to_run(p, description);
  if (test::emulated()) {  // on a GPU its size decides
    ASSERT_EQ(products.count, 2);
  }
  if (products.count == 2) {
    EXPECT_EQ(products.product[0].k, block_depth(c.k));
    EXPECT_EQ(products.product[1].k, (products_of(GetParam()) - 1) * block_depth(c.k));
    EXPECT_TRUE(products.product[0].promote && !products.product[1].promote);
    EXPECT_EQ(products.product[0].beta, c.beta);
    EXPECT_EQ(products.product[1].beta, 1.0F);
  }
  p.c.type = Type::f16;
  EXPECT_EQ(products_to_run(p, description).count, 1) << "a C of 16 bits cannot hold the sum in between";

  const std::vector<float> found = run(c, a, b, old);
  double largest = 0.0, largest_in_f32 = 0.0;
  for (std::int64_t i = 0; i < c.m; i += 15) {
    for (std::int64_t j = 0; j < c.n; j += 13) {
      float sum = 0.0F;
      double exact = 0.0;
      for (std::int64_t k = 0; k < c.k; ++k) {
        const float x = a[static_cast<std::size_t>(i * c.k + k)],
                    y = b[static_cast<std::size_t>(k * c.n + j)];
        sum = std::fma(x, y, sum);
        exact += static_cast<double>(x) * static_cast<double>(y);
      }
      const auto at_c = static_cast<std::size_t>(i * c.n + j);
      const double wanted = 0.5 * exact - static_cast<double>(old[at_c]);
      largest = std::max(largest, std::fabs(static_cast<double>(found[at_c]) - wanted));
      largest_in_f32 =
          std::max(largest_in_f32, std::fabs(static_cast<double>(0.5F * sum - old[at_c]) - wanted));
    }
  }
  EXPECT_GT(largest, 0.0);
  EXPECT_LE(largest, largest_in_f32);
}

INSTANTIATE_TEST_SUITE_P(All, PrecisionTest, ::testing::ValuesIn(all_precisions),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace tenon
