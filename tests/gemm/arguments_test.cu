// The defaults of GemmArguments, on which kernels of embedders rely.
#include "tenon/gemm/arguments.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// With fewer whole tiles, the scheduler would split the others along k, even for kernels without a reduction.
TEST(GemmArguments, LeaveEveryTileWhole) {
  const GemmArguments p{300, 500, 64, nullptr, 64, nullptr, 64, {}, make_raster(300, 500, 128, 128, 8)};
  EXPECT_EQ(p.raster.tiles(), 12);
  EXPECT_EQ(p.whole_tiles, 12);
  EXPECT_EQ(p.residue_m, load_whole_tiles);
  EXPECT_EQ(p.residue_n, load_whole_tiles);
}

}  // namespace
}  // namespace tenon
