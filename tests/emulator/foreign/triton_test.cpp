// Kernels compiled by Triton (triton/kernels.py): code of another compiler's front end, with mma.sync and a
// cp.async pipeline for sm_80, with wgmma for sm_90a.
#include <cmath>
#include <random>

#include "emulator/foreign/run.hpp"
#include "emulator/numerics/formats.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;

constexpr Address no_scratch = 0;

struct Product {
  std::string file;
  std::uint32_t rows, shared;  // of a block
};

class Triton : public ::testing::TestWithParam<Product> {};

TEST_P(Triton, multiplies) {
  const Product& product = GetParam();
  constexpr int m = 75, n = 48, k = 160;  // rows and columns that end within a block
  std::mt19937 random(1);
  const auto small = [&](std::size_t count) {
    std::vector<int> list(count);
    for (int& value : list) value = static_cast<int>(random() % 9) - 4;
    return list;
  };
  const auto half = [](const std::vector<int>& list) {
    std::vector<std::uint16_t> bits;
    for (const int value : list)
      bits.push_back(
          static_cast<std::uint16_t>(numerics::from_float(numerics::f16, static_cast<float>(value))));
    return bits;
  };
  const std::vector<int> a = small(m * k), b = small(k * n);
  for (const Options& options : testing::several_schedules()) {
    Compiled compiled(product.file);
    const Address c = compiled.allocate<float>(m * n);
    compiled.run("multiply", {{(m + product.rows - 1) / product.rows, 2, 1}, {128, 1, 1}, product.shared},
                 {compiled.upload(half(a)), compiled.upload(half(b)), c, m, n, k, no_scratch, no_scratch},
                 options);
    const auto found = compiled.download<float>(c, m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        int sum = 0;
        for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        ASSERT_EQ(found[i * n + j], static_cast<float>(sum)) << i << ", " << j;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, Triton,
                         ::testing::Values(Product{"triton/multiply_sm_80", 32, 8192},
                                           Product{"triton/multiply_sm_90", 64, 18432}));

TEST(TritonSoftmax, is_that_of_the_host) {
  constexpr std::size_t rows = 3, n = 200;
  std::mt19937 random(2);
  std::vector<float> x(rows * n);
  for (float& value : x) value = static_cast<float>(random() % 2000) / 200.0f - 5.0f;
  Compiled compiled("triton/softmax_sm_80");
  const Address y = compiled.allocate<float>(rows * n);
  compiled.run("softmax", {{rows, 1, 1}, {128, 1, 1}, 16},
               {compiled.upload(x), y, static_cast<int>(n), no_scratch, no_scratch});
  const auto found = compiled.download<float>(y, rows * n);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[row * n + i]));
    for (std::size_t i = 0; i < n; ++i) {
      const double exact = std::exp(static_cast<double>(x[row * n + i])) / sum;
      EXPECT_NEAR(found[row * n + i], exact, 1e-5 * exact);
    }
  }
}

}  // namespace
}  // namespace tenon::emulator
