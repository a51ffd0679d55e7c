#include <vector>

#include "tenon/emulator/gtest.hpp"

TEST(Scale, MultipliesEachElement) {
  tenon::emulator::TestDevice device("scale.ptx");
  const auto x = device.buffer(std::vector<float>(1000, 1.5F));
  const auto y = device.buffer<float>(1000);
  EXPECT_TRUE(device.launch("scale", {{4}, {256}}, {x, y, 2.0F, 1000}));
  EXPECT_TRUE(y.equals(std::vector<float>(1000, 3.0F)));
}
