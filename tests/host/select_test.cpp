// Acceptance and choice of kernels on made-up lists and devices.
#include "gemm/select.hpp"
#include "gemm/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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
  // One tile of 256x128 or 32 of 64x64 on 108 processors: the small tiles finish in one shorter round.
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

TEST(Select, IsAFunctionOfItsArguments) {
  const Gemm p = problem(3000, 2000, 1000);
  const std::string first = choice(p, h200);
  choice(problem(64, 64, 64), a100);
  EXPECT_EQ(choice(p, h200), first);
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
  EXPECT_EQ(refusal("e4m3", p, h200), "kernel e4m3 does not promote its sums but the problem asks for it");
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
  EXPECT_EQ(refusal("module_256x128", p, h200), "kernel module_256x128 writes f16 but C is f32");
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

TEST(EstimatedCost, CountsWholeRounds) {
  const Kernel& kernel = kernel_list()[2];  // 256 x 128
  const double one_round = estimated_cost(kernel, problem(256 * 108, 128, 64), a100);
  EXPECT_EQ(estimated_cost(kernel, problem(256, 128, 64), a100), one_round);
  EXPECT_EQ(estimated_cost(kernel, problem(256 * 109, 128, 64), a100), 2 * one_round);
}

// Two kernels that differ in nothing but the blocks that share a tile of 64 x 64.
const std::vector<Kernel>& whole_and_halves() {
  static const std::vector<Kernel> list = [] {
    std::vector<Kernel> two(2, test::kernel("whole", Copy::tma, 64, 64));
    two[1].name = "halves";
    two[1].cluster = two[1].split = 2;
    return two;
  }();
  return list;
}

TEST(Select, BlocksShareATileWhereTilesAreFewAndKIsLong) {
  const auto chosen = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return select_kernel(whole_and_halves(), problem(m, n, k), h200)->name;
  };
  EXPECT_EQ(chosen(64, 4096, 4096), "halves");  // 64 tiles, 132 processors
  EXPECT_EQ(chosen(64, 4096, 64), "whole");     // adding up would take longer than a block's part
  EXPECT_EQ(chosen(4096, 4096, 4096), "whole");
}

TEST(EstimatedCost, CountsEveryBlockOfATileAndTheSlabsOfTheLongest) {
  const Kernel &whole = whole_and_halves()[0], &halves = whole_and_halves()[1];
  const auto cost = [](const Kernel& kernel, int tiles, std::int64_t k) {
    return estimated_cost(kernel, problem(64 * tiles, 64, k), h200);
  };
  EXPECT_EQ(cost(halves, 67, 4096), 2 * cost(halves, 66, 4096));
  EXPECT_EQ(cost(halves, 66, 3 * 32), cost(halves, 66, 4 * 32));
  EXPECT_LT(cost(halves, 66, 2 * 32), cost(halves, 66, 3 * 32));
  EXPECT_GT(cost(halves, 66, 4096), cost(whole, 66, 4096) / 2);  // they add up
  EXPECT_GT(cost(halves, 132, 4096), cost(whole, 132, 4096));    // and gain nothing if all are busy
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

// The last 28 of 688 pairs of tiles, on 66 clusters: two blocks for each tile take half as long.
TEST(EstimatedCost, HalvesALastRoundThatEndsInPairs) {
  Kernel alone = wgmma_kernel(256, 192, 2, 1, 64);
  alone.warp_n *= 2;  // as many sums a thread
  const Kernel pairs = wgmma_kernel(256, 192, 2, 1, 128);
  const Gemm p = problem(8192, 8192, 8192);
  EXPECT_LT(estimated_cost(pairs, p, h200), 0.97 * estimated_cost(alone, p, h200));
  EXPECT_GT(estimated_cost(pairs, p, h200), 10.4 / 11 * estimated_cost(alone, p, h200));
  const Gemm short_k = problem(8192, 8192, 64);  // adding up would take longer
  EXPECT_EQ(estimated_cost(pairs, short_k, h200), estimated_cost(alone, short_k, h200));
  const Gemm full = problem(512 * 66, 192, 8192);  // nothing is left
  EXPECT_EQ(estimated_cost(pairs, full, h200), estimated_cost(alone, full, h200));
}

// 30 pairs of tiles on 66 clusters are computed by two blocks each, which share nothing (measured: 377
// TFLOP/s); 100 tiles that are smaller fill the device as well (549).
TEST(Select, BlocksOfAPairShareNothing) {
  Kernel by_turns = wgmma_kernel(128, 176, 2, 1, 128);
  by_turns.pingpong = true;
  by_turns.efficiency = efficiency_of(by_turns);
  const std::vector<Kernel> list = {wgmma_kernel(256, 160, 2, 1, 128), by_turns};
  EXPECT_EQ(select_kernel(list, problem(2520, 872, 2112), h200)->tile_m, 128);
  EXPECT_EQ(select_kernel(list, problem(4096, 1280, 8192), h200)->tile_m, 256);  // 64 of 66 clusters
}

// Lines that begin between the sectors of the L2 are more work for it, and a tile of 128 x 128 has more of
// them for its products than one of 128 x 224 (measured: 543 and 664 TFLOP/s with k = 1912). From a multiple
// of 32 bytes on they are not, wherever the lines of the L2 begin.
TEST(Select, LinesBetweenTheSectorsOfTheL2WantLargeTiles) {
  Kernel by_turns = wgmma_kernel(128, 128, 2, 1, 128);
  by_turns.cluster_n = 2;
  by_turns.pingpong = true;
  by_turns.efficiency = efficiency_of(by_turns);
  const std::vector<Kernel> list = {wgmma_kernel(128, 224, 2, 1, 64), by_turns};
  EXPECT_EQ(select_kernel(list, problem(3776, 3520, 1912), h200)->tile_n, 224);
  EXPECT_EQ(select_kernel(list, problem(3776, 3520, 1904), h200)->tile_n, 128);
  EXPECT_EQ(select_kernel(list, problem(3776, 3520, 1920), h200)->tile_n, 128);
}

// 264 rows are three tiles of 128, or two of 144 that compute the transpose of C (measured: 268 and 552
// TFLOP/s). Where the copy engine cannot write C these would store element by element.
TEST(Select, TilesOfTheTransposeOfCFitNumbersOfRowsBetweenMultiplesOf128) {
  const Kernel upright = wgmma_kernel(128, 128, 2, 2, 64);
  Kernel turned = upright;
  turned.turned = true;
  turned.tile_m = turned.warp_m = 144;
  turned.warp_n = 64;
  turned.efficiency = efficiency_of(turned);
  const std::vector<Kernel> list = {upright, turned};
  EXPECT_EQ(select_kernel(list, problem(264, 4096, 4096), h200)->tile_m, 144);
  EXPECT_EQ(select_kernel(list, problem(256, 4096, 4096), h200)->tile_m, 128);
  Gemm odd = problem(264, 4096, 4096);
  odd.c.ld += 1;
  EXPECT_EQ(select_kernel(list, odd, h200)->tile_m, 128);
}

TEST(Accepts, RowsOfCThatAreCountedIn31Bits) {
  Kernel turned = wgmma_kernel(128, 128, 2);
  turned.turned = true;
  EXPECT_TRUE(accepts(turned, problem(264, 536870911, 8), h200));
  Status why;
  EXPECT_FALSE(accepts(turned, problem(264, 536870912, 8), h200, &why));
  EXPECT_EQ(why.code(), StatusCode::unsupported);
  EXPECT_STREQ(why.message(), "kernel wgmma needs n <= 536870911 but n is 536870912");

  const Kernel upright = wgmma_kernel(128, 192, 2, 1, 64);
  Gemm words = problem(264, 1073741823, 8);
  words.c.type = Type::f32;
  EXPECT_TRUE(accepts(upright, words, h200));
  words = problem(264, 1073741824, 8);
  words.c.type = Type::f32;
  EXPECT_FALSE(accepts(upright, words, h200, &why));
  EXPECT_STREQ(why.message(), "kernel wgmma needs n <= 1073741823 but n is 1073741824");
  words.c.type = Type::f16;
  EXPECT_TRUE(accepts(upright, words, h200));
}

// The transpose of a product, by a kernel that is the same but for its stores, takes as long but for these.
TEST(EstimatedCost, OfTheTransposeOfCIsThatOfTheTurnedProduct) {
  const Kernel upright = wgmma_kernel(128, 192, 2, 1, 64);
  Kernel turned = upright;
  turned.turned = true;
  turned.tile_m = turned.warp_m = 192;
  turned.tile_n = 128, turned.warp_n = 64;
  turned.cluster_n = 2;
  const double as_long = estimated_cost(upright, problem(4096, 768, 2048), h200);
  const double stored_transposed = estimated_cost(turned, problem(768, 4096, 2048), h200);
  EXPECT_GT(stored_transposed, as_long);
  EXPECT_LT(stored_transposed, 1.06 * as_long);
}

TEST(EstimatedCost, OfOneTileCountsTheLinesThatAreCopied) {
  Kernel all = wgmma_kernel(64, 64, 1, 1, 64);
  Kernel cut = all;
  cut.cuts = true;
  EXPECT_LT(estimated_cost(cut, problem(3, 4096, 4096), h200),
            estimated_cost(all, problem(3, 4096, 4096), h200));
  EXPECT_EQ(estimated_cost(cut, problem(1, 4096, 4096), h200),
            estimated_cost(cut, problem(8, 4096, 4096), h200));
  EXPECT_EQ(estimated_cost(cut, problem(64, 4096, 4096), h200),
            estimated_cost(all, problem(64, 4096, 4096), h200));
  EXPECT_EQ(estimated_cost(cut, problem(65, 4096, 4096), h200),
            estimated_cost(all, problem(65, 4096, 4096), h200));
}

// All warpgroups store a tile of 128 x 256 at once, but with code of its own: where C has 16 bits that is
// faster than two tiles of 128 x 128 by turns when the board's power limits, else a little slower.
TEST(Select, StoresThatAreCompiledApart) {
  Kernel by_turns = wgmma_kernel(128, 128, 2, 1, 128);
  by_turns.cluster_n = 2;
  by_turns.pingpong = true;
  by_turns.efficiency = efficiency_of(by_turns);
  Kernel together = wgmma_kernel(128, 256, 2, 1, 64);
  together.stores_apart = true;
  const std::vector<Kernel> list = {together, by_turns};
  Gemm square = problem(2048, 2048, 2048);
  square.c.type = Type::f16;
  EXPECT_EQ(select_kernel(list, square, h200)->tile_n, 256);
  square.beta = 1.0F;
  EXPECT_EQ(select_kernel(list, square, h200)->tile_n, 128);
  square.beta = 0.0F;
  square.c.type = Type::f32;
  EXPECT_EQ(select_kernel(list, square, h200)->tile_n, 128);
}

// Of kernels that end in pairs: where the pairs begin, and for how many clusters there is work.
TEST(SharedOut, PairsTheTilesThatAreLeftIfTheyAreFewAndTheirKIsLong) {
  const auto is = [](const SharedOut& s, int undivided, int busy_clusters) {
    return s.undivided == undivided && s.busy_clusters == busy_clusters;
  };
  EXPECT_TRUE(is(share_out(688, 66, 128), 660, 66));  // 28 after ten rounds
  EXPECT_TRUE(is(share_out(33, 66, 16), 0, 66));
  EXPECT_TRUE(is(share_out(34, 66, 16), 34, 34));  // more than half of a round
  EXPECT_TRUE(is(share_out(64, 66, 16), 64, 64));
  EXPECT_TRUE(is(share_out(66, 66, 16), 66, 66));
  EXPECT_TRUE(is(share_out(1, 66, 16), 0, 2));
  EXPECT_TRUE(is(share_out(1, 66, 15), 1, 1));  // adding up would take longer
  EXPECT_TRUE(is(share_out(3, 2, 17), 2, 2));
  EXPECT_TRUE(is(share_out(1, 1, 17), 1, 1));
}

// So do 32 pairs of tiles that begin anywhere, if rows of A begin lines of the L2. Otherwise a block that
// shares nothing waits for the copy engine, but less than for twice the slabs.
TEST(EstimatedCost, HalvesALastRoundOfTilesThatBeginAnywhere) {
  const Kernel kernel = test::anywhere_kernel("anywhere");
  const auto cost = [&](std::int64_t m, std::int64_t lda) {
    Gemm p = problem(m, 4095, 4095);
    p.a.ld = lda, p.b.ld = 4095;
    return estimated_cost(kernel, p, h200);
  };
  constexpr std::int64_t half = 511, whole = 1023;  // 32 pairs of tiles, 64
  EXPECT_LT(cost(half, 4096), 0.6 * cost(whole, 4096));
  EXPECT_GT(cost(half, 4096), 0.5 * cost(whole, 4096));
  EXPECT_GT(cost(half, 4104), 1.3 * cost(half, 4096));
  EXPECT_LT(cost(half, 4104), 0.9 * cost(whole, 4104));
}

// Blocks that share B instead of A need an even number of tiles along m, not along n.
TEST(EstimatedCost, OfTilesThatBeginAnywhereIsThatOfTheBetterCluster) {
  const Kernel kernel = test::anywhere_kernel("anywhere");
  const auto cost = [&](std::int64_t m, std::int64_t n, std::int64_t lda) {
    Gemm p = problem(m, n, 960);  // too short for pairs
    p.a.ld = lda, p.b.ld = 961;
    return estimated_cost(kernel, p, h200);
  };
  EXPECT_EQ(cost(512, 66 * 128, 960 + 64), cost(256, 132 * 128, 960 + 64));  // 66 clusters each
  EXPECT_GT(cost(512, 66 * 128 + 1, 960 + 64), 1.5 * cost(512, 66 * 128, 960 + 64));
  EXPECT_EQ(cost(512, 65 * 128, 960 + 64), cost(512, 66 * 128, 960 + 64));
  EXPECT_EQ(cost(1024, 33 * 128, 960 + 64), cost(512, 66 * 128, 960 + 64));       // along m
  EXPECT_GT(cost(1024, 33 * 128, 960 + 8), 1.5 * cost(1024, 32 * 128, 960 + 8));  // along n alone
}

// While one warpgroup stores the other multiplies: what a tile costs beside its products is paid once.
TEST(EstimatedCost, OfPingPongKernelsHidesTheStoresOfAllTilesButTheLast) {
  const Kernel together = wgmma_kernel(128, 128, 1, 1, 128);
  Kernel by_turns = together;
  by_turns.pingpong = true;
  by_turns.efficiency = efficiency_of(by_turns);
  const auto cost = [](const Kernel& kernel, int rounds, std::int64_t k) {
    return estimated_cost(kernel, problem(128 * rounds, 128 * 132, k), h200);
  };
  EXPECT_EQ(cost(by_turns, 1, 2048), cost(together, 1, 2048));
  const double stores = 2 * cost(together, 1, 2048) - cost(together, 1, 4096);
  EXPECT_GT(stores, 0);
  EXPECT_DOUBLE_EQ(cost(by_turns, 7, 2048), cost(together, 7, 2048) - 6 * stores);
  // Rows of C that do not begin at multiples of 16 bytes are stored by the warps, and less is hidden. (Of
  // 16 bits: those of f32 cost more for themselves.)
  Gemm odd = problem(128 * 7, 128 * 132, 2048);
  odd.c.type = Type::f16;
  const double even = estimated_cost(by_turns, odd, h200);
  odd.c.ld += 1;
  EXPECT_LT(estimated_cost(by_turns, odd, h200), estimated_cost(together, odd, h200) - stores);
  EXPECT_GT(estimated_cost(by_turns, odd, h200), even + stores);
}

// The sums of tiles of 128 rows a warpgroup are divided among blocks only if both warpgroups compute the
// tile.
TEST(EstimatedCost, OfPingPongKernelsHasNoLastRoundInPairs) {
  Kernel kernel = wgmma_kernel(128, 192, 2, 1, 128);
  const Gemm p = problem(256 * 67, 192, 8192);  // one pair of tiles after a round
  const double in_pairs = estimated_cost(kernel, p, h200);
  kernel.pingpong = true;
  kernel.efficiency = efficiency_of(kernel);
  EXPECT_GT(estimated_cost(kernel, p, h200), 1.2 * in_pairs);
}

// Of a cluster along m half computes nothing if C has rows for one tile.
TEST(EstimatedCost, CountsBlocksThatHaveNoTile) {
  const Kernel one = wgmma_kernel(128, 128, 1), two = wgmma_kernel(128, 128, 2);
  const Gemm p = problem(128, 128 * 132, 4096);
  EXPECT_GT(estimated_cost(two, p, h200), 1.5 * estimated_cost(one, p, h200));
  Kernel along_n = two;
  along_n.cluster_n = 2;
  EXPECT_LE(estimated_cost(along_n, p, h200), estimated_cost(one, p, h200));
  const Gemm column = problem(128 * 132, 128, 4096);
  EXPECT_GT(estimated_cost(along_n, column, h200), 1.5 * estimated_cost(one, column, h200));
  EXPECT_LE(estimated_cost(two, column, h200), estimated_cost(one, column, h200));
}

// 36 columns of tiles 128 wide, 4 rows of them, are 144 tiles for 132 processors; 32 of 144 are 128.
TEST(Select, AWidthThatTheDeviceComputesInOneRound) {
  std::vector<Kernel> list = {wgmma_kernel(128, 128, 2), wgmma_kernel(128, 144, 2),
                              wgmma_kernel(128, 256, 2)};
  EXPECT_EQ(select_kernel(list, problem(512, 4608, 3584), h200)->tile_n, 144);
  EXPECT_EQ(select_kernel(list, problem(512, 4096, 3584), h200)->tile_n, 128);
  EXPECT_EQ(select_kernel(list, problem(8192, 8192, 8192), h200)->tile_n, 256);
}

// 18 or 24 blocks take one round either way. 32 columns more take a tile less time than a narrow strip while
// it has but one slab.
TEST(Select, ANarrowStripIsNotFree) {
  const std::vector<Kernel> list = {wgmma_kernel(64, 96, 1), wgmma_kernel(64, 128, 1)};
  EXPECT_EQ(select_kernel(list, problem(1, 2304, 64), h200)->tile_n, 128);
  EXPECT_EQ(select_kernel(list, problem(1, 2304, 768), h200)->tile_n, 96);
}

// Blocks along n copy half of A each, and need columns for both; those along m half of B.
TEST(EstimatedCost, OfAClusterAlongNCountsHalfOfA) {
  Kernel along_m = wgmma_kernel(128, 64, 2), along_n = along_m;
  along_n.cluster_n = 2;
  const Gemm p = problem(256, 64 * 66, 4096);
  EXPECT_LT(estimated_cost(along_n, p, h200), estimated_cost(along_m, p, h200));
  EXPECT_EQ(estimated_cost(along_n, problem(128, 64 * 131, 4096), h200),
            estimated_cost(along_n, problem(128, 64 * 132, 4096), h200));
}

// 33 clusters of four have a processor for each block, but not in groups that take them.
TEST(EstimatedCost, OfLargeClustersCountsThoseThatRunAtOnce) {
  const Kernel four = wgmma_kernel(64, 64, 4, 4);
  const auto cost = [&](int tiles) { return estimated_cost(four, problem(64, 64 * tiles, 4096), h200); };
  EXPECT_EQ(cost(33), 2 * cost(30));
}

// One row of A: what is copied counts, not what is multiplied, nor rows that A has not. With k = 1024 the L2
// holds B (35 of its 50 MB); with 4096 it comes from memory.
TEST(EstimatedCost, OfFewRowsIsThatOfTheCopies) {
  Kernel narrow = wgmma_kernel(64, 128, 1);
  narrow.cuts = true;
  const auto cost = [&](std::int64_t m, std::int64_t k) {
    return estimated_cost(narrow, problem(m, 128 * 132, k), h200);
  };
  EXPECT_EQ(cost(1, 4096), cost(8, 4096));
  const double from_l2 = cost(1, 1024) - cost(1, 512), from_memory = cost(1, 4096) - cost(1, 3584);
  EXPECT_GT(from_memory, 1.5 * from_l2);
  EXPECT_DOUBLE_EQ(cost(1, 8192) - cost(1, 4096), 8 * from_memory);
  EXPECT_LT(cost(1, 4096), estimated_cost(wgmma_kernel(128, 128, 1), problem(1, 128 * 132, 4096), h200));
}

TEST(Select, KernelsForOperandsAnywhereAreForThemAlone) {
  std::vector<Kernel> list = kernel_list();
  list.push_back(test::anywhere_kernel("anywhere"));
  const auto chosen = [&](const Gemm& p) { return select_kernel(list, p, h200)->name; };
  Gemm p = problem(2048, 2048, 2048);
  EXPECT_EQ(chosen(p), "tma_256x128");
  p.a.ld = 2049;
  EXPECT_EQ(chosen(p), "anywhere");
  p = problem(2048, 2048, 2048);
  p.b.data = static_cast<const char*>(p.b.data) + 2;
  EXPECT_EQ(chosen(p), "anywhere");
}

// Kernels for an A that lies anywhere: their B is copied 16 bytes at a time, and C leaves as it must.
TEST(Accepts, AnAThatLiesAnywhereBesideAnAlignedB) {
  const Kernel kernel = test::anywhere_turned_kernel("turned");
  Gemm p = problem(63, 63, 64);
  p.a.data = static_cast<const char*>(p.a.data) + 14;
  p.a.ld = 65;
  p.c.ld = 67;
  Status why;
  EXPECT_TRUE(accepts(kernel, p, h200, &why)) << why.message();
  p.b.ld = 65;
  EXPECT_FALSE(accepts(kernel, p, h200, &why));
  EXPECT_STREQ(why.message(), "kernel turned copies 16 bytes at a time: ldb is 65 but needs a multiple of 8");
}

// Eight lines of a matrix are a line of a tensor map.
TEST(Accepts, LeadingDimensionsWhoseEightfoldATensorMapHolds) {
  const Kernel kernel = test::anywhere_kernel("anywhere");
  Gemm p = problem(63, 63, 63);
  p.a.data = static_cast<const char*>(p.a.data) + 14;
  p.b.ld = (std::int64_t{1} << 36) - 1;
  Status why;
  EXPECT_TRUE(accepts(kernel, p, h200, &why)) << why.message();
  p.b.ld += 1;
  EXPECT_FALSE(accepts(kernel, p, h200, &why));
  EXPECT_STREQ(why.message(), "kernel anywhere copies by TMA: ldb is 68719476736 but needs <= 68719476735");
  Kernel of_a = kernel;
  of_a.anywhere = false;
  of_a.any_lda = true;
  p = problem(64, 64, 64);
  p.a.ld = std::int64_t{1} << 36;
  EXPECT_FALSE(accepts(of_a, p, h200));
}

// Tiles are of lines of one eighth, of which 2048 rows fill eight: one row more makes one more, and where A
// is aligned tiles are of neighbours.
TEST(EstimatedCost, CountsTilesOfEighths) {
  const Kernel kernel = test::anywhere_kernel("anywhere");
  const auto cost = [&](std::int64_t m, int pad) {
    Gemm p = problem(m, 256 * 66, 4096);  // a round for each row of tiles
    p.a.ld += pad;
    p.b.ld += 1;
    return estimated_cost(kernel, p, h200);
  };
  const double round = cost(256, 8);  // neighbours, in lines that begin on 16 bytes
  EXPECT_DOUBLE_EQ(cost(1000, 8), 4 * round);
  EXPECT_LT(cost(256, 0), round);  // in whole lines of the L2
  EXPECT_DOUBLE_EQ(cost(1000, 1), 8 * round);
  EXPECT_DOUBLE_EQ(cost(2048, 1), 8 * round);
  EXPECT_DOUBLE_EQ(cost(2049, 1), 9 * round);
  EXPECT_DOUBLE_EQ(cost(5, 1), 5 * round);
}

// Of what the copy engine cannot write, whichever kernel carries it: only kernels that carry their own lines
// come off better.
TEST(EstimatedCost, OfOddRowsInF32GrowsAlikeForAllKernelsButThoseOfOperandsAnywhere) {
  const auto of_odd_rows = [](const Kernel& kernel) {
    Gemm p = problem(2048, 2048, 2048);
    p.c.type = Type::f32;
    const double even = estimated_cost(kernel, p, h200);
    p.c.ld += 1;
    return estimated_cost(kernel, p, h200) - even;
  };
  const double of_wide = of_odd_rows(wgmma_kernel(128, 256, 1));
  EXPECT_GT(of_wide, 0);
  EXPECT_DOUBLE_EQ(of_odd_rows(wgmma_kernel(64, 128, 1)), of_wide);
  EXPECT_DOUBLE_EQ(of_odd_rows(kernel_list().front()), of_wide);
  EXPECT_EQ(of_odd_rows(test::anywhere_kernel("anywhere")), 0);
}

}  // namespace
}  // namespace tenon
