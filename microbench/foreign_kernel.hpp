// The kernel that stands for the others in a model's stream: as small as a kernel can be, and without
// programmatic dependent launch, so that it overlaps neither the launch before it nor the one after it.
#pragma once

#include <cuda_runtime.h>

#include "microbench/cuda_check.hpp"
#include "tenon/status.hpp"

namespace tenon::microbench {

class ForeignKernel {
 public:
  ForeignKernel();

  // One CTA of one warp, which adds 1 to a word in global memory.
  Status enqueue(cudaStream_t stream) const;
  // How many have run, once the device has finished them.
  unsigned int launches() const;

 private:
  DeviceBuffer word_;
};

}  // namespace tenon::microbench
