// Launches the padding copies; their kernel where launches cannot overlap. Below: pad_kernel.cuh.
#include <algorithm>

#include "gemm/pad_kernel.cuh"

namespace tenon {
namespace pad {

// extern "C": the name of its entry in PTX.
// Six CTAs a multiprocessor, as on sm_90: left alone, ptxas takes 67 registers of sm_80.
extern "C" __global__ void __launch_bounds__(block_threads, 6)
    tenon_pad(const __grid_constant__ PadTasks tasks) {
  copy_rows(tasks);
}

}  // namespace pad

Status pad_copies(Launcher& launcher, const PadCopy* list, int count) noexcept {
  using namespace pad;
  PadTasks tasks{};
  int tasks_count = 0;
  std::int64_t most_vectors = 0, most_rows = 0;
  for (int i = 0; i < count; ++i) {
    const PadCopy& c = list[i];
    if (c.transposed) {
      if (Status s = transpose_copy(launcher, c); !s) return s;
      continue;
    }
    const auto element = static_cast<std::int64_t>(c.element_bytes);
    const auto first = reinterpret_cast<std::uintptr_t>(c.source);
    const std::uintptr_t last =
        first + static_cast<std::uintptr_t>(((c.rows - 1) * c.ld + c.length) * element);
    const std::int64_t vectors = padded_ld(c.length, c.element_bytes) * element / 16;
    tasks.task[tasks_count++] = {{first, last, c.rows, c.length * element, c.ld * element},
                                 static_cast<uint4*>(c.destination),
                                 vectors};
    most_vectors = std::max(most_vectors, vectors);
    most_rows = std::max(most_rows, c.rows);
  }
  if (tasks_count == 0) return {};
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  // As many threads along a row as it has vectors (a power of two, so that the CTA stays full), the rest
  // over rows.
  unsigned across = 1;
  while (across < block_threads && across < most_vectors) across *= 2;
  const std::int64_t down = block_threads / across;
  Launch launch;
  launch.what = "the copy of operands into the workspace";
  if (device.sm == 90) {
    launch.function = pad_sm_90();
    launch.ptx = "pad_sm_90";
    launch.entry = "tenon_pad_sm_90";
    launch.overlaps_previous = true;
  } else {
    launch.function = reinterpret_cast<const void*>(&tenon_pad);
    launch.ptx = "pad";
    launch.entry = "tenon_pad";
  }
  const auto blocks_across = static_cast<unsigned>((most_vectors + across - 1) / across);
  launch.grid = {
      blocks_across,
      static_cast<unsigned>(std::min<std::int64_t>((most_rows + down - 1) / down, most_blocks_down)),
      static_cast<unsigned>(tasks_count)};
  launch.block = {across, static_cast<unsigned>(down)};
  launch.walks_on = true;  // down the rows
  if (!device.is_limited()) {
    launch.arguments.set(tasks);
    return launcher.launch(launch);
  }
  // A launch for each copy, and for as many blocks along a row as there may be.
  const auto most = static_cast<unsigned>(device.multiprocessors);
  launch.grid.z = 1;
  for (int i = 0; i < tasks_count; ++i) {
    for (unsigned first = 0; first < blocks_across; first += most) {
      launch.grid.x = std::min(most, blocks_across - first);
      launch.arguments.set(PadTasks{{tasks.task[i]}, first});
      if (Status s = launcher.launch(launch); !s) return s;
    }
  }
  return {};
}

}  // namespace tenon
