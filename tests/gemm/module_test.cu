// The hand-written PTX module on a GPU and in the emulator, against a product in double: shapes around every
// boundary of the tile, every alignment that it takes, and paddings that are poisoned with NaN and must not
// change.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <thread>
#include <vector>

#include "gemm/module/module.hpp"
#include "host/cuda_launcher.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using Buffer = test::Buffer<__half>;

struct Case {
  int m, n, k;
  int pad_a = 0, pad_b = 0;  // elements beyond k rounded up to 8; multiples of 8
  int pad_c = 0;             // elements beyond n
  int shift_c = 0;           // elements by which C is off a 256-byte boundary
  float alpha = 1.0F, beta = 0.0F;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << " x " << c.n << " x " << c.k << ", pads " << c.pad_a << ' ' << c.pad_b << ' '
             << c.pad_c << ", shift " << c.shift_c << ", alpha " << c.alpha << ", beta " << c.beta;
}

__half from_bits(std::uint16_t bits) {
  return __half(__half_raw{bits});
}
std::uint16_t bits_of(__half value) {
  return static_cast<__half_raw>(value).x;
}
constexpr std::uint16_t poison = 0x7e5a;  // a NaN that no instruction produces

// rows x columns random values with leading dimension ld; the padding, and a tile beyond the end, are
// poisoned.
std::vector<__half> operand(int rows, int columns, int ld, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<__half> values(static_cast<std::size_t>(rows) * ld + 1024, from_bits(poison));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      values[static_cast<std::size_t>(r) * ld + c] = __float2half(normal(random));
  }
  return values;
}

Status launch(const Gemm& problem, Launcher& launcher) {
  const Kernel kernel = module_kernel();
  Launch launch;
  const Status status = kernel.configure(problem, {}, launcher, &launch);
  return status ? launcher.launch(launch) : status;
}

void check(const Case& test, Launcher& launcher = test::launcher()) {
  SCOPED_TRACE(::testing::PrintToString(test));
  const auto& [m, n, k, pad_a, pad_b, pad_c, shift_c, alpha, beta] = test;
  std::mt19937 random(static_cast<unsigned>(m * 31 + n * 17 + k));
  const int round_k = std::max(8, (k + 7) / 8 * 8);
  const int lda = round_k + pad_a, ldb = round_k + pad_b, ldc = n + pad_c;
  const std::vector<__half> a = operand(m, k, lda, random), b = operand(n, k, ldb, random);
  std::vector<__half> c = operand(m, n, ldc, random);
  if (beta == 0.0F) std::fill(c.begin(), c.end(), from_bits(poison));
  c.insert(c.begin(), static_cast<std::size_t>(shift_c), from_bits(poison));

  const Buffer device_a(a), device_b(b), device_c(c);
  Gemm problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = ConstMatrix(device_a.get(), lda, row_major);
  problem.b = ConstMatrix(device_b.get(), ldb, column_major);
  problem.c = Matrix(device_c.get() + shift_c, ldc);
  problem.alpha = alpha;
  problem.beta = beta;
  Status status = launch(problem, launcher);
  if (status) status = test::device()->synchronize();
  ASSERT_TRUE(status) << status.message();

  const std::vector<__half> result = device_c.read();
  int wrong = 0;
  std::size_t next = 0;  // elements before it have been checked
  const auto expect_untouched_until = [&](std::size_t end) {
    for (; next < end; ++next) wrong += bits_of(result[next]) != bits_of(c[next]) ? 1 : 0;
  };
  for (int i = 0; i < m && wrong == 0; ++i) {
    expect_untouched_until(shift_c + static_cast<std::size_t>(i) * ldc);
    for (int j = 0; j < n; ++j, ++next) {
      double sum = 0, size = 0;
      for (int p = 0; p < k; ++p) {
        const double product = static_cast<double>(__half2float(a[static_cast<std::size_t>(i) * lda + p])) *
                               __half2float(b[static_cast<std::size_t>(j) * ldb + p]);
        sum += product;
        size += std::abs(product);
      }
      const double scale = k == 0 ? 0.0 : static_cast<double>(alpha);
      const double old = beta == 0.0F ? 0.0 : static_cast<double>(beta) * __half2float(c[next]);
      const double exact = scale * sum + old;
      // Half an ulp of f16 for the last rounding, and the f32 product with beta. Before it, the instructions:
      // a step truncates L products and the accumulator to 2^-F of the largest, which is at most the sum of
      // magnitudes, and its result to 2^-23. Hopper takes 16 products in one step, L = 16, F = 25: 5.25 *
      // 2^-23; Ampere and Ada in two, L = 8, F = 24: 11 * 2^-23. The twelfth is for what the errors add to
      // the accumulator.
      const double bound = std::ldexp(std::abs(exact), -11) + std::ldexp(1.0, -25) +
                           std::ldexp(std::abs(old), -23) +
                           std::ldexp(std::abs(scale) * size * 12.0 * ((k + 15) / 16), -23);
      const double got = __half2float(result[next]);
      if (!(std::abs(got - exact) <= bound)) {
        ++wrong;
        ADD_FAILURE() << "C(" << i << ", " << j << ") is " << got << " but should be " << exact << " +- "
                      << bound;
        break;
      }
    }
  }
  expect_untouched_until(wrong == 0 ? result.size() : next);
  EXPECT_EQ(wrong, 0) << "elements around C were written, or C is wrong";
}

using ModuleKernel = test::DeviceTest;
using ModuleKernelGpu = test::CudaTest;  // streams, contexts, and what the driver made of the text

// The cases of a list: all of them on a GPU, only the first few in the emulator.
std::vector<int> some_of(std::vector<int> all, std::size_t emulated) {
  if (test::emulated()) all.resize(emulated);
  return all;
}

TEST_F(ModuleKernel, EveryTailOfK) {
  for (const int k : some_of({8, 40, 64, 136, 16, 24, 32, 56, 72, 88, 96, 104, 128, 160, 256, 264}, 4)) {
    check({128, 128, k});
    check({67, 61, k});
  }
}

TEST_F(ModuleKernel, EveryTailOfMAndN) {
  for (const int m : some_of({1, 97, 129, 2, 31, 33, 64, 127, 128, 257}, 3)) {
    for (const int n : some_of({3, 128, 131, 1, 8, 32, 65, 127, 256}, 3)) check({m, n, 40});
  }
}

TEST_F(ModuleKernel, AlphaAndBeta) {
  for (const float alpha : {0.0F, 1.0F, -0.5F, 2.25F}) {
    for (const float beta : {0.0F, 1.0F, -0.75F}) {
      for (const int n : some_of({101, 96}, 1)) check({131, n, 72, 0, 0, 0, 0, alpha, beta});
    }
  }
}

TEST_F(ModuleKernel, PaddedOperands) {
  check({130, 137, 104, 8, 16});
  check({130, 137, 40, 64, 0});
  check({16, 16, 8, 0, 256});
}

TEST_F(ModuleKernel, EveryAlignmentOfC) {
  for (const int shift : some_of({1, 2, 4, 0}, 2)) {
    for (const int pad : some_of({1, 4, 0, 2}, 2)) {
      check({133, 140, 48, 0, 0, pad, shift, 1.5F, 0.5F});
      check({70, 129, 48, 0, 0, pad, shift});
    }
  }
}

TEST_F(ModuleKernel, NoProductLeavesBetaC) {
  check({130, 70, 0, 0, 0, 3, 0, 1.0F, 2.0F});
  check({130, 70, 0});
  check({9, 9, 0, 0, 0, 0, 0, INFINITY, 0.5F});
}

// -C, through a problem whose product vanishes because alpha is zero: A and B are null and must not be read.
Gemm negate(const Buffer& c) {
  Gemm problem;
  problem.m = problem.n = problem.k = 64;
  problem.a = ConstMatrix(static_cast<const __half*>(nullptr), 64, row_major);
  problem.b = ConstMatrix(static_cast<const __half*>(nullptr), 64, column_major);
  problem.c = Matrix(c.get(), 64);
  problem.alpha = 0.0F;
  problem.beta = -1.0F;
  return problem;
}

TEST_F(ModuleKernel, AlphaZeroReadsNeitherANorB) {
  const Buffer c(std::vector<__half>(64 * 64, __float2half(3.0F)));
  const Status status = launch(negate(c), test::launcher());
  ASSERT_TRUE(status) << status.message();
  for (const __half value : c.read()) ASSERT_EQ(__half2float(value), -3.0F);
}

TEST_F(ModuleKernelGpu, LaunchesFromAThreadThatHasNoContextYet) {
  const Buffer c(std::vector<__half>(64 * 64, __float2half(5.0F)));
  Status status;
  std::thread([&] { status = launch(negate(c), test::launcher()); }).join();
  ASSERT_TRUE(status) << status.message();
  for (const __half value : c.read()) ASSERT_EQ(__half2float(value), -5.0F);
}

TEST_F(ModuleKernel, MoreThanOneGroupOfTileRows) {
  check({17 * 128 + 5, test::emulated() ? 130 : 300, 8});  // groups are of 16 rows of tiles
  if (test::emulated()) return;
  check({3, 20 * 128 + 1, 24});
}

TEST_F(ModuleKernel, LongK) {
  check({64, 72, test::emulated() ? 504 : 8184});
}

TEST_F(ModuleKernelGpu, RunsOnTheStreamGiven) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  CudaLauncher launcher(stream);
  check({200, 200, 200}, launcher);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(ModuleKernelGpu, TakesNoLocalMemory) {
  int registers = 0, local_bytes = -1;
  const Status status = module_resources(registers, local_bytes);
  ASSERT_TRUE(status) << status.message();
  EXPECT_GT(registers, 128);  // the accumulators alone
  EXPECT_LE(registers, 255);
  EXPECT_EQ(local_bytes, 0);
}

}  // namespace
}  // namespace tenon
