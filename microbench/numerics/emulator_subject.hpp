// The emulator as the chip to characterise: executes FormKernel's PTX with the arithmetic of one model. The
// correct findings are known in advance, so this tests the probes.
#pragma once

#include <memory>

#include "microbench/numerics/subject.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::probing {

class EmulatorSubject : public Subject {
 public:
  explicit EmulatorSubject(emulator::Numerics numerics);

  std::string description() const override;
  int sm() const override { return 90; }  // every form exists, whatever the arithmetic
  void execute(const emulator::numerics::NamedForm& named,
               std::vector<emulator::numerics::Registers>& sets) override;

 private:
  emulator::Numerics numerics_;
  // The form executed last: modules stay loaded as long as their emulator.
  std::string loaded_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::unique_ptr<emulator::Module> module_;
};

// The name of a selectable model: "sm_90", "ieee".
const char* name(emulator::Numerics numerics);

}  // namespace tenon::probing
