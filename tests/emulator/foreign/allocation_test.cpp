// malloc and free, alloca, and the barrier of a whole grid, as nvcc compiles them.
#include <numeric>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;
using testing::several_schedules;

class Allocation : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Nvcc, Allocation, ::testing::Values("allocation", "allocation_debug"));

TEST_P(Allocation, malloc_gives_memory_until_free) {
  for (const int threads : {1, 4}) {
    Compiled compiled(GetParam());
    const Address out = compiled.allocate<int>(64);
    Options options;
    options.threads = threads;
    options.heap_bytes = 64 * 400;  // of one block, not of all launches together
    for (int launch = 0; launch < 3; ++launch)
      compiled.run("sum_on_the_heap", {{1}, {64}}, {out, 100}, options);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(compiled.download<int>(out, 64)[static_cast<std::size_t>(i)], 100 * i + 4950);
  }
}

TEST_P(Allocation, malloc_gives_null_when_the_heap_is_exhausted) {
  Compiled compiled(GetParam());
  const Address out = compiled.allocate<int>(32);
  Options options;
  options.heap_bytes = 400 * 10;
  compiled.run("sum_on_the_heap", {{1}, {32}}, {out, 100}, options);
  const std::vector<int> sums = compiled.download<int>(out, 32);
  EXPECT_EQ(std::count(sums.begin(), sums.end(), -1), 22);
  compiled.run("sum_on_the_heap", {{1}, {1}}, {out, 1001}, options);
  EXPECT_EQ(compiled.download<int>(out, 1)[0], -1);
  compiled.run("sum_on_the_heap", {{1}, {1}}, {out, 1000}, options);
  EXPECT_EQ(compiled.download<int>(out, 1)[0], 499500) << "all of it is free again";
}

TEST_P(Allocation, memory_of_the_heap_outlives_its_kernel) {
  Compiled compiled(GetParam());
  const Address pointers = compiled.allocate<Address>(8), out = compiled.allocate<int>(8);
  compiled.run("make", {{1}, {8}}, {pointers});
  compiled.run("read", {{1}, {8}}, {pointers, out});
  const std::vector<int> numbers = compiled.download<int>(out, 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  compiled.run("destroy", {{1}, {8}}, {pointers});

  const std::vector<Finding> late = compiled.launch("read", {{1}, {8}}, {pointers, out}).findings;
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].kind, FindingKind::freed);
  EXPECT_EQ(late[0].count, 8U);
  const std::vector<Finding> again = compiled.launch("destroy", {{1}, {8}}, {pointers}).findings;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].kind, FindingKind::freed);
  EXPECT_NE(again[0].message.find(", which is freed already"), std::string::npos) << again[0].message;
  const Address host = compiled.upload(std::vector<Address>{out});
  const std::vector<Finding> foreign = compiled.launch("destroy", {{1}, {1}}, {host}).findings;
  ASSERT_EQ(foreign.size(), 1U);
  EXPECT_EQ(foreign[0].kind, FindingKind::argument);
  EXPECT_NE(foreign[0].message.find("thread (0,0,0) of block (0,0,0) frees 0x7"), std::string::npos);
  EXPECT_NE(foreign[0].message.find(", which no malloc of a kernel has returned"), std::string::npos);
  const Address null = compiled.upload(std::vector<Address>{0});
  compiled.run("destroy", {{1}, {1}}, {null});
}

TEST_P(Allocation, the_heap_has_bounds_and_is_not_for_the_host) {
  Compiled compiled(GetParam());
  const Address pointers = compiled.allocate<Address>(1), out = compiled.allocate<int>(1);
  compiled.run("make", {{1}, {1}}, {pointers});
  const Address block = compiled.download<Address>(pointers, 1)[0];
  EXPECT_EQ(block % 16, 0U);
  const Address beyond = compiled.upload(std::vector<Address>{block + 4});
  const std::vector<Finding> found = compiled.launch("read", {{1}, {1}}, {beyond, out}).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::out_of_bounds);
  EXPECT_NE(found[0].message.find(") of 16 bytes"), std::string::npos) << found[0].message;
  EXPECT_THROW(compiled.download<int>(block, 1), Error);
}

TEST_P(Allocation, alloca_gives_memory_of_the_stack) {
  Compiled compiled(GetParam());
  const Address out = compiled.allocate<int>(64);
  compiled.run("sum_on_the_stack", {{1}, {64}}, {out, 20});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(compiled.download<int>(out, 64)[static_cast<std::size_t>(i)], 2660 * i);
  const std::vector<Finding> found = compiled.launch("sum_on_the_stack", {{1}, {1}}, {out, 200000}).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::out_of_bounds);
  EXPECT_NE(found[0].message.find(" allocates 800000 bytes on its stack, which holds "), std::string::npos)
      << found[0].message;
}

TEST_P(Allocation, the_barrier_of_the_grid_waits_for_all_blocks) {
  for (Options options : several_schedules())
    for (const int threads : {1, 4}) {
      options.threads = threads;
      Compiled compiled(GetParam());
      const Address out = compiled.allocate<int>(200);
      for (int launch = 0; launch < 2; ++launch) compiled.run("mirror", {{200}, {64}}, {out}, options);
      const std::vector<int> numbers = compiled.download<int>(out, 200);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], 10 * (199 - i));
    }
}

TEST_P(Allocation, the_barrier_of_a_grid_that_the_device_cannot_hold_is_a_trap) {
  Compiled compiled(GetParam());
  constexpr std::uint32_t blocks = 132 * 2 + 1;
  const Address out = compiled.allocate<int>(blocks);
  compiled.run("mirror", {{blocks - 1}, {1024}}, {out});
  const std::vector<Finding> found = compiled.launch("mirror", {{blocks}, {1024}}, {out}).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::trap);
  EXPECT_NE(found[0].message.find(
                "this_grid().sync() needs all blocks at a time, and the device cannot hold so many"),
            std::string::npos)
      << found[0].message;
}

}  // namespace
}  // namespace tenon::emulator
