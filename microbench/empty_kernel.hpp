// The kernel whose launch costs the host what any launch of a product's costs it at least.
#pragma once

namespace tenon::microbench {

// What it is called with: as many bytes as the arguments of a wgmma kernel.
struct EmptyKernelArguments {
  char bytes[768];
};

// For cudaLaunchKernelExC(). It does nothing, in any grid.
const void* empty_kernel();

}  // namespace tenon::microbench
