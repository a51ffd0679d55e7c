// The fixture of the tests that gemm() runs with every kernel of the list, in gemm_test.cpp and beside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gemm/fill_shared.hpp"
#include "gemm/product.hpp"

namespace tenon::test {

constexpr Numbers both_numbers[] = {Numbers::integers, Numbers::normals};

class GemmTest : public DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Product product(kernel(), with_output({1, 1, 1}));
    if (const Status s = can_implement(launcher(), product.problem);
        s.code() == StatusCode::device_unsupported) {
      GTEST_SKIP() << s.message();
    }
    if (is_another_cluster() && !shows_its_cluster())
      GTEST_SKIP() << "the entry with another cluster of the same compiled kernel shows it";
    if (!emulated()) {  // in the emulator it holds NaN too
      ASSERT_TRUE(fill_shared_memory());
    }
  }

  // Whether an earlier entry of the list is the same compiled kernel.
  static bool is_another_cluster() {
    const Kernel& own = kernel();
    const auto first = std::find_if(kernels().begin(), kernels().end(),
                                    [&](const Kernel& other) { return other.function == own.function; });
    return first->name != own.name;
  }
  // Whether the test can find what depends on the cluster. The emulator takes its time: it runs those of 2 x
  // 2 CTAs, and of 1 x 4 that split k, of one type and layout, and only the tests in which a cluster matters.
  static bool shows_its_cluster() {
    const std::string full = testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string test = full.substr(0, full.find('/'));
    if (!emulated()) {
      return test != "AlphaAndBeta" && test != "LeadingDimensionsAndAlignmentsOfC" &&
             test != "LeadingDimensionsBeyond32Bits" && test != "UnalignedOperands";
    }
    if (kernel().type != Type::bf16 || kernel().a_order != row_major || kernel().b_order != column_major ||
        kernel().cluster != 4 * kernel().split)
      return false;
    if (kernel().cluster_n != 2 && (kernel().cluster_n != 4 || kernel().split == 1)) return false;
    return test == "Quick" || test == "EveryNumberOfKTilesInTheRing";
  }

  static const Kernel& kernel() { return *find_kernel(GetParam()); }

  // For unaligned rows: the 16 bytes in which a row begins also hold the last elements of the previous row.
  // Those are infinite here, and must not reach this row's products.
  static void expect_infinities_to_stay_in_their_rows(const Case& c) {
    Operands operands{random_numbers(c.m * c.k, c.numbers, kernel().type, 1),
                      random_numbers(c.n * c.k, c.numbers, kernel().type_b, 2),
                      {}};
    // The last element of every other row of A, and of every third column of B.
    for (std::int64_t row = 0; row < c.m; row += 2)
      operands.a[static_cast<std::size_t>(row * c.k + c.k - 1)] = std::numeric_limits<float>::infinity();
    for (std::int64_t column = 0; kernel().unaligned && column < c.n; column += 3)
      operands.b[static_cast<std::size_t>(column * c.k + c.k - 1)] = std::numeric_limits<float>::infinity();
    operands.exact = exact_products(operands.a, operands.b, c.m, c.n, c.k);
    Product product(kernel(), c, std::make_shared<const Operands>(operands));
    product.allocate_workspace();
    product.run();
    if (HasFailure()) return;
    const std::vector<float> found = product.result();
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::isfinite(found[i]), std::isfinite(operands.exact[i].sum))
          << "element " << i << " is " << found[i];
    }
  }

  // Whether the kernel reads an unaligned B without a copy.
  static bool takes_unaligned_b() { return kernel().unaligned && !kernel().swap_ab; }

  // The types of C. The hand-written module and the kernels for f64 have one type each, and so do integer
  // kernels that store their sums as they are.
  static std::vector<Type> outputs() {
    if (kernel().copy == Copy::module) return {Type::f16};
    if (kernel().accumulate == Type::s32 && !kernel().fused) return {Type::s32};
    if (kernel().accumulate == Type::f64) return {Type::f64};
    return {Type::f32, Type::f16, Type::bf16};
  }
  static bool writes(Type type) {
    const std::vector<Type> types = outputs();
    return std::find(types.begin(), types.end(), type) != types.end();
  }
  static Case with_output(Case c) {
    if (!writes(c.out)) c.out = outputs().front();
    return fitted(c);
  }

  // The module needs k to be a multiple of 8; integer products need whole alpha and beta.
  static Case fitted(Case c) {
    if (kernel().copy == Copy::module) c.k = (c.k + 7) / 8 * 8;
    if (c.out == Type::s32) {
      for (float* factor : {&c.alpha, &c.beta})
        *factor = std::copysign(std::ceil(std::fabs(*factor)), *factor);
    }
    return c;
  }

  // With so few, small products give each CTA several tiles: all of the emulator's, or enough for four
  // clusters.
  static int few_multiprocessors() { return emulated() ? emulated_multiprocessors : 4 * kernel().cluster; }

  // multiprocessors: that the call may use; 0: all. Kernels with a CTA for each tile take no limit.
  static void check(const Case& given, int multiprocessors = 0) {
    const Case c = fitted(given);
    SCOPED_TRACE(::testing::PrintToString(c));
    if (!writes(c.out)) return;
    Product product(kernel(), c);
    if (!emulated() && kernel().instruction == Instruction::wgmma)
      product.problem.multiprocessors = multiprocessors;
    // With a workspace a Copy::any kernel would run from aligned copies.
    if (kernel().copy != Copy::any) product.allocate_workspace();
    product.run();
    if (!HasFailure()) product.expect_right();
  }
  static void check_with_few_multiprocessors(const Case& c) { check(c, few_multiprocessors()); }
  static void check_both_numbers(Case c) {
    for (const Numbers numbers : both_numbers) {
      c.numbers = numbers;
      check(with_output(c));
    }
  }
};

}  // namespace tenon::test
