#include "emulator/ptx/declaration.hpp"

#include <algorithm>

#include "emulator/ptx/expression.hpp"
#include "emulator/ptx/names.hpp"

namespace tenon::emulator::ptx {
namespace {

std::int64_t alignment(Cursor& cursor) {
  const int line = cursor.line();
  const std::int64_t value = cursor.integer("an alignment in bytes", 1, std::int64_t{1} << 30);
  if ((value & (value - 1)) != 0)
    throw Error(line, "the alignment " + std::to_string(value) + " is not a power of two");
  return value;
}

// `.ptr .global .align 16`: what a parameter points to. Execution does not depend on it.
void skip_pointer_facts(Cursor& cursor) {
  if (space_named(cursor.peek().text)) cursor.take();
  if (cursor.accept_dotted(".align")) alignment(cursor);
}

void need_storable(const Token& token, Type type, bool is_register) {
  const bool storable = bytes(type) > 0 || (is_register && type == Type::pred);
  if (!storable) {
    throw Error(token.line, "found the type " + cited(token) + " where one that a " +
                                (is_register ? "register" : "variable") + " can have is needed");
  }
}

}  // namespace

bool begins_declaration(const Token& token) {
  return token.kind == Token::Kind::dotted && (token.text == ".reg" || space_named(token.text));
}

void skip_brackets(Cursor& cursor, char open, char close, const std::string& what) {
  const int line = cursor.line();
  cursor.expect(open, "after " + what);
  for (int depth = 1; depth > 0;) {
    if (cursor.at_end())
      throw Error(line,
                  what + " begins here and has no end: " + cited(std::string_view(&close, 1)) + " is needed");
    const Token token = cursor.take();
    if (token.is(open)) ++depth;
    if (token.is(close)) --depth;
  }
}

DeclarationPrefix declaration_prefix(Cursor& cursor) {
  DeclarationPrefix prefix;
  prefix.line = cursor.line();
  const Token space = cursor.take();
  prefix.is_register = space.text == ".reg";
  if (!prefix.is_register) prefix.space = *space_named(space.text);
  while (cursor.peek().kind == Token::Kind::dotted) {
    const Token token = cursor.take();
    if (token.text == ".align") {
      prefix.alignment = alignment(cursor);
    } else if (token.text == ".attribute") {
      skip_brackets(cursor, '(', ')', "`.attribute`");
    } else if (token.text == ".ptr") {
      skip_pointer_facts(cursor);
    } else if (token.text == ".v2" || token.text == ".v4") {
      prefix.lanes = token.text[2] - '0';
    } else if (const auto type = type_named(token.text); type && prefix.type == Type::none) {
      need_storable(token, *type, prefix.is_register);
      prefix.type = *type;
    } else {
      const bool is_texture =
          token.text == ".texref" || token.text == ".samplerref" || token.text == ".surfref";
      throw Error(token.line, "found " + cited(token) +
                                  " in a declaration where a type, .align or .v2 is needed" +
                                  (is_texture ? ": the emulator knows texture and surface objects, and no " +
                                                    std::string(token.text)
                                              : ""));
    }
  }
  if (prefix.type == Type::none) cursor.fail("the type of the declaration");
  return prefix;
}

Declarator declarator(Cursor& cursor, const std::string& what) {
  Declarator result;
  if (cursor.peek().kind != Token::Kind::word) cursor.fail(what);
  result.name = cursor.take();
  if (cursor.accept('<')) {
    result.range = cursor.integer("the number of registers", 0, 1 << 20);
    cursor.expect('>', "after the number of registers");
  }
  constexpr std::size_t most_dimensions = 16;
  while (cursor.accept('[')) {
    if (result.dimensions.size() == most_dimensions)
      throw Error(cursor.line(), "the array " + cited(result.name) + " has more than 16 dimensions");
    if (cursor.peek().is(']')) {
      if (!result.dimensions.empty())
        cursor.fail("the length of this dimension (only the first may be left open)");
      result.dimensions.push_back(-1);
    } else {
      const int line = cursor.line();
      const std::int64_t length = integer_expression(cursor, "the length of an array");
      if (length < 0 || length > largest_variable) {
        throw Error(line, "the array " + cited(result.name) + " has the length " + std::to_string(length) +
                              "; 0 to 2^40 can be had");
      }
      result.dimensions.push_back(length);
    }
    cursor.expect(']', "after the length of an array");
  }
  return result;
}

Variable make_variable(const DeclarationPrefix& prefix, const Declarator& declarator) {
  Variable variable;
  variable.name = std::string(declarator.name.text);
  variable.space = prefix.space;
  variable.type = prefix.type;
  variable.line = declarator.name.line;
  const std::int64_t element = bytes(prefix.type);
  variable.alignment = std::max(prefix.alignment, element * prefix.lanes);
  variable.count = prefix.lanes;
  std::int64_t product = prefix.lanes;  // with 1 for lengths of 0 and open ones, so that no product overflows
  for (const std::int64_t length : declarator.dimensions) {
    if (length > 0 && product > largest_variable / element / length)
      throw Error(variable.line, "the variable " + cited(declarator.name) + " has more than 2^40 bytes");
    product *= std::max<std::int64_t>(length, 1);
    variable.count *= std::max<std::int64_t>(length, 0);
  }
  return variable;
}

void need_length(const Variable& variable, const Declarator& declarator) {
  const bool is_open = !declarator.dimensions.empty() && declarator.dimensions[0] < 0;
  if (is_open && variable.count == 0 && !variable.is_external && variable.space != Space::param) {
    throw Error(variable.line, "the array " + cited(declarator.name) +
                                   " has no length: one, an initialiser or .extern is needed");
  }
}

std::vector<Parameter> parameters(Cursor& cursor, const std::string& what) {
  std::vector<Parameter> result;
  cursor.expect('(', "before " + what);
  if (cursor.accept(')')) return result;
  do {
    if (!cursor.peek().is_dotted(".param") && !cursor.peek().is_dotted(".reg"))
      cursor.fail("a parameter, .param or .reg,");
    Parameter parameter;
    parameter.prefix = declaration_prefix(cursor);
    parameter.declarator = declarator(cursor, "the name of a parameter");
    if (parameter.declarator.range) throw Error(cursor.line(), "a range of names cannot be a parameter");
    result.push_back(std::move(parameter));
  } while (cursor.accept(','));
  cursor.expect(')', "after " + what);
  return result;
}

}  // namespace tenon::emulator::ptx
