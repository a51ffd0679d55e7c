// What `tenon gemm` runs with --groups and --scale-mode: products of random matrices whose rows belong to
// groups, or whose e4m3 operands are quantised with scales, or both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/check.hpp"
#include "device/device.hpp"
#include "tenon/gemm_scaled.hpp"

namespace tenon::command {

// problem: as asked, without pointers; m: the rows of all groups. groups: rows of each; empty: one product.
// mode: none, or with groups block_1x128_128x128.
struct GroupedOrScaled {
  Gemm problem;
  std::vector<std::int64_t> groups;
  std::optional<ScaleMode> mode;
  std::uint64_t seed = 1;
  bool check = false;
};

struct GroupedOrScaledResult {
  std::optional<std::string> kernel;
  std::optional<CheckResult> check;  // of the worst group
};

// "tensor", "row_column" or "block".
std::optional<ScaleMode> scale_mode_named(const std::string& name);
const char* name(ScaleMode mode);

// Draws the operands, quantises them on the device if they have scales, multiplies, and checks if asked to.
// Throws Failure with the library's sentence if it refuses the problem.
GroupedOrScaledResult run_grouped_or_scaled(const GroupedOrScaled& what, Device& device);

}  // namespace tenon::command
