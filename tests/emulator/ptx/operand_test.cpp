// Instructions and each form of operand.
#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

const Address& address_of(const Operand& operand) {
  return std::get<Address>(operand.value);
}

TEST(Instruction, IsSplitIntoOpcodeAndModifiers) {
  const Instruction mma = parse_instruction(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
      "{%f1,%f2,%f3,%f4};");
  EXPECT_EQ(mma.opcode, "mma");
  EXPECT_EQ(mma.modifiers, (std::vector<std::string>{"sync", "aligned", "m16n8k16", "row", "col", "f32",
                                                     "f16", "f16", "f32"}));
  EXPECT_EQ(mma.text(), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_EQ(mma.operands.size(), 4U);
  EXPECT_EQ(parse_instruction("ret;").text(), "ret");
  EXPECT_EQ(parse_instruction("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r1}, [%r2];").modifiers[3], "16x64b");
  EXPECT_EQ(parse_instruction("add .s32\n %r1, %r2, 3;").text(), "add.s32");
}

TEST(Instruction, HasALineAndASource) {
  const Function function =
      parse_kernel(".loc 2 17 5\nret;\n.loc 3 20 1, function_name $info+12, inlined_at 2 30 7\nret;");
  ASSERT_EQ(function.body.size(), 2U);
  EXPECT_EQ(function.body[0].line, 6);
  EXPECT_EQ(function.body[0].source.file, 2);
  EXPECT_EQ(function.body[0].source.line, 17);
  EXPECT_EQ(function.body[1].line, 8);
  EXPECT_EQ(function.body[1].source.file, 3);
  EXPECT_EQ(function.body[1].source.line, 20);
  EXPECT_EQ(parse_instruction("ret;").source.file, 0);
}

TEST(Instruction, HasAGuard) {
  EXPECT_FALSE(parse_instruction("ret;").guard.has_value());
  const Instruction plain = parse_instruction("@%p1 ret;"), negated = parse_instruction("@!%p2 ret;");
  EXPECT_EQ(plain.guard->index, 1);
  EXPECT_FALSE(plain.guard_negated);
  EXPECT_EQ(negated.guard->index, 2);
  EXPECT_TRUE(negated.guard_negated);
}

TEST(Operand, IsARegisterAnImmediateOrASpecialRegister) {
  const Function function = parse_kernel("add.s32 %r1, %r9, -7;");
  const auto& operands = function.body[0].operands;
  EXPECT_EQ(name_of(function, operands[0]), "%r1");
  EXPECT_EQ(name_of(function, operands[1]), "%r9");
  EXPECT_EQ(integer_of(operands[2]), -7);
  for (const std::string name :
       {"%tid.x", "%ctaid.z", "%laneid", "%clock64", "%cluster_ctarank", "%lanemask_lt", "%envreg31", "%pm0",
        "%pm7_64", "%dynamic_smem_size", "%tid"}) {
    const Instruction mov = parse_instruction("mov.u32 %r1, " + name + ";");
    EXPECT_EQ(std::get<SpecialRegister>(mov.operands[1].value).name, name);
  }
}

TEST(Operand, MayBeNegated) {
  const Instruction logic = parse_instruction("setp.lt.and.s32 %p1|%p2, %r1, -%r2, !%p3;");
  EXPECT_EQ(std::get<Register>(logic.operands[0].value).index, 1);
  EXPECT_EQ(logic.operands[0].predicate->index, 2);
  EXPECT_FALSE(logic.operands[0].negated);
  EXPECT_TRUE(logic.operands[2].negated);
  EXPECT_TRUE(logic.operands[3].negated);
  EXPECT_EQ(std::get<Register>(logic.operands[3].value).index, 3);
}

TEST(Operand, MayBeASinkOrHalfOne) {
  const Instruction elect = parse_instruction("elect.sync _|%p1, 0xffffffff;");
  EXPECT_TRUE(std::holds_alternative<Sink>(elect.operands[0].value));
  EXPECT_EQ(elect.operands[0].predicate->index, 1);
  const Instruction setp = parse_instruction("setp.eq.s32 %p1|_, %r1, 0;");
  EXPECT_FALSE(setp.operands[0].predicate.has_value());
  const Instruction arrive = parse_instruction("mbarrier.arrive.shared::cta.b64 _, [%r1];");
  EXPECT_TRUE(std::holds_alternative<Sink>(arrive.operands[0].value));
  EXPECT_FALSE(arrive.operands[0].predicate.has_value());
}

TEST(Operand, MayBeAVectorWithSinksAndNumbers) {
  const Instruction mov = parse_instruction("mov.b64 {%r1, _}, %rd1;");
  const auto& halves = std::get<Vector>(mov.operands[0].value).elements;
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Register>(halves[0].value));
  EXPECT_TRUE(std::holds_alternative<Sink>(halves[1].value));
  const Instruction store = parse_instruction("st.global.v2.b32 [ %rd1 + 0 ], { %r1, 0x10 };");
  EXPECT_EQ(integer_of(std::get<Vector>(store.operands[1].value).elements[1]), 16);
}

TEST(Address, HasABaseAndAnOffset) {
  const Function function = parse_kernel(
      ".shared .b32 tile[64];\nld.shared.u32 %r1, [tile];\nld.shared.u32 %r1, [tile+4*8];\n"
      "ld.global.u32 %r1, [%rd2+-8];\nld.global.u32 %r1, [%rd2-8+2];\nld.global.u32 %r1, [0x100];\n"
      "ld.param.u64 %rd1, [k_param_0];\nld.global.u32 %r1, [%rd1+0xFFFFFFFFFFFFFFFF];");
  const auto at = [&](int i) -> const Address& { return address_of(function.body[i].operands[1]); };
  EXPECT_EQ(std::get<Symbol>(at(0).base).name, "tile");
  EXPECT_EQ(at(0).offset, 0);
  EXPECT_EQ(at(1).offset, 32);
  EXPECT_EQ(function.registers[std::get<Register>(at(2).base).index].name, "%rd2");
  EXPECT_EQ(at(2).offset, -8);
  EXPECT_EQ(at(3).offset, -6);
  EXPECT_EQ(std::get<Immediate>(at(4).base).bits, 0x100U);
  EXPECT_EQ(std::get<Symbol>(at(5).base).name, "k_param_0");
  EXPECT_EQ(at(6).offset, -1);
}

TEST(Address, OfATensorHasCoordinates) {
  const Instruction copy = parse_instruction(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], [%rd1+64, {%r2, %r3, 7, %r4}], [%r5], {%r6, %r7}, %r8;");
  ASSERT_EQ(copy.operands.size(), 5U);
  const auto& tensor = std::get<TensorAddress>(copy.operands[1].value);
  EXPECT_EQ(tensor.map.offset, 64);
  EXPECT_TRUE(std::holds_alternative<Register>(tensor.map.base));
  ASSERT_EQ(tensor.coordinates.size(), 4U);
  EXPECT_EQ(integer_of(tensor.coordinates[2]), 7);
  EXPECT_EQ(std::get<Vector>(copy.operands[3].value).elements.size(), 2U);
}

TEST(Symbol, HasAnAddendWhereItIsAnAddress) {
  const Function function = parse_kernel(
      ".shared .v2 .b32 tile[64];\nmov.u64 %rd1, tile;\nmov.u64 %rd1, tile+16;\nmov.u64 %rd1, tile[3];\n"
      "ld.shared.u32 %r1, tile[3];");
  const auto symbol = [&](int i) { return std::get<Symbol>(function.body[i].operands[1].value); };
  EXPECT_EQ(symbol(0).name, "tile");
  EXPECT_EQ(symbol(0).addend, 0);
  EXPECT_EQ(symbol(1).addend, 16);
  EXPECT_EQ(symbol(2).addend, 12);
  EXPECT_EQ(address_of(function.body[3].operands[1]).offset, 12);
}

TEST(Symbol, MayBeginWithAPercentSign) {
  const Module module =
      parse_module(".global .u32 %x;\n" + kernel_text("mov.u64 %rd1, %x; st.global.u32 [%x], 1;"));
  EXPECT_EQ(std::get<Symbol>(module.functions[0].body[0].operands[1].value).name, "%x");
  EXPECT_EQ(std::get<Symbol>(address_of(module.functions[0].body[1].operands[0]).base).name, "%x");
}

TEST(Call, HasListsOfResultsAndArguments) {
  const Module module = parse_module(
      ".func (.param .b32 r) f(.param .b32 a, .param .b32 b);\n.func g;\n" +
      kernel_text(
          "{ .param .b32 x; .param .b32 y;\n call.uni (y), \n f, \n (\n x, \n 5\n );\n }\n call g;\n"
          "call (%r1), %rd1, (%r2), proto;\n proto: .callprototype (.param .b32 _) _ (.param .b32 _);"));
  const Function& kernel = module.functions.back();
  const auto& call = kernel.body[0].operands;
  ASSERT_EQ(call.size(), 3U);
  EXPECT_EQ(std::get<Symbol>(std::get<Vector>(call[0].value).elements[0].value).name, "y");
  EXPECT_EQ(std::get<Symbol>(call[1].value).name, "f");
  const auto& arguments = std::get<Vector>(call[2].value).elements;
  EXPECT_EQ(std::get<Symbol>(arguments[0].value).name, "x");
  EXPECT_EQ(integer_of(arguments[1]), 5);
  EXPECT_EQ(kernel.body[1].operands.size(), 1U);
  const auto& indirect = kernel.body[2].operands;
  EXPECT_EQ(std::get<Symbol>(indirect[3].value).name, "proto");
  EXPECT_EQ(kernel.prototypes.at("proto").parameters.size(), 1U);
  EXPECT_EQ(kernel.prototypes.at("proto").results.size(), 1U);
}

TEST(Call, TakesAnEmptyList) {
  const Module module = parse_module(".func g();\n" + kernel_text("call.uni g, ();"));
  EXPECT_TRUE(std::get<Vector>(module.functions.back().body[0].operands[1].value).elements.empty());
}

TEST(Operand, SaysWhatIsWrong) {
  EXPECT_EQ(kernel_error("add.s32 %r1, %r77, 1;"),
            "line 5: `%r77` is neither a register that is declared here nor a special register of PTX");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %envreg32;"),
            "line 5: `%envreg32` is neither a register that is declared here nor a special register of PTX");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %pm8;"),
            "line 5: `%pm8` is neither a register that is declared here nor a special register of PTX");
  EXPECT_EQ(kernel_error("ret\n}"), "line 6: found `}` where an operand of `ret` is needed");
  EXPECT_EQ(kernel_error("add.s32 %r1, %r2 %r3;"),
            "line 5: found `%r3` where `,` or `;` after the operands of `add.s32` is needed");
  EXPECT_EQ(kernel_error("add.s32 %r1,;"), "line 5: found `;` where an operand of `add` is needed");
  EXPECT_EQ(kernel_error("mov.b64 %rd1, {%r1, %r2;"),
            "line 5: found `;` where `}` after a braced list is needed");
  EXPECT_EQ(kernel_error("mov.b64 %rd1, {{%r1}};"), "line 5: found `{` where an operand of `mov` is needed");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1;"), "line 5: found `;` where `]` after an address is needed");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [];"),
            "line 5: found `]` where a register, variable or number as an address is needed");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd9];"),
            "line 5: `%rd9` is used as an address, but no register of that name is declared");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [_];"),
            "line 5: `_` is used as an address, but no register of that name is declared");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1+1.5];"),
            "line 5: found a real where the offset of an address is needed, an integer");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1, 5];"),
            "line 5: found `5` where `{` before the coordinates of a tensor is needed");
  EXPECT_EQ(kernel_error("@%r1 ret;"),
            "line 5: found `%r1` where the guard after `@`, a .pred register, is needed");
  EXPECT_EQ(kernel_error("@1 ret;"), "line 5: found `1` where the guard after `@` is needed");
  EXPECT_EQ(kernel_error("@%p1 %r1;"), "line 5: found `%r1` where an instruction is needed");
  EXPECT_EQ(kernel_error("shfl.sync.down.b32 %r1|%r2, %r3, 1, 31, -1;"),
            "line 5: found `%r2` where the predicate after `|`, a .pred register, is needed");
  EXPECT_EQ(kernel_error("mov.u32 [%rd1]|%p1, 1;"),
            "line 5: found `|` where `,` or `;` after the operands of `mov.u32` is needed");
  EXPECT_EQ(kernel_error("mov.u32 %r1, nothing;"),
            "line 5: `nothing` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(kernel_error("ld.u32 %r1, nothing[2];"),
            "line 5: `nothing` is indexed, and no variable of that name is declared before");
  EXPECT_EQ(kernel_error(".shared .u32 a[4]; ld.u32 %r1, a[%r2];"),
            "line 5: found `%r2` where a constant index of `a` is needed");
  EXPECT_EQ(kernel_error(".shared .u32 a[4]; ld.u32 %r1, a[-1];"),
            "line 5: the index -1 of `a` is out of range");
  EXPECT_EQ(kernel_error("5;"),
            "line 5: found `5` where an instruction, a directive, a label or `}` is needed");
  EXPECT_EQ(kernel_error("mov.u32 %r1, \"text\";"),
            "line 5: found the string `text` where an operand of `mov` is needed");
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
