// Executes WarpgroupTile, WgmmaAccumulator and ShiftedRows (warpgroup_kernels.cu) and compares with products
// of integers: k- and mn-major tiles, panels, several warpgroups, a ring of stages with one group in flight,
// and accumulators that are changed and added to. In the emulator under every schedule, or with
// TENON_TEST_DEVICE=cuda on a GPU.
#include <gtest/gtest.h>

#include <random>

#include "emulator/instructions/wgmma_kernel.hpp"
#include "support/ptx_entries.hpp"

namespace tenon::emulator::testing {
namespace {

const PtxEntry& entry(const std::string& name) {
  static const auto all = ptx_entries(TENON_WARPGROUP_PTX);
  return all.at(name);
}

std::vector<int> integers(int count, unsigned seed, bool is_signed = true) {
  std::mt19937 random(seed);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) value = static_cast<int>(random() % 5) - (is_signed ? 2 : 0);
  return values;
}

std::uint64_t upload(PtxKernel& kernel, const std::string& type, const std::vector<int>& values) {
  std::vector<std::uint8_t> bytes;
  for (const int value : values) {
    const std::uint32_t bits = element(type, value);
    for (int i = 0; i < bits_of_type(type) / 8; ++i)
      bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * i));
  }
  return kernel.upload(bytes);
}

struct Product {
  const char* name;
  int m, n, depth;
  const char *a, *b;
  unsigned threads = 128;
};

// 2 * A * B^T, with the last k-tile added once more.
void expect_product(const Product& p, int k_tiles, int again, std::uint64_t seeds) {
  SCOPED_TRACE(std::string(p.name) + ", k-tiles " + std::to_string(k_tiles) + ", again " +
               std::to_string(again));
  const int k = k_tiles * p.depth;
  const std::vector<int> a = integers(p.m * k, 1), b = integers(p.n * k, 2, std::string(p.b) != "u8");
  PtxKernel kernel(entry(p.name).parameters, entry(p.name).body);
  const auto count = static_cast<std::size_t>(p.m * p.n);
  const std::uint64_t c = kernel.zeros<float>(count);
  kernel.grid(1, p.threads)
      .argument(0, upload(kernel, p.a, a))
      .argument(1, upload(kernel, p.b, b))
      .argument(2, c)
      .argument(3, std::int32_t{k_tiles})
      .argument(4, std::int32_t{again});
  std::vector<float> expected;
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      int sum = 0;
      for (int x = 0; x < k; ++x) {
        const int times = again != 0 && x >= k - p.depth ? 3 : 2;
        sum += times * a[static_cast<std::size_t>(i * k + x)] * b[static_cast<std::size_t>(j * k + x)];
      }
      expected.push_back(static_cast<float>(sum));
    }
  }
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<float>(c, count), expected); }, seeds);
}

constexpr Product products[] = {{"f16_m64n64", 64, 64, 64, "f16", "f16"},
                                {"f16_m128n128", 128, 128, 64, "f16", "f16"},
                                {"f16_two_warpgroups", 128, 64, 64, "f16", "f16", 256},
                                {"f16_two_panels", 64, 40, 128, "f16", "f16"},
                                {"f16_sums_in_f16", 64, 64, 64, "f16", "f16"},
                                {"f16_both_mn_major", 64, 128, 32, "f16", "f16"},
                                {"bf16_a_k_major", 128, 128, 32, "bf16", "bf16", 256},
                                {"bf16_b_k_major", 128, 128, 32, "bf16", "bf16"},
                                {"tf32_m64n64", 64, 64, 32, "tf32", "tf32"},
                                {"e4m3_e5m2_n96", 64, 96, 128, "e4m3", "e5m2"},
                                {"s8_u8_n48", 64, 48, 64, "s8", "u8"}};

TEST(WarpgroupTile, MultipliesTilesOfEveryTypeAndOrder) {
  for (const Product& p : products) expect_product(p, 1, 0, 0);
}

TEST(WarpgroupTile, AddsKTilesWithOneGroupInFlight) {
  for (const Product& p : products) expect_product(p, 3, 1, 0);
}

TEST(WarpgroupTile, FreesAStageOnlyWhenItIsRead) {
  expect_product(products[0], 4, 1, 8);
  expect_product(products[2], 5, 0, 8);
}

TEST(WgmmaAccumulator, ItsValuesAreTheNextOperand) {
  const std::vector<int> a = integers(64 * 64, 5), b = integers(64 * 64, 6), d = integers(64 * 64, 7);
  PtxKernel kernel(entry("chain").parameters, entry("chain").body);
  const std::uint64_t c = kernel.zeros<float>(64 * 64);
  kernel.grid(1, 128)
      .argument(0, upload(kernel, "f16", a))
      .argument(1, upload(kernel, "f16", b))
      .argument(2, upload(kernel, "f16", d))
      .argument(3, c);
  const auto product = [](const std::vector<int>& x, const std::vector<int>& y) {
    std::vector<int> z(64 * 64);
    for (std::size_t i = 0; i < 64; ++i) {
      for (std::size_t j = 0; j < 64; ++j) {
        for (std::size_t k = 0; k < 64; ++k) z[i * 64 + j] += x[i * 64 + k] * y[j * 64 + k];
      }
    }
    return z;
  };
  const std::vector<int> sums = product(product(a, b), d);
  const std::vector<float> expected(sums.begin(), sums.end());
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<float>(c, 64 * 64), expected); }, 4);
}

// Each shift for all rows, all shifts at once in both directions, and even beside odd ones: the accumulators
// are those of the unshifted product.
TEST(ShiftedRows, AlignsEveryRowWithTheOtherOperand) {
  std::vector<std::vector<int>> shifts = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {0, 2, 4, 6, 1, 3, 5, 7}};
  for (int i = 0; i < 8; ++i) shifts.emplace_back(8, i);
  for (const int k_tiles : {1, 3}) {
    const int k = 64 * k_tiles;
    const std::vector<int> a = integers(64 * k, 1), b = integers(64 * k, 2);
    std::vector<float> expected;
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 64; ++j) {
        int sum = 0;
        for (int x = 0; x < k; ++x)
          sum += a[static_cast<std::size_t>(i * k + x)] * b[static_cast<std::size_t>(j * k + x)];
        expected.push_back(static_cast<float>(sum));
      }
    }
    for (const std::vector<int>& shift : shifts) {
      for (const std::int32_t before : {8, 64}) {
        SCOPED_TRACE("first shift " + std::to_string(shift[0]) + ", k-tiles " + std::to_string(k_tiles) +
                     ", before the first " + std::to_string(before));
        PtxKernel kernel(entry("shifted").parameters, entry("shifted").body);
        const std::uint64_t c = kernel.zeros<float>(64 * 64);
        kernel.grid(1, 128)
            .argument(0, upload(kernel, "f16", a))
            .argument(1, upload(kernel, "f16", b))
            .argument(2, kernel.upload(shift))
            .argument(3, c)
            .argument(4, std::int32_t{k_tiles})
            .argument(5, before);
        expect_clean(
            kernel, [&] { EXPECT_EQ(kernel.download<float>(c, 64 * 64), expected); }, 0);
      }
    }
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
