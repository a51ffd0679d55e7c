#include "emulator/ptx/function.hpp"

#include <limits>

#include "emulator/ptx/body.hpp"

namespace tenon::emulator::ptx {
namespace {

void threads(Cursor& cursor, const std::string& directive, int (&sizes)[3]) {
  for (int i = 0; i < 3; ++i) {
    sizes[i] = static_cast<int>(cursor.integer("a size for `" + directive + "`", 1, 1 << 30));
    if (i < 2 && !cursor.accept(',')) {
      for (int j = i + 1; j < 3; ++j) sizes[j] = 1;
      return;
    }
  }
}

// The directives between the parameters and the body.
void directives(Cursor& cursor, Function& function) {
  while (cursor.peek().kind == Token::Kind::dotted) {
    if (accept_pragma(cursor)) continue;
    const Token token = cursor.take();
    const std::string directive(token.text);
    if (directive == ".maxntid") {
      threads(cursor, directive, function.max_threads);
    } else if (directive == ".reqntid") {
      threads(cursor, directive, function.required_threads);
    } else if (directive == ".reqnctapercluster") {
      threads(cursor, directive, function.required_cluster);
    } else if (directive == ".explicitcluster") {
      function.explicit_cluster = true;
    } else if (directive == ".blocksareclusters") {
      function.blocks_are_clusters = true;
    } else if (directive == ".maxnreg") {
      function.max_registers = static_cast<int>(cursor.integer("a number for `.maxnreg`", 0, 1 << 30));
    } else if (directive == ".minnctapersm") {
      function.min_blocks = static_cast<int>(cursor.integer("a number for `.minnctapersm`", 0, 1 << 30));
    } else if (directive == ".maxnctapersm" || directive == ".maxclusterrank" ||
               directive == ".abi_preserve" || directive == ".abi_preserve_control") {
      cursor.integer("a number for `" + directive + "`", 0, 1 << 30);  // for the assembler
    } else if (directive == ".attribute") {
      skip_brackets(cursor, '(', ')', "`.attribute`");
    } else if (directive != ".noreturn") {
      throw Error(token.line,
                  "the directive " + cited(token) + " of function `" + function.name + "` is not known");
    }
  }
}

}  // namespace

bool accept_linkage(Cursor& cursor) {
  bool is_external = false;
  for (;;) {
    if (cursor.accept_dotted(".extern")) {
      is_external = true;
    } else if (!cursor.accept_dotted(".visible") && !cursor.accept_dotted(".weak") &&
               !cursor.accept_dotted(".common")) {
      return is_external;
    }
  }
}

bool accept_pragma(Cursor& cursor) {
  if (!cursor.accept_dotted(".pragma")) return false;
  do {
    if (cursor.peek().kind != Token::Kind::string) cursor.fail("a string after `.pragma`");
    cursor.take();
  } while (cursor.accept(','));
  cursor.expect(';', "after `.pragma`");
  return true;
}

bool accept_debug_directive(Cursor& cursor, Module& module) {
  constexpr std::int64_t largest = (std::int64_t{1} << 31) - 1;
  if (cursor.accept_dotted(".file")) {
    const auto number = static_cast<int>(cursor.integer("the number of a file", 0, largest));
    if (cursor.peek().kind != Token::Kind::string) cursor.fail("the name of a file in quotes");
    module.files[number] = std::string(cursor.take().text);
    for (int i = 0; i < 2 && cursor.accept(','); ++i)  // time and size
      cursor.integer("the time or size of a file", 0, std::numeric_limits<std::int64_t>::max());
    return true;
  }
  if (cursor.peek().is_dotted(".section")) {  // debugging information
    const std::string what = "`.section`";
    cursor.take();
    while (cursor.peek().kind == Token::Kind::dotted || cursor.peek().kind == Token::Kind::string ||
           cursor.peek().is(',')) {
      cursor.take();
    }
    skip_brackets(cursor, '{', '}', what);
    return true;
  }
  return false;
}

void add_variable(Module& module, ModuleNames& names, Variable variable) {
  if (names.functions.count(variable.name) != 0)
    throw Error(variable.line, "`" + variable.name + "` is declared as a function before");
  const auto [place, is_new] = names.variables.emplace(
      variable.name, ModuleNames::ModuleVariable{module.variables.size(), bytes(variable.type)});
  if (is_new) {
    module.variables.push_back(std::move(variable));
    return;
  }
  Variable& known = module.variables[place->second.index];
  if (!known.is_external && !variable.is_external) {
    throw Error(variable.line, "`" + variable.name + "` is declared twice; the first time in line " +
                                   std::to_string(known.line));
  }
  if (known.is_external) known = std::move(variable);
}

Function function(Cursor& cursor, Module& module, ModuleNames& names) {
  Function result;
  result.line = cursor.line();
  result.is_entry = cursor.take().text == ".entry";
  if (cursor.accept_dotted(".attribute")) skip_brackets(cursor, '(', ')', "`.attribute`");
  FunctionNames function_names(result, names);
  function_names.open(result.line);
  if (cursor.peek().is('(')) {
    if (result.is_entry) cursor.fail("the name of a kernel (a kernel returns nothing)");
    add_parameters(cursor, function_names, result, result.results, "the results of a function");
  }
  result.name = cursor.name(result.is_entry ? "the name of a kernel" : "the name of a function");
  if (names.variables.count(result.name) != 0)
    throw Error(result.line, "`" + result.name + "` is declared as a variable before");
  if (cursor.peek().is('(')) {
    add_parameters(cursor, function_names, result, result.parameters,
                   "the parameters of `" + result.name + "`");
  }
  directives(cursor, result);
  if (cursor.accept(';')) return result;
  if (!cursor.peek().is('{')) cursor.fail("the body of `" + result.name + "`, or a directive, or `;`");
  result.is_defined = true;
  body(cursor, function_names, result, module, names);
  function_names.close();
  return result;
}

}  // namespace tenon::emulator::ptx
