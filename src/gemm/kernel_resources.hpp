// What each compiled kernel takes of an SM, read from the machine code at build time
// (scripts/kernel_report): `tenon list` answers with it on machines without a GPU, where
// cudaFuncGetAttributes cannot.
#pragma once

#include <cstddef>
#include <cstring>

namespace tenon {

struct KernelResources {
  const char* symbol;       // mangled name
  const void* function;     // the __global__ function (Kernel::function); nullptr if it has internal linkage
                            // or comes from a cubin that no host code is linked with
  int sm;                   // 80, 90
  bool exact_sm;            // true for sm_90a code
  int registers;            // of a thread
  int local_bytes;          // stack frame of a thread: 0 means nothing was spilled
  int static_shared_bytes;  // of a CTA; dynamic shared memory is the launch's
};

// Defined in the generated kernel_resources.cpp: one row a kernel and architecture.
extern const KernelResources kernel_resources[];
extern const std::size_t kernel_resources_count;

// The symbol of a kernel that is linked in; nullptr if the table does not have it.
inline const char* kernel_symbol(const void* function) noexcept {
  for (std::size_t i = 0; i < kernel_resources_count; ++i) {
    const KernelResources& row = kernel_resources[i];
    if (function != nullptr && row.function == function) return row.symbol;
  }
  return nullptr;
}

// The row that a device of compute capability sm (86: the newest code for 86 or older of the same major)
// runs; nullptr if the kernel has no code for it, or if symbol is null.
inline const KernelResources* find_kernel_resources(const char* symbol, int sm) noexcept {
  const KernelResources* best = nullptr;
  for (std::size_t i = 0; symbol != nullptr && i < kernel_resources_count; ++i) {
    const KernelResources& row = kernel_resources[i];
    const bool runs = row.exact_sm ? row.sm == sm : row.sm <= sm && row.sm / 10 == sm / 10;
    if (runs && std::strcmp(row.symbol, symbol) == 0 && (best == nullptr || row.sm >= best->sm)) best = &row;
  }
  return best;
}

// The row of the lowest architecture that the kernel has code for; nullptr if it has none, or if symbol is
// null.
inline const KernelResources* lowest_kernel_resources(const char* symbol) noexcept {
  const KernelResources* lowest = nullptr;
  for (std::size_t i = 0; symbol != nullptr && i < kernel_resources_count; ++i) {
    const KernelResources& row = kernel_resources[i];
    if (std::strcmp(row.symbol, symbol) == 0 && (lowest == nullptr || row.sm < lowest->sm)) lowest = &row;
  }
  return lowest;
}

}  // namespace tenon
