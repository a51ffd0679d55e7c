// Runs the README's embedding example (EMBEDDED: embed_sm80.cu or embed_sm90.cu), at sizes that fill no tile
// and at k = 0: on a GPU by its own call, in the emulator by the launch that the call plans.
#include EMBEDDED

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/device.hpp"

namespace tenon {
namespace {

// The PTX that the emulator executes, without its suffix: nvcc's of the example, or what test_nvrtc.py has
// NVRTC make of the same kernel.
const char* ptx_file() {
  const char* const other = std::getenv("TENON_EMBEDDED_PTX");
  return other != nullptr ? other : EMBEDDED_PTX;
}

// The name of the one kernel of the PTX that is of the GEMM, or that is not (`no_k`).
std::string entry(bool no_k) {
  std::ifstream file(std::string(ptx_file()) + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str(), begins = ".entry ";
  for (std::size_t at = all.find(begins); at != std::string::npos; at = all.find(begins, at)) {
    at += begins.size();
    const std::string name = all.substr(at, all.find('(', at) - at);
    if ((name.find("gemm_of_no_k") != std::string::npos) == no_k) return name;
  }
  return "";
}

class Embedded : public test::DeviceTest {
 protected:
  void expect_right(int m, int n, int k) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k);
    const auto integer = [](int i) { return static_cast<float>((i * 7 + i / 11) % 5 - 2); };
    const auto halves = [&](int count) {
      std::vector<__half> values;
      for (int i = 0; i < count; ++i) values.push_back(__float2half(integer(i)));
      return values;
    };
    const std::vector<__half> x = halves(m * k), w = halves(n * k);
    std::vector<float> bias;
    for (int i = 0; i < n; ++i) bias.push_back(integer(3 * i));
    const test::Buffer<__half> device_x(x), device_w(w),
        y(std::vector<__half>(static_cast<std::size_t>(m * n), __float2half(NAN)));
    const test::Buffer<float> device_bias(bias);
    Status status;
    if (test::emulated()) {
      GemmProblem<__half, __half> problem;
      problem.m = m, problem.n = n, problem.k = k;
      problem.a = {device_x.get(), k};
      problem.b = {device_w.get(), k};
      problem.c = {y.get(), n};
      Launch plan;
      bool launches = false;
      status = plan_launch<Kernel>(problem, {device_bias.get()}, test::launcher(), &plan, &launches);
      const std::string name = entry(k == 0);
      plan.ptx = ptx_file();
      plan.entry = name.c_str();
      if (status) status = test::launcher().launch(plan);
    } else {
      status = linear_relu(m, n, k, device_x.get(), device_w.get(), device_bias.get(), y.get(), nullptr);
    }
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<__half> got = y.read();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = bias[static_cast<std::size_t>(j)];
        for (int p = 0; p < k; ++p) sum += integer(i * k + p) * integer(j * k + p);
        ASSERT_EQ(__half2float(got[static_cast<std::size_t>(i * n + j)]), std::fmax(sum, 0.0F))
            << i << ", " << j;
      }
    }
  }
};

TEST_F(Embedded, ComputesTheActivatedProduct) {
  expect_right(150, 264, 72);
  expect_right(1, 8, 8);
  expect_right(130, 520, 200);
}
TEST_F(Embedded, WithoutKIsTheActivatedBias) {
  expect_right(5, 300, 0);
}

}  // namespace
}  // namespace tenon
