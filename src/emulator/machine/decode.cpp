// From a parsed module to a Program: the functions that a kernel can call, the offsets of its shared
// variables, and each instruction through the decoder of its opcode.
#include <algorithm>
#include <set>

#include "emulator/machine/copy_only_loads.hpp"
#include "emulator/machine/function_scope.hpp"
#include "emulator/machine/memory.hpp"
#include "emulator/machine/registers_of.hpp"

namespace tenon::emulator {
namespace {

struct Family {
  void (*add)(Decoders&);
  InstructionClass kind;
};
// In this order: later families may replace an earlier family's decoder for a part of an opcode (fence,
// barrier, st, red).
constexpr Family decoder_families[] = {
    {add_integer_instructions, InstructionClass::integer},
    {add_float_instructions, InstructionClass::floating_point},
    {add_conversion_instructions, InstructionClass::conversion},
    {add_memory_instructions, InstructionClass::memory},
    {add_control_instructions, InstructionClass::control},
    {add_warp_instructions, InstructionClass::warp},
    {add_matrix_instructions, InstructionClass::matrix},
    {add_async_copy_instructions, InstructionClass::async_copy},
    {add_mbarrier_instructions, InstructionClass::mbarrier},
    {add_wgmma_instructions, InstructionClass::wgmma},
    {add_texture_instructions, InstructionClass::memory},
    {add_cluster_instructions, InstructionClass::cluster},
};

struct Opcodes {
  Decoders decoders;
  std::unordered_map<std::string, InstructionClass> kinds;
};

const Opcodes& opcodes() {
  static const Opcodes all = [] {
    Opcodes made;
    for (const Family& family : decoder_families) {
      family.add(made.decoders);
      for (const auto& [opcode, decoder] : made.decoders) made.kinds.emplace(opcode, family.kind);
    }
    return made;
  }();
  return all;
}

// `add` and similar opcodes belong to the integers; their types tell the class.
InstructionClass class_of(const ptx::Instruction& instruction, InstructionClass by_opcode) {
  if (by_opcode != InstructionClass::integer) return by_opcode;
  static const std::set<std::string> real = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"};
  const bool is_real = std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                                   [](const std::string& modifier) { return real.count(modifier) != 0; });
  return is_real ? InstructionClass::floating_point : by_opcode;
}

// Every name that an operand mentions.
template <class Visit>
void visit_symbols(const ptx::Operand& operand, Visit&& visit) {
  const auto visit_address = [&](const ptx::Address& address) {
    if (const auto* symbol = std::get_if<ptx::Symbol>(&address.base)) visit(symbol->name);
  };
  if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value)) visit(symbol->name);
  if (const auto* address = std::get_if<ptx::Address>(&operand.value)) visit_address(*address);
  if (const auto* tensor = std::get_if<ptx::TensorAddress>(&operand.value)) visit_address(tensor->map);
  if (const auto* list = std::get_if<ptx::Vector>(&operand.value))
    for (const ptx::Operand& element : list->elements) visit_symbols(element, visit);
}

// The entry, every function that it can reach, and the module's shared variables that they mention.
class Reach {
 public:
  Reach(const ptx::Module& module, const ptx::Function& entry) : module_(module) {
    add(entry);
    // A call through a pointer may reach any function whose address is in a table.
    if (calls_pointers_)
      for (const ptx::Variable& variable : module.variables)
        for (const ptx::Variable::Address& address : variable.addresses) add_named(address.symbol);
  }
  const std::vector<const ptx::Function*>& functions() const { return functions_; }
  bool mentions(const std::string& variable) const { return names_.count(variable) != 0; }

 private:
  void add(const ptx::Function& function) {
    if (!function.is_defined || !known_.insert(&function).second) return;
    functions_.push_back(&function);
    for (const ptx::Instruction& instruction : function.body) {
      if (instruction.opcode == "call")
        calls_pointers_ |= std::any_of(
            instruction.operands.begin(), instruction.operands.end(),
            [](const ptx::Operand& operand) { return std::holds_alternative<ptx::Register>(operand.value); });
      for (const ptx::Operand& operand : instruction.operands)
        visit_symbols(operand, [&](const std::string& name) {
          if (names_.insert(name).second) add_named(name);
        });
    }
  }
  void add_named(const std::string& name) {
    if (const ptx::Function* function = module_.find(name)) add(*function);
  }

  const ptx::Module& module_;
  std::vector<const ptx::Function*> functions_;
  std::set<const ptx::Function*> known_;
  std::set<std::string> names_;
  bool calls_pointers_ = false;
};

// Static variables one after the other; after them all `extern .shared x[]` at the same offset: dynamic
// memory.
void lay_out_shared(const Reach& reach, KernelLayout& layout, Program& program) {
  std::int64_t end = shared_reserved, dynamic_alignment = 16;
  std::vector<const ptx::Variable*> dynamic;
  const auto pc = [&](const ptx::Variable& variable) {
    if (variable.space != ptx::Space::shared) return;
    if (variable.count == 0) {
      dynamic.push_back(&variable);
      dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
      return;
    }
    if (!variable.initial.empty()) {
      throw ptx::Error(variable.line, "the shared variable `" + variable.name +
                                          "` has an initial value, which "
                                          "shared memory cannot have");
    }
    end = (end + variable.alignment - 1) / variable.alignment * variable.alignment;
    layout.shared[&variable] = static_cast<std::uint32_t>(end);
    end += variable.size();
    if (end > 1 << shared_rank_shift)
      throw ptx::Error(variable.line, "the kernel's static shared memory exceeds 16 MiB");
  };
  for (const ptx::Variable& variable : layout.module->variables)
    if (reach.mentions(variable.name)) pc(variable);
  for (const ptx::Function* function : reach.functions())
    for (const ptx::Variable& variable : function->variables) pc(variable);
  program.static_shared = static_cast<std::uint32_t>(end - shared_reserved);
  program.dynamic_alignment = static_cast<std::uint32_t>(dynamic_alignment);
  end = (end + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
  for (const ptx::Variable* variable : dynamic) layout.shared[variable] = static_cast<std::uint32_t>(end);
}

void decode_instruction(const ptx::Instruction& instruction, FunctionScope& scope, Step& step) {
  const auto decoder = opcodes().decoders.find(instruction.opcode);
  if (decoder == opcodes().decoders.end())
    throw ptx::Error(instruction.line, "the instruction `" + instruction.text() + "` is not known");
  scope.begin(instruction.line);
  step.op.instruction = &instruction;
  decoder->second(instruction, scope, step.op);
  if (step.op.handler == nullptr)
    throw ptx::Error(instruction.line, "the instruction `" + instruction.text() + "` has no meaning here");
  if (instruction.guard) {
    step.op.guard.slot = scope.slot(*instruction.guard);
    step.op.guard_negated = instruction.guard_negated;
  }
  step.kind = class_of(instruction, opcodes().kinds.at(instruction.opcode));
  step.reads_timer = scope.reads_timer();
  step.is_wgmma = instruction.opcode == "wgmma";
}

// Marks the instructions that name registers of wgmma (accumulators and fragments of A: its lists).
void find_wgmma_registers(const FunctionScope& scope, const std::vector<ptx::Instruction>& body,
                          Step* steps) {
  std::set<int> slots;
  for (const ptx::Instruction& instruction : body) {
    if (instruction.opcode != "wgmma") continue;
    for (const ptx::Operand& operand : instruction.operands)
      if (std::holds_alternative<ptx::Vector>(operand.value))
        visit_registers(operand, [&](const ptx::Register& reg) { slots.insert(scope.slot(reg)); });
  }
  if (slots.empty()) return;
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (body[at].opcode == "wgmma") continue;
    const auto note = [&](const ptx::Register& reg) {
      if (slots.count(scope.slot(reg)) != 0) steps[at].wgmma_slots.push_back(scope.slot(reg));
    };
    for (const ptx::Operand& operand : body[at].operands) visit_registers(operand, note);
    if (body[at].guard) note(*body[at].guard);
  }
}

// The sentences of all failed decodings, as one error.
class Problems {
 public:
  void add(const ptx::Error& error) {
    if (count_++ == 0) line_ = error.line;
    if (count_ <= shown) text_ += (text_.empty() ? "" : "\n") + std::string(error.what());
  }
  void check() const {
    if (count_ == 0) return;
    std::string text = text_;
    if (count_ > shown) text += "\nand " + std::to_string(count_ - shown) + " more";
    const std::string prefix = "line " + std::to_string(line_) + ": ";  // Error adds it again
    throw ptx::Error(line_, text.substr(text.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0));
  }

 private:
  static constexpr int shown = 20;
  int count_ = 0, line_ = 0;
  std::string text_;
};

void check_sizes(const Program& program) {
  for (const auto& code : program.functions)
    if (code->local_bytes > largest_local)
      throw ptx::Error(code->function->line, "the function `" + code->function->name + "` has " +
                                                 std::to_string(code->local_bytes) +
                                                 " bytes of local memory; a thread can have " +
                                                 std::to_string(largest_local));
  if (program.parameter_bytes > largest_parameters)
    throw ptx::Error(program.entry->line, "the kernel `" + program.entry->name + "` has " +
                                              std::to_string(program.parameter_bytes) +
                                              " bytes of parameters; it can have " +
                                              std::to_string(largest_parameters));
}

int target_number(const std::string& target) {
  int number = 0;
  for (const char c : target)
    if (c >= '0' && c <= '9' && number < 100000) number = 10 * number + (c - '0');
  return number;
}

}  // namespace

std::uint64_t function_address(const ptx::Module& module, const ptx::Function& function) {
  return code_window + 16 * static_cast<std::uint64_t>(&function - module.functions.data() + 1);
}

std::string Program::source(Pc pc) const {
  const ptx::Source& source = steps[pc].op.instruction->source;
  const auto file = module->files.find(source.file);
  if (source.line == 0 || file == module->files.end()) return {};
  return file->second + ":" + std::to_string(source.line);
}

std::unique_ptr<Program> decode(const ptx::Module& module, const ptx::Function& entry,
                                const Symbols& symbols) {
  auto program = std::make_unique<Program>();
  program->module = &module;
  program->entry = &entry;
  program->target = target_number(module.target);

  const Reach reach(module, entry);
  KernelLayout layout;
  layout.symbols = &symbols;
  layout.module = &module;
  lay_out_shared(reach, layout, *program);
  Pc pcs = 0;
  for (const ptx::Function* function : reach.functions()) {
    auto code = std::make_unique<FunctionCode>();
    code->function = function;
    code->entry = pcs;
    pcs += static_cast<Pc>(function->body.size()) + 1;  // and the implicit return
    layout.functions[function] = code.get();
    program->by_address[function_address(module, *function)] = code.get();
    program->functions.push_back(std::move(code));
  }
  std::vector<std::unique_ptr<FunctionScope>>
      scopes;  // all scopes before the first body: calls look at callees
  for (const auto& code : program->functions)
    scopes.push_back(std::make_unique<FunctionScope>(layout, *code, *program, share_slots(*code->function)));

  check_sizes(*program);

  program->steps.resize(pcs);
  Problems problems;
  for (std::size_t i = 0; i < program->functions.size(); ++i) {
    const FunctionCode& code = *program->functions[i];
    auto back = std::make_unique<ptx::Instruction>();
    back->opcode = "ret";
    back->line = code.function->body.empty() ? code.function->line : code.function->body.back().line;
    Step* step = &program->steps[code.entry];
    const std::vector<bool> carrying = copy_only_loads(*code.function);
    for (std::size_t at = 0; at < carrying.size(); ++at) step[at].only_copies = carrying[at];
    find_wgmma_registers(*scopes[i], code.function->body, step);
    const auto decode_one = [&](const ptx::Instruction& instruction) {
      step->code = &code;
      step->text = instruction.text();
      try {
        decode_instruction(instruction, *scopes[i], *step);
      } catch (const ptx::Error& error) {
        problems.add(error);
      }
      ++step;
    };
    for (const ptx::Instruction& instruction : code.function->body) decode_one(instruction);
    decode_one(*back);
    program->implicit_returns.push_back(std::move(back));
  }
  problems.check();
  return program;
}

}  // namespace tenon::emulator
