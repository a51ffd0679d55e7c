// Scheduling: spinning lanes, warps and clusters do not starve the ones that they wait for; a wait for
// nothing is a deadlock; the outcome does not depend on the number of host threads.
#include <cstdint>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

TEST(Progress, LanesOfOneWarpPassALockFromOneToTheNext) {
  // The lock's holder leaves the loop at a higher program counter than the lanes that spin for it.
  Kernel kernel(module_text(".param .u64 lock, .param .u64 sum", R"(
    ld.param.u64 %d1, [lock]; ld.param.u64 %d2, [sum];
  spin:
    atom.acquire.gpu.global.cas.b32 %r1, [%d1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra spin;
    ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;
    membar.gl;
    atom.release.gpu.global.exch.b32 %r3, [%d1], 0;)"));
  for (const Options& options : all_schedules()) {
    const Address lock = kernel.upload(std::vector<std::uint32_t>{0}),
                  sum = kernel.upload(std::vector<std::uint32_t>{0});
    const Result result = kernel.run({{2}, {64}}, {lock, sum}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    EXPECT_EQ(kernel.download<std::uint32_t>(sum, 1)[0], 128u);
  }
}

// Block i waits for block i + 1, and the last one starts: in the order of the grid, every block must yield.
constexpr const char* chain = R"(
    ld.param.u64 %d1, [flags];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1;
    mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
    setp.eq.u32 %p1, %r1, %r2;
    mov.u32 %r3, 0;
    @%p1 bra write;
  spin:
    ld.LOAD.u32 %r3, [%d1+4]; // looks
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra spin;
  write:
    add.u32 %r3, %r3, 1;
    membar.gl;
    STORE
    st.volatile.global.u32 [%d1], %r3;)";

std::string chain_with(const std::string& load, const std::string& store) {
  std::string text = chain;
  text.replace(text.find("LOAD"), 4, load);
  text.replace(text.find("STORE"), 5, store);
  return module_text(".param .u64 flags", text);
}

TEST(Progress, ABlockThatSpinsYieldsToTheBlockItWaitsFor) {
  for (const char* load : {"volatile.global", "acquire.gpu.global", "relaxed.sys.global", "global"}) {
    Kernel kernel(chain_with(load, ""));
    for (Options options : all_schedules(3)) {
      for (const int threads : {1, 2}) {
        // Without ordering the program has a race, which two host threads would have as well.
        if (threads > 1 && load == std::string("global")) continue;
        options.threads = threads;
        const Address flags = kernel.upload(std::vector<std::uint32_t>(24, 0));
        const Result result = kernel.run({{24}, {32}}, {flags}, options);
        EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
        const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(flags, 24);
        for (std::uint32_t i = 0; i < 24; ++i) EXPECT_EQ(got[i], 24 - i) << load;
      }
    }
  }
}

TEST(Progress, AFlagThatIsNeverSetIsADeadlockOfEveryBlock) {
  Kernel kernel(chain_with("volatile.global", "setp.eq.u32 %p3, %r1, 3;\n @%p3 ret;"));
  for (const int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Address flags = kernel.upload(std::vector<std::uint32_t>(6, 0));
    const Result result = kernel.run({{5}, {32}}, {flags}, options);
    const Finding finding = the_finding(kernel, result, FindingKind::deadlock, "// looks");
    EXPECT_EQ(finding.count, 3u * 32) << "blocks 0, 1 and 2";
    EXPECT_EQ(finding.first.block.x, 0u);
  }
}

TEST(Progress, WarpsWaitForEachOtherThroughSharedMemory) {
  const auto text = [](const char* last) {
    return module_text("", std::string(R"(
    .shared .align 4 .b32 turn;
    mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r1, 0; mov.u32 %r6, 0;
    @%p1 st.shared.u32 [turn], 0;
    bar.sync 0;
  again:
    ld.volatile.shared.u32 %r3, [turn]; // looks
    rem.u32 %r4, %r3, 4;
    setp.ne.u32 %p2, %r4, %r2;
    @%p2 bra again;
    bar.warp.sync -1;
    and.b32 %r5, %r1, 31; setp.eq.u32 %p3, %r5, 0;
    add.u32 %r3, %r3, 1;
    )") + last + R"(
    @%p3 st.volatile.shared.u32 [turn], %r3;
    add.u32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, 10;
    bar.warp.sync -1;
    @%p4 bra again;)");
  };
  Kernel right(text("")), stuck(text("setp.lt.and.u32 %p3, %r3, 10, %p3;"));
  for (const Options& options : all_schedules()) {
    const Result good = right.run({{1}, {128}}, {}, options);
    EXPECT_TRUE(good.findings.empty()) << listed(good.findings);
    const Finding bad =
        the_finding(stuck, stuck.run({{1}, {128}}, {}, options), FindingKind::deadlock, "// looks");
    EXPECT_EQ(bad.count, 3u * 32) << "all but the warp whose turn it stays";
  }
}

TEST(Progress, ALoopWithoutEndIsADeadlockWithOrWithoutInstructionsInIt) {
  Kernel empty(module_text("", "L:\n bra L; // here"));
  the_finding(empty, empty.run({{1}, {32}}, {}), FindingKind::deadlock, "// here");
  Kernel busy(module_text("", "mov.u32 %r1, 5;\nL: xor.b32 %r1, %r1, 3;\n bra L; // here"));
  the_finding(busy, busy.run({{1}, {32}}, {}), FindingKind::deadlock, "// here");
  Kernel counting(module_text("", "mov.u64 %d1, 0;\nL: add.u64 %d1, %d1, 1;\n bra L; // here %d1"));
  Options options;
  options.instruction_limit = 100000;
  const Result result = counting.run({{1}, {32}}, {}, options);
  the_finding(counting, result, FindingKind::limit, "%d1");
  EXPECT_EQ(result.counters.total.instructions, 100000u);
}

TEST(Progress, WaitingForTimeToPassIsNoDeadlock) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u64 %d2, %globaltimer;
  wait:
    nanosleep.u32 100;
    mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2;
    setp.lt.u64 %p1, %d4, 50000;
    @%p1 bra wait;
    mov.u32 %r1, %clock;
  more:
    mov.u32 %r2, %clock; sub.u32 %r3, %r2, %r1; setp.lt.u32 %p2, %r3, 20000;
    @%p2 bra more;
    st.global.u64 [%d1], %d4;)"));
  const Address out = kernel.emulator.allocate(8);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_GE(kernel.download<std::uint64_t>(out, 1)[0], 50000u);
}

TEST(Progress, AWaitThatReadsAClockIsADeadlockTooIfNoThreadArrives) {
  // As cuda::barrier waits: it sleeps longer and longer, and never repeats its state.
  const auto text = [](const char* arrivals) {
    return module_text("", std::string(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [full], )") +
                               arrivals + R"(;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %d1, [full];
    mov.u64 %d2, %globaltimer;
  wait:
    mbarrier.try_wait.shared::cta.b64 %p2, [full], %d1; // looks
    @%p2 bra over;
    mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2;
    shr.u64 %d5, %d4, 2; cvt.u32.u64 %r4, %d5; min.u32 %r4, %r4, 1000;
    nanosleep.u32 %r4;
    bra wait;
  over:)");
  };
  Kernel right(text("64")), stuck(text("65"));
  for (const Options& options : all_schedules(2)) {
    const Result good = right.run({{1}, {64}}, {}, options);
    EXPECT_TRUE(good.findings.empty()) << listed(good.findings);
    const Result bad = stuck.run({{1}, {64}}, {}, options);
    ASSERT_EQ(bad.findings.size(), 1u) << listed(bad.findings);
    EXPECT_EQ(bad.findings[0].kind, FindingKind::deadlock);
  }
}

// Every warp polls a flag and passes a barrier with the other warps, again and again.
std::string barrier_loop(const std::string& before_barrier) {
  return module_text(".param .u64 flag", R"(
    ld.param.u64 %d1, [flag]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r5, 1;
  again:
    )" + before_barrier + R"(
    bar.sync 0;
    ld.volatile.global.u32 %r3, [%d1]; // looks
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra again;)");
}

TEST(Progress, AnEndlessLoopThroughABarrierIsADeadlock) {
  Kernel kernel(barrier_loop("bar.red.or.pred %p2, 1, %p3;"));
  for (const Options& options : all_schedules()) {
    const Address flag = kernel.upload(std::vector<std::uint32_t>{0});
    const Finding finding =
        the_finding(kernel, kernel.run({{3}, {128}}, {flag}, options), FindingKind::deadlock, "// looks");
    EXPECT_EQ(finding.count, 3u * 128);
  }
}

TEST(Progress, ALoopThroughABarrierThatOneWarpWillEndIsNone) {
  // Only the last warp counts; the others repeat their state.
  Kernel kernel(barrier_loop(R"(
    setp.lt.u32 %p2, %r1, 96;
    @%p2 bra ready;
    add.u32 %r2, %r2, 1;
    setp.eq.u32 %p3, %r2, 20000;
    @%p3 st.volatile.global.u32 [%d1], %r5;
  ready:)"));
  for (const Options& options : all_schedules(2)) {
    const Address flag = kernel.upload(std::vector<std::uint32_t>{0});
    const Result result = kernel.run({{1}, {128}}, {flag}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  }
}

TEST(Progress, WarpsThatCountInTurnAreNoDeadlock) {
  // Nothing is written before the end. While one warp counts, the others repeat their state. Then another
  // warp counts, and in the end all of them work alone.
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r3, 0; mov.u32 %r7, 0;
    mov.u32 %r4, 0;
  turn:
    setp.eq.u32 %p1, %r2, %r3;
    @%p1 add.u32 %r4, %r4, 1;
    setp.ge.u32 %p2, %r4, 2000;
    and.pred %p2, %p2, %p1;
    ld.volatile.global.u32 %r5, [%d1];
    bar.red.or.pred %p3, 0, %p2;
    @!%p3 bra turn;
    mov.u32 %r4, 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 4;
    @%p4 bra turn;
    setp.ne.u32 %p5, %r2, 0;
    @%p5 bra wait;
  work:
    add.u32 %r7, %r7, 1; setp.lt.u32 %p6, %r7, 100000;
    @%p6 bra work;
  wait:
    bar.sync 0;
    st.global.u32 [%d1], %r3;)"));
  for (const Options& options : all_schedules(2)) {
    const Address out = kernel.upload(std::vector<std::uint32_t>{0});
    const Result result = kernel.run({{1}, {128}}, {out}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 4u);
  }
}

// Block 0 waits for block 1, which computes for long, but at most 2 seconds.
std::string wait_with_timeout(const std::string& last) {
  return module_text(".param .u64 data", R"(
    ld.param.u64 %d1, [data]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; mov.u32 %r2, 0; mov.u32 %r5, 1;
    @%p1 bra work;
    mov.u64 %d2, %globaltimer;
  wait:
    ld.acquire.gpu.global.u32 %r3, [%d1]; // looks
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra got;
    mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2;
    setp.lt.u64 %p3, %d4, LIMIT;
    @%p3 bra wait;
    st.global.u32 [%d1+4], 2;
    ret;
  got:
    st.global.u32 [%d1+4], 1;
    ret;
  work:
    add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 300000;
    @%p2 bra work;
    )" + last);
}

TEST(Progress, ATimeoutEndsAWaitOnlyIfNoOtherBlockDoes) {
  const auto with_limit = [](std::string text, const char* limit) {
    return text.replace(text.find("LIMIT"), 5, limit);
  };
  const auto outcome_of = [](const std::string& text) {
    Kernel kernel(text);
    const Address data = kernel.upload(std::vector<std::uint32_t>{0, 0});
    const Result result = kernel.run({{2}, {1}}, {data});
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    return kernel.download<std::uint32_t>(data, 2)[1];
  };
  const char* sets = "st.release.gpu.global.u32 [%d1], %r5;";
  EXPECT_EQ(outcome_of(with_limit(wait_with_timeout(sets), "2000000000")), 1u);
  EXPECT_EQ(outcome_of(with_limit(wait_with_timeout(""), "2000000000")), 2u);
  Kernel endless(with_limit(wait_with_timeout(""), "0xffffffffffffffff"));
  const Address data = endless.upload(std::vector<std::uint32_t>{0, 0});
  the_finding(endless, endless.run({{2}, {1}}, {data}), FindingKind::deadlock, "// looks");
}

TEST(Progress, ATrapEndsItsBlockAndIsNamed) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 trap; // here
    st.global.u32 [%d1], 1;)"));
  const Address out = kernel.upload(std::vector<std::uint32_t>(3, 0));
  const Finding finding = the_finding(kernel, kernel.run({{3}, {32}}, {out}), FindingKind::trap, "// here");
  EXPECT_EQ(finding.first.block.x, 1u);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 3), (std::vector<std::uint32_t>{1, 0, 1}));
}

TEST(Progress, ManyBlocksGiveTheSameOnOneAndTwoHostThreads) {
  // Every block has findings and counters; both must be equal.
  const std::string text = module_text(".param .u64 data, .param .u64 out", R"(
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %d1, [data]; ld.param.u64 %d3, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %d2, %r4, 4; add.s64 %d1, %d1, %d2; add.s64 %d3, %d3, %d2;
    mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5;
    ld.global.u32 %r7, [%d1+4]; // beyond in the last
    st.shared.u32 [%r6], %r7;
    xor.b32 %r8, %r1, 33; mad.lo.u32 %r8, %r8, 4, %r5;
    setp.eq.u32 %p1, %r2, 100; @%p1 bra racy;
    bar.sync 0;
  racy:
    ld.shared.u32 %r9, [%r8]; // race
    bar.sync 0;
    st.global.u32 [%d3], %r9;)");
  std::vector<std::vector<std::uint32_t>> outcomes;
  std::vector<Result> results;
  for (const int threads : {1, 2, 2}) {
    Kernel kernel(text);
    Options options;
    options.threads = threads;
    std::vector<std::uint32_t> data(64 * 256);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i / 64 * 1000);
    const Address in = kernel.upload(data), out = kernel.emulator.allocate(4 * data.size());
    results.push_back(kernel.run({{256}, {64}}, {in, out}, options));
    outcomes.push_back(kernel.download<std::uint32_t>(out, data.size()));
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_EQ(outcomes[0], outcomes[2]);
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(listed(results[i].findings), listed(results[0].findings));
    ASSERT_EQ(results[i].findings.size(), 2u);
    EXPECT_EQ(results[i].findings[0].count, results[0].findings[0].count);
    EXPECT_EQ(results[i].counters.total.instructions, results[0].counters.total.instructions);
    EXPECT_EQ(results[i].counters.total.shared_wavefronts, results[0].counters.total.shared_wavefronts);
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
