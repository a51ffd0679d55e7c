// From its second call on, gemm() allocates no host memory: callers may forbid allocations, or find them
// slow.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "host/gemm_on.hpp"
#include "host/kernel_list.hpp"
#include "tenon/tuning.hpp"

namespace {
thread_local long allocations = 0;
}

// These replace the operators of the whole test program. Other tests ignore the count.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tenon {
namespace {

using test::problem;

// An H200 that launches nothing.
class NoLauncher final : public Launcher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    *device = test::h200;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
  Status launch(const Launch&) noexcept override { return {}; }
};

// Counts the allocations of a second series of calls.
long allocations_of(Gemm p) {
  NoLauncher launcher;
  p.workspace_bytes = workspace_size(launcher, p);
  if (p.workspace_bytes != 0) p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  long before = 0;
  for (int round = 0; round < 2; ++round) {
    before = allocations;
    const Status s = gemm(launcher, p);
    EXPECT_TRUE(s) << s.message();
    EXPECT_TRUE(can_implement(launcher, p));
    EXPECT_NE(kernel_name(launcher, p), nullptr);
    workspace_size(launcher, p);
  }
  return allocations - before;
}

TEST(Allocation, IsCountedHere) {
  const long before = allocations;
  delete new int(0);
  EXPECT_EQ(allocations - before, 1);
}

TEST(Allocation, LaterCallsDoNot) {
  EXPECT_EQ(allocations_of(problem(512, 512, 512)), 0) << "aligned";
  EXPECT_EQ(allocations_of(problem(4095, 4095, 4095)), 0) << "not aligned";
  EXPECT_EQ(allocations_of(problem(511, 509, 507, Type::e4m3)), 0) << "with copies";
  Gemm p = problem(512, 512, 512);
  p.kernel = "wgmma_f16_f32_tn_128x256x64_s4_c2x1";
  EXPECT_EQ(allocations_of(p), 0) << "named";

  Tuning tuning;
  const char* const table =
      R"({"tenon_tuning": 1, "device": "NVIDIA H200", "sm": 90, "multiprocessors": 132, "entries": [
{"a": "f16", "b": "f16", "accumulate": "f32", "c": "f32", "promote": false, "layout": "tn", "m": 512, "n": 512,
"k": 512, "kernel": "wgmma_f16_f32_tn_128x256x64_s4_c2x1", "microseconds": 1, "documented": "x",
"documented_microseconds": 2}]})";
  const Status s = tuning.load_text(table, std::strlen(table));
  ASSERT_TRUE(s) << s.message();
  p.kernel = nullptr;
  p.tuning = &tuning;
  NoLauncher launcher;
  EXPECT_STREQ(kernel_name(launcher, p), "wgmma_f16_f32_tn_128x256x64_s4_c2x1");
  EXPECT_EQ(allocations_of(p), 0) << "by a table";
}

}  // namespace
}  // namespace tenon
