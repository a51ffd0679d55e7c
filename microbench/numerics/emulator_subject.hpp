// The emulator as the chip to characterise: FormKernel's PTX, executed with the arithmetic of one model. What
// the probes find out here is known beforehand, which is how they are tested.
#pragma once

#include <memory>

#include "microbench/numerics/subject.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::probing {

class EmulatorSubject : public Subject {
 public:
  explicit EmulatorSubject(emulator::Numerics numerics);

  std::string description() const override;
  int sm() const override { return 90; }  // every form is there, whatever the arithmetic
  void execute(const emulator::numerics::NamedForm& named,
               std::vector<emulator::numerics::Registers>& sets) override;

 private:
  emulator::Numerics numerics_;
  // Of the form that was executed last: modules stay loaded as long as their emulator.
  std::string loaded_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::unique_ptr<emulator::Module> module_;
};

// "sm_90", "ieee"; of a model that can be chosen.
const char* name(emulator::Numerics numerics);

}  // namespace tenon::probing
