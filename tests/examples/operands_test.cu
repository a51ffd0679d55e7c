// Runs the example of an operation with operands, at sizes that fill no tile and at k = 0: on a GPU by its
// own call, in the emulator by the launch that the call plans.
#include "examples/operands_sm90.cu"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gemm/launch_here.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

class OperandsExample : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }

  static float integer(int i) { return static_cast<float>((i * 7 + i / 11) % 5 - 2); }
  template <class T>
  static std::vector<T> integers(int count) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) values.push_back(T(integer(i)));
    return values;
  }

  static void expect_right(int m, int n, int k) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k);
    const test::Buffer<__half> x(integers<__half>(m * k)), w(integers<__half>(n * k)),
        residual(integers<__half>(m * n)),
        y(std::vector<__half>(static_cast<std::size_t>(m * n), __float2half(NAN)));
    const test::Buffer<float> bias(integers<float>(n)), gain(std::vector<float>{0.5F});
    Status status;
    if (test::emulated()) {
      GemmProblem<__half, __half> problem;
      problem.m = m, problem.n = n, problem.k = k;
      problem.a = {x.get(), k}, problem.b = {w.get(), k}, problem.c = {y.get(), n};
      status = test::launch_here<Kernel>(problem, {{}, gain.get(), bias.get(), {residual.get(), n}}, "");
    } else {
      status = linear_residual(m, n, k, x.get(), w.get(), gain.get(), bias.get(), residual.get(), y.get(),
                               nullptr);
    }
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<__half> got = y.read();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0.0F;
        for (int p = 0; p < k; ++p) sum += integer(i * k + p) * integer(j * k + p);
        ASSERT_EQ(__half2float(got[static_cast<std::size_t>(i * n + j)]),
                  0.5F * sum + integer(j) + integer(i * n + j))
            << i << ", " << j;
      }
    }
  }
};

TEST_F(OperandsExample, AddsTheResidual) {
  expect_right(150, 264, 72);  // loaded by TMA
  expect_right(131, 135, 64);  // in rows
  expect_right(5, 300, 0);
}

}  // namespace
}  // namespace tenon
