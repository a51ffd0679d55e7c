// ptx::parse: the directives of a module (PTX ISA 11.1), and checks after the whole text.
#include <algorithm>

#include "emulator/ptx/function.hpp"
#include "emulator/ptx/lexer.hpp"

namespace tenon::emulator::ptx {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : tokens_(tokenize(text)), cursor_(tokens_) {
    constexpr std::size_t spare = std::size_t{1} << 20;
    names_.registers_left = text.size() + spare;
    names_.initial_bytes_left = 8 * text.size() + spare;
  }

  Module run() {
    version();
    while (!cursor_.at_end()) statement();
    if (module_.target.empty()) throw Error(0, "the text has no `.target`");
    check_mentions();
    return std::move(module_);
  }

 private:
  void version() {
    while (accept_debug_directive(cursor_, module_)) continue;
    if (!cursor_.accept_dotted(".version")) cursor_.fail("`.version`, which begins every PTX text,");
    const Token number = cursor_.take();
    const std::size_t dot = number.text.find('.');
    const auto part = [&](std::string_view digits) {
      const bool is_number =
          !digits.empty() && digits.size() <= 4 &&
          std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!is_number)
        throw Error(number.line, "found " + cited(number) + " where a version such as 8.4 is needed");
      return std::stoi(std::string(digits));
    };
    if (number.kind != Token::Kind::number || dot == std::string_view::npos) part({});
    module_.version_major = part(number.text.substr(0, dot));
    module_.version_minor = part(number.text.substr(dot + 1));
  }

  void statement() {
    if (accept_debug_directive(cursor_, module_) || accept_pragma(cursor_)) return;
    if (cursor_.accept_dotted(".target")) return target();
    if (cursor_.accept_dotted(".address_size")) return address_size();
    if (cursor_.accept_dotted(".alias")) return alias();
    const Token token = cursor_.peek();
    if (token.kind != Token::Kind::dotted) cursor_.fail("a directive");
    const bool is_external = accept_linkage(cursor_);
    const Token& kind = cursor_.peek();
    if (kind.is_dotted(".func") || kind.is_dotted(".entry")) {
      add(function(cursor_, module_, names_));
    } else if (begins_declaration(kind)) {
      variables(is_external);
    } else {
      throw Error(kind.line, "the directive " + cited(kind) + " is not known outside functions");
    }
  }

  // .target sm_90a, debug
  void target() {
    const int line = cursor_.line();
    do {
      const std::string name = cursor_.name("the name of a target");
      if (name.compare(0, 3, "sm_") != 0) continue;  // texmode_unified, debug, map_f64_to_f32
      if (!module_.target.empty() && module_.target != name)
        throw Error(line,
                    "the target `" + name + "` follows the target `" + module_.target + "`; one is needed");
      module_.target = name;
    } while (cursor_.accept(','));
    if (module_.target.empty())
      throw Error(line, "`.target` names no architecture: sm_80 or another is needed");
  }

  void address_size() {
    const int line = cursor_.line();
    const std::int64_t size = cursor_.integer("the size of an address", 0, 1 << 20);
    if (size != 64) throw Error(line, "found addresses of " + std::to_string(size) + " bits; 64 are needed");
  }

  // .alias other_name, function;
  void alias() {
    const int line = cursor_.line();
    const std::string name = cursor_.name("the new name of a function");
    cursor_.expect(',', "between the names of `.alias`");
    const std::string function = cursor_.name("the name of a function");
    cursor_.expect(';', "after `.alias`");
    const auto found = names_.functions.find(function);
    if (found == names_.functions.end() || !module_.functions[found->second].is_defined)
      throw Error(line,
                  "`" + name + "` is an alias of `" + function + "`, which is not a function defined before");
    const auto own = names_.functions.find(name);
    if (own != names_.functions.end() && module_.functions[own->second].is_defined)
      throw Error(line, "`" + name + "` is an alias, and also a function with a body");
    module_.aliases[name] = function;
  }

  void variables(bool is_external) {
    const DeclarationPrefix prefix = declaration_prefix(cursor_);
    if (prefix.is_register || prefix.space == Space::param) {
      throw Error(prefix.line, "found a declaration of " +
                                   std::string(prefix.is_register ? "registers" : "parameters") +
                                   " outside functions");
    }
    do {
      const Declarator one = declarator(cursor_, "the name of a variable");
      if (one.range)
        throw Error(one.name.line, "a range of variables, " + cited(one.name) + ", cannot be declared");
      Variable variable = make_variable(prefix, one);
      variable.is_external = is_external;
      if (cursor_.accept('=')) initialiser(cursor_, prefix, one, names_, variable);
      need_length(variable, one);
      add_variable(module_, names_, std::move(variable));
    } while (cursor_.accept(','));
    cursor_.expect(';', "after the declaration of a variable");
  }

  // A definition replaces its declarations.
  void add(Function function) {
    const auto [place, is_new] = names_.functions.emplace(function.name, module_.functions.size());
    if (is_new) {
      module_.functions.push_back(std::move(function));
      return;
    }
    Function& known = module_.functions[place->second];
    if (known.is_defined && function.is_defined) {
      throw Error(function.line, "the function `" + function.name + "` has two bodies; the first in line " +
                                     std::to_string(known.line));
    }
    if (known.is_entry != function.is_entry || known.parameters.size() != function.parameters.size() ||
        known.results.size() != function.results.size()) {
      throw Error(function.line, "the function `" + function.name +
                                     "` was declared with other parameters in line " +
                                     std::to_string(known.line));
    }
    if (!known.is_defined) known = std::move(function);
  }

  // Functions may use what is declared later in the text, but not what is never declared.
  void check_mentions() const {
    const std::string* missing = nullptr;
    int first = 0;
    for (const auto& [name, line] : names_.mentions) {
      if (names_.variables.count(name) + names_.functions.count(name) + module_.aliases.count(name) != 0)
        continue;
      if (missing == nullptr || line < first || (line == first && name < *missing)) missing = &name;
      if (missing == &name) first = line;
    }
    if (missing != nullptr)
      throw Error(first,
                  cited(*missing) + " is not a register, variable, label or function that the text declares");
  }

  std::vector<Token> tokens_;
  Cursor cursor_;
  Module module_;
  ModuleNames names_;
};

}  // namespace

Module parse(const std::string& text) {
  return Parser(text).run();
}

}  // namespace tenon::emulator::ptx
