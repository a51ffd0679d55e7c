// Kernels that follow the PTX ISA: arithmetic on every thread, divergence and reconvergence, calls.
#include <array>
#include <cstdint>
#include <numeric>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

TEST(Execution, EveryThreadAddsItsElement) {
  Kernel kernel(module_text(".param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n", R"(
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r1, [n];
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %d4, %r5, 4;
    add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;
    ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%d7], %f3;
  done:
    ret;)"));
  const std::uint32_t n = 1000;
  std::vector<float> a(n), b(n);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  const Address c = kernel.emulator.allocate(4 * n);
  const Result result = kernel.run({{8}, {128}}, {kernel.upload(a), kernel.upload(b), c, n});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<float> sum = kernel.download<float>(c, n);
  for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(sum[i], 2.0f * static_cast<float>(i) + 0.5f);
}

TEST(Execution, LoopsOfDifferentLengthsEndAndReconverge) {
  // Thread i sums 0..i in a loop and, for odd i, an inner loop. The counts show where the lanes reconverge.
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0;
  outer:
    add.u32 %r3, %r3, %r2;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra skip;
    mov.u32 %r5, 0;
  inner:
    add.u32 %r3, %r3, 1000;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 2;
    @%p2 bra inner;
  skip:
    add.u32 %r2, %r2, 1;
    setp.le.u32 %p3, %r2, %r1;
    @%p3 bra outer;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r3; // joined
    ret;)"));
  const Address out = kernel.emulator.allocate(4 * 64);
  const Result result = kernel.run({{1}, {64}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i * (i + 1) / 2 + (i % 2) * (i + 1) * 2000) << i;
  for (const LineCounts& line : result.counters.lines) {
    if (line.instruction != "st.global.u32") continue;
    EXPECT_EQ(line.counts.instructions, 2u) << "all lanes of a warp at once";
  }
}

TEST(Execution, GuardsChooseLanes) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; mov.u32 %r2, 7;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 mov.u32 %r2, 1;
    @!%p1 add.u32 %r2, %r2, %r1;
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r2;)"));
  const Address out = kernel.emulator.allocate(4 * 32);
  EXPECT_TRUE(kernel.run({{1}, {32}}, {out}).findings.empty());
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 5 ? 1 : 7 + i);
}

constexpr const char* fibonacci = R"(
.func (.param .b32 result) fibonacci(.param .b32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra base;
  sub.u32 %r2, %r1, 1;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r2;
    call (y), fibonacci, (x);
    ld.param.b32 %r3, [y]; }
  sub.u32 %r2, %r1, 2;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r2;
    call (y), fibonacci, (x);
    ld.param.b32 %r4, [y]; }
  add.u32 %r1, %r3, %r4;
base:
  st.param.b32 [result], %r1;
  ret;
}
)";

TEST(Execution, RecursionToDifferentDepthsByLane) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; and.b32 %r2, %r1, 7;
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %r2;
      call.uni (y), fibonacci, (x);
      ld.param.b32 %r3, [y]; }
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r3;)",
                            fibonacci));
  const Address out = kernel.emulator.allocate(4 * 32);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::uint32_t expected[] = {0, 1, 1, 2, 3, 5, 8, 13};
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], expected[i % 8]);
}

TEST(Execution, EndlessRecursionIsAFindingNotACrash) {
  Kernel kernel(module_text("", R"(
    call endless;)",
                            ".func endless() { call endless; // here\n ret; }"));
  the_finding(kernel, kernel.run({{1}, {1}}, {}), FindingKind::out_of_bounds, "// here");
}

TEST(Execution, CallsThroughAddressesGoWhereEachLaneSays) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; and.b32 %r2, %r1, 1;
    mov.u64 %d4, table;
    mul.wide.u32 %d2, %r2, 8; add.s64 %d4, %d4, %d2;
    ld.global.u64 %d5, [%d4];
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %r1;
      call (y), %d5, (x), prototype;
      ld.param.b32 %r3, [y]; }
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r3;)",
                            R"(
.func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r<2>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, %r1;
  st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) next(.param .b32 n) { .reg .b32 %r<2>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, 1;
  st.param.b32 [r], %r1; ret; }
.global .u64 table[2] = {twice, next};
)"));
  const Address out = kernel.emulator.allocate(4 * 32);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % 2 == 0 ? 2 * i : i + 1);
}

TEST(Execution, RegistersPassArgumentsToo) {
  Kernel kernel(
      module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid;
    call (%r3), product, (%r1, 3);
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r3;)",
                  ".func (.reg .b32 r) product(.reg .b32 a, .reg .b32 b) { mul.lo.u32 r, a, b; ret; }"));
  const Address out = kernel.emulator.allocate(4 * 32);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 3 * i);
}

TEST(Execution, BranchTablesSelectByIndex) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid; and.b32 %r2, %r1, 3;
    targets: .branchtargets L0, L1, L2, L3;
    brx.idx %r2, targets;
  L0: mov.u32 %r3, 10; bra join;
  L1: mov.u32 %r3, 11; bra join;
  L2: mov.u32 %r3, 12; bra join;
  L3: mov.u32 %r3, 13;
  join:
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r3;)"));
  const Address out = kernel.emulator.allocate(4 * 32);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 10 + i % 4);
}

TEST(Execution, SpecialRegistersSayWhereAThreadIs) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y;
    mov.u32 %r8, %nctaid.x; mov.u32 %r9, %warpid; mov.u32 %r10, %laneid; mov.u32 %r11, %lanemask_lt;
    mad.lo.u32 %r12, %r3, %r5, %r2; mad.lo.u32 %r12, %r12, %r4, %r1;   // thread in block
    mad.lo.u32 %r13, %r7, %r8, %r6;                                    // block
    mad.lo.u32 %r14, %r13, 48, %r12;
    mad.lo.u32 %r15, %r9, 32, %r10;
    mul.wide.u32 %d2, %r14, 16; add.s64 %d3, %d1, %d2;
    st.global.v4.u32 [%d3], {%r12, %r13, %r15, %r11};)"));
  const Address out = kernel.emulator.allocate(16 * 48 * 6);
  const Result result = kernel.run({{3, 2}, {4, 6, 2}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 4 * 48 * 6);
  for (std::uint32_t i = 0; i < 48 * 6; ++i) {
    EXPECT_EQ(got[4 * i], i % 48);
    EXPECT_EQ(got[4 * i + 1], i / 48);
    EXPECT_EQ(got[4 * i + 2], i % 48) << "32 * warp + lane is the thread";
    EXPECT_EQ(got[4 * i + 3], (1u << (i % 48 % 32)) - 1);
  }
}

TEST(Execution, ParametersAreStructsVectorsAndArraysByValue) {
  struct Mixed {
    std::uint8_t flag;
    std::uint16_t words[3];
    double real;
  };
  Kernel kernel(module_text(".param .align 8 .b8 mixed[16], .param .u8 small, .param .u64 out", R"(
    ld.param.u64 %d1, [out];
    ld.param.u8 %r1, [mixed]; ld.param.u16 %r2, [mixed+6]; ld.param.f64 %g1, [mixed+8];
    ld.param.s8 %r3, [small];
    mov.b64 %d2, mixed; cvta.param.u64 %d3, %d2; ld.u16 %r4, [%d3+4];
    cvt.rzi.u32.f64 %r5, %g1;
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
    st.global.u32 [%d1+16], %r5;)"));
  const Address out = kernel.emulator.allocate(32);
  const Mixed mixed{7, {100, 200, 300}, 12.5};
  const Result result = kernel.run({{1}, {1}}, {mixed, std::int8_t{-2}, out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 5),
            (std::vector<std::uint32_t>{7, 300, 0xfffffffe, 200, 12}));
}

TEST(Execution, AddressesOfParametersAndConstantsHave32BitsToo) {
  Kernel kernel(module_text(".param .align 4 .b8 pair[8], .param .u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.b32 %r1, pair; cvt.u64.u32 %d2, %r1; cvta.param.u64 %d3, %d2; ld.u32 %r2, [%d3+4];
    ld.param.u32 %r3, [%r1];
    mov.b32 %r4, primes; cvt.u64.u32 %d4, %r4; cvta.const.u64 %d5, %d4; ld.u32 %r5, [%d5+8];
    ld.const.u32 %r6, [%r4+4];
    cvta.to.const.u64 %d6, %d5; cvt.u32.u64 %r7, %d6; ld.const.u32 %r8, [%r7];
    st.global.v4.u32 [%d1], {%r2, %r3, %r5, %r6}; st.global.u32 [%d1+16], %r8;)",
                            R"(
.const .u32 primes[3] = {2, 3, 5};
)"));
  const Address out = kernel.emulator.allocate(32);
  const Result result = kernel.run({{1}, {1}}, {std::array<std::uint32_t, 2>{70, 71}, out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 5), (std::vector<std::uint32_t>{71, 70, 5, 3, 2}));
}

TEST(Execution, GlobalAndConstantVariablesHaveTheirInitialValues) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out];
    ld.global.u32 %r1, [numbers+8]; ld.const.u32 %r2, [primes+4]; ld.global.u32 %r3, [zeros+12];
    ld.global.u64 %d2, [pointer]; ld.global.u32 %r4, [%d2];
    mov.u64 %d3, primes; cvta.const.u64 %d4, %d3; ld.u32 %r5, [%d4+8];
    isspacep.const %p1, %d4; selp.u32 %r6, 1, 0, %p1;
    isspacep.global %p1, %d2; selp.u32 %r7, 1, 0, %p1;
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4}; st.global.v2.u32 [%d1+16], {%r5, %r6};
    st.global.u32 [%d1+24], %r7;)",
                            R"(
.global .u32 numbers[4] = {10, 20, 30, 40};
.const .u32 primes[3] = {2, 3, 5};
.global .u32 zeros[4];
.global .u64 pointer = numbers+12;
)"));
  const Address out = kernel.emulator.allocate(32);
  const Result result = kernel.run({{1}, {1}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 7), (std::vector<std::uint32_t>{30, 3, 0, 40, 5, 1, 1}));
  std::uint32_t changed = 77;
  kernel.emulator.copy_in(kernel.emulator.variable(kernel.module(), "numbers") + 8, &changed, 4);
  kernel.run({{1}, {1}}, {out});
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 77u);
}

TEST(Execution, GenericAddressesReachEverySpace) {
  Kernel kernel(module_text(".param .u64 out", R"(
    .local .align 8 .b8 frame[16]; .shared .align 4 .b32 cell[32];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid;
    mov.u64 %d2, frame; cvta.local.u64 %d3, %d2; st.u32 [%d3+4], %r1;
    ld.local.u32 %r2, [frame+4];
    mov.u64 %d4, cell; cvta.shared.u64 %d5, %d4; mul.wide.u32 %d6, %r1, 4; add.s64 %d5, %d5, %d6;
    st.u32 [%d5], %r2;
    cvta.to.shared.u64 %d7, %d5; ld.shared.u32 %r3, [%d7];
    isspacep.shared %p1, %d5; isspacep.local %p2, %d3; and.pred %p3, %p1, %p2;
    @!%p3 mov.u32 %r3, 99;
    add.s64 %d8, %d1, %d6; st.u32 [%d8], %r3;)"));
  const Address out = kernel.emulator.allocate(128);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i);
}

}  // namespace
}  // namespace tenon::emulator::testing
