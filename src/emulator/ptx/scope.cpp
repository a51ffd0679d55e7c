#include "emulator/ptx/scope.hpp"

namespace tenon::emulator::ptx {
namespace {

constexpr int deepest_scope = 64;
constexpr std::int64_t most_registers = 1 << 20;

[[noreturn]] void declared_twice(const Token& name, int line) {
  throw Error(name.line,
              cited(name) + " is declared twice in a scope; the first time in line " + std::to_string(line));
}

}  // namespace

void FunctionNames::open(int line) {
  if (depth() >= deepest_scope)
    throw Error(line, "scopes are nested more than " + std::to_string(deepest_scope) + " deep");
  scopes_.emplace_back();
}

void FunctionNames::close() {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const Mention& mention : closed.mentions) {
    const auto label = closed.labels.find(*mention.name);
    if (label != closed.labels.end()) {
      *mention.name = label->second;
    } else if (!scopes_.empty()) {
      scopes_.back().mentions.push_back(mention);
    } else {
      mention_symbol(*mention.name, mention.line);
    }
  }
}

void FunctionNames::take_registers(std::int64_t count, int line) {
  const auto have = static_cast<std::int64_t>(function_.registers.size());
  if (count > most_registers - have)
    throw Error(line, "the function declares more than " + std::to_string(most_registers) + " registers");
  // A used register appears in the text: more registers than bytes of text are a mistake.
  if (static_cast<std::size_t>(count) > module_.registers_left)
    throw Error(line, "the module declares more registers than a text of its length can use");
  module_.registers_left -= static_cast<std::size_t>(count);
}

int FunctionNames::declare_register(const Token& name, Type type, int lanes) {
  take_registers(lanes, name.line);
  const int first = static_cast<int>(function_.registers.size());
  const auto kind = lanes == 1 ? Meaning::Kind::scalar : Meaning::Kind::vector;
  const auto [place, is_new] =
      scopes_.back().names.emplace(name.text, Meaning{kind, first, lanes, name.line});
  if (!is_new) declared_twice(name, place->second.line);
  if (lanes == 1) function_.registers.push_back({std::string(name.text), type});
  for (int lane = 0; lanes > 1 && lane < lanes; ++lane)
    function_.registers.push_back({std::string(name.text) + '.' + "xyzw"[lane], type});
  return first;
}

void FunctionNames::declare_registers(const Token& name, Type type, std::int64_t count) {
  take_registers(count, name.line);
  const int first = static_cast<int>(function_.registers.size());
  const Meaning range{Meaning::Kind::scalar, first, static_cast<int>(count), name.line};
  const auto [place, is_new] = scopes_.back().ranges.emplace(name.text, range);
  if (!is_new) declared_twice(name, place->second.line);
  const std::string prefix(name.text);
  for (std::int64_t i = 0; i < count; ++i) function_.registers.push_back({prefix + std::to_string(i), type});
}

std::string FunctionNames::unique(std::string_view name) {
  std::string result(name);
  // A name of the module keeps its meaning: elsewhere in the function it may still denote the module's.
  if (module_.variables.count(result) == 0 && module_.functions.count(result) == 0 &&
      taken_.insert(result).second) {
    return result;
  }
  const int suffix = ++suffixes_[result];
  return result + '.' + std::to_string(suffix);
}

std::string FunctionNames::declare_variable(const Token& name, int element) {
  const Meaning meaning{Meaning::Kind::variable, static_cast<int>(variables_.size()), 0, name.line};
  const auto [place, is_new] = scopes_.back().names.emplace(name.text, meaning);
  if (!is_new) declared_twice(name, place->second.line);
  variables_.push_back({unique(name.text), element});
  variable_names_.insert(variables_.back().name);
  return variables_.back().name;
}

std::string FunctionNames::rename_variable(std::string name) {
  variables_.back().name = std::move(name);
  variable_names_.insert(variables_.back().name);
  return variables_.back().name;
}

std::string FunctionNames::declare_label(const Token& name) {
  auto& labels = scopes_.back().labels;
  if (labels.count(name.text) != 0)
    throw Error(name.line, "the label " + cited(name) + " is declared twice in a scope");
  return labels.emplace(name.text, unique(name.text)).first->second;
}

void FunctionNames::mention_label(std::string& name, int line) {
  scopes_.back().mentions.push_back({&name, line});
}

Meaning FunctionNames::find_in_range(const Scope& scope, std::string_view name) const {
  std::size_t number = 0, weight = 1;
  // %r12 may be the 13th of %r<20> or the third of %r1<5>.
  for (std::size_t digits = 1; digits < name.size() && digits <= 7; ++digits) {
    const char c = name[name.size() - digits];
    if (c < '0' || c > '9') break;
    number += weight * static_cast<std::size_t>(c - '0');
    weight *= 10;
    const auto range = scope.ranges.find(name.substr(0, name.size() - digits));
    if (range == scope.ranges.end() || number >= static_cast<std::size_t>(range->second.count)) continue;
    return {Meaning::Kind::scalar, range->second.index + static_cast<int>(number), 1, range->second.line};
  }
  return {};
}

Meaning FunctionNames::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (!scope->names.empty()) {
      const auto found = scope->names.find(name);
      if (found != scope->names.end()) return found->second;
    }
    if (scope->ranges.empty()) continue;
    const Meaning in_range = find_in_range(*scope, name);
    if (in_range.kind != Meaning::Kind::nothing) return in_range;
  }
  return {};
}

}  // namespace tenon::emulator::ptx
