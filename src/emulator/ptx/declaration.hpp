// Declarations of variables, registers and parameters (PTX ISA 5.4), and initialisers.
#pragma once

#include <optional>
#include <vector>

#include "emulator/ptx/cursor.hpp"
#include "emulator/ptx/scope.hpp"

namespace tenon::emulator::ptx {

constexpr std::int64_t largest_variable = std::int64_t{1} << 40;  // bytes

// `.shared .align 16 .v4 .f32`: what precedes the names.
struct DeclarationPrefix {
  bool is_register = false;
  Space space = Space::generic;
  Type type = Type::none;
  int lanes = 1;  // of .v2, .v4
  std::int64_t alignment = 0;
  int line = 0;
};

// One name with its dimensions or range: `tile[4][32]`, `%r<17>`.
struct Declarator {
  Token name;
  std::optional<std::int64_t> range;     // the 17 of %r<17>
  std::vector<std::int64_t> dimensions;  // -1: [], only as the first
};

// .reg or a state space: does a declaration begin with this token?
bool begins_declaration(const Token& token);
DeclarationPrefix declaration_prefix(Cursor& cursor);
Declarator declarator(Cursor& cursor, const std::string& what);

// The variable without its initialiser; its name is that of the declarator.
Variable make_variable(const DeclarationPrefix& prefix, const Declarator& declarator);
// The values after `=`. Sets the length of an array declared with [].
void initialiser(Cursor& cursor, const DeclarationPrefix& prefix, const Declarator& declarator,
                 ModuleNames& names, Variable& variable);
// Throws for an array without a length that is neither external nor a parameter.
void need_length(const Variable& variable, const Declarator& declarator);

// (.param .b32 a, .param .align 16 .b8 b[64]), from the bracket on; calls `add` for each.
struct Parameter {
  DeclarationPrefix prefix;
  Declarator declarator;
};
std::vector<Parameter> parameters(Cursor& cursor, const std::string& what);

// Skips balanced brackets and their contents, from the opening bracket on.
void skip_brackets(Cursor& cursor, char open, char close, const std::string& what);

}  // namespace tenon::emulator::ptx
