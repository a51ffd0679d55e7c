// The patterns by which the command and the benchmarks choose among names: * stands for any characters, ? for
// one, | separates alternatives, and everything else for itself. An alternative matches a whole name.
//
// No regular expressions: std::regex overflows the stack on long patterns and takes exponential time on
// nested ones. A match here takes at most length of the pattern times length of the name steps.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::command {

class NamePattern {
 public:
  static constexpr std::size_t longest = 256;
  // For --help.
  static constexpr const char* syntax = "* stands for any characters, ? for one, | separates alternatives";

  // Throws std::invalid_argument with what follows "--option ": a pattern that is too long, or has a
  // character that only a regular expression needs.
  explicit NamePattern(const std::string& text) {
    constexpr std::size_t quoted = 60;
    const std::string quotation = "'" + text.substr(0, quoted) + (text.size() > quoted ? "...'" : "'");
    if (text.size() > longest) {
      throw std::invalid_argument("is " + quotation + " of " + std::to_string(text.size()) +
                                  " characters but a pattern must have at most " + std::to_string(longest));
    }
    if (const std::size_t at = text.find_first_of("()[]{}^$+\\"); at != std::string::npos) {
      throw std::invalid_argument("is " + quotation + " and has '" + text[at] +
                                  "' but must be a pattern of whole names: " + syntax);
    }
    for (std::size_t first = 0;;) {
      const std::size_t bar = text.find('|', first);
      alternatives_.push_back(text.substr(first, bar == std::string::npos ? bar : bar - first));
      if (bar == std::string::npos) break;
      first = bar + 1;
    }
  }

  bool matches(const std::string& name) const {
    for (const std::string& alternative : alternatives_) {
      if (matches(alternative, name)) return true;
    }
    return false;
  }

 private:
  // Where the text after a * does not match, the * takes one character more. Only the last * has to: a
  // shorter match of an earlier one leaves the later ones all that a longer one would.
  static bool matches(const std::string& pattern, const std::string& name) {
    std::size_t p = 0, n = 0, after_star = std::string::npos, taken = 0;
    while (n < name.size()) {
      if (p < pattern.size() && pattern[p] == '*') {
        after_star = ++p;
        taken = n;
      } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
        ++p;
        ++n;
      } else if (after_star != std::string::npos) {
        p = after_star;
        n = ++taken;
      } else {
        return false;
      }
    }
    return pattern.find_first_not_of('*', p) == std::string::npos;
  }

  std::vector<std::string> alternatives_;
};

}  // namespace tenon::command
