// One bug makes one finding: the findings of a launch, of which there is one per kind and PTX line, are
// grouped by what causes them. A missing wait, for example, shows at each of the hundred instructions that
// store the accumulators.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

// What was found at one PTX line.
struct LineFinding {
  FindingKind kind = FindingKind::race;
  Finding::Line line;
  // The other instruction of a conflict: the write that a read races with, the operation that was not waited
  // for. 0: there is none.
  int other_line = 0;
  std::string other_source;
  std::uint64_t cluster = 0,
                order = 0;  // of the first occurrence: its cluster, its number among the findings
};

// Findings of one kind are one if they are at the same source line or conflict with the same source line.
// Where the PTX has no .loc, its lines take the place of source lines. In the order of PTX lines.
std::vector<Finding> grouped(const std::string& entry, const std::vector<LineFinding>& found);

}  // namespace tenon::emulator
