#include "emulator/ptx/lexer.hpp"

#include <gtest/gtest.h>

namespace tenon::emulator::ptx {
namespace {

using Kind = Token::Kind;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text)) result.emplace_back(token.text);
  result.pop_back();
  return result;
}

std::string error_of(const std::string& text) {
  try {
    for (const Token& token : tokenize(text)) {
      if (token.kind == Kind::number) literal(token);
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Constant value_of(const std::string& text) {
  const std::vector<Token> tokens = tokenize(text);
  EXPECT_EQ(tokens.size(), 2U) << text;
  EXPECT_EQ(tokens[0].kind, Kind::number) << text;
  return literal(tokens[0]);
}

using Words = std::vector<std::string>;

TEST(Lexer, SplitsModifiersAndKeepsColonPairsTogether) {
  EXPECT_EQ(words("cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes [a],b;"),
            (Words{"cp", ".async", ".bulk", ".shared::cluster", ".mbarrier::complete_tx::bytes", "[", "a",
                   "]", ",", "b", ";"}));
}

TEST(Lexer, ReadsModifiersThatBeginWithDigits) {
  EXPECT_EQ(words("tcgen05.cp.128x128b.warpx2::02_13.64x128b"),
            (Words{"tcgen05", ".cp", ".128x128b", ".warpx2::02_13", ".64x128b"}));
}

TEST(Lexer, ReadsNamesWithDollarPercentAndUnderscore) {
  EXPECT_EQ(words("$L__BB0_1 %r1 _ _x$y a%b"), (Words{"$L__BB0_1", "%r1", "_", "_x$y", "a", "%b"}));
}

TEST(Lexer, KnowsWhichTokensAreAdjacent) {
  const std::vector<Token> tokens = tokenize("%tid.x %tid .x a/**/b");
  EXPECT_TRUE(tokens[1].glued);
  EXPECT_FALSE(tokens[3].glued);
  EXPECT_FALSE(tokens[5].glued);
}

TEST(Lexer, LeavesOutCommentsMarkersAndOldDebugLines) {
  EXPECT_EQ(words("a // b\n/* c\n * d **/ e\n# 12 \"file.cu\"\n  #line 3\n@@DWARF .section x, y $\n@p f"),
            (Words{"a", "e", "@", "p", "f"}));
}

TEST(Lexer, CountsLinesThroughCommentsAndReturns) {
  const std::vector<Token> tokens = tokenize("a\r\n/*\n\n*/b\n// x\nc");
  EXPECT_EQ(tokens[0].line, 1);
  EXPECT_EQ(tokens[1].line, 4);
  EXPECT_EQ(tokens[2].line, 6);
  EXPECT_EQ(tokens[3].kind, Kind::end_text);
}

TEST(Lexer, ReadsStringsWithEscapes) {
  const std::vector<Token> tokens = tokenize(R"("a\"b" "")");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[0].kind, Kind::string);
  EXPECT_EQ(tokens[0].text, R"(a\"b)");
  EXPECT_EQ(tokens[1].text, "");
}

TEST(Lexer, ReadsMarksOfTwoCharacters) {
  EXPECT_EQ(words("a<<2>>1<=2>=3==4!=5&&6||7|8"),
            (Words{"a", "<<", "2", ">>", "1", "<=", "2", ">=", "3", "==", "4", "!=", "5", "&&", "6", "||",
                   "7", "|", "8"}));
}

TEST(Lexer, EndsWithTheZeroByteOfACString) {
  EXPECT_EQ(words(std::string("a b\0\0", 5)), (Words{"a", "b"}));
}

TEST(Lexer, NamesWhatItCannotRead) {
  EXPECT_EQ(error_of("a\n \x01"), "line 2: found `\\x01`, which begins no word of PTX");
  EXPECT_EQ(error_of(std::string("a\0b", 3)), "line 1: found `\\x00`, which begins no word of PTX");
  EXPECT_EQ(error_of("\xc3\xa4"), "line 1: found `\\xc3`, which begins no word of PTX");
  EXPECT_EQ(error_of("a . b"), "line 1: found a dot with no name after it");
  EXPECT_EQ(error_of("a\n/* b\n"), "line 2: the comment that begins here has no end: */ is needed");
  EXPECT_EQ(error_of("/*/"), "line 1: the comment that begins here has no end: */ is needed");
  EXPECT_EQ(error_of("\"abc\n\""),
            "line 1: the string that begins here has no end on its line: \" is needed");
  EXPECT_EQ(error_of("\"abc\\"), "line 1: the string that begins here has no end on its line: \" is needed");
  EXPECT_EQ(error_of("#define X 1"),
            "line 1: found the preprocessor line `#define X 1`: the text must be preprocessed first");
  EXPECT_EQ(error_of("a #"), "line 1: found `#`, which begins no word of PTX");
}

TEST(Literal, ReadsIntegersOfEveryBase) {
  for (const auto& [text, bits] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"0", 0},
                                                          {"17", 17},
                                                          {"017", 15},
                                                          {"0x1fF", 0x1ff},
                                                          {"0X10", 16},
                                                          {"0b101", 5},
                                                          {"0B11U", 3},
                                                          {"42U", 42},
                                                          {"0U", 0},
                                                          {"18446744073709551615", ~0ULL},
                                                          {"0xFFFFFFFFFFFFFFFF", ~0ULL}}) {
    const Constant value = value_of(text);
    EXPECT_EQ(value.kind, Immediate::Kind::integer) << text;
    EXPECT_EQ(value.bits, bits) << text;
  }
}

TEST(Literal, IsUnsignedWithUAndWhereNoSignedNumberFits) {
  EXPECT_FALSE(value_of("1").is_unsigned);
  EXPECT_TRUE(value_of("1U").is_unsigned);
  EXPECT_FALSE(value_of("0x7FFFFFFFFFFFFFFF").is_unsigned);
  EXPECT_TRUE(value_of("0x8000000000000000").is_unsigned);
}

TEST(Literal, ReadsReals) {
  EXPECT_EQ(value_of("0f3F800000").kind, Immediate::Kind::f32_bits);
  EXPECT_EQ(value_of("0F3f80000a").bits, 0x3f80000aU);
  EXPECT_EQ(value_of("0d3FF0000000000000").kind, Immediate::Kind::f64_bits);
  EXPECT_EQ(value_of("0D3FF000000000000F").bits, 0x3ff000000000000fU);
  for (const auto& [text, bits] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"1.5", 0x3ff8000000000000},
                                                          {".5", 0x3fe0000000000000},
                                                          {"5.", 0x4014000000000000},
                                                          {"2e1", 0x4034000000000000},
                                                          {"2.5E-1", 0x3fd0000000000000},
                                                          {"0.0", 0},
                                                          {"0e+5", 0},
                                                          {"1.e2", 0x4059000000000000},
                                                          {"4.9e-324", 1},
                                                          {"1e-310", 0x000012688b70e62b}}) {
    EXPECT_EQ(value_of(text).kind, Immediate::Kind::f64_bits) << text;
    EXPECT_EQ(value_of(text).bits, bits) << text;
  }
}

TEST(Literal, SaysWhatIsMalformedOrTooLarge) {
  EXPECT_EQ(error_of("12ab"), "line 1: the number `12ab` is malformed: decimal digits are needed");
  EXPECT_EQ(error_of("09"), "line 1: the number `09` is malformed: octal digits are needed after 0");
  EXPECT_EQ(error_of("0xg"), "line 1: the number `0xg` is malformed: hexadecimal digits are needed");
  EXPECT_EQ(error_of("0x"), "line 1: the number `0x` is malformed: hexadecimal digits are needed");
  EXPECT_EQ(error_of("0b2"), "line 1: the number `0b2` is malformed: binary digits are needed");
  EXPECT_EQ(error_of("0f3F8"), "line 1: the number `0f3F8` is malformed: 8 hexadecimal digits are needed");
  EXPECT_EQ(error_of("0f3F8000000"),
            "line 1: the number `0f3F8000000` is malformed: 8 hexadecimal digits are needed");
  EXPECT_EQ(error_of("0d3FF000000000000"),
            "line 1: the number `0d3FF000000000000` is malformed: 16 hexadecimal digits are needed");
  EXPECT_EQ(error_of("1.5x"),
            "line 1: the number `1.5x` is malformed: digits with a decimal point or an exponent are needed");
  EXPECT_EQ(error_of("18446744073709551616"),
            "line 1: the number `18446744073709551616` does not fit into 64 bits");
  EXPECT_EQ(error_of("0x10000000000000000"),
            "line 1: the number `0x10000000000000000` does not fit into 64 bits");
  EXPECT_EQ(error_of("1.5e"),
            "line 1: the number `1.5e` is malformed: digits with a decimal point or an exponent are needed");
  EXPECT_EQ(error_of("1e999"), "line 1: the number `1e999` is outside the range of an f64");
  EXPECT_EQ(error_of("1e-999"), "line 1: the number `1e-999` is outside the range of an f64");
}

TEST(Lexer, TruncatesWhatItQuotes) {
  EXPECT_EQ(cited(std::string(70, 'a')), "`" + std::string(60, 'a') + "...`");
  EXPECT_EQ(cited(Token{}), "the end of the text");
}

}  // namespace
}  // namespace tenon::emulator::ptx
