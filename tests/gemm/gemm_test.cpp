// The library end to end: gemm() runs every kernel of the list by name, on a GPU and, with fewer cases, in
// the emulator.
//
// Quick is the subset for sanitizers. tests/host tests what the API promises besides numbers.
#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "gemm/gemm_test.hpp"

namespace tenon {
namespace {

using test::Case;
using test::GemmTest;
using test::Numbers;
using test::Operands;
using test::Product;

TEST_P(GemmTest, Quick) {
  if (test::emulated()) {
    check(with_output({33, 65, 17}));
    // Rows that TMA cannot read are padded alike for all kernels of a type and layout: small ones show it.
    if (kernel().copy == Copy::tma && kernel().tile_m * kernel().tile_n > 64 * 128) return;
    check(with_output({70, 66, 75, Numbers::normals, Type::bf16, 1}));  // element by element, or padded
    check(with_output({70, 66, 76, Numbers::normals, Type::f16, 2}));   // 4 bytes at a time
    return;
  }
  for (const Type out : outputs()) {
    check({33, 65, 17, Numbers::integers, out});
    check({129, 127, 72, Numbers::normals, out, 0, 0, 0, 1, 1});
  }
  check_both_numbers({1, 1, 1});
  check_both_numbers({70, 66, 75, {}, Type::f32, 1});
  check_both_numbers({70, 66, 76, {}, Type::f32, 2});
}

TEST_P(GemmTest, EveryShape) {
  constexpr std::int64_t shapes[][3] = {
      {1, 1, 1},      {1, 511, 7},     {511, 1, 8},     {2, 3, 1},       {3, 2, 511},     {7, 8, 16},
      {8, 7, 17},     {16, 16, 16},    {17, 31, 33},    {31, 17, 64},    {33, 65, 31},    {64, 64, 64},
      {65, 33, 127},  {127, 129, 65},  {128, 128, 128}, {129, 127, 129}, {255, 257, 33},  {257, 255, 31},
      {128, 257, 17}, {257, 128, 255}, {1, 128, 257},   {128, 1, 255},   {2, 511, 65},    {511, 2, 64},
      {3, 129, 511},  {129, 3, 128},   {7, 255, 2},     {255, 7, 3},     {511, 511, 129}, {64, 31, 511},
      {31, 64, 257},  {16, 511, 8},    {511, 129, 1},   {257, 257, 127}};
  if (test::emulated()) {
    check(with_output({1, 1, 1}));
    check(with_output({129, 7, 65, Numbers::normals}));
    check(with_output({7, 259, 64, Numbers::normals, Type::f16}));
    return;
  }
  for (const auto& [m, n, k] : shapes) {
    check_both_numbers({m, n, k});
    if (HasFatalFailure()) return;
  }
}

// k just below, at and just above one k-tile, and the same around as many k-tiles as the ring has stages.
TEST_P(GemmTest, EveryNumberOfKTilesInTheRing) {
  const std::int64_t k_tile = kernel().tile_k, ring = k_tile * kernel().stages;
  if (test::emulated()) {  // k loops of 1, 2 and 3 k-tiles, and one long enough to reuse the ring's stages
    // With cluster split-K: also fewer k-tiles than CTAs, and each CTA's ring reused.
    for (const std::int64_t k : {k_tile - 1, k_tile + 1, 3 * k_tile, kernel().split * ring + k_tile + 1})
      check(with_output({kernel().tile_m - 1, kernel().tile_n - 3, k, Numbers::normals}));
    return;
  }
  for (const std::int64_t k :
       {k_tile - 1, k_tile, k_tile + 1, ring - k_tile, ring - 1, ring, ring + 1, ring + 2 * k_tile}) {
    check_both_numbers({kernel().tile_m + 1, kernel().tile_n - 1, k});
    if (HasFatalFailure()) return;
  }
}

// Two tiles along the fitted side and two along the other, of each number of columns that a launch may fit
// them to; the call may use as many multiprocessors as they need. C ends with the second one, or a little
// before, and its rows are stored by TMA, by words, or with an old C.
TEST_P(GemmTest, TilesFittedToC) {
  const int widest = kernel().columns();
  if (kernel().narrowest == 0) GTEST_SKIP() << "all tiles of this kernel have " << widest << " columns";
  const int along_n =
      kernel().swap_ab ? kernel().cluster / kernel().split / kernel().cluster_n : kernel().cluster_n;
  const int along_m = kernel().cluster / kernel().split / along_n;
  const bool all = !test::emulated() && !is_another_cluster();
  for (int columns = kernel().narrowest; columns <= widest; columns += kernel().column_step) {
    if (!all && columns != kernel().narrowest && columns != widest - kernel().column_step) continue;
    const auto check_with = [&](int fewer, int k, Numbers numbers, Type out, int pad_c, float beta) {
      Case c{kernel().rows() * along_m + 1,
             2 * columns * along_n - fewer,
             k,
             numbers,
             out,
             0,
             0,
             0,
             pad_c,
             pad_c,
             1.0F,
             beta};
      if (kernel().swap_ab) std::swap(c.m, c.n);
      c = with_output(c);
      check_with_few_multiprocessors(c);
    };
    check_with(0, 64, Numbers::integers, Type::bf16, 0, 0);
    check_with(5, 130, Numbers::normals, Type::f32, 1, 1);
    if (!all) continue;
    for (const Type out : outputs()) {
      check_with(0, 200, Numbers::normals, out, 0, 0);
      check_with(1, 72, Numbers::integers, out, 0, 0);
      check_with(0, 72, Numbers::integers, out, 8, 2);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmTest, LeadingDimensionsAndAlignmentsOfC) {
  if (test::emulated()) {
    check(with_output({35, 72, 40, Numbers::integers, Type::f32, 8, 8, 24, 1, 1}));
    check(with_output({35, 72, 40, Numbers::normals, Type::f16, 0, 16, 8, 2, 2}));
    check(with_output({35, 71, 40, Numbers::integers, Type::f16, 8, 8, 24, 1, 0}));  // rows of whole 16 bytes
    return;
  }
  for (const Type out : outputs()) {
    for (const int pad_c : {0, 1, 2, 4, 8}) {
      for (const int shift_c : {0, 1, 2, 8})
        check({130, 72, 40, Numbers::integers, out, 8, 8, 24, pad_c, shift_c});
    }
    for (const int n : {65, 66, 68, 70, 71}) check({130, n, 40, Numbers::integers, out, 8, 8, 24, 72 - n, 0});
    check({65, 131, 100, Numbers::normals, out, 0, 64, 8, 3, 1});
    check({131, 65, 33, Numbers::normals, out, 16, 16, 256, 5, 0});
  }
}

// A, B or C with a leading dimension so large that byte offsets in the matrix exceed 32 bits. Once with rows
// aligned to 16 bytes and beta = 1; once (odd) with rows one element off and beta = 0, where operands that
// kernels read in one order only are transposed too.
TEST_P(GemmTest, LeadingDimensionsBeyond32Bits) {
  DeviceDescription description;
  ASSERT_TRUE(test::launcher().describe(&description));
  // Enough rows of C that the store warps store some of them while the next tile is multiplied.
  const std::int64_t rows = (description.multiprocessors + 2) * std::int64_t{kernel().tile_m} + 9;
  const auto run = [&](char matrix, Type out, bool odd) {
    const std::int64_t m = kernel().unaligned && matrix == 'C' ? rows : 9;
    const float beta = odd ? 0 : 1;
    const Case c = fitted({m, 16, 16, Numbers::normals, out, 0, 0, 0, 0, 0, 1, beta});
    SCOPED_TRACE(std::string(1, matrix) + (odd ? ", odd: " : ": ") + ::testing::PrintToString(c));
    Product product(kernel(), c);
    Gemm& p = product.problem;
    const std::shared_ptr<const Operands> operands =
        test::operands_of(c, kernel().type, kernel().type_b);  // those of the product
    std::vector<unsigned char> dense;
    std::int64_t vectors = c.m;  // rows, or columns if column-major
    const auto lay = [&](ConstMatrix& x, const std::vector<float>& values, std::int64_t extent,
                         Order k_major) {
      if (odd && bytes(x.type) != 2 && x.type != Type::f64)
        x.order = x.order == row_major ? column_major : row_major;
      vectors = x.order == k_major ? extent : c.k;
      dense = test::in_memory(values, extent, c.k, x.type, x.order == k_major,
                              x.order == k_major ? c.k : extent, 0);
    };
    void* const near_c = p.c.data;
    if (matrix == 'A') {
      lay(p.a, operands->a, c.m, row_major);
    } else if (matrix == 'B') {
      lay(p.b, operands->b, c.n, column_major);
    } else {
      dense.resize(static_cast<std::size_t>(c.m * c.n) * bytes(out));
      ASSERT_TRUE(test::device()->download(dense.data(), near_c, dense.size()));
    }
    const Type type = matrix == 'A' ? p.a.type : matrix == 'B' ? p.b.type : out;
    const auto element = static_cast<std::int64_t>(bytes(type));
    const test::FarApart far(dense, vectors, odd ? element : 0);
    if (!far.allocated()) GTEST_SKIP() << "needs 4.3 GB of device memory";
    const std::int64_t ld = far.pitch() / element;
    if (matrix == 'A') p.a = ConstMatrix(far.get(), ld, p.a.order, type);
    if (matrix == 'B') p.b = ConstMatrix(far.get(), ld, p.b.order, type);
    if (matrix == 'C') p.c = Matrix(far.get(), ld, type);
    if (kernel().copy != Copy::any) product.allocate_workspace();
    product.run();
    if (matrix == 'C') {
      dense = far.read();
      ASSERT_TRUE(test::device()->upload(near_c, dense.data(), dense.size()));
    }
    if (!HasFailure()) product.expect_right();
  };
  for (const bool odd : {false, true}) {
    for (const char matrix : {'A', 'B'}) run(matrix, outputs().front(), odd);
    for (const Type out : outputs()) {
      if (out != Type::bf16) run('C', out, odd);  // bf16 is stored by the code for f16
    }
  }
}

TEST_P(GemmTest, AlphaAndBeta) {
  if (test::emulated()) {
    check(with_output({33, 40, 24, Numbers::normals, Type::f32, 0, 0, 0, 0, 0, 2.25F, -1.5F}));
    check(with_output({33, 41, 24, Numbers::normals, Type::bf16, 0, 0, 0, 1, 1, -0.5F, 1.0F}));
    return;
  }
  for (const Type out : outputs()) {
    for (const float alpha : {1.0F, -0.5F, 2.25F}) {
      for (const float beta : {0.0F, 1.0F, -1.5F}) {
        for (const Numbers numbers : test::both_numbers) {
          check({67, 80, 50, numbers, out, 0, 0, 0, 0, 0, alpha, beta});
          check({67, 81, 50, numbers, out, 0, 0, 0, 1, 1, alpha, beta});
        }
      }
    }
  }
}

// Copy::any kernels read them in place, 2 or 4 bytes at a time; the others read a copy in the workspace.
TEST_P(GemmTest, UnalignedOperands) {
  if (test::emulated()) {
    check(with_output({65, 31, 37, Numbers::normals, Type::f32, 1, 0, 1}));
    check(with_output({34, 66, 40, Numbers::normals, Type::f32, 2, 2, 4, 1, 1, 2.0F, 1.0F}));
    check(with_output({1, 7, 3, Numbers::integers, Type::f32, 1}));
    return;
  }
  for (const Numbers numbers : test::both_numbers) {
    for (const auto& [pad_a, pad_b] : {std::pair{0, 0}, {1, 0}, {0, 1}, {2, 4}}) {
      for (const int shift : {1, 2}) {  // 2: where lengths and pads are even, 4-byte copies
        check(with_output({65, 131, 77, numbers, Type::f32, shift, pad_a, pad_b}));
        check(with_output({66, 130, 77, numbers, Type::f32, shift, pad_a, pad_b}));
        check(with_output({130, 66, 100, numbers, Type::f32, shift, pad_a, pad_b, 1, 1, 2.0F, 1.0F}));
        check(with_output({1, 7, 3, numbers, Type::f32, shift, pad_a, pad_b}));
      }
    }
  }
}

// Kernels that read A (and B) through row-interleaved views. Rows begin 0 to 7 elements after a multiple of
// 16 bytes, in every sequence; m gives views with and without rows, and one row more than whole tiles; k puts
// the last elements of a row in a k-tile of their own or not. NaNs surround the rows.
TEST_P(GemmTest, RowInterleavedViewsOfA) {
  if (!kernel().row_interleaved && !kernel().unaligned) GTEST_SKIP() << "this kernel reads aligned rows of A";
  const std::vector<std::int64_t> lengths =
      test::emulated() ? std::vector<std::int64_t>{65, 127}
                       : std::vector<std::int64_t>{57, 58, 60, 63, 65, 121, 127, 700};
  for (const std::int64_t k : lengths) {
    for (const int pad : {0, 1, 6}) {
      if (test::emulated() && pad == 1) continue;
      for (const std::int64_t m :
           {std::int64_t{6}, std::int64_t{513}, 2 * std::int64_t{kernel().tile_m} * 4 + 15}) {
        if (test::emulated() && m > 513) continue;
        check(with_output({m, 40, k, Numbers::normals, Type::bf16, 0, pad}));
        check(with_output({m, 41, k, Numbers::integers, Type::f32, 0, pad, 0, 1, 1, 2.0F, 1.0F}));
        if (HasFatalFailure()) return;
      }
    }
  }
  expect_infinities_to_stay_in_their_rows(with_output({20, 24, 67}));
}

// Rows of A that begin on L2 lines, beside an unaligned B. k ends at the end of a k-tile, within its first
// instruction step, or later in it.
TEST_P(GemmTest, AlignedAAndUnalignedB) {
  if (!kernel().unaligned) GTEST_SKIP() << "this kernel reads aligned rows";
  for (const auto& [k, pad_a] : {std::pair{64, 0}, {7, 56}, {80, 48}, {81, 40}, {576, 64}}) {
    check(with_output({70, 41, k, Numbers::normals, kernel().type, 0, pad_a, 1}));
    check(with_output({300, 270, k, Numbers::integers, Type::f32, 0, pad_a, 4}));
    if (HasFatalFailure()) return;
  }
  check(with_output({75, 270, 81, Numbers::normals, Type::f32, 0, 40, 1}));  // CTAs share A; above, B
  expect_infinities_to_stay_in_their_rows(with_output({20, 24, 67, Numbers::integers, Type::f32, 0, 56, 1}));
}

// CTAs with several tiles: the store warps store the last rows of a tile while the consumers multiply the
// next. With one k-tile and with more, with aligned and unaligned A, with realigned stores of C and with
// others.
TEST_P(GemmTest, RowsStoredWhileTheNextTileIsMultiplied) {
  if (!kernel().unaligned) GTEST_SKIP() << "the consumers of this kernel store all of C";
  DeviceDescription description;
  ASSERT_TRUE(test::launcher().describe(&description));
  const std::int64_t m = (description.multiprocessors + 2) * std::int64_t{kernel().tile_m} + 9;
  for (const auto& [k, pad_a] : {std::pair{3, 56}, {150, 40}}) {
    check(with_output({m, 261, k, Numbers::normals, kernel().type, 0, pad_a, 1, 1, 1}));
    check(with_output({m, 133, k, Numbers::normals, kernel().type, 1, 1, 1, 1}));
    check(with_output({m, 133, k, Numbers::normals, Type::f32, 0, pad_a, 1, 3}));
    check(with_output({m, 133, k, Numbers::integers, Type::f32, 0, 3, 1, 0, 0, 2.0F, 1.0F}));
    if (HasFatalFailure()) return;
  }
}

TEST_P(GemmTest, UnalignedOperandsWithoutWorkspace) {
  Product product(kernel(), with_output({65, 131, 77, Numbers::integers, Type::f32, 1}));
  EXPECT_TRUE(workspace_size(test::launcher(), product.problem) > 0 || takes_unaligned_b());
  if (kernel().copy == Copy::any ||
      takes_unaligned_b()) {  // right with and without a workspace, faster with it
    product.run();
    product.expect_right();
    product.allocate_workspace();
    product.run();
    product.expect_right();
    return;
  }
  EXPECT_EQ(gemm(test::launcher(), product.problem).code(), StatusCode::workspace_too_small);
  EXPECT_TRUE(product.c_is_untouched());
}

// Some CTAs compute more than one tile: a persistent grid has fewer CTAs than tiles. With two columns of
// tiles, with one, and with one row.
TEST_P(GemmTest, MoreTilesThanCtas) {
  const std::int64_t m = kernel().tile_m, n = kernel().tile_n;
  const std::int64_t rows_of_tiles = few_multiprocessors() / 2 + (test::emulated() ? 1 : 3);
  check_with_few_multiprocessors(with_output({rows_of_tiles * m - 3, n + 5, 17}));
  if (test::emulated()) return;
  DeviceDescription description;
  ASSERT_TRUE(test::launcher().describe(&description));
  const std::int64_t tiles = description.multiprocessors + 3;
  check(with_output({tiles * m - 3, 5, 17}));
  check(with_output({5, tiles * n + 1, kernel().tile_k + 1}));
}

// Two whole tiles and an edge tile beside each other, with C aligned for the widest stores: each column is
// written once, by the tile that contains it (beta = 1 would show a second time). Tiles whose width is not a
// multiple of 64 end in a narrow epilogue subtile.
TEST_P(GemmTest, AdjacentTiles) {
  if (test::emulated() && kernel().tile_n % 64 == 0) {
    GTEST_SKIP() << "EveryShape covers tiles without a narrow subtile in the emulator";
  }
  Case c{9, 2 * std::int64_t{kernel().tile_n} + 8, 24, Numbers::normals};
  c.beta = 1;
  for (const Type out : outputs()) {
    c.out = out;
    check(c);
  }
}

// Edge tiles: the producer loads only the rows that exist. As a CTA's first tile and as a later one; before
// every stage of the ring has been written, and after.
TEST_P(GemmTest, EdgeTiles) {
  if (kernel().instruction != Instruction::wgmma || kernel().unaligned)
    GTEST_SKIP() << "this kernel loads whole tiles";
  const std::int64_t m = kernel().tile_m, n = kernel().tile_n, tiles = few_multiprocessors() + 3;
  const std::int64_t once_around = std::int64_t{kernel().stages} * kernel().split * kernel().tile_k;
  if (test::emulated()) {
    check(with_output({m + 3, n + 5, once_around + 1, Numbers::normals}));
    check(with_output({m + 11, n + 5, kernel().tile_k + 1, Numbers::normals}));
    return;
  }
  check_with_few_multiprocessors(with_output({3, tiles * n + 9, once_around + 1, Numbers::normals}));
  check_with_few_multiprocessors(with_output({tiles * m + 9, 3, once_around + 1, Numbers::normals}));
  check(with_output({m + 3, 5 * n + 1, once_around - 1, Numbers::normals}));
}

// Tail split-K, of the kernels with the largest tiles: two CTAs each compute half of k for a tile of the last
// wave, and each adds the peer's accumulators to a part of its own. With the last wave alone and after a
// whole one; k is not a multiple of a k-tile.
TEST_P(GemmTest, TailSplitK) {
  if (kernel().instruction != Instruction::wgmma || kernel().split > 1 || kernel().warp_rows() <= 64 ||
      kernel().pingpong) {
    GTEST_SKIP() << "this kernel has no tail split-K";
  }
  const std::int64_t m = kernel().tile_m, n = kernel().tile_n;
  const std::int64_t k = 17 * std::int64_t{kernel().tile_k} - 3;
  if (kernel().unaligned) {
    // Rows of A that begin on L2 lines, where the CTAs share B, and where they share A; rows that begin on 16
    // bytes; unaligned rows; and a split after a whole wave. Without a workspace, where A would be copied.
    const std::vector<Case> both_unaligned = {
        {m + 2, n - 5, k, Numbers::normals, kernel().type, 0, 0, 3},
        {m - 5, n + 6, k + 2, Numbers::normals, Type::f32, 0, 0, 1},
        {m - 5, n + 7, k, Numbers::integers, Type::f32, 0, 8, 1, 0, 0, 2.0F, 1.0F},
        {3, n + 7, k + 5, Numbers::normals, kernel().type, 3, 0, 1, 1, 1},
        {m + 2, 2 * n + 9, k - 60, Numbers::integers, Type::f32, 0, 56, 1}};
    // The same for B, beside an unaligned A.
    const std::vector<Case> a_unaligned = {
        {m - 5, n + 2, k, Numbers::normals, kernel().type, 0, 3, 0, 1},
        {m + 6, n - 5, k + 2, Numbers::normals, Type::f32, 0, 1},
        {m + 7, n - 5, k, Numbers::integers, Type::f32, 0, 1, 8, 0, 0, 2.0F, 1.0F},
        {m + 7, 3, k + 5, Numbers::normals, kernel().type, 0, 2, 56, 1, 1},
        {2 * m + 9, n + 2, k - 60, Numbers::integers, Type::f32, 0, 1, 56}};
    for (const Case& c : takes_unaligned_b() ? both_unaligned : a_unaligned) {
      SCOPED_TRACE(::testing::PrintToString(c));
      Product product(kernel(), c);
      product.run();
      product.expect_right();
      if (HasFailure()) return;
    }
  }
  if (test::emulated()) {
    check(with_output({m + 2, n - 5, k, Numbers::normals}));
    return;
  }
  check_both_numbers({3 * m - 7, 5 * n + 1, k});
  const std::int64_t after_a_wave = (few_multiprocessors() + 2) * m - 3;  // pairs of CTAs share B
  for (const Type out : outputs()) {
    check_with_few_multiprocessors({after_a_wave, 9, k, Numbers::normals, out, 0, 0, 0, 0, 0, 2, 1});
    check_with_few_multiprocessors({after_a_wave, 8, k, Numbers::integers, out});
  }
}

// Stream-K: tiles that several CTAs compute, alone, after whole waves, and cut into shares that begin inside
// one tile and end inside another one. The workspace holds garbage, and is used twice. Without a workspace
// the kernel refuses.
TEST_P(GemmTest, StreamK) {
  if (kernel().partial_bytes == 0) GTEST_SKIP() << "this kernel computes whole tiles";
  const std::int64_t clusters = few_multiprocessors() / kernel().cluster;
  const std::int64_t m = kernel().tile_m * std::int64_t{kernel().cluster / kernel().cluster_n},
                     n = kernel().tile_n * std::int64_t{kernel().cluster_n}, k = kernel().tile_k;
  if (test::emulated()) {
    check(with_output(
        {m + 2, n * (clusters + 1) / 2 - 1, 20 * k, Numbers::normals, Type::f32, 0, 0, 0, 0, 0, 2, 1}));
  } else {
    for (const Type out : outputs()) {
      check({m - 3, n - 5, 33 * k - 3, Numbers::normals, out});
      check({8, 9 * n, 100 * k + 1, Numbers::normals, out});
      check_with_few_multiprocessors(
          {m * clusters / 2 + 3, 8, 40 * k, Numbers::normals, out, 0, 0, 0, 0, 0, 2, 1});
      check_with_few_multiprocessors({m * (clusters + 1) - 1, 8, 65 * k, Numbers::integers, out});
      check_with_few_multiprocessors({8, n * clusters * 2, 50 * k + 1, Numbers::normals, out});
      if (HasFailure()) return;
    }
  }
  Product product(kernel(), fitted(with_output({m - 3, n - 5, 33 * k - 3, Numbers::normals})));
  EXPECT_EQ(gemm(test::launcher(), product.problem).code(), StatusCode::workspace_too_small);
  product.allocate_workspace();
  for (int run = 0; run < 2; ++run) {
    product.run();
    product.expect_right();
  }
}

// Ping-pong kernels: a CTA with one tile, with an odd and with an even number of tiles, each with fewer
// k-tiles than the ring has stages, as many, and more. A warpgroup continues at another stage of the ring
// each time.
TEST_P(GemmTest, Pingpong) {
  if (!kernel().pingpong) GTEST_SKIP() << "this kernel is cooperative";
  const std::int64_t clusters = few_multiprocessors() / kernel().cluster, m = kernel().tile_m + 1;
  const std::int64_t n = kernel().tile_n, k = kernel().tile_k, ring = kernel().stages;
  if (test::emulated()) {
    check(with_output({m, 2 * clusters * n + 1, (ring - 1) * k - 3, Numbers::normals, Type::bf16}));
    check(with_output({m, 3 * clusters * n + 1, k, Numbers::normals, Type::f16}));
    check(with_output({m, (clusters + 1) * n - 5, (ring + 1) * k, Numbers::normals}));
    return;
  }
  for (const std::int64_t k_tiles : {std::int64_t{1}, ring - 1, ring, ring + 1}) {
    for (const int waves : {1, 2, 3}) {
      check_with_few_multiprocessors(
          with_output({2, waves * clusters * n - 3, k_tiles * k - 1, Numbers::normals}));
      check_with_few_multiprocessors(
          with_output({1, (waves * clusters + 1) * n, k_tiles * k, Numbers::integers, Type::f16}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmTest, TwoStreamsGiveTheSameBits) {
  if (test::emulated()) GTEST_SKIP() << "the emulator has no streams";
  const Case c = with_output({300, 270, 200, Numbers::normals, Type::f32, 0, 0, 0, 1, 0, 1.5F, 0.5F});
  Product one(kernel(), c), other(kernel(), c);
  one.allocate_workspace();
  other.allocate_workspace();
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  const Status first = gemm(one.problem, streams[0]), second = gemm(other.problem, streams[1]);
  ASSERT_TRUE(first) << first.message();
  ASSERT_TRUE(second) << second.message();
  for (cudaStream_t stream : streams) {
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  one.expect_right();
  EXPECT_TRUE(one.memory_of_c() == other.memory_of_c());
}

// Many tiles of many k-tiles, with rows of C that begin at odd elements: the slowest stores, which delay the
// loads of the other warps. A producer that refills a stage too early would give other bits than with aligned
// rows.
TEST_P(GemmTest, LargeProductsDoNotDependOnTheLeadingDimensionOfC) {
  if (test::emulated()) GTEST_SKIP() << "too large for the emulator";
  constexpr std::int64_t size = 4096, k = 2048;
  constexpr int launches = 4;
  // In +-[0.5, 1); integers in +-[50, 100). The same for all kernels of a type.
  static std::map<Type, std::vector<unsigned char>> operands;
  const auto random_operand = [&](Type type) -> const std::vector<unsigned char>& {
    std::vector<unsigned char>& elements = operands[type];
    if (!elements.empty()) return elements;
    std::mt19937 random(9);
    std::vector<float> values(static_cast<std::size_t>(2 * size * k));  // A, B
    for (float& value : values) {
      value = static_cast<float>(random() % 64 + 64) / (type == Type::s8 ? 1.28F : 128) *
              (random() % 2 == 0 ? 1.0F : -1.0F);
    }
    elements.resize(values.size() * bytes(type));
    reference::encode(type, values.data(), values.size(), elements.data());
    return elements;
  };
  const auto half_of = [](const std::vector<unsigned char>& elements, bool second) {
    const auto middle = elements.begin() + static_cast<std::ptrdiff_t>(elements.size() / 2);
    return second ? std::vector<unsigned char>(middle, elements.end())
                  : std::vector<unsigned char>(elements.begin(), middle);
  };
  const test::Buffer<unsigned char> a(half_of(random_operand(kernel().type), false)),
      b(half_of(random_operand(kernel().type_b), true));
  const Type out = writes(Type::f16) ? Type::f16 : outputs().front();
  Gemm problem;
  problem.m = problem.n = size;
  problem.k = k;
  const auto ld = [&](Order order, Order k_contiguous) { return order == k_contiguous ? k : size; };
  problem.a = ConstMatrix(a.get(), ld(kernel().a_order, row_major), kernel().a_order, kernel().type);
  problem.b = ConstMatrix(b.get(), ld(kernel().b_order, column_major), kernel().b_order, kernel().type_b);
  problem.accumulate = kernel().accumulate;
  problem.promote = kernel().promotes;
  problem.kernel = kernel().name.c_str();
  const auto memory_of = [&](std::int64_t ldc) {
    return std::vector<unsigned char>(static_cast<std::size_t>(size * ldc) * bytes(out));
  };
  static std::vector<unsigned char> wanted, found;  // of all kernels: new memory costs more than the products
  const test::Buffer<unsigned char> dense(memory_of(size)), padded(memory_of(size + 1));
  const auto run = [&](const test::Buffer<unsigned char>& c, std::int64_t ldc,
                       std::vector<unsigned char>* result) {
    problem.c = Matrix(c.get(), ldc, out);
    problem.workspace_bytes = workspace_size(problem);
    const test::Buffer<unsigned char> workspace(std::vector<unsigned char>(problem.workspace_bytes + 1));
    problem.workspace = workspace.get();
    const Status status = gemm(problem);
    EXPECT_TRUE(status) << status.message();
    c.read(result);
  };
  run(dense, size, &wanted);
  const std::size_t row_bytes = static_cast<std::size_t>(size) * bytes(out);
  for (int launch = 0; launch < launches; ++launch) {
    run(padded, size + 1, &found);
    for (std::size_t row = 0; row < static_cast<std::size_t>(size); ++row) {
      const unsigned char* const in_found = &found[row * (row_bytes + bytes(out))];
      ASSERT_TRUE(std::equal(in_found, in_found + row_bytes, &wanted[row * row_bytes]))
          << "row " << row << " of launch " << launch;
    }
  }
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels()) {
    // What does not take every C and D is tested by host/fused_epilogue_test.cpp, what rounds f32 by
    // precision_test.cpp.
    if (kernel.takes_epilogue == nullptr && !kernel.rounds_f32) names.push_back(kernel.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmTest, ::testing::ValuesIn(kernel_names()),
                         [](const ::testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace tenon
