// Reading tensor maps in a kernel, for tensor_copy.cpp and tensor_copy_map.cpp.
#pragma once

#include "emulator/instructions/async_copy.hpp"
#include "emulator/machine/tensor_map.hpp"

namespace tenon::emulator {

// Decodes the tensor map at a generic or shared address. False: a fault has been reported. `rank`: of the
// instruction; 0: any.
bool load_tensor_map(Cluster& cluster, const Actor& actor, ptx::Space space, std::uint64_t address, int rank,
                     MappedTensor& tensor);

void add_tensor_map_instructions(Decoders& decoders);  // the opcode tensormap

}  // namespace tenon::emulator
