// The emulator's counts for a product with every kernel: what the kernel executes, loads and stores beyond
// what the product needs.
#include "gemm/gemm_test.hpp"

namespace tenon {
namespace {

using test::Case;
using test::GemmTest;
using test::Numbers;
using test::Product;

// The emulator's counts for a product of whole tiles: no instruction, byte or wavefront more than needed.
TEST_P(GemmTest, AlignedProductsHaveNoWaste) {
  if (!test::emulated()) GTEST_SKIP() << "only the emulator counts";
  if (kernel().row_interleaved || kernel().unaligned) GTEST_SKIP() << "this kernel is for unaligned rows";
  // At least a tile for each CTA of a cluster, whether the cluster lies along m or n, and two k-tiles for
  // each CTA that shares a tile by cluster split-K.
  const int split = kernel().split, ctas = kernel().cluster / split;
  const Case c =
      with_output({std::int64_t{kernel().tile_m} * ctas, std::int64_t{kernel().tile_n} * ctas,
                   2 * split * std::int64_t{kernel().tile_k}, Numbers::integers, outputs().front()});
  Product product(kernel(), c);
  if (kernel().partial_bytes != 0) product.allocate_workspace();
  // Few multiprocessors: else the tiles would be fitted to all that there are. Where there are fewer than a
  // cluster has, tiles are the widest.
  if (kernel().narrowest != 0 && kernel().cluster <= few_multiprocessors())
    product.problem.multiprocessors = kernel().cluster;
  const emulator::Counts counts = product.run();
  product.expect_right();
  const bool wgmma = kernel().instruction == Instruction::wgmma;
  const auto element = static_cast<std::int64_t>(bytes(kernel().type));
  // Of one instruction: m n k. A promoting kernel computes at most 128 columns at a time.
  const int columns = kernel().swap_ab ? kernel().warp_m : kernel().warp_n;
  const std::int64_t n = kernel().promotes ? std::min(columns, 128) : columns;
  const std::int64_t instruction =
      wgmma ? 64 * n * (32 / element) : 16 * 8 * (element == 8 ? 16 : 32 / element);
  EXPECT_EQ(counts.matrix_operations, static_cast<std::uint64_t>(c.m * c.n * c.k / instruction));
  EXPECT_EQ(counts.flop, static_cast<std::uint64_t>(2 * c.m * c.n * c.k));
  EXPECT_EQ(counts.shared_wavefronts, counts.ideal_shared_wavefronts) << "bank conflicts";
  // A lane of a fused epilogue has eight adjacent elements: in f32 a sector of 32 bytes, stored in two
  // halves.
  const std::uint64_t stores_of_a_sector = kernel().fused && c.out == Type::f32 ? 2 : 1;
  EXPECT_EQ(counts.global_sectors, stores_of_a_sector * counts.ideal_global_sectors)
      << "accesses that do not coalesce";
  EXPECT_GT(counts.shared_wavefronts, 0U);
  // Asynchronous copies load A and B once each (Copy::any kernels copy aligned operands by cp.async too).
  // This product has as many tiles along m and along n as a cluster has CTAs: the clusters beside each other
  // along n load the same rows of A, those along m the same columns of B. In wgmma kernels without a fused
  // epilogue TMA also stores C, all whole epilogue subtiles of 32 columns, and nothing else accesses global
  // memory.
  const std::int64_t whole_subtiles =  // columns of a tile
      wgmma && !kernel().fused ? kernel().tile_n / 32 * 32 : 0;
  EXPECT_EQ(counts.global_sectors == 0, whole_subtiles == kernel().tile_n);
  // CTAs along m load equally many groups of 8 columns of B.
  const std::int64_t along_n = kernel().cluster_n, along_m = ctas / along_n;
  const std::int64_t group = wgmma ? 8 * along_m : 1;
  // The operand that has the columns of the instruction is loaded in whole panels of 128 bytes where those
  // columns are contiguous.
  const std::int64_t panel = 128 / element;
  const auto in_panels = [&](std::int64_t extent, bool contiguous) {
    return wgmma && contiguous ? (extent + panel - 1) / panel * panel : extent;
  };
  const std::int64_t copied_n = in_panels((kernel().tile_n + group - 1) / group * group,
                                          !kernel().swap_ab && kernel().b_order == row_major);
  const std::int64_t copied_m =
      in_panels(kernel().tile_m, kernel().swap_ab && kernel().a_order == column_major);
  const auto bytes = [&](std::int64_t times_a, std::int64_t times_b) {
    const std::int64_t rows = c.m / kernel().tile_m * copied_m, columns = c.n / kernel().tile_n * copied_n;
    return static_cast<std::uint64_t>(element * (times_a * rows + times_b * columns) * c.k +
                                      4 * c.m * c.n / kernel().tile_n * whole_subtiles);
  };
  EXPECT_EQ(counts.async_bytes, bytes(ctas / along_n, ctas / along_m));
}

// Reading unaligned rows of A (and B, where the kernel takes it) from shared memory causes no bank conflicts:
// the conflicts at the beginning of rows and in the store of C do not grow with k.
TEST_P(GemmTest, UnalignedRowsHaveNoBankConflicts) {
  if (!test::emulated()) GTEST_SKIP() << "only the emulator counts";
  if (!kernel().unaligned) GTEST_SKIP() << "this kernel reads aligned rows";
  for (const int pad : {0, 1, 2, 3}) {
    const auto conflicts = [&](std::int64_t k) {
      const bool unaligned_b = takes_unaligned_b();
      Product product(kernel(), with_output({80, 100, k, Numbers::integers, kernel().type,
                                             unaligned_b ? pad : 0, pad, unaligned_b ? 1 : 0, 1, 1}));
      const emulator::Counts counts = product.run();
      product.expect_right();
      return counts.shared_wavefronts - counts.ideal_shared_wavefronts;
    };
    EXPECT_EQ(conflicts(120), conflicts(248)) << "pad " << pad;
  }
}

}  // namespace
}  // namespace tenon
