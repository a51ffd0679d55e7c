// Where a product goes. Plain C++17. Below: types.hpp.
#pragma once

#include <cstdint>

#include "tenon/fragment/host_device.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

// C in device memory, row-major, m x n.
struct Output {
  void* data;
  std::int64_t ld;  // elements
  int m, n;
  Type type;
};

// Whether the copy engine can write C: what a tensor map of it needs, and rows that end with whole 16 bytes.
// (It begins each 16 bytes within the matrix, and then writes them to the end, also beyond it.)
TENON_HOST_DEVICE inline bool copy_engine_can_write(const Output& c) {
  const std::uint64_t element = bytes(c.type);
  return reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
         static_cast<std::uint64_t>(c.ld) * element % 16 == 0 &&
         static_cast<std::uint64_t>(c.n) * element % 16 == 0;
}

}  // namespace tenon
