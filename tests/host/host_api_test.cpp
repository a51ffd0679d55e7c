// gemm.hpp on a machine without a GPU: bad input is found first, then the missing device, and empty products
// work.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "host/device.hpp"
#include "host/kernel_list.hpp"
#include "tenon/gemm.hpp"

namespace tenon {
namespace {

bool has_device() {
  DeviceDescription device;
  return static_cast<bool>(describe_current_device(&device));
}

TEST(HostApi, BadInputIsFoundBeforeTheDevice) {
  Gemm p = test::problem(64, 64, 64);
  p.a.ld = 63;
  for (const Status& s : {can_implement(p), gemm(p)}) {
    EXPECT_EQ(s.code(), StatusCode::invalid_argument);
    EXPECT_STREQ(s.message(), "lda is 63 but row-major A with k = 64 needs lda >= 64");
  }
  EXPECT_EQ(workspace_size(p), 0U);
  EXPECT_EQ(kernel_name(p), nullptr);
}

TEST(HostApi, AnUnknownKernelIsBadInput) {
  Gemm p = test::problem(64, 64, 64);
  p.kernel = "nobody";
  EXPECT_EQ(gemm(p).code(), StatusCode::invalid_argument);
  p.m = 0;
  EXPECT_EQ(gemm(p).code(), StatusCode::invalid_argument) << "also where there is nothing to compute";
}

TEST(HostApi, EmptyProductsNeedNothing) {
  Gemm p;
  EXPECT_TRUE(gemm(p));
  p.n = 100;
  p.k = 100;
  p.b = {reinterpret_cast<const void*>(std::uintptr_t{256}), 100, column_major, Type::f16};
  p.a.ld = 100;
  p.c.ld = 100;
  EXPECT_TRUE(gemm(p)) << gemm(p).message();
  EXPECT_TRUE(can_implement(p));
  EXPECT_EQ(kernel_name(p), nullptr);
  // beta == 1 and nothing to add: C stays as it is.
  p = test::problem(64, 64, 0);
  p.beta = 1.0F;
  EXPECT_TRUE(gemm(p)) << gemm(p).message();
}

TEST(HostApi, WithoutADeviceItSaysSo) {
  if (has_device()) GTEST_SKIP() << "this machine has a GPU";
  const Gemm p = test::problem(64, 64, 64);
  for (const Status& s : {can_implement(p), gemm(p), gemm(test::problem(64, 64, 0))}) {
    EXPECT_EQ(s.code(), StatusCode::device_unsupported);
    EXPECT_EQ(std::string(s.message()).substr(0, 16), "no CUDA device: ");
  }
  EXPECT_EQ(workspace_size(p), 0U);
  EXPECT_EQ(kernel_name(p), nullptr);
}

TEST(HostApi, CodeRunsOnItsMajorArchitectureAndLater) {
  const char* const built = "80 86 90";
  for (const int sm : {80, 86, 87, 89, 90}) EXPECT_TRUE(runs_code_for(built, sm)) << sm;
  for (const int sm : {0, 70, 75, 100, 103, 110, 120, 800}) EXPECT_FALSE(runs_code_for(built, sm)) << sm;
  EXPECT_FALSE(runs_code_for("86", 80)) << "an earlier one";
  EXPECT_TRUE(runs_code_for("86", 89));
  EXPECT_TRUE(runs_code_for("90 120", 120)) << "three digits, and the last of the list";
  EXPECT_FALSE(runs_code_for("90 120", 100));
  EXPECT_FALSE(runs_code_for("", 80));
}

TEST(HostApi, ThisBuildHasCodeForWhatItWasBuiltFor) {
  std::istringstream built(built_architectures());
  int sm = 0, architectures = 0;
  for (; built >> sm; ++architectures) EXPECT_TRUE(has_code_for(sm)) << sm;
  EXPECT_GT(architectures, 0);
  EXPECT_TRUE(built.eof());
  EXPECT_FALSE(has_code_for(70));
}

}  // namespace
}  // namespace tenon
