// Names in nested scopes: registers, variables and labels, flattened into one function.
#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

TEST(Registers, ComeInRanges) {
  const Function f =
      parse_module(".func f { .reg .b32 %r<3>, x; .reg .pred p; mov.b32 %r2, x; }").functions.at(0);
  ASSERT_EQ(f.registers.size(), 5U);
  EXPECT_EQ(f.registers[0].name, "%r0");
  EXPECT_EQ(f.registers[2].name, "%r2");
  EXPECT_EQ(f.registers[3].name, "x");
  EXPECT_EQ(f.registers[4].type, Type::pred);
  EXPECT_EQ(std::get<Register>(f.body[0].operands[0].value).index, 2);
}

TEST(Registers, ComeInRangesWhosePrefixEndsInADigit) {
  const Function f =
      parse_module(".func f { .reg .b32 %r<3>; .reg .b64 %r1<5>; mov.b32 %r13, %r1; }").functions.at(0);
  EXPECT_EQ(f.registers[std::get<Register>(f.body[0].operands[0].value).index].type, Type::b64);
  EXPECT_EQ(name_of(f, f.body[0].operands[0]), "%r13");
  EXPECT_EQ(name_of(f, f.body[0].operands[1]), "%r1");
}

TEST(Registers, EndWhereTheirRangeEnds) {
  EXPECT_EQ(module_error(".func f { .reg .b32 %r<3>; mov.b32 %r3, 1; }"),
            "line 4: `%r3` is neither a register that is declared here nor a special register of PTX");
  EXPECT_EQ(module_error(".func f { .reg .b32 %r<0>; mov.b32 %r0, 1; }"),
            "line 4: `%r0` is neither a register that is declared here nor a special register of PTX");
}

TEST(Registers, MayBeVectors) {
  const Function f =
      parse_module(".func f { .reg .v4 .f32 v; .reg .v2 .b32 w; mov.f32 v.y, v.a; ld.v4.f32 v, [w.x]; }")
          .functions.at(0);
  ASSERT_EQ(f.registers.size(), 6U);
  EXPECT_EQ(f.registers[1].name, "v.y");
  EXPECT_EQ(std::get<Register>(f.body[0].operands[0].value).index, 1);
  EXPECT_EQ(std::get<Register>(f.body[0].operands[1].value).index, 3);
  EXPECT_EQ(std::get<Vector>(f.body[1].operands[0].value).elements.size(), 4U);
  EXPECT_EQ(std::get<Register>(std::get<Address>(f.body[1].operands[1].value).base).index, 4);
}

TEST(Scope, HidesTheRegistersOfTheOuterOne) {
  const Function f = parse_kernel(
      "mov.b32 %r1, 0;\n{ .reg .b64 %r1; mov.b64 %r1, 1; { .reg .b16 %r<4>; mov.b16 %r1, 2; } mov.b64 %r1, "
      "3; }\n"
      "mov.b32 %r1, 4;");
  std::vector<Type> types;
  for (const Instruction& i : f.body)
    types.push_back(f.registers[std::get<Register>(i.operands[0].value).index].type);
  EXPECT_EQ(types, (std::vector<Type>{Type::b32, Type::b64, Type::b16, Type::b64, Type::b32}));
}

TEST(Scope, GivesRepeatedVariablesNamesOfTheirOwn) {
  const Module module = parse_module(
      ".func (.param .b32 r) f(.param .b32 a);\n" +
      kernel_text("{ .param .b32 p; .param .b32 q; st.param.b32 [p+0], 1; call.uni (q), f, (p); }\n"
                  "{ .param .b64 p; .param .b64 q; st.param.b64 [p+0], 2; call.uni (q), f, (p); }"));
  const Function& k = module.functions.back();
  ASSERT_EQ(k.variables.size(), 4U);
  EXPECT_EQ(k.variables[0].name, "p");
  EXPECT_EQ(k.variables[2].name, "p.1");
  EXPECT_EQ(k.variables[2].type, Type::b64);
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(k.body[0].operands[0].value).base).name, "p");
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(k.body[2].operands[0].value).base).name, "p.1");
  EXPECT_EQ(std::get<Symbol>(std::get<Vector>(k.body[3].operands[0].value).elements[0].value).name, "q.1");
  EXPECT_EQ(std::get<Symbol>(std::get<Vector>(k.body[3].operands[2].value).elements[0].value).name, "p.1");
  EXPECT_EQ(std::get<Symbol>(k.body[3].operands[1].value).name, "f");
}

TEST(Scope, KeepsNamesOfTheModuleApart) {
  const Module module =
      parse_module(".shared .b32 tile[4];\n" +
                   kernel_text("{ .local .b32 tile; st.local.b32 [tile], 1; }\nst.shared.b32 [tile], 2;"));
  const Function& k = module.functions.back();
  EXPECT_EQ(k.variables[0].name, "tile.1");
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(k.body[0].operands[0].value).base).name, "tile.1");
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(k.body[1].operands[0].value).base).name, "tile");
}

TEST(Scope, AddsGlobalVariablesToTheModule) {
  const Module module =
      parse_module(kernel_text(".global .u32 x = 5; .shared .u32 y; .extern .shared .b8 z[];\nst.global.u32 "
                               "[x], 1; st.shared.u8 [z], 1;"));
  ASSERT_EQ(module.variables.size(), 2U);
  EXPECT_EQ(module.variables[0].name, "k.x");
  EXPECT_EQ(module.variables[1].name, "k.z");
  EXPECT_EQ(module.functions[0].variables.size(), 1U);
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(module.functions[0].body[0].operands[0].value).base).name,
            "k.x");
}

std::string target(const Function& f, int i) {
  return std::get<Symbol>(f.body[i].operands[0].value).name;
}

TEST(Label, NamesTheNextInstruction) {
  const Function f = parse_kernel("bra END;\nA: B : ret;\n{ C: }\n @%p1 bra.uni A; END:");
  EXPECT_EQ(f.labels.at("A"), 1);
  EXPECT_EQ(f.labels.at("B"), 1);
  EXPECT_EQ(f.labels.at("C"), 2);
  EXPECT_EQ(f.labels.at("END"), 3);
  EXPECT_EQ(f.body.size(), 3U);
}

TEST(Label, BelongsToItsScope) {
  const Function f =
      parse_kernel("{ bra W; W: bra W; bra D; D: }\n{ W: bra W; { bra D; bra W; } D: }\nbra D; D: ret;");
  EXPECT_EQ(target(f, 0), "W");
  EXPECT_EQ(target(f, 2), "D");
  EXPECT_EQ(f.labels.at("D"), 3);
  EXPECT_EQ(target(f, 3), "W.1");
  EXPECT_EQ(f.labels.at("W.1"), 3);
  EXPECT_EQ(target(f, 4), "D.1");
  EXPECT_EQ(f.labels.at("D.1"), 6);
  EXPECT_EQ(target(f, 5), "W.1");
  EXPECT_EQ(target(f, 6), "D.2");
  EXPECT_EQ(f.labels.at("D.2"), 7);
}

TEST(Label, HasTargetsOfItsScope) {
  const Function f = parse_kernel(
      "{ A: ret; T: .branchtargets A; brx.idx %r1, T; }\n{ T: .branchtargets A; brx.idx %r1, T; A: ret; }");
  EXPECT_EQ(f.branch_targets.at("T"), std::vector<std::string>{"A"});
  EXPECT_EQ(f.branch_targets.at("T.1"), std::vector<std::string>{"A.1"});
  EXPECT_EQ(std::get<Symbol>(f.body[2].operands[1].value).name, "T.1");
}

TEST(Scope, SaysWhatIsWrong) {
  EXPECT_EQ(kernel_error("{ ret;"), "line 7: the text ends inside the function `k` of line 4: `}` is needed");
  EXPECT_EQ(kernel_error("} }"), "line 5: found `}` where a directive is needed");
  EXPECT_EQ(kernel_error(".reg .b32 a; .reg .b32 a;"),
            "line 5: `a` is declared twice in a scope; the first time in line 5");
  EXPECT_EQ(kernel_error(".reg .b32 a<2>; .reg .b32 a<2>;"),
            "line 5: `a` is declared twice in a scope; the first time in line 5");
  EXPECT_EQ(kernel_error(".shared .b32 a; .reg .b32 a;"),
            "line 5: `a` is declared twice in a scope; the first time in line 5");
  EXPECT_EQ(kernel_error(".local .b32 a; .shared .b32 a;"),
            "line 5: `a` is declared twice in a scope; the first time in line 5");
  EXPECT_EQ(kernel_error("L: ret;\nL: ret;"), "line 6: the label `L` is declared twice in a scope");
  EXPECT_EQ(kernel_error("bra nowhere;"),
            "line 5: `nowhere` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(kernel_error("{ L: ret; }\nbra L;"),
            "line 6: `L` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(kernel_error("call nowhere;"),
            "line 5: `nowhere` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(kernel_error(".reg .b32 a[4];"), "line 5: the register `a` is declared as an array");
  EXPECT_EQ(kernel_error(".reg .v2 .b32 a<4>;"),
            "line 5: a range of vector registers, `a`, cannot be declared");
  EXPECT_EQ(kernel_error(".shared .b32 a<4>;"), "line 5: a range of variables, `a`, cannot be declared");
  EXPECT_EQ(kernel_error(".reg .b32 5;"),
            "line 5: found `5` where a name after the type of a declaration is needed");
  EXPECT_EQ(kernel_error(".reg .b32 a"), "line 6: found `}` where `;` after a declaration is needed");
  EXPECT_EQ(kernel_error(".reg .b32 a<x>;"), "line 5: found `x` where the number of registers is needed");
  EXPECT_EQ(kernel_error(".reg .b32 a<3;"),
            "line 5: found `;` where `>` after the number of registers is needed");
  EXPECT_EQ(kernel_error(".reg .v2 .b32 v; ld.u32 %r1, [v.z];"),
            "line 5: found `.z` where one lane of the vector `v` is needed");
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
