// Register allocation: registers of a function that are never alive at once share a slot. A compiler declares
// a register for each value, twenty thousand in a large kernel, and a slot takes 256 bytes of every warp.
// Only a few hundred are alive at once.
#pragma once

#include <vector>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

struct RegisterSlots {
  std::vector<int> of;  // by register: its slot, the first of two neighbours for b128
  int count = 0;
};

// Two registers share a slot only if they are never alive at once, within an instruction (sources and
// results) or on a path between two. A register that may be read before it is written is alive from the
// start, so that it reads as the zero of a new frame. Not shared: registers that an asynchronous operation
// may own (operands of wgmma), b128, and what a caller reads and writes (parameters, results).
RegisterSlots share_slots(const ptx::Function& function);

}  // namespace tenon::emulator
