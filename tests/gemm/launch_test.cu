// The public launch with a custom operation on every store path: each element of C gets the operation of its
// own row and column, once; nothing outside C is written; and the operation is never called for an element
// outside C. In the emulator and on a GPU. And the sentences of launch()'s refusals.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "gemm/launch_here.hpp"
#include "support/device.hpp"
#include "tenon/gemm/launch_sm80.hpp"
#include "tenon/gemm/launch_sm90.hpp"

namespace tenon {
namespace {

// max(accumulator + row_value[row] + column_value[column], 0). `Case` distinguishes the kernels of this file.
template <int Case, class Value = float>
struct Relu {
  const Value* row_value;
  const Value* column_value;
  __device__ Value operator()(Value accumulator, int row, int column) const {
    const Value value = accumulator + row_value[row] + column_value[column];
    return value > Value{} ? value : Value{};
  }
};
// A scalar that the operation reads from device memory, once in each thread.
struct Scale {
  float factor;
  __device__ float operator()(float accumulator, int, int) const { return accumulator * factor; }
};
struct ScaleInMemory {
  const float* factor;
  __device__ Scale loaded() const { return {*factor}; }
};

using F16 = WgmmaOperands<__half, __half, float>;
template <int M, int N, int Consumers, int Stages, class Cluster, int Subtiles, Order a = row_major,
          Order b = column_major, class Operands = F16>
using Wgmma = WgmmaConfig<Operands, a, b, TileShape<M, N, 128 / sizeof(typename Operands::A)>, Consumers,
                          Stages, Cluster, Subtiles>;

template <int Case, class Config, class Value = float>
using Kernel90 = sm90::GemmKernel<Config, Relu<Case, Value>>;

struct Sizes {
  int m, n, k, pad_a, pad_b, pad_c;  // pads of leading dimensions, elements
};

class LaunchTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }

  template <class Kernel, class TC, class Value, int Case>
  void expect_right(const Sizes& s) {
    SCOPED_TRACE(::testing::Message() << "case " << Case << ": " << s.m << " x " << s.n << " x " << s.k
                                      << ", pads " << s.pad_a << ", " << s.pad_b << ", " << s.pad_c);
    using TA = typename Kernel::Config::T;
    std::mt19937 random(7);
    const auto small = [&] { return static_cast<int>(random() % 5) - 2; };
    const bool a_rows = Kernel::a_order == row_major, b_rows = Kernel::b_order == row_major;
    const int lda = (a_rows ? s.k : s.m) + s.pad_a, ldb = (b_rows ? s.n : s.k) + s.pad_b, ldc = s.n + s.pad_c;
    std::vector<TA> a(static_cast<std::size_t>(a_rows ? s.m : s.k) * lda, TA(NAN_OR_ZERO<TA>()));
    std::vector<TA> b(static_cast<std::size_t>(b_rows ? s.k : s.n) * ldb, TA(NAN_OR_ZERO<TA>()));
    std::vector<int> ia(static_cast<std::size_t>(s.m) * s.k), ib(static_cast<std::size_t>(s.k) * s.n);
    for (int i = 0; i < s.m; ++i) {
      for (int k = 0; k < s.k; ++k) {
        const int v = small();
        ia[static_cast<std::size_t>(i) * s.k + k] = v;
        a[static_cast<std::size_t>(a_rows ? i * lda + k : k * lda + i)] = TA(static_cast<float>(v));
      }
    }
    for (int k = 0; k < s.k; ++k) {
      for (int j = 0; j < s.n; ++j) {
        const int v = small();
        ib[static_cast<std::size_t>(k) * s.n + j] = v;
        b[static_cast<std::size_t>(b_rows ? k * ldb + j : j * ldb + k)] = TA(static_cast<float>(v));
      }
    }
    std::vector<Value> row_value(s.m), column_value(s.n);
    for (Value& v : row_value) v = static_cast<Value>(small());
    for (Value& v : column_value) v = static_cast<Value>(small());
    const TC poison = TC(-77.0F);
    std::vector<TC> c(static_cast<std::size_t>(s.m) * ldc, poison);
    const test::Buffer<TA> device_a(a), device_b(b);
    const test::Buffer<Value> device_rows(row_value), device_columns(column_value);
    const test::Buffer<TC> device_c(c);
    GemmProblem<TA, TC, typename Kernel::Config::TB> problem;
    problem.m = s.m, problem.n = s.n, problem.k = s.k;
    problem.a = {device_a.get(), lda};
    problem.b = {device_b.get(), ldb};
    problem.c = {device_c.get(), ldc};
    const Status status = test::launch_here<Kernel>(problem, {device_rows.get(), device_columns.get()},
                                                    "4ReluILi" + std::to_string(Case) + "E");
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<TC> got = device_c.read();
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < ldc; ++j) {
        float expected = -77.0F;
        if (j < s.n) {
          const int* const row = ia.data() + static_cast<std::size_t>(i) * s.k;
          const int* const column = ib.data() + j;
          int sum = 0;
          for (int k = 0; k < s.k; ++k) sum += row[k] * column[static_cast<std::size_t>(k) * s.n];
          expected = std::max(static_cast<float>(sum) + static_cast<float>(row_value[i]) +
                                  static_cast<float>(column_value[j]),
                              0.0F);
        }
        ASSERT_EQ(static_cast<float>(got[static_cast<std::size_t>(i) * ldc + j]), expected)
            << "row " << i << ", column " << j;
      }
    }
  }

  template <class T>
  static float NAN_OR_ZERO() {
    return sizeof(T) == 2 ? NAN : 0.0F;  // padding must not be multiplied
  }
};

// Sizes whose operands TMA can address: whole tiles, residue tiles, tail split-K, and rows of C that TMA can
// and cannot store.
const Sizes aligned[] = {{128, 256, 64, 0, 0, 0},   {257, 264, 72, 0, 0, 8}, {40, 24, 200, 8, 8, 0},
                         {300, 520, 136, 0, 0, 3},  {129, 257, 64, 7, 7, 0}, {1, 1, 8, 0, 0, 5},
                         {130, 300, 1096, 0, 0, 0}, {700, 130, 24, 8, 0, 1}};

template <class Test>
void for_tma_sizes(const Test& test, bool a_along_k = true, bool b_along_k = true) {
  for (Sizes s : aligned) {
    // Leading dimensions that are multiples of 8 elements in either order.
    s.pad_a = (8 - (a_along_k ? s.k : s.m) % 8) % 8 + s.pad_a / 8 * 8;
    s.pad_b = (8 - (b_along_k ? s.k : s.n) % 8) % 8 + s.pad_b / 8 * 8;
    test(s);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

using Cooperative256 = Wgmma<128, 256, 2, 4, ClusterShape<2, 1>, 2>;
TEST_F(LaunchTest, CooperativeStoreByTma) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<0, Cooperative256>, __half, float, 0>(s); });
}
using TailSplit256 = Wgmma<256, 128, 2, 3, ClusterShape<2, 1>, 3, column_major, row_major>;
TEST_F(LaunchTest, TailSplitK) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<1, TailSplit256>, float, float, 1>(s); }, false,
                false);
}
using Pingpong128 = Pingpong<Wgmma<128, 128, 1, 6, ClusterShape<1, 2>, 2>>;
TEST_F(LaunchTest, Pingpong) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<2, Pingpong128>, __half, float, 2>(s); });
}
using SplitK4 = Wgmma<64, 64, 1, 8, ClusterShape<1, 1, 4>, 1>;
TEST_F(LaunchTest, ClusterSplitK) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<3, SplitK4>, float, float, 3>(s); });
}
// Tiles fitted to C: what an operation does beyond the tile, which the next one has, must not be seen.
using FittedTiles = Fitted<Wgmma<128, 128, 2, 5, ClusterShape<1, 1>, 2>, 40>;
TEST_F(LaunchTest, FittedTiles) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<20, FittedTiles>, __half, float, 20>(s); });
}
using FittedContiguous = Fitted<Wgmma<128, 128, 2, 5, ClusterShape<1, 1>, 2, row_major, row_major>, 80>;
TEST_F(LaunchTest, FittedTilesWithContiguousColumns) {
  for (const Sizes& s : {Sizes{150, 264, 72, 0, 0, 0}, Sizes{129, 257, 64, 0, 7, 0}, Sizes{1, 8, 8, 0, 0, 0}})
    expect_right<Kernel90<40, FittedContiguous>, __half, float, 40>(s);
}
using FittedSplitK = Fitted<Wgmma<64, 200, 1, 5, ClusterShape<1, 1, 2>, 1>, 72>;
TEST_F(LaunchTest, FittedClusterSplitK) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<21, FittedSplitK>, float, float, 21>(s); });
}
using FittedSwapped = SwapAB<Pingpong<Fitted<Wgmma<128, 96, 1, 5, ClusterShape<1, 1>, 2>, 24>>>;
TEST_F(LaunchTest, FittedSwapAbPingpong) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<22, FittedSwapped>, __half, float, 22>(s); });
}
using Swapped = SwapAB<Wgmma<256, 80, 2, 4, ClusterShape<2, 1>, 1>>;
TEST_F(LaunchTest, SwapAbStoreTransposed) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<4, Swapped>, __half, float, 4>(s); });
}
using SwappedPingpong = SwapAB<Pingpong<Wgmma<128, 80, 1, 5, ClusterShape<2, 1>, 2>>>;
TEST_F(LaunchTest, SwapAbPingpong) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<5, SwappedPingpong>, float, float, 5>(s); });
}
using SwappedSplitK = SwapAB<Wgmma<64, 144, 1, 7, ClusterShape<1, 1, 2>, 2>>;
TEST_F(LaunchTest, SwapAbSplitK) {
  for_tma_sizes([&](const Sizes& s) { expect_right<Kernel90<6, SwappedSplitK>, __half, float, 6>(s); });
}
using Interleaved = RowInterleaved<Wgmma<128, 128, 2, 4, ClusterShape<1, 2>, 1, row_major, row_major>>;
TEST_F(LaunchTest, RowInterleavedViews) {
  for (Sizes s : aligned) {
    s.pad_b = (8 - s.n % 8) % 8;
    for (const int pad_a : {0, 1, 5}) {
      s.pad_a = pad_a;
      expect_right<Kernel90<7, Interleaved>, __half, float, 7>(s);
      if (HasFatalFailure()) return;
    }
  }
}
using Unaligned = sm90::UnalignedGemmKernel<__half, Relu<8>>;
TEST_F(LaunchTest, UnalignedStoreTransposed) {
  for (const Sizes& s : aligned) expect_right<Unaligned, __half, float, 8>(s);
}
using UnalignedSwapped = sm90::UnalignedGemmKernel<__half, Relu<9>, true>;
TEST_F(LaunchTest, UnalignedSwapAb) {
  for (Sizes s : aligned) {
    s.pad_b = (8 - s.k % 8) % 8;
    expect_right<UnalignedSwapped, float, float, 9>(s);
  }
}
using Integers = WgmmaOperands<std::int8_t, std::int8_t, std::int32_t>;
using Integers256 = Wgmma<128, 256, 2, 4, ClusterShape<2, 1>, 2, row_major, column_major, Integers>;
TEST_F(LaunchTest, Integers) {
  for (Sizes s : aligned) {
    s.pad_a = (16 - s.k % 16) % 16, s.pad_b = (16 - s.k % 16) % 16;
    expect_right<Kernel90<10, Integers256, std::int32_t>, std::int32_t, std::int32_t, 10>(s);
  }
}
using CpAsync = sm80::GemmKernel<sm80::Config<__half, float, 128, 128>, Relu<11>>;
TEST_F(LaunchTest, CpAsyncStoreFromRegisters) {
  for (const Sizes& s : aligned) expect_right<CpAsync, __half, float, 11>(s);
}

// An operation may read device memory when the kernel has begun.
TEST_F(LaunchTest, AnOperationWithAScalarInDeviceMemory) {
  using Kernel = sm90::GemmKernel<sm90::Config<__half, float, 64, 64>, ScaleInMemory>;
  const int m = 70, n = 72, k = 64;
  const test::Buffer<__half> a(std::vector<__half>(m * k, __half(1.0F))),
      b(std::vector<__half>(n * k, __half(2.0F))), c(std::vector<__half>(m * n, __half(0.0F)));
  const test::Buffer<float> factor(std::vector<float>{0.25F});
  GemmProblem<__half, __half> problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
  const Status s = test::launch_here<Kernel>(problem, ScaleInMemory{factor.get()}, "13ScaleInMemory");
  ASSERT_TRUE(s) << s.message();
  for (const __half x : c.read()) ASSERT_EQ(static_cast<float>(x), 2.0F * k * 0.25F);
}

// Products that take the emulator too long.
class LargeLaunchTest : public LaunchTest {
 protected:
  void SetUp() override {
    if (test::emulated()) GTEST_SKIP() << "only on a GPU: too large for the emulator";
    LaunchTest::SetUp();
  }
};

struct Unchanged {
  __device__ std::int32_t operator()(std::int32_t accumulator, int, int) const { return accumulator; }
};
template <class Config>
void expect_wrapped_sums() {
  static_assert(Config::splits_tail || Config::Cluster::k > 1, "CTAs add their accumulators");
  constexpr int m = 70, n = 80, k = 140032;
  const test::Buffer<std::int8_t> a(std::vector<std::int8_t>(std::size_t{m} * k, 127)),
      b(std::vector<std::int8_t>(std::size_t{n} * k, 127));
  const test::Buffer<std::int32_t> c(std::vector<std::int32_t>(std::size_t{m} * n, 0));
  GemmProblem<std::int8_t, std::int32_t> problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
  const Status s = launch<sm90::GemmKernel<Config, Unchanged>>(problem, {});
  ASSERT_TRUE(s) << s.message();
  const std::int64_t wide = std::int64_t{127 * 127} * k;
  for (const std::int32_t x : c.read()) ASSERT_EQ(x, wide - (std::int64_t{1} << 32));
}
TEST_F(LargeLaunchTest, IntegersOfASplitTailWrapBeyond32Bits) {
  expect_wrapped_sums<Wgmma<256, 128, 2, 3, ClusterShape<2, 1>, 3, row_major, column_major, Integers>>();
}
TEST_F(LargeLaunchTest, IntegersOfClusterSplitKWrapBeyond32Bits) {
  expect_wrapped_sums<Wgmma<64, 64, 1, 8, ClusterShape<1, 1, 4>, 1, row_major, column_major, Integers>>();
}

struct ColumnModulo1000 {
  __device__ float operator()(float, int, int column) const { return static_cast<float>(column % 1000); }
};
TEST_F(LargeLaunchTest, NoKReachesTheLastOfTheMostColumns) {
  using Kernel = sm80::GemmKernel<sm80::Config<__half, float, 64, 64>, ColumnModulo1000>;
  constexpr std::size_t n = largest_dimension, looked_at = 1 << 20;
  __half* c = nullptr;
  ASSERT_EQ(cudaMalloc(&c, n * sizeof(__half)), cudaSuccess);
  GemmProblem<__half, __half> problem;
  problem.m = 1, problem.n = n;
  problem.c = {c, n};
  const Status s = launch<Kernel>(problem, {});
  std::vector<__half> last(looked_at);
  const cudaError_t copied =
      cudaMemcpy(last.data(), c + (n - looked_at), looked_at * sizeof(__half), cudaMemcpyDeviceToHost);
  EXPECT_EQ(cudaFree(c), cudaSuccess);
  ASSERT_TRUE(s) << s.message();
  ASSERT_EQ(copied, cudaSuccess);
  for (std::size_t i = 0; i < looked_at; ++i)
    ASSERT_EQ(static_cast<float>(last[i]), static_cast<float>((n - looked_at + i) % 1000)) << i;
}

// Refusals, which need no device: nothing is launched.
class LaunchRefusal : public ::testing::Test {
 protected:
  using Kernel = Kernel90<0, Cooperative256>;
  GemmProblem<__half, __half> problem_;

  LaunchRefusal() {
    problem_.m = 100, problem_.n = 104, problem_.k = 64;
    problem_.a = {at(4096), 64}, problem_.b = {at(8192), 64}, problem_.c = {at(65536), 104};
  }
  // An address that is checked, and never dereferenced.
  static __half* at(std::uintptr_t address) {
    return reinterpret_cast<__half*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  test::NoDevice device_;

  template <class K = Kernel>
  void expect(StatusCode code, const char* sentence) {
    Launch plan;
    bool launches = true;
    const Status s = plan_launch<K>(problem_, typename K::Op{}, device_, &plan, &launches);
    EXPECT_EQ(s.code(), code) << s.message();
    EXPECT_STREQ(s.message(), sentence);
    EXPECT_FALSE(launches);
  }
};

TEST_F(LaunchRefusal, ASizeBelowZero) {
  problem_.m = -1;
  expect(StatusCode::invalid_argument, "m is -1 but must be 0 to 2147479552");
}
TEST_F(LaunchRefusal, ANullPointer) {
  problem_.b.data = nullptr;
  expect(StatusCode::invalid_argument, "B is a null pointer");
}
TEST_F(LaunchRefusal, AShortLeadingDimension) {
  problem_.a.ld = 63;
  expect(StatusCode::invalid_argument, "lda is 63 but needs >= 64 here");
}
TEST_F(LaunchRefusal, ALeadingDimensionThatTmaCannotRead) {
  problem_.b.ld = 65;
  expect(StatusCode::unsupported, "ldb is 65 but TMA needs a multiple of 8 elements of type f16");
}
TEST_F(LaunchRefusal, AnAddressThatTmaCannotRead) {
  problem_.a.data = at(4098);
  expect(StatusCode::unsupported, "A is 2 bytes past a multiple of 16 but TMA needs 0");
}
// Its rows may have any length, so lda = 65 is fine; but the views of A are read from its first row on.
TEST_F(LaunchRefusal, ARowInterleavedMatrixThatTmaCannotRead) {
  problem_.a = {at(4098), 65}, problem_.b = {at(8192), 104};
  expect<Kernel90<7, Interleaved>>(StatusCode::unsupported,
                                   "A is 2 bytes past a multiple of 16 but TMA needs 0");
}
TEST_F(LaunchRefusal, AnAddressBetweenElements) {
  problem_.c.data = reinterpret_cast<__half*>(std::uintptr_t{65537});  // NOLINT(performance-no-int-to-ptr)
  expect(StatusCode::invalid_argument,
         "C is at 0x10001 but its elements of type f16 lie on multiples of 2 bytes");
}
TEST_F(LaunchRefusal, AnotherDevice) {
  device_.sm = 80;
  expect(StatusCode::device_unsupported,
         "a wgmma kernel (tenon::sm90::GemmKernel) needs sm_90a but the device is sm_80");
}
TEST_F(LaunchRefusal, MoreTilesThanAGridHas) {
  problem_.m = 2000000000, problem_.n = 1000000000;
  problem_.c.ld = problem_.n;
  expect(StatusCode::unsupported,
         "m = 2000000000 and n = 1000000000 make about 61035175781251 tiles of 128 x 256 but a grid has at "
         "most 2147483647");
}
TEST_F(LaunchRefusal, NothingToDoIsNoError) {
  problem_.n = 0;
  expect(StatusCode::ok, "");
}
TEST_F(LaunchRefusal, NoKIsTheOperationOfZero) {
  problem_.k = 0;
  problem_.a = {}, problem_.b = {};
  Launch plan;
  bool launches = false;
  EXPECT_TRUE(plan_launch<Kernel>(problem_, Kernel::Op{}, device_, &plan, &launches));
  EXPECT_TRUE(launches);
  EXPECT_STREQ(plan.what, "the epilogue of a GEMM with k = 0");
}

}  // namespace
}  // namespace tenon
