// Kernels that request too much: each gets an Error or a finding, at once and with little memory.
#include <gtest/gtest.h>

#include <string>

#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator {
namespace {

std::string module(const std::string& before, const std::string& body, const std::string& parameters = "") {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry k(" + parameters +
         ") {\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n" + body + "\n}\n";
}

// The sentence of the Error, or the findings' kinds.
std::string answer(const std::string& text, const std::vector<Argument>& arguments = {}) {
  Options options;
  options.threads = 1;
  options.instruction_limit = 100000;
  try {
    Emulator emulator;
    const Module loaded = emulator.load(text);
    std::string kinds;
    for (const Finding& finding : emulator.launch(loaded, "k", {{}, {32, 1, 1}}, arguments, options).findings)
      kinds += std::string(kinds.empty() ? "" : " ") + name(finding.kind);
    return kinds;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Limits, of_local_memory) {
  EXPECT_EQ(answer(module("", ".local .b8 x[1099511627776]; ret;")),
            "line 5: the function `k` has 1099511627776 bytes of local memory; a thread can have 524288");
  EXPECT_EQ(answer(module(".func f() { .local .b8 x[600000]; ret; }", "call f, (); ret;")),
            "line 4: the function `f` has 600000 bytes of local memory; a thread can have 524288");
}

TEST(Limits, of_parameters) {
  EXPECT_EQ(answer(module("", "ret;", ".param .b8 x[1099511627776]"), {0}),
            "line 5: the kernel `k` has 1099511627776 bytes of parameters; it can have 32764");
}

TEST(Limits, of_shared_memory) {
  EXPECT_EQ(answer(module("", ".shared .b8 x[1099511627776]; ret;")),
            "line 9: the kernel's static shared memory exceeds 16 MiB");
}

TEST(Limits, of_variables) {
  EXPECT_EQ(
      answer(module(".global .b8 x[2147483648]; .global .b8 y[1];", "ret;")),
      "line 4: with the variable `y` of 1 bytes the module has 2147483649 bytes of variables; 2 GiB are "
      "possible");
  // It costs nothing until it is touched, and counts as written.
  EXPECT_EQ(answer(module(".global .b8 x[2147483648];", "ld.global.u8 %r0, [x+2147483647]; ret;")), "");
}

TEST(Limits, of_bulk_copies) {
  const std::string memory =
      ".global .align 16 .b8 g[64]; .shared .align 16 .b8 x[64]; .shared .align 8 .b64 b;";
  const std::string alone = "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 ret;\n";
  EXPECT_EQ(
      answer(module(memory, alone + "mbarrier.init.shared.b64 [b], 1;\n"
                                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [x], "
                                    "[g], 4294967280, [b]; ret;")),
      "out_of_bounds");
  EXPECT_EQ(answer(module(memory,
                          alone + "cp.async.bulk.global.shared::cta.bulk_group [g], [x], 4294967280; ret;")),
            "out_of_bounds");
}

TEST(Limits, of_recursion) {
  const std::string small = ".func f() { call f, (); ret; }";
  const std::string many_registers =
      ".func f() { .reg .b32 %r<500>; mov.u32 %r499, 1; call f, (); ret; }" +
      std::string(500, '\n');  // as long as a text with so many registers must be
  for (const std::string& function : {small, many_registers})
    EXPECT_EQ(answer(module(function, "call f, (); ret;")), "out_of_bounds");
}

TEST(Limits, of_loops) {
  EXPECT_EQ(answer(module("", "L: bra L;")), "deadlock");
  EXPECT_EQ(answer(module("", "L: add.u32 %r0, %r0, 1; bra L;")), "limit");
  EXPECT_EQ(answer(module("",
                          "mov.u32 %r0, %laneid; L: add.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 31; @%p0 bra "
                          "L; M: bra M;")),
            "limit");
  EXPECT_EQ(answer(module("", "L: mov.u64 %d0, %globaltimer; nanosleep.u32 %r0; bra L;")), "deadlock");
}

}  // namespace
}  // namespace tenon::emulator
