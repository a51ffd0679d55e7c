// Heads of functions and kernels, and the parts of their bodies that are not instructions.
#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

TEST(Function, HasParametersAndResults) {
  const Module module = parse_module(
      ".visible .func (.param .b32 r, .param .align 16 .b8 s[48]) f(.param .u64 a, .param .align 4 .b8 "
      "b[12])\n"
      "{ .reg .b64 x; ld.param.u64 x, [a+0]; st.param.b32 [r+0], 1; ret; }\n");
  const Function& f = module.functions.at(0);
  EXPECT_EQ(f.name, "f");
  EXPECT_FALSE(f.is_entry);
  EXPECT_TRUE(f.is_defined);
  EXPECT_EQ(f.line, 4);
  ASSERT_EQ(f.parameters.size(), 2U);
  EXPECT_EQ(f.parameters[1].size(), 12);
  EXPECT_EQ(f.parameters[1].alignment, 4);
  EXPECT_EQ(f.parameters[0].space, Space::param);
  ASSERT_EQ(f.results.size(), 2U);
  EXPECT_EQ(f.results[1].alignment, 16);
  EXPECT_EQ(f.body.size(), 3U);
}

TEST(Function, MayHaveRegistersAsParameters) {
  const Module module =
      parse_module(".func (.reg .b32 r) f(.reg .f64 a) { .reg .b32 x; mov.b32 r, 1; ret; }");
  const Function& f = module.functions.at(0);
  ASSERT_EQ(f.registers.size(), 3U);
  EXPECT_EQ(f.results[0].register_index, 0);
  EXPECT_EQ(f.parameters[0].register_index, 1);
  EXPECT_EQ(f.registers[1].type, Type::f64);
  EXPECT_EQ(std::get<Register>(f.body[0].operands[0].value).index, 0);
  EXPECT_EQ(parse_kernel("").parameters[0].register_index, -1);
}

TEST(Kernel, HasPointersAsParameters) {
  const Module module = parse_module(
      ".entry k(\n.param .u64 .ptr .global .align 16 a,\n.param .u64 .ptr b,\n.param .align 64 .b8 "
      "map[128],\n"
      ".param .u64 .ptr .align 1 c\n)\n{ ret; }");
  const auto& parameters = module.functions.at(0).parameters;
  ASSERT_EQ(parameters.size(), 4U);
  EXPECT_TRUE(module.functions[0].is_entry);
  EXPECT_EQ(parameters[0].alignment, 8);
  EXPECT_EQ(parameters[2].size(), 128);
  EXPECT_EQ(parameters[2].alignment, 64);
  EXPECT_EQ(parameters[3].name, "c");
}

TEST(Kernel, HasDirectivesOfPerformance) {
  const Module module = parse_module(
      ".entry k()\n.maxntid 128, 2, 1\n.minnctapersm 2\n.maxnctapersm 4\n.maxnreg 64\n.maxclusterrank 8\n"
      ".explicitcluster\n.reqnctapercluster 2, 1, 1\n.blocksareclusters\n.pragma \"nounroll\", \"x\";\n"
      ".abi_preserve 5\n.abi_preserve_control 3\n.attribute(.unified(1,2))\n.noreturn\n{ ret; }\n"
      ".entry l() .reqntid 64 { ret; }");
  const Function& k = module.functions.at(0);
  EXPECT_EQ(k.max_threads[0], 128);
  EXPECT_EQ(k.max_threads[1], 2);
  EXPECT_EQ(k.max_threads[2], 1);
  EXPECT_EQ(k.required_threads[0], 0);
  EXPECT_TRUE(k.explicit_cluster);
  EXPECT_EQ(k.required_cluster[0], 2);
  const Function& l = module.functions.at(1);
  EXPECT_EQ(l.required_threads[0], 64);
  EXPECT_EQ(l.required_threads[1], 1);
  EXPECT_EQ(l.required_threads[2], 1);
  EXPECT_FALSE(l.explicit_cluster);
}

TEST(Function, IsMergedWithItsDeclarations) {
  const Module module = parse_module(
      ".extern .func (.param .b32 r) f(.param .b32 a);\n.func g;\n.weak .func (.param .b32 r) f(.param .b32 "
      "a) "
      "{ ret; }\n.func (.param .b32 r) f(.param .b32 a) .noreturn;");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_EQ(module.functions[0].name, "f");
  EXPECT_TRUE(module.functions[0].is_defined);
  EXPECT_FALSE(module.functions[1].is_defined);
  EXPECT_EQ(module.find("f"), &module.functions[0]);
  EXPECT_EQ(module.find("h"), nullptr);
}

TEST(Function, MayHaveAnAlias) {
  const Module module =
      parse_module(".func foo(.param .b32 a);\n.func bar(.param .b32 a) { ret; }\n.alias foo, bar;\n" +
                   kernel_text("call foo, (1);"));
  ASSERT_NE(module.find("foo"), nullptr);
  EXPECT_EQ(module.find("foo")->name, "bar");
}

TEST(Function, SkipsWhatOnlyDebuggersRead) {
  const Function function = parse_kernel(
      ".pragma \"nounroll\";\n.loc 1 2 3\n.section .debug_x { .b8 1,2 L: .b32 L-L { } }\n.file 4 "
      "\"x\"\nret;");
  EXPECT_EQ(function.body.size(), 1U);
}

TEST(Function, ListsBranchAndCallTargets) {
  const Module module = parse_module(
      ".func f;\n.func g;\n" +
      kernel_text("$L_brx_0: .branchtargets A,\n B, A;\n brx.idx.uni %r1, $L_brx_0;\nA: ret;\nB: ret;\n"
                  "T: .calltargets f, g;\n call %rd1, T;"));
  const Function& k = module.functions.back();
  EXPECT_EQ(k.branch_targets.at("$L_brx_0"), (std::vector<std::string>{"A", "B", "A"}));
  EXPECT_EQ(k.call_targets.at("T"), (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(std::get<Symbol>(k.body[0].operands[1].value).name, "$L_brx_0");
  EXPECT_EQ(k.labels.at("A"), 1);
  EXPECT_EQ(k.labels.at("B"), 2);
  EXPECT_EQ(k.labels.count("T"), 0U);
}

TEST(Function, HasPrototypesOfEveryKind) {
  const Function k = parse_kernel(
      "P: .callprototype _;\nQ: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .f64 x) "
      ".noreturn .abi_preserve 4;\nR: .callprototype ()_();");
  EXPECT_TRUE(k.prototypes.at("P").parameters.empty());
  EXPECT_EQ(k.prototypes.at("Q").results.at(0).size(), 16);
  EXPECT_EQ(k.prototypes.at("Q").parameters.size(), 2U);
  EXPECT_EQ(k.prototypes.at("R").name, "R");
}

TEST(Function, MayBeEmpty) {
  EXPECT_TRUE(parse_kernel("").body.empty());
  EXPECT_TRUE(parse_kernel(";;").body.empty());
}

TEST(Function, SaysWhatIsWrong) {
  EXPECT_EQ(module_error(".entry k() .fast { ret; }"),
            "line 4: the directive `.fast` of function `k` is not known");
  EXPECT_EQ(module_error(".entry (.param .b32 r) k() { ret; }"),
            "line 4: found `(` where the name of a kernel (a kernel returns nothing) is needed");
  EXPECT_EQ(module_error(".entry;"), "line 4: found `;` where the name of a kernel is needed");
  EXPECT_EQ(module_error(".func (.param .b32 r);"),
            "line 4: found `;` where the name of a function is needed");
  EXPECT_EQ(module_error(".func f ret"),
            "line 4: found `ret` where the body of `f`, or a directive, or `;` is needed");
  EXPECT_EQ(module_error(".func f(.b32 a);"),
            "line 4: found `.b32` where a parameter, .param or .reg, is needed");
  EXPECT_EQ(module_error(".func f(.param .b32);"),
            "line 4: found `)` where the name of a parameter is needed");
  EXPECT_EQ(module_error(".func f(.param .b32 a;"),
            "line 4: found `;` where `)` after the parameters of `f` is needed");
  EXPECT_EQ(module_error(".func f(.param .b32 a<3>);"), "line 4: a range of names cannot be a parameter");
  EXPECT_EQ(module_error(".func f(.param .b32 a, .param .b32 a);"),
            "line 4: `a` is declared twice in a scope; the first time in line 4");
  EXPECT_EQ(module_error(".entry k(.reg .b32 a) { ret; }"),
            "line 4: found `a` where a .param, or a scalar .reg of a .func, is needed");
  EXPECT_EQ(module_error(".entry k() .maxntid { ret; }"),
            "line 4: found `{` where a size for `.maxntid` is needed");
  EXPECT_EQ(module_error(".entry k() .maxntid 0 { ret; }"),
            "line 4: found `0` where a size for `.maxntid` from 1 to 1073741824 is needed");
  EXPECT_EQ(module_error(".entry k() .maxnreg x { ret; }"),
            "line 4: found `x` where a number for `.maxnreg` is needed");
  EXPECT_EQ(module_error(".entry k() .pragma x; { ret; }"),
            "line 4: found `x` where a string after `.pragma` is needed");
  EXPECT_EQ(module_error(".func f { ret; }\n\n.func f { ret; }"),
            "line 6: the function `f` has two bodies; the first in line 4");
  EXPECT_EQ(module_error(".func f;\n.func f(.param .b32 a);"),
            "line 5: the function `f` was declared with other parameters in line 4");
  EXPECT_EQ(module_error(".func f;\n.entry f { ret; }"),
            "line 5: the function `f` was declared with other parameters in line 4");
  EXPECT_EQ(module_error(".func f {\nret;\n"),
            "line 6: the text ends inside the function `f` of line 4: `}` is needed");
  EXPECT_EQ(kernel_error(".maxntid 3;"), "line 5: the directive `.maxntid` is not known in a function");
  EXPECT_EQ(kernel_error(".extern .func f;"), "line 5: the directive `.extern` is not known in a function");
  EXPECT_EQ(kernel_error(".loc x"), "line 5: found `x` where the file of `.loc` is needed");
  EXPECT_EQ(kernel_error(".loc 1 2 3, nowhere"),
            "line 5: found `nowhere` where `function_name` or `inlined_at` is needed");
  EXPECT_EQ(kernel_error("L: .branchtargets 5;"), "line 5: found `5` where the label of a branch is needed");
  EXPECT_EQ(kernel_error("L: .branchtargets M;"),
            "line 5: `M` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(kernel_error("L: .callprototype f;"),
            "line 5: found `f` where `_`, which names the function of a prototype, is needed");
  EXPECT_EQ(kernel_error(".section .debug { {"),
            "line 5: `.section` begins here and has no end: `}` is needed");
}

TEST(Alias, SaysWhatIsWrong) {
  EXPECT_EQ(module_error(".alias a, b;"),
            "line 4: `a` is an alias of `b`, which is not a function defined before");
  EXPECT_EQ(module_error(".func b;\n.alias a, b;"),
            "line 5: `a` is an alias of `b`, which is not a function defined before");
  EXPECT_EQ(module_error(".func a { ret; } .func b { ret; }\n.alias a, b;"),
            "line 5: `a` is an alias, and also a function with a body");
  EXPECT_EQ(module_error(".alias a b;"),
            "line 4: found `b` where `,` between the names of `.alias` is needed");
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
