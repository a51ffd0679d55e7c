// The columns of the tiles with which a kernel of the list computes a problem. Below: kernel.hpp,
// problem_shape.hpp, tenon/gemm/fitted_tile.hpp.
#pragma once

#include <algorithm>

#include "gemm/kernel.hpp"
#include "gemm/problem_shape.hpp"
#include "tenon/gemm/fitted_tile.hpp"

namespace tenon {

// As the tensor core has them: rows of C for a swap-AB kernel. problem: as the tensor core computes it;
// along_m, along_n: CTAs of a cluster that share B and A. As prepare_any_wgmma() of tenon/gemm/plan_sm90.hpp.
inline int columns_of_tiles(const Kernel& kernel, const Gemm& problem, int along_m, int along_n,
                            const DeviceDescription& device) noexcept {
  if (kernel.narrowest == 0) return kernel.columns();
  return fitted_columns(
      {kernel.narrowest, kernel.columns(), std::max(8 * along_m, kernel.column_step), kernel.swap_ab},
      {problem.n, along_n, round_up_divide(problem.m, std::int64_t{kernel.rows()} * along_m),
       clusters_at_once(kernel.cluster, device.multiprocessors),
       round_up_divide(round_up_divide(problem.k, kernel.tile_k), kernel.split)});
}

// The tile as the problem has it.
struct TileOfC {
  int m, n;
};
inline TileOfC tile_of(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  const int along_n = kernel.cluster_n, along_m = kernel.cluster / kernel.split / along_n;
  if (!kernel.swap_ab) return {kernel.tile_m, columns_of_tiles(kernel, problem, along_m, along_n, device)};
  Gemm transposed = problem;
  std::swap(transposed.m, transposed.n);
  return {columns_of_tiles(kernel, transposed, along_n, along_m, device), kernel.tile_n};
}

}  // namespace tenon
