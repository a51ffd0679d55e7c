// cp.async and its groups, bulk copies, bulk stores and reductions, st.async: correct kernels and faulty
// versions, under every schedule.
#include <numeric>

#include "emulator/instructions/async_copy_reduce.hpp"
#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

std::vector<std::uint32_t> counting(std::size_t count, std::uint32_t first = 1) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// --- cp.async

constexpr char two_pointers[] = ".param .u64 from, .param .u64 to";

// 64 threads copy 16 bytes each; each thread stores the data of its neighbour's copy.
constexpr char exchange[] = R"(
  .shared .align 16 .b8 tile[1024];
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
  mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.s32 %r2, %r1, %r2;
  cp.async.cg.shared.global [%r2], [%d0], 16;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  xor.b32 %r3, %r0, 1; shl.b32 %r3, %r3, 4; add.s32 %r3, %r1, %r3;
  ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];  // FAULT
  st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};
  ret;)";

TEST(AsyncCopy, brings_what_is_waited_for) {
  PtxKernel kernel(two_pointers, exchange, "", "sm_80");
  const auto data = counting(256);
  const std::uint64_t from = kernel.upload(data), to = kernel.zeros<std::uint32_t>(256);
  kernel.grid(1, 64).argument(0, from).argument(1, to);
  expect_clean(kernel, [&] {
    const auto result = kernel.download<std::uint32_t>(to, 256);
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(result[i], data[i ^ 4]);
  });
}

void expect_exchange_fault(const std::string& body, FindingKind kind) {
  PtxKernel kernel(two_pointers, body);
  kernel.grid(1, 64).argument(0, kernel.upload(counting(256))).argument(1, kernel.zeros<std::uint32_t>(256));
  expect_fault(kernel, kind);
}

TEST(AsyncCopy, a_missing_wait_is_found) {
  expect_exchange_fault(changed(exchange, "cp.async.wait_group 0;", ""), FindingKind::async_use);
  expect_exchange_fault(changed(exchange, "cp.async.wait_group 0;", "cp.async.wait_group 1;"),
                        FindingKind::async_use);
}

TEST(AsyncCopy, a_missing_barrier_after_the_wait_is_found) {
  expect_exchange_fault(changed(exchange, "bar.sync 0;", ""), FindingKind::async_use);
}

TEST(AsyncCopy, wait_all_needs_no_commit) {
  PtxKernel kernel(two_pointers, changed(changed(exchange, "cp.async.commit_group;", ""),
                                         "cp.async.wait_group 0;", "cp.async.wait_all;"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(256))).argument(1, kernel.zeros<std::uint32_t>(256));
  expect_clean(kernel);
}

// Sizes 4, 8 and 16, shortened sources, and an ignored one, by one thread each.
TEST(AsyncCopy, fills_with_zeros_what_it_does_not_read) {
  PtxKernel kernel(two_pointers, R"(
  .shared .align 16 .b8 tile[128];
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<2>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r1, tile;
  mov.u32 %r2, 3;
  createpolicy.fractional.L2::evict_first.b64 %d4, 1.0;
  setp.eq.u32 %p0, %r2, 3; setp.ne.u32 %p1, %r2, 3;
  cp.async.ca.shared::cta.global [%r1], [%d0], 4;
  cp.async.ca.shared.global.L2::128B [%r1+8], [%d0+8], 8;
  cp.async.cg.shared.global [%r1+16], [%d0+16], 16, 5;
  cp.async.ca.shared.global [%r1+32], [%d0+32], 8, %r2;
  cp.async.ca.shared.global.L2::cache_hint [%r1+48], [%d0+48], 16, 16, %d4;
  cp.async.ca.shared.global [%r1+64], [%d0+64], 16, %p0;
  cp.async.ca.shared.global [%r1+80], [%d0+80], 16, %p1;
  cp.async.cg.shared.global [%r1+96], [%d0+96], 16, 0;
  cp.async.wait_all;
  ld.shared.b32 %r3, [%r1]; st.global.b32 [%d1], %r3;
  ld.shared.b64 %d2, [%r1+8]; st.global.b64 [%d1+8], %d2;
  ld.shared.v4.b32 {%r4,%r5,%r6,%r7}, [%r1+16]; st.global.v4.b32 [%d1+16], {%r4,%r5,%r6,%r7};
  ld.shared.b64 %d2, [%r1+32]; st.global.b64 [%d1+32], %d2;
  ld.shared.v4.b32 {%r4,%r5,%r6,%r7}, [%r1+48]; st.global.v4.b32 [%d1+48], {%r4,%r5,%r6,%r7};
  ld.shared.v4.b32 {%r4,%r5,%r6,%r7}, [%r1+64]; st.global.v4.b32 [%d1+64], {%r4,%r5,%r6,%r7};
  ld.shared.v4.b32 {%r4,%r5,%r6,%r7}, [%r1+80]; st.global.v4.b32 [%d1+80], {%r4,%r5,%r6,%r7};
  ld.shared.v4.b32 {%r4,%r5,%r6,%r7}, [%r1+96]; st.global.v4.b32 [%d1+96], {%r4,%r5,%r6,%r7};
  ret;)");
  std::vector<std::uint8_t> data(112);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  const std::uint64_t from = kernel.upload(data), to = kernel.upload(std::vector<std::uint8_t>(112, 0xee));
  kernel.grid(1, 1).argument(0, from).argument(1, to);
  std::vector<std::uint8_t> expected(112, 0xee);
  const auto copy = [&](std::size_t at, std::size_t bytes, std::size_t read) {
    for (std::size_t i = 0; i < bytes; ++i) expected[at + i] = i < read ? data[at + i] : 0;
  };
  copy(0, 4, 4), copy(8, 8, 8), copy(16, 16, 5), copy(32, 8, 3), copy(48, 16, 16), copy(64, 16, 0),
      copy(80, 16, 16), copy(96, 16, 0);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint8_t>(to, 112), expected); });
}

// Two groups in flight, the first waited for.
constexpr char two_groups[] = R"(
  .shared .align 16 .b8 tile[32];
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r1, tile;
  cp.async.ca.shared.global [%r1], [%d0], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r1+4], [%d0+4], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.b32 %r2, [%r1];
  st.global.b32 [%d1], %r2;
  cp.async.wait_group 0;
  ld.shared.b32 %r3, [%r1+4];  // FAULT
  st.global.b32 [%d1+4], %r3;
  ret;)";

TEST(AsyncCopy, groups_are_waited_for_in_order) {
  PtxKernel kernel(two_pointers, two_groups);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(2);
  kernel.grid(1, 1).argument(0, kernel.upload(counting(2))).argument(1, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 2), counting(2)); });
  PtxKernel faulty(two_pointers, changed(two_groups, "cp.async.wait_group 0;", ""));
  faulty.grid(1, 1).argument(0, faulty.upload(counting(2))).argument(1, faulty.zeros<std::uint32_t>(2));
  expect_fault(faulty, FindingKind::async_use);
}

// A warp's copies complete on an mbarrier that another warp waits for.
constexpr char copies_to_mbarrier[] = R"(
  .shared .align 16 .b8 tile[128]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @!%p0 mbarrier.init.shared::cta.b64 [%r2], 32;
  bar.sync 0;
  and.b32 %r3, %r0, 31; shl.b32 %r4, %r3, 2; add.s32 %r1, %r1, %r4; cvt.u64.u32 %d2, %r4;
  add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra CONSUME;
  cp.async.ca.shared.global [%r1], [%d0], 4;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];
  ret;
CONSUME:
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  ld.shared.b32 %r5, [%r1];  // FAULT
  st.global.b32 [%d1], %r5;
  ret;)";

TEST(AsyncCopy, arrives_at_an_mbarrier_when_the_copies_have_landed) {
  PtxKernel kernel(two_pointers, copies_to_mbarrier);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(32);
  kernel.grid(1, 64).argument(0, kernel.upload(counting(32))).argument(1, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 32), counting(32)); });
}

TEST(AsyncCopy, an_ordinary_arrival_does_not_cover_the_copies) {
  PtxKernel kernel(two_pointers,
                   changed(copies_to_mbarrier, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];",
                           "mbarrier.arrive.shared::cta.b64 %d5, [%r2];"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(32))).argument(1, kernel.zeros<std::uint32_t>(32));
  expect_fault(kernel, FindingKind::async_use);
}

TEST(AsyncCopy, without_noinc_the_arrival_is_added_to_those_expected) {
  // 32 ordinary arrivals are expected; the asynchronous ones are additional.
  PtxKernel kernel(
      two_pointers,
      changed(copies_to_mbarrier, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];",
              "cp.async.mbarrier.arrive.shared::cta.b64 [%r2]; mbarrier.arrive.shared::cta.b64 %d5, [%r2];"));
  const std::uint64_t to = kernel.zeros<std::uint32_t>(32);
  kernel.grid(1, 64).argument(0, kernel.upload(counting(32))).argument(1, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 32), counting(32)); });
}

// --- bulk copies

constexpr char bulk_load[] = R"(
  .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  shl.b32 %r3, %r0, 2; add.s32 %r4, %r1, %r3; cvt.u64.u32 %d2, %r3; add.s64 %d1, %d1, %d2;
  ld.shared.b32 %r5, [%r4];  // FAULT
  st.global.b32 [%d1], %r5;
  ret;)";

TEST(BulkCopy, lands_before_its_mbarrier_phase_ends) {
  PtxKernel kernel(two_pointers, bulk_load);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(64);
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 64), counting(64)); });
}

TEST(BulkCopy, reading_without_the_wait_is_found) {
  PtxKernel kernel(two_pointers, changed(changed(bulk_load, "@!%p2 bra WAIT;", ""),
                                         "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;", ""));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::async_use);
}

// Before the first phase has ended, such a wait does not wait, and the accesses after it race. Later it waits
// for ever.
TEST(BulkCopy, waiting_for_the_wrong_parity_is_found) {
  PtxKernel kernel(two_pointers, changed(bulk_load, "[%r2], 0;\n  @!%p2", "[%r2], 1;\n  @!%p2"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  for (const ScheduleChoice choice : all_schedules()) {
    const LaunchReport report = kernel.run(choice);
    EXPECT_FALSE(report.findings.empty()) << text(choice);
  }
}

TEST(BulkCopy, too_few_expected_bytes_are_found) {
  PtxKernel kernel(two_pointers, changed(changed(bulk_load, "_, [%r2], 256;", "_, [%r2], 128;"),
                                         "[%r1], [%d0], 256, [%r2];", "[%r1], [%d0], 256, [%r2];  // FAULT"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::barrier, "128 bytes more than expect_tx announced");
}

TEST(BulkCopy, too_many_expected_bytes_are_a_deadlock) {
  PtxKernel kernel(two_pointers, changed(changed(bulk_load, "_, [%r2], 256;", "_, [%r2], 512;"),
                                         "%p2, [%r2], 0;", "%p2, [%r2], 0;  // FAULT"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::deadlock, "waits for 0 of 1 arrival and 256 bytes;");
}

TEST(BulkCopy, sizes_and_addresses_are_multiples_of_16) {
  PtxKernel kernel(two_pointers,
                   changed(bulk_load, "[%r1], [%d0], 256, [%r2];", "[%r1], [%d0], 248, [%r2];  // FAULT"));
  kernel.grid(1, 64).argument(0, kernel.upload(counting(64))).argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::argument, "The size is 248 but must be a multiple of 16 bytes.");
  PtxKernel shifted(two_pointers,
                    changed(bulk_load, "[%r1], [%d0], 256, [%r2];", "[%r1], [%d0+8], 240, [%r2];  // FAULT"));
  shifted.grid(1, 64).argument(0, shifted.upload(counting(64))).argument(1, shifted.zeros<std::uint32_t>(64));
  expect_fault(shifted, FindingKind::misaligned, "The source address");
}

// Threads write a tile, one stores it in a bulk group, and the tile is overwritten after the store has read
// it.
constexpr char bulk_store[] = R"(
  .shared .align 128 .b8 tile[256];
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
  shl.b32 %r3, %r0, 2; add.s32 %r4, %r1, %r3;
  add.s32 %r5, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  st.shared.b32 [%r4], %r5;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 bra STORED;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 256;  // FAULT of the fence
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
STORED:
  bar.sync 0;
  st.shared.b32 [%r4], %r0;  // FAULT of the wait
  ret;)";

TEST(BulkStore, stores_what_was_written_before_its_fence) {
  PtxKernel kernel(two_pointers, bulk_store);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(64);
  kernel.grid(1, 64).argument(0, to).argument(1, to);
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 64), counting(64)); });
}

TEST(BulkStore, a_missing_proxy_fence_is_found) {
  for (const char* fence : {"", "fence.proxy.async.global;", "fence.acq_rel.cta;"}) {
    PtxKernel kernel(two_pointers, changed(bulk_store, "fence.proxy.async.shared::cta;", fence));
    kernel.grid(1, 64)
        .argument(0, kernel.zeros<std::uint32_t>(64))
        .argument(1, kernel.zeros<std::uint32_t>(64));
    expect_fault(kernel, FindingKind::proxy_fence);
  }
}

TEST(BulkStore, overwriting_the_source_without_the_wait_is_found) {
  PtxKernel kernel(two_pointers, changed(bulk_store, "cp.async.bulk.wait_group.read 0;",
                                         "cp.async.bulk.wait_group.read 1;"));
  kernel.grid(1, 64)
      .argument(0, kernel.zeros<std::uint32_t>(64))
      .argument(1, kernel.zeros<std::uint32_t>(64));
  expect_fault(kernel, FindingKind::async_use);
}

// This takes a moment. It would take minutes if every wait went through all earlier stores.
TEST(BulkStore, do_not_pile_up_if_only_their_reads_are_waited_for) {
  PtxKernel kernel(two_pointers, R"(
  .shared .align 128 .b8 tile[16];
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d1, [to]; mov.u32 %r1, tile; mov.u32 %r2, 0;
AGAIN:
  st.shared.v4.b32 [%r1], {%r2, %r2, %r2, %r2};
  fence.proxy.async.shared::cta;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  add.s32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 100000;
  @%p0 bra AGAIN;
  cp.async.bulk.wait_group 0;
  ret;)");
  const std::uint64_t to = kernel.zeros<std::uint32_t>(4);
  kernel.grid(1, 1).argument(0, to).argument(1, to);
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 1)[0], 99999u); }, 1);
}

TEST(BulkStore, reduces_into_global_memory) {
  PtxKernel kernel(two_pointers, changed(bulk_store, "cp.async.bulk.global.shared::cta.bulk_group [%d1]",
                                         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1]"));
  std::vector<std::uint32_t> start(64, 1000);
  const std::uint64_t to = kernel.upload(start);
  kernel.grid(4, 64).argument(0, to).argument(1, to);
  std::uint32_t runs = 0;
  expect_clean(kernel, [&] {
    ++runs;
    const auto result = kernel.download<std::uint32_t>(to, 64);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], 1000 + runs * 4 * (i + 1));
  });
}

TEST(BulkStore, reductions_of_each_type) {
  using ptx::Type;
  EXPECT_EQ(reduce(Reduction::add, Type::u32, 0xffffffff, 2), 1u);
  EXPECT_EQ(reduce(Reduction::min, Type::s32, 0xffffffff, 2), 0xffffffffu);
  EXPECT_EQ(reduce(Reduction::min, Type::u32, 0xffffffff, 2), 2u);
  EXPECT_EQ(reduce(Reduction::max, Type::s64, ~std::uint64_t{0}, 2), 2u);
  EXPECT_EQ(reduce(Reduction::inc, Type::u32, 5, 5), 0u);
  EXPECT_EQ(reduce(Reduction::inc, Type::u32, 4, 5), 5u);
  EXPECT_EQ(reduce(Reduction::dec, Type::u32, 0, 5), 5u);
  EXPECT_EQ(reduce(Reduction::dec, Type::u32, 6, 5), 5u);
  EXPECT_EQ(reduce(Reduction::dec, Type::u32, 3, 5), 2u);
  EXPECT_EQ(reduce(Reduction::xor_bits, Type::b64, 0xff00, 0x0ff0), 0xf0f0u);
  EXPECT_EQ(reduce(Reduction::add, Type::f16, 0x3c00, 0x4000), 0x4200u) << "1 + 2";
  EXPECT_EQ(reduce(Reduction::add, Type::f16, 0x0001, 0x0001), 0x0002u) << "subnormals stay";
  EXPECT_EQ(reduce(Reduction::add, Type::bf16, 0x3f80, 0x3b80), 0x3f80u) << "1 + 2^-8: a tie, to even";
  EXPECT_EQ(reduce(Reduction::max, Type::f16, 0x7e00, 0x3c00), 0x3c00u) << "a NaN loses";
  EXPECT_EQ(reduce(Reduction::min, Type::bf16, 0x0000, 0x8000), 0x8000u) << "-0 is below +0";
  EXPECT_EQ(reduce(Reduction::add, Type::f32, numerics::bits_of(1.5F), numerics::bits_of(2.0F)),
            numerics::bits_of(3.5F));
  EXPECT_EQ(reduce(Reduction::add, Type::f64, numerics::bits_of(1.5), numerics::bits_of(2.0)),
            numerics::bits_of(3.5));
}

// --- between the CTAs of a cluster

// Rank 0 sends to rank 1 by st.async, red.async and a bulk copy out of shared memory.
constexpr char send[] = R"(
  .shared .align 16 .b8 tile[64]; .shared .align 16 .b8 source[32]; .shared .align 8 .b64 bar;
  .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, tile; mov.u32 %r2, bar;
  mov.u32 %r8, source;
  setp.eq.u32 %p0, %r0, 0;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  mov.b32 %r3, 7;
  st.shared.b32 [%r1+16], %r3;
  st.shared.v4.b32 [%r8], {%r3, %r3, %r3, %r3};
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @!%p0 bra RECEIVE;
  mapa.shared::cluster.u32 %r4, %r1, 1;
  mapa.shared::cluster.u32 %r5, %r2, 1;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r4], {%r3, %r5}, [%r5];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4+16], %r3, [%r5];
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+32], [%r8], 16, [%r5];
  bra DONE;
RECEIVE:
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 28;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  ld.shared.b32 %r6, [%r1]; st.global.b32 [%d1], %r6;
  ld.shared.b32 %r6, [%r1+16]; st.global.b32 [%d1+4], %r6;
  ld.shared.b32 %r6, [%r1+32]; st.global.b32 [%d1+8], %r6;
DONE:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

TEST(AsyncStore, reaches_another_cta_of_the_cluster) {
  PtxKernel kernel(two_pointers, send);
  const std::uint64_t to = kernel.zeros<std::uint32_t>(3);
  kernel.grid(2, 1, 2).argument(1, to);
  expect_clean(kernel, [&] {
    EXPECT_EQ(kernel.download<std::uint32_t>(to, 3), (std::vector<std::uint32_t>{7, 14, 7}));
  });
}

TEST(AsyncStore, its_mbarrier_is_where_its_target_is) {
  PtxKernel kernel(two_pointers,
                   changed(send, "add.u32 [%r4+16], %r3, [%r5];", "add.u32 [%r4+16], %r3, [%r2];  // FAULT"));
  kernel.grid(2, 1, 2).argument(1, kernel.zeros<std::uint32_t>(3));
  expect_fault(kernel, FindingKind::argument, "The mbarrier is in the CTA of rank 0");
}

// --- invalid instructions

std::string refusal(const std::string& instruction) {
  try {
    PtxKernel kernel(two_pointers, ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n" + instruction);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AsyncCopy, refuses_unknown_modifiers_and_operands) {
  EXPECT_NE(refusal("cp.async.cg.shared.global [%r0], [%d0], 8;").find("cp-size is 8 but must be 16"),
            std::string::npos);
  EXPECT_NE(refusal("cp.async.ca.shared.global [%r0], [%d0], 12;").find("must be 16, 8 or 4"),
            std::string::npos);
  EXPECT_NE(refusal("cp.async.ca.shared.global.L3::128B [%r0], [%d0], 16;").find("L3::128B"),
            std::string::npos);
  EXPECT_NE(refusal("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%d0], %r1;")
                .find("operands"),
            std::string::npos);
  EXPECT_NE(
      refusal("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d0], [%r0], %r1;").find("noftz"),
      std::string::npos);
  EXPECT_NE(
      refusal("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%d0], [%r0], %r1;").find("f32"),
      std::string::npos);
  EXPECT_EQ(refusal("cp.async.bulk.prefetch.L2.global [%d0], %r1;"), "accepted");
}

}  // namespace
}  // namespace tenon::emulator::testing
