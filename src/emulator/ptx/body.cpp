#include "emulator/ptx/body.hpp"

#include <limits>

#include "emulator/ptx/declaration.hpp"
#include "emulator/ptx/function.hpp"
#include "emulator/ptx/operand.hpp"

namespace tenon::emulator::ptx {
namespace {

class Body {
 public:
  Body(Cursor& cursor, FunctionNames& names, Function& function, Module& module, ModuleNames& module_names)
      : cursor_(cursor), names_(names), function_(function), module_(module), module_names_(module_names) {}

  void run() {
    const int line = cursor_.line();
    const int outside = names_.depth();
    cursor_.expect('{', "before a body");
    names_.open(line);
    while (names_.depth() > outside) {
      if (cursor_.at_end()) {
        throw Error(cursor_.line(), "the text ends inside the function `" + function_.name + "` of line " +
                                        std::to_string(function_.line) + ": `}` is needed");
      }
      statement();
    }
  }

 private:
  void statement() {
    const Token& token = cursor_.peek();
    if (token.is('{')) {
      names_.open(cursor_.take().line);
    } else if (token.is('}')) {
      cursor_.take();
      names_.close();
    } else if (token.kind == Token::Kind::dotted) {
      directive();
    } else if (token.kind == Token::Kind::word && cursor_.peek(1).is(':')) {
      label();
    } else if (token.kind == Token::Kind::word || token.is('@')) {
      instruction();
    } else if (!cursor_.accept(';')) {  // an empty statement
      cursor_.fail("an instruction, a directive, a label or `}`");
    }
  }

  void directive() {
    if (begins_declaration(cursor_.peek())) return declarations(false);
    if (accept_debug_directive(cursor_, module_) || accept_pragma(cursor_)) return;
    if (cursor_.accept_dotted(".loc")) return location();
    const Token token = cursor_.peek();
    const bool is_external = accept_linkage(cursor_);
    if (begins_declaration(cursor_.peek())) return declarations(is_external);
    throw Error(token.line, "the directive " + cited(token) + " is not known in a function");
  }

  void declarations(bool is_external) {
    const DeclarationPrefix prefix = declaration_prefix(cursor_);
    do {
      const Declarator one = declarator(cursor_, "a name after the type of a declaration");
      if (prefix.is_register) {
        registers(prefix, one);
      } else {
        variable(prefix, one, is_external);
      }
    } while (cursor_.accept(','));
    cursor_.expect(';', "after a declaration");
  }

  void registers(const DeclarationPrefix& prefix, const Declarator& one) {
    if (!one.dimensions.empty())
      throw Error(one.name.line, "the register " + cited(one.name) + " is declared as an array");
    if (!one.range) {
      names_.declare_register(one.name, prefix.type, prefix.lanes);
    } else if (prefix.lanes == 1) {
      names_.declare_registers(one.name, prefix.type, *one.range);
    } else {
      throw Error(one.name.line, "a range of vector registers, " + cited(one.name) + ", cannot be declared");
    }
  }

  void variable(const DeclarationPrefix& prefix, const Declarator& one, bool is_external) {
    if (one.range)
      throw Error(one.name.line, "a range of variables, " + cited(one.name) + ", cannot be declared");
    Variable variable = make_variable(prefix, one);
    variable.is_external = is_external;
    if (cursor_.accept('=')) initialiser(cursor_, prefix, one, module_names_, variable);
    need_length(variable, one);
    const std::string name = names_.declare_variable(one.name, bytes(prefix.type));
    variable.name = name;
    if (is_external || prefix.space == Space::global || prefix.space == Space::constant) {
      // It lives as long as the module, under a name that is unique to this function.
      variable.name = names_.rename_variable(function_.name + "." + name);
      add_variable(module_, module_names_, std::move(variable));
    } else {
      function_.variables.push_back(std::move(variable));
    }
  }

  // .loc file line column{, function_name label{+offset}, inlined_at file line column}
  void location() {
    constexpr std::int64_t largest = std::numeric_limits<int>::max();
    source_.file = static_cast<int>(cursor_.integer("the file of `.loc`", 0, largest));
    source_.line = static_cast<int>(cursor_.integer("the line of `.loc`", 0, largest));
    if (cursor_.peek().kind == Token::Kind::number) cursor_.integer("the column of `.loc`", 0, largest);
    while (cursor_.accept(',')) {
      if (cursor_.accept_word("function_name")) {
        cursor_.name("the label of a function's name");
        if (cursor_.accept('+')) cursor_.integer("an offset", 0, largest);
      } else if (cursor_.accept_word("inlined_at")) {
        for (int i = 0; i < 3; ++i) cursor_.integer("a file, line or column of `inlined_at`", 0, largest);
      } else {
        cursor_.fail("`function_name` or `inlined_at`");
      }
    }
  }

  void label() {
    const Token token = cursor_.take();
    cursor_.take();
    const std::string name = names_.declare_label(token);
    if (cursor_.accept_dotted(".branchtargets")) {
      targets(function_.branch_targets[name], "the label of a branch");
    } else if (cursor_.accept_dotted(".calltargets")) {
      targets(function_.call_targets[name], "the name of a function");
    } else if (cursor_.accept_dotted(".callprototype")) {
      prototype(name, token.line);
    } else {
      function_.labels.emplace(name, static_cast<int>(function_.body.size()));
    }
  }

  void targets(std::vector<std::string>& list, const std::string& what) {
    const int line = cursor_.line();
    do {
      list.push_back(cursor_.name(what));
    } while (cursor_.accept(','));
    cursor_.expect(';', "after a list of targets");
    for (std::string& target : list) names_.mention_label(target, line);
  }

  // .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
  void prototype(const std::string& name, int line) {
    Function prototype;
    prototype.name = name;
    prototype.line = line;
    const auto list = [&](std::vector<Variable>& variables, const std::string& what) {
      for (const Parameter& p : parameters(cursor_, what))
        variables.push_back(make_variable(p.prefix, p.declarator));
    };
    if (cursor_.peek().is('(')) list(prototype.results, "the results of a prototype");
    if (!cursor_.accept_word("_")) cursor_.fail("`_`, which names the function of a prototype,");
    if (cursor_.peek().is('(')) list(prototype.parameters, "the parameters of a prototype");
    for (;;) {
      if (cursor_.accept_dotted(".abi_preserve") || cursor_.accept_dotted(".abi_preserve_control")) {
        cursor_.integer("a number of registers", 0, 1 << 20);
      } else if (!cursor_.accept_dotted(".noreturn")) {
        break;
      }
    }
    cursor_.expect(';', "after a prototype");
    function_.prototypes.emplace(name, std::move(prototype));
  }

  void instruction() {
    Instruction result;
    result.line = cursor_.line();
    result.source = source_;
    if (cursor_.accept('@')) {
      result.guard_negated = cursor_.accept('!');
      result.guard = register_operand(cursor_, names_, "the guard after `@`");
    }
    const Token opcode = cursor_.peek();
    if (opcode.kind != Token::Kind::word || opcode.text[0] == '%' || opcode.text[0] == '$' ||
        opcode.text[0] == '_')
      cursor_.fail("an instruction");
    cursor_.take();
    result.opcode = std::string(opcode.text);
    while (cursor_.peek().kind == Token::Kind::dotted)
      result.modifiers.emplace_back(cursor_.take().text.substr(1));
    result.operands = operands(cursor_, names_, result.opcode);
    if (!cursor_.accept(';')) cursor_.fail("`,` or `;` after the operands of `" + result.text() + "`");
    function_.body.push_back(std::move(result));
    Instruction& kept = function_.body.back();
    if (kept.opcode == "bra" || kept.opcode == "brx" || kept.opcode == "call")
      mention_labels(kept.operands, kept.line);
  }

  // Names that the scopes do not declare: labels, lists of targets, prototypes, functions.
  void mention_labels(std::vector<Operand>& operands, int line) {
    for (Operand& operand : operands) {
      if (auto* const list = std::get_if<Vector>(&operand.value)) mention_labels(list->elements, line);
      auto* const symbol = std::get_if<Symbol>(&operand.value);
      if (symbol != nullptr && !names_.is_variable(symbol->name)) names_.mention_label(symbol->name, line);
    }
  }

  Cursor& cursor_;
  FunctionNames& names_;
  Function& function_;
  Module& module_;
  ModuleNames& module_names_;
  Source source_;
};

}  // namespace

void body(Cursor& cursor, FunctionNames& names, Function& function, Module& module,
          ModuleNames& module_names) {
  Body(cursor, names, function, module, module_names).run();
}

void add_parameters(Cursor& cursor, FunctionNames& names, Function& function, std::vector<Variable>& list,
                    const std::string& what) {
  for (const Parameter& parameter : parameters(cursor, what)) {
    const Declarator& one = parameter.declarator;
    Variable variable = make_variable(parameter.prefix, one);
    if (parameter.prefix.is_register) {
      if (function.is_entry || parameter.prefix.lanes > 1 || !one.dimensions.empty())
        throw Error(one.name.line,
                    "found " + cited(one.name) + " where a .param, or a scalar .reg of a .func, is needed");
      variable.register_index = names.declare_register(one.name, parameter.prefix.type, 1);
    } else if (one.name.text != "_") {
      variable.name = names.declare_variable(one.name, bytes(parameter.prefix.type));
    }
    list.push_back(std::move(variable));
  }
}

}  // namespace tenon::emulator::ptx
