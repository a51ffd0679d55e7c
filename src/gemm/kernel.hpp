// The list of compiled GEMM kernels: what each is, and how to launch it. Internal to the compiled library;
// the command line, the tests and the benchmarks read it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon {

// How a kernel brings operands from global to shared memory: it bounds the problems that the kernel accepts.
enum class Copy {
  tma,       // cp.async.bulk.tensor: base and leading dimension multiples of 16 bytes; sm_90a
  cp_async,  // cp.async 16 bytes: base and leading dimension multiples of 16 bytes; sm_80
  any,       // per operand 16-, 4-byte cp.async or element loads, whatever its alignment allows; sm_80
  module,    // the hand-written PTX module of ptx/kernels, loaded through the driver
};

struct Kernel {
  std::string name;  // unique, lower case: "tma_f16_f32_tn_256x128x64_s4"
  int minimum_sm;    // 80, 90
  bool exact_sm;     // true for sm_90a code: runs on compute capability 9.0 alone
  Copy copy;
  Type type;  // of A and B
  Type accumulate;
  Order a_order, b_order;
  int tile_m, tile_n, tile_k;    // block tile
  int warp_m, warp_n;            // warp tile
  int stages, threads, cluster;  // cluster: CTAs that share operands by multicast, else 1
  std::size_t shared_bytes;      // dynamic shared memory of a block
  const void* function;  // the __global__ function for cudaFuncGetAttributes; nullptr for Copy::module
  // Enqueues. The problem was validated and has m, n > 0; k may be 0.
  Status (*launch)(const Kernel& self, const Gemm& problem, CUstream_st* stream);
};

// Every GEMM kernel of the library, best first within a (type, accumulate, layout).
const std::vector<Kernel>& kernels();

// nullptr if there is none of that name.
const Kernel* find_kernel(const std::string& name);

}  // namespace tenon
