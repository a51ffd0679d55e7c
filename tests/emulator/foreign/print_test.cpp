// printf and assert of CUDA C++ as nvcc compiles them: what they write, against printf of the host.
#include <cstdio>
#include <string>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;

TEST(Printf, WritesEveryConversionAsTheHostDoes) {
  Compiled compiled("print");
  const Address count = compiled.allocate<int>(1);
  const Result result = compiled.launch("print_conversions", {{1}, {1}}, {count});
  char expected[512];
  std::snprintf(expected, sizeof expected,
                "%d|%5i|%-5d|%+d|%05d|%u|%o|%x|%#X|%lld|%lu|%hd|%hhu|%c|%s|%8.3s|%f|%.2e|%G|%*.*f|%p|%%|", -7,
                42, 42, 42, 42, 4000000000U, 8, 255, 255, -5000000000LL, 5000000000UL,
                static_cast<short>(70000), static_cast<unsigned char>(300), 'c', "text", "text", 1.5,
                12345.678F, 1e-10, 9, 2, 3.14159, reinterpret_cast<void*>(0x1234abcd));
  EXPECT_EQ(result.printed, std::string(expected) + "%q\n");
  EXPECT_EQ(result.unprinted_bytes, 0U);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(compiled.download<int>(count, 1)[0], 23);
}

TEST(Printf, WritesBlocksInOrderOnAnyNumberOfHostThreads) {
  std::string expected;
  for (int block = 0; block < 40; ++block)
    for (const int thread : {0, 31, 62})
      expected += "block " + std::to_string(block) + " thread " + std::to_string(thread) + "\n";
  for (const int threads : {1, 4}) {
    Compiled compiled("print");
    Options options;
    options.threads = threads;
    EXPECT_EQ(compiled.launch("print_threads", {{40}, {64}}, {}, options).printed, expected) << threads;
  }
}

TEST(Printf, KeepsTheFirstMebibyteAndCountsTheRest) {
  constexpr std::uint64_t kept = 1 << 20, lines = kept / 64;
  for (const std::uint32_t threads : {1U, 256U}) {
    Compiled compiled("print");
    const auto blocks = static_cast<std::uint32_t>(lines / threads) + 3;
    const Result result = compiled.launch("print_much", {{blocks}, {threads}}, {});
    ASSERT_EQ(result.printed.size(), kept) << threads;
    EXPECT_EQ(result.unprinted_bytes, 3U * threads * 64) << threads;
    char last[80];
    std::snprintf(last, sizeof last, "%063u\n", static_cast<unsigned>(lines - 1));
    EXPECT_EQ(result.printed.substr(kept - 64), last);
  }
}

TEST(Assert, ThatFailsIsAFindingWithItsConditionFunctionAndLine) {
  Compiled compiled("print");
  EXPECT_TRUE(compiled.launch("assert_below", {{1}, {64}}, {64}).findings.empty());
  const Result result = compiled.launch("assert_below", {{1}, {64}}, {40});
  ASSERT_EQ(result.findings.size(), 1U);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::trap);
  for (const char* part : {"thread (40,0,0)", "int(threadIdx.x) < limit && \"thread beyond the limit\"",
                           "assert_below", "print.cu:26"})
    EXPECT_NE(finding.message.find(part), std::string::npos) << finding.message;
}

}  // namespace
}  // namespace tenon::emulator
