// A position in the tokens of a text, and the sentence for an error there: what was found, what is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/lexer.hpp"

namespace tenon::emulator::ptx {

class Cursor {
 public:
  explicit Cursor(const std::vector<Token>& tokens) : tokens_(&tokens) {}

  const Token& peek(std::size_t ahead = 0) const {
    return (*tokens_)[index_ + ahead < tokens_->size() ? index_ + ahead : tokens_->size() - 1];
  }
  Token take() {
    const Token token = peek();
    if (index_ + 1 < tokens_->size()) ++index_;
    return token;
  }
  bool at_end() const { return peek().kind == Token::Kind::end_text; }
  int line() const { return peek().line; }

  bool accept(char mark) {
    if (!peek().is(mark)) return false;
    take();
    return true;
  }
  bool accept_dotted(std::string_view text) {
    if (!peek().is_dotted(text)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view text) {
    if (!peek().is_word(text)) return false;
    take();
    return true;
  }

  // These throw if the next token is another. where: "after the parameters of `f`".
  void expect(char mark, const std::string& where) {
    if (!accept(mark)) fail(cited(std::string_view(&mark, 1)) + " " + where);
  }
  std::string name(const std::string& needed) {
    if (peek().kind != Token::Kind::word) fail(needed);
    return std::string(take().text);
  }
  // A plain integer between two bounds, as directives take it.
  std::int64_t integer(const std::string& what, std::int64_t least, std::int64_t most) {
    if (peek().kind != Token::Kind::number) fail(what);
    const Token number = take();
    const Constant value = literal(number);
    if (value.kind != Immediate::Kind::integer || value.bits > static_cast<std::uint64_t>(most) ||
        value.bits < static_cast<std::uint64_t>(least)) {
      throw Error(number.line, "found " + cited(number) + " where " + what + " from " +
                                   std::to_string(least) + " to " + std::to_string(most) + " is needed");
    }
    return static_cast<std::int64_t>(value.bits);
  }

  // needed: "the name of a function".
  [[noreturn]] void fail(const std::string& needed) const {
    throw Error(line(), "found " + cited(peek()) + " where " + needed + " is needed");
  }

 private:
  const std::vector<Token>* tokens_;  // ends with an end_text
  std::size_t index_ = 0;
};

}  // namespace tenon::emulator::ptx
