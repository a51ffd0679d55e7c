#include "microbench/numerics/emulator_subject.hpp"

#include "emulator/numerics/form_kernel.hpp"

namespace tenon::probing {

using namespace emulator::numerics;

const char* name(emulator::Numerics numerics) {
  switch (numerics) {
    case emulator::Numerics::sm_75:
      return "sm_75";
    case emulator::Numerics::sm_80:
      return "sm_80";
    case emulator::Numerics::sm_89:
      return "sm_89";
    case emulator::Numerics::sm_90:
      return "sm_90";
    case emulator::Numerics::ieee:
      return "ieee";
    default:
      return "target";
  }
}

EmulatorSubject::EmulatorSubject(emulator::Numerics numerics) : numerics_(numerics) {}

std::string EmulatorSubject::description() const {
  return std::string("the emulator with the arithmetic of ") + name(numerics_);
}

void EmulatorSubject::execute(const NamedForm& named, std::vector<Registers>& sets) {
  const std::string text = FormKernel(named, target_of(named, sm())).text();
  if (text != loaded_) {
    loaded_.clear();
    module_.reset();
    emulator_ = std::make_unique<emulator::Emulator>();
    module_ = std::make_unique<emulator::Module>(emulator_->load(text));
    loaded_ = text;
  }
  OperandArrays arrays(Mma(named.form), sets);
  std::vector<emulator::Argument> arguments;
  std::vector<emulator::Address> memory;
  for (OperandArray* array : {&arrays.a, &arrays.b, &arrays.c, &arrays.metadata, &arrays.d}) {
    memory.push_back(emulator_->allocate(array->data().size()));
    arguments.emplace_back(memory.back());
    if (array != &arrays.d) emulator_->copy_in(memory.back(), array->data().data(), array->data().size());
  }
  arguments.emplace_back(static_cast<std::uint32_t>(sets.size()));
  const auto per_block = static_cast<std::size_t>(FormKernel::sets_per_block(named));
  emulator::Options options;
  options.numerics = numerics_;
  emulator::Shape shape;
  shape.grid = {static_cast<std::uint32_t>((sets.size() + per_block - 1) / per_block)};
  shape.block = {32 * FormKernel::warps_per_block};
  const emulator::Result result = emulator_->launch(*module_, "probe", shape, arguments, options);
  if (!result.findings.empty()) {
    throw std::runtime_error(named.text +
                             ": the probe's kernel has a fault: " + result.findings.front().message);
  }
  emulator_->copy_out(arrays.d.data().data(), memory.back(), arrays.d.data().size());
  arrays.take_results(sets);
  for (const emulator::Address address : memory) emulator_->free(address);
}

}  // namespace tenon::probing
