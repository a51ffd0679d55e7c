// The chip to characterise: it executes matrix instructions, and its arithmetic is unknown. Implemented by a
// GPU (cuda_subject.hpp), the emulator (emulator_subject.hpp), and by imaginary chips in the tests.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/numerics/forms.hpp"

namespace tenon::probing {

// The subject cannot execute a form at all; what() is the sentence to print.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual std::string description() const = 0;  // "NVIDIA H200"
  virtual int sm() const = 0;                   // 90: decides which forms exist

  // Executes the form once for each set: reads a, b, c (and metadata if it is sparse), writes d. Throws
  // Unsupported.
  virtual void execute(const emulator::numerics::NamedForm& named,
                       std::vector<emulator::numerics::Registers>& sets) = 0;
};

// The target of a form's PTX: wgmma needs the architecture-specific one ("sm_90a").
inline std::string target_of(const emulator::numerics::NamedForm& named, int sm) {
  return "sm_" + std::to_string(sm) + (named.form.unit == emulator::numerics::Unit::wgmma ? "a" : "");
}

// The registers of one operand of many sets as FormKernel has them in memory: [set][register][lane].
class OperandArray {
 public:
  OperandArray(int registers, int bytes, std::size_t sets)
      : registers_(registers), bytes_(bytes), data_(sets * set_bytes()) {}
  static int bytes_of(const emulator::numerics::Fragment& fragment) {
    return fragment.element_bits() == 64 ? 8 : 4;
  }
  OperandArray(const emulator::numerics::Fragment& fragment, std::size_t sets)
      : OperandArray(fragment.registers(), bytes_of(fragment), sets) {}

  void put(std::size_t set, const std::uint64_t (*from)[32]);
  void get(std::size_t set, std::uint64_t (*to)[32]) const;
  std::vector<char>& data() { return data_; }

 private:
  std::size_t set_bytes() const { return static_cast<std::size_t>(registers_ * bytes_) * 32; }

  int registers_, bytes_;
  std::vector<char> data_;
};

// The five arrays of a FormKernel.
struct OperandArrays {
  OperandArrays(const emulator::numerics::Mma& mma, const std::vector<emulator::numerics::Registers>& sets);
  void take_results(std::vector<emulator::numerics::Registers>& sets) const;

  OperandArray a, b, c, metadata, d;
};

}  // namespace tenon::probing
