// Variables of a module: types, sizes, initialisers.
#include <cstring>

#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

Variable variable(const std::string& text) {
  return parse_module(text).variables.at(0);
}

template <class T>
std::vector<T> values(const Variable& v) {
  std::vector<T> result(v.initial.size() / sizeof(T));
  std::memcpy(result.data(), v.initial.data(), result.size() * sizeof(T));
  return result;
}

using Words = std::vector<std::uint32_t>;

TEST(Variable, HasASpaceATypeASizeAndAnAlignment) {
  const Variable tile = variable(".visible .shared .align 128 .f32 tile[4][32];");
  EXPECT_EQ(tile.name, "tile");
  EXPECT_EQ(tile.space, Space::shared);
  EXPECT_EQ(tile.type, Type::f32);
  EXPECT_EQ(tile.count, 128);
  EXPECT_EQ(tile.size(), 512);
  EXPECT_EQ(tile.alignment, 128);
  EXPECT_EQ(tile.line, 4);
  EXPECT_FALSE(tile.is_external);
  EXPECT_TRUE(tile.initial.empty());
  EXPECT_EQ(variable(".global .u64 x;").alignment, 8);
  EXPECT_EQ(variable(".const .b16 x;").space, Space::constant);
  EXPECT_EQ(variable(".weak .global .b8 x[2*(3+1)];").count, 8);
  EXPECT_EQ(variable(".common .global .b128 x;").size(), 16);
}

TEST(Variable, MayBeAVector) {
  const Variable v = variable(".global .v4 .f32 v[3];");
  EXPECT_EQ(v.count, 12);
  EXPECT_EQ(v.alignment, 16);
}

TEST(Variable, MayBeSizedAtLaunch) {
  const Variable dynamic = variable(".extern .shared .align 16 .b8 dynamic[];");
  EXPECT_TRUE(dynamic.is_external);
  EXPECT_EQ(dynamic.count, 0);
  EXPECT_EQ(dynamic.size(), 0);
}

TEST(Variable, MayBeManyInOneDeclaration) {
  const Module module = parse_module(".global .u32 a, b[4], c = 3;");
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[1].count, 4);
  EXPECT_EQ(values<std::uint32_t>(module.variables[2]), Words{3});
}

TEST(Variable, IgnoresAttributes) {
  EXPECT_EQ(variable(".global .attribute(.managed) .align 4 .u32 x;").name, "x");
  EXPECT_EQ(variable(".global .attribute(.unified(0xAB, 0xCD)) .u32 x;").name, "x");
}

TEST(Variable, ReplacesItsExternalDeclaration) {
  const Module module =
      parse_module(".extern .global .u32 x;\n.visible .global .u32 x = 5;\n.extern .global .u32 x;");
  ASSERT_EQ(module.variables.size(), 1U);
  EXPECT_FALSE(module.variables[0].is_external);
  EXPECT_EQ(values<std::uint32_t>(module.variables[0]), Words{5});
}

TEST(Initialiser, FillsArrays) {
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 x[4] = {1, 2, -3};")), (Words{1, 2, 0xfffffffdU}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 x[2] = {};")), Words{});
  EXPECT_EQ(values<std::uint8_t>(variable(".global .b8 x[3] = {255, -1, 0x101};")),
            (std::vector<std::uint8_t>{255, 255, 1}));
  EXPECT_EQ(values<std::int64_t>(variable(".const .s64 x = -2;")), std::vector<std::int64_t>{-2});
  EXPECT_EQ(values<std::int64_t>(variable(".global .b128 x = -2;")), (std::vector<std::int64_t>{-2, -1}));
}

TEST(Initialiser, MayLeaveOutInnerElements) {
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 x[2][3] = {{1}, {2, 3}};")), (Words{1, 0, 0, 2, 3}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .v2 .u32 x[2] = {{1, 2}, {3}};")), (Words{1, 2, 3}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .v2 .u32 x = {1, 2};")), (Words{1, 2}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 x[2][2] = {1, 2, {3, 4}};")), (Words{1, 2, 3, 4}));
}

TEST(Initialiser, DecidesAnOpenLength) {
  EXPECT_EQ(variable(".global .u32 x[] = {1, 2, 3};").count, 3);
  EXPECT_EQ(variable(".global .u32 x[][2] = {{1}, {2, 3}, {4}};").count, 6);
  EXPECT_EQ(variable(".const .f32 x[][3] = {.5, 1.0, 2.0, 3.0};").count, 6);
}

TEST(Initialiser, RoundsReals) {
  EXPECT_EQ(values<float>(variable(".global .f32 x[3] = {0f3F800000, 0.5, 0d4000000000000000};")),
            (std::vector<float>{1.0F, 0.5F, 2.0F}));
  EXPECT_EQ(values<double>(variable(".global .f64 x[3] = {0f3F800000, -0.25, 0d4000000000000000};")),
            (std::vector<double>{1.0, -0.25, 2.0}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .b32 x = 1.0;")), Words{0x3f800000});
}

TEST(Initialiser, MayBeAnAddress) {
  const Module module = parse_module(
      ".global .u32 y[4];\n.func f;\n.global .u64 x[5] = {y, generic(y)+8, f, 7, generic(y+4)+-8};");
  const Variable& x = module.variables.at(1);
  ASSERT_EQ(x.addresses.size(), 4U);
  EXPECT_EQ(x.initial.size(), 40U);
  EXPECT_EQ(x.addresses[0].symbol, "y");
  EXPECT_EQ(x.addresses[0].offset, 0);
  EXPECT_FALSE(x.addresses[0].is_generic);
  EXPECT_EQ(x.addresses[0].bytes, 8);
  EXPECT_EQ(x.addresses[1].offset, 8);
  EXPECT_EQ(x.addresses[1].addend, 8);
  EXPECT_TRUE(x.addresses[1].is_generic);
  EXPECT_EQ(x.addresses[2].symbol, "f");
  EXPECT_EQ(x.addresses[3].offset, 32);
  EXPECT_EQ(x.addresses[3].addend, -4);
  EXPECT_EQ(x.initial[24], 7);
}

TEST(Initialiser, MayBeOneByteOfAnAddress) {
  const Module module =
      parse_module(".global .u32 y;\n.global .u8 x[3] = {0xff(y), 5, 0xff00(generic(y)+4)};");
  const Variable& x = module.variables.at(1);
  ASSERT_EQ(x.addresses.size(), 2U);
  EXPECT_EQ(x.addresses[0].bytes, 1);
  EXPECT_EQ(x.addresses[0].shift, 0);
  EXPECT_EQ(x.addresses[1].offset, 2);
  EXPECT_EQ(x.addresses[1].shift, 8);
  EXPECT_EQ(x.addresses[1].addend, 4);
  EXPECT_EQ(x.initial, (std::vector<std::uint8_t>{0, 5, 0}));
}

TEST(Initialiser, MayNameLaterSymbols) {
  EXPECT_EQ(parse_module(".global .u64 x = y;\n.global .u32 y;").variables[0].addresses.size(), 1U);
}

TEST(Variable, SaysWhatIsWrong) {
  EXPECT_EQ(module_error(".global .u32 x"),
            "line 4: found the end of the text where `;` after the declaration of a variable is needed");
  EXPECT_EQ(module_error(".global x;"), "line 4: found `x` where the type of the declaration is needed");
  EXPECT_EQ(module_error(".global .u32;"), "line 4: found `;` where the name of a variable is needed");
  EXPECT_EQ(module_error(".global .pred x;"),
            "line 4: found the type `.pred` where one that a variable can have is needed");
  EXPECT_EQ(module_error(".global .u4 x;"),
            "line 4: found the type `.u4` where one that a variable can have is needed");
  EXPECT_EQ(
      module_error(".global .texref x;"),
      "line 4: found `.texref` in a declaration where a type, .align or .v2 is needed: the emulator knows "
      "texture and surface objects, and no .texref");
  EXPECT_EQ(module_error(".global .u32 .u32 x;"),
            "line 4: found `.u32` in a declaration where a type, .align or .v2 is needed");
  EXPECT_EQ(module_error(".global .align 3 .u32 x;"), "line 4: the alignment 3 is not a power of two");
  EXPECT_EQ(module_error(".global .align 0 .u32 x;"),
            "line 4: found `0` where an alignment in bytes from 1 to 1073741824 is needed");
  EXPECT_EQ(module_error(".global .u32 x[-1];"),
            "line 4: the array `x` has the length -1; 0 to 2^40 can be had");
  EXPECT_EQ(module_error(".global .u32 x[1.0];"),
            "line 4: found a real where the length of an array is needed, an integer");
  EXPECT_EQ(module_error(".global .u32 x[0xFFFFFFFFFFFFFFFF];"),
            "line 4: found 18446744073709551615 where the length of an array is needed, less than 2^63");
  EXPECT_EQ(module_error(".global .u32 x[2;"),
            "line 4: found `;` where `]` after the length of an array is needed");
  EXPECT_EQ(
      module_error(".global .u32 x[2][];"),
      "line 4: found `]` where the length of this dimension (only the first may be left open) is needed");
  EXPECT_EQ(module_error(".global .u32 x[];"),
            "line 4: the array `x` has no length: one, an initialiser or .extern is needed");
  EXPECT_EQ(module_error(".global .u32 x<4>;"), "line 4: a range of variables, `x`, cannot be declared");
  EXPECT_EQ(module_error(".global .u32 x;\n.global .u32 x;"),
            "line 5: `x` is declared twice; the first time in line 4");
  EXPECT_EQ(module_error(".func x;\n.global .u32 x;"), "line 5: `x` is declared as a function before");
  EXPECT_EQ(module_error(".global .u32 x;\n.func x;"), "line 5: `x` is declared as a variable before");
  EXPECT_EQ(module_error(".reg .u32 x;"), "line 4: found a declaration of registers outside functions");
  EXPECT_EQ(module_error(".param .u32 x;"), "line 4: found a declaration of parameters outside functions");
  EXPECT_EQ(module_error(".global .attribute(.managed .u32 x;\n"),
            "line 4: `.attribute` begins here and has no end: `)` is needed");
}

TEST(Initialiser, SaysWhatIsWrong) {
  EXPECT_EQ(module_error(".global .u32 x[2] = {1, 2, 3};"),
            "line 4: the initialiser of `x` has more values than the 2 elements there");
  EXPECT_EQ(module_error(".global .u32 x[2][2] = {{1, 2, 3}};"),
            "line 4: the initialiser of `x` has more values than the 2 elements there");
  EXPECT_EQ(module_error(".global .u32 x[2] = 1;"),
            "line 4: found `1` where `{` before the values of an array is needed");
  EXPECT_EQ(module_error(".global .u32 x[2] = {{1}};"),
            "line 4: a brace begins where a value of `x` is needed");
  EXPECT_EQ(module_error(".global .u32 x[2][2] = {1, {2}};"),
            "line 4: a brace begins where a value of `x` is needed");
  EXPECT_EQ(module_error(".global .u32 x[][0] = {{1}};"),
            "line 4: a brace begins where a value of `x` is needed");
  EXPECT_EQ(module_error(".global .u32 x[2] = {1;"),
            "line 4: found `;` where `}` after the values of an array is needed");
  EXPECT_EQ(module_error(".global .u32 x = 1.5;"),
            "line 4: found a real as a value of `x`, whose type needs an integer");
  EXPECT_EQ(module_error(".global .f32 x = 1;"),
            "line 4: found an integer as a value of `x`, whose type needs a real");
  EXPECT_EQ(module_error(".shared .u32 x = 1;"),
            "line 4: `x` has an initialiser; only .global and .const variables have one");
  EXPECT_EQ(module_error(".global .u32 y;\n.global .u32 x = y;"),
            "line 5: the address `y` initialises elements of 4 bytes; 8 are needed");
  EXPECT_EQ(module_error(".global .u64 x = y;"),
            "line 4: `y` is not a register, variable, label or function that the text declares");
  EXPECT_EQ(module_error(".global .u64 x = generic(5);"),
            "line 4: found `5` where the name of a variable or function is needed");
  EXPECT_EQ(
      module_error(".global .u8 x = 0xfff(x);"),
      "line 4: found the mask `0xfff` before an address; 0xff, 0xff00, ... in an array of bytes is needed");
  EXPECT_EQ(
      module_error(".global .u64 x = 0xff(x);"),
      "line 4: found the mask `0xff` before an address; 0xff, 0xff00, ... in an array of bytes is needed");
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
