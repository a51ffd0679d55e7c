// What gemm() promises beside correct products: streams, workspace, k == 0, alpha == 0, beta, refusals.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "gemm/pad.hpp"
#include "gemm/select.hpp"
#include "host/cuda_launcher.hpp"
#include "host/error_bound.hpp"
#include "host/gemm_on.hpp"
#include "host/refusing_launcher.hpp"
#include "host/tuning_table.hpp"
#include "host/tuning_text.hpp"
#include "support/device.hpp"
#include "tenon/tenon.h"
#include "tenon/tuning.hpp"

namespace tenon {
namespace {

using test::Buffer;
using test::launcher;
using GemmOnDevice = test::DeviceTest;

// Streams, captures and the functions of tenon/gemm.hpp, which have no launcher argument.
using GemmGpu = test::CudaTest;

const float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<__half> random_halves(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<__half> values(static_cast<std::size_t>(count));
  for (__half& v : values) v = __float2half(normal(engine));
  return values;
}

// A dense "tn" product of random f16 matrices on the device, C in f32 and poisoned with NaN.
class Product {
 public:
  Product(std::int64_t m, std::int64_t n, std::int64_t k)
      : a_(random_halves(m * k, 1)),
        b_(random_halves(n * k, 2)),
        c_(static_cast<std::size_t>(m * n), nan),
        a_device_(a_),
        b_device_(b_),
        c_device_(c_) {
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.a = {a_device_.get(), k, row_major};
    problem.b = {b_device_.get(), k, column_major};
    problem.c = {c_device_.get(), n};
  }

  std::vector<float> c() const { return c_device_.read(); }
  void set_c(const std::vector<float>& values) {
    c_ = values;
    c_device_.write(values);
  }
  void set_a(const std::vector<__half>& values) {
    a_ = values;
    a_device_.write(values);
  }

  // An element of the product, and how far from it what is computed may be.
  struct Expected {
    double exact, bound;
  };
  // Of every row_step-th row.
  std::vector<Expected> expected(std::int64_t row_step = 1) const {
    const std::int64_t m = problem.m, n = problem.n, k = problem.k;
    const double alpha = static_cast<double>(problem.alpha), beta = static_cast<double>(problem.beta);
    std::vector<Expected> result;
    for (std::int64_t row = 0; row < m; row += row_step) {
      for (std::int64_t column = 0; column < n; ++column) {
        DotProduct dot;
        for (std::int64_t i = 0; i < k; ++i) {
          dot.add(static_cast<double>(__half2float(a_[static_cast<std::size_t>(row * k + i)])) *
                  static_cast<double>(__half2float(b_[static_cast<std::size_t>(column * k + i)])));
        }
        const double old =
            beta == 0.0 ? 0.0 : static_cast<double>(c_[static_cast<std::size_t>(row * n + column)]);
        result.push_back(
            {alpha * dot.sum + beta * old, error_bound(dot, k, Type::f32, Type::f32, alpha, beta, old)});
      }
    }
    return result;
  }

  void expect_right(std::int64_t row_step = 1) const { expect(expected(row_step), row_step); }
  void expect(const std::vector<Expected>& all, std::int64_t row_step = 1) const {
    const std::vector<float> computed = c();
    const std::int64_t n = problem.n;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) / n * row_step;
      const std::int64_t column = static_cast<std::int64_t>(i) % n;
      const float element = computed[static_cast<std::size_t>(row * n + column)];
      const auto& [exact, bound] = all[i];
      ASSERT_LE(error_of(static_cast<double>(element), exact, bound, Type::f32), bound)
          << "C[" << row << "][" << column << "] is " << element << ", exact " << exact;
    }
  }

  Gemm problem;

 private:
  std::vector<__half> a_, b_;
  std::vector<float> c_;
  Buffer<__half> a_device_, b_device_;
  Buffer<float> c_device_;
};

TEST_F(GemmGpu, RunsOnTheStreamGiven) {
  Product product(70, 50, 90);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const Status s = gemm(product.problem, stream);
  ASSERT_TRUE(s) << s.message();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  product.expect_right();
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// A capture refuses allocation and synchronisation, and nothing runs before the graph is launched.
// (first_use_test.cpp captures kernels before they are loaded.)
TEST_F(GemmGpu, CanBeCaptured) {
  Product product(1025, 1025, 1025);  // with the padding copies
  const std::size_t bytes = workspace_size(product.problem);
  ASSERT_GT(bytes, 0U);
  const Buffer<unsigned char> workspace(std::vector<unsigned char>(bytes, 0));
  product.problem.workspace = workspace.get();
  product.problem.workspace_bytes = bytes;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  const Status s = gemm(product.problem, stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(s) << s.message();
  EXPECT_TRUE(std::isnan(product.c()[0]));
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  product.expect_right(41);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

// A tuning table of this device, whose only entry names another kernel than the library chooses, and that
// kernel.
std::string table_with_another_choice(const Gemm& problem, const Kernel** other) {
  const std::string documented = kernel_name(launcher(), problem);
  DeviceDescription description;
  EXPECT_TRUE(launcher().describe(&description));
  TuningTable table;
  table.sm = description.sm;
  table.multiprocessors = description.multiprocessors;
  table.entries.emplace_back();
  TuningEntry& entry = table.entries.front();
  entry.key = tuning_key(problem);
  entry.documented = documented;
  for (const Kernel& kernel : kernels()) {
    if (kernel.name == documented || kernel.copy == Copy::module || !accepts(kernel, problem, description))
      continue;
    *other = &kernel;
    entry.kernel = kernel.name;
    break;
  }
  return write_tuning(table);
}

TEST_F(GemmOnDevice, ATuningTableChoosesTheKernel) {
  Product product(96, 80, 64);
  const std::string documented = kernel_name(launcher(), product.problem);
  const Kernel* other = nullptr;
  const std::string text = table_with_another_choice(product.problem, &other);
  ASSERT_NE(other, nullptr);
  Tuning tuning;
  const Status loaded = tuning.load_text(text.data(), text.size());
  ASSERT_TRUE(loaded) << loaded.message();
  product.problem.tuning = &tuning;
  EXPECT_STREQ(kernel_name(launcher(), product.problem), other->name.c_str());
  ASSERT_TRUE(gemm(launcher(), product.problem));
  product.expect_right();
  product.problem.kernel = documented.c_str();
  EXPECT_STREQ(kernel_name(launcher(), product.problem), documented.c_str());
}

TEST_F(GemmGpu, ATuningTableInC) {
  Product product(96, 80, 64);
  const Gemm& p = product.problem;
  const Kernel* other = nullptr;
  const std::string text = table_with_another_choice(p, &other);
  ASSERT_NE(other, nullptr);
  const std::string path = testing::TempDir() + "tenon_c_tuning_test.tune";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  tenon_tuning* tuning = nullptr;
  const tenon_status loaded = tenon_tuning_load(path.c_str(), &tuning);
  std::remove(path.c_str());
  ASSERT_EQ(loaded.code, TENON_OK) << loaded.message;
  tenon_gemm_problem c_problem = tenon_gemm_problem_default();
  c_problem.m = p.m, c_problem.n = p.n, c_problem.k = p.k;
  c_problem.a = {p.a.data, p.a.ld, TENON_ROW_MAJOR, TENON_F16, {}};
  c_problem.b = {p.b.data, p.b.ld, TENON_COLUMN_MAJOR, TENON_F16, {}};
  c_problem.c = {p.c.data, p.c.ld, TENON_F32, {}};
  EXPECT_STREQ(tenon_gemm_kernel_name(&c_problem), kernel_name(p));
  c_problem.tuning = tuning;
  EXPECT_STREQ(tenon_gemm_kernel_name(&c_problem), other->name.c_str());
  EXPECT_EQ(tenon_gemm(&c_problem, nullptr).code, TENON_OK);
  product.expect_right();
  tenon_tuning_free(tuning);
}

TEST_F(GemmOnDevice, OddSizesWithAndWithoutWorkspace) {
  const std::int64_t m = test::emulated() ? 65 : 1025, n = m + 2, k = m + 4;
  Product product(m, n, k);
  const std::size_t needed = workspace_size(launcher(), product.problem);
  ASSERT_GT(needed, 0U);
  constexpr std::size_t guard = 4096;
  const Buffer<unsigned char> workspace(std::vector<unsigned char>(needed + guard, 0xA5));
  const std::vector<float> poison(static_cast<std::size_t>(m * n), nan);
  for (const std::size_t given : {std::size_t{0}, needed - 1, needed}) {
    product.set_c(poison);
    product.problem.workspace = given == 0 ? nullptr : workspace.get();
    product.problem.workspace_bytes = given;
    const Status s = gemm(launcher(), product.problem);
    ASSERT_TRUE(s) << s.message();
    product.expect_right(test::emulated() ? 1 : 73);
    const std::vector<unsigned char> bytes = workspace.read();
    // With one byte less, another way to copy may fit.
    for (std::size_t i = given; i < bytes.size(); ++i)
      ASSERT_EQ(bytes[i], 0xA5) << "byte " << i << " of the workspace";
  }
}

// For few rows of A and many columns of B, all unaligned, the kernel computes C^T and a copy transposes it.
TEST_F(GemmOnDevice, ManyUnalignedColumnsComeFromTheTranspose) {
  DeviceDescription device;
  ASSERT_TRUE(launcher().describe(&device));
  if (device.sm != 90) GTEST_SKIP() << "needs the sm_90a kernels";
  for (const std::int64_t m : {std::int64_t{9}, std::int64_t{64}}) {
    if (test::emulated() && m != 9) continue;
    const std::int64_t n = test::emulated() ? 4001 : 32001, k = test::emulated() ? 331 : 1027;
    std::mt19937 random(7);
    std::uniform_int_distribution<int> small(-3, 3);
    std::vector<__half> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k));
    for (__half& x : a) x = __float2half(static_cast<float>(small(random)));
    for (__half& x : b) x = __float2half(static_cast<float>(small(random)) / 4);
    const Buffer<__half> on_a(a), on_b(b);
    Buffer<__half> on_c(std::vector<__half>(static_cast<std::size_t>(m * n), __float2half(77.0F)));
    Gemm p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = {on_a.get(), k, row_major};
    p.b = {on_b.get(), k, column_major};
    p.c = {on_c.get(), n};
    p.kernel = "wgmma_f16_f32_tt_128x128x64_s5_c1x2_rowinterleaved";  // the library chooses this way for some
                                                                      // sizes only
    const std::size_t needed = workspace_size(launcher(), p);
    const auto whole = [](std::size_t size) { return (size + 255) / 256 * 256; };
    EXPECT_EQ(needed, whole(padded_bytes(k, m, 2)) + whole(padded_bytes(n, m, 2))) << "a copy of A, and of C";
    const Buffer<unsigned char> memory(std::vector<unsigned char>(needed, 0xA5));
    p.workspace = memory.get();
    p.workspace_bytes = needed;
    const Status s = gemm(launcher(), p);
    ASSERT_TRUE(s) << s.message();
    const std::vector<__half> c = on_c.read();
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; column += test::emulated() ? 3 : 37) {
        float sum = 0;  // exact
        for (std::int64_t i = 0; i < k; ++i)
          sum += __half2float(a[static_cast<std::size_t>(row * k + i)]) *
                 __half2float(b[static_cast<std::size_t>(column * k + i)]);
        ASSERT_EQ(__half2float(c[static_cast<std::size_t>(row * n + column)]),
                  __half2float(__float2half(sum)))
            << "row " << row << ", column " << column;
      }
    }
  }
}

TEST_F(GemmOnDevice, WithoutProductsCIsScaled) {
  for (const bool no_k : {true, false}) {
    Product product(33, 65, 64);
    std::vector<float> c(33 * 65);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i);
    product.set_c(c);
    if (no_k) {
      product.problem.k = 0;
      product.problem.a.data = product.problem.b.data = nullptr;
    } else {
      product.problem.alpha = 0.0F;
      // With alpha == 0, A is not read: its NaN must not reach C.
      const std::vector<__half> nans(33 * 64, __float2half(nan));
      product.set_a(nans);
    }
    product.problem.beta = 0.5F;
    ASSERT_TRUE(gemm(launcher(), product.problem));
    std::vector<float> now = product.c();
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(now[i], 0.5F * c[i]) << "at " << i;
    product.problem.a.data = product.problem.b.data = nullptr;  // they may be null
    product.problem.beta = 0.0F;
    ASSERT_TRUE(gemm(launcher(), product.problem));
    now = product.c();
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(now[i], 0.0F) << "at " << i;
  }
}

TEST_F(GemmOnDevice, BetaZeroDoesNotReadC) {
  Product product(128, 96, 64);  // C starts as NaN
  product.problem.alpha = -2.0F;
  ASSERT_TRUE(gemm(launcher(), product.problem));
  product.expect_right();
}

TEST_F(GemmOnDevice, BetaAddsTheOldC) {
  Product product(130, 98, 66);
  std::vector<float> c(130 * 98);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 13) - 6.0F;
  product.set_c(c);
  product.problem.alpha = 0.5F;
  product.problem.beta = -1.5F;
  ASSERT_TRUE(gemm(launcher(), product.problem));
  product.expect_right();
}

// A launch may overlap the end of the launch before it. It must see what that one stores, and must not
// overwrite what that one still reads. Each product moves the columns of a matrix by one, exactly. Unaligned
// sizes run by the library's choice and from copies, which share one workspace.
TEST_F(GemmOnDevice, AChainOfProductsSeesEveryResult) {
  const std::int64_t large = test::emulated() ? 136 : 2048;
  const char* const copied = "cp_async_f16_f32_tn_64x64x64_s5";
  for (const auto& [size, name] : {std::pair<std::int64_t, const char*>{72, nullptr},
                                   {71, nullptr},
                                   {71, copied},
                                   {large, nullptr},
                                   {large - 1, nullptr},
                                   {large - 1, copied}}) {
    const int launches = test::emulated() ? 3 : 100;
    const auto at = [size = size](std::int64_t row, std::int64_t column) {
      return static_cast<std::size_t>(row * size + column);
    };
    const std::vector<__half> start = random_halves(size * size, 5);
    std::vector<__half> shift(start.size(), __float2half(0.0F));
    for (std::int64_t column = 0; column < size; ++column)
      shift[at(column, (column + 1) % size)] = __float2half(1.0F);
    const Buffer<__half> moved(shift), even(start), odd(start);
    Gemm problem;
    problem.m = problem.n = problem.k = size;
    problem.a = {even.get(), size, row_major};
    problem.b = {moved.get(), size, column_major};
    problem.c = {odd.get(), size};
    problem.c.type = Type::f16;
    problem.kernel = name;
    problem.workspace_bytes = workspace_size(launcher(), problem);
    if (size % 8 == 0) EXPECT_EQ(problem.workspace_bytes, 0U);
    if (name != nullptr) EXPECT_GT(problem.workspace_bytes, 0U);
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(problem.workspace_bytes + 1));
    problem.workspace = workspace.get();
    for (int i = 0; i < launches; ++i) {
      problem.a.data = i % 2 == 0 ? even.get() : odd.get();
      problem.c.data = i % 2 == 0 ? odd.get() : even.get();
      const Status s = gemm(launcher(), problem);
      ASSERT_TRUE(s) << s.message();
    }
    const std::vector<__half> result = launches % 2 == 0 ? even.read() : odd.read();
    int wrong = 0;
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t column = 0; column < size; ++column) {
        wrong +=
            __half2float(result[at(row, column)]) != __half2float(start[at(row, (column + launches) % size)]);
      }
    }
    EXPECT_EQ(wrong, 0) << "elements at size " << size;
  }
}

// The leading dimension of a single row is never used: it affects neither alignment nor tensor maps.
TEST_F(GemmOnDevice, ASingleRowMayHaveAnyLeadingDimension) {
  const std::int64_t far = (std::int64_t{1} << 45) + 1;
  for (const char* const name :
       {static_cast<const char*>(nullptr), "cp_async_f16_f32_tn_64x64x64_s5", "tma_f16_f32_tn_128x256x64_s4",
        "cp_async_f16_f32_tn_128x128x32_s2_unaligned", "wgmma_f16_f32_tn_256x128x64_s4_c1x2_swapab",
        "wgmma_f16_f32_tn_256x128x64_s4_c1x2_unaligned_tailsplit"}) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 72}, {72, 1}, {1, 1}}) {
      Product product(m, n, 96);
      Gemm& problem = product.problem;
      problem.kernel = name;
      if (m == 1) problem.a.ld = problem.c.ld = far;
      if (n == 1) problem.b.ld = far;
      EXPECT_EQ(workspace_size(launcher(), problem), 0U);
      const Status s = gemm(launcher(), problem);
      ASSERT_TRUE(s) << s.message();
      product.expect_right();
    }
  }
}

TEST_F(GemmOnDevice, RefusesOverlapAndWritesNothing) {
  Product product(64, 64, 64);
  const std::vector<float> before = product.c();
  Gemm wrong = product.problem;
  wrong.a.data = static_cast<const char*>(wrong.c.data) + 64;
  const Status s = gemm(launcher(), wrong);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_EQ(std::string(s.message()).substr(0, 22), "C (16384 bytes from 0x");
  EXPECT_NE(std::string(s.message()).find(" overlaps A ("), std::string::npos) << s.message();
  const std::vector<float> after = product.c();
  EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(float)), 0);
  if (!test::emulated()) EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GemmOnDevice, TheKernelNamedIsTheKernelThatRuns) {
  const std::vector<Product::Expected> expected = Product(129, 131, 136).expected();  // all are the same
  std::set<const void*> functions;
  int ran = 0;
  for (const Kernel& kernel : kernels()) {
    // Writes f16 only; takes f32 only: both have tests of their own.
    if (kernel.copy == Copy::module || kernel.rounds_f32) continue;
    if (kernel.type != Type::f16 || kernel.accumulate != Type::f32 || kernel.a_order != row_major ||
        kernel.b_order != column_major) {
      continue;
    }
    Product product(129, 131, 136);
    product.problem.kernel = kernel.name.c_str();
    if (kernel.takes_epilogue != nullptr && !kernel.takes_epilogue(product.problem)) continue;
    const std::size_t bytes = kernel.partial_bytes == 0 ? 0 : workspace_size(launcher(), product.problem);
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(bytes, 0xFF));
    if (bytes != 0) product.problem.workspace = workspace.get(), product.problem.workspace_bytes = bytes;
    if (const Status s = can_implement(launcher(), product.problem); !s) {
      EXPECT_EQ(s.code(), StatusCode::device_unsupported) << kernel.name << ": " << s.message();
      continue;
    }
    EXPECT_EQ(kernel_name(launcher(), product.problem), kernel.name);
    // In the emulator a compiled kernel runs once, not in each of its clusters: gemm_test runs those.
    if (test::emulated() && !functions.insert(kernel.function).second) continue;
    const Status s = gemm(launcher(), product.problem);
    ASSERT_TRUE(s) << kernel.name << ": " << s.message();
    product.expect(expected);
    ++ran;
  }
  EXPECT_GT(ran, 0);
}

TEST_F(GemmOnDevice, KernelNameIsWhatTheLibraryChooses) {
  Product product(256, 256, 256);
  const char* chosen = kernel_name(launcher(), product.problem);
  ASSERT_NE(chosen, nullptr);
  EXPECT_NE(find_kernel(chosen), nullptr);
}

// With beta != 0, a C that is written twice would be wrong.
TEST_F(GemmOnDevice, WhatRunsAfterRefusalsIsRight) {
  for (const std::int64_t k : {88, 83}) {  // without and with copies
    Product product(129, 67, k);
    product.problem.beta = -0.5F;
    product.set_c(std::vector<float>(129 * 67, 3.0F));
    const std::size_t bytes = workspace_size(launcher(), product.problem);
    ASSERT_EQ(bytes != 0, k == 83);
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(bytes, 0xFF));
    product.problem.workspace = workspace.get();
    product.problem.workspace_bytes = bytes;
    test::RefusingLauncher refusing(&launcher());
    refusing.answer = [](const Launch& launch) {
      const Kernel* const kernel = find_kernel(launch.what);
      return kernel == nullptr || kernel->copy != Copy::tma
                 ? Status()
                 : Status(StatusCode::device_unsupported, "no %s here", launch.what);
    };
    const Status s = gemm(refusing, product.problem);
    ASSERT_TRUE(s) << s.message();
    // The next best kernel may read other copies.
    ASSERT_GE(refusing.launched.size(), bytes == 0 ? 1U : 2U);
    EXPECT_EQ(find_kernel(refusing.launched.back())->copy, Copy::cp_async);
    product.expect_right();
  }
}

// Too much shared memory is a refusal, and leaves no CUDA error behind.
TEST_F(GemmGpu, TooMuchSharedMemoryIsRefusedByTheDevice) {
  Product product(70, 50, 96);
  DeviceDescription description;
  CudaLauncher cuda(nullptr);
  ASSERT_TRUE(cuda.describe(&description));
  test::RefusingLauncher asking(&cuda);
  Status refusal;
  asking.answer = [&](const Launch& launch) {
    if (!asking.refused.empty()) return Status();
    Launch larger = launch;
    larger.shared_bytes = 1U << 20;
    return refusal = cuda.launch(larger);
  };
  const Status s = gemm(asking, product.problem);
  ASSERT_TRUE(s) << s.message();
  EXPECT_EQ(refusal.code(), StatusCode::device_unsupported);
  EXPECT_NE(std::string(refusal.message()).find("1048576 bytes of dynamic shared memory"), std::string::npos)
      << refusal.message();
  EXPECT_EQ(asking.launched.size(), 1U);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  product.expect_right();
}

}  // namespace
}  // namespace tenon
