// The expected time of a GEMM kernel: a model of the SM with few parameters, each a rate or a time of the
// device. gemm() chooses by it and by the learned correction (cost_correction.hpp).
//
// The grid runs in waves: ceil(CTAs / (SMs x CTAs that fit an SM)), with `split` CTAs a tile. A wave of
// mma.sync kernels takes the multiply-adds of the tiles on an SM over the speed measured for the copy and the
// tile size. A k-tile of a wgmma kernel takes as long as its multiplication or its loads, whichever is
// longer, and a little more where the two are close. Its loads add up from what the CTA itself loads from the
// L2 (slower if rows cross lines or sectors), what of this no other SM near the same half of the L2 has
// brought there, what the other CTAs of its cluster load for it, and the turns in which CTAs read the same
// line. The CTAs that load at once share the bytes of the L2, fewer of them in a last wave that is not full;
// and the more of the L2 an operand fills, the fewer bytes of it an SM reads at most. A problem with one tile
// along m or n loads only the rows that exist. Before the first k-tile is there nothing is multiplied, and
// after the last one nothing is loaded: the start costs the time of a few k-tiles, besides that of the
// launch.
//
// The epilogue adds the stores of C and the reduction between the CTAs that share a tile. Ping-pong kernels
// overlap all stores but those of the last tile, and only partly if TMA cannot store C. With tail split-K
// (TailSplit) the last wave takes half of a tile's time, a little more for each k-tile because its CTAs share
// no operands, and the reduction. Swap-AB kernels cost the same as others on the transposed problem.
//
// The rates are those of an H100. What comes from memory is in proportion to the memory's bandwidth for each
// SM, which any device says of itself.
//
// Where a call may use only some of the multiprocessors, these have more of the L2 and of memory each, and
// large clusters are persistent.
//
// Nothing here calls CUDA.
#pragma once

#include <cstddef>

#include "gemm/kernel.hpp"

namespace tenon {

// The parameters, in clocks of an SM where nothing else is said. Bytes and clocks of wgmma kernels but for
// the last group. How they were fitted: microbench/HISTORY.md, "The choice of a kernel".
struct CostParameters {
  // Rates.
  double flop_per_clock = 3500;    // of an SM, for 16-bit operands, times Kernel::efficiency; 4096 at most
  double columns_clocks = 0.85;    // part of that time which a tile fitted to fewer columns saves with them
  double bytes_per_clock = 51.74;  // from the L2 to an SM, where all SMs load,
  double most_bytes_per_clock = 129.4;  // and where few do.
  // An operand that fills at most the first part of the L2 is near. One that fills the second part more is
  // far, and an SM reads it so fast at most. This rate and fresh_bytes_per_clock are of a device whose memory
  // gives each SM memory_bytes_per_clock.
  double near_part_of_l2 = 0.07229, far_part_of_l2 = 0.2018, most_far_bytes_per_clock = 36.95;
  double memory_bytes_per_clock = 12.83;  // an H100: 3352 GB/s for 132 SMs at 1980 MHz
  double fresh_bytes_per_clock = 120.8;   // more, of what no other SM near a half of the L2 has brought there
  double received_bytes_per_clock = 282.3;  // of what other CTAs of the cluster load, to an SM
  // Of a line of the L2, for each CTA that reads it in a k-tile: they wait in turn.
  double line_clocks = 1.394;
  // Slowdown of loads whose rows do not begin on 128-byte lines, and on 32-byte sectors.
  double line_crossing = 1.294, sector_crossing = 1.792;
  // What the start costs: whatever the kernel, and times the shorter of multiplication and loads of a k-tile.
  double launch_clocks = 776.7, start_k_tiles = 3.038;
  // Of a tile, whatever its size, and of each element of C that a warpgroup stores of it.
  double tile_clocks = 73.65, store_clocks = 0.01388;
  double f32_store_clocks = 0.08647;              // more for an element of 4 bytes,
  double unaligned_f32_store_clocks = 0.05454;    // and where TMA cannot store C,
  double unaligned_16_bit_store_clocks = 0.1128;  // also of 16 bits
  double overlap_of_register_stores = 0.4;        // part of the stores that ping-pong hides without TMA
  double reduction_clocks = 0.1839;               // of an element of a warpgroup, where CTAs split k
  // Of an element of a warpgroup that stream-K writes to memory and reads from there, each.
  double streamed_clocks = 0.9021;
  double cluster_clocks = 34.64;  // of a launch, for each CTA of a cluster but one
  // Clusters of more than two CTAs are not persistent: a wave beyond the first begins anew.
  double wave_clocks_of_large_clusters = 5467;
  // Slowdown of a k-tile of unaligned kernels in tail split-K, whose CTAs share no operands.
  double unaligned_tail_split = 1.5;
  // Efficiency of the unaligned kernels where the operands are far: TMA limits them, since each row takes two
  // boxes; and where the operand that stays in shared memory has rows on 128-byte lines of the L2.
  double unaligned_from_memory = 0.827, unaligned_on_l2_lines = 0.912;
  // For an element of C of unaligned kernels: of the type of the operands, f32, and everything else.
  double unaligned_store_clocks = 0.05, unaligned_to_f32_store_clocks = 0.05101,
         unaligned_general_store_clocks = 0.9;

  // Copies of operands: the launch of a transposing copy, and bytes in a clock of the device.
  double transposing_clocks = 2000, transposed_bytes_per_clock = 900, copied_bytes_per_clock = 1040;

  // The kernels of mma.sync: of a tile, whatever its size, and of each element of it, also where rows of C
  // are not aligned; multiply-adds of the largest TMA tile in a clock; multiply-adds that the reduction
  // between the CTAs of a cluster costs each of its tiles.
  double mma_sync_tile_clocks = 701.2, mma_sync_store_clocks = 0.04394,
         mma_sync_unaligned_store_clocks = 0.1806, mma_sync_rate = 1200, mma_sync_reduction = 2.7e6;
};

// Those of a device.
const CostParameters& cost_parameters(const DeviceDescription& device) noexcept;

// The modelled time, in a unit that all kernels share.
double modelled_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                     const CostParameters& parameters) noexcept;
double modelled_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept;
// The learned correction of it, a factor: 1 for a kernel that is not is_corrected().
double cost_correction(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept;
// The modelled time times the correction: what gemm() minimises.
double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept;

// The time of copying an operand of `bytes` bytes into the workspace, in the same unit. transposed: the copy
// has rows where the operand has columns.
double estimated_copy_cost(double bytes, bool transposed, const DeviceDescription& device) noexcept;

}  // namespace tenon
