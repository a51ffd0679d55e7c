// The parts of which the cost model (cost_model.hpp) makes up the time of a wgmma kernel, in clocks of an SM.
// Tiles are as the tensor core has them: for a swap-AB kernel their rows are columns of C.
#pragma once

#include <cstdint>

#include "gemm/kernel.hpp"
#include "gemm/swapped_operands.hpp"

namespace tenon {

// What a CTA loads of an operand for a k-tile.
struct OperandLoads {
  double whole;     // bytes, if the cluster shared nothing
  double own;       // bytes, of these, that the CTA loads itself
  double fresh;     // bytes, of those, that no other SM near the same half of the L2 has brought there
  double requests;  // of each of its lines in a k-tile, for each CTA that loads at the same time
  double most;      // bytes in a clock, to an SM

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
  std::int64_t cluster_tiles = 0;             // of a cluster, each
  std::int64_t clusters = 0;                  // that run at once
  std::int64_t k_tiles = 0;                   // of a tile
  bool on_l2_lines = false;                   // of unaligned kernels: rows of A begin on lines of the L2
  KTileLoads loads{};                         //
  double part_of_l2_a = 0, part_of_l2_b = 0;  // that the whole operands fill
  double multiplying = 0, loading = 0;        // a k-tile
  double k_tile = 0, last_k_tile = 0;         // both together, and in the last wave
  double storing = 0;                         // a tile
  double elements = 0;                        // of a tile, for each warpgroup that stores
  double start = 0;                           // before the kernel multiplies at its full rate
};

// The problem that the tensor cores compute.
inline Gemm computed_problem(const Kernel& kernel, const Gemm& problem) noexcept {
  return kernel.swap_ab ? with_swapped_operands(problem) : problem;
}

// By the parameters of the device; kernel.instruction is wgmma.
WgmmaEstimate wgmma_estimate(const Kernel& kernel, const Gemm& problem,
                             const DeviceDescription& device) noexcept;

}  // namespace tenon
