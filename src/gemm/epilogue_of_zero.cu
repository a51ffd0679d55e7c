// D = epilogue(beta * C), eight elements a thread and iteration: see epilogue_of_zero.hpp. Unhurried: it runs
// for degenerate products only.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/describe.hpp"
#include "gemm/epilogue_of_zero.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {

// extern "C": the name of its entry in PTX.
extern "C" __global__ void tenon_epilogue_of_zero(Output d, const __grid_constant__ FusedEpilogue epilogue) {
  // In 64 bits: the stride beyond the last of 2^31 - 1 columns overflows an int.
  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * segment_columns;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * segment_columns;
  const int columns = epilogue.gated ? 2 * d.n : d.n;
  for (int row = static_cast<int>(blockIdx.y); row < d.m; row += static_cast<int>(gridDim.y)) {
    for (std::int64_t at = first; at < columns; at += step) {
      const int column = static_cast<int>(at), left = columns - column;
      float values[segment_columns] = {};
      epilogue.apply(values, row, column, left);
      epilogue.store(d, values, row, column, left);
      for (int i = 0; epilogue.bias_gradient != nullptr && i < min(left, segment_columns); ++i)
        atomicAdd(epilogue.bias_gradient + column + i, values[i]);
    }
  }
}

Status epilogue_of_zero(Launcher& launcher, const Gemm& problem) noexcept {
  constexpr unsigned threads = 128;
  constexpr std::int64_t most_blocks = 4096, columns_of_block = threads * segment_columns;
  Launch launch;
  launch.what = "the epilogue of a product of zeros";
  launch.ptx = "epilogue_of_zero";
  launch.function = reinterpret_cast<const void*>(&tenon_epilogue_of_zero);
  launch.entry = "tenon_epilogue_of_zero";
  launch.grid.x = static_cast<unsigned>(
      std::min<std::int64_t>((problem.n + columns_of_block - 1) / columns_of_block, most_blocks));
  launch.grid.y = static_cast<unsigned>(std::min<std::int64_t>(problem.m, most_blocks));
  launch.block.x = threads;
  launch.walks_on = true;
  launch.arguments.set(output_of(product_of(problem)), fused_epilogue_of(problem));
  return launcher.launch(launch);
}

}  // namespace tenon
