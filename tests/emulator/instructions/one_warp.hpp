// A warp of 32 lanes and a few instructions, run by their handlers only: no executor, no memory. Registers
// are %h0..15 (b16), %r0..15 (b32), %d0..15 (b64), %p0..7 (pred) and %q0..3 (b128).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/machine/function_scope.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator::testing {

using Lanes = std::array<std::uint64_t, warp_size>;

class OneWarp {
 public:
  // Throws ptx::Error if an instruction is refused.
  explicit OneWarp(const std::string& instructions, const std::string& target = "sm_90a",
                   std::uint32_t threads = warp_size)
      : module_(ptx::parse(".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k() {\n" +
                           ".reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .pred %p<8>;" +
                           " .reg .b128 %q<4>;\n" + instructions + "\n}\n")) {
    const ptx::Function& function = *module_.find("k");
    program_.module = &module_;
    program_.entry = &function;
    program_.target = std::stoi(target.substr(3));
    auto code = std::make_unique<FunctionCode>();
    code->function = &function;
    KernelLayout layout;
    layout.module = &module_;
    RegisterSlots slots;  // one per register: tests read them, whether or not the text uses them
    for (const ptx::RegisterDeclaration& declaration : function.registers) {
      slots.of.push_back(slots.count);
      slots.count += declaration.type == ptx::Type::b128 ? 2 : 1;
    }
    scope_ = std::make_unique<FunctionScope>(layout, *code, program_, slots);
    program_.functions.push_back(std::move(code));
    program_.steps.resize(function.body.size());
    Decoders decoders;
    add_integer_instructions(decoders);
    add_float_instructions(decoders);
    add_conversion_instructions(decoders);
    add_warp_instructions(decoders);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const ptx::Instruction& instruction = function.body[i];
      Op& op = program_.steps[i].op;
      op.instruction = &instruction;
      const auto decoder = decoders.find(instruction.opcode);
      if (decoder == decoders.end())
        throw ptx::Error(instruction.line, "`" + instruction.opcode + "` is not known");
      scope_->begin(instruction.line);
      decoder->second(instruction, *scope_, op);
      if (op.handler == nullptr) throw std::logic_error(instruction.text() + " was decoded to nothing");
    }
    launch_.program = &program_;
    launch_.grid = launch_.cluster = {1, 1, 1};
    launch_.block = {threads, 1, 1};
    counters_ = std::make_unique<PcCounters>(program_.steps.size());
    cluster_ = std::make_unique<Cluster>(launch_, 0, *counters_);
  }

  Warp& warp() { return *cluster_->ctas[0]->warps[0]; }
  const std::vector<Findings::Entry>& findings() const { return cluster_->findings.entries(); }

  // The 32 lanes of "%r1".
  std::uint64_t* lanes(const std::string& name) {
    const auto& registers = program_.entry->registers;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (registers[i].name == name) return warp().lanes(scope_->slot({static_cast<int>(i)}));
    }
    throw std::logic_error("no register " + name);
  }
  void set(const std::string& name, const Lanes& values) {
    for (std::size_t lane = 0; lane < values.size(); ++lane) lanes(name)[lane] = values[lane];
  }
  void set_all(const std::string& name, std::uint64_t value) {
    for (int lane = 0; lane < warp_size; ++lane) lanes(name)[lane] = value;
  }
  Lanes get(const std::string& name) {
    Lanes values;
    for (std::size_t lane = 0; lane < values.size(); ++lane) values[lane] = lanes(name)[lane];
    return values;
  }

  // Runs all instructions in order; returns the Flow of the last one.
  Flow run(LaneMask active = all_lanes) {
    Flow flow = Flow::next;
    for (const Step& step : program_.steps) flow = step.op.handler(warp(), step.op, active);
    return flow;
  }

 private:
  ptx::Module module_;
  Program program_;
  std::unique_ptr<FunctionScope> scope_;
  Launch launch_;
  std::unique_ptr<PcCounters> counters_;
  std::unique_ptr<Cluster> cluster_;
};

// The sentence that refuses the instructions; empty if they are accepted.
inline std::string refusal(const std::string& instructions, const std::string& target = "sm_90a") {
  try {
    OneWarp warp(instructions, target);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace tenon::emulator::testing
