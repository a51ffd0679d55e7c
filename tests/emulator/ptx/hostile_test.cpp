// Texts made to break a parser: each gets an answer, at once and with little memory.
#include <chrono>
#include <random>

#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

TEST(Hostile, SizesDoNotOverflow) {
  const std::string too_large = "line 4: the variable `x` has more than 2^40 bytes";
  EXPECT_EQ(parse_module(".global .b8 x[1099511627776];").variables[0].size(), std::int64_t{1} << 40);
  EXPECT_EQ(module_error(".global .b16 x[1099511627776];"), too_large);
  EXPECT_EQ(module_error(".global .b32 x[1048576][1048576][1048576][1048576];"), too_large);
  EXPECT_EQ(module_error(".global .b32 x[0][1099511627776][1099511627776] = {{1}};"), too_large);
  EXPECT_EQ(module_error(".extern .global .b32 x[][1099511627776][1099511627776];"), too_large);
  EXPECT_EQ(module_error(".global .v4 .b64 x[1099511627776];"), too_large);
  EXPECT_EQ(module_error(".global .b8 x[1099511627777];"),
            "line 4: the array `x` has the length 1099511627777; 0 to 2^40 can be had");
  std::string dimensions;
  for (int i = 0; i < 17; ++i) dimensions += "[1]";
  EXPECT_EQ(module_error(".global .b8 x" + dimensions + ";"),
            "line 4: the array `x` has more than 16 dimensions");
}

TEST(Hostile, InitialisersStoreNoMoreThanTheTextCouldSay) {
  EXPECT_EQ(module_error(".global .b8 x[2][1073741824] = {{1},{1}};"),
            "line 4: the initialiser of `x` reaches byte 1073741825, too far for a text of this length");
  EXPECT_EQ(module_error(".global .b8 x[][549755813888] = {{},{},{}};"),
            "line 4: the initialiser of `x` has more values than the 1099511627776 elements there");
}

TEST(Hostile, RegistersAreLimited) {
  EXPECT_EQ(module_error(".func f { .reg .b32 %r<1048577>; }"),
            "line 4: found `1048577` where the number of registers from 0 to 1048576 is needed");
  EXPECT_EQ(module_error(".func f { .reg .b32 %r<1048576>; .reg .b32 x; }"),
            "line 4: the function declares more than 1048576 registers");
  EXPECT_EQ(module_error(".func f { .reg .b32 %r<1000000>; } .func g { .reg .b32 %r<1000000>; }"),
            "line 4: the module declares more registers than a text of its length can use");
}

TEST(Hostile, ScopesMayBeNestedButNotForEver) {
  EXPECT_EQ(parse_kernel(std::string(60, '{') + "ret;" + std::string(60, '}')).body.size(), 1U);
  EXPECT_EQ(kernel_error(std::string(1000000, '{')), "line 5: scopes are nested more than 64 deep");
}

TEST(Hostile, SectionsMayBeNestedForEver) {
  EXPECT_EQ(module_error(".section .x " + std::string(1000000, '{')),
            "line 4: `.section` begins here and has no end: `}` is needed");
}

// Wherever the text is truncated, the answer is a module or an Error.
TEST(Hostile, EveryBeginningOfATextIsAnswered) {
  const std::string text =
      ".version 8.7 .target sm_90a .file 1 \"a\" .global .v2 .u64 g[][2] = {{g, generic(g)+4}}; .const .u8 b "
      "= 0xff(g);"
      ".func (.param .b32 r) f(.reg .b32 a) .noreturn; .alias x, y; .entry k(.param .u64 .ptr .align 8 p) "
      ".maxntid 1, 2 "
      "{ .reg .b32 %r<3>; .reg .v2 .f32 v; .loc 1 2 3, function_name l+4, inlined_at 1 2 3 { L: @!%p bra L; "
      "} T: "
      ".branchtargets L; C: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r1), f, (v.x, "
      "0f3F800000); "
      "cp.async.bulk.tensor.2d [%r1+-8], [%r2, {1, _}], -%r1|_; /* c */ // d\n }";
  int errors = 0;
  for (std::size_t length = 0; length <= text.size(); ++length)
    errors += error_of(text.substr(0, length)) != "no error";
  EXPECT_GT(errors, 450);
}

TEST(Hostile, RandomChangesOfATextAreAnswered) {
  const std::string words[] = {"{",       "}",     "(",        ")",     "[",   "]",     ",",       ";",
                               ":",       ".reg",  ".b32",     "%r<9>", "a",   "%r1",   "add",     "@",
                               "!",       "-",     "|",        "_",     "5",   "0x",    "1.5",     "=",
                               "generic", ".loc",  ".section", "L:",    "bra", "call",  ".global", ".align",
                               "?",       "\"s\"", "/*",       "*/",    "\n",  ".func", "<",       ">"};
  std::mt19937 random(1);
  int errors = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string body;
    for (int j = 0; j < 20; ++j) body += words[random() % std::size(words)] + " ";
    errors += (i % 2 == 0 ? kernel_error(body) : module_error(body)) != "no error";
  }
  EXPECT_GT(errors, 19000);
}

// A test of growth, not of the machine: a text of 2 MB; a second would be enough.
TEST(Hostile, TimeGrowsWithTheText) {
  std::string body;
  for (int i = 0; i < 20000; ++i) {
    body += "{ .reg .b32 t; .param .b32 param0; add.s32 t, %r1, " + std::to_string(i) +
            "; @%p1 bra DONE; st.param.b32 [param0+0], t; DONE: }\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  const Function function = parse_kernel(body);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(function.body.size(), 60000U);
  EXPECT_EQ(function.variables.back().name, "param0.19999");
  EXPECT_LT(seconds.count(), 10.0);
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
