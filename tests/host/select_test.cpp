// Acceptance and choice of kernels on made-up lists and devices.
#include "gemm/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::a100;
using test::h200;
using test::kernel_list;
using test::problem;
using test::rtx3080;

std::string choice(const Gemm& p, const DeviceDescription& device) {
  const Kernel* kernel = select_kernel(kernel_list(), p, device);
  return kernel == nullptr ? "none" : kernel->name;
}

std::string refusal(const char* name, const Gemm& p, const DeviceDescription& device) {
  for (const Kernel& kernel : kernel_list()) {
    Status why;
    if (kernel.name == name) return accepts(kernel, p, device, &why) ? "accepted" : why.message();
  }
  return "no such kernel";
}

TEST(Select, ByArchitecture) {
  EXPECT_EQ(choice(problem(4096, 4096, 4096), h200), "tma_256x128");
  EXPECT_EQ(choice(problem(4096, 4096, 4096), a100), "async_256x128");
}

TEST(Select, BySharedMemory) {
  // 256x128 needs 98304 bytes of the 101376; with one stage more it would not fit.
  EXPECT_EQ(choice(problem(4096, 4096, 4096), rtx3080), "async_256x128");
  DeviceDescription small = rtx3080;
  small.shared_bytes_per_block_optin = 90000;
  EXPECT_NE(choice(problem(4096, 4096, 4096), small), "async_256x128");
  EXPECT_EQ(refusal("async_256x128", problem(64, 64, 64), small),
            "kernel async_256x128 needs 98304 bytes of shared memory a block but the device has 90000");
}

TEST(Select, ByWaves) {
  // One tile of 256x128 or 32 of 64x64 on 108 processors: the small tiles finish in one shorter wave.
  EXPECT_EQ(choice(problem(512, 256, 4096), a100), "async_64x64");
}

TEST(Select, ByLayout) {
  Gemm p = problem(1024, 1024, 1024);
  p.a.order = column_major;
  p.b.order = row_major;
  EXPECT_EQ(choice(p, a100), "any_128x128_nt");
  p.b.order = column_major;
  EXPECT_EQ(choice(p, a100), "none");
}

TEST(Select, ByAlignment) {
  Gemm p = problem(4095, 4095, 4095);
  EXPECT_EQ(choice(p, h200), "any_128x128");
  p = problem(4096, 4096, 4096);
  p.b.data = static_cast<const char*>(p.b.data) + 2;
  EXPECT_EQ(choice(p, h200), "any_128x128");
}

TEST(Select, NeverTheModule) {
  for (const std::int64_t size : {64, 1000, 4096, 8192}) {
    Gemm p = problem(size, size, 64);
    p.c.type = Type::f16;
    EXPECT_EQ(refusal("module_256x128", p, h200), "accepted");
    EXPECT_NE(choice(p, h200), "module_256x128");
  }
}

TEST(Select, NeverARefusedKernel) {
  const Gemm p = problem(4096, 4096, 4096);
  const std::vector<Kernel>& list = kernel_list();
  RefusedKernels refused;
  for (const char* const next : {"tma_256x128", "async_256x128", "any_128x128", "async_64x64"}) {
    const Kernel* const chosen = select_kernel(list, p, h200, refused);
    ASSERT_NE(chosen, nullptr);
    EXPECT_EQ(chosen->name, next);
    refused.push_back(chosen);
  }
  EXPECT_EQ(select_kernel(list, p, h200, refused), nullptr);
}

TEST(Select, ComparesAllKernelsOfAKind) {
  std::map<std::tuple<Type, Type, Type, bool, Order, Order>, std::size_t> of_kind;
  for (const Kernel& k : kernels())
    ++of_kind[{k.type, k.type_b, k.accumulate, k.promotes, k.a_order, k.b_order}];
  for (const auto& [kind, count] : of_kind) EXPECT_LE(count, most_candidates);
  EXPECT_GT(of_kind.size(), 20U);
}

// The library's own kernels, on problems of all sizes: neither what was chosen before, nor the order of the
// list, nor anything of an address but its alignment decides.
TEST(Select, TakesTheLeastEstimateWhateverWasChosenBeforeAndHoweverTheListIsOrdered) {
  std::vector<Kernel> reversed = kernels();
  std::reverse(reversed.begin(), reversed.end());
  std::mt19937 random(24);
  const auto extent = [&] { return std::int64_t{8} << std::uniform_int_distribution<int>(0, 10)(random); };
  for (int i = 0; i < 100; ++i) {
    const std::int64_t m = extent() + 8 * (i % 3), n = extent(), k = extent();
    Gemm p = problem(m, n, k);
    p.a.ld += i % 2;
    const DeviceDescription& device = i % 5 == 0 ? a100 : h200;
    const Kernel* const chosen = select_kernel(kernels(), p, device);
    ASSERT_NE(chosen, nullptr);
    const double cost = estimated_cost(*chosen, p, device);
    const Kernel* const chosen_of_reversed = select_kernel(reversed, p, device);
    ASSERT_NE(chosen_of_reversed, nullptr);
    EXPECT_EQ(estimated_cost(*chosen_of_reversed, p, device), cost) << m << " x " << n << " x " << k;
    for (const Kernel& kernel : kernels()) {
      if (kernel.copy == Copy::module || !accepts(kernel, p, device)) continue;
      if (kernel.unaligned && p.a.ld % 8 == 0) continue;  // only for unaligned operands
      if (yields_to_wgmma(kernel, p) && !yields_to_wgmma(*chosen, p)) continue;
      EXPECT_GE(estimated_cost(kernel, p, device), cost) << kernel.name << " instead of " << chosen->name;
    }
    Gemm elsewhere = p;
    elsewhere.a.data = static_cast<const char*>(p.a.data) + 4096;
    elsewhere.b.data = static_cast<const char*>(p.b.data) + 512;
    elsewhere.c.data = static_cast<char*>(p.c.data) + 1024;
    EXPECT_EQ(select_kernel(kernels(), elsewhere, device), chosen);
  }
}

TEST(Accepts, SaysWhatItFoundAndNeeds) {
  Gemm p = problem(64, 64, 64);
  EXPECT_EQ(refusal("tma_256x128", p, a100),
            "kernel tma_256x128 needs sm_90 exactly but the device is sm_80");
  DeviceDescription newer = h200;
  newer.sm = 100;
  EXPECT_EQ(refusal("tma_256x128", p, newer),
            "kernel tma_256x128 needs sm_90 exactly but the device is sm_100");
  DeviceDescription turing = a100;
  turing.sm = 75;
  EXPECT_EQ(refusal("any_128x128", p, turing),
            "kernel any_128x128 needs sm_80 or newer but the device is sm_75");
  p.a.ld = 65;
  EXPECT_EQ(refusal("async_64x64", p, a100),
            "kernel async_64x64 copies 16 bytes at a time: lda is 65 but needs a multiple of 8");
  p = problem(64, 64, 64);
  p.b.data = static_cast<const char*>(p.b.data) + 6;
  EXPECT_EQ(refusal("async_64x64", p, a100),
            "kernel async_64x64 copies 16 bytes at a time: B is 6 bytes past a multiple of 16 but needs 0");
  p = problem(64, 64, 64);
  p.a.type = p.b.type = Type::bf16;
  EXPECT_EQ(refusal("async_64x64", p, a100),
            "kernel async_64x64 multiplies f16 by f16 but A is bf16 and B is bf16");
  p = problem(64, 64, 64, Type::e4m3);
  p.promote = true;
  EXPECT_EQ(refusal("e4m3", p, h200),
            "kernel e4m3 does not promote its accumulators but the problem asks for promotion");
  p.a.ld = 72;
  EXPECT_EQ(refusal("e4m3_promoted", p, h200),
            "kernel e4m3_promoted copies 16 bytes at a time: lda is 72 but needs a multiple of 16");
  p = problem(64, 64, 64);
  p.accumulate = Type::f16;
  EXPECT_EQ(refusal("async_64x64", p, a100),
            "kernel async_64x64 accumulates in f32 but the problem asks for f16");
  p = problem(64, 64, 64);
  p.a.order = column_major;
  EXPECT_EQ(refusal("async_64x64", p, a100), "kernel async_64x64 takes A row-major but A is column-major");
  p = problem(64, 64, 64);
  p.b.order = row_major;
  EXPECT_EQ(refusal("async_64x64", p, a100), "kernel async_64x64 takes B column-major but B is row-major");
  p = problem(64, 64, 64);
  p.b.ld = (std::int64_t{1} << 39);
  EXPECT_EQ(refusal("tma_256x128", p, h200),
            "kernel tma_256x128 copies by TMA: ldb is 549755813888 but needs <= 549755813880");
  p = problem(64, 64, 64);
  EXPECT_EQ(refusal("module_256x128", p, h200), "kernel module_256x128 writes f16 but the result is f32");
  p = problem(64, 64, 64, Type::s8);
  p.b.ld = (std::int64_t{1} << 40);
  EXPECT_EQ(refusal("s8", p, h200),
            "kernel s8 copies by TMA: ldb is 1099511627776 but needs <= 1099511627760");
}

TEST(CopyAlignment, IsTheWidestCopyOfEveryRow) {
  const auto of = [](std::uintptr_t address, std::int64_t ld) {
    return copy_alignment({reinterpret_cast<const void*>(address), ld, row_major, Type::f16});
  };
  EXPECT_EQ(of(256, 8), 16);
  EXPECT_EQ(of(256, 4), 8);
  EXPECT_EQ(of(256, 2), 4);
  EXPECT_EQ(of(256, 1), 2);
  EXPECT_EQ(of(258, 8), 2);
  EXPECT_EQ(of(264, 16), 8);
}

TEST(EstimatedCost, CountsWholeWaves) {
  const Kernel& kernel = kernel_list()[2];  // 256 x 128
  const double one_wave = modelled_cost(kernel, problem(256 * 108, 128, 64), a100);
  EXPECT_EQ(modelled_cost(kernel, problem(256, 128, 64), a100), one_wave);
  EXPECT_EQ(modelled_cost(kernel, problem(256 * 109, 128, 64), a100), 2 * one_wave);
}

// Two kernels with tiles of 64 x 64: one CTA computes a tile, or two split its k.
const std::vector<Kernel>& with_and_without_split() {
  static const std::vector<Kernel> list = [] {
    std::vector<Kernel> two(2, test::kernel("whole", Copy::tma, 64, 64));
    two[1].name = "halves";
    two[1].cluster = two[1].split = 2;
    return two;
  }();
  return list;
}

TEST(Select, SplitsKWhereTilesAreFewAndKIsLong) {
  const auto chosen = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return select_kernel(with_and_without_split(), problem(m, n, k), h200)->name;
  };
  EXPECT_EQ(chosen(64, 4096, 4096), "halves");  // 64 tiles, 132 SMs
  EXPECT_EQ(chosen(64, 4096, 64), "whole");     // the reduction takes longer than half of k
  EXPECT_EQ(chosen(4096, 4096, 4096), "whole");
}

TEST(EstimatedCost, CountsEveryCtaOfATileAndTheMostKTiles) {
  const Kernel &whole = with_and_without_split()[0], &halves = with_and_without_split()[1];
  const auto cost = [](const Kernel& kernel, int tiles, std::int64_t k) {
    return modelled_cost(kernel, problem(64 * tiles, 64, k), h200);
  };
  EXPECT_EQ(cost(halves, 67, 4096), 2 * cost(halves, 66, 4096));
  EXPECT_EQ(cost(halves, 66, 3 * 32), cost(halves, 66, 4 * 32));
  EXPECT_LT(cost(halves, 66, 2 * 32), cost(halves, 66, 3 * 32));
  EXPECT_GT(cost(halves, 66, 4096), cost(whole, 66, 4096) / 2);  // the reduction
  EXPECT_GT(cost(halves, 132, 4096), cost(whole, 132, 4096));    // no gain if all SMs are busy
}

// What kernels.csv has for such a tile (kernel_table.py).
double efficiency_of(const Kernel& kernel) {
  const double n = kernel.columns();
  return kernel.pingpong       ? 0.918 + 0.009 * (n - 128) / 128
         : kernel.rows() > 128 ? 0.957 + 0.01 * (n - 192) / 32
         : kernel.rows() > 64  ? 0.903 + 0.052 * (n - 128) / 128
                               : 0.477 + 0.5 * (std::min(n, 128.0) - 64) / 64;
}

Kernel wgmma_kernel(int tile_m, int tile_n, int cluster, int split = 1, int warp_m = 64) {
  Kernel k = test::kernel("wgmma", Copy::tma, tile_m, tile_n);
  k.instruction = Instruction::wgmma;
  k.tile_k = 64;
  k.cluster = cluster;
  k.split = split;
  k.warp_m = warp_m;
  k.warp_n = tile_n;
  k.efficiency = efficiency_of(k);
  return k;
}

// 688 tile pairs on 66 clusters leave 28 for the last wave. Tail split-K halves its time.
TEST(EstimatedCost, HalvesALastWaveWithTailSplitK) {
  Kernel tail_split = wgmma_kernel(256, 192, 2, 1, 128);
  tail_split.splits_tail = true;
  Kernel whole = tail_split;
  whole.splits_tail = false;
  const Gemm p = problem(8192, 8192, 8192);  // 11 waves, the last of them less than half full
  const double eleven_waves = modelled_cost(whole, p, h200);
  EXPECT_LT(modelled_cost(tail_split, p, h200), (1 - 0.3 / 11) * eleven_waves);
  EXPECT_GT(modelled_cost(tail_split, p, h200), (1 - 0.6 / 11) * eleven_waves);
  const Gemm short_k = problem(512 * 67, 192, 64);  // the reduction would take longer
  EXPECT_EQ(modelled_cost(tail_split, short_k, h200), modelled_cost(whole, short_k, h200));
}

// With 30 tile pairs on 66 clusters, tail split-K computes everything, and its CTAs share no operands (377
// TFLOP/s measured). 100 smaller tiles fill the device as well (549).
TEST(Select, TailSplitKSharesNoOperands) {
  Kernel pingpong = wgmma_kernel(128, 176, 2, 1, 128);
  pingpong.pingpong = true;
  pingpong.efficiency = efficiency_of(pingpong);
  std::vector<Kernel> list = {wgmma_kernel(256, 160, 2, 1, 128), pingpong};
  list[0].splits_tail = true;
  // 60 tiles, each in two halves, take more than half the time of 64 of 66 clusters with whole ones.
  EXPECT_GT(modelled_cost(list[0], problem(2520, 872, 2112), h200),
            0.53 * modelled_cost(list[0], problem(4096, 1280, 2112), h200));
  EXPECT_EQ(select_kernel(list, problem(4096, 1280, 8192), h200)->tile_m, 256);  // 64 of 66 clusters
}

// Rows that cross L2 sectors are more work for the L2. A tile of 128 x 128 loads more rows for a multiply-add
// than one of 128 x 224 (543 and 664 TFLOP/s measured with k = 1912). Rows on multiples of 32 bytes cross no
// sector, even if they cross cache lines.
TEST(Select, RowsThatCrossSectorsWantLargeTiles) {
  Kernel pingpong = wgmma_kernel(128, 128, 2, 1, 128);
  pingpong.cluster_n = 2;
  pingpong.pingpong = true;
  pingpong.efficiency = efficiency_of(pingpong);
  const std::vector<Kernel> list = {wgmma_kernel(128, 224, 2, 1, 64), pingpong};
  EXPECT_EQ(select_kernel(list, problem(3776, 3520, 1912), h200)->tile_n, 224);
  const auto cost_of_small = [&](std::int64_t k) {
    const Gemm p = problem(3776, 3520, k);
    return modelled_cost(pingpong, p, h200) / modelled_cost(list.front(), p, h200);
  };
  EXPECT_GT(cost_of_small(1912), 1.02 * cost_of_small(1904));
  EXPECT_GT(cost_of_small(1912), 1.02 * cost_of_small(1920));
}

// 264 rows are three tiles of 128, or two swap-AB tiles of 144 (268 and 552 TFLOP/s measured). Where TMA
// cannot store C, a swap-AB kernel would store element by element.
TEST(Select, SwapAbTilesFitRowsBetweenMultiplesOf128) {
  const Kernel plain = wgmma_kernel(128, 128, 2, 2, 64);
  Kernel swapab = plain;
  swapab.swap_ab = true;
  swapab.tile_m = swapab.warp_m = 144;
  swapab.warp_n = 64;
  swapab.efficiency = efficiency_of(swapab);
  const std::vector<Kernel> list = {plain, swapab};
  EXPECT_EQ(select_kernel(list, problem(264, 4096, 4096), h200)->tile_m, 144);
  EXPECT_EQ(select_kernel(list, problem(256, 4096, 4096), h200)->tile_m, 128);
  Gemm odd = problem(264, 4096, 4096);
  odd.c.ld += 1;
  EXPECT_EQ(select_kernel(list, odd, h200)->tile_m, 128);
}

TEST(Accepts, RowsOfCThatAreCountedIn31Bits) {
  Kernel swapab = wgmma_kernel(128, 128, 2);
  swapab.swap_ab = true;
  EXPECT_TRUE(accepts(swapab, problem(264, 536870911, 8), h200));
  Status why;
  EXPECT_FALSE(accepts(swapab, problem(264, 536870912, 8), h200, &why));
  EXPECT_EQ(why.code(), StatusCode::unsupported);
  EXPECT_STREQ(why.message(), "kernel wgmma needs n <= 536870911 but n is 536870912");

  const Kernel plain = wgmma_kernel(128, 192, 2, 1, 64);
  Gemm words = problem(264, 1073741823, 8);
  words.c.type = Type::f32;
  EXPECT_TRUE(accepts(plain, words, h200));
  words = problem(264, 1073741824, 8);
  words.c.type = Type::f32;
  EXPECT_FALSE(accepts(plain, words, h200, &why));
  EXPECT_STREQ(why.message(), "kernel wgmma needs n <= 1073741823 but n is 1073741824");
  words.c.type = Type::f16;
  EXPECT_TRUE(accepts(plain, words, h200));
}

TEST(EstimatedCost, OfSwapAbIsThatOfTheTransposedProblem) {
  const Kernel plain = wgmma_kernel(128, 192, 2, 1, 64);
  Kernel swapab = plain;
  swapab.swap_ab = true;
  swapab.tile_m = swapab.warp_m = 192;
  swapab.tile_n = 128, swapab.warp_n = 64;
  swapab.cluster_n = 2;
  EXPECT_EQ(modelled_cost(swapab, problem(768, 4096, 2048), h200),
            modelled_cost(plain, problem(4096, 768, 2048), h200));
}

TEST(EstimatedCost, OfOneTileCountsTheRowsThatAreLoaded) {
  Kernel all = wgmma_kernel(64, 64, 1, 1, 64);
  Kernel with_residue = all;
  with_residue.loads_residue = true;
  EXPECT_LT(modelled_cost(with_residue, problem(3, 4096, 4096), h200),
            modelled_cost(all, problem(3, 4096, 4096), h200));
  EXPECT_EQ(modelled_cost(with_residue, problem(1, 4096, 4096), h200),
            modelled_cost(with_residue, problem(8, 4096, 4096), h200));
  EXPECT_EQ(modelled_cost(with_residue, problem(64, 4096, 4096), h200),
            modelled_cost(all, problem(64, 4096, 4096), h200));
  EXPECT_EQ(modelled_cost(with_residue, problem(65, 4096, 4096), h200),
            modelled_cost(all, problem(65, 4096, 4096), h200));
}

// Tail split-K halves the time of 32 unaligned tile pairs, if the rows of A begin on L2 lines. Otherwise a
// CTA that shares no operands waits for TMA, but less than for twice the k-tiles.
TEST(EstimatedCost, HalvesALastWaveOfUnalignedTiles) {
  const Kernel kernel = test::unaligned_kernel("unaligned");
  const auto cost = [&](std::int64_t m, std::int64_t lda) {
    Gemm p = problem(m, 4095, 4095);
    p.a.ld = lda, p.b.ld = 4095;
    return modelled_cost(kernel, p, h200);
  };
  constexpr std::int64_t half = 511, whole = 1023;  // 32 tile pairs, 64
  EXPECT_LT(cost(half, 4096), 0.6 * cost(whole, 4096));
  EXPECT_GT(cost(half, 4096), 0.5 * cost(whole, 4096));
  EXPECT_GT(cost(half, 4104), 1.3 * cost(half, 4096));
  EXPECT_LT(cost(half, 4104), 0.9 * cost(whole, 4104));
}

// CTAs that share B instead of A need an even number of tiles along m, not along n.
TEST(EstimatedCost, OfUnalignedTilesIsThatOfTheBetterCluster) {
  const Kernel kernel = test::unaligned_kernel("unaligned");
  const auto cost = [&](std::int64_t m, std::int64_t n, std::int64_t lda) {
    Gemm p = problem(m, n, 960);  // too short for tail split-K
    p.a.ld = lda, p.b.ld = 961;
    return modelled_cost(kernel, p, h200);
  };
  // 66 clusters each. Along m their CTAs share B, along n they share A, and a tile has fewer columns than
  // rows.
  const double of_one_wave = cost(512, 66 * 128, 960 + 64);
  EXPECT_NEAR(cost(256, 132 * 128, 960 + 64), of_one_wave, 0.06 * of_one_wave);
  EXPECT_GT(cost(512, 66 * 128 + 1, 960 + 64), 1.5 * cost(512, 66 * 128, 960 + 64));
  EXPECT_NEAR(cost(512, 65 * 128, 960 + 64), of_one_wave, 0.05 * of_one_wave);
  EXPECT_NEAR(cost(1024, 33 * 128, 960 + 64), of_one_wave, 0.05 * of_one_wave);   // along m
  EXPECT_GT(cost(1024, 33 * 128, 960 + 8), 1.5 * cost(1024, 32 * 128, 960 + 8));  // along n alone
}

// A device that does not say its bandwidth counts as an H100.
TEST(EstimatedCost, FallsWithTheBandwidthOfTheMemory) {
  const Kernel kernel = wgmma_kernel(128, 128, 2);
  const auto cost = [&](int memory_bytes_per_clock) {
    DeviceDescription device = h200;
    device.memory_bytes_per_clock = memory_bytes_per_clock;
    return modelled_cost(kernel, problem(128, 16384, 8192), device);
  };
  EXPECT_NEAR(cost(0), cost(1693), 1e-3 * cost(1693));
  EXPECT_LT(cost(2483), 0.95 * cost(1693));
}

// One warpgroup multiplies while the other one stores: only the stores of the last tile take time.
TEST(EstimatedCost, OfPingPongKernelsHidesTheStoresOfAllTilesButTheLast) {
  const Kernel cooperative = wgmma_kernel(128, 128, 1, 1, 128);
  Kernel pingpong = cooperative;
  pingpong.pingpong = true;
  const auto cost = [](const Kernel& kernel, int waves, std::int64_t k) {
    return modelled_cost(kernel, problem(128 * waves, 128 * 132, k), h200);
  };
  EXPECT_EQ(cost(pingpong, 1, 2048), cost(cooperative, 1, 2048));
  const double stores = (cost(cooperative, 7, 2048) - cost(pingpong, 7, 2048)) / 6;
  EXPECT_GT(stores, 0);
  EXPECT_NEAR(cost(cooperative, 4, 2048) - cost(pingpong, 4, 2048), 3 * stores, 1e-6 * stores);
  // The warps store rows of C that do not begin on multiples of 16 bytes, and hide less of it. (In f16: in
  // f32 such rows have a cost of their own.)
  Gemm odd = problem(128 * 7, 128 * 132, 2048);
  odd.c.type = Type::f16;
  const Gemm even = odd;
  odd.c.ld += 1;
  EXPECT_LT(modelled_cost(pingpong, odd, h200), modelled_cost(cooperative, odd, h200));
  EXPECT_GT(modelled_cost(pingpong, odd, h200) - modelled_cost(pingpong, even, h200),
            modelled_cost(cooperative, odd, h200) - modelled_cost(cooperative, even, h200));
}

// Not every kernel of two CTAs splits the last wave: Kernel::splits_tail says which.
TEST(EstimatedCost, WithoutTailSplitKALastWaveTakesAsLongAsAnother) {
  Kernel kernel = wgmma_kernel(128, 192, 2, 1, 128);
  kernel.splits_tail = true;
  const Gemm p = problem(256 * 67, 192, 8192);  // one tile pair after a wave
  const Gemm one_wave = problem(256 * 66, 192, 8192);
  EXPECT_LT(modelled_cost(kernel, p, h200), 1.8 * modelled_cost(kernel, one_wave, h200));
  kernel.splits_tail = false;
  EXPECT_GT(modelled_cost(kernel, p, h200), 1.85 * modelled_cost(kernel, one_wave, h200));
}

// Half of a cluster along m computes nothing if C has rows for one tile only.
TEST(EstimatedCost, CountsCtasThatHaveNoTile) {
  const Kernel one = wgmma_kernel(128, 128, 1), two = wgmma_kernel(128, 128, 2);
  const Gemm p = problem(128, 128 * 132, 4096);
  EXPECT_GT(modelled_cost(two, p, h200), 1.5 * modelled_cost(one, p, h200));
  Kernel along_n = two;
  along_n.cluster_n = 2;
  EXPECT_LE(modelled_cost(along_n, p, h200), modelled_cost(one, p, h200));
  const Gemm column = problem(128 * 132, 128, 4096);
  EXPECT_GT(modelled_cost(along_n, column, h200), 1.5 * modelled_cost(one, column, h200));
  EXPECT_LE(modelled_cost(two, column, h200), modelled_cost(one, column, h200));
}

// 4 x 36 tiles of 128 columns are 144 tiles for 132 SMs, 4 x 32 tiles of 144 columns are 128.
TEST(Select, AWidthThatTheDeviceComputesInOneWave) {
  std::vector<Kernel> list = {wgmma_kernel(128, 128, 2), wgmma_kernel(128, 144, 2),
                              wgmma_kernel(128, 256, 2)};
  EXPECT_EQ(select_kernel(list, problem(512, 4608, 3584), h200)->tile_n, 144);
  EXPECT_LT(select_kernel(list, problem(512, 4096, 3584), h200)->tile_n, 256);
  EXPECT_EQ(select_kernel(list, problem(8192, 8192, 8192), h200)->tile_n, 256);
}

// CTAs of a cluster along n load half of A each, and need columns for both. Those along m load half of B.
TEST(EstimatedCost, OfAClusterAlongNCountsHalfOfA) {
  Kernel along_m = wgmma_kernel(128, 64, 2), along_n = along_m;
  along_n.cluster_n = 2;
  const Gemm p = problem(256, 64 * 66, 4096);
  EXPECT_LT(modelled_cost(along_n, p, h200), modelled_cost(along_m, p, h200));
  const double even = modelled_cost(along_n, problem(128, 64 * 132, 4096), h200);
  EXPECT_NEAR(modelled_cost(along_n, problem(128, 64 * 131, 4096), h200), even, 0.01 * even);
}

// 33 clusters of four have an SM for each CTA, but not within the GPCs.
TEST(EstimatedCost, OfLargeClustersCountsTheClustersThatRunAtOnce) {
  const Kernel four = wgmma_kernel(64, 64, 4, 4);
  const auto cost = [&](int tiles) { return modelled_cost(four, problem(64, 64 * tiles, 4096), h200); };
  EXPECT_GT(cost(33), 2 * cost(30));  // the second wave also begins anew
  EXPECT_LT(cost(33), 3 * cost(30));
}

// With one row of A the loads of existing rows count, not the multiplication. With k = 512 the L2 holds B
// (17 of its 50 MB). With k = 4096 B comes from memory.
TEST(EstimatedCost, OfFewRowsIsThatOfTheLoads) {
  Kernel narrow = wgmma_kernel(64, 128, 1);
  narrow.loads_residue = true;
  const auto cost = [&](std::int64_t m, std::int64_t k) {
    return modelled_cost(narrow, problem(m, 128 * 132, k), h200);
  };
  EXPECT_EQ(cost(1, 4096), cost(8, 4096));
  const double from_l2 = cost(1, 512) - cost(1, 256), from_memory = cost(1, 4096) - cost(1, 3584);
  EXPECT_GT(from_memory, 1.9 * from_l2);  // twice the k-tiles
  EXPECT_NEAR(cost(1, 8192) - cost(1, 4096), 8 * from_memory, 1e-9 * from_memory);
  EXPECT_LT(cost(1, 4096), modelled_cost(wgmma_kernel(128, 128, 1), problem(1, 128 * 132, 4096), h200));
}

// The fastest tiles have no store for every epilogue, but for an aux that TMA can store or load.
TEST(Select, LargeProductsWithAuxTakeLargeTiles) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::gelu, Activation::drelu, Activation::dgelu}) {
    Gemm p = problem(8192, 8192, 1024, Type::bf16);
    p.d = {reinterpret_cast<void*>(std::uintptr_t{4} << 40), 8192, Type::bf16};
    p.epilogue.activation = activation;
    p.epilogue.aux = {reinterpret_cast<void*>(std::uintptr_t{5} << 40), 8192, Type::bf16};
    const auto chosen = [&] { return select_kernel(p, h200); };
    EXPECT_GT(chosen()->tile_m * chosen()->tile_n, 128 * 128) << chosen()->name;
    p.epilogue.bias = {reinterpret_cast<const void*>(std::uintptr_t{6} << 40), Type::bf16};
    EXPECT_GT(chosen()->tile_m * chosen()->tile_n, 128 * 128) << chosen()->name;
    const auto takes_all = [&] { return chosen()->takes_epilogue == nullptr; };
    p.epilogue.bias.data = reinterpret_cast<const void*>((std::uintptr_t{6} << 40) + 2);
    EXPECT_TRUE(takes_all()) << "a bias between words: " << chosen()->name;
    p.epilogue.bias = {};
    p.epilogue.aux.ld = 8196;
    EXPECT_TRUE(takes_all()) << "an unaligned aux: " << chosen()->name;
    p.epilogue.aux = {reinterpret_cast<void*>(std::uintptr_t{5} << 40), 8192, Type::f16};
    EXPECT_TRUE(takes_all()) << "of another type: " << chosen()->name;
  }
}

TEST(Select, UnalignedKernelsAreForUnalignedOperandsOnly) {
  std::vector<Kernel> list = kernel_list();
  list.push_back(test::unaligned_kernel("unaligned"));
  const auto chosen = [&](const Gemm& p) { return select_kernel(list, p, h200)->name; };
  Gemm p = problem(2048, 2048, 2048);
  EXPECT_EQ(chosen(p), "tma_256x128");
  p.a.ld = 2049;
  EXPECT_EQ(chosen(p), "unaligned");
  p = problem(2048, 2048, 2048);
  p.b.data = static_cast<const char*>(p.b.data) + 2;
  EXPECT_EQ(chosen(p), "unaligned");
}

// A kernel for an unaligned A copies B 16 bytes at a time, and takes any C.
TEST(Accepts, AnUnalignedABesideAnAlignedB) {
  const Kernel kernel = test::unaligned_swapab_kernel("swapab");
  Gemm p = problem(63, 63, 64);
  p.a.data = static_cast<const char*>(p.a.data) + 14;
  p.a.ld = 65;
  p.c.ld = 67;
  Status why;
  EXPECT_TRUE(accepts(kernel, p, h200, &why)) << why.message();
  p.b.ld = 65;
  EXPECT_FALSE(accepts(kernel, p, h200, &why));
  EXPECT_STREQ(why.message(), "kernel swapab copies 16 bytes at a time: ldb is 65 but needs a multiple of 8");
}

// A row-interleaved tensor map has a stride of eight rows.
TEST(Accepts, LeadingDimensionsOfEightRowsThatATensorMapHolds) {
  const Kernel kernel = test::unaligned_kernel("unaligned");
  Gemm p = problem(63, 63, 63);
  p.a.data = static_cast<const char*>(p.a.data) + 14;
  p.b.ld = (std::int64_t{1} << 36) - 1;
  Status why;
  EXPECT_TRUE(accepts(kernel, p, h200, &why)) << why.message();
  p.b.ld += 1;
  EXPECT_FALSE(accepts(kernel, p, h200, &why));
  EXPECT_STREQ(why.message(), "kernel unaligned copies by TMA: ldb is 68719476736 but needs <= 68719476735");
  Kernel of_a = kernel;
  of_a.unaligned = false;
  of_a.row_interleaved = true;
  p = problem(64, 64, 64);
  p.a.ld = std::int64_t{1} << 36;
  EXPECT_FALSE(accepts(of_a, p, h200));
}

// A tile holds rows of one stride-8 view: 2048 rows fill eight tiles of 256, one more row makes a ninth. If A
// is aligned, a tile holds adjacent rows.
TEST(EstimatedCost, CountsRowInterleavedTiles) {
  const Kernel kernel = test::unaligned_kernel("unaligned");
  const auto cost = [&](std::int64_t m, int pad) {
    Gemm p = problem(m, 256 * 66, 4096);  // a wave for each row of tiles
    p.a.ld += pad;
    p.b.ld += 1;
    return modelled_cost(kernel, p, h200);
  };
  const double first = cost(256, 8);  // adjacent rows on multiples of 16 bytes
  const double wave = cost(512, 8) - first;
  EXPECT_NEAR(cost(1000, 8), first + 3 * wave, 0.1 * first);
  EXPECT_LT(cost(256, 0), first);  // on L2 lines
  // A wave takes about as long as the first one, so a row of tiles too many or too few would show.
  EXPECT_NEAR(cost(1000, 1), first + 7 * wave, 0.2 * first);
  EXPECT_NEAR(cost(2048, 1), first + 7 * wave, 0.2 * first);
  EXPECT_NEAR(cost(2049, 1), first + 8 * wave, 0.2 * first);
  EXPECT_NEAR(cost(5, 1), 5 * wave, 0.1 * cost(5, 1));
}

// Rows of C that TMA cannot store cost the same in all kernels but the unaligned ones, which realign them.
TEST(EstimatedCost, OfUnalignedRowsInF32GrowsAlikeForAllKernelsButUnalignedOnes) {
  const auto of_unaligned_rows = [](const Kernel& kernel) {
    Gemm p = problem(2048, 2048, 2048);
    p.c.type = Type::f32;
    const double even = modelled_cost(kernel, p, h200);
    p.c.ld += 1;
    return modelled_cost(kernel, p, h200) - even;
  };
  const double of_wide = of_unaligned_rows(wgmma_kernel(128, 256, 1));
  EXPECT_GT(of_wide, 0);
  EXPECT_NEAR(of_unaligned_rows(wgmma_kernel(64, 128, 1)), of_wide, 1e-9 * of_wide);
  EXPECT_GE(of_unaligned_rows(kernel_list().front()), of_wide);  // of mma.sync
  EXPECT_EQ(of_unaligned_rows(test::unaligned_kernel("unaligned")), 0);
}

}  // namespace
}  // namespace tenon
