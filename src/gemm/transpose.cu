// Launches the transposing copy of pad.hpp; its kernels of elements that are not of 16 bits. Below:
// transpose_kernel.cuh.
#include <algorithm>

#include "gemm/pad.hpp"
#include "gemm/transpose_kernel.cuh"

namespace tenon {
namespace transpose {

// extern "C": the names of their entries in PTX.
extern "C" __global__ void __launch_bounds__(block_threads) tenon_transpose_1(const Task task) {
  copy_elements<std::uint8_t>(task);
}
extern "C" __global__ void __launch_bounds__(block_threads) tenon_transpose_4(const Task task) {
  copy_elements<std::uint32_t>(task);
}

}  // namespace transpose

namespace {

// ld, length: of the rows of the copy.
Status launch_transpose(Launcher& launcher, const PadCopy& c, std::int64_t ld, std::int64_t length) noexcept {
  if (c.element_bytes == 2) return transpose_halves(launcher, c, ld, length);
  using namespace transpose;
  constexpr std::int64_t most_blocks_across = 1024, most_blocks_down = 1024;  // each walks on
  const auto tiles = [](std::int64_t x) { return (x + edge - 1) / edge; };
  Launch launch;
  launch.what = "a transposing copy";
  launch.function = c.element_bytes == 1 ? reinterpret_cast<const void*>(&tenon_transpose_1)
                                         : reinterpret_cast<const void*>(&tenon_transpose_4);
  launch.ptx = "transpose";
  launch.entry = c.element_bytes == 1 ? "tenon_transpose_1" : "tenon_transpose_4";
  launch.grid = {static_cast<unsigned>(std::min(tiles(c.length), most_blocks_across)),
                 static_cast<unsigned>(std::min(tiles(length), most_blocks_down))};
  launch.block = {block_threads};
  launch.walks_on = true;
  launch.arguments.set(Task{c.source, c.rows, c.length, c.ld, c.destination, ld, length});
  return launcher.launch(launch);
}

}  // namespace

Status transpose_copy(Launcher& launcher, const PadCopy& copy) noexcept {
  const std::int64_t ld = padded_ld(copy.rows, copy.element_bytes);
  return launch_transpose(launcher, copy, ld, ld);
}

Status transpose_to(Launcher& launcher, const PadCopy& copy, std::int64_t ld) noexcept {
  return launch_transpose(launcher, copy, ld, copy.rows);
}

}  // namespace tenon
