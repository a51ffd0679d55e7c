// One launch: what all of its clusters share.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/machine/memory.hpp"
#include "emulator/machine/printed.hpp"
#include "emulator/machine/program.hpp"
#include "emulator/machine/textures.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

struct Launch {
  const Program* program = nullptr;
  GlobalMemory* global = nullptr;
  const TextureObjects* textures = nullptr;  // null: none
  Dim3 grid, block, cluster;                 // grid in CTAs; cluster in CTAs, {1, 1, 1} if none
  bool explicit_cluster = false;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t shared_size = 0;         // of a CTA: reserved + static + dynamic
  std::vector<std::uint8_t> parameters;  // parameter memory
  Schedule schedule = Schedule::early;
  std::uint64_t seed = 0;
  Numerics numerics = Numerics::target;  // never `target`, which the launch has resolved
  bool findings = true;
  int threads = 1;                                                    // host threads
  std::uint64_t instruction_limit = 0, launch_instruction_limit = 0;  // 0: none
  std::uint64_t grid_workspace =
      0;  // of a cooperative launch, which runs all its clusters at a time; 0: it is none
  std::uint64_t heap_bytes = 0;  // the limit of malloc
  std::uint64_t number = 0;      // %gridid
};

struct LaunchReport {
  std::vector<Finding> findings;  // in the order of lines
  Counters counters;
  Printed printed;  // cluster by cluster, in the order of their numbers
};

// Runs the launch to its end. A deadlock or a trap ends its cluster; the other clusters still run. Without
// races between clusters, neither the report nor memory depends on the number of host threads. With such
// races, the host threads race for the same bytes, which changes values and nothing else.
LaunchReport run(const Launch& launch);

}  // namespace tenon::emulator
