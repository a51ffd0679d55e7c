// StoreRegisters without a GEMM: one warp stores its tile to C, for every output type and alignment and every
// position at the edges of C. No bit around C may change.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "fragment/managed.hpp"
#include "reference/cpu.hpp"
#include "support/gpu.hpp"
#include "tenon/gemm/store_registers.hpp"

namespace tenon {
namespace {

constexpr int tile_m = 32, tile_n = 64;

enum class Op { linear_combination, bias_relu };

template <class Acc>
__global__ void store(const float* accumulators, Output c, int tile_row, int tile_column, Op op, float alpha,
                      float beta, const float* bias) {
  WarpTile<__half, Acc, tile_m, tile_n> tile;
  tile.clear();
  tile.for_each([&](float& v, int row, int column) { v = accumulators[row * tile_n + column]; });
  if (op == Op::linear_combination) {
    StoreRegisters{c, LinearCombination{alpha, beta}}(tile, tile_row, tile_column);
  } else {
    // Called only for elements of C: bias has no others.
    const auto bias_relu = [bias](float accumulator, int, int column) {
      return fmaxf(accumulator + bias[column], 0.0F);
    };
    StoreRegisters{c, bias_relu}(tile, tile_row, tile_column);
  }
}

// C: m x n, with `pad` elements between rows and its first element `shift` elements after an aligned address.
// The tile begins at (tile_row, tile_column).
struct Place {
  int m, n, tile_row, tile_column, pad, shift;
};

struct What {
  Op op;
  float alpha, beta;
  bool rounds;  // accumulators that no 16-bit type represents; else small multiples of 1/4: exact results
};

template <class Acc>
void expect_stored(Type type, const Place& place, const What& what) {
  SCOPED_TRACE(::testing::Message() << name(type) << ", " << place.m << " x " << place.n << ", tile at ("
                                    << place.tile_row << ", " << place.tile_column << "), pad " << place.pad
                                    << ", shift " << place.shift << ", alpha " << what.alpha << ", beta "
                                    << what.beta);
  std::mt19937 random(5);
  const auto quarter = [&] { return static_cast<float>(static_cast<int>(random() % 65) - 32) / 4; };
  std::normal_distribution<float> normal;
  test::Managed<float> accumulators(tile_m * tile_n, 0.0F), bias(static_cast<std::size_t>(place.n), 0.0F);
  for (std::size_t i = 0; i < accumulators.size(); ++i) {
    accumulators[i] = !what.rounds                 ? quarter()
                      : std::is_same_v<Acc, float> ? normal(random)
                                                   : static_cast<float>(1 + i);
  }
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = quarter();

  constexpr std::size_t guard = 64;  // elements on either side
  const std::size_t size = bytes(type), ld = static_cast<std::size_t>(place.n + place.pad);
  const std::size_t begin = guard + static_cast<std::size_t>(place.shift);
  test::Managed<unsigned char> buffer((begin + static_cast<std::size_t>(place.m) * ld + guard) * size, 0xff);
  std::vector<unsigned char> wanted(buffer.size(), 0xff);
  for (int row = 0; row < place.m; ++row) {
    for (int column = 0; column < place.n; ++column) {
      const std::size_t at =
          (begin + static_cast<std::size_t>(row) * ld + static_cast<std::size_t>(column)) * size;
      const float old = quarter();
      if (what.beta != 0.0F) {
        reference::encode(type, &old, 1, &buffer[at]);
        reference::encode(type, &old, 1, &wanted[at]);
      }
      const int i = row - place.tile_row, j = column - place.tile_column;
      if (i < 0 || i >= tile_m || j < 0 || j >= tile_n) continue;
      const float sum = accumulators[static_cast<std::size_t>(i * tile_n + j)];
      const float value = what.op == Op::bias_relu
                              ? std::fmax(sum + bias[static_cast<std::size_t>(column)], 0.0F)
                          : what.beta == 0.0F ? what.alpha * sum
                                              : what.alpha * sum + what.beta * old;
      reference::encode(type, &value, 1, &wanted[at]);
    }
  }

  const Output c{buffer.data() + begin * size, static_cast<std::int64_t>(ld), place.m, place.n, type};
  store<Acc><<<1, 32>>>(accumulators.data(), c, place.tile_row, place.tile_column, what.op, what.alpha,
                        what.beta, bias.data());
  ASSERT_TRUE(test::finished());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(static_cast<int>(buffer[i]), static_cast<int>(wanted[i]))
        << "byte " << i % size << " of element "
        << static_cast<std::int64_t>(i / size) - static_cast<std::int64_t>(begin);
  }
}

class EpilogueGpu : public test::GpuTest {
 protected:
  template <class Acc>
  void expect_stored_everywhere(const What& what) {
    const int edges[][4] = {
        {32, 64, 0, 0},  {1, 1, 0, 0},   {17, 7, 0, 0},     {31, 63, 0, 0},  {32, 8, 0, 0},
        {9, 33, 0, 0},   {16, 62, 0, 0}, {40, 100, 32, 64}, {33, 30, 32, 0}, {70, 140, 32, 64},
        {32, 64, 32, 0}, {32, 64, 0, 64}};  // the last two: no element is inside C
    for (const Type type : {Type::f16, Type::bf16, Type::f32}) {
      for (const auto& [m, n, tile_row, tile_column] : edges) {
        for (const int pad : {0, 1, 2, 8}) {
          for (const int shift : {0, 1, 2, 5, 8}) {
            expect_stored<Acc>(type, {m, n, tile_row, tile_column, pad, shift}, what);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
};

TEST_F(EpilogueGpu, RoundsOnceToTheOutputType) {
  expect_stored_everywhere<float>({Op::linear_combination, 1.0F, 0.0F, true});
  expect_stored_everywhere<__half>({Op::linear_combination, 1.0F, 0.0F, true});
}
TEST_F(EpilogueGpu, AlphaAndBeta) {
  expect_stored_everywhere<float>({Op::linear_combination, 0.5F, -2.0F, false});
  expect_stored_everywhere<__half>({Op::linear_combination, -3.0F, 1.0F, false});
}
TEST_F(EpilogueGpu, ACustomOperation) {
  expect_stored_everywhere<float>({Op::bias_relu, 1.0F, 0.0F, false});
}

}  // namespace
}  // namespace tenon
