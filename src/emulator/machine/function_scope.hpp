// Resolves operands while a function is decoded: registers to slots, variables to addresses or to frame slots
// that hold them, labels and functions to program counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulator/machine/program.hpp"
#include "emulator/machine/register_slots.hpp"

namespace tenon::emulator {

// The variables of a module as one kernel sees them.
struct KernelLayout {
  const Symbols* symbols = nullptr;
  std::map<const ptx::Variable*, std::uint32_t> shared;     // offset in the CTA's shared memory
  std::map<const ptx::Function*, FunctionCode*> functions;  // that can be called
  const ptx::Module* module = nullptr;
};

class FunctionScope : public Scope {
 public:
  FunctionScope(const KernelLayout& layout, FunctionCode& code, Program& program, RegisterSlots slots);

  Value value(const ptx::Operand& operand, ptx::Type type) override;
  std::vector<Value> values(const ptx::Operand& operand, ptx::Type type) override;
  Value address(const ptx::Operand& operand, Op& op) override;
  ptx::Type register_type(const ptx::Register& reg) override;
  int target() const override { return program_.target; }
  int line() const override { return line_; }

  // For control instructions.
  Pc label(const std::string& name) const;
  const std::vector<std::string>& branch_targets(const std::string& name) const;
  bool is_defined(const std::string& function) const;
  const FunctionCode& function(const std::string& name) const;  // throws if it cannot be called
  const ptx::Function* prototype(const std::string& name) const;
  // A .param variable or a register; `declared` is what the callee declares it as.
  CallOperand call_operand(const ptx::Operand& operand, const ptx::Variable& declared);

  // For decode(): the line of the instruction that is decoded, and whether it reads a timer.
  void begin(int line) {
    line_ = line;
    reads_timer_ = false;
  }
  bool reads_timer() const { return reads_timer_; }
  int slot(const ptx::Register& reg) const { return slots_[static_cast<std::size_t>(reg.index)]; }

 private:
  struct Local {
    const ptx::Variable* variable;
    std::int64_t offset;  // in the frame's local bytes
  };
  void lay_out(const std::vector<ptx::Variable>& variables, bool is_parameter);
  const Local* local(const std::string& name) const;
  Value special(const std::string& name);
  Value frame_value(Special kind, std::int64_t offset);
  Value variable(const ptx::Symbol& symbol);
  Value register_value(const ptx::Register& reg) const;
  Value constant(const ptx::Immediate& immediate, ptx::Type type) const;
  [[noreturn]] void fail(const std::string& sentence) const;

  const KernelLayout& layout_;
  const ptx::Function& function_;
  FunctionCode& code_;
  Program& program_;
  std::vector<int> slots_;  // by register: RegisterSlots::of
  std::vector<Local> locals_;
  std::map<std::string, std::size_t> local_index_;
  std::map<std::pair<Special, std::int64_t>, int> frame_slots_;
  int line_ = 0;
  bool reads_timer_ = false;
};

}  // namespace tenon::emulator
