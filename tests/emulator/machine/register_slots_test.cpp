// Registers that share slots: every read sees the last write, or zero, on every path; registers that must not
// share have a slot of their own; a chain of values takes only a few slots.
#include "emulator/machine/register_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "emulator/machine/registers_of.hpp"

namespace tenon::emulator::testing {
namespace {

ptx::Module module_of(const std::string& body) {
  return ptx::parse(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n" + body +
                    "\n}\n");
}

int slot_of(const ptx::Function& function, const RegisterSlots& slots, const std::string& name) {
  for (std::size_t i = 0; i < function.registers.size(); ++i)
    if (function.registers[i].name == name) return slots.of[i];
  ADD_FAILURE() << "there is no " << name;
  return -1;
}

TEST(RegisterSlots, AChainOfValuesTakesTwoAndUnusedRegistersNone) {
  std::string body = ".reg .b32 %r<20000>;\nmov.u32 %r0, 1;\n";
  for (int i = 1; i < 1000; ++i)
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  EXPECT_EQ(share_slots(module_of(body).functions[0]).count, 2);
  EXPECT_EQ(share_slots(module_of(".reg .b32 %r<20000>;").functions[0]).count, 0);
}

TEST(RegisterSlots, AValueThatALoopNeedsIsNotOverwrittenInIt) {
  const ptx::Module module = module_of(R"(
    .reg .b32 %r<8>; .reg .pred %p;
    mov.u32 %r0, 7; mov.u32 %r1, 0;
  L:
    add.u32 %r1, %r1, %r0;   // the last place of the text where %r0 stands
    mov.u32 %r2, 3; add.u32 %r3, %r2, %r2; setp.lt.u32 %p, %r1, %r3;
    @%p bra L;)");
  const RegisterSlots slots = share_slots(module.functions[0]);
  for (const char* other : {"%r1", "%r2", "%r3", "%p"})
    EXPECT_NE(slot_of(module.functions[0], slots, "%r0"), slot_of(module.functions[0], slots, other))
        << other;
}

TEST(RegisterSlots, OperandsOfAsynchronousProductsAndB128KeepTheirOwn) {
  const ptx::Module module = module_of(R"(
    .reg .b32 %r<40>; .reg .f32 %f<4>; .reg .b64 %d<4>; .reg .b128 %q<2>;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    mov.u64 %d0, 1; mov.u64 %d1, 2;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 0;
    mov.u64 %d2, 3; mov.u64 %d3, %d2; mov.b128 %q0, {%d2, %d3}; mov.b128 %q1, %q0;
    mov.u32 %r1, 1; mov.u32 %r2, 2;)");
  const RegisterSlots slots = share_slots(module.functions[0]);
  std::multiset<int> taken;
  for (const char* name : {"%f0", "%f1", "%f2", "%f3", "%d0", "%d1", "%q0", "%q1", "%r1", "%d2"}) {
    const int slot = slot_of(module.functions[0], slots, name);
    taken.insert(slot);
    if (name[1] == 'q') taken.insert(slot + 1);
    EXPECT_LT(slot, slots.count);
  }
  const std::set<int> distinct(taken.begin(), taken.end());
  EXPECT_EQ(distinct.size(), 11U) << "%r1 may take what %d2 had, and nobody else anything";
}

// A function of arithmetic, some of it guarded, with branches to arbitrary labels.
std::string random_body(std::mt19937& random, int length) {
  const auto pick = [&](int below) { return std::to_string(random() % static_cast<unsigned>(below)); };
  std::string body = ".reg .b32 %r<12>; .reg .pred %p<3>;\n";
  for (int i = 0; i < length; ++i) {
    body += "L" + std::to_string(i) + ":\n";
    const std::string guard = random() % 4 == 0 ? "@%p" + pick(3) + " " : "";
    switch (random() % 6) {
      case 0:
        body += (random() % 2 == 0 ? "@!%p" + pick(3) + " " : "") + "bra L" + pick(length) + ";\n";
        break;
      case 1:
        body += guard + "setp.lt.u32 %p" + pick(3) + ", %r" + pick(12) + ", 5;\n";
        break;
      case 2:
        body += guard + "mov.u32 %r" + pick(12) + ", 1;\n";
        break;
      case 3:
        body += guard + "bar.sync %r" + pick(12) + ";\n";
        break;
      default:
        body += guard + "add.u32 %r" + pick(12) + ", %r" + pick(12) + ", %r" + pick(12) + ";\n";
    }
  }
  return body;
}

TEST(RegisterSlots, EveryPathOfARandomFunctionReadsWhatItWrote) {
  std::mt19937 random(20);
  int shared = 0;
  for (int program = 0; program < 400; ++program) {
    const ptx::Module module = module_of(random_body(random, 6 + static_cast<int>(random() % 40)));
    const ptx::Function& function = module.functions[0];
    const RegisterSlots slots = share_slots(function);
    shared += slots.count < 15 ? 1 : 0;
    for (int path = 0; path < 10; ++path) {
      // The value in a slot is the number of the write; 0: none.
      std::vector<int> in_slot(static_cast<std::size_t>(slots.count)), expected(function.registers.size());
      int writes = 0;
      std::size_t at = 0;
      for (int step = 0; step < 200 && at < function.body.size(); ++step) {
        const ptx::Instruction& instruction = function.body[at];
        const auto read = [&](const ptx::Register& reg) {
          const auto index = static_cast<std::size_t>(reg.index);
          ASSERT_EQ(in_slot[static_cast<std::size_t>(slots.of[index])], expected[index])
              << "program " << program << ", line " << instruction.line;
        };
        if (instruction.guard) read(*instruction.guard);
        const bool is_executed = !instruction.guard || random() % 2 == 0;
        ++at;
        if (!is_executed) continue;
        if (instruction.opcode == "bra") {
          at = static_cast<std::size_t>(
              function.labels.at(std::get<ptx::Symbol>(instruction.operands[0].value).name));
          continue;
        }
        const std::size_t first_source = instruction.opcode == "bar" ? 0 : 1;
        for (std::size_t i = first_source; i < instruction.operands.size(); ++i)
          visit_registers(instruction.operands[i], read);
        if (HasFatalFailure()) return;
        if (first_source == 0) continue;
        const auto index =
            static_cast<std::size_t>(std::get<ptx::Register>(instruction.operands[0].value).index);
        in_slot[static_cast<std::size_t>(slots.of[index])] = expected[index] = ++writes;
      }
    }
  }
  EXPECT_GT(shared, 100) << "nothing is proven where nothing is shared";
}

}  // namespace
}  // namespace tenon::emulator::testing
