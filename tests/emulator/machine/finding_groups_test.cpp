// One bug makes one finding, and two bugs make two.
#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// A store and loads by other threads without a barrier between them: LOADS, at PTX lines of their own.
std::string racing(const std::string& loads) {
  return module_text("", R"(
    .shared .align 16 .b8 tile[1024]; .shared .align 16 .b8 more[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, more;
    mad.lo.u32 %r4, %r1, 4, %r2; mad.lo.u32 %r5, %r1, 4, %r3; xor.b32 %r6, %r1, 32;
    mad.lo.u32 %r7, %r6, 4, %r2; mad.lo.u32 %r8, %r6, 4, %r3;
    .loc 1 10 1
    st.shared.u32 [%r4], %r1;
    .loc 1 11 1
    st.shared.u32 [%r5], %r1;
)" + loads,
                     ".file 1 \"tile.cu\"");
}

Result run(const std::string& text) {
  Kernel kernel(text);
  return kernel.run({{2}, {text.find("wgmma") == std::string::npos ? 64u : 128u}}, {});
}

TEST(FindingGroups, ThePtxLinesOfASourceLineAreOne) {
  const Result result = run(racing(R"(
    .loc 1 20 1
    ld.shared.u32 %r9, [%r7];
    ld.shared.u32 %r10, [%r8];)"));
  ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::race);
  EXPECT_EQ(finding.source, "tile.cu:20");
  EXPECT_EQ(finding.count, 256u);
  ASSERT_EQ(finding.lines.size(), 2u);
  EXPECT_EQ(finding.lines[1].ptx_line, finding.lines[0].ptx_line + 1);
  for (const Finding::Line& line : finding.lines) {
    EXPECT_EQ(line.source, "tile.cu:20");
    EXPECT_EQ(line.count, 128u);
    EXPECT_NE(line.message.find("without an order between them"), std::string::npos) << line.message;
  }
  EXPECT_EQ(finding.ptx_line, finding.lines[0].ptx_line);
  EXPECT_EQ(finding.message, finding.lines[0].message);
  EXPECT_EQ(finding.first.address, finding.lines[0].first.address);
  EXPECT_EQ(finding.first.block.x, 0u);
}

TEST(FindingGroups, ConflictsWithTheSameInstructionAreOne) {
  const Result result = run(racing(R"(
    .loc 1 20 1
    ld.shared.u16 %h0, [%r7];
    .loc 1 21 1
    ld.shared.u16 %h1, [%r7+2];)"));
  ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
  const std::vector<Finding::Line>& lines = result.findings[0].lines;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(result.findings[0].count, lines[0].count + lines[1].count);
}

// The first warp reads what the second will write, and again: what it reads is unwritten for the same reason.
TEST(FindingGroups, ReadsOfUnwrittenBytesThatComeTooEarlyAreOneWithTheRace) {
  const Result result = run(racing(R"(
    .loc 1 20 1
    ld.shared.u32 %r9, [%r7];
    .loc 1 21 1
    ld.shared.u32 %r10, [%r7];)"));
  ASSERT_EQ(result.findings.size(), 1u) << listed(result.findings);
  EXPECT_EQ(result.findings[0].kind, FindingKind::race);
}

TEST(FindingGroups, ConflictsWithDifferentInstructionsAreNot) {
  const Result result = run(racing(R"(
    .loc 1 20 1
    ld.shared.u32 %r9, [%r7];
    .loc 1 21 1
    ld.shared.u32 %r10, [%r8];)"));
  ASSERT_EQ(result.findings.size(), 2u) << listed(result.findings);
  EXPECT_EQ(result.findings[0].source, "tile.cu:20");
  EXPECT_EQ(result.findings[1].source, "tile.cu:21");
}

TEST(FindingGroups, DifferentKindsAreNot) {
  const Result result = run(racing(R"(
    .loc 1 20 1
    ld.shared.u32 %r9, [%r7];
    ld.shared.u32 %r9, [%r7+65536];)"));
  ASSERT_EQ(result.findings.size(), 2u) << listed(result.findings);
  EXPECT_EQ(result.findings[0].kind, FindingKind::race);
  EXPECT_EQ(result.findings[1].kind, FindingKind::out_of_bounds);
}

// The text without .loc, where each PTX line is a place of its own.
TEST(FindingGroups, PtxLinesTakeThePlaceOfUnknownSourceLines) {
  const Result result = run(module_text("", R"(
    .shared .align 16 .b8 tile[64];
    ld.shared.u32 %r1, [tile+64];
    ld.shared.u32 %r1, [tile+68];)"));
  EXPECT_EQ(result.findings.size(), 2u) << listed(result.findings);
}

// What a GEMM shows without its wait: a finding at each instruction that uses an accumulator.
TEST(FindingGroups, TheUsesOfAnUnfinishedWgmmaAreOne) {
  std::string registers, uses;
  for (int i = 0; i < 4; ++i) {
    registers += (i == 0 ? "%f" : ", %f") + std::to_string(i);
    uses += ".loc 1 " + std::to_string(30 + i) + " 1\nst.shared.f32 [out+" + std::to_string(4 * i) + "], %f" +
            std::to_string(i) + ";\n";
  }
  const Result result = run(module_text("",
                                        R"(
    .shared .align 128 .b8 tile[4096]; .shared .align 16 .b8 out[16];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;
    mov.u32 %r4, 0; st.shared.v4.b32 [%r2], {%r4, %r4, %r4, %r4}; st.shared.v4.b32 [%r2+1024], {%r4, %r4, %r4, %r4};
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    fence.proxy.async.shared::cta; bar.sync 0;
    cvt.u64.u32 %d1, %r3; shr.u64 %d1, %d1, 4; and.b64 %d1, %d1, 0x3fff; or.b64 %d1, %d1, 0x0000000800080000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {)" +
                                            registers + R"(}, %d1, %d1, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
)" + uses + "wgmma.wait_group.sync.aligned 0;",
                                        ".file 1 \"tile.cu\""));
  std::vector<Finding> early;
  for (const Finding& finding : result.findings)
    if (finding.kind == FindingKind::async_use) early.push_back(finding);
  ASSERT_EQ(early.size(), 1u) << listed(result.findings);
  EXPECT_EQ(early[0].lines.size(), 4u);
  EXPECT_EQ(early[0].source, "tile.cu:30");
}

}  // namespace
}  // namespace tenon::emulator::testing
