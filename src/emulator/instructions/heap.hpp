// malloc and free of CUDA C++, which new and delete call too (CUDA C++ Programming Guide, "Dynamic Global
// Memory Allocation and Operations").
#pragma once

#include <vector>

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/function_scope.hpp"

namespace tenon::emulator {

// (address) malloc (bytes)
void decode_malloc(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& results,
                   const std::vector<ptx::Operand>& arguments);

// free (address)
void decode_free(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& arguments);

}  // namespace tenon::emulator
