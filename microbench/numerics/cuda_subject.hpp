// A GPU as the chip to characterise: FormKernel's PTX, assembled by the driver.
#pragma once

#include <cuda_runtime.h>

#include "microbench/numerics/subject.hpp"

namespace tenon::probing {

class CudaSubject : public Subject {
 public:
  // The first device. Throws Unsupported if there is none.
  CudaSubject();
  ~CudaSubject() override;

  std::string description() const override { return description_; }
  int sm() const override { return sm_; }
  void execute(const emulator::numerics::NamedForm& named,
               std::vector<emulator::numerics::Registers>& sets) override;

 private:
  void load(const emulator::numerics::NamedForm& named);
  void unload();

  std::string description_;
  int sm_ = 0;
  std::string loaded_;  // the text of the loaded kernel
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace tenon::probing
