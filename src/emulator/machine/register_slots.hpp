// Which registers of a function share a slot. A compiler declares a register for each value, twenty thousand
// in a large kernel, and a slot takes 256 bytes of every warp; those that are alive at once are a few
// hundred.
#pragma once

#include <vector>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

struct RegisterSlots {
  std::vector<int> of;  // by register: its slot, the first of two neighbours for b128
  int count = 0;
};

// Two registers share a slot only if no instruction, and no path between two, finds both alive, the sources
// and the results of one instruction included. One that may be read before it is written is alive from the
// start, so that it reads as the zero that the frame began with. Not shared: what an asynchronous operation
// may own (operands of wgmma), b128, and what a caller reads and writes (parameters, results).
RegisterSlots share_slots(const ptx::Function& function);

}  // namespace tenon::emulator
