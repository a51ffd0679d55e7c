// Launches the splitting kernel; its instances where launches cannot overlap. Below: split_kernel.cuh.
#include <algorithm>

#include "gemm/split_kernel.cuh"

namespace tenon {
namespace split {

// extern "C": the names of their entries in PTX.
#define TENON_SPLIT(precision)                                            \
  extern "C" __global__ void __launch_bounds__(block_threads)             \
      tenon_split_##precision(const __grid_constant__ SplitTasks tasks) { \
    split_operand<Precision::precision>(tasks);                           \
  }
TENON_SPLIT(tf32)
TENON_SPLIT(f16)
TENON_SPLIT(bf16)
TENON_SPLIT(bf16x3)
TENON_SPLIT(bf16x6)
TENON_SPLIT(tf32x3)
#undef TENON_SPLIT

namespace {

struct Instance {
  const void* function;
  const char* entry;
  const char* entry_sm_90;
};

Instance instance_of(Precision precision) noexcept {
#define TENON_SPLIT(name)                                                             \
  case Precision::name:                                                               \
    return {reinterpret_cast<const void*>(&tenon_split_##name), "tenon_split_" #name, \
            "tenon_split_" #name "_sm_90"};
  switch (precision) {
    TENON_SPLIT(tf32)
    TENON_SPLIT(f16)
    TENON_SPLIT(bf16)
    TENON_SPLIT(bf16x3)
    TENON_SPLIT(bf16x6)
    TENON_SPLIT(tf32x3)
    case Precision::none:
      break;
  }
#undef TENON_SPLIT
  return {};
}

SplitTask task_of(const SplitOperand& x, Precision precision) noexcept {
  const std::int64_t vectors = x.k_contiguous ? x.rows : x.k, length = x.k_contiguous ? x.k : x.rows;
  const auto first = reinterpret_cast<std::uintptr_t>(x.source);
  const std::uintptr_t last = first + static_cast<std::uintptr_t>(4 * ((vectors - 1) * x.ld + length));
  return {{first, last, vectors, 4 * length, 4 * x.ld},
          x.rows,
          x.k,
          split_ld(x.k, precision),
          x.k_contiguous,
          x.destination};
}

}  // namespace
}  // namespace split

Status split_operands(Launcher& launcher, Precision precision, const SplitOperand& a,
                      const SplitOperand& b) noexcept {
  using namespace split;
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  constexpr std::int64_t most_blocks_down = 32768;  // each walks on
  const auto tiles = [](std::int64_t x, int tile) { return (x + tile - 1) / tile; };
  const Instance instance = instance_of(precision);
  Launch launch;
  launch.what = "the split of operands into the workspace";
  if (device.sm == 90) {
    launch.function = split_sm_90(precision);
    launch.ptx = "split_sm_90";
    launch.entry = instance.entry_sm_90;
    launch.overlaps_previous = true;
  } else {
    launch.function = instance.function;
    launch.ptx = "split";
    launch.entry = instance.entry;
  }
  const auto tiles_of_k = static_cast<unsigned>(tiles(a.k, tile_k));
  launch.grid = {
      tiles_of_k,
      static_cast<unsigned>(std::min(tiles(std::max(a.rows, b.rows), tile_rows), most_blocks_down)), 2};
  launch.block = {block_threads};
  launch.walks_on = true;  // down the rows
  SplitTasks tasks{{task_of(a, precision), task_of(b, precision)}, 0, 0};
  if (!device.is_limited()) {
    launch.arguments.set(tasks);
    return launcher.launch(launch);
  }
  // A launch for each operand, and for as many tiles along k as there may be CTAs.
  const auto most = static_cast<unsigned>(device.multiprocessors);
  launch.grid.z = 1;
  for (tasks.first_task = 0; tasks.first_task < 2; ++tasks.first_task) {
    for (tasks.first_tile = 0; tasks.first_tile < tiles_of_k; tasks.first_tile += most) {
      launch.grid.x = std::min(most, tiles_of_k - tasks.first_tile);
      launch.arguments.set(tasks);
      if (Status s = launcher.launch(launch); !s) return s;
    }
  }
  return {};
}

}  // namespace tenon
