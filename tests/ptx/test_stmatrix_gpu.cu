// stmatrix and cvt.rn.tf32, the forms that begin with sm_90, executed by one warp.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ptx/conversion.cuh"
#include "ptx/device_vector.cuh"
#include "ptx/matrix_elements.hpp"
#include "support/gpu.hpp"
#include "tenon/ptx/convert.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon::test {
namespace {

using std::uint32_t;

class PtxSm90 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_sm() < 90) GTEST_SKIP() << "needs a GPU of sm_90 or newer";
  }
};

template <auto function>
struct Stored;
template <std::size_t n, void (*function)(uint32_t, const uint32_t (&)[n])>
struct Stored<function> {
  static constexpr int matrices = static_cast<int>(n);
};

template <auto function>
__global__ void store_matrices(const uint32_t* registers, std::uint16_t* out) {
  __shared__ alignas(16) std::uint16_t tile[32 * 8];
  const int lane = static_cast<int>(threadIdx.x);
  std::uint16_t* const row = tile + 8 * row_slot(lane);
  for (int i = 0; i < 8; ++i) row[i] = 0;
  __syncthreads();
  uint32_t s[Stored<function>::matrices];
  for (int i = 0; i < Stored<function>::matrices; ++i) s[i] = registers[32 * i + lane];
  function(ptx::shared_address(row), s);
  __syncthreads();
  for (int i = 0; i < 8; ++i) out[8 * lane + i] = row[i];
}

template <auto function>
void expect_stores(bool transposed) {
  constexpr int matrices = Stored<function>::matrices;
  SCOPED_TRACE(::testing::Message() << matrices << (transposed ? " matrices, transposed" : " matrices"));
  std::vector<uint32_t> registers(32 * matrices);
  for (int i = 0; i < 32 * matrices; ++i) registers[i] = register_of(i / 32, i % 32, transposed);
  const DeviceVector<uint32_t> input(registers);
  const DeviceVector<std::uint16_t> output(std::vector<std::uint16_t>(32 * 8, 0xdead));
  store_matrices<function><<<1, 32>>>(input.data(), output.data());
  const std::vector<std::uint16_t> found = output.read();
  for (int row = 0; row < 32; ++row) {
    for (int i = 0; i < 8; ++i) {
      const int expected = row / 8 < matrices ? element(row / 8, row % 8, i) : 0;
      ASSERT_EQ(found[8 * row + i], expected)
          << "matrix " << row / 8 << ", row " << row % 8 << ", column " << i;
    }
  }
}

TEST_F(PtxSm90, StmatrixPutsEachElementInItsPlace) {
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x1_shared_b16<>>(false);
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x2_shared_b16<>>(false);
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16<>>(false);
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x1_trans_shared_b16<>>(true);
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x2_trans_shared_b16<>>(true);
  expect_stores<ptx::stmatrix_sync_aligned_m8n8_x4_trans_shared_b16<>>(true);
}

template <auto function>
void expect_converts_to_tf32(Rounding rounding, Finish finish) {
  const std::vector<float> inputs = floats();
  const auto found = convert<function>(inputs);
  const double no_zero_sign = finish == Finish::relu ? 0.0 : -0.0;  // conversion.cuh
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // The low 13 bits are not part of a tf32.
    expect_same(decode(Kind::tf32, found[i] & ~0x1fffU) + no_zero_sign,
                round_to(tf32, inputs[i], rounding, finish), inputs[i]);
  }
}

TEST_F(PtxSm90, CvtTf32RoundsAsItsModeSays) {
  expect_converts_to_tf32<ptx::cvt_rn_tf32_f32<>>(Rounding::nearest_even, Finish::plain);
  expect_converts_to_tf32<ptx::cvt_rz_tf32_f32<>>(Rounding::toward_zero, Finish::plain);
  expect_converts_to_tf32<ptx::cvt_rn_relu_tf32_f32<>>(Rounding::nearest_even, Finish::relu);
  expect_converts_to_tf32<ptx::cvt_rz_relu_tf32_f32<>>(Rounding::toward_zero, Finish::relu);
}

}  // namespace
}  // namespace tenon::test
