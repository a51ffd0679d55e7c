// Where a product goes. Plain C++17. Below: types.hpp.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// C in device memory, row-major, m x n.
struct Output {
  void* data;
  std::int64_t ld;  // elements
  int m, n;
  Type type;
};

// Whether TMA can store C, of 16 or 32-bit elements: what a tensor map of it needs, and rows that end with
// whole 16 bytes. (TMA leaves out what begins beyond the matrix in steps of 16 bytes.)
TENON_HOST_DEVICE inline bool tma_can_store(const Output& c) {
  const std::uint64_t element = bytes(c.type);
  return element > 1 && reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
         static_cast<std::uint64_t>(c.ld) * element % 16 == 0 &&
         static_cast<std::uint64_t>(c.n) * element % 16 == 0;
}

}  // namespace tenon
