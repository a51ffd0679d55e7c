// The emulator's findings and counters, as JSON for scripts and as text for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tenon/emulator/types.hpp"

namespace tenon::command {

// [{kind, entry, ptx_line, source, count, first: {block: [x, y, z], thread: [x, y, z], address}, message,
// lines: [{ptx_line, source, count}]}]
nlohmann::ordered_json findings_json(const std::vector<emulator::Finding>& findings);

// {instructions, thread_instructions, matrix_operations, flop, shared_wavefronts, ...}: the names of
// emulator::Counts.
nlohmann::ordered_json counts_json(const emulator::Counts& counts);

// ", also at PTX lines 13, 14 and 9 more": the lines of the finding without its first one; empty if there are
// none.
std::string other_lines_text(const emulator::Finding& finding);

// "race in KERNEL at PTX line 12 (file.cu:34), 3 times, also at PTX line 13: MESSAGE".
std::string finding_text(const emulator::Finding& finding);

}  // namespace tenon::command
