#include "emulator/ptx/entry_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace tenon::emulator::ptx {
namespace {

// Where the group that text[close] ends was opened: the parenthesis or the angle bracket, in which only
// parentheses can hold a comparison. npos: nowhere.
std::size_t opening(const std::string& text, std::size_t close) {
  const char closer = text[close], opener = closer == ')' ? '(' : '<';
  int depth = 0, parentheses = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (closer == '>') parentheses += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (parentheses != 0) continue;
    if (text[i] == closer) ++depth;
    if (text[i] == opener && --depth == 0) return i;
  }
  return std::string::npos;
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// The spellings of an entry in C++, without spaces.
struct Spellings {
  std::string whole;   // ns::scale<float>(float*)
  std::string name;    // ns::scale<float>
  std::string simple;  // ns::scale
};

Spellings spellings_of(const std::string& mangled) {
  const std::string returns = "void ";  // which every kernel does; the names of templates say it
  std::string text = demangled(mangled);
  if (text.compare(0, returns.size(), returns) == 0) text.erase(0, returns.size());
  Spellings result;
  result.whole = result.name = without_spaces(text);
  const auto drop_last_group = [](std::string& from, char closer) {
    if (from.empty() || from.back() != closer) return;
    const std::size_t at = opening(from, from.size() - 1);
    if (at != std::string::npos) from.erase(at);
  };
  drop_last_group(result.name, ')');
  result.simple = result.name;
  drop_last_group(result.simple, '>');
  return result;
}

bool ends_in(const std::string& qualified, const std::string& name) {
  const std::string end = "::" + name;
  return qualified == name || (qualified.size() > end.size() &&
                               qualified.compare(qualified.size() - end.size(), end.size(), end) == 0);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// In C++ too, where that differs.
std::string listed(const std::vector<const Function*>& entries) {
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) {
    const std::string& name = entries[i]->name;
    const std::string in_cpp = demangled(name);
    list += (list.empty() ? "`" : ", `") + name + "`";
    if (in_cpp != name) list += " (" + in_cpp + ")";
  }
  if (entries.size() > most) list += " and " + std::to_string(entries.size() - most) + " more";
  return list;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;  // `f` alone would be the type float
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? name : std::string(text.get());
}

const Function& entry_named(const Module& module, const std::string& name) {
  const Function* exact = module.find(name);
  if (exact != nullptr && exact->is_entry && exact->is_defined) return *exact;
  std::vector<const Function*> entries, fitting[3];
  for (const Function& function : module.functions)
    if (function.is_entry && function.is_defined) entries.push_back(&function);
  const std::string wanted = without_spaces(name);
  for (const Function* entry : entries) {
    if (wanted.empty()) break;
    const Spellings cpp = spellings_of(entry->name);
    if (wanted == cpp.whole || wanted == cpp.name) fitting[0].push_back(entry);
    if (ends_in(cpp.whole, wanted) || ends_in(cpp.name, wanted) || ends_in(cpp.simple, wanted))
      fitting[1].push_back(entry);
    if (contains(entry->name, name) || contains(cpp.whole, wanted)) fitting[2].push_back(entry);
  }
  for (const std::vector<const Function*>& some : fitting) {
    if (some.size() == 1) return *some[0];
    if (some.size() > 1)
      throw std::invalid_argument("`" + name + "` may be any of " + std::to_string(some.size()) +
                                  " kernels of the module: " + listed(some));
  }
  throw std::invalid_argument("there is no kernel `" + name + "` in the module; it has " +
                              (entries.empty() ? "none" : listed(entries)));
}

}  // namespace tenon::emulator::ptx
