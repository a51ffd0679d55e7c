// Prints the descriptors of wgmma and tcgen05 in words, for debuggers, tests and logs. Host only, compiled:
// link with tenon::layouts.
//
//   std::cout << tenon::explain(descriptor);
//   start at byte 4096 (0x1000) of shared memory; base offset 0; swizzle of 128 bytes: rows of ...
//
// Builds on matrix_descriptor.hpp and tcgen05_descriptor.hpp. Defined in src/shared/descriptor_words.cpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>

#include "tenon/shared/matrix_descriptor.hpp"
#include "tenon/shared/tcgen05_descriptor.hpp"

namespace tenon {

// Explains the strides for both orders: the instruction, not the descriptor, says which dimension is
// contiguous.
std::string explain(MatrixDescriptor descriptor);
// The fields of a tcgen05 instruction descriptor: types, shape, signs, major-ness, sparsity, scales.
std::string explain(Tcgen05Instruction instruction);

}  // namespace tenon
