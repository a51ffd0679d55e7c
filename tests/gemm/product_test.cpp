// The check of product.hpp, on which the tests of every kernel rely, must find errors that the bound of each
// single element permits. No kernel runs.
#include "gemm/product.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::test {
namespace {

class ProductCheck : public DeviceTest, public ::testing::WithParamInterface<bool> {
 protected:
  // fp8 accumulators and a k at which the bound of an element is as large as the element.
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    product_.emplace(kernel(), Case{40, 48, 4096, Numbers::normals});
    const auto operands = operands_of(Case{40, 48, 4096, Numbers::normals}, Type::e4m3, Type::e4m3);
    for (const DotProduct& dot : operands->exact) right_.push_back(static_cast<float>(dot.sum));
  }

  static const Kernel& kernel() {
    for (const Kernel& kernel : kernels()) {
      if (kernel.type == Type::e4m3 && kernel.type_b == Type::e4m3 && kernel.promotes == GetParam())
        return kernel;
    }
    throw std::runtime_error("no kernel takes e4m3");
  }

  // The sentence of the check for this C; "" if it passes.
  std::string complaint(const std::vector<float>& c) const {
    ::testing::TestPartResultArray results;
    {
      ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
      product_->expect_right(c);
    }
    return results.size() == 0 ? "" : results.GetTestPartResult(0).message();
  }

  std::optional<Product> product_;
  std::vector<float> right_;
};

TEST_P(ProductCheck, PassesTheExactProduct) {
  EXPECT_EQ(complaint(right_), "");
}

TEST_P(ProductCheck, FindsZeros) {
  EXPECT_NE(complaint(std::vector<float>(right_.size(), 0.0F)), "");
}

TEST_P(ProductCheck, FindsAScaledC) {
  std::vector<float> c = right_;
  for (float& x : c) x *= 0.9F;
  EXPECT_NE(complaint(c), "");
}

TEST_P(ProductCheck, FindsOneWrongColumn) {
  std::vector<float> c = right_;
  for (std::size_t row = 0; row < 40; ++row) c[row * 48 + 17] *= 0.9F;
  const std::string said = complaint(c);
  EXPECT_NE(said, "");
  if (!GetParam()) {
    EXPECT_NE(said.find("row or column 17 has a relative error"), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Promoted, ProductCheck, ::testing::Bool());

}  // namespace
}  // namespace tenon::test
