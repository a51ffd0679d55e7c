// A faulty access is reported at its line, and only there. Atomics and wide accesses have the results of the
// PTX ISA.
#include <cstdint>
#include <ostream>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

struct BadAccess {
  const char* what;
  FindingKind kind;
  const char* body;  // the bad line holds "// bad"
};

void PrintTo(const BadAccess& access, std::ostream* out) {
  *out << access.what;
}

class BadAccesses : public ::testing::TestWithParam<BadAccess> {};

TEST_P(BadAccesses, AreFoundAtTheirLine) {
  Kernel kernel(module_text(".param .u64 data, .param .u64 freed, .param .u64 unwritten", GetParam().body,
                            ".const .u32 constant[2] = {1, 2};"));
  const Address data = kernel.upload(std::vector<std::uint32_t>(64, 3));
  const Address freed = kernel.emulator.allocate(256);
  kernel.emulator.free(freed);
  const Address unwritten = kernel.emulator.allocate(256);
  for (const Options& options : all_schedules(3)) {
    const Result result = kernel.run({{2}, {64}}, {data, freed, unwritten}, options);
    const Finding finding = the_finding(kernel, result, GetParam().kind, "// bad");
    EXPECT_EQ(result.findings.size(), 1u) << listed(result.findings);
    EXPECT_EQ(finding.entry, "k");
    EXPECT_FALSE(finding.message.empty());
  }
}

const BadAccess bad_accesses[] = {
    {"BeyondTheEnd", FindingKind::out_of_bounds, R"(
      ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; add.s64 %d1, %d1, %d2;
      ld.global.u32 %r2, [%d1]; // bad)"},
    {"BeforeTheStart", FindingKind::out_of_bounds, R"(
      ld.param.u64 %d1, [data];
      st.global.u32 [%d1-4], %r2; // bad)"},
    {"AcrossTheEnd", FindingKind::out_of_bounds, R"(
      ld.param.u64 %d1, [data];
      ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1+256]; // bad)"},
    {"Null", FindingKind::null_pointer, R"(
      mov.u64 %d1, 0;
      ld.global.u32 %r2, [%d1+16]; // bad)"},
    {"GenericNull", FindingKind::null_pointer, R"(
      mov.u64 %d1, 0;
      st.u32 [%d1], %r2; // bad)"},
    {"Misaligned", FindingKind::misaligned, R"(
      ld.param.u64 %d1, [data];
      ld.global.u32 %r2, [%d1+2]; // bad)"},
    {"MisalignedVector", FindingKind::misaligned, R"(
      ld.param.u64 %d1, [data];
      ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1+8]; // bad)"},
    {"Freed", FindingKind::freed, R"(
      ld.param.u64 %d1, [freed];
      ld.global.u32 %r2, [%d1]; // bad)"},
    {"Unwritten", FindingKind::uninitialized, R"(
      ld.param.u64 %d1, [unwritten]; mov.u32 %r3, %tid.x; mul.wide.u32 %d2, %r3, 4; add.s64 %d1, %d1, %d2;
      ld.global.u32 %r2, [%d1]; // bad)"},
    {"UnwrittenHalf", FindingKind::uninitialized, R"(
      .shared .align 8 .b8 tile[1024];
      mov.u32 %r3, %tid.x; mov.u32 %r4, tile; mad.lo.u32 %r4, %r3, 8, %r4;
      st.shared.u32 [%r4], %r3;
      ld.shared.u64 %d2, [%r4]; // bad)"},
    {"UnwrittenLocal", FindingKind::uninitialized, R"(
      .local .align 4 .b8 frame[16];
      st.local.u32 [frame], %r1;
      ld.local.u32 %r2, [frame+4]; // bad
      add.u32 %r3, %r2, 1;)"},
    {"BeyondShared", FindingKind::out_of_bounds, R"(
      .shared .align 4 .b8 tile[256];
      mov.u32 %r3, %tid.x; mov.u32 %r4, tile; mad.lo.u32 %r4, %r3, 8, %r4;
      st.shared.u32 [%r4], %r3; // bad)"},
    {"SharedZero", FindingKind::null_pointer, R"(
      mov.u32 %r4, 0;
      ld.shared.u32 %r3, [%r4]; // bad)"},
    {"BeyondLocal", FindingKind::out_of_bounds, R"(
      .local .align 4 .b8 frame[16];
      st.local.u32 [frame+16], %r1; // bad)"},
    {"BeyondParameters", FindingKind::out_of_bounds, R"(
      ld.param.u64 %d1, [unwritten+8]; // bad)"},
    {"GenericSharedAsGlobal", FindingKind::out_of_bounds, R"(
      .shared .align 4 .b8 tile[256];
      mov.u64 %d1, tile; cvta.shared.u64 %d2, %d1;
      st.global.u32 [%d2], %r1; // bad)"},
    {"WritesConstants", FindingKind::read_only, R"(
      mov.u64 %d1, constant; cvta.const.u64 %d2, %d1;
      st.u32 [%d2], %r1; // bad)"},
    {"WritesParameters", FindingKind::read_only, R"(
      mov.b64 %d1, data; cvta.param.u64 %d2, %d1;
      st.u32 [%d2], %r1; // bad)"},
    {"AtomicMisaligned", FindingKind::misaligned, R"(
      ld.param.u64 %d1, [data];
      red.global.add.u64 [%d1+4], 1; // bad)"},
    {"Discarded", FindingKind::uninitialized, R"(
      ld.param.u64 %d1, [data];
      discard.global.L2 [%d1], 128;
      ld.global.u32 %r2, [%d1+4]; // bad)"},
};
INSTANTIATE_TEST_SUITE_P(Memory, BadAccesses, ::testing::ValuesIn(bad_accesses),
                         [](const auto& info) { return std::string(info.param.what); });

TEST(Memory, AFindingCountsAndNamesTheFirst) {
  Kernel kernel(module_text(".param .u64 data", R"(
    ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
    .loc 1 42 7
    ld.global.u32 %r2, [%d1]; // bad)",
                            ".file 1 \"kernel.cu\""));
  const Address data = kernel.upload(std::vector<std::uint32_t>(60, 0));
  const Finding finding =
      the_finding(kernel, kernel.run({{2}, {64}}, {data}), FindingKind::out_of_bounds, "// bad");
  EXPECT_EQ(finding.count, 2u * 4u);
  EXPECT_EQ(finding.first.block.x, 0u);
  EXPECT_EQ(finding.first.thread.x, 60u);
  EXPECT_EQ(finding.first.address, data + 240);
  EXPECT_EQ(finding.source, "kernel.cu:42");
  EXPECT_NE(finding.message.find("240 bytes"), std::string::npos) << finding.message;
}

TEST(Memory, WithoutBookkeepingUnwrittenMemoryIsZeroAndBoundsStillHold) {
  Kernel kernel(module_text(".param .u64 data, .param .u64 out", R"(
    ld.param.u64 %d1, [data]; ld.param.u64 %d2, [out];
    ld.global.u32 %r2, [%d1];
    ld.global.u32 %r3, [%d1+256]; // bad
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%d2], %r2;)"));
  const Address data = kernel.emulator.allocate(256), out = kernel.emulator.allocate(4);
  Options options;
  options.findings = false;
  const Result result = kernel.run({{1}, {1}}, {data, out}, options);
  EXPECT_EQ(result.findings.size(), 1u);
  the_finding(kernel, result, FindingKind::out_of_bounds, "// bad");
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 0u);
}

TEST(Memory, NarrowSignedLoadsExtendToTheRegister) {
  Kernel kernel(module_text(".param .u64 data, .param .u64 out", R"(
    ld.param.u64 %d1, [data]; ld.param.u64 %d2, [out];
    ld.global.s8 %d3, [%d1]; ld.global.s8 %r1, [%d1]; ld.global.u8 %r2, [%d1]; ld.global.s16 %h1, [%d1];
    ld.global.s8 %h2, [%d1];
    cvt.u32.u16 %r3, %h1; cvt.u32.u16 %r4, %h2;
    st.global.u64 [%d2], %d3; st.global.v4.u32 [%d2+16], {%r1, %r2, %r3, %r4};
    st.global.u8 [%d2+8], %d3;
    ld.global.b8 %r5, [%d2+8]; st.global.u32 [%d2+12], %r5;)"));
  const Address data = kernel.upload(std::vector<std::uint8_t>{0x80, 0xff});
  const Address out = kernel.emulator.allocate(32);
  const Result result = kernel.run({{1}, {1}}, {data, out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 8);
  EXPECT_EQ(got, (std::vector<std::uint32_t>{0xffffff80, 0xffffffff, 0x80, 0x80, 0xffffff80, 0x80, 0xff80,
                                             0xff80}));
}

TEST(Memory, WideVectorsAndSixteenByteRegisters) {
  Kernel kernel(module_text(".param .u64 data, .param .u64 out", R"(
    .reg .b128 %q<2>;
    ld.param.u64 %d1, [data]; ld.param.u64 %d2, [out];
    ld.global.v8.b32 {%r1, %r2, _, %r4, %r5, %r6, %r7, %r8}, [%d1];
    mov.u32 %r3, 33;
    st.global.v8.b32 [%d2], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};
    ld.global.b128 %q1, [%d1+16]; st.global.b128 [%d2+32], %q1;
    ld.global.v4.b64 {%d3, %d4, %d5, %d6}, [%d1]; st.global.v2.b64 [%d2+48], {%d6, %d5};)"));
  const Address data = kernel.upload(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const Address out = kernel.emulator.allocate(64);
  const Result result = kernel.run({{1}, {1}}, {data, out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 16),
            (std::vector<std::uint32_t>{0, 1, 33, 3, 4, 5, 6, 7, 4, 5, 6, 7, 6, 7, 4, 5}));
}

TEST(Memory, AtomicsOfEveryKind) {
  // 64 threads of 2 blocks on words with given initial values; the expected outcome of each line, in order.
  Kernel kernel(module_text(".param .u64 w", R"(
    ld.param.u64 %d1, [w]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; cvt.u64.u32 %d2, %r2;
    red.global.add.u32 [%d1], %r2;
    atom.global.min.s32 %r3, [%d1+4], -5;
    atom.global.max.u32 %r3, [%d1+8], %r2;
    red.global.and.b32 [%d1+12], 0xfffffff0;
    red.global.or.b32 [%d1+16], %r2;
    red.global.xor.b32 [%d1+20], 1;
    atom.global.inc.u32 %r3, [%d1+24], 9;
    atom.global.dec.u32 %r3, [%d1+28], 9;
    atom.global.exch.b32 %r3, [%d1+32], 5;
    atom.global.cas.b32 %r3, [%d1+36], 7, 8;
    atom.global.cas.b16 %h1, [%d1+40], 7, 8;
    red.add.f32 [%d1+44], 0f3F800000;
    red.global.add.u64 [%d1+48], %d2;
    red.global.add.f64 [%d1+56], 0d3FE0000000000000;
    red.global.add.noftz.f16x2 [%d1+64], 0x3c003800;
    red.global.add.noftz.bf16 [%d1+68], 0x3f80;
    red.global.max.s64 [%d1+72], %d2;
    mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
    red.relaxed.gpu.global.add.v2.f32 [%d1+80], {%f1, %f2};
    atom.acq_rel.gpu.global.add.u32 %r3, [%d1+88], 2;
    )"));
  std::vector<std::uint32_t> start(24, 0);
  start[1] = 3;
  start[3] = 0xff;
  start[9] = 7;
  start[10] = 7;
  const Address words = kernel.upload(start);
  const Result result = kernel.run({{2}, {32}}, {words});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(words, 24);
  EXPECT_EQ(got[0], 2u * 32 * 33 / 2);
  EXPECT_EQ(got[1], static_cast<std::uint32_t>(-5));
  EXPECT_EQ(got[2], 32u);
  EXPECT_EQ(got[3], 0xf0u);
  EXPECT_EQ(got[4], 63u);
  EXPECT_EQ(got[5], 0u);
  EXPECT_EQ(got[6], 64u % 10);
  EXPECT_EQ(got[7], (10u - 64u % 10) % 10) << "wraps from 0 to 9";
  EXPECT_EQ(got[8], 5u);
  EXPECT_EQ(got[9], 8u);
  EXPECT_EQ(got[10], 8u);
  EXPECT_EQ(got[11], 0x42800000u) << "64.0f";
  EXPECT_EQ(got[12], 2u * 32 * 33 / 2);
  EXPECT_EQ(got[15], 0x40400000u) << "32.0 in the upper word";
  EXPECT_EQ(got[16], 0x54005000u) << "64.0 and 32.0 in f16";
  EXPECT_EQ(got[17], 0x4280u) << "64.0 in bf16";
  EXPECT_EQ(got[18], 32u);
  EXPECT_EQ(got[20], 0x42800000u);
  EXPECT_EQ(got[21], 0x43000000u) << "128.0f";
  EXPECT_EQ(got[22], 128u);
}

TEST(Memory, AtomicsReturnTheOldValue) {
  // Every thread draws a ticket, each a different one.
  Kernel kernel(module_text(".param .u64 counter, .param .u64 out", R"(
    ld.param.u64 %d1, [counter]; ld.param.u64 %d2, [out];
    atom.global.add.u32 %r1, [%d1], 1;
    mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d2, %d3;
    st.global.u32 [%d3], %r1;)"));
  const Address counter = kernel.upload(std::vector<std::uint32_t>{0});
  const Address out = kernel.emulator.allocate(4 * 4096);
  Options options;
  options.threads = 2;
  const Result result = kernel.run({{32}, {128}}, {counter, out}, options);
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 4096);
  for (std::uint32_t i = 0; i < 4096; ++i) ASSERT_EQ(got[i], i);
}

TEST(Memory, FloatAtomicsFlushSubnormalsInGlobalMemoryOnly) {
  Kernel kernel(module_text(".param .u64 w", R"(
    .shared .align 4 .b32 cell;
    ld.param.u64 %d1, [w];
    mov.u32 %r1, 0x00000010; st.shared.u32 [cell], %r1;
    red.shared.add.f32 [cell], 0f00000001; ld.shared.u32 %r2, [cell]; st.global.u32 [%d1+4], %r2;
    red.global.add.f32 [%d1], 0f00000001;)"));
  const Address words = kernel.upload(std::vector<std::uint32_t>{0x00000010, 0});
  const Result result = kernel.run({{1}, {1}}, {words});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(words, 2), (std::vector<std::uint32_t>{0, 0x11}));
}

TEST(Memory, TheReservedBytesOfABlockAreMappedForKernelsThatAskForTheirAddress) {
  // As cooperative groups keep the barriers of groups of several warps there.
  Kernel asks(module_text("", "mov.u32 %r1, %reserved_smem_offset_1; red.shared.or.b32 [%r1], 1;"));
  const Result right = asks.run({{1}, {32}}, {});
  EXPECT_TRUE(right.findings.empty()) << listed(right.findings);
  Kernel null(module_text(
      "", "mov.u32 %r2, %reserved_smem_offset_1; mov.u32 %r1, 0;\nst.shared.u32 [%r1], 1; // here"));
  the_finding(null, null.run({{1}, {32}}, {}), FindingKind::null_pointer, "// here");
  Kernel silent(module_text("", "mov.u32 %r1, 64;\nst.shared.u32 [%r1], 1; // here"));
  the_finding(silent, silent.run({{1}, {32}}, {}), FindingKind::out_of_bounds, "// here");
}

}  // namespace
}  // namespace tenon::emulator::testing
