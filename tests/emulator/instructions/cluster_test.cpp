// Clusters: addresses of other CTAs, barrier.cluster, and setmaxnreg's pool of registers.
#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char one_pointer[] = ".param .u64 to";

// Every CTA reads its neighbour's shared memory, and exits only after all of them have read.
constexpr char neighbours[] = R"(
  .shared .align 4 .b8 tile[128];
  .reg .b32 %r<10>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, tile;
  shl.b32 %r4, %r0, 2; add.s32 %r3, %r3, %r4;
  mad.lo.s32 %r5, %r1, 100, %r0;
  st.shared.b32 [%r3], %r5;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  add.s32 %r6, %r1, 1; rem.u32 %r6, %r6, %r2;
  mapa.shared::cluster.u32 %r7, %r3, %r6;
  ld.shared::cluster.b32 %r8, [%r7];  // FAULT of the barrier
  getctarank.shared::cluster.u32 %r9, %r7;
  mad.lo.s32 %r8, %r9, 1000, %r8;
  mov.u32 %r9, %ctaid.x; shl.b32 %r9, %r9, 5; add.s32 %r9, %r9, %r0;
  mul.wide.u32 %d2, %r9, 4; add.s64 %d1, %d1, %d2;
  st.global.b32 [%d1], %r8;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

TEST(Cluster, ctas_read_their_neighbours_memory) {
  for (const std::uint32_t size : {1u, 2u, 4u}) {
    PtxKernel kernel(one_pointer, neighbours);
    const std::uint64_t to = kernel.zeros<std::uint32_t>(8 * 32);
    kernel.grid(8, 32, size).argument(0, to);
    expect_clean(kernel, [&] {
      const auto result = kernel.download<std::uint32_t>(to, 8 * 32);
      for (std::uint32_t cta = 0; cta < 8; ++cta) {
        const std::uint32_t neighbour = (cta % size + 1) % size;
        for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[cta * 32 + i], neighbour * 1100 + i);
      }
    });
  }
}

void expect_neighbours_fault(const std::string& body, FindingKind kind, const std::string& says = "") {
  PtxKernel kernel(one_pointer, body);
  kernel.grid(2, 32, 2).argument(0, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, kind, says);
}

TEST(Cluster, reading_without_waiting_is_a_race) {
  PtxKernel kernel(one_pointer, changed(changed(neighbours, "  barrier.cluster.wait.acquire.aligned;\n", ""),
                                        "  barrier.cluster.arrive.aligned;\n", ""));
  kernel.grid(2, 32, 2).argument(0, kernel.zeros<std::uint32_t>(64));
  for (const ScheduleChoice choice : all_schedules()) {
    const LaunchReport report = kernel.run(choice);
    EXPECT_FALSE(report.findings.empty()) << text(choice);
  }
}

TEST(Cluster, a_relaxed_arrival_releases_nothing) {
  expect_neighbours_fault(changed(neighbours, "barrier.cluster.arrive.release.aligned;",
                                  "barrier.cluster.arrive.relaxed.aligned;"),
                          FindingKind::race);
}

TEST(Cluster, a_fence_before_a_relaxed_arrival_releases_all_and_that_of_mbarriers_nothing_else) {
  const char* const arrival = "barrier.cluster.arrive.release.aligned;";
  PtxKernel kernel(one_pointer, changed(neighbours, arrival,
                                        "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned;"));
  kernel.grid(2, 32, 2).argument(0, kernel.zeros<std::uint32_t>(64));
  expect_clean(kernel, [] {});
  expect_neighbours_fault(
      changed(neighbours, arrival,
              "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed.aligned;"),
      FindingKind::race);
}

TEST(Cluster, arriving_twice_and_waiting_unasked_are_found) {
  expect_neighbours_fault(changed(neighbours, "barrier.cluster.arrive.release.aligned;",
                                  "barrier.cluster.arrive.release.aligned;\n"
                                  "barrier.cluster.arrive.release.aligned;  // FAULT\n"),
                          FindingKind::barrier, "is the second without a barrier.cluster.wait");
  expect_neighbours_fault(changed(neighbours, "barrier.cluster.wait.acquire.aligned;",
                                  "barrier.cluster.wait.acquire.aligned;\n"
                                  "barrier.cluster.wait.acquire.aligned;  // FAULT\n"),
                          FindingKind::barrier, "has no barrier.cluster.arrive before it");
}

TEST(Cluster, a_rank_outside_the_cluster_is_found) {
  expect_neighbours_fault(changed(neighbours, "mapa.shared::cluster.u32 %r7, %r3, %r6;",
                                  "mapa.shared::cluster.u32 %r7, %r3, 2;  // FAULT\n"),
                          FindingKind::argument, "rank 2 but the cluster has 2");
}

TEST(Cluster, another_ctas_memory_is_not_the_own_one) {
  expect_neighbours_fault(changed(neighbours, "ld.shared::cluster.b32", "ld.shared.b32"),
                          FindingKind::out_of_bounds, "in its own: .shared::cluster is needed");
}

TEST(Cluster, one_cta_that_does_not_arrive_is_a_deadlock) {
  expect_neighbours_fault(
      changed(
          changed(
              neighbours,
              "barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n",
              ".reg .pred %p; setp.eq.u32 %p, %r1, 0; @%p bra SKIP;\n"
              "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;  // FAULT\n"
              "HANG: ld.volatile.shared.b32 %r9, [%r3]; setp.ne.u32 %p, %r9, 100000; @%p bra HANG;\nSKIP:\n"
              "HANG2: ld.volatile.shared.b32 %r9, [%r3]; setp.ne.u32 %p, %r9, 100000; @%p bra HANG2;\n"),
          "// FAULT of the barrier", ""),
      FindingKind::deadlock, "the cluster's barrier, where 32 of 64 threads have arrived;");
}

TEST(Cluster, exited_threads_are_not_waited_for) {
  PtxKernel kernel(one_pointer, R"(
  .reg .b32 %r<4>; .reg .pred %p<2>;
  mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 0;
  @%p0 ret;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)");
  kernel.grid(2, 64, 2).argument(0, kernel.zeros<std::uint32_t>(1));
  expect_clean(kernel);
}

TEST(Cluster, generic_addresses_are_mapped_too) {
  PtxKernel kernel(one_pointer, R"(
  .shared .align 4 .b32 word;
  .reg .b32 %r<6>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %cluster_ctarank; mov.u64 %d2, word; cvta.shared.u64 %d2, %d2;
  add.s32 %r1, %r0, 40; st.b32 [%d2], %r1;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  xor.b32 %r2, %r0, 1;
  mapa.u64 %d3, %d2, %r2;
  ld.b32 %r3, [%d3];
  getctarank.u64 %r4, %d3; mad.lo.s32 %r3, %r4, 100, %r3;
  mul.wide.u32 %d4, %r0, 4; add.s64 %d1, %d1, %d4; st.global.b32 [%d1], %r3;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ret;)");
  const std::uint64_t to = kernel.zeros<std::uint32_t>(2);
  kernel.grid(2, 1, 2).argument(0, to);
  expect_clean(kernel, [&] {
    EXPECT_EQ(kernel.download<std::uint32_t>(to, 2), (std::vector<std::uint32_t>{141, 40}));
  });
}

// --- setmaxnreg: 384 threads have 168 registers each; the consumers take the registers that the producer
// releases.

std::string pool(int producer, int consumer) {
  return R"(
  .reg .b32 %r<4>; .reg .pred %p<2>;
  mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 128;
  @%p0 bra PRODUCER;
  setmaxnreg.inc.sync.aligned.u32 )" +
         std::to_string(consumer) + R"(;  // FAULT
  ret;
PRODUCER:
  setmaxnreg.dec.sync.aligned.u32 )" +
         std::to_string(producer) + R"(;
  ret;)";
}

TEST(SetMaxRegisters, takes_what_others_have_given) {
  PtxKernel kernel(one_pointer, pool(40, 232));
  kernel.grid(1, 384).argument(0, kernel.zeros<std::uint32_t>(1));
  expect_clean(kernel);
}

TEST(SetMaxRegisters, waits_for_ever_for_registers_that_no_warp_releases) {
  PtxKernel kernel(one_pointer, pool(40, 240));
  kernel.grid(1, 384).argument(0, kernel.zeros<std::uint32_t>(1));
  expect_fault(kernel, FindingKind::deadlock);
}

TEST(SetMaxRegisters, inc_must_not_lower) {
  PtxKernel kernel(one_pointer, pool(40, 160));
  kernel.grid(1, 384).argument(0, kernel.zeros<std::uint32_t>(1));
  if (!on_gpu()) expect_clean(kernel);  // 168 is only the maximum
  PtxKernel with_168(one_pointer, pool(40, 160), "", "sm_90a", ".maxnreg 168");
  with_168.grid(1, 384).argument(0, with_168.zeros<std::uint32_t>(1));
  expect_fault(with_168, FindingKind::argument,
               "setmaxnreg.inc asks for 160 registers a thread, but the warp has already 168");
}

TEST(SetMaxRegisters, start_with_what_the_directives_leave) {
  // Two blocks per SM: 80 registers per thread; the producer releases 56 of them.
  for (const char* directives : {".maxntid 384 .minnctapersm 2", ".maxnreg 80"}) {
    PtxKernel right(one_pointer, pool(24, 104), "", "sm_90a", directives);
    right.grid(1, 384).argument(0, right.zeros<std::uint32_t>(1));
    expect_clean(right);
    PtxKernel wrong(one_pointer, pool(24, 232), "", "sm_90a", directives);
    wrong.grid(1, 384).argument(0, wrong.zeros<std::uint32_t>(1));
    expect_fault(wrong, FindingKind::deadlock);
  }
}

TEST(SetMaxRegisters, is_for_all_warps_of_a_warpgroup) {
  PtxKernel kernel(one_pointer, R"(
  .reg .b32 %r<4>; .reg .pred %p<2>;
  mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32;
  @%p0 bra OTHERS;
  setmaxnreg.dec.sync.aligned.u32 24;  // FAULT
OTHERS:
  ret;)");
  kernel.grid(1, 128).argument(0, kernel.zeros<std::uint32_t>(1));
  expect_fault(kernel, FindingKind::divergence,
               "has executed 1 setmaxnreg and warp 1 of the same warpgroup 0");
}

TEST(SetMaxRegisters, refuses_counts_that_are_no_multiples_of_8) {
  EXPECT_THROW(PtxKernel(one_pointer, "setmaxnreg.inc.sync.aligned.u32 100;"), ptx::Error);
  EXPECT_THROW(PtxKernel(one_pointer, "setmaxnreg.inc.sync.aligned.u32 264;"), ptx::Error);
  EXPECT_THROW(PtxKernel(one_pointer, "setmaxnreg.dec.sync.aligned.u32 16;"), ptx::Error);
}

}  // namespace
}  // namespace tenon::emulator::testing
