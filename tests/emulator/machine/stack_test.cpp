// alloca, stacksave, stackrestore: the memory begins unwritten, is aligned, and ends with its function or at
// the restore.
#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

std::string with_output(const std::string& body, const std::string& before = "") {
  return module_text(".param .u64 out", "ld.param.u64 %d0, [out];\n" + body, before);
}

TEST(Stack, AllocaGivesAlignedMemoryThatIsKept) {
  Kernel kernel(with_output(R"(
    .local .align 4 .b8 fixed[20];
    st.local.u32 [fixed+16], 7;
    mov.u64 %d1, 12;
    alloca.u64 %d2, %d1, 64;
    alloca.u64 %d3, %d1;
    st.local.u32 [%d2+8], 8;
    st.local.u32 [%d3], 9;
    cvta.local.u64 %d4, %d2;
    ld.u32 %r1, [%d4+8];
    ld.local.u32 %r2, [%d3];
    ld.local.u32 %r3, [fixed+16];
    cvt.u32.u64 %r4, %d2; and.b32 %r4, %r4, 63; cvt.u32.u64 %r5, %d3; and.b32 %r5, %r5, 7;
    st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4}; st.global.u32 [%d0+16], %r5;)"));
  const Address out = kernel.emulator.allocate(20);
  const Result result = kernel.run({{1}, {1}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 5), (std::vector<std::uint32_t>{8, 9, 7, 0, 0}));
}

TEST(Stack, EachLaneHasItsOwn) {
  Kernel kernel(with_output(R"(
    mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 4;
    alloca.u64 %d2, %d1; add.u64 %d3, %d2, %d1;
    st.local.u32 [%d3+-4], %r1;
    ld.local.u32 %r3, [%d3+-4];
    mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d0, %d4; st.global.u32 [%d4], %r3;)"));
  const Address out = kernel.emulator.allocate(128);
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(kernel.download<std::uint32_t>(out, 32)[i], i);
}

TEST(Stack, AllocaBeginsUnwritten) {
  Kernel kernel(
      with_output("alloca.u64 %d1, 8; ld.local.u32 %r1, [%d1+4]; // here\nst.global.u32 [%d0], %r1;"));
  const Address out = kernel.emulator.allocate(4);
  the_finding(kernel, kernel.run({{1}, {1}}, {out}), FindingKind::uninitialized, "// here");
}

TEST(Stack, RestoreFreesWhatWasAllocatedSinceTheSave) {
  Kernel kernel(with_output(R"(
    mov.u32 %r1, 0;
    stacksave.u64 %d1;
  again:
    alloca.u64 %d2, 400000;
    st.local.u32 [%d2+399996], %r1;
    stackrestore.u64 %d1;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra again;
    ld.local.u32 %r2, [%d2+399996]; // here
    st.global.u32 [%d0], %r2;)"));
  const Address out = kernel.emulator.allocate(4);
  the_finding(kernel, kernel.run({{1}, {1}}, {out}), FindingKind::out_of_bounds, "// here");
}

TEST(Stack, RestoreOfAnotherValueIsRefused) {
  Kernel kernel(with_output("stacksave.u64 %d1; add.u64 %d1, %d1, 8; stackrestore.u64 %d1; // here"));
  const Finding finding =
      the_finding(kernel, kernel.run({{1}, {1}}, {Address{0}}), FindingKind::argument, "// here");
  EXPECT_NE(finding.message.find("which no stacksave of this function has read"), std::string::npos)
      << finding.message;
}

TEST(Stack, TheFunctionFreesItsMemoryWhenItReturns) {
  Kernel kernel(with_output(R"(
    mov.u32 %r1, 0;
  again:
    call (%r2), function, (%r1);
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra again;
    st.global.u32 [%d0], %r2;)",
                            R"(.func (.reg .u32 result) function(.reg .u32 value) {
      .reg .u64 a;
      alloca.u64 a, 400000;
      st.local.u32 [a+399996], value;
      ld.local.u32 result, [a+399996];
      ret;
    })"));
  const Address out = kernel.emulator.allocate(4);
  const Result result = kernel.run({{1}, {1}}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 4u);
}

TEST(Stack, MoreThanAThreadCanHaveIsAFinding) {
  Kernel kernel(with_output("alloca.u64 %d1, 1000000; // here\nst.local.u32 [%d1], 1;"));
  const Finding finding =
      the_finding(kernel, kernel.run({{1}, {1}}, {Address{0}}), FindingKind::out_of_bounds, "// here");
  EXPECT_NE(finding.message.find("allocates 1000000 bytes on its stack, which holds 0 of at most 524288"),
            std::string::npos)
      << finding.message;
}

TEST(Stack, AlignmentIsAConstantPowerOfTwo) {
  for (const char* alignment : {"3", "0", "16777216", "%r1"}) {
    Kernel kernel(with_output(std::string("alloca.u64 %d1, 8, ") + alignment + ";"));
    EXPECT_THROW(kernel.run({{1}, {1}}, {Address{0}}), Error) << alignment;
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
