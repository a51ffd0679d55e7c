// One mma form that a warp can execute: on the GPU, or as the PTX of its kernel. The list is generated from
// the table.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::test {

// The registers of an operand for all 32 lanes, as 32-bit words, lane by lane.
using Registers = std::vector<std::uint32_t>;

// What a warp multiplies. `d` comes in with the size and the poison that the result replaces; `e`, the
// metadata of mma.sp, has a word a lane.
struct MmaOperands {
  Registers a, b, c, e, d;
};

struct MmaCase {
  const char* mnemonic;
  const char* family;  // the header without its ending: mma_f16
  int minimum_sm;
  int selector;        // the sparsity selector of mma.sp
  const char* kernel;  // (const void* a, const void* b, const void* c, const uint32_t* e, void* d), one warp
  Registers (*launch)(const MmaOperands& operands);  // d, executed on the GPU
};

const std::vector<MmaCase>& mma_cases();

}  // namespace tenon::test
