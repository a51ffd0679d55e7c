// What kernel_table.py writes from kernels.csv: the sources that hold the kernels of the library.
#pragma once

#include <cstddef>
#include <vector>

#include "gemm/kernel.hpp"

namespace tenon {

// The columns of kernels.csv that only the choice among kernels reads.
struct KernelCost {
  double efficiency;  // Kernel::efficiency
  int resident;       // Kernel::resident
};

struct KernelSource {
  const char* name;  // of the source
  const char* ptx;   // of the file of its PTX, without extension
  const char* part;  // of the library: family and types
  void (*append)(std::vector<Kernel>& list);
  const KernelCost* costs;  // of its kernels, in the order in which append() adds them
  std::size_t kernels;
};

extern const KernelSource kernel_sources[];
extern const std::size_t kernel_source_count;

}  // namespace tenon
