// Bank conflicts by the hardware's rules, sectors, and the totals of a launch, by line and by class.
#include "emulator/machine/counters.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

struct Pattern {
  const char* what;
  std::function<std::uint64_t(std::uint64_t)> address;
  int bytes;
  std::uint32_t actual, ideal;
};

Traffic shared(const Pattern& pattern, Direction direction, LaneMask active = ~0u) {
  std::uint64_t addresses[32];
  for (std::uint64_t lane = 0; lane < 32; ++lane) addresses[lane] = 1024 + pattern.address(lane);
  return shared_wavefronts(addresses, active, pattern.bytes, direction);
}

Traffic global(const Pattern& pattern) {
  std::uint64_t addresses[32];
  for (std::uint64_t lane = 0; lane < 32; ++lane) addresses[lane] = 1024 + pattern.address(lane);
  return global_sectors(addresses, ~0u, pattern.bytes);
}

TEST(Counters, SharedWavefrontsOfPatterns) {
  const Pattern patterns[] = {
      {"consecutive words", [](auto i) { return 4 * i; }, 4, 1, 1},
      {"one word for all", [](auto) { return 0; }, 4, 1, 1},
      {"every second word", [](auto i) { return 8 * i; }, 4, 2, 1},
      {"a column of 32 words", [](auto i) { return 128 * i; }, 4, 32, 1},
      {"a column of rows padded by a word", [](auto i) { return 132 * i; }, 4, 1, 1},
      {"words backwards", [](auto i) { return 4 * (31 - i); }, 4, 1, 1},
      {"two words of a bank, shared by half a warp each", [](auto i) { return 128 * (i / 16); }, 4, 2, 1},
      {"bytes of 8 words", [](auto i) { return i; }, 1, 1, 1},
      {"halves of 16 words", [](auto i) { return 2 * i; }, 2, 1, 1},
      {"halves a row apart", [](auto i) { return 128 * (i / 2) + 2 * (i % 2); }, 2, 16, 1},
      {"8 bytes each", [](auto i) { return 8 * i; }, 8, 2, 2},
      {"8 bytes with a stride of 16", [](auto i) { return 16 * i; }, 8, 4, 2},
      {"8 bytes, halves of a warp on the same words", [](auto i) { return 8 * (i % 16); }, 8, 2, 2},
      {"16 bytes each", [](auto i) { return 16 * i; }, 16, 4, 4},
      {"16 bytes, rows of 128: a fragment without swizzle",
       [](auto i) { return 128 * (i % 8) + 16 * (i / 8); }, 16, 32, 4},
      {"16 bytes, rows of 128 with swizzle", [](auto i) { return 128 * (i % 8) + 16 * ((i / 8) ^ (i % 8)); },
       16, 4, 4},
      {"16 bytes, all the same", [](auto) { return 0; }, 16, 4, 4},
      {"32 bytes each", [](auto i) { return 32 * i; }, 32, 16, 8},
  };
  for (const Pattern& pattern : patterns) {
    const Traffic got = shared(pattern, Direction::store);
    EXPECT_EQ(got.actual, pattern.actual) << pattern.what;
    EXPECT_EQ(got.ideal, pattern.ideal) << pattern.what;
  }
  const Pattern quarter{"", [](auto i) { return 16 * i; }, 16, 0, 0},
      column{"", [](auto i) { return 128 * i; }, 4, 0, 0},
      pairs{"", [](auto i) { return 16 * (i / 2); }, 16, 0, 0};
  EXPECT_EQ(shared(quarter, Direction::store, 0xff).actual, 1u) << "a quarter warp alone";
  EXPECT_EQ(shared(column, Direction::load, 0x7).actual, 3u) << "three lanes";
  EXPECT_EQ(shared(pairs, Direction::store).actual, 4u);
  EXPECT_EQ(shared(pairs, Direction::load).actual, 2u)
      << "loads of neighbours on one address are served together";
}

TEST(Counters, WavefrontsOfAMatrix) {
  std::uint64_t packed[8], strided[8], swizzled[8], half[8];
  for (std::uint64_t row = 0; row < 8; ++row) {
    packed[row] = 16 * row;
    strided[row] = 128 * row;
    swizzled[row] = 128 * row + 16 * (row ^ 3);
    half[row] = 64 * row;
  }
  EXPECT_EQ(matrix_wavefronts(packed).actual, 1u);
  EXPECT_EQ(matrix_wavefronts(strided).actual, 8u);
  EXPECT_EQ(matrix_wavefronts(swizzled).actual, 1u);
  EXPECT_EQ(matrix_wavefronts(half).actual, 4u);
  EXPECT_EQ(matrix_wavefronts(strided).ideal, 1u);
}

TEST(Counters, GlobalSectorsOfPatterns) {
  const Pattern patterns[] = {
      {"consecutive words", [](auto i) { return 4 * i; }, 4, 4, 4},
      {"consecutive words, off by one", [](auto i) { return 4 * i + 4; }, 4, 5, 4},
      {"a column", [](auto i) { return 512 * i; }, 4, 32, 4},
      {"every second word", [](auto i) { return 8 * i; }, 4, 8, 4},
      {"one word", [](auto) { return 64; }, 4, 1, 1},
      {"consecutive 16 bytes", [](auto i) { return 16 * i; }, 16, 16, 16},
      {"16 bytes backwards", [](auto i) { return 16 * (31 - i); }, 16, 16, 16},
      {"bytes", [](auto i) { return i; }, 1, 1, 1},
      {"overlapping pairs", [](auto i) { return 8 * (i / 2); }, 8, 4, 4},
      {"32 bytes a sector apart", [](auto i) { return 64 * i; }, 32, 32, 32},
  };
  for (const Pattern& pattern : patterns) {
    const Traffic got = global(pattern);
    EXPECT_EQ(got.actual, pattern.actual) << pattern.what;
    EXPECT_EQ(got.ideal, pattern.ideal) << pattern.what;
  }
}

TEST(Counters, ALaunchAddsUpByLineAndClass) {
  Kernel kernel(module_text(".param .u64 data", R"(
    .shared .align 16 .b8 tile[4096];
    ld.param.u64 %d1, [data]; mov.u32 %r1, %laneid; mov.u32 %r2, tile;
    mul.wide.u32 %d2, %r1, 512; add.s64 %d2, %d2, %d1;
    ld.global.u32 %r3, [%d2]; // column
    mad.lo.u32 %r4, %r1, 128, %r2;
    st.shared.u32 [%r4], %r3; // conflicts
    setp.lt.u32 %p1, %r1, 8;
    @%p1 ld.shared.u32 %r5, [%r4]; // eight
    add.f32 %f1, %f2, %f3;)"));
  const Address data = kernel.upload(std::vector<std::uint32_t>(32 * 128, 1));
  const Result result = kernel.run({{3}, {64}}, {data});
  const std::uint64_t warps = 6;
  int found = 0;
  for (const LineCounts& line : result.counters.lines) {
    const std::string text = kernel.line(line.ptx_line);
    EXPECT_EQ(line.counts.instructions, warps) << text;
    if (text.find("// column") != std::string::npos) {
      ++found;
      EXPECT_EQ(line.counts.global_sectors, warps * 32);
      EXPECT_EQ(line.counts.ideal_global_sectors, warps * 4);
    } else if (text.find("// conflicts") != std::string::npos) {
      ++found;
      EXPECT_EQ(line.counts.shared_wavefronts, warps * 32);
      EXPECT_EQ(line.counts.ideal_shared_wavefronts, warps);
    } else if (text.find("// eight") != std::string::npos) {
      ++found;
      EXPECT_EQ(line.counts.shared_wavefronts, warps * 8);
      EXPECT_EQ(line.counts.thread_instructions, warps * 8);
    }
  }
  EXPECT_EQ(found, 3);
  const auto of = [&](InstructionClass kind) {
    return result.counters.by_class[static_cast<int>(kind)].instructions;
  };
  EXPECT_EQ(of(InstructionClass::floating_point), warps);
  EXPECT_EQ(of(InstructionClass::memory), 4 * warps);
  EXPECT_EQ(of(InstructionClass::control), warps) << "the implicit ret";
  EXPECT_EQ(result.counters.total.shared_wavefronts, warps * 40);
}

}  // namespace
}  // namespace tenon::emulator::testing
