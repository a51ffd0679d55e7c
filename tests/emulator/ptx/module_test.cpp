// The directives of a whole text.
#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

TEST(Module, HasAVersionATargetAndFiles) {
  const Module module = parse(
      "//\n.version 8.10\n.target sm_100a, texmode_independent, debug\n.address_size 64\n.file 1 \"a b.cu\"\n"
      ".file 12 \"c.h\", 1700000000, 4096\n.pragma \"x\";\n.section .debug_str { x: .b8 1,2 }\n");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 10);
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_EQ(module.address_size, 64);
  EXPECT_EQ(module.files.at(1), "a b.cu");
  EXPECT_EQ(module.files.at(12), "c.h");
}

TEST(Module, MayLeaveOutTheAddressSize) {
  EXPECT_EQ(parse(".version 9.0\n.target sm_80").address_size, 64);
}

TEST(Module, SaysWhatIsMissing) {
  EXPECT_EQ(error_of(""),
            "line 1: found the end of the text where `.version`, which begins every PTX text, is needed");
  EXPECT_EQ(error_of("\n.target sm_80"),
            "line 2: found `.target` where `.version`, which begins every PTX text, is needed");
  EXPECT_EQ(error_of(".version 9.0"), "line 0: the text has no `.target`");
  EXPECT_EQ(error_of(".version 9\n"), "line 1: found `9` where a version such as 8.4 is needed");
  EXPECT_EQ(error_of(".version 9.x\n"), "line 1: found `9.x` where a version such as 8.4 is needed");
  EXPECT_EQ(error_of(".version 1e3.5"), "line 1: found `1e3` where a version such as 8.4 is needed");
  EXPECT_EQ(error_of(".version x"), "line 1: found `x` where a version such as 8.4 is needed");
  EXPECT_EQ(error_of(".version 123456789012345678.0"),
            "line 1: found `123456789012345678.0` where a version such as 8.4 is needed");
  EXPECT_EQ(error_of(".version"), "line 1: found the end of the text where a version such as 8.4 is needed");
}

TEST(Module, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(".version 9.0 .target debug"),
            "line 1: `.target` names no architecture: sm_80 or another is needed");
  EXPECT_EQ(error_of(".version 9.0 .target 80"), "line 1: found `80` where the name of a target is needed");
  EXPECT_EQ(module_error(".target sm_80"),
            "line 4: the target `sm_80` follows the target `sm_90a`; one is needed");
  EXPECT_EQ(module_error(".address_size 32"), "line 4: found addresses of 32 bits; 64 are needed");
  EXPECT_EQ(module_error(".surprise 5;"), "line 4: the directive `.surprise` is not known outside functions");
  EXPECT_EQ(module_error(".visible .surprise 5;"),
            "line 4: the directive `.surprise` is not known outside functions");
  EXPECT_EQ(module_error("add.s32 a, b, c;"), "line 4: found `add` where a directive is needed");
  EXPECT_EQ(module_error(".file x"), "line 4: found `x` where the number of a file is needed");
  EXPECT_EQ(module_error(".file 1 x"), "line 4: found `x` where the name of a file in quotes is needed");
  EXPECT_EQ(module_error(".file 99999999999 \"x\""),
            "line 4: found `99999999999` where the number of a file from 0 to 2147483647 is needed");
  EXPECT_EQ(module_error(".section .debug_info\n{ {\n}"),
            "line 5: `.section` begins here and has no end: `}` is needed");
  EXPECT_EQ(module_error(".section .debug_info 5"), "line 4: found `5` where `{` after `.section` is needed");
}

TEST(Type, HasASizeInBytes) {
  EXPECT_EQ(bytes(Type::b8), 1);
  EXPECT_EQ(bytes(Type::e4m3x2), 2);
  EXPECT_EQ(bytes(Type::bf16x2), 4);
  EXPECT_EQ(bytes(Type::tf32), 4);
  EXPECT_EQ(bytes(Type::f64), 8);
  EXPECT_EQ(bytes(Type::b128), 16);
  EXPECT_EQ(bytes(Type::pred), 0);
  EXPECT_EQ(bytes(Type::none), 0);
  EXPECT_EQ(bytes(Type::s4), 0);
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
