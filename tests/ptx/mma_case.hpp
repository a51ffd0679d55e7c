// One mma form that a warp of the GPU can execute. The list is generated from the catalogue.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::test {

// The registers of an operand for all 32 lanes, as 32-bit words, lane by lane.
using Registers = std::vector<std::uint32_t>;

struct MmaCase {
  const char* mnemonic;
  const char* family;  // the header without its ending: mma_f16
  int minimum_sm;
  Registers (*run)(const Registers& a, const Registers& b, const Registers& c);  // d, executed by one warp
};

const std::vector<MmaCase>& mma_cases();

}  // namespace tenon::test
