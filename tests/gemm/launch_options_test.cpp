// What LimitedLauncher passes on to the launcher that it wraps, and what it refuses.
#include "tenon/gemm/launch_options.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// A device of 132 multiprocessors that keeps the last launch.
class Keeping final : public Launcher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    *device = {90, 132, std::size_t{227} << 10, std::size_t{50} << 20};
    return {};
  }
  Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap* map) noexcept override {
    map->opaque[0] = 17;
    return {};
  }
  Status launch(const Launch& launch) noexcept override {
    ++launches;
    last = launch;
    return {};
  }
  int launches = 0;
  Launch last;
};

Launch launch_of(Extent3 grid, bool walks_on = false) {
  Launch launch;
  launch.what = "something";
  launch.grid = grid;
  launch.walks_on = walks_on;
  launch.overlaps_previous = true;
  launch.arguments.set(42);
  return launch;
}

TEST(LimitedLauncher, DescribesTheDeviceAsTheCallMayUseIt) {
  Keeping device;
  for (const int limit : {0, 1, 7, 131, 132}) {
    DeviceDescription described;
    LimitedLauncher launcher(device, {limit, true});
    ASSERT_TRUE(launcher.describe(&described));
    EXPECT_EQ(described.multiprocessors, limit == 0 ? 132 : limit);
    EXPECT_EQ(described.is_limited(), limit != 0 && limit != 132) << "all of them are no limit";
    EXPECT_EQ(described.all_multiprocessors, described.is_limited() ? 132 : 0);
    EXPECT_EQ(described.sm, 90);
    // A limit within a limit counts from the device.
    LimitedLauncher again(launcher, {limit, true});
    DeviceDescription twice;
    ASSERT_TRUE(again.describe(&twice));
    EXPECT_EQ(twice.multiprocessors, described.multiprocessors);
    EXPECT_EQ(twice.all_multiprocessors, described.all_multiprocessors);
  }
  TensorMap map;
  LimitedLauncher launcher(device, {5, true});
  ASSERT_TRUE(launcher.make_tensor_map({}, 8, 8, &map));
  EXPECT_EQ(map.opaque[0], 17U);
}

TEST(LimitedLauncher, RefusesALimitThatNoDeviceOrNotThisOneHas) {
  Keeping device;
  DeviceDescription described;
  Status s = LimitedLauncher(device, {133, true}).describe(&described);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(), "multiprocessors is 133 but must be 0 (all) to 132, which the device has");
  s = LimitedLauncher(device, {-1, true}).describe(&described);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(), "multiprocessors is -1 but must be 0 (all) to 132, which the device has");
}

TEST(LimitedLauncher, PassesOnWhatObeys) {
  Keeping device;
  LimitedLauncher launcher(device, {16, true});
  ASSERT_TRUE(launcher.launch(launch_of({4, 2, 2})));
  EXPECT_EQ(device.last.grid.x, 4U);
  EXPECT_TRUE(device.last.overlaps_previous);
  EXPECT_EQ(device.last.arguments.count(), 1);
  LimitedLauncher whole(device, {132, true});
  ASSERT_TRUE(whole.launch(launch_of({5000})));
  EXPECT_EQ(device.last.grid.x, 5000U) << "no limit";
  LimitedLauncher without(device, {});
  ASSERT_TRUE(without.launch(launch_of({5000})));
  EXPECT_EQ(device.last.grid.x, 5000U);
}

TEST(LimitedLauncher, ShrinksAGridThatWalksOn) {
  Keeping device;
  const Extent3 grids[] = {{2, 1024, 2}, {1, 1, 2}, {7, 1, 1}, {100, 100, 1}, {1, 5, 2}, {3, 3, 3}};
  for (const Extent3& grid : grids) {
    for (int limit = 1; limit < 132; ++limit) {
      LimitedLauncher launcher(device, {limit, true});
      ASSERT_TRUE(launcher.launch(launch_of(grid, true)));
      const Extent3& got = device.last.grid;
      ASSERT_LE(got.x * got.y * got.z, static_cast<unsigned>(limit));
      ASSERT_TRUE(got.x >= 1 && got.y >= 1 && got.z >= 1);
      ASSERT_TRUE(got.x <= grid.x && got.y <= grid.y && got.z <= grid.z);
      EXPECT_EQ(*static_cast<const int*>(device.last.arguments.data(0)), 42);
    }
  }
}

TEST(LimitedLauncher, RefusesAGridThatDoesNot) {
  Keeping device;
  LimitedLauncher launcher(device, {16, true});
  const Status s = launcher.launch(launch_of({17}));
  EXPECT_EQ(s.code(), StatusCode::unsupported);
  EXPECT_STREQ(s.message(), "something needs 17 CTAs here but the call may use 16 multiprocessors");
  EXPECT_EQ(device.launches, 0);
}

TEST(LimitedLauncher, OverlapsOnlyIfItMay) {
  Keeping device;
  for (const bool may : {false, true}) {
    for (const int limit : {0, 4}) {
      LimitedLauncher launcher(device, {limit, may});
      ASSERT_TRUE(launcher.launch(launch_of({8}, true)));
      EXPECT_EQ(device.last.overlaps_previous, may);
      Launch launch = launch_of({1});
      launch.overlaps_previous = false;
      ASSERT_TRUE(launcher.launch(launch));
      EXPECT_FALSE(device.last.overlaps_previous);
    }
  }
}

}  // namespace
}  // namespace tenon
