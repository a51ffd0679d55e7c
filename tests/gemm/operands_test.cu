// Operations with operands that the epilogue loads, on every store: each element of C gets the operands of
// its own row and column; padding is not read into a result, and nothing outside C is written. In the
// emulator and on a GPU. And the sentences about operands that make no sense.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gemm/launch_here.hpp"
#include "support/device.hpp"
#include "tenon/fragment/int8.hpp"
#include "tenon/gemm/launch_sm80.hpp"
#include "tenon/gemm/launch_sm90.hpp"

namespace tenon {
namespace {

using bf16 = __nv_bfloat16;

// `Case` distinguishes the kernels of this file.
template <int Case, class Matrix, class Bias = float, class Scale = float>
struct Combine {
  using Operands =
      EpilogueOperands<ColumnVector<Bias>, RowVector<Scale>, MatrixOperand<Matrix>, DeviceScalar<float>>;
  int step;
  __host__ __device__ float operator()(float accumulator, int row, int column, float bias, float scale,
                                       float residual, float alpha) const {
    return alpha * scale * accumulator + bias + residual + static_cast<float>((row + step * column) % 5);
  }
};
// Vectors alone, also of integers.
template <int Case, class Value>
struct CombineVectors {
  using Operands = EpilogueOperands<RowVector<Value>, ColumnVector<Value>>;
  int step;
  __host__ __device__ Value operator()(Value accumulator, int row, int column, Value of_row,
                                       Value of_column) const {
    return of_row * accumulator + of_column + static_cast<Value>((row + step * column) % 5);
  }
};

template <int Case, class Config, class... T>
using Kernel90 = sm90::GemmKernel<Config, WithOperands<Combine<Case, T...>>>;

// pad_r, shift_r: of the matrix, elements between its rows and before its first one.
struct Sizes {
  int m, n, k, pad_c, pad_r, shift_r = 0;
};
const Sizes sizes[] = {{150, 264, 72, 0, 0},    {150, 264, 72, 0, 8}, {150, 264, 72, 8, 1},
                       {129, 264, 64, 0, 0, 1}, {67, 131, 40, 0, 0},  {131, 200, 136, 3, 16},
                       {1, 8, 8, 0, 0},         {1, 1, 8, 7, 2, 1},   {7, 300, 0, 0, 4}};

class OperandsTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }

  template <class T>
  static std::vector<T> small(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values(count);
    for (T& v : values) v = T(static_cast<float>(static_cast<int>(random() % 5) - 2));
    return values;
  }
  template <class T>
  static std::vector<T> nans(std::size_t count) {
    return std::vector<T>(count, T(std::is_integral_v<T> ? 99.0F : NAN));
  }

  // A and B, whose sums every kernel computes exactly. TMA can read them.
  template <class Kernel, class TC>
  struct Inputs {
    using TA = typename Kernel::Config::T;
    Sizes s;
    int ld;
    std::vector<TA> a, b;
    test::Buffer<TA> on_a, on_b;
    explicit Inputs(const Sizes& of)
        : s(of),
          ld((of.k + 15) / 16 * 16),
          a(small<TA>(static_cast<std::size_t>(of.m) * ld, 1)),
          b(small<TA>(static_cast<std::size_t>(of.n) * ld, 2)),
          on_a(a),
          on_b(b) {}
    float sum(int i, int j) const {
      float result = 0.0F;
      for (int k = 0; k < s.k; ++k) {
        result += static_cast<float>(a[static_cast<std::size_t>(i) * ld + k]) *
                  static_cast<float>(b[static_cast<std::size_t>(j) * ld + k]);
      }
      return result;
    }
    GemmProblem<TA, TC> problem(TC* c) const {
      GemmProblem<TA, TC> p;
      p.m = s.m, p.n = s.n, p.k = s.k;
      p.a = {on_a.get(), ld}, p.b = {on_b.get(), ld}, p.c = {c, s.n + s.pad_c};
      return p;
    }
  };

  // expected(i, j): of element (i, j) of C before it is rounded; got: C with its padding, which was `before`.
  template <class TC, class Expected>
  static void compare(const Sizes& s, const std::vector<TC>& got, const std::vector<TC>& before,
                      const Expected& expected) {
    const std::size_t ldc = static_cast<std::size_t>(s.n + s.pad_c);
    for (std::size_t at = 0; at < got.size(); ++at) {
      const int i = static_cast<int>(at / ldc), j = static_cast<int>(at % ldc);
      if (j < s.n) {
        ASSERT_EQ(static_cast<float>(got[at]), static_cast<float>(TC(expected(i, j)))) << i << ", " << j;
      } else {
        ASSERT_EQ(std::memcmp(&got[at], &before[at], sizeof(TC)), 0) << "after row " << i;
      }
    }
  }

  // in_place: the matrix is C, and must have its type.
  template <int Case, class Kernel, class TC, class TR, class TBias = float, class TScale = float>
  static void expect_right(const Sizes& s, bool in_place = false) {
    SCOPED_TRACE(::testing::Message() << "case " << Case << ": " << s.m << " x " << s.n << " x " << s.k
                                      << ", pads " << s.pad_c << ", " << s.pad_r << ", shift " << s.shift_r);
    const Inputs<Kernel, TC> inputs(s);
    const auto bias = small<TBias>(s.n, 3);
    const auto scale = small<TScale>(s.m, 4);
    const auto values = small<TR>(static_cast<std::size_t>(s.m) * s.n, 5);
    const int ldr = s.n + (in_place ? s.pad_c : s.pad_r), shift = in_place ? 0 : s.shift_r;
    auto residual =
        nans<TR>(shift + static_cast<std::size_t>(s.m - 1) * ldr + s.n + (in_place ? s.pad_c : 0));
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j)
        residual[shift + static_cast<std::size_t>(i) * ldr + j] =
            values[static_cast<std::size_t>(i) * s.n + j];
    auto c = nans<TC>(static_cast<std::size_t>(s.m) * (s.n + s.pad_c));
    if constexpr (std::is_same_v<TC, TR>)
      if (in_place) c = residual;
    const test::Buffer<TBias> on_bias(bias);
    const test::Buffer<TScale> on_scale(scale);
    const test::Buffer<TR> on_residual(residual);
    const test::Buffer<float> alpha(std::vector<float>{2.0F});
    const test::Buffer<TC> on_c(c);
    const TR* matrix = on_residual.get() + shift;
    if constexpr (std::is_same_v<TC, TR>)
      if (in_place) matrix = on_c.get();
    const Combine<Case, TR, TBias, TScale> op{3};
    const Status status = test::launch_here<Kernel>(
        inputs.problem(on_c.get()), {op, on_bias.get(), on_scale.get(), {matrix, ldr}, alpha.get()},
        "7CombineILi" + std::to_string(Case) + "E");
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    compare(s, on_c.read(), c, [&](int i, int j) {
      return op(inputs.sum(i, j), i, j, static_cast<float>(bias[j]), static_cast<float>(scale[i]),
                static_cast<float>(values[static_cast<std::size_t>(i) * s.n + j]), 2.0F);
    });
  }

  template <int Case, class Kernel, class TC, class Value>
  static void expect_right_with_vectors(const Sizes& s) {
    SCOPED_TRACE(::testing::Message()
                 << "case " << Case << ": " << s.m << " x " << s.n << " x " << s.k << ", pad " << s.pad_c);
    const Inputs<Kernel, TC> inputs(s);
    const auto of_row = small<Value>(s.m, 3), of_column = small<Value>(s.n, 4);
    const auto c = nans<TC>(static_cast<std::size_t>(s.m) * (s.n + s.pad_c));
    const test::Buffer<Value> on_rows(of_row), on_columns(of_column);
    const test::Buffer<TC> on_c(c);
    const CombineVectors<Case, Value> op{3};
    const Status status =
        test::launch_here<Kernel>(inputs.problem(on_c.get()), {op, on_rows.get(), on_columns.get()},
                                  "14CombineVectorsILi" + std::to_string(Case) + "E");
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    compare(s, on_c.read(), c, [&](int i, int j) {
      return op(static_cast<Value>(inputs.sum(i, j)), i, j, of_row[i], of_column[j]);
    });
  }
};

using F16 = WgmmaOperands<__half, __half, float>;
using Bf16 = WgmmaOperands<bf16, bf16, float>;
template <class Operands, int M, int N, int Consumers, int Stages, class Cluster, int Subtiles>
using Wgmma =
    WgmmaConfig<Operands, row_major, column_major, TileShape<M, N, 128 / sizeof(typename Operands::A)>,
                Consumers, Stages, Cluster, Subtiles>;

// The matrix comes by TMA in the first two sizes, and in segments of rows in all others.
using Cooperative = Wgmma<Bf16, 128, 128, 2, 4, ClusterShape<2, 1>, 2>;
using CooperativeKernel = Kernel90<0, Cooperative, bf16, float, bf16>;
TEST_F(OperandsTest, Cooperative) {
  for (const Sizes& s : sizes) expect_right<0, CooperativeKernel, bf16, bf16, float, bf16>(s);
}
using ScarcePingpong = Pingpong<Wgmma<F16, 128, 192, 1, 3, ClusterShape<2, 1>, 3>>;
using PingpongKernel = Kernel90<1, ScarcePingpong, __half, __half>;
TEST_F(OperandsTest, Pingpong) {
  for (const Sizes& s : sizes) expect_right<1, PingpongKernel, __half, __half, __half>(s);
}
// With copies that land late or at random times, a missing wait shows. Several tiles a CTA, so that the
// places are used again.
TEST_F(OperandsTest, CopiesOfTheMatrixMayLandAtAnyTime) {
  for (const bool in_place : {false, true}) {
    expect_right<0, CooperativeKernel, bf16, bf16, float, bf16>({128 + 10, 5 * 128, 136, 0, 8}, in_place);
    expect_right<1, PingpongKernel, __half, __half, __half>({128 + 10, 5 * 192, 72, 0, 8}, in_place);
  }
}
using Small = Wgmma<F16, 64, 64, 1, 3, ClusterShape<1, 1>, 2>;
TEST_F(OperandsTest, AMatrixOfAnotherTypeThanC) {
  using Kernel = Kernel90<2, Small, float, __half, __half>;
  for (const Sizes& s : sizes) {
    if (s.k == 0) continue;  // would be a kernel for each type of C
    expect_right<2, Kernel, __half, float, __half, __half>(s);
    expect_right<2, Kernel, float, float, __half, __half>(s);
  }
}
TEST_F(OperandsTest, VectorsAlone) {
  using Kernel = sm90::GemmKernel<Small, WithOperands<CombineVectors<3, float>>>;
  for (const Sizes& s : sizes) {
    if (s.k == 0) continue;  // likewise
    expect_right_with_vectors<3, Kernel, __half, float>(s);
    expect_right_with_vectors<3, Kernel, float, float>(s);
  }
}
TEST_F(OperandsTest, SwapAb) {
  using Kernel = Kernel90<4, SwapAB<Wgmma<F16, 64, 80, 1, 3, ClusterShape<1, 1>, 1>>, __half>;
  for (const Sizes& s : sizes) expect_right<4, Kernel, __half, __half>(s);
}
// The matrix is not loaded by TMA there: a tile may have fewer columns than the subtiles of its loads.
TEST_F(OperandsTest, FittedTiles) {
  using Kernel = Kernel90<8, Fitted<Wgmma<F16, 128, 128, 2, 4, ClusterShape<1, 1>, 2>, 72>, __half, __half>;
  for (const Sizes& s : sizes) expect_right<8, Kernel, __half, __half, __half>(s);
}
TEST_F(OperandsTest, Unaligned) {
  using Kernel = sm90::UnalignedGemmKernel<__half, WithOperands<Combine<5, __half>>>;
  for (const Sizes& s : sizes) expect_right<5, Kernel, __half, __half>(s);
}
TEST_F(OperandsTest, CpAsync) {
  using Kernel = sm80::GemmKernel<sm80::Config<__half, float, 64, 64>, WithOperands<Combine<6, bf16, bf16>>>;
  for (const Sizes& s : sizes) expect_right<6, Kernel, __half, bf16, bf16>(s);
}
TEST_F(OperandsTest, Integers) {
  using Config = sm80::Config<std::int8_t, std::int32_t, 64, 64>;
  using Kernel = sm80::GemmKernel<Config, WithOperands<CombineVectors<7, std::int32_t>>>;
  for (const Sizes& s : sizes) expect_right_with_vectors<7, Kernel, std::int32_t, std::int32_t>(s);
}

// What a plan says, without a device.
class OperandsPlan : public ::testing::Test {
 protected:
  using Kernel = CooperativeKernel;
  using Op = Kernel::Op;
  GemmProblem<bf16, bf16> problem_;
  test::NoDevice device_;
  // Operands: addresses that are checked, and never dereferenced.
  const float* bias_ = at<float>(4096);
  const bf16* scale_ = at<bf16>(8192);
  MatrixOperand<bf16> residual_{at<bf16>(1 << 20), 104};
  const float* alpha_ = at<float>(16384);

  OperandsPlan() {
    problem_.m = 100, problem_.n = 104, problem_.k = 64;
    problem_.a = {at<bf16>(1 << 16), 64}, problem_.b = {at<bf16>(1 << 17), 64};
    problem_.c = {at<bf16>(1 << 18), 104};
  }
  template <class T>
  static T* at(std::uintptr_t address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  Status plan(Launch* launch, bool* launches) {
    const Op op{{3}, bias_, scale_, residual_, alpha_};
    return plan_launch<Kernel>(problem_, op, device_, launch, launches);
  }
  void expect_refusal(const char* sentence) {
    Launch launch;
    bool launches = true;
    const Status s = plan(&launch, &launches);
    EXPECT_EQ(s.code(), StatusCode::invalid_argument);
    EXPECT_STREQ(s.message(), sentence);
    EXPECT_FALSE(launches);
  }
  bool loads_by_tma() {
    Launch launch;
    bool launches = false;
    const Status s = plan(&launch, &launches);
    EXPECT_TRUE(s) << s.message();
    return static_cast<const Op*>(launch.arguments.data(launch.arguments.count() - 1))->matrix_has_map;
  }
};

TEST_F(OperandsPlan, TheMatrixComesByTmaWhereItAndCAllowIt) {
  EXPECT_TRUE(loads_by_tma());
  residual_.ld = 112;
  EXPECT_TRUE(loads_by_tma());
  residual_.ld = 105;
  EXPECT_FALSE(loads_by_tma());
  residual_ = {at<bf16>((1 << 20) + 2), 104};
  EXPECT_FALSE(loads_by_tma());
  residual_ = {at<bf16>(1 << 20), 104};
  problem_.c.ld = 106;
  EXPECT_FALSE(loads_by_tma());
}
TEST_F(OperandsPlan, NullPointersAreNamed) {
  const auto expect = [&](auto& pointer, const char* sentence) {
    const auto before = pointer;
    pointer = nullptr;
    expect_refusal(sentence);
    pointer = before;
  };
  expect(bias_, "operand 1 of the epilogue, a ColumnVector of f32, is a null pointer");
  expect(scale_, "operand 2 of the epilogue, a RowVector of bf16, is a null pointer");
  expect(residual_.data, "operand 3 of the epilogue, a MatrixOperand of bf16, is a null pointer");
  expect(alpha_, "operand 4 of the epilogue, a DeviceScalar of f32, is a null pointer");
}
TEST_F(OperandsPlan, AnAddressBetweenElements) {
  bias_ = at<float>(4098);
  expect_refusal(
      "operand 1 of the epilogue, a ColumnVector of f32, is at 0x1002 but its elements lie on multiples of 4 "
      "bytes");
}
TEST_F(OperandsPlan, AShortLeadingDimension) {
  residual_.ld = 103;
  expect_refusal("operand 3 of the epilogue, a MatrixOperand of bf16, has ld 103 but needs >= 104 here");
}
TEST_F(OperandsPlan, OperandsOfAnEmptyProductDoNotMatter) {
  problem_.m = 0;
  bias_ = nullptr;
  Launch launch;
  bool launches = true;
  EXPECT_TRUE(plan(&launch, &launches));
  EXPECT_FALSE(launches);
}

}  // namespace
}  // namespace tenon
