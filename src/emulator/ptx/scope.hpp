// The names of one function: registers, variables and labels in nested scopes, flattened.
//
// The innermost open scope that declares a name decides its meaning. Registers become indices. A variable or
// label whose name is taken gets a suffix that PTX cannot spell ("param0.1"). A branch may precede its label,
// so uses of labels are resolved when their scope closes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/ptx/lexer.hpp"

namespace tenon::emulator::ptx {

// The names of the module that are known so far.
struct ModuleNames {
  struct ModuleVariable {
    std::size_t index;  // into Module::variables
    int element;        // bytes
  };
  std::unordered_map<std::string, ModuleVariable> variables;
  std::unordered_map<std::string, std::size_t> functions;  // indices into Module::functions
  std::unordered_map<std::string, int> mentions;  // first line of names that a function did not declare
  std::size_t registers_left = 0;                 // what the rest of the text may declare
  std::size_t initial_bytes_left = 0;
};

// The meaning of a name.
struct Meaning {
  enum class Kind : std::uint8_t { nothing, scalar, vector, variable } kind = Kind::nothing;
  int index = 0;  // registers: of the (first) register; variables: see FunctionNames::variable
  int count = 0;  // of a vector register: 2 or 4
  int line = 0;   // of the declaration
};

class FunctionNames {
 public:
  FunctionNames(Function& function, ModuleNames& module) : function_(function), module_(module) {}

  void open(int line);
  void close();
  int depth() const { return static_cast<int>(scopes_.size()); }

  // lanes: 1, or 2 or 4 of a vector. Returns the index of the first.
  int declare_register(const Token& name, Type type, int lanes);
  // name<count>: name0, name1, ...
  void declare_registers(const Token& name, Type type, std::int64_t count);
  // Returns the flattened name of the variable. element: bytes of one element.
  std::string declare_variable(const Token& name, int element);
  // Renames the variable that was declared last, and returns it.
  std::string rename_variable(std::string name);
  bool is_variable(const std::string& flattened) const { return variable_names_.count(flattened) != 0; }
  std::string declare_label(const Token& name);
  // Renames *name to the label that it denotes, once that is known; *name must stay valid until then.
  void mention_label(std::string& name, int line);
  // Records the use of a name that must turn out to be the module's.
  void mention_symbol(const std::string& name, int line) { module_.mentions.emplace(name, line); }

  Meaning find(std::string_view name) const;
  struct NamedVariable {
    std::string name;
    int element;
  };
  const NamedVariable& variable(const Meaning& meaning) const { return variables_[meaning.index]; }
  const ModuleNames& module() const { return module_; }
  const Function& function() const { return function_; }

 private:
  struct Mention {
    std::string* name;
    int line;
  };
  struct Scope {
    std::unordered_map<std::string_view, Meaning> names;
    std::unordered_map<std::string_view, Meaning> ranges;  // by prefix
    std::unordered_map<std::string_view, std::string> labels;
    std::vector<Mention> mentions;
  };

  void take_registers(std::int64_t count, int line);
  std::string unique(std::string_view name);
  Meaning find_in_range(const Scope& scope, std::string_view name) const;

  Function& function_;
  ModuleNames& module_;
  std::vector<Scope> scopes_;
  std::vector<NamedVariable> variables_;
  std::unordered_set<std::string> variable_names_;  // as flattened
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
};

}  // namespace tenon::emulator::ptx
