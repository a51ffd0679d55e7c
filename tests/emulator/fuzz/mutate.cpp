#include "emulator/fuzz/mutate.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

namespace tenon::emulator::fuzz {
namespace {

const char* const numbers[] = {"0",
                               "1",
                               "2",
                               "-1",
                               "3",
                               "4",
                               "7",
                               "8",
                               "15",
                               "16",
                               "31",
                               "32",
                               "33",
                               "64",
                               "127",
                               "128",
                               "255",
                               "1024",
                               "4095",
                               "4096",
                               "65536",
                               "0x7fffffff",
                               "0x80000000",
                               "0xffffffff",
                               "0f3F800000",
                               "0f7FC00000",
                               "1099511627776",
                               "0x7fffffffffffffff",
                               "0x8000000000000000",
                               "0xffffffffffffffff"};
const char* const types[] = {"b8",     "b16",  "b32",  "b64",  "b128",   "u8",   "u16", "u32",  "u64",
                             "s8",     "s16",  "s32",  "s64",  "f16",    "f32",  "f64", "bf16", "f16x2",
                             "bf16x2", "tf32", "e4m3", "e5m2", "e4m3x2", "pred", "u4",  "s4",   "b1"};
const char* const modifiers[] = {"sat",
                                 "ftz",
                                 "rn",
                                 "rz",
                                 "rm",
                                 "rp",
                                 "rni",
                                 "rzi",
                                 "approx",
                                 "full",
                                 "wide",
                                 "hi",
                                 "lo",
                                 "cc",
                                 "sync",
                                 "aligned",
                                 "volatile",
                                 "relaxed",
                                 "acquire",
                                 "release",
                                 "acq_rel",
                                 "cta",
                                 "cluster",
                                 "gpu",
                                 "sys",
                                 "global",
                                 "shared",
                                 "local",
                                 "param",
                                 "const",
                                 "v2",
                                 "v4",
                                 "v8",
                                 "x1",
                                 "x2",
                                 "x4",
                                 "trans",
                                 "row",
                                 "col",
                                 "add",
                                 "min",
                                 "max",
                                 "and",
                                 "or",
                                 "xor",
                                 "exch",
                                 "cas",
                                 "inc",
                                 "dec",
                                 "eq",
                                 "ne",
                                 "lt",
                                 "le",
                                 "gt",
                                 "ge",
                                 "ltu",
                                 "nan",
                                 "num",
                                 "popc",
                                 "wrap",
                                 "clamp",
                                 "l",
                                 "r",
                                 "up",
                                 "down",
                                 "bfly",
                                 "idx",
                                 "any",
                                 "all",
                                 "uni",
                                 "ballot",
                                 "noinc",
                                 "parity",
                                 "1d",
                                 "2d",
                                 "3d",
                                 "5d",
                                 "tile",
                                 "im2col",
                                 "tensor",
                                 "bulk",
                                 "mbarrier",
                                 "expect_tx",
                                 "shared::cta",
                                 "shared::cluster",
                                 "noComplete",
                                 "commit_group",
                                 "wait_group",
                                 "wait_all",
                                 "complete_tx::bytes",
                                 "multicast::cluster",
                                 "bulk_group",
                                 "read",
                                 "m16n8k16",
                                 "m16n8k8",
                                 "m64n8k16",
                                 "m64n256k16",
                                 "sp",
                                 "satfinite",
                                 "relu",
                                 "xorsign"};

template <class Range>
const auto& pick(const Range& range, Random& random) {
  return *(std::begin(range) + static_cast<std::ptrdiff_t>(random() % std::size(range)));
}

struct Span {
  std::size_t begin = 0, end = 0;
};

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$' || c == ':';
}

// The lines, each with its end.
std::vector<Span> lines_of(const std::string& text) {
  std::vector<Span> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back({at, end});
    at = end;
  }
  return lines;
}

// Words of at most `span`.
std::vector<Span> words_of(const std::string& text, Span span) {
  std::vector<Span> words;
  for (std::size_t at = span.begin; at < span.end;) {
    if (!is_of_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < span.end && is_of_word(text[end])) ++end;
    words.push_back({at, end});
    at = end;
  }
  return words;
}

std::string part(const std::string& text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

enum class Kind { reg, modifier, number, name };
Kind kind_of(const std::string& text, Span word) {
  if (text[word.begin] == '%') return Kind::reg;
  if (word.begin > 0 && text[word.begin - 1] == '.') return Kind::modifier;
  return std::isdigit(static_cast<unsigned char>(text[word.begin])) ? Kind::number : Kind::name;
}

// Another word of the same kind, from nearby in the text or from the tables above.
std::string substitute(const std::string& text, Span word, Random& random) {
  const Kind kind = kind_of(text, word);
  if (kind == Kind::number && random() % 4 != 0) return pick(numbers, random);
  if (kind == Kind::modifier && random() % 3 != 0) {
    const std::string old = part(text, word);
    const bool is_type = std::find(std::begin(types), std::end(types), old) != std::end(types);
    return is_type || random() % 8 == 0 ? pick(types, random) : pick(modifiers, random);
  }
  if (kind == Kind::reg && random() % 8 == 0) return pick(numbers, random);
  constexpr std::size_t near = 600;
  const std::size_t begin = word.begin > near ? word.begin - near : 0;
  const std::vector<Span> words = words_of(text, {begin, std::min(text.size(), word.end + near)});
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Span other = pick(words, random);
    if (kind_of(text, other) == kind) return part(text, other);
  }
  return part(text, word);
}

// The operands of a line, as spans between commas outside brackets.
std::vector<Span> operands_of(const std::string& text, Span line) {
  std::vector<Span> operands;
  std::size_t at = text.find_first_of(" \t", std::min(text.find_first_not_of(" \t", line.begin), line.end));
  if (at == std::string::npos || at >= line.end) return operands;
  int depth = 0;
  std::size_t begin = at + 1;
  for (at = begin; at < line.end; ++at) {
    const char c = text[at];
    depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    if ((c == ',' && depth == 0) || c == ';') {
      operands.push_back({begin, at});
      begin = at + 1;
      if (c == ';') break;
    }
  }
  return operands;
}

void change_line(std::string& text, const std::string& donor, Random& random) {
  const std::vector<Span> lines = lines_of(text);
  const Span line = pick(lines, random), other = pick(lines, random);
  switch (random() % 5) {
    case 0:
      text.erase(line.begin, line.end - line.begin);
      break;
    case 1:
      text.insert(other.begin, part(text, line));
      break;
    case 2: {
      const std::string moved = part(text, line), replaced = part(text, other);
      if (line.begin == other.begin) break;
      const Span first = std::min(line.begin, other.begin) == line.begin ? line : other;
      const Span second = first.begin == line.begin ? other : line;
      const std::string a = part(text, first), b = part(text, second);
      text.replace(second.begin, second.end - second.begin, a);
      text.replace(first.begin, first.end - first.begin, b);
      break;
    }
    default: {
      if (donor.empty()) break;
      const std::vector<Span> gifts = lines_of(donor);
      const auto first = static_cast<std::size_t>(random() % gifts.size());
      const std::size_t last = std::min<std::size_t>(gifts.size() - 1, first + random() % 3);
      text.insert(line.begin, donor.substr(gifts[first].begin, gifts[last].end - gifts[first].begin));
    }
  }
}

void change_operands(std::string& text, Random& random) {
  const std::vector<Span> operands = operands_of(text, pick(lines_of(text), random));
  if (operands.empty()) return;
  const Span one = pick(operands, random), other = pick(operands, random);
  switch (random() % 3) {
    case 0:
      text.replace(one.begin, one.end - one.begin, part(text, other));
      break;
    case 1:
      text.insert(one.end, "," + part(text, other));
      break;
    default:
      text.erase(one.begin, std::min(text.size() - one.begin, one.end + 1 - one.begin));
  }
}

void change_word(std::string& text, Random& random) {
  const std::vector<Span> words = words_of(text, {0, text.size()});
  if (words.empty()) return;
  const Span word = pick(words, random);
  const bool is_modifier = kind_of(text, word) == Kind::modifier;
  switch (random() % 8) {
    case 0:
      if (is_modifier) text.erase(word.begin - 1, word.end - word.begin + 1);
      break;
    case 1:
      if (is_modifier) text.insert(word.end, std::string(".") + pick(modifiers, random));
      break;
    default:
      text.replace(word.begin, word.end - word.begin, substitute(text, word, random));
  }
}

}  // namespace

std::string mutate(const std::string& text, const std::string& donor, std::size_t most, Random& random) {
  std::string changed = text.empty() ? donor : text;
  for (std::uint64_t changes = 1 + random() % 4; changes > 0 && !changed.empty(); --changes) {
    const std::uint64_t choice = random() % 16;
    if (choice < 5)
      change_line(changed, donor, random);
    else if (choice < 7)
      change_operands(changed, random);
    else if (choice < 15)
      change_word(changed, random);
    else
      changed[random() % changed.size()] = static_cast<char>(random());
  }
  if (changed.size() > most) changed.resize(most);
  return changed;
}

}  // namespace tenon::emulator::fuzz
