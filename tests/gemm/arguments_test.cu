// What GemmArguments says where nobody says otherwise, as in kernels of embedders.
#include "tenon/gemm/arguments.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// With fewer the others would be divided between the blocks of a cluster, by kernels that can and that
// cannot.
TEST(GemmArguments, LeaveEveryTileUndivided) {
  const GemmArguments p{
      300, 500, 64, nullptr, 64, nullptr, 64, {}, 1.0F, 0.0F, make_raster(300, 500, 128, 128, 8)};
  EXPECT_EQ(p.raster.tiles(), 12);
  EXPECT_EQ(p.undivided, 12);
  EXPECT_EQ(p.copied_m, all_of_it);
  EXPECT_EQ(p.copied_n, all_of_it);
}

}  // namespace
}  // namespace tenon
