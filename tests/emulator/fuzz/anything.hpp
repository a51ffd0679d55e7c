// The fuzzed functions: any bytes are a module or an Error, and every kernel of a module is launched. Each
// function returns, in little time and memory, or it aborts.
#pragma once

#include <cstdlib>
#include <string>

namespace tenon::emulator::fuzz {

// Parses, and checks that the indices in the result are in range.
void parse_anything(const std::string& text);

// Loads the text and launches every kernel in it. A comment in the text gives the launch, in the words of
// tests/emulator/faults and some more, each bounded here whatever the number:
//   // launch: grid 2 block 64 cluster 2 shared 1024 schedule 5 findings 0 numerics 3 threads 2
// schedule 0 is early, 1 late, others random with that seed. Names and sizes of parameters decide the
// arguments: `null`, `freed`, tensor maps for 128 bytes, buffers for 8, small integers for others.
void launch_anything(const std::string& text);

inline void need(bool holds) {
  if (!holds) std::abort();
}

}  // namespace tenon::emulator::fuzz
