// Values that few products have, with every kernel: NaN, infinities, subnormals, and small terms beside large
// ones.
#include "gemm/gemm_test.hpp"

namespace tenon {
namespace {

using test::Case;
using test::GemmTest;
using test::Operands;
using test::Product;

float least_subnormal(Type type) {
  switch (type) {
    case Type::f16:
      return 0x1p-24F;
    case Type::e4m3:
      return 0x1p-9F;
    case Type::e5m2:
      return 0x1p-16F;
    case Type::tf32:
      return 0x1p-136F;
    default:
      return 0x1p-133F;  // bf16
  }
}

// NaN, infinities and subnormal numbers reach C as IEEE 754 prescribes, whatever C's type. Every finite sum
// is exact, and a value too large for 16 bits becomes infinite.
TEST_P(GemmTest, NaNsInfinitiesAndSubnormals) {
  if (kernel().accumulate == Type::s32) GTEST_SKIP() << "integers have none of these";
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  const Case c = with_output({67, 72, 75});
  Operands operands{test::random_numbers(c.m * c.k, c.numbers, kernel().type, 1),
                    test::random_numbers(c.n * c.k, c.numbers, kernel().type_b, 2),
                    {}};
  const auto a = [&](int row, int k) -> float& {
    return operands.a[static_cast<std::size_t>(row * c.k + k)];
  };
  const auto b = [&](int k, int column) -> float& {
    return operands.b[static_cast<std::size_t>(column * c.k + k)];
  };
  // 75 times 448, the largest number of e4m3, times 2 is beyond 65504, the largest of f16.
  for (int k = 0; k < c.k; ++k) {
    a(13, k) = 448;
    b(k, 21) = 2;
    b(k, 22) = -2;
  }
  a(3, 10) = nan;
  b(33, 69) = nan;
  // e4m3 has no infinity, and conversions to either fp8 type saturate.
  const bool a_infinite = !is_fp8(kernel().type), b_infinite = !is_fp8(kernel().type_b);
  if (a_infinite) {
    a(5, 0) = infinity;  // NaN where B is 0
    a(9, 4) = infinity;
    a(9, 74) = -infinity;
  }
  if (b_infinite) b(74, 20) = -infinity;
  for (int k = 0; k < c.k; ++k) a(11, k) *= least_subnormal(kernel().type);
  operands.exact = test::exact_products(operands.a, operands.b, c.m, c.n, c.k);
  int nans = 0, infinities = 0, subnormals = 0;
  for (std::size_t i = 0; i < operands.exact.size(); ++i) {
    const double sum = operands.exact[i].sum;
    nans += std::isnan(sum) ? 1 : 0;
    infinities += std::isinf(sum) ? 1 : 0;
    subnormals += std::isfinite(sum) && sum != 0.0 && static_cast<std::int64_t>(i) / c.n == 11 ? 1 : 0;
  }
  EXPECT_GE(nans, 67 + 69);
  EXPECT_GT(infinities, (a_infinite ? 30 : 0) + (b_infinite ? 30 : 0) - 1);
  EXPECT_GT(subnormals, 30);

  // Cluster split-K adds in f32 what each CTA accumulated in f16.
  const Type accumulators = kernel().split > 1 ? Type::f32 : kernel().accumulate;
  for (const Type out : outputs()) {
    SCOPED_TRACE(name(out));
    Case of_type = c;
    of_type.out = out;
    of_type.pad_c = out == Type::f16 ? 0 : 1;  // rows that TMA can write, and others
    Product product(kernel(), of_type, std::make_shared<const Operands>(operands));
    product.run();
    if (HasFailure()) return;
    const std::vector<float> found = product.result();
    std::vector<float> wanted(found.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<float>(operands.exact[i].sum);
    for (const Type type : {accumulators, out}) test::round_to(type, wanted);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(wanted[i])) {
        ASSERT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
      } else {
        ASSERT_EQ(found[i], wanted[i]) << "element " << i;
      }
    }
    const bool overflows = out == Type::f16 || accumulators == Type::f16;
    const auto largest = static_cast<std::size_t>(13 * c.n + 21);
    EXPECT_EQ(std::isinf(wanted[largest]), overflows);
    EXPECT_EQ(std::isinf(wanted[largest + 1]), overflows);
  }
}

// The tensor core keeps 13 bits below the leading one of a sum of fp8 products: there 8192 + 0.5 is 8192, but
// not in f32. The first k-tile holds the large term, and each of the others a small one.
TEST_P(GemmTest, PromotionKeepsWhatTheTensorCoreLoses) {
  if (!is_fp8(kernel().type)) GTEST_SKIP() << "only accumulators of fp8 products are promoted";
  const std::int64_t k_tile = kernel().tile_k, k_tiles = 8;
  Operands operands{std::vector<float>(static_cast<std::size_t>(k_tile * k_tiles)),
                    std::vector<float>(static_cast<std::size_t>(k_tile * k_tiles)),
                    {}};
  operands.a[0] = 128;
  operands.b[0] = 64;
  for (std::int64_t i = 1; i < k_tiles; ++i) {
    operands.a[static_cast<std::size_t>(k_tile * i)] = 0.5F;
    operands.b[static_cast<std::size_t>(k_tile * i)] = 1;
  }
  Product product(kernel(), {1, 1, k_tile * k_tiles}, std::make_shared<const Operands>(operands));
  product.run();
  if (HasFailure()) return;
  // With cluster split-K only the first CTA has the large term, and the CTAs' results are added in f32.
  // mma.sync of fp8 is native on 8.9; 9.0 multiplies in f16 and keeps all bits of f32.
  DeviceDescription description;
  ASSERT_TRUE(test::launcher().describe(&description));
  const bool loses =
      !kernel().promotes && (kernel().instruction == Instruction::wgmma || description.sm == 89);
  const float lost = loses ? 0.5F * static_cast<float>(k_tiles / kernel().split - 1) : 0;
  EXPECT_EQ(product.result()[0], 8192 + 0.5F * static_cast<float>(k_tiles - 1) - lost);
}

}  // namespace
}  // namespace tenon
