// The wrappers of loads, stores and barriers, executed in the emulator: every access where it belongs, of its
// width, and none where its predicate is 0.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"

namespace tenon {
namespace {

std::string kernels() {
  std::ifstream file(TENON_LOAD_STORE_PTX);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LoadStore, MovesWhatItShouldAndNothingUnderAFalsePredicate) {
  emulator::Emulator machine;
  const auto module = machine.load(kernels());
  std::vector<std::uint32_t> out(std::size_t{64} * 8, 0xaaaaaaaaU);
  std::vector<std::uint16_t> half(std::size_t{64} * 2, 0xbbbb);
  const auto to = machine.allocate(out.size() * 4), to_half = machine.allocate(half.size() * 2);
  machine.copy_in(to, out.data(), out.size() * 4);
  machine.copy_in(to_half, half.data(), half.size() * 2);
  const auto result = machine.launch(module, "moves", {{1}, {64}}, {to, to_half});
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.ptx_line << ": " << finding.message;
  machine.copy_out(out.data(), to, out.size() * 4);
  machine.copy_out(half.data(), to_half, half.size() * 2);
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::size_t at = std::size_t{8} * t;
    for (std::uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(out[at + i], t == 5 ? 0xaaaaaaaaU : (t + 1) % 32 + 100 * i) << t << " " << i;
    EXPECT_EQ(out[at + 4], t % 2 != 0 ? t % 32 : 7U) << t;
    EXPECT_EQ(out[at + 5], (t & 4U) != 0 ? 1000 + t : 0xaaaaaaaaU) << t;
    EXPECT_EQ(out[at + 6], 0xaaaaaaaaU) << t;
    EXPECT_EQ(half[std::size_t{2} * t], t % 32 + 100) << t;
    EXPECT_EQ(half[std::size_t{2} * t + 1], t < 40 ? t % 32 + 200 : 0xbbbbU) << t;
  }
}

TEST(LoadStore, HasTheWidthsOfItsNames) {
  emulator::Emulator machine;
  const auto module = machine.load(kernels());
  std::vector<std::uint32_t> out(6, 0);
  const auto to = machine.allocate(24);
  machine.launch(module, "widths", {{1}, {1}}, {to});
  machine.copy_out(out.data(), to, 24);
  EXPECT_EQ(out[0], 0x1234ffffU);
  EXPECT_EQ(out[1], 0x40400000U);  // 3.0
  EXPECT_EQ(out[2], 0xffffffffU);  // 21 - 22
  EXPECT_EQ(out[3], 0xbf000000U);  // 1.5 - 2.0
  EXPECT_EQ(out[4], 0x40400000U);
  EXPECT_EQ(out[5], 22U);
}

}  // namespace
}  // namespace tenon
