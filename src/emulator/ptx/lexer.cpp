#include "emulator/ptx/lexer.hpp"

#include <limits>

namespace tenon::emulator::ptx {
namespace {

// Not <cctype>: its answers depend on the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_start(char c) {
  return is_letter(c) || c == '_' || c == '$';
}
bool is_name_part(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4 + 1);
    for (;;) {
      const std::size_t before = position_;
      skip_blank();
      const bool glued = before == position_ && !tokens.empty();
      if (position_ >= text_.size()) break;
      tokens.push_back(next());
      tokens.back().glued = glued;
    }
    tokens.push_back({Token::Kind::end_text, false, line_, {}});
    return tokens;
  }

 private:
  char at(std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void skip_line() {
    while (position_ < text_.size() && text_[position_] != '\n') ++position_;
  }

  void skip_comment() {
    const int begin = line_;
    const std::size_t end = text_.find("*/", position_ + 2);
    if (end == std::string_view::npos)
      throw Error(begin, "the comment that begins here has no end: */ is needed");
    for (; position_ < end + 2; ++position_) line_ += text_[position_] == '\n';
  }

  void skip_blank() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\n') {
        ++line_;
        ++position_;
        at_line_start_ = true;
      } else if (is_space(c)) {
        ++position_;
      } else if ((c == '/' && at(1) == '/') || (c == '@' && at(1) == '@')) {
        skip_line();  // @@: debugging information before PTX 2.0
      } else if (c == '/' && at(1) == '*') {
        skip_comment();
      } else if (c == '#' && at_line_start_) {
        skip_marker();
      } else {
        at_line_start_ = false;
        return;
      }
    }
  }

  // `# 12 "file"` and `#line 12`, left by preprocessors.
  void skip_marker() {
    const std::size_t begin = position_;
    skip_line();
    std::size_t i = begin + 1;
    while (i < position_ && is_space(text_[i])) ++i;
    if (i < position_ && !is_digit(text_[i]) && text_.substr(i, 4) != "line") {
      throw Error(line_, "found the preprocessor line " + cited(text_.substr(begin, position_ - begin)) +
                             ": the text must be preprocessed first");
    }
  }

  Token next() {
    const char c = text_[position_];
    // %r1 is a name, %3 too; the remainder of a division has a blank after it.
    if (is_name_start(c) || (c == '%' && is_name_part(at(1)))) return word();
    if (is_digit(c)) return number();
    if (c == '.') return dot();
    if (c == '"') return string();
    return mark();
  }

  Token token(Token::Kind kind, std::size_t length) {
    const Token result{kind, false, line_, text_.substr(position_, length)};
    position_ += length;
    return result;
  }

  Token word() {
    std::size_t length = 1;
    while (is_name_part(at(length))) ++length;
    return token(Token::Kind::word, length);
  }

  // A modifier or directive; or, without a name before it, a number such as .5
  Token dot() {
    if (is_digit(at(1)) && !(position_ > 0 && is_name_part(text_[position_ - 1]))) return number();
    std::size_t length = 1;
    while (is_name_part(at(length))) ++length;
    if (length == 1) throw Error(line_, "found a dot with no name after it");
    while (at(length) == ':' && at(length + 1) == ':' && is_name_part(at(length + 2))) {
      length += 2;
      while (is_name_part(at(length))) ++length;
    }
    return token(Token::Kind::dotted, length);
  }

  Token number() {
    std::size_t length = 0;
    if (at(0) == '0' && is_letter(at(1)) && at(1) != 'e' && at(1) != 'E') {
      length = 2;  // 0x 0b 0f 0d, or a malformed one
    } else {
      while (is_digit(at(length))) ++length;
      if (at(length) == '.') ++length;
      while (is_digit(at(length))) ++length;
      if (at(length) == 'e' || at(length) == 'E') {
        const bool is_signed = at(length + 1) == '+' || at(length + 1) == '-';
        if (is_digit(at(length + 1 + (is_signed ? 1 : 0)))) length += is_signed ? 2 : 1;
      }
    }
    while (is_name_part(at(length))) ++length;
    return token(Token::Kind::number, length);
  }

  Token string() {
    std::size_t length = 1;
    for (;; ++length) {
      if (position_ + length >= text_.size() || at(length) == '\n')
        throw Error(line_, "the string that begins here has no end on its line: \" is needed");
      if (at(length) == '"') break;
      if (at(length) == '\\' && position_ + length + 1 < text_.size() && at(length + 1) != '\n') ++length;
    }
    Token result = token(Token::Kind::string, length + 1);
    result.text = result.text.substr(1, length - 1);
    return result;
  }

  Token mark() {
    for (const std::string_view two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
      if (text_.substr(position_, 2) == two) return token(Token::Kind::mark, 2);
    }
    constexpr std::string_view marks = ",;:{}[]()<>+-*/%!~&|^=?@";
    if (marks.find(text_[position_]) != std::string_view::npos) return token(Token::Kind::mark, 1);
    throw Error(line_, "found " + cited(text_.substr(position_, 1)) + ", which begins no word of PTX");
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  static_assert(longest < std::numeric_limits<int>::max(), "lines are counted in an int");
  if (text.size() > longest)
    throw Error(0, "the text has " + std::to_string(text.size()) + " bytes; at most 2^30 are read");
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);  // a C string copied with its end
  return Lexer(text).run();
}

std::string cited(std::string_view piece) {
  constexpr std::size_t longest = 60;
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "`";
  for (const char c : piece.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += digits[byte / 16];
      result += digits[byte % 16];
    }
  }
  return result + (piece.size() > longest ? "...`" : "`");
}

std::string cited(const Token& token) {
  if (token.kind == Token::Kind::end_text) return "the end of the text";
  if (token.kind == Token::Kind::string) return "the string " + cited(token.text);
  return cited(token.text);
}

}  // namespace tenon::emulator::ptx
