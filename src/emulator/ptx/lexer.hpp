// The tokens of a PTX text (PTX ISA 4). Comments, white space, `#` line markers and old `@@DWARF` lines are
// dropped; every other byte belongs to exactly one token. Includes nothing but module.hpp, for Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    word,      // add, %r1, $L__BB0_1, _
    dotted,    // .f32, .shared::cta, .128x128b: the text begins with the dot
    number,    // 12, 0x1FU, 0f3F800000, 1.5e-3, .5: not yet checked, see literal()
    string,    // "...": the text is what is between the quotes
    mark,      // one of the marks of PTX, or << >> <= >= == != && ||
    end_text,  // after the last token, repeatedly
  };
  Kind kind = Kind::end_text;
  bool glued = false;  // directly after the previous token
  int line = 0;
  std::string_view text;  // of the text that was given

  bool is(char mark) const { return kind == Kind::mark && text.size() == 1 && text[0] == mark; }
  bool is_mark(std::string_view mark) const { return kind == Kind::mark && text == mark; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
  bool is_dotted(std::string_view word) const { return kind == Kind::dotted && text == word; }
};

// The tokens point into the text, which must outlive them. Throws Error at a byte that begins no token, and
// at a comment or string that does not end.
std::vector<Token> tokenize(std::string_view text);

// "`add`", "the end of the text": a token's name in a sentence.
std::string cited(const Token& token);
// A part of the text in backquotes, shortened and escaped so that a message stays one readable line.
std::string cited(std::string_view piece);

// The value of a number token (PTX ISA 4.5). Throws Error if it is malformed or too large.
struct Constant {
  Immediate::Kind kind = Immediate::Kind::integer;
  bool is_unsigned = false;  // u64 rather than s64
  std::uint64_t bits = 0;
};
Constant literal(const Token& number);

}  // namespace tenon::emulator::ptx
