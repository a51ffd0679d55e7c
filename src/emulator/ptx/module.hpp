// A parsed PTX file: functions, variables, and instructions as written. What an instruction does is decided
// in machine/, when a module is loaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace tenon::emulator::ptx {

// An error in a text, with the line of PTX (from 1; 0: the file as a whole).
class Error : public std::runtime_error {
 public:
  Error(int line, const std::string& sentence)
      : std::runtime_error("line " + std::to_string(line) + ": " + sentence), line(line) {}
  int line;
};

// PTX ISA 5.2, fundamental types; the packed and alternate ones too, as they occur as modifiers.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2,
  u4,
  s4,
  b1
};

// PTX ISA 5.1.
enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

// Bytes of one element, 0 for pred, none and the types below a byte.
int bytes(Type type);

// `.shared .align 16 .b8 tile[1024];`, a module-level or function-level variable, a parameter.
struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::b8;
  std::int64_t count =
      1;  // elements, vectors and arrays multiplied out; 0: `extern .shared x[];`, sized at launch
  std::int64_t alignment = 1;  // bytes, at least that of the type
  bool is_external = false;
  // Up to the last byte that the text defines; the others, up to size(), are zeros (global, const) or
  // unwritten (shared, local, param).
  std::vector<std::uint8_t> initial;
  struct Address {        // an initialiser that is the address of another variable or of a function
    std::int64_t offset;  // bytes into `initial`
    std::string symbol;
    std::int64_t addend = 0;
    bool is_generic = false;   // generic(symbol): not an address in the symbol's own state space
    int bytes = 8, shift = 0;  // 1 and the bits below, for one byte of the address: 0xff00(symbol)
  };
  std::vector<Address> addresses;
  int line = 0;
  int register_index = -1;  // of a parameter or result declared with .reg, into Function::registers
  std::int64_t size() const { return count * bytes(type); }
};

struct Operand;

struct Register {
  int index;  // into Function::registers
};
struct Immediate {
  std::uint64_t bits;  // integers sign-extended to 64 bits; reals as f64 bits, or as f32 bits after 0f
  enum class Kind : std::uint8_t { integer, f32_bits, f64_bits } kind = Kind::integer;
};
struct SpecialRegister {
  std::string name;  // "%tid.x"
};
// A variable, label, function or parameter by name. Addresses keep their own addend: `[tile+16]`.
struct Symbol {
  std::string name;
  std::int64_t addend = 0;  // bytes, of an operand that is an address: `mov.u64 %rd1, tile+16`, or tile[4]
};
struct Address {
  std::variant<Register, Symbol, Immediate> base;
  std::int64_t offset = 0;
};
struct Vector {  // {%r1, %r2}, or the argument list of a call: (a, b); elements may be sinks
  std::vector<Operand> elements;
};
// [map, {%r1, %r2}]: the operand of tensor copies. Offsets of im2col follow as an operand of their own.
struct TensorAddress {
  Address map;
  std::vector<Operand> coordinates;
};
struct Sink {};  // _

struct Operand {
  std::variant<Register, Immediate, SpecialRegister, Symbol, Address, Vector, TensorAddress, Sink> value;
  bool negated = false;               // !%p1, or -%f1 where an instruction allows it
  std::optional<Register> predicate;  // the second half of d|p
  std::string
      part;  // of a video instruction: "h0" of %r1.h0, "b7654" of %r1.b7654; empty: the whole register
};

struct Source {
  int file = 0, line = 0;  // of the last .loc; 0: none
};

struct Instruction {
  std::string opcode;                  // "mma"
  std::vector<std::string> modifiers;  // "sync", "aligned", "m16n8k16", ...: without dots, as written
  std::optional<Register> guard;       // @%p1
  bool guard_negated = false;          // @!%p1
  std::vector<Operand> operands;
  int line = 0;
  Source source;
  std::string text() const;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
};

struct RegisterDeclaration {
  std::string name;  // "%r12"
  Type type;
};

struct Function {
  std::string name;
  bool is_entry = false, is_defined = false;
  std::vector<Variable> parameters, results;
  std::vector<RegisterDeclaration> registers;  // nested scopes flattened: a name may occur twice
  std::vector<Variable> variables;  // .local, .shared and .param declared inside; names made unique
  std::vector<Instruction> body;
  // Index of the next instruction, body.size() at the end of the function; names made unique.
  std::map<std::string, int> labels;
  std::map<std::string, std::vector<std::string>> branch_targets;  // .branchtargets lists, for brx.idx
  std::map<std::string, std::vector<std::string>> call_targets;    // .calltargets lists, for indirect calls
  std::map<std::string, Function> prototypes;                      // .callprototype, for indirect calls
  int max_threads[3] = {0, 0, 0};                                  // .maxntid; 0: not said
  int required_threads[3] = {0, 0, 0};                             // .reqntid
  int required_cluster[3] = {0, 0, 0};                             // .reqnctapercluster
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;  // .blocksareclusters: a launch gives its grid in clusters
  int max_registers = 0;             // .maxnreg; 0: not said
  int min_blocks = 0;                // .minnctapersm
  int line = 0;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;  // "sm_90a"
  int address_size = 64;
  std::map<int, std::string> files;  // .file numbers
  std::vector<Variable> variables;
  std::vector<Function> functions;             // declarations that a definition follows are merged into it
  std::map<std::string, std::string> aliases;  // .alias: another name of a function
  const Function* find(const std::string& name) const;  // through aliases; nullptr: there is none
};

// Throws Error with the line, what was found, and what is needed. Accepts any text: it never crashes.
Module parse(const std::string& text);

}  // namespace tenon::emulator::ptx
