// The public interface: what it refuses, and the message.
#include "tenon/emulator/emulator.hpp"

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Emulator, RefusesTextThatIsNoPtxWithItsLine) {
  Emulator emulator;
  expect_contains(
      error_of([&] { emulator.load(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n"); }),
      "line 4: ");
}

TEST(Emulator, NamesEveryUnknownInstructionOfWhatAKernelCallsBeforeItRuns) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out]; st.global.u32 [%d1], 1;
    frobnicate.u32 %r1, %r2;
    add.u32.strange %r1, %r2, %r3;
    call helper;)",
                            ".func helper() { .reg .b32 %r<2>; tickle.b32 %r1; ret; }\n"
                            ".func unused() { .reg .b32 %r<2>; never.b32 %r1; ret; }"));
  const Address out = kernel.upload(std::vector<std::uint32_t>{0});
  const std::string message = error_of([&] { kernel.run({{1}, {1}}, {out}); });
  expect_contains(message, "frobnicate.u32");
  expect_contains(message, "strange");
  expect_contains(message, "tickle.b32");
  EXPECT_EQ(message.find("never"), std::string::npos) << message;
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 1)[0], 0u);
  EXPECT_EQ(message, error_of([&] { kernel.emulator.check(kernel.module(), "k"); }));
}

TEST(Emulator, RefusesCallsWithoutABodyAndVariablesWithoutADefinition) {
  Kernel call(module_text("", "{ .param .b64 x; .param .b64 y; call (y), elsewhere, (x); }",
                          ".extern .func (.param .b64 r) elsewhere(.param .b64 a);"));
  expect_contains(error_of([&] { call.run({{1}, {1}}, {}); }), "`elsewhere` is declared, but has no body");
  Kernel variable(module_text("", "ld.global.u32 %r1, [elsewhere];", ".extern .global .u32 elsewhere;"));
  expect_contains(error_of([&] {
                    variable.run({{1}, {1}}, {});
                  }),
                  "`elsewhere` is declared, but defined nowhere");
}

TEST(Emulator, PrintfWithoutAFormatPrintsNothingAndAnswersMinusOne) {
  Kernel kernel(module_text(".param .u64 out", R"(
    { .param .b64 x; .param .b64 y; .param .b32 z;
      mov.u64 %d2, 0; st.param.b64 [x], %d2; st.param.b64 [y], %d2;
      call.uni (z), vprintf, (x, y);
      ld.param.b32 %r1, [z]; }
    ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r1;)",
                            ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"));
  const Address out = kernel.upload(std::vector<std::uint32_t>{7});
  const Result result = kernel.run({{1}, {32}}, {out});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.printed, "");
  EXPECT_EQ(kernel.download<std::int32_t>(out, 1)[0], -1);
  Kernel lacking(module_text("", "{ .param .b64 x; .param .b32 z; call.uni (z), vprintf, (x); }",
                             ".extern .func (.param .b32 r) vprintf(.param .b64 a);"));
  expect_contains(error_of([&] {
                    lacking.run({{1}, {32}}, {});
                  }),
                  "1 arguments are given where vprintf has 2");
}

TEST(Emulator, CountsTheGridInClustersWhereTheKernelSaysSo) {
  const auto text = [](const char* directives) {
    std::string module = module_text(".param .u64 out", R"(
      ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
      mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r2;)");
    return module.replace(module.find(")\n{"), 1, std::string(") ") + directives);
  };
  Kernel kernel(text(".blocksareclusters .reqntid 32, 1, 1 .reqnctapercluster 2, 1, 1"));
  const Address out = kernel.upload(std::vector<std::uint32_t>(7, 0));
  kernel.run({{3}, {32}}, {out});
  EXPECT_EQ(kernel.download<std::uint32_t>(out, 7), (std::vector<std::uint32_t>{6, 6, 6, 6, 6, 6, 0}));
  const Shape shape = kernel.emulator.check(kernel.module(), "k", {{3}, {32}});
  EXPECT_EQ(shape.grid.x, 6u);
  EXPECT_EQ(shape.cluster->x, 2u);
  Kernel lacking(text(".blocksareclusters"));
  expect_contains(error_of([&] { lacking.run({{3}, {32}}, {out}); }), ".reqnctapercluster");
}

TEST(Emulator, ChecksTheShapeOfALaunch) {
  const std::string plain = module_text("", "ret;");
  Kernel kernel(plain);
  const auto refused = [&](Kernel& one, const Shape& shape, const std::string& part) {
    expect_contains(error_of([&] { one.run(shape, {}); }), part);
    expect_contains(error_of([&] { one.emulator.check(one.module(), "k", shape); }), part);
  };
  refused(kernel, {{1}, {1025}}, "block is 1025x1x1: its x must be from 1 to 1024");
  refused(kernel, {{1}, {32, 64}}, "2048 threads; it can have at most 1024");
  refused(kernel, {{1}, {1, 1, 65}}, "its z must be from 1 to 64");
  refused(kernel, {{0}, {32}}, "grid is 0x1x1");
  refused(kernel, {{1, 65536}, {32}}, "its y must be from 1 to 65535");
  refused(kernel, {{1}, {32}, 227 * 1024 + 1}, "more than the 232448 bytes");
  refused(kernel, {{4}, {32}, 0, Dim3{3}}, "not a multiple of the cluster");
  refused(kernel, {{32}, {32}, 0, Dim3{32}}, "cluster");
  EXPECT_TRUE(kernel.run({{1}, {1024}, 227 * 1024}, {}).findings.empty());
  Kernel older(module_text("", "ret;", "", "sm_80"));
  refused(older, {{2}, {32}, 0, Dim3{2}}, "clusters need sm_90");
  refused(older, {{1}, {32}, 164 * 1024}, "166912 bytes that a block of sm_80");
}

TEST(Emulator, HoldsALaunchToWhatTheKernelRequires) {
  const auto kernel_with = [](const std::string& directive) {
    return ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n" + directive +
           "\n{ ret; }\n";
  };
  Kernel required(kernel_with(".reqntid 128")), most(kernel_with(".maxntid 64, 2")),
      cluster(kernel_with(".explicitcluster .reqnctapercluster 2, 1, 1"));
  expect_contains(error_of([&] { required.run({{1}, {64}}, {}); }), "the kernel requires 128x1x1");
  expect_contains(error_of([&] { most.run({{1}, {160}}, {}); }), "at most 128");
  expect_contains(error_of([&] { cluster.run({{3}, {32}}, {}); }), "not a multiple of the cluster of 2x1x1");
  expect_contains(error_of([&] { cluster.run({{4}, {32}, 0, Dim3{4}}, {}); }), "requires 2x1x1");
  EXPECT_TRUE(cluster.run({{4}, {32}}, {}).findings.empty());
}

TEST(Emulator, ChecksArguments) {
  Kernel kernel(module_text(".param .u64 a, .param .f32 b", "ret;"));
  expect_contains(error_of([&] { kernel.run({{1}, {1}}, {std::uint64_t{1}}); }), "2 parameters; 1 arguments");
  expect_contains(error_of([&] {
                    kernel.run({{1}, {1}}, {std::uint64_t{1}, 2.0});
                  }),
                  "argument 2 of the kernel `k` has 8 bytes; the parameter `b` has 4");
  const std::vector<Parameter> parameters = kernel.module().parameters("k");
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_EQ(parameters[1].name, "b");
  EXPECT_EQ(parameters[1].type, "f32");
  EXPECT_EQ(parameters[0].bytes, 8);
  EXPECT_EQ(kernel.module().entries(), std::vector<std::string>{"k"});
  EXPECT_EQ(kernel.module().target(), "sm_90a");
  expect_contains(error_of([&] { kernel.emulator.launch(kernel.module(), "other", {}, {}); }), "it has `k`");
}

TEST(Emulator, ChecksItsOwnMemory) {
  Emulator emulator;
  const Address address = emulator.allocate(16);
  char bytes[32] = {};
  expect_contains(error_of([&] { emulator.copy_in(address + 8, bytes, 9); }),
                  "at offset 8 of an allocation of 16");
  expect_contains(error_of([&] { emulator.copy_out(bytes, 12345, 1); }), "no allocation");
  expect_contains(error_of([&] { emulator.free(address + 4); }), "cannot free");
  emulator.free(address);
  expect_contains(error_of([&] { emulator.fill(address, 0, 16); }), "was freed");
  expect_contains(error_of([&] { emulator.free(address); }), "cannot free");
}

TEST(Emulator, CountsUnwrittenBytes) {
  Kernel kernel(module_text(".param .u64 out", R"(
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; add.s64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r1;)"));
  Emulator& emulator = kernel.emulator;
  const Address out = emulator.allocate(40);
  EXPECT_EQ(emulator.unwritten(out, 40), 40u);
  kernel.run({{1}, {4}}, {out});
  EXPECT_EQ(emulator.unwritten(out, 40), 24u);
  EXPECT_EQ(emulator.unwritten(out + 2, 4), 2u);
  emulator.fill(out + 4, 0, 4);
  EXPECT_EQ(emulator.unwritten(out, 40), 20u);
  expect_contains(error_of([&] { emulator.unwritten(out, 41); }), "an allocation of 40");
}

TEST(Emulator, SharedMemoryIsStaticThenDynamicAndTheDynamicNamesAreOnePlace) {
  Kernel kernel(
      module_text(".param .u64 out", R"(
    .shared .align 4 .b8 fixed[20];
    ld.param.u64 %d1, [out];
    mov.u32 %r1, fixed; mov.u32 %r2, dynamic; mov.u32 %r3, again; mov.u32 %r4, %dynamic_smem_size;
    mov.u32 %r5, %total_smem_size;
    sub.u32 %r6, %r2, %r1;
    st.global.v4.u32 [%d1], {%r6, %r4, %r5, %r3}; st.global.u32 [%d1+16], %r2;
    st.shared.u8 [%r2+99], 1;)",
                  ".extern .shared .align 128 .b8 dynamic[]; .extern .shared .align 16 .b8 again[];"));
  const Address out = kernel.emulator.allocate(32);
  const Result result = kernel.run({{1}, {1}, 100}, {out});
  EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  const std::vector<std::uint32_t> got = kernel.download<std::uint32_t>(out, 5);
  EXPECT_EQ(got[0], 128u) << "aligned after the 20 static bytes";
  EXPECT_EQ(got[1], 100u);
  EXPECT_EQ(got[2], 228u);
  EXPECT_EQ(got[3], got[4]);
}

TEST(Emulator, TakesAnEntryByItsNameInCppOrAPartOfOne) {
  Emulator emulator;
  const Module module = emulator.load(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry _ZN2ns5scaleIfEEvPT_i(.param .u64 x, .param .u32 n) { ret; }\n"
      ".visible .entry _ZN2ns5scaleIdEEvPT_i(.param .u64 x, .param .u32 n) { exit; }\n");
  const std::string mangled = "_ZN2ns5scaleIfEEvPT_i";
  EXPECT_EQ(module.entry("scale<float>"), mangled);
  EXPECT_EQ(demangled(mangled), "void ns::scale<float>(float*, int)");
  EXPECT_EQ(demangled("f"), "f");  // not the type float
  EXPECT_EQ(module.parameters("ns::scale<float>").size(), 2u);
  EXPECT_EQ(emulator.launch(module, "scale<float>", {{1}, {32}}, {Address{0}, 1}).counters.total.instructions,
            1u);
  const std::string message = error_of([&] { module.entry("scale"); });
  expect_contains(
      message,
      "`scale` may be any of 2 kernels of the module: `_ZN2ns5scaleIfEEvPT_i` (void ns::scale<float>(");
  expect_contains(error_of([&] { emulator.check(module, "shrink"); }),
                  "there is no kernel `shrink` in the module; it has `_ZN2");
}

}  // namespace
}  // namespace tenon::emulator::testing
