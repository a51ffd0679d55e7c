// Instruction limits: exact, for a cluster and for a whole launch, whatever the schedule and the host
// threads.
#include <cstdint>
#include <numeric>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// Two warps pass a barrier 100 times; one lane diverges, and a guard is false.
const char* const passing_barriers = R"(
    mov.u32 %r1, 0; mov.u32 %r2, %tid.x; setp.eq.u32 %p2, %r2, 5;
  again:
    @%p2 add.u32 %r3, %r3, 1;
    bar.sync 0;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100;
    @%p1 bra again;
    @%p2 bra end;
    xor.b32 %r3, %r3, 1;
  end:
    ret;)";

std::uint64_t instructions(const Result& result) {
  return result.counters.total.instructions;
}

TEST(Limit, OfAClusterIsExact) {
  Kernel kernel(module_text("", passing_barriers));
  for (Options options : all_schedules(3)) {
    const std::uint64_t all = instructions(kernel.run({{1}, {64}}, {}, options));
    ASSERT_GT(all, 545u);
    for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{545}, all - 1}) {
      options.instruction_limit = limit;
      const Result result = kernel.run({{1}, {64}}, {}, options);
      EXPECT_EQ(instructions(result), limit);
      ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
      EXPECT_EQ(result.findings[0].kind, FindingKind::limit);
      EXPECT_EQ(result.findings[0].count, 1u);
    }
    for (const std::uint64_t limit : {all, all + 1}) {
      options.instruction_limit = limit;
      const Result result = kernel.run({{1}, {64}}, {}, options);
      EXPECT_EQ(instructions(result), all);
      EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    }
  }
}

TEST(Limit, OfAClusterIsForEachClusterAndNamesTheInstructionThatWasNext) {
  Kernel kernel(module_text("", "mov.u32 %r1, 1;\nmov.u32 %r2, 2; // next\n"));
  Options options;
  options.instruction_limit = 1;
  Result result = kernel.run({{6}, {32}}, {}, options);
  EXPECT_EQ(instructions(result), 6u);
  Finding finding = the_finding(kernel, result, FindingKind::limit, "// next");
  EXPECT_EQ(finding.count, 6u);
  EXPECT_EQ(
      finding.message,
      "thread (0,0,0) of block (0,0,0) may not go on: the warps of its block have executed 1 instruction, "
      "the limit of a cluster");
  result = kernel.run({{6}, {32}, 0, Dim3{2}}, {}, options);
  EXPECT_EQ(instructions(result), 3u) << "of clusters of two blocks";
}

TEST(Limit, OfALaunchIsExactOnAnyNumberOfHostThreads) {
  Kernel kernel(module_text("", passing_barriers));
  for (const int threads : {1, 2, 5}) {
    Options options;
    options.threads = threads;
    const std::uint64_t all = instructions(kernel.run({{24}, {64}}, {}, options));
    for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{5000}, all - 1}) {
      options.launch_instruction_limit = limit;
      const Result result = kernel.run({{24}, {64}}, {}, options);
      EXPECT_EQ(instructions(result), limit);
      ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
      EXPECT_EQ(result.findings[0].kind, FindingKind::limit);
      EXPECT_EQ(result.findings[0].count, 1u) << "once for the launch";
      if (limit == 1) {
        EXPECT_NE(result.findings[0].message.find(" may not go on: the warps of the launch have executed 1 "
                                                  "instruction, its limit; 0 of its 24 blocks have ended"),
                  std::string::npos)
            << result.findings[0].message;
      }
    }
    options.launch_instruction_limit = all;
    EXPECT_TRUE(kernel.run({{24}, {64}}, {}, options).findings.empty());
  }
}

TEST(Limit, OfALaunchEndsClustersThatWaitForOthers) {
  // Block 0 polls a flag that block 1 would set if it did not count without end.
  Kernel kernel(module_text(".param .u64 flag", R"(
    ld.param.u64 %d1, [flag]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; mov.u64 %d2, 0;
    @%p1 bra count;
  spin:
    ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0;
    @%p2 bra spin;
    ret;
  count:
    add.u64 %d2, %d2, 1;
    bra count;)"));
  for (const int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    options.launch_instruction_limit = 1000000;
    const Address flag = kernel.upload(std::vector<std::uint32_t>{0});
    const Result result = kernel.run({{2}, {32}}, {flag}, options);
    EXPECT_EQ(instructions(result), 1000000u);
    ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
    EXPECT_EQ(result.findings[0].kind, FindingKind::limit);
  }
}

TEST(Limit, FindingsFromBeforeItAreReported) {
  Kernel kernel(
      module_text("", "mov.u64 %d1, 0;\nld.global.u32 %r1, [%d1]; // null\nL: add.u64 %d1, %d1, 1;\nbra L;"));
  for (const bool of_launch : {false, true}) {
    Options options;
    (of_launch ? options.launch_instruction_limit : options.instruction_limit) = 10000;
    const Result result = kernel.run({{1}, {32}}, {}, options);
    EXPECT_EQ(result.findings.size(), 2u);
    the_finding(kernel, result, FindingKind::null_pointer, "// null");
    the_finding(kernel, result, FindingKind::limit, "%d1");
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
