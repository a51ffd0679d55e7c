// Barriers of a CTA and of a warp: synchronisation, reductions, counts; misuse, divergence and deadlock.
#include <cstdint>
#include <numeric>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

TEST(Barrier, TreeReductionThroughSharedMemory) {
  Kernel kernel(module_text(".param .u64 in, .param .u64 out", R"(
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;
    mul.wide.u32 %d3, %r1, 4; add.s64 %d1, %d1, %d3;
    ld.global.u32 %r4, [%d1]; st.shared.u32 [%r3], %r4;
    mov.u32 %r5, 128;
  loop:
    bar.sync 0;
    setp.ge.u32 %p1, %r1, %r5;
    @%p1 bra skip;
    mad.lo.u32 %r6, %r5, 4, %r3;
    ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3]; add.u32 %r8, %r8, %r7; st.shared.u32 [%r3], %r8;
  skip:
    shr.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra loop;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 ret;
    st.global.u32 [%d2], %r8;)"));
  std::vector<std::uint32_t> values(256);
  std::iota(values.begin(), values.end(), 0u);
  for (const Options& options : all_schedules(20)) {
    const Address out = kernel.emulator.allocate(4);
    const Result result = kernel.run({{1}, {256}}, {kernel.upload(values), out}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 255u * 256 / 2);
  }
}

TEST(Barrier, ReductionsGiveAllThreadsTheSame) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 50;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
    barrier.cta.red.popc.aligned.u32 %r3, 1, 96, !%p1;
    selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 1, 0, %p3;
    mul.wide.u32 %d2, %r1, 16; add.s64 %d1, %d1, %d2;
    st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};)"));
  const Address out = kernel.emulator.allocate(16 * 96);
  const Result result = kernel.run({{1}, {96}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 4 * 96);
  for (std::size_t i = 0; i < 96; ++i) {
    EXPECT_EQ(got[4 * i], 50u);
    EXPECT_EQ(got[4 * i + 1], 46u);
    EXPECT_EQ(got[4 * i + 2], 0u);
    EXPECT_EQ(got[4 * i + 3], 1u);
  }
}

// Warp 0 produces, warp 1 consumes: arrive and sync on two named barriers.
constexpr const char* named = R"(
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, tile; mad.lo.u32 %r3, %r2, 4, %r3;
    mov.u32 %r4, 0; mov.u32 %r6, 0;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra consumer;
  producer:
    @PRODUCER_WAITS bar.sync 1, 64;
    add.u32 %r5, %r2, %r4;
    st.shared.u32 [%r3], %r5;
    bar.arrive 2, 64;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4;
    @%p2 bra producer;
    ret;
  consumer:
    bar.arrive 1, 64;
  next:
    bar.sync 2, 64;
    ld.shared.u32 %r5, [%r3]; // read
    add.u32 %r6, %r6, %r5;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4;
    @%p2 bar.arrive 1, 64;
    @%p2 bra next;
    mul.wide.u32 %d2, %r2, 4; add.s64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r6;)";

std::string named_with(const std::string& guard) {
  std::string text = named;
  return text.replace(text.find("@PRODUCER_WAITS"), 15, guard);
}

TEST(Barrier, NamedBarriersOfProducerAndConsumer) {
  Kernel kernel(module_text(".param .u64 out", named_with("")));
  for (const Options& options : all_schedules(20)) {
    const Address out = kernel.emulator.allocate(128);
    const Result result = kernel.run({{1}, {64}}, {out}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 4 * i + 6);
  }
}

std::string barriers_without(int threads, const std::string& barrier) {
  return module_text("", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, " + std::to_string(threads) +
                             ";\n@%p1 exit;\n" + barrier + " // first\n" + barrier);
}

TEST(Barrier, AWarpThatEndsIsNotWaitedFor) {
  Kernel kernel(barriers_without(64, "bar.sync 0;"));
  for (const Options& options : all_schedules()) {
    const Result result = kernel.run({{1}, {100}}, {}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  }
}

// `if (tid < 40) return; __syncthreads();`: the barrier is for whole warps, and one has ended in part.
TEST(Barrier, AThreadThatEndsIsNotWaitedForButMissesFromItsWarp) {
  Kernel aligned(barriers_without(40, "bar.sync 0;")), other(barriers_without(40, "barrier.sync 0;"));
  for (const Options& options : all_schedules()) {
    const Result result = aligned.run({{1}, {100}}, {}, options);
    ASSERT_EQ(result.findings.size(), 2u) << listed(result.findings);
    EXPECT_EQ(result.findings[0].kind, FindingKind::divergence);
    EXPECT_NE(aligned.line(result.findings[0].ptx_line).find("// first"), std::string::npos);
    EXPECT_EQ(
        result.findings[0].message,
        "only the lanes 0xffffff00 of the warp's 0xffffffff execute this .aligned instruction: the others "
        "have exited");
    const Result right = other.run({{1}, {100}}, {}, options);
    EXPECT_TRUE(right.findings.empty()) << listed(right.findings);
  }
}

TEST(Barrier, WrongNumbersAndCountsAreFound) {
  const auto check = [](const std::string& body) {
    Kernel kernel(module_text("", body));
    the_finding(kernel, kernel.run({{1}, {96}}, {}), FindingKind::barrier, "// bad");
  };
  check("mov.u32 %r1, 16;\n bar.sync %r1; // bad");
  check("bar.sync 1, 48; // bad");
  check("bar.sync 1, 128; // bad");
  check(
      "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; selp.u32 %r2, 64, 96, %p1;\n bar.arrive 1, %r2; // "
      "bad");
}

TEST(Barrier, AWarpThatNeverArrivesIsADeadlock) {
  Kernel kernel(module_text("", R"(
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;
    @%p1 bra first;
    bar.sync 1; // second
    ret;
  first:
    bar.sync 2; // here
    ret;)"));
  for (const Options& options : all_schedules()) {
    const Result result = kernel.run({{1}, {64}}, {}, options);
    ASSERT_EQ(result.findings.size(), 2u) << listed(result.findings);
    for (const Finding& finding : result.findings) {
      EXPECT_EQ(finding.kind, FindingKind::deadlock);
      EXPECT_EQ(finding.count, 32u);
    }
    EXPECT_NE(kernel.line(result.findings[0].ptx_line).find("// second"), std::string::npos);
    EXPECT_NE(kernel.line(result.findings[1].ptx_line).find("// here"), std::string::npos);
    EXPECT_NE(result.findings[0].message.find(": barrier 1, where 32 of 64 threads have arrived;"),
              std::string::npos)
        << listed(result.findings);
  }
}

TEST(Barrier, HalfAWarpAtAnAlignedBarrierIsDivergence) {
  Kernel kernel(module_text("", R"(
    mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 16;
    @%p1 bra half;
    bar.sync 0; // upper
    bra join;
  half:
    bar.sync 0; // lower
  join:
    bar.sync 0;)"));
  for (const Options& options : all_schedules()) {
    const Result result = kernel.run({{1}, {64}}, {}, options);
    ASSERT_FALSE(result.findings.empty());
    for (const Finding& finding : result.findings) EXPECT_EQ(finding.kind, FindingKind::divergence);
    EXPECT_NE(kernel.line(result.findings[0].ptx_line).find("// upper"), std::string::npos);
  }
  Kernel guarded(module_text("", R"(
    mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 16;
    @%p1 bar.sync 0; // bad)"));
  the_finding(guarded, guarded.run({{1}, {32}}, {}), FindingKind::divergence, "// bad");
}

TEST(Barrier, WithoutAlignedHalvesMayArriveFromDifferentInstructions) {
  Kernel kernel(module_text(".param .u64 out", R"(
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;
    setp.lt.u32 %p1, %r1, 16;
    st.shared.u32 [%r3], %r1;
    xor.b32 %r4, %r1, 31; mad.lo.u32 %r4, %r4, 4, %r2;
    @%p1 bra half;
    barrier.sync 0;
    ld.shared.u32 %r5, [%r4];
    bra join;
  half:
    barrier.sync 0;
    ld.shared.u32 %r5, [%r4];
  join:
    mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;)"));
  for (const Options& options : all_schedules()) {
    const Address out = kernel.emulator.allocate(128);
    const Result result = kernel.run({{1}, {32}}, {out}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 31 - i);
  }
}

TEST(Barrier, WarpBarriersOrderTheLanesTheyName) {
  const std::string text = R"(
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;
    setp.lt.u32 %p1, %r1, 16;
    xor.b32 %r4, %r1, 1; mad.lo.u32 %r4, %r4, 4, %r2;
    @%p1 bra half;
    st.shared.u32 [%r3], %r1;
    bar.warp.sync 0xffff0000;
    ld.shared.u32 %r5, [%r4];
    bra join;
  half:
    st.shared.u32 [%r3], %r1;
    MISSING
    ld.shared.u32 %r5, [%r4]; // read
  join:
    bar.warp.sync 0xffffffff;
    mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;)";
  const auto with = [&](const std::string& what) {
    std::string body = text;
    return module_text(".param .u64 out", body.replace(body.find("MISSING"), 7, what));
  };
  Kernel right(with("bar.warp.sync 0x0000ffff;")), wrong(with("")),
      missing(with("bar.warp.sync 0x0001ffff; // stuck"));
  for (const Options& options : all_schedules()) {
    const Address out = right.emulator.allocate(128);
    const Result result = right.run({{1}, {32}}, {out}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
    const std::vector<std::uint32_t> got = right.download<std::uint32_t>(out, 32);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i ^ 1);
    the_finding(wrong, wrong.run({{1}, {32}}, {wrong.emulator.allocate(128)}, options), FindingKind::race,
                "// read");
  }
  const Result stuck = missing.run({{1}, {32}}, {missing.emulator.allocate(128)});
  ASSERT_FALSE(stuck.findings.empty());
  EXPECT_EQ(stuck.findings[0].kind, FindingKind::deadlock) << listed(stuck.findings);
}

}  // namespace
}  // namespace tenon::emulator::testing
