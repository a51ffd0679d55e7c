// Products of f64 by gemm() on a device: operands, alpha and beta of all 53 bits, against long double. The
// bound is that of a sum of k rounded fused multiply-adds in any order (Higham, "Accuracy and Stability of
// Numerical Algorithms", section 3.1), and does not share code with error_bound.hpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/gemm_on.hpp"
#include "support/as_sm80.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Where a matrix lies: elements off an address that is a multiple of 16 bytes, elements between its rows.
struct Place {
  int shift = 0, pad = 0;
};
struct Case {
  std::int64_t m, n, k;
  Order a_order = row_major, b_order = column_major;
  Place a = {}, b = {}, c = {};
  double alpha = 1.0, beta = 0.0;
};

// A matrix on the device, NaN around its elements. element(row, column).
class DeviceMatrix {
 public:
  template <class Element>
  DeviceMatrix(std::int64_t rows, std::int64_t columns, Order order, const Place& place,
               const Element& element)
      : rows_(rows),
        columns_(columns),
        order_(order),
        ld_((order == row_major ? columns : rows) + place.pad),
        first_(2 + place.shift),
        before_(static_cast<std::size_t>(
                    first_ + ld_ * std::max<std::int64_t>(order == row_major ? rows : columns, 1) + 2),
                nan) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) before_[at(i, j)] = element(i, j);
    }
    buffer_ = std::make_unique<Buffer<double>>(before_);
  }
  double* data() const { return buffer_->get() + first_; }
  std::int64_t ld() const { return ld_; }
  double operator()(std::int64_t row, std::int64_t column) const { return before_[at(row, column)]; }
  // Reads the matrix back. What lies around the elements must be as it was.
  std::vector<double> result() const {
    std::vector<double> memory = buffer_->read(), values;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        values.push_back(memory[at(i, j)]);
        memory[at(i, j)] = nan;
      }
    }
    EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](double x) { return std::isnan(x); }))
        << "bytes between, before or after the rows were written";
    return values;
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(first_ + (order_ == row_major ? row * ld_ + column : column * ld_ + row));
  }
  std::int64_t rows_, columns_;
  Order order_;
  std::int64_t ld_, first_;
  std::vector<double> before_;
  std::unique_ptr<Buffer<double>> buffer_;
};

class F64Test : public test::DeviceTest {
 protected:
  // The result, after it was compared. with_workspace: as much as gemm() likes.
  static std::vector<double> run(const Case& x, Launcher& launcher, bool with_workspace = false) {
    SCOPED_TRACE(std::to_string(x.m) + " x " + std::to_string(x.n) + " x " + std::to_string(x.k) + ", A " +
                 (x.a_order == row_major ? "t" : "n") + ", B " + (x.b_order == row_major ? "t" : "n") +
                 ", shifts " + std::to_string(x.a.shift) + std::to_string(x.b.shift) +
                 std::to_string(x.c.shift) + ", pads " + std::to_string(x.a.pad) + std::to_string(x.b.pad) +
                 std::to_string(x.c.pad));
    std::mt19937_64 random(5);
    const auto draw = [&](std::int64_t, std::int64_t) {
      return static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
    };
    const DeviceMatrix a(x.m, x.k, x.a_order, x.a, draw), b(x.k, x.n, x.b_order, x.b, draw);
    const DeviceMatrix c(x.m, x.n, row_major, x.c,
                         [&](std::int64_t i, std::int64_t j) { return x.beta == 0.0 ? nan : draw(i, j); });
    Gemm p;
    p.m = x.m, p.n = x.n, p.k = x.k;
    p.a = {a.data(), a.ld(), x.a_order};
    p.b = {b.data(), b.ld(), x.b_order};
    p.c = {c.data(), c.ld()};
    p.accumulate = Type::f64;
    p.alpha = x.alpha, p.beta = x.beta;
    const std::size_t bytes = with_workspace ? workspace_size(launcher, p) : 0;
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(bytes, 0xff));
    if (bytes != 0) p.workspace = workspace.get(), p.workspace_bytes = bytes;
    const Status status = gemm(launcher, p);
    EXPECT_TRUE(status) << status.message();
    EXPECT_TRUE(test::device()->synchronize());
    test::expect_no_findings();
    std::vector<double> found = c.result();
    if (HasFailure()) return found;
    const auto roundings = static_cast<long double>(x.k + 3) * 0x1p-53L;
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t q = 0; q < x.k && x.alpha != 0.0; ++q) {
          const long double product = static_cast<long double>(a(i, q)) * static_cast<long double>(b(q, j));
          sum += product;
          magnitude += std::fabs(product);
        }
        sum *= static_cast<long double>(x.alpha);
        magnitude *= std::fabs(static_cast<long double>(x.alpha));
        if (x.beta != 0.0) {
          const long double old = static_cast<long double>(x.beta) * static_cast<long double>(c(i, j));
          sum += old;
          magnitude += std::fabs(old);
        }
        const double element = found[static_cast<std::size_t>(i * x.n + j)];
        const long double error = std::fabs(static_cast<long double>(element) - sum);
        EXPECT_TRUE(error <= roundings * magnitude)
            << "C(" << i << ", " << j << ") is " << element << ", off by " << static_cast<double>(error);
        if (HasFailure()) return found;
      }
    }
    return found;
  }
  static std::vector<double> run(const Case& x) { return run(x, test::launcher()); }
};

constexpr Order orders[] = {row_major, column_major};

TEST_F(F64Test, EveryShape) {
  for (const std::int64_t k : {1, 2, 7, 16, 17, 65}) {
    run({1, 1, k});
    run({3, 2, k, column_major, row_major});
  }
  run({13, 17, 19});
  run({129, 67, 33});
  run({128, 128, 64});
  run({1, 200, 31, row_major, row_major});
  run({200, 1, 31, column_major, column_major});
}

TEST_F(F64Test, EveryLayoutAndAlignment) {
  for (const Order a : orders) {
    for (const Order b : orders) {
      for (const int shift : {0, 1}) {
        for (const int pad : {0, 1}) {
          run({67, 35, 41, a, b, {shift, pad}, {0, 0}, {pad, shift}, 1.0 / 3, -0.7});
          run({66, 36, 40, a, b, {0, pad}, {shift, pad}, {1, 1}});
        }
      }
    }
  }
}

// Large enough that copies with aligned rows pay.
TEST_F(F64Test, OddLeadingDimensionsWithAWorkspace) {
  for (const Order a : orders) {
    for (const Order b : orders) {
      run({71, 65, 75, a, b, {1, 0}, {0, 2}, {0, 1}, 1.5, 1.0}, test::launcher(), true);
    }
  }
}

// A factor of 53 bits, which no float holds.
TEST_F(F64Test, AlphaAndBetaAreDoubles) {
  const double factor = 1 + 0x1p-40;
  const auto value_of = [&](std::int64_t k, double alpha, double beta) {
    const Buffer<double> a({3.0}), b({5.0}), c({7.0});
    Gemm p;
    p.m = p.n = 1, p.k = k;
    p.a = {a.get(), 1};
    p.b = {b.get(), 1};
    p.c = {c.get(), 1};
    p.accumulate = Type::f64;
    p.alpha = alpha, p.beta = beta;
    const Status status = gemm(test::launcher(), p);
    EXPECT_TRUE(status) << status.message();
    return c.read()[0];
  };
  EXPECT_EQ(value_of(1, factor, 0.0), 15 * factor);
  EXPECT_EQ(value_of(1, 0x1p-200, 0x1p-300), std::fma(7.0, 0x1p-300, 15 * 0x1p-200));
  EXPECT_EQ(value_of(0, 1.0, factor), 7 * factor);  // beta * C
  EXPECT_EQ(value_of(1, 0.0, factor), 7 * factor);
  EXPECT_EQ(value_of(0, 1.0, 1e300), 7e300);
  EXPECT_EQ(value_of(0, 1.0, 0.0), 0.0);
}

TEST_F(F64Test, NothingToDo) {
  run({0, 5, 3});
  run({5, 0, 3});
  run({5, 4, 0, row_major, column_major, {}, {}, {0, 1}, 1.0, 0.3});
  run({5, 4, 0});
}

// The kernels for sm_80, where an m16n8k8 is four m8n8k4: the same bits as the code for sm_90.
TEST_F(F64Test, CodeForSm80GivesTheSameBits) {
  if (!test::emulated()) GTEST_SKIP() << "the driver chooses the code of the GPU's own architecture";
  class ByCodeForSm80 final : public test::AsSm80 {
   public:
    Status launch(const Launch& launch) noexcept override {
      const std::string file = launch.ptx, of_90 = ".compute_90";
      const std::size_t at = file.find(of_90);
      if (at == std::string::npos) return test::launcher().launch(launch);
      const std::string of_80 = file.substr(0, at) + ".compute_80";
      Launch other = launch;
      other.ptx = of_80.c_str();
      ++launches;
      return test::launcher().launch(other);
    }
    int launches = 0;
  };
  ByCodeForSm80 sm_80;
  int cases = 0;
  for (const Order a : orders) {
    for (const Order b : orders) {
      for (const int pad : {0, 1}) {
        const Case x{131, 68, 37, a, b, {0, pad}, {0, pad}, {}, 0.3, 0.7};
        ++cases;
        EXPECT_EQ(run(x, sm_80), run(x));
      }
    }
  }
  EXPECT_EQ(sm_80.launches, cases);
}

}  // namespace
}  // namespace tenon
