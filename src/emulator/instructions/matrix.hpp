// What the matrix instructions share. mma and wmma.mma are in matrix.cpp, ldmatrix, stmatrix and movmatrix in
// matrix_move.cpp, wmma.load and wmma.store in matrix_wmma.cpp.
#pragma once

#include <vector>

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/numerics/model.hpp"

namespace tenon::emulator {

// The arithmetic that the launch selects.
numerics::Model model_of(const Launch& launch);

// Appends operand `index`, a list of `count` registers (or constants) of the width of `type`, to op.values,
// and returns the index of the first. `what` names it in errors.
int add_registers(Decoding& decoding, int index, ptx::Type type, int count, bool is_destination,
                  const char* what);

inline const Value& value_at(const Op& op, int index) {
  return op.values[static_cast<std::size_t>(index)];
}

// Registers of a fragment as PTX declares them: .b32 for packed and narrow types.
ptx::Type register_type_of(ptx::Type element);

// Writes a result to op.values[index] for the active lanes.
void write_lanes(Warp& warp, const Value& value, LaneMask active, const std::uint64_t* lanes);

void decode_ldmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op);
void decode_stmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op);
void decode_movmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op);
void decode_wmma_load(const ptx::Instruction& instruction, Scope& scope, Op& op);
void decode_wmma_store(const ptx::Instruction& instruction, Scope& scope, Op& op);

}  // namespace tenon::emulator
