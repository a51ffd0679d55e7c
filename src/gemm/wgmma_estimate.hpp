// What the cost model (cost_model.hpp) estimates of a wgmma kernel: its tiles, and the clocks of each step.
// Tiles are as the tensor core has them: for a swap-AB kernel their rows are columns of C.
#pragma once

#include <cstdint>

#include "gemm/kernel.hpp"
#include "gemm/swapped_operands.hpp"

namespace tenon {

// What a CTA loads of an operand for a k-tile.
struct OperandLoads {
  double whole;     // bytes without multicast, times the slowdown of rows that cross lines or sectors
  double own;       // of whole: what this CTA loads itself
  double fresh;     // of own: what no other SM near the same half of the L2 has loaded
  double requests;  // of a line in a k-tile, by each CTA that loads at the same time
  double most;      // bytes in a clock that an SM reads at most

  double received() const noexcept { return whole - own; }
};

struct KTileLoads {
  OperandLoads a, b;

  double unshared() const noexcept { return a.whole + b.whole; }
};

struct WgmmaEstimate {
  int along_m = 1, along_n = 1;               // CTAs of a cluster
  int columns = 0;                            // of a tile, as this launch has them
  std::int64_t tiles_m = 0, tiles_n = 0;      // of C, with those beyond its rows and columns
  std::int64_t cluster_tiles = 0;             // tiles of a whole cluster
  std::int64_t clusters = 0;                  // that run at once
  std::int64_t k_tiles = 0;                   // of a tile
  bool on_l2_lines = false;                   // of unaligned kernels: rows of A begin on lines of the L2
  bool overlaps = true;                       // the launch overlaps what runs before it: overlap_pays()
  KTileLoads loads{};                         // of a k-tile
  double part_of_l2_a = 0, part_of_l2_b = 0;  // that the whole operands fill
  double multiplying = 0, loading = 0;        // a k-tile
  double k_tile = 0, last_k_tile = 0;         // multiplication and loads overlapped; and in the last wave
  double storing = 0;                         // a tile
  double elements = 0;                        // of C that each storing warpgroup has of a tile
  double start = 0;                           // before the kernel multiplies at its full rate
};

// The problem that the tensor cores compute.
inline Gemm computed_problem(const Kernel& kernel, const Gemm& problem) noexcept {
  return kernel.swap_ab ? with_swapped_operands(problem) : problem;
}

// By the parameters of the device. kernel.instruction is wgmma; m, n > 0, k may be 0.
WgmmaEstimate wgmma_estimate(const Kernel& kernel, const Gemm& problem,
                             const DeviceDescription& device) noexcept;

}  // namespace tenon
