// mbarrier.*: phases between warps, every form of arriving and waiting, and the findings about misuse.
#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr char one_pointer[] = ".param .u64 to";

// Every schedule finds a fault; which one depends on the order of the threads.
void expect_some_finding(PtxKernel& kernel) {
  for (const ScheduleChoice choice : all_schedules()) {
    const LaunchReport report = kernel.run(choice);
    EXPECT_FALSE(report.findings.empty()) << text(choice);
  }
}

// Warp 0 writes and arrives, warp 1 waits and reads.
constexpr char producer_consumer[] = R"(
  .shared .align 4 .b8 tile[128]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @!%p0 mbarrier.init.shared::cta.b64 [%r2], 32;
  bar.sync 0;
  and.b32 %r3, %r0, 31; shl.b32 %r4, %r3, 2; add.s32 %r1, %r1, %r4; cvt.u64.u32 %d2, %r4; add.s64 %d1, %d1, %d2;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra CONSUME;
  add.s32 %r5, %r3, 5;
  st.shared.b32 [%r1], %r5;
  mbarrier.arrive.shared::cta.b64 %d3, [%r2];
  ret;
CONSUME:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra CONSUME;
  ld.shared.b32 %r5, [%r1];  // FAULT
  st.global.b32 [%d1], %r5;
  ret;)";

std::vector<std::uint32_t> handed_over() {
  std::vector<std::uint32_t> values(32);
  for (std::uint32_t i = 0; i < 32; ++i) values[i] = i + 5;
  return values;
}

void expect_message_passed(const std::string& body, const std::string& target = "sm_90a") {
  PtxKernel kernel(one_pointer, body, "", target);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(32);
  kernel.grid(1, 64).argument(0, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 32), handed_over()); });
}
void expect_fault_in_producer_consumer(const std::string& body, FindingKind kind,
                                       const std::string& says = "") {
  PtxKernel kernel(one_pointer, body);
  kernel.grid(1, 64).argument(0, kernel.zeros<std::uint32_t>(32));
  expect_fault(kernel, kind, says);
}

TEST(Mbarrier, orders_data_between_warps) {
  expect_message_passed(producer_consumer);
  const std::string before_sm_90 = changed(producer_consumer, "try_wait", "test_wait");
  expect_message_passed(before_sm_90, "sm_80");
}

TEST(Mbarrier, arrives_and_waits_in_every_form) {
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 %d3, [%r2];";
  const std::string wait = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;";
  expect_message_passed(
      changed(producer_consumer, arrive, "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2], 1;"));
  expect_message_passed(changed(producer_consumer, arrive,
                                "cvta.shared.u64 %d4, %d4; cvt.u64.u32 %d4, %r2; cvta.shared.u64 %d4, "
                                "%d4; mbarrier.arrive.b64 %d3, [%d4];"));
  expect_message_passed(
      changed(producer_consumer, arrive, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];"));
  expect_message_passed(changed(producer_consumer, arrive,
                                "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r2], 8; "
                                "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 8;"));
  expect_message_passed(changed(producer_consumer, arrive,
                                "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 8; "
                                "mbarrier.complete_tx.shared::cta.b64 [%r2], 8; " +
                                    arrive));
  expect_message_passed(
      changed(producer_consumer, arrive, "mbarrier.arrive_drop.shared::cta.b64 %d3, [%r2];"));
  expect_message_passed(changed(producer_consumer, wait,
                                "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0;"));
  expect_message_passed(
      changed(producer_consumer, wait,
              "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0, 100;"));
}

// 64 threads, each arriving and waiting with its own state.
TEST(Mbarrier, synchronises_a_block_by_states) {
  PtxKernel kernel(one_pointer, R"(
  .shared .align 4 .b8 tile[256]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @!%p0 mbarrier.init.shared.b64 [%r2], 64;
  bar.sync 0;
  shl.b32 %r3, %r0, 2; add.s32 %r4, %r1, %r3; xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r1;
  cvt.u64.u32 %d2, %r3; add.s64 %d1, %d1, %d2;
  mov.u32 %r6, 0;
AGAIN:
  st.shared.b32 [%r4], %r0;
  mbarrier.arrive.shared.b64 %d3, [%r2];
FIRST:
  mbarrier.test_wait.shared.b64 %p2, [%r2], %d3;
  @!%p2 bra FIRST;
  ld.shared.b32 %r7, [%r5];
  st.global.b32 [%d1], %r7;
  mbarrier.arrive.shared.b64 %d3, [%r2];
SECOND:
  mbarrier.try_wait.shared.b64 %p2, [%r2], %d3;
  @!%p2 bra SECOND;
  add.s32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3;
  @%p1 bra AGAIN;
  ret;)");
  const std::uint64_t to = kernel.zeros<std::uint32_t>(64);
  kernel.grid(1, 64).argument(0, to);
  expect_clean(kernel, [&] {
    const auto result = kernel.download<std::uint32_t>(to, 64);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], i ^ 32);
  });
}

TEST(Mbarrier, a_state_tells_the_pending_count) {
  PtxKernel kernel(one_pointer, R"(
  .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  mov.u32 %r2, bar; mov.u32 %r1, 3;
  mbarrier.init.shared.b64 [%r2], 7;
  mbarrier.arrive.noComplete.shared.b64 %d3, [%r2], %r1;
  mbarrier.pending_count.b64 %r4, %d3; st.global.b32 [%d1], %r4;
  mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d3, [%r2], 1;
  mbarrier.pending_count.b64 %r4, %d3; st.global.b32 [%d1+4], %r4;
  mbarrier.arrive.shared.b64 %d3, [%r2], %r1;
  mbarrier.pending_count.b64 %r4, %d3; st.global.b32 [%d1+8], %r4;
  mbarrier.arrive.shared.b64 %d3, [%r2];
  mbarrier.pending_count.b64 %r4, %d3; st.global.b32 [%d1+12], %r4;
  mbarrier.inval.shared.b64 [%r2];
  mbarrier.init.shared.b64 [%r2], 1;
  ret;)");
  const std::uint64_t to = kernel.zeros<std::uint32_t>(4);
  kernel.grid(1, 1).argument(0, to);
  expect_clean(kernel, [&] {
    EXPECT_EQ(kernel.download<std::uint32_t>(to, 4), (std::vector<std::uint32_t>{7, 4, 3, 6}))
        << "the drop lowers the next phase to 6";
  });
}

TEST(Mbarrier, reading_without_a_wait_is_a_race) {
  expect_fault_in_producer_consumer(changed(changed(producer_consumer, "@!%p2 bra CONSUME;", ""),
                                            "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;", ""),
                                    FindingKind::race);
}

TEST(Mbarrier, a_relaxed_arrival_releases_nothing) {
  expect_fault_in_producer_consumer(changed(producer_consumer, "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
                                            "mbarrier.arrive.relaxed.cta.shared::cta.b64 %d3, [%r2];"),
                                    FindingKind::race);
}

// Before the first phase has ended, such a wait does not wait, and the accesses after it race. Later it waits
// for ever.
TEST(Mbarrier, waiting_for_the_wrong_parity_is_found) {
  PtxKernel kernel(one_pointer, changed(producer_consumer, "%p2, [%r2], 0;", "%p2, [%r2], 1;"));
  kernel.grid(1, 64).argument(0, kernel.zeros<std::uint32_t>(32));
  expect_some_finding(kernel);
}

TEST(Mbarrier, waiting_for_a_phase_that_never_ends_is_a_deadlock) {
  // The second phase: all threads have arrived once, and none arrives again.
  expect_fault_in_producer_consumer(
      changed(
          producer_consumer, "CONSUME:\n",
          "CONSUME:\n  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n  @!%p2 bra CONSUME;\nNEXT:\n"
          "  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 1;  // FAULT\n  @!%p2 bra NEXT;\n"),
      FindingKind::deadlock,
      "that no thread will change: the end of a phase of parity 1 of the mbarrier at 0x480, where phase 1 "
      "(parity 1) "
      "waits for 32 of 32 arrivals; 32 threads");
  // One arrival too few.
  expect_fault_in_producer_consumer(changed(changed(producer_consumer, "[%r2], 32;", "[%r2], 33;"),
                                            "%p2, [%r2], 0;", "%p2, [%r2], 0;  // FAULT"),
                                    FindingKind::deadlock,
                                    "where phase 0 (parity 0) waits for 1 of 33 arrivals;");
  // By its state instead of the parity, and at a generic address.
  PtxKernel kernel("", R"(
  .shared .align 8 .b64 bar; .reg .b32 %r; .reg .b64 %d<3>; .reg .pred %p;
  mov.u32 %r, bar; cvt.u64.u32 %d0, %r; cvta.shared.u64 %d0, %d0;
  mbarrier.init.b64 [%d0], 2;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r], 96;
  mbarrier.arrive.b64 %d1, [%d0];
AGAIN:
  mbarrier.test_wait.b64 %p, [%d0], %d1;  // FAULT
  @!%p bra AGAIN;)");
  kernel.grid(1, 1);
  expect_fault(
      kernel, FindingKind::deadlock,
      "the end of phase 0 of the mbarrier at 0x400, where phase 0 (parity 0) waits for 1 of 2 arrivals "
      "and 96 bytes;");
}

TEST(Mbarrier, too_many_arrivals_are_found) {
  expect_fault_in_producer_consumer(changed(producer_consumer, "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
                                            "mbarrier.arrive.shared::cta.b64 %d3, [%r2], 40;  // FAULT"),
                                    FindingKind::barrier,
                                    "arrives 40 times, but only 32 arrivals of 32 can still come in phase 0");
}

TEST(Mbarrier, a_barrier_that_was_not_initialised_is_found) {
  expect_fault_in_producer_consumer(
      changed(changed(producer_consumer, "@!%p0 mbarrier.init.shared::cta.b64 [%r2], 32;", ""),
              "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
              "mbarrier.arrive.shared::cta.b64 %d3, [%r2];  // FAULT"),
      FindingKind::barrier, "mbarrier.init has not been executed for it");
}

// Either the other warp comes too early, or nothing orders it.
TEST(Mbarrier, using_it_without_a_barrier_after_its_init_is_found) {
  PtxKernel kernel(one_pointer, changed(changed(changed(producer_consumer, "bar.sync 0;", ""),
                                                "%p2, [%r2], 0;", "%p2, [%r2], 0;  // FAULT"),
                                        "%d3, [%r2];", "%d3, [%r2];  // FAULT"));
  kernel.grid(1, 64).argument(0, kernel.zeros<std::uint32_t>(32));
  expect_fault(kernel, FindingKind::barrier);
}

TEST(Mbarrier, making_it_twice_is_found) {
  expect_fault_in_producer_consumer(
      changed(producer_consumer, "  bar.sync 0;\n",
              "  @!%p0 mbarrier.init.shared::cta.b64 [%r2], 32;  // FAULT\n  bar.sync 0;\n"),
      FindingKind::barrier, "mbarrier.inval must come first");
}

TEST(Mbarrier, overwriting_it_is_found) {
  expect_fault_in_producer_consumer(changed(changed(producer_consumer, "  bar.sync 0;\n",
                                                    "  @!%p0 st.shared.b32 [%r2], %r0;\n  bar.sync 0;\n"),
                                            "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
                                            "mbarrier.arrive.shared::cta.b64 %d3, [%r2];  // FAULT"),
                                    FindingKind::barrier, "was overwritten");
}

TEST(Mbarrier, a_misaligned_address_is_found) {
  expect_fault_in_producer_consumer(changed(producer_consumer, "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
                                            "mbarrier.arrive.shared::cta.b64 %d3, [%r2+4];  // FAULT"),
                                    FindingKind::misaligned);
}

TEST(Mbarrier, a_no_complete_arrival_must_not_complete) {
  expect_fault_in_producer_consumer(
      changed(producer_consumer, "mbarrier.arrive.shared::cta.b64 %d3, [%r2];",
              "mbarrier.arrive.noComplete.shared::cta.b64 %d3, [%r2], 1;  // FAULT"),
      FindingKind::barrier, ".noComplete");
}

TEST(Mbarrier, a_state_of_long_ago_is_found) {
  PtxKernel kernel(one_pointer, R"(
  .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<2>;
  mov.u32 %r2, bar;
  mbarrier.init.shared.b64 [%r2], 1;
  mbarrier.arrive.shared.b64 %d0, [%r2];
  mbarrier.arrive.shared.b64 %d1, [%r2];
  mbarrier.test_wait.shared.b64 %p0, [%r2], %d0;  // FAULT
  ret;)");
  kernel.grid(1, 1);
  expect_fault(kernel, FindingKind::barrier, "only the current phase and the one before can be waited for");
}

// An arrival at another CTA's mbarrier, for data that was stored there.
constexpr char remote[] = R"(
  .shared .align 8 .b64 tile; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.eq.u32 %p0, %r0, 0;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @!%p0 bra WAIT;
  mapa.shared::cluster.u32 %r3, %r1, 1;
  mapa.shared::cluster.u32 %r4, %r2, 1;
  mov.b32 %r5, 99;
  st.shared::cluster.b32 [%r3], %r5;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
  bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  ld.shared.b32 %r5, [%r1];  // FAULT
  st.global.b32 [%d1], %r5;
DONE:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

TEST(Mbarrier, its_initialisation_is_released_by_a_fence_of_its_own_and_a_relaxed_arrival) {
  const std::string relaxed =
      changed(remote, "barrier.cluster.arrive.release.aligned;", "barrier.cluster.arrive.relaxed.aligned;");
  PtxKernel kernel(one_pointer, relaxed);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(1);
  kernel.grid(2, 1, 2).argument(0, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 1)[0], 99u); });
  PtxKernel faulty(one_pointer, changed(relaxed, "fence.mbarrier_init.release.cluster;", ""));
  faulty.grid(2, 1, 2).argument(0, faulty.zeros<std::uint32_t>(1));
  expect_some_finding(faulty);
}

TEST(Mbarrier, is_reached_from_another_cta) {
  PtxKernel kernel(one_pointer, remote);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(1);
  kernel.grid(2, 1, 2).argument(0, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 1)[0], 99u); });
  PtxKernel faulty(one_pointer,
                   changed(changed(remote, "@!%p1 bra WAIT;", ""),
                           "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0;", ""));
  faulty.grid(2, 1, 2).argument(0, faulty.zeros<std::uint32_t>(1));
  expect_fault(faulty, FindingKind::race);
}

TEST(Mbarrier, of_another_cta_needs_shared_cluster) {
  PtxKernel kernel(one_pointer,
                   changed(remote, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];",
                           "mbarrier.arrive.release.cluster.shared::cta.b64 _, [%r4];  // FAULT"));
  kernel.grid(2, 1, 2).argument(0, kernel.zeros<std::uint32_t>(1));
  expect_fault(kernel, FindingKind::argument, "is in the shared memory of the CTA of rank 1");
}

std::string refusal(const std::string& instruction, const std::string& target = "sm_90a") {
  try {
    PtxKernel kernel(one_pointer, ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n" + instruction, "",
                     target);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Mbarrier, refuses_forms_that_do_not_exist) {
  EXPECT_NE(refusal("mbarrier.arrive.shared::cluster.b64 %d0, [%r0];").find("must be _"), std::string::npos);
  EXPECT_NE(refusal("mbarrier.try_wait.shared.b64 %p0, [%r0], %d0;", "sm_80").find("sm_90"),
            std::string::npos);
  EXPECT_NE(refusal("mbarrier.try_wait.shared::cluster.b64 %p0, [%r0], %d0;").find("not allowed"),
            std::string::npos);
  EXPECT_NE(refusal("mbarrier.arrive.release.shared::cta.b64 %d0, [%r0];").find("scope"), std::string::npos);
  EXPECT_NE(refusal("mbarrier.leave.shared::cta.b64 %d0, [%r0];").find("is needed"), std::string::npos);
  EXPECT_NE(refusal("mbarrier.arrive.now.shared::cta.b64 %d0, [%r0];").find(".now"), std::string::npos);
  EXPECT_NE(refusal("mbarrier.test_wait.shared::cta.b64 %p0, [%r0], %d0, 10;").find("operands"),
            std::string::npos);
  EXPECT_NE(refusal("fence.proxy.tensormap::generic.acquire.gpu [%d0], 64;").find("128"), std::string::npos);
  EXPECT_EQ(
      refusal(
          "fence.proxy.tensormap::generic.release.gpu; fence.proxy.alias; fence.proxy.async::generic.acquire."
          "sync_restrict::shared::cluster.cluster;"),
      "accepted");
}

}  // namespace
}  // namespace tenon::emulator::testing
