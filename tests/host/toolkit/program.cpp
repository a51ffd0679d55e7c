// Prints the version of CUDA's runtime, as 13000, and the names of the kernels of the library.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "gemm/kernel.hpp"

int main() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) return 1;
  std::printf("%d\n", version);
  for (const tenon::Kernel& kernel : tenon::kernels()) std::puts(kernel.name.c_str());
  return 0;
}
