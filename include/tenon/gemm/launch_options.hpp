// What a caller may say about the launches of a call, and the launcher that obeys it: how many
// multiprocessors they use, and whether they overlap what runs before them. Host code; nothing here calls
// CUDA. Below: launch_plan.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <cstdint>

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

struct LaunchOptions {
  // The most multiprocessors that any launch of the call uses; 0: all. A grid then has at most as many CTAs.
  // The device places them wherever it has room.
  int multiprocessors = 0;
  // On sm_90 the beginning of a launch overlaps the end of what runs before it on the stream (programmatic
  // dependent launch), if that lets it: pipeline/grid_dependency.hpp. false: it begins after that.
  bool overlaps_previous = true;
};

// The device as a call with such a limit sees it. invalid_argument if the limit is negative, or more than the
// device has.
inline Status limit_multiprocessors(int limit, DeviceDescription* device) noexcept {
  const int all = device->is_limited() ? device->all_multiprocessors : device->multiprocessors;
  if (limit < 0 || limit > all)
    return Status(StatusCode::invalid_argument,
                  "multiprocessors is %d but must be 0 (all) to %d, which the device has", limit, all);
  if (limit == 0 || limit >= device->multiprocessors) return {};
  device->multiprocessors = limit;
  device->all_multiprocessors = all;
  return {};
}

// The largest grid of at most `most` CTAs that is no larger than `grid` in any direction. most: >= 1.
inline Extent3 shrunk_grid(Extent3 grid, int most) noexcept {
  const auto left = static_cast<unsigned>(most);
  grid.x = std::min(grid.x, left);
  grid.y = std::min(grid.y, left / grid.x);
  grid.z = std::min(grid.z, left / (grid.x * grid.y));
  return grid;
}

// A launcher whose launches obey the options of a call.
class LimitedLauncher final : public Launcher {
 public:
  // launcher: must outlive this one.
  LimitedLauncher(Launcher& launcher, const LaunchOptions& options) noexcept
      : launcher_(launcher), options_(options) {}

  Status describe(DeviceDescription* device) noexcept override {
    if (Status s = launcher_.describe(device); !s) return s;
    return limit_multiprocessors(options_.multiprocessors, device);
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return launcher_.make_tensor_map(matrix, box_rows, box_columns, map);
  }
  // unsupported where the launch needs more CTAs than it may have.
  Status launch(const Launch& launch) noexcept override {
    const bool is_within = options_.multiprocessors == 0 ||
                           ctas_of(launch.grid) <= static_cast<std::uint64_t>(options_.multiprocessors);
    if (is_within && (options_.overlaps_previous || !launch.overlaps_previous))
      return launcher_.launch(launch);
    Launch changed = launch;
    changed.overlaps_previous = launch.overlaps_previous && options_.overlaps_previous;
    if (!is_within) {
      DeviceDescription device;
      if (Status s = describe(&device); !s) return s;
      if (device.is_limited()) {
        if (!launch.walks_on)
          return Status(StatusCode::unsupported,
                        "%s needs %llu CTAs here but the call may use %d multiprocessors", launch.what,
                        static_cast<unsigned long long>(ctas_of(launch.grid)), options_.multiprocessors);
        changed.grid = shrunk_grid(launch.grid, options_.multiprocessors);
      }
    }
    return launcher_.launch(changed);
  }

 private:
  static std::uint64_t ctas_of(const Extent3& grid) noexcept {
    return std::uint64_t{grid.x} * grid.y * grid.z;
  }

  Launcher& launcher_;
  LaunchOptions options_;
};

}  // namespace tenon
