// The defaults of GemmArguments, on which kernels of embedders rely, and arguments of a launch that are known
// by their bytes.
#include "tenon/gemm/arguments.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/gemm/launch_plan.hpp"

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

TEST(LaunchArguments, AppendsBytesAtTheirAlignment) {
  LaunchArguments arguments;
  arguments.set(7, 'x');  // each at a multiple of 16 bytes
  const std::vector<unsigned char> bytes{1, 2, 3};
  ASSERT_TRUE(arguments.append(bytes.data(), 3, 64));
  ASSERT_TRUE(arguments.append(nullptr, 0, 1));  // of an empty operation
  ASSERT_EQ(arguments.count(), 4);
  EXPECT_EQ(*static_cast<const int*>(arguments.data(0)), 7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arguments.data(2)) % 64, 0U);
  EXPECT_EQ(arguments.size(2), 3U);
  EXPECT_EQ(static_cast<const unsigned char*>(arguments.data(2))[2], 3);
  const LaunchArguments copy = arguments;
  EXPECT_EQ(static_cast<const unsigned char*>(copy.data(2))[2], 3);
}
TEST(LaunchArguments, SayWhatDoesNotFit) {
  LaunchArguments arguments;
  const std::vector<unsigned char> bytes(4096);
  EXPECT_STREQ(arguments.append(bytes.data(), 4, 128).message(),
               "the alignment of a kernel argument is 128 bytes but must be a power of two up to 64");
  EXPECT_STREQ(arguments.append(bytes.data(), 4, 12).message(),
               "the alignment of a kernel argument is 12 bytes but must be a power of two up to 64");
  EXPECT_STREQ(arguments.append(nullptr, 4, 4).message(), "a kernel argument is a null pointer");
  arguments.set(7);
  const Status status = arguments.append(bytes.data(), 4081, 1);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(status.message()).find("one of 4081 bytes comes after 16 bytes"), std::string::npos)
      << status.message();
  EXPECT_EQ(arguments.count(), 1);
  EXPECT_TRUE(arguments.append(bytes.data(), 4080, 1));
}

}  // namespace
}  // namespace tenon
