// Launches of kernels that a test's own source has (tenon/gemm/launch.hpp), on the test's device: by launch()
// on a GPU, and in the emulator from the PTX that the build keeps as TENON_LAUNCH_TEST_PTX.ptx.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/device.hpp"
#include "tenon/gemm/launch.hpp"

namespace tenon::test {

// Finds the PTX entry of a kernel by its operation: its name contains `mangled_operation`. no_k: of the
// kernels for k = 0.
inline std::string entry_with(const std::string& mangled_operation, bool no_k = false) {
  static const std::string text = [] {
    std::ifstream file(std::string(TENON_LAUNCH_TEST_PTX) + ".ptx");
    std::ostringstream read;
    read << file.rdbuf();
    return read.str();
  }();
  const std::string begins = ".entry ";
  std::string found;
  for (std::size_t at = text.find(begins); at != std::string::npos; at = text.find(begins, at)) {
    at += begins.size();
    const std::string name = text.substr(at, text.find('(', at) - at);
    if (name.find(mangled_operation) == std::string::npos ||
        (name.find("gemm_of_no_k") != std::string::npos) != no_k)
      continue;
    EXPECT_TRUE(found.empty()) << found << " and " << name;
    found = name;
  }
  return found;
}

// Plans and launches on the test's device.
template <class Kernel, class Problem>
Status launch_here(const Problem& problem, const typename Kernel::Op& op, const std::string& operation) {
  if (!emulated()) return tenon::launch<Kernel>(problem, op);
  Launch plan;
  bool launches = false;
  if (Status s = plan_launch<Kernel>(problem, op, launcher(), &plan, &launches); !s || !launches) return s;
  const std::string entry = entry_with(operation, problem.k == 0);
  plan.ptx = TENON_LAUNCH_TEST_PTX;
  plan.entry = entry.c_str();
  return launcher().launch(plan);
}

// A device that launches nothing.
struct NoDevice final : Launcher {
  int sm = 90;
  Status describe(DeviceDescription* device) noexcept override {
    *device = {sm, 132, std::size_t{227} << 10, std::size_t{50} << 20};
    return {};
  }
  Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
  Status launch(const Launch&) noexcept override { return {}; }
};

}  // namespace tenon::test
