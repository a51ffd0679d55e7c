// The reader and the writer of tuning_text.hpp.
//
// Not a JSON library, because every user of gemm() would then need it. A table is one object with a list of
// flat objects, so the reader needs no recursion.
#include "host/tuning_text.hpp"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "host/validate.hpp"

namespace tenon {
namespace {

constexpr int format_version = 1;

// Twice as many as any object has. Duplicates are found by a linear search, which this bounds.
constexpr std::size_t most_members = 32;

// A text, or the spelling of a number, of true or of false.
struct Value {
  enum class Kind { text, number, boolean } kind = Kind::text;
  std::string spelling;
};

struct Member {
  std::string name;
  Value value;
  int line = 0;
};

struct Object {
  int line = 0;
  std::vector<Member> members;
};

// The value of the spelling of a number, whatever the program's locale. (std::from_chars of libstdc++ 9 and
// 10 reads no double.)
double real(const std::string& spelling) noexcept {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(spelling.c_str(), nullptr, plain);
}

// The first error, as a sentence that names its line of the text.
class Refusals {
 public:
  explicit Refusals(const char* where) : where_(where) {}

  // Always returns false.
  [[gnu::format(printf, 3, 4)]] bool refuse(int line, const char* format, ...) noexcept {
    char sentence[256];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    status_ = Status(StatusCode::invalid_argument, "%.120s, line %d: %s", where_, line, sentence);
    return false;
  }
  const Status& status() const noexcept { return status_; }

 private:
  const char* where_;
  Status status_;
};

// Parses text into objects. Every function returns false after a refusal.
class Reader {
 public:
  Reader(const char* text, std::size_t size, Refusals* refusals)
      : at_(text), end_(text + size), refusals_(*refusals) {}

  // Reads the outer object, and the objects of its list "entries".
  bool document(Object* outer, std::vector<Object>* entries) {
    skip_space();
    if (!object(outer, entries)) return false;
    skip_space();
    return at_ == end_ || unexpected("the end of the text");
  }

 private:
  bool unexpected(const char* needed) noexcept {
    if (at_ == end_) return refusals_.refuse(line_, "the text ends where %s is needed", needed);
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte > 0x20 && byte < 0x7F)
      return refusals_.refuse(line_, "found '%c' where %s is needed", byte, needed);
    return refusals_.refuse(line_, "found the byte 0x%02X where %s is needed", byte, needed);
  }

  void skip_space() noexcept {
    for (; at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'); ++at_) {
      if (*at_ == '\n') ++line_;
    }
  }

  bool next_is(char wanted) const noexcept { return at_ != end_ && *at_ == wanted; }
  bool take(char wanted) noexcept {
    if (!next_is(wanted)) return false;
    ++at_;
    return true;
  }

  // Reads ",", after which there is *more, or the closing bracket.
  bool continue_list(char close, bool* more) noexcept {
    skip_space();
    *more = take(',');
    skip_space();
    if (*more || take(close)) return true;
    return unexpected(close == '}' ? "',' or '}'" : "',' or ']'");
  }

  bool object(Object* result, std::vector<Object>* entries) {
    result->line = line_;
    if (!take('{')) return unexpected("'{'");
    skip_space();
    if (take('}')) return true;
    for (bool more = true; more;) {
      Member member;
      member.line = line_;
      if (!string(&member.name)) return false;
      if (result->members.size() == most_members) {
        return refusals_.refuse(line_, "an object has more than %zu members", most_members);
      }
      for (const Member& earlier : result->members) {
        if (earlier.name == member.name) return twice(member.name);
      }
      skip_space();
      if (!take(':')) return unexpected("':'");
      skip_space();
      if (entries != nullptr && member.name == "entries") {
        if (seen_entries_) return twice(member.name);
        seen_entries_ = true;
        if (!list(entries)) return false;
      } else {
        if (!value(&member.value)) return false;
        result->members.push_back(std::move(member));
      }
      if (!continue_list('}', &more)) return false;
    }
    return true;
  }

  bool twice(const std::string& name) noexcept {
    return refusals_.refuse(line_, "the member \"%.40s\" occurs twice in the same object", name.c_str());
  }

  bool list(std::vector<Object>* entries) {
    if (!take('[')) return unexpected("'['");
    skip_space();
    if (take(']')) return true;
    for (bool more = true; more;) {
      entries->emplace_back();
      if (!object(&entries->back(), nullptr) || !continue_list(']', &more)) return false;
    }
    return true;
  }

  bool string(std::string* result) {
    if (!take('"')) return unexpected("'\"'");
    while (at_ != end_ && *at_ != '"') {
      const bool escaped = take('\\');
      if (at_ == end_) break;
      const auto byte = static_cast<unsigned char>(*at_);
      if (escaped && byte != '"' && byte != '\\' && byte != '/') {
        return unexpected("'\"', '\\' or '/' after '\\'");
      }
      if (byte < 0x20 || byte > 0x7E) return unexpected("printable ASCII");
      result->push_back(*at_++);
    }
    return take('"') || unexpected("'\"'");
  }

  bool value(Value* result) {
    if (next_is('"')) return string(&result->spelling);
    const auto belongs_to_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
             c == '-' || c == '.';
    };
    const char* const begin = at_;
    while (at_ != end_ && belongs_to_word(*at_)) ++at_;
    result->spelling.assign(begin, at_);
    if (result->spelling == "true" || result->spelling == "false") {
      result->kind = Value::Kind::boolean;
      return true;
    }
    result->kind = Value::Kind::number;
    if (is_number(result->spelling.c_str())) return true;
    if (result->spelling.empty()) return unexpected("text, a number, true or false");
    return refusals_.refuse(line_, "found '%.40s' where text, a number, true or false is needed",
                            result->spelling.c_str());
  }

  // A number as in JSON: -0.5e+3, without leading zeros.
  static bool is_number(const char* p) noexcept {
    const auto digits = [&p] {
      const char* const first = p;
      while (*p >= '0' && *p <= '9') ++p;
      return p - first;
    };
    if (*p == '-') ++p;
    const bool zero = *p == '0';
    const auto whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (*p == '.' && (++p, digits() == 0)) return false;
    if (*p == 'e' || *p == 'E') {
      ++p;
      if (*p == '+' || *p == '-') ++p;
      if (digits() == 0) return false;
    }
    return *p == '\0';
  }

  const char* at_;
  const char* end_;
  int line_ = 1;
  bool seen_entries_ = false;
  Refusals& refusals_;
};

// Reads the members of one object by name. nothing_else() refuses members that no call has read.
class Members {
 public:
  Members(const Object& object, Refusals* refusals)
      : object_(object), asked_(object.members.size()), refusals_(*refusals) {}

  bool text(const char* name, std::string* result, bool optional = false) {
    const Member* member = find(name);
    if (member == nullptr) return optional || missing(name);
    if (member->value.kind != Value::Kind::text) return wrong(*member, "must be text");
    *result = member->value.spelling;
    return true;
  }

  bool kernel(const char* name, std::string* result) {
    if (!text(name, result)) return false;
    return !result->empty() || wrong(*find(name), "must be the name of a kernel");
  }

  bool boolean(const char* name, bool* result) {
    const Member* member = find(name);
    if (member == nullptr) return missing(name);
    if (member->value.kind != Value::Kind::boolean) return wrong(*member, "must be true or false");
    *result = member->value.spelling == "true";
    return true;
  }

  bool integer(const char* name, std::int64_t least, std::int64_t most, std::int64_t* result) {
    const Member* member = find(name);
    if (member == nullptr) return missing(name);
    const std::string& spelling = member->value.spelling;
    const char *const begin = spelling.data(), *const end = begin + spelling.size();
    const auto [behind, error] = std::from_chars(begin, end, *result);
    if (member->value.kind == Value::Kind::number && error == std::errc() && behind == end &&
        *result >= least && *result <= most) {
      return true;
    }
    char needed[80];
    std::snprintf(needed, sizeof needed, "must be a whole number from %lld to %lld",
                  static_cast<long long>(least), static_cast<long long>(most));
    return wrong(*member, needed);
  }

  bool integer(const char* name, std::int64_t least, std::int64_t most, int* result) {
    std::int64_t wide = 0;
    if (!integer(name, least, most, &wide)) return false;
    *result = static_cast<int>(wide);
    return true;
  }

  bool microseconds(const char* name, double* result) {
    const Member* member = find(name);
    if (member == nullptr) return missing(name);
    if (member->value.kind == Value::Kind::number) {
      *result = real(member->value.spelling);
      if (*result > 0 && std::isfinite(*result)) return true;
    }
    return wrong(*member, "must be a number above 0");
  }

  bool type(const char* name, Type* result) {
    std::string spelling;
    if (!text(name, &spelling)) return false;
    for (const Type type : all_types) {
      if (spelling != tenon::name(type)) continue;
      *result = type;
      return true;
    }
    return wrong(*find(name), "must be f16, bf16, f32, tf32, e4m3, e5m2, s8 or s32");
  }

  // "tn": A row-major, B column-major.
  bool layout(const char* name, Order* a, Order* b) {
    std::string spelling;
    if (!text(name, &spelling)) return false;
    const auto is_order = [](char c) { return c == 't' || c == 'n'; };
    if (spelling.size() != 2 || !is_order(spelling[0]) || !is_order(spelling[1])) {
      return wrong(*find(name), "must be tn, nn, tt or nt");
    }
    *a = spelling[0] == 't' ? row_major : column_major;
    *b = spelling[1] == 't' ? row_major : column_major;
    return true;
  }

  bool nothing_else() {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i]) continue;
      const Member& member = object_.members[i];
      return refusals_.refuse(member.line, "\"%.40s\" is not a member that a tuning table has here",
                              member.name.c_str());
    }
    return true;
  }

 private:
  const Member* find(const char* name) {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (object_.members[i].name != name) continue;
      asked_[i] = true;
      return &object_.members[i];
    }
    return nullptr;
  }

  bool missing(const char* name) noexcept {
    return refusals_.refuse(object_.line, "the object that begins here has no member \"%s\" but needs one",
                            name);
  }

  bool wrong(const Member& member, const char* needed) noexcept {
    const char* const quote = member.value.kind == Value::Kind::text ? "\"" : "";
    return refusals_.refuse(member.line, "\"%s\" is %s%.40s%s but %s", member.name.c_str(), quote,
                            member.value.spelling.c_str(), quote, needed);
  }

  const Object& object_;
  std::vector<bool> asked_;
  Refusals& refusals_;
};

bool read_entry(const Object& object, TuningEntry* entry, Refusals* refusals) {
  Members members(object, refusals);
  TuningKey& key = entry->key;
  const bool read =
      members.type("a", &key.a) && members.type("b", &key.b) && members.type("accumulate", &key.accumulate) &&
      members.type("c", &key.c) && members.boolean("promote", &key.promote) &&
      members.layout("layout", &key.a_order, &key.b_order) &&
      members.integer("m", 1, largest_dimension, &key.m) &&
      members.integer("n", 1, largest_dimension, &key.n) &&
      members.integer("k", 1, largest_dimension, &key.k) && members.kernel("kernel", &entry->kernel) &&
      members.microseconds("microseconds", &entry->microseconds) &&
      members.kernel("documented", &entry->documented) &&
      members.microseconds("documented_microseconds", &entry->documented_microseconds) &&
      members.nothing_else();
  if (!read) return false;

  Gemm problem;  // dense
  problem.m = key.m, problem.n = key.n, problem.k = key.k;
  problem.a = {nullptr, key.a_order == row_major ? key.k : key.m, key.a_order, key.a};
  problem.b = {nullptr, key.b_order == row_major ? key.n : key.k, key.b_order, key.b};
  problem.c = {nullptr, key.n, key.c};
  problem.accumulate = key.accumulate;
  problem.promote = key.promote;
  const Status valid = validate_shape(problem);
  return valid || refusals->refuse(object.line, "%s", valid.message());
}

bool read_header(const Object& outer, TuningTable* table, Refusals* refusals) {
  Members members(outer, refusals);
  std::int64_t version = 0;
  if (!members.integer("tenon_tuning", 0, INT32_MAX, &version)) return false;
  if (version != format_version) {
    return refusals->refuse(outer.line,
                            "the version of the format, \"tenon_tuning\", is %lld but this library reads %d",
                            static_cast<long long>(version), format_version);
  }
  constexpr std::int64_t most = INT32_MAX;
  return members.text("device", &table->device) && members.integer("sm", 1, most, &table->sm) &&
         members.integer("multiprocessors", 1, most, &table->multiprocessors) &&
         members.text("version", &table->version, true) && members.text("commit", &table->commit, true) &&
         members.text("toolkit", &table->toolkit, true) && members.nothing_else();
}

bool read_table(Reader* reader, TuningTable* table, Refusals* refusals) {
  Object outer;
  std::vector<Object> objects;
  if (!reader->document(&outer, &objects) || !read_header(outer, table, refusals)) return false;
  struct Numbered {
    TuningEntry entry;
    int line;
  };
  std::vector<Numbered> entries;
  entries.reserve(objects.size());
  for (const Object& object : objects) {
    entries.push_back({{}, object.line});
    if (!read_entry(object, &entries.back().entry, refusals)) return false;
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Numbered& x, const Numbered& y) { return x.entry.key < y.entry.key; });
  table->entries.reserve(entries.size());
  for (Numbered& numbered : entries) {
    if (!table->entries.empty() && table->entries.back().key == numbered.entry.key) {
      return refusals->refuse(numbered.line,
                              "the problem is that of line %d but a table has one entry a problem",
                              (&numbered - 1)->line);
    }
    table->entries.push_back(std::move(numbered.entry));
  }
  return true;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= 0x20 && c < 0x7F ? c : '?';
  }
  return result + "\"";
}

// With a point in every locale; the last digit is a nanosecond.
std::string decimal(double microseconds) {
  if (!std::isfinite(microseconds)) return "0.001";
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.3f", std::max(microseconds, 0.001));
  const std::string text = digits;
  return text.substr(0, text.find_first_not_of("0123456789")) + "." + text.substr(text.size() - 3);
}

}  // namespace

Status read_tuning(const char* where, const char* text, std::size_t size, TuningTable* table) {
  Refusals refusals(where);
  Reader reader(text, size, &refusals);
  *table = TuningTable{};
  if (!read_table(&reader, table, &refusals)) *table = TuningTable{};
  return refusals.status();
}

std::string write_tuning(const TuningTable& table) {
  const auto member = [](const char* name, const std::string& value, const char* behind = ", ") {
    return quoted(name) + ": " + value + behind;
  };
  std::string text = "{" + member("tenon_tuning", std::to_string(format_version)) +
                     member("device", quoted(table.device)) + member("sm", std::to_string(table.sm)) +
                     member("multiprocessors", std::to_string(table.multiprocessors), ",\n ") +
                     member("version", quoted(table.version)) + member("commit", quoted(table.commit)) +
                     member("toolkit", quoted(table.toolkit)) + "\"entries\": [";
  const char* separator = "\n";
  for (const TuningEntry& entry : table.entries) {
    const TuningKey& key = entry.key;
    const char layout[] = {key.a_order == row_major ? 't' : 'n', key.b_order == row_major ? 't' : 'n', '\0'};
    text += separator;
    text += "{" + member("a", quoted(name(key.a))) + member("b", quoted(name(key.b))) +
            member("accumulate", quoted(name(key.accumulate))) + member("c", quoted(name(key.c))) +
            member("promote", key.promote ? "true" : "false") + member("layout", quoted(layout)) +
            member("m", std::to_string(key.m)) + member("n", std::to_string(key.n)) +
            member("k", std::to_string(key.k)) + member("kernel", quoted(entry.kernel)) +
            member("microseconds", decimal(entry.microseconds)) +
            member("documented", quoted(entry.documented)) +
            member("documented_microseconds", decimal(entry.documented_microseconds), "}");
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace tenon
