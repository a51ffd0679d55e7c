// What must stand between mbarrier.init and the first use: nothing but an order in one CTA, as CUB, libcu++,
// CUTLASS and Triton rely on; a release and an acquire between CTAs, by one of the ways of the PTX ISA.
#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char pointers[] = ".param .u64 from, .param .u64 to";

// --- one CTA: thread 0 initialises, a thread copies, all threads wait and read.

// ORDER: what thread 0 executes after the initialisation; MEET: what all threads execute; COPIER: the thread.
constexpr char one_cta[] = R"(
  .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;
  .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra MEETING;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  ORDER
MEETING:
  MEET
  setp.ne.u32 %p1, %r0, COPIER;
  @%p1 bra COPIED;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r2];
COPIED:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  shl.b32 %r4, %r0, 2; add.s32 %r5, %r1, %r4; cvt.u64.u32 %d2, %r4; add.s64 %d1, %d1, %d2;
  ld.shared.b32 %r6, [%r5];
  st.global.b32 [%d1], %r6;
  ret;)";

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(7 * i + 3);
  return values;
}

struct OneCta {
  const char* of;
  const char *order, *meet, *copier;
};

TEST(MbarrierInit, needs_no_fence_in_its_cta) {
  for (const OneCta& pattern :
       {OneCta{"cub::DeviceTransform since CUDA 13.1", "", "", "0"},
        {"cuda::barrier and cuda::memcpy_async; today's programming guide", "", "bar.sync 0;", "0"},
        {"Triton: an elected thread copies", "", "bar.sync 0;", "32"},
        {"the programming guide of CUDA 12", "fence.proxy.async.shared::cta;", "bar.sync 0;", "0"},
        {"cutlass::arch::fence_barrier_init", "fence.mbarrier_init.release.cluster;", "bar.sync 0;", "32"},
        {"a cluster of one CTA", "fence.mbarrier_init.release.cluster;",
         "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", "32"}}) {
    SCOPED_TRACE(pattern.of);
    PtxKernel kernel(
        pointers, changed(changed(changed(one_cta, "ORDER", pattern.order), "MEET\n", pattern.meet), "COPIER",
                          pattern.copier));
    const std::uint64_t from = kernel.upload(numbers(64)), to = kernel.zeros<std::uint32_t>(64);
    kernel.grid(1, 64).argument(0, from).argument(1, to);
    expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 64), numbers(64)); });
  }
}

// --- a cluster of two CTAs of 64 threads: thread 0 of each initialises, CTA 0 uses both mbarriers.

// ORDER: what thread 0 executes around the initialisation INIT; MEET: what all threads execute; USE: what
// thread 0 of CTA 0 executes: %r3, %r4 are tile and mbarrier of CTA 1.
constexpr char two_ctas[] = R"(
  .shared .align 16 .b8 tile[32]; .shared .align 8 .b64 bar;
  .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .b16 %h<2>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r7, %cluster_ctarank;
  mov.b16 %h0, 3;
  setp.ne.u32 %p0, %r0, 0; setp.ne.u32 %p3, %r7, 0;
  mapa.shared::cluster.u32 %r3, %r1, 1;
  mapa.shared::cluster.u32 %r4, %r2, 1;
  @%p0 bra MEETING;
  ORDER
MEETING:
  MEET
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
  @%p3 bra WAIT;
  USE
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  setp.ge.u32 %p1, %r0, 4;
  @%p1 bra DONE;
  shl.b32 %r4, %r0, 2; add.s32 %r5, %r1, %r4;
  shl.b32 %r6, %r7, 4; add.s32 %r6, %r6, %r4; cvt.u64.u32 %d2, %r6; add.s64 %d1, %d1, %d2;
  ld.shared.b32 %r6, [%r5];
  st.global.b32 [%d1], %r6;
DONE:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

constexpr char init[] = "mbarrier.init.shared::cta.b64 [%r2], 1;";
constexpr char relaxed[] = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;";
constexpr char released[] = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";
constexpr char multicast[] =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d0], 16, "
    "[%r2], %h0;  // FAULT";
// To its own tile by the first instruction, to that of CTA 1 by the second.
constexpr char copy[] =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 16, [%r2];\n"
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d0], 16, [%r4];  // FAULT";
constexpr char store[] =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 16, [%r2];\n"
    "  ld.global.v4.b32 {%r5, %r6, %r8, %r9}, [%d0];\n"
    "  st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r3], {%r5, %r6, %r8, %r9}, [%r4];  // "
    "FAULT";

class Pair {
 public:
  Pair(const std::string& order, const std::string& meet, const std::string& use)
      : kernel(pointers, changed(changed(changed(two_ctas, "ORDER", order), "MEET\n", meet), "USE", use)) {
    from_ = kernel.upload(numbers(4));
    to_ = kernel.zeros<std::uint32_t>(8);
    kernel.grid(2, 64, 2).argument(0, from_).argument(1, to_);
  }
  void expect_copied() {
    std::vector<std::uint32_t> expected = numbers(4);
    expected.insert(expected.end(), {3, 10, 17, 24});
    expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to_, 8), expected); });
  }
  PtxKernel kernel;

 private:
  std::uint64_t from_ = 0, to_ = 0;
};

std::string fenced(const char* fence) {
  return std::string(init) + fence;
}

TEST(MbarrierInit, reaches_other_ctas_by_a_release_and_an_acquire) {
  const std::string own_fence = fenced("fence.mbarrier_init.release.cluster;");
  for (const char* use : {multicast, copy, store}) {
    SCOPED_TRACE(use);
    {
      SCOPED_TRACE("CUTLASS; the example of the PTX ISA");
      Pair(own_fence, relaxed, use).expect_copied();
    }
    {
      SCOPED_TRACE("cooperative_groups::cluster_group::sync, cute::cluster_sync");
      Pair(init, released, use).expect_copied();
    }
    {
      SCOPED_TRACE("both");
      Pair(own_fence, released, use).expect_copied();
    }
    {
      SCOPED_TRACE("a fence of all memory");
      Pair(fenced("fence.acq_rel.cluster;"), relaxed, use).expect_copied();
    }
    {
      SCOPED_TRACE("a CTA barrier between, and arrivals of one warp after it");
      Pair(own_fence, std::string("bar.sync 0;") + relaxed, use).expect_copied();
    }
  }
}

// One finding, which names the initialisation and the fence, and holds the line of USE.
void expect_missing_fence(const std::string& order, const std::string& meet, const std::string& use) {
  if (on_gpu()) GTEST_SKIP() << "a GPU finds no faults";
  Pair pair(order, meet, use);
  for (const ScheduleChoice choice : all_schedules()) {
    SCOPED_TRACE(text(choice));
    const LaunchReport report = pair.kernel.run(choice);
    ASSERT_EQ(report.findings.size(), 1u) << listed(pair.kernel, report);
    const Finding& finding = report.findings[0];
    EXPECT_EQ(finding.kind, FindingKind::barrier);
    EXPECT_NE(finding.message.find(
                  "of block (1,0,0) at line 17, and nothing orders that before this use by thread"),
              std::string::npos)
        << finding.message;
    EXPECT_NE(
        finding.message.find(
            "if its arrival is relaxed, a fence.mbarrier_init before it by the thread that initialized"),
        std::string::npos)
        << finding.message;
    bool is_at_use = false;
    for (const Finding::Line& line : finding.lines)
      is_at_use = is_at_use || pair.kernel.line(line.ptx_line).find("FAULT") != std::string::npos;
    EXPECT_TRUE(is_at_use) << listed(pair.kernel, report);
  }
}

TEST(MbarrierInit, is_not_released_by_a_relaxed_arrival) {
  for (const char* use : {multicast, copy, store}) {
    SCOPED_TRACE(use);
    expect_missing_fence(init, relaxed, use);
    expect_missing_fence(init, std::string("bar.sync 0;") + relaxed, use);
    expect_missing_fence(fenced("fence.proxy.async.shared::cta;"), relaxed, use);
    expect_missing_fence(std::string("fence.mbarrier_init.release.cluster;") + init, relaxed, use);
  }
}

// As in what triton-lang/triton#11498 repaired.
TEST(MbarrierInit, is_not_released_by_the_fence_of_another_thread) {
  const std::string other = "bar.sync 0; setp.eq.u32 %p1, %r0, 32; @%p1 fence.mbarrier_init.release.cluster;";
  for (const char* use : {multicast, copy, store}) {
    SCOPED_TRACE(use);
    expect_missing_fence(init, other + relaxed, use);
  }
}

// CTA 1 may not have come as far as the initialisation, or not have started.
TEST(MbarrierInit, is_not_ordered_by_a_barrier_of_the_cta) {
  if (on_gpu()) GTEST_SKIP() << "a GPU finds no faults";
  for (const char* use : {multicast, copy, store}) {
    SCOPED_TRACE(use);
    Pair pair(fenced("fence.mbarrier_init.release.cluster;"), "bar.sync 0;", use);
    for (const ScheduleChoice choice : all_schedules())
      EXPECT_FALSE(pair.kernel.run(choice).findings.empty()) << text(choice);
  }
}

// Also the threads of the same CTA have to know of it.
TEST(MbarrierInit, is_not_ordered_in_its_cta_by_a_relaxed_arrival) {
  const std::string kernel_text =
      changed(changed(changed(one_cta, "ORDER", ""), "MEET\n", relaxed), "COPIER", "32");
  PtxKernel kernel(pointers, changed(changed(kernel_text, "_, [%r2], 256;", "_, [%r2], 256;  // FAULT"),
                                     "%p2, [%r2], 0;", "%p2, [%r2], 0;  // FAULT"));
  kernel.grid(1, 64).argument(0, kernel.upload(numbers(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::barrier, "; a barrier is needed between them.");
}

}  // namespace
}  // namespace tenon::emulator::testing
