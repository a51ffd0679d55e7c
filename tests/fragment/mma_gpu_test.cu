// One mma of every type and shape on the GPU: fragments filled by coordinate, multiplied, read back by
// coordinate. Small integers, so that every format holds them and every sum exactly: the product must equal
// the host's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <random>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/fragment/fragment.hpp"

namespace tenon {
namespace {

// The matrix of a lane: Volta's m8n8k4 computes four at once.
template <class Layout>
__device__ int matrix_of(int lane) {
  if constexpr (Layout::matrices > 1) {
    return Layout::matrix_of(lane);
  } else {
    return 0;
  }
}

template <int minimum_sm, class Shape, class TC, class TA, class TB, Major order_a, Major order_b>
__global__ void multiply(const int* a, const int* b, double* d) {
#if defined(__CUDA_ARCH__)
  if constexpr (__CUDA_ARCH__ >= 10 * minimum_sm) {
    FragmentA<Shape, TA, order_a> fragment_a;
    FragmentB<Shape, TB, order_b> fragment_b;
    Accumulator<Shape, TC> c;
    const int matrix = matrix_of<LayoutC<Shape, TC>>(lane_id());
    a += matrix * Shape::m * Shape::k;
    b += matrix * Shape::k * Shape::n;
    d += matrix * Shape::m * Shape::n;
    fragment_a.fill([&](int row, int k) { return a[row * Shape::k + k]; });
    fragment_b.fill([&](int k, int col) { return b[k * Shape::n + col]; });
    c.fill([](int row, int col) { return row - 2 * col; });
    c.mma(fragment_a, fragment_b);
    const auto& result = c;
    result.for_each(
        [&](auto value, int row, int col) { d[row * Shape::n + col] = static_cast<double>(value); });
  }
#endif
}

template <class T>
struct Range {
  static constexpr int low = -3, high = 3;
};
template <>
struct Range<std::int8_t> {
  static constexpr int low = -128, high = 127;
};
template <>
struct Range<std::uint8_t> {
  static constexpr int low = 0, high = 255;
};
template <>
struct Range<s4> {
  static constexpr int low = -8, high = 7;
};
template <>
struct Range<u4> {
  static constexpr int low = 0, high = 15;
};
template <>
struct Range<b1> {
  static constexpr int low = 0, high = 1;
};

template <int minimum_sm, class Shape, class TC, class TA, class TB, Major order_a = Major::row,
          Major order_b = Major::column>
void expect_product() {
  if (test::gpu_sm() < minimum_sm) GTEST_SKIP() << "needs a GPU of sm_" << minimum_sm << " or newer";
  constexpr int m = Shape::m, n = Shape::n, k = Shape::k, matrices = LayoutC<Shape, TC>::matrices;
  test::Managed<int> a(matrices * m * k, 0), b(matrices * k * n, 0);
  test::Managed<double> d(matrices * m * n, -12345.5);
  std::mt19937 random(m + n + k);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = std::uniform_int_distribution<>(Range<TA>::low, Range<TA>::high)(random);
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = std::uniform_int_distribution<>(Range<TB>::low, Range<TB>::high)(random);
  multiply<minimum_sm, Shape, TC, TA, TB, order_a, order_b><<<1, 32>>>(a.data(), b.data(), d.data());
  ASSERT_TRUE(test::finished());
  for (int matrix = 0; matrix < matrices; ++matrix) {
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        long sum = row - 2 * col;
        for (int i = 0; i < k; ++i) sum += 1L * a[(matrix * m + row) * k + i] * b[(matrix * k + i) * n + col];
        ASSERT_EQ(d[(matrix * m + row) * n + col], static_cast<double>(sum))
            << "row " << row << " column " << col;
      }
    }
  }
}

class FragmentMma : public test::GpuTest {};

TEST_F(FragmentMma, F16M16n8k8) {
  expect_product<80, m16n8k8, float, __half, __half>();
}
TEST_F(FragmentMma, F16M16n8k16) {
  expect_product<80, m16n8k16, float, __half, __half>();
}
TEST_F(FragmentMma, F16M16n8k8IntoF16) {
  expect_product<80, m16n8k8, __half, __half, __half>();
}
TEST_F(FragmentMma, F16M16n8k16IntoF16) {
  expect_product<80, m16n8k16, __half, __half, __half>();
}
TEST_F(FragmentMma, Bf16M16n8k8) {
  expect_product<80, m16n8k8, float, __nv_bfloat16, __nv_bfloat16>();
}
TEST_F(FragmentMma, Bf16M16n8k16) {
  expect_product<80, m16n8k16, float, __nv_bfloat16, __nv_bfloat16>();
}
TEST_F(FragmentMma, Tf32M16n8k4) {
  expect_product<80, m16n8k4, float, tf32, tf32>();
}
TEST_F(FragmentMma, Tf32M16n8k8) {
  expect_product<80, m16n8k8, float, tf32, tf32>();
}

TEST_F(FragmentMma, F64M8n8k4) {
  expect_product<80, m8n8k4, double, double, double>();
}
TEST_F(FragmentMma, F64M16n8k4) {
  expect_product<90, m16n8k4, double, double, double>();
}
TEST_F(FragmentMma, F64M16n8k8) {
  expect_product<90, m16n8k8, double, double, double>();
}
TEST_F(FragmentMma, F64M16n8k16) {
  expect_product<90, m16n8k16, double, double, double>();
}

template <class Shape, class X, class Y>
void expect_integer_mixes() {
  expect_product<80, Shape, std::int32_t, X, X>();
  expect_product<80, Shape, std::int32_t, X, Y>();
  expect_product<80, Shape, std::int32_t, Y, X>();
  expect_product<80, Shape, std::int32_t, Y, Y>();
}
TEST_F(FragmentMma, Int8M8n8k16) {
  expect_integer_mixes<m8n8k16, std::int8_t, std::uint8_t>();
}
TEST_F(FragmentMma, Int8M16n8k16) {
  expect_integer_mixes<m16n8k16, std::int8_t, std::uint8_t>();
}
TEST_F(FragmentMma, Int8M16n8k32) {
  expect_integer_mixes<m16n8k32, std::int8_t, std::uint8_t>();
}
TEST_F(FragmentMma, Int4M8n8k32) {
  expect_integer_mixes<m8n8k32, s4, u4>();
}
TEST_F(FragmentMma, Int4M16n8k32) {
  expect_integer_mixes<m16n8k32, s4, u4>();
}
TEST_F(FragmentMma, Int4M16n8k64) {
  expect_integer_mixes<m16n8k64, s4, u4>();
}
TEST_F(FragmentMma, B1M8n8k128) {
  expect_product<80, m8n8k128, std::int32_t, b1, b1>();
}
TEST_F(FragmentMma, B1M16n8k128) {
  expect_product<80, m16n8k128, std::int32_t, b1, b1>();
}
TEST_F(FragmentMma, B1M16n8k256) {
  expect_product<80, m16n8k256, std::int32_t, b1, b1>();
}

template <class Shape, class TC>
void expect_fp8_mixes() {
  expect_product<89, Shape, TC, e4m3, e4m3>();
  expect_product<89, Shape, TC, e4m3, e5m2>();
  expect_product<89, Shape, TC, e5m2, e4m3>();
  expect_product<89, Shape, TC, e5m2, e5m2>();
}
TEST_F(FragmentMma, Fp8M16n8k16) {
  expect_fp8_mixes<m16n8k16, float>();
}
TEST_F(FragmentMma, Fp8M16n8k32) {
  expect_fp8_mixes<m16n8k32, float>();
}
TEST_F(FragmentMma, Fp8M16n8k16IntoF16) {
  expect_fp8_mixes<m16n8k16, __half>();
}
TEST_F(FragmentMma, Fp8M16n8k32IntoF16) {
  expect_fp8_mixes<m16n8k32, __half>();
}

template <class TC>
void expect_volta_orders() {
  expect_product<80, m8n8k4, TC, __half, __half, Major::row, Major::row>();
  expect_product<80, m8n8k4, TC, __half, __half, Major::row, Major::column>();
  expect_product<80, m8n8k4, TC, __half, __half, Major::column, Major::row>();
  expect_product<80, m8n8k4, TC, __half, __half, Major::column, Major::column>();
}
TEST_F(FragmentMma, VoltaM8n8k4) {
  expect_volta_orders<float>();
}
TEST_F(FragmentMma, VoltaM8n8k4IntoF16) {
  expect_volta_orders<__half>();
}

// for_each by reference: what it changes is what a later read sees, at the same coordinates, packed or not.
template <class TC>
__global__ void change(double* out) {
  Accumulator<m16n8k16, TC> c{};
  c.for_each([](float& value, int row, int col) { value += static_cast<float>(8 * row + col); });
  c.for_each([](float& value, int row, int) { value *= row % 2 == 0 ? 2 : -1; });
  c.for_each([&](float value, int row, int col) { out[8 * row + col] = value; });
}
template <class TC>
void expect_changed() {
  test::Managed<double> out(128, -1);
  change<TC><<<1, 32>>>(out.data());
  ASSERT_TRUE(test::finished());
  for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], i / 8 % 2 == 0 ? 2.0 * i : -1.0 * i);
}
TEST_F(FragmentMma, ForEachChangesAccumulators) {
  expect_changed<float>();
}
TEST_F(FragmentMma, ForEachChangesPackedAccumulators) {
  expect_changed<__half>();
}

// Two accumulators become an A operand: element (row, k) of A is element (row, k) of the 16 columns they
// cover.
template <class T>
__global__ void convert(double* out) {
  Accumulator<m16n8k16, float> left, right;
  left.fill([](int row, int col) { return 16 * row + col; });
  right.fill([](int row, int col) { return 16 * row + col + 8; });
  as_a<T>(left, right).for_each([&](float value, int row, int k) { out[16 * row + k] = value; });
}
template <class T>
void expect_converted() {
  test::Managed<double> out(256, -1);
  convert<T><<<1, 32>>>(out.data());
  ASSERT_TRUE(test::finished());
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], i);
}
TEST_F(FragmentMma, AccumulatorsBecomeAnF16OperandA) {
  expect_converted<__half>();
}
TEST_F(FragmentMma, AccumulatorsBecomeABf16OperandA) {
  expect_converted<__nv_bfloat16>();
}

static_assert(std::is_aggregate_v<Accumulator<m16n8k16, float>>);
static_assert(std::is_trivially_default_constructible_v<Accumulator<m16n8k16, float>>);
static_assert(std::is_trivially_copyable_v<FragmentA<m16n8k16, __half>>);
static_assert(sizeof(FragmentA<m16n8k16, __half>) == 16 && sizeof(FragmentB<m16n8k16, __half>) == 8);

}  // namespace
}  // namespace tenon
