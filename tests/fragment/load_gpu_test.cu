// load() and load_pair() on the GPU: elements numbered in a shared tile, loaded by ldmatrix from an offset,
// and written out as they lie in the registers. The host knows from the layout which number each must be.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/fragment/fragment.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {
namespace {

// A plain tile: `rows` rows of 64 + 16 bytes beyond what is needed, so that a wrong row is a wrong number.
template <int bits, bool major>
struct Tile {
  static constexpr bool k_major = major;
  static constexpr int rows = 96, pitch = 144;  // bytes; a multiple of 16
  uint32_t base;
  __device__ uint32_t address(int row, int col) const { return base + row * pitch + col * bits / 8; }
};

// The 32-bit word at (row, byte 4 * word) of the tile.
__host__ __device__ constexpr uint32_t word_at(int row, int word) {
  return 0x9e3779b9U * (36U * row + word + 1U);
}

// The number in the tile's storage at (row, col).
template <class T>
uint32_t element_at(int row, int col) {
  constexpr int bits = Element<T>::bits;
  const uint32_t word = word_at(row, col * bits / 32);
  return bits == 32 ? word : word >> (col * bits % 32) & ((1U << (bits % 32)) - 1);
}

enum class Load { a, b, pair };

template <class Shape, class T, bool k_major, Load what>
__global__ void load(uint32_t* out, int first, int second) {
  using Tile = Tile<Element<T>::bits, k_major>;
  __shared__ __align__(16) uint32_t memory[Tile::rows * Tile::pitch / 4];
  for (int i = threadIdx.x; i < Tile::rows * Tile::pitch / 4; i += 32) memory[i] = word_at(i / 36, i % 36);
  __syncwarp();
  const Tile tile{ptx::shared_address(memory)};
  if constexpr (what == Load::a) {
    FragmentA<Shape, T> a;
    a.load(tile, first, second);
    for (int r = 0; r < a.registers; ++r) out[threadIdx.x * a.registers + r] = a.reg[r];
  } else if constexpr (what == Load::b) {
    FragmentB<Shape, T> b;
    b.load(tile, first, second);
    for (int r = 0; r < b.registers; ++r) out[threadIdx.x * b.registers + r] = b.reg[r];
  } else {
    FragmentB<Shape, T> b0, b1;
    load_pair(b0, b1, tile, first, second);
    for (int r = 0; r < b0.registers; ++r) {
      out[threadIdx.x * 2 * b0.registers + r] = b0.reg[r];
      out[threadIdx.x * 2 * b0.registers + b0.registers + r] = b1.reg[r];
    }
  }
}

// `first` and `second` are the coordinates, in the operand, of the fragment's first element.
template <class Shape, class T, bool k_major, Load what>
void expect_loaded(int first, int second) {
  using Layout = std::conditional_t<what == Load::a, LayoutA<Shape, T>, LayoutB<Shape, T>>;
  constexpr int registers = Layout::registers * (what == Load::pair ? 2 : 1);
  test::Managed<uint32_t> out(32 * registers, 0);
  load<Shape, T, k_major, what><<<1, 32>>>(out.data(), first, second);
  ASSERT_TRUE(test::finished());
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < registers * Layout::per_register; ++e) {
      const Coord at = Layout::coord(lane, e % Layout::elements);
      const int row = first + at.row, col = second + at.col + 8 * (e / Layout::elements);
      // A is (m, k) and B is (k, n); a k-major tile stores (m or n, k), any other (k, m or n).
      const bool swapped = (what == Load::a) != k_major;
      const uint32_t expected = swapped ? element_at<T>(col, row) : element_at<T>(row, col);
      const uint32_t bits = out[lane * registers + e / Layout::per_register] >> Layout::bit_of(e);
      const uint32_t mask = Layout::bits == 32 ? ~0U : (1U << (Layout::bits % 32)) - 1;
      ASSERT_EQ(bits & mask, expected) << "lane " << lane << " element " << e;
    }
  }
}

class FragmentLoad : public test::GpuTest {};

template <class Shape, class T>
void expect_both_orders() {
  expect_loaded<Shape, T, true, Load::a>(16, 8);
  expect_loaded<Shape, T, true, Load::b>(8, 24);
  expect_loaded<Shape, T, true, Load::pair>(8, 24);
  expect_loaded<Shape, T, false, Load::a>(16, 8);
  expect_loaded<Shape, T, false, Load::b>(8, 24);
  expect_loaded<Shape, T, false, Load::pair>(8, 24);
}
TEST_F(FragmentLoad, F16M16n8k16) {
  expect_both_orders<m16n8k16, __half>();
}
TEST_F(FragmentLoad, F16M16n8k8) {
  expect_both_orders<m16n8k8, __half>();
}
TEST_F(FragmentLoad, Bf16M16n8k16) {
  expect_both_orders<m16n8k16, __nv_bfloat16>();
}

// 16 bytes along k are 128 / bits elements: offsets in k are multiples of that.
template <class Shape, class T>
void expect_k_major() {
  constexpr int k = 128 / Element<T>::bits;
  expect_loaded<Shape, T, true, Load::a>(16, k);
  expect_loaded<Shape, T, true, Load::b>(k, 24);
  expect_loaded<Shape, T, true, Load::pair>(k, 24);
}
TEST_F(FragmentLoad, Tf32) {
  expect_k_major<m16n8k4, tf32>();
  expect_k_major<m16n8k8, tf32>();
}
TEST_F(FragmentLoad, EightBits) {
  expect_k_major<m8n8k16, std::int8_t>();
  expect_k_major<m16n8k16, std::uint8_t>();
  expect_k_major<m16n8k32, std::int8_t>();
  expect_k_major<m16n8k32, e4m3>();
}
TEST_F(FragmentLoad, FourBits) {
  expect_k_major<m8n8k32, u4>();
  expect_k_major<m16n8k64, s4>();
}
TEST_F(FragmentLoad, Bits) {
  expect_k_major<m8n8k128, b1>();
  expect_k_major<m16n8k256, b1>();
}

}  // namespace
}  // namespace tenon
