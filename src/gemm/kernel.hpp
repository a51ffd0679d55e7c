// The list of compiled GEMM kernels: what each is, and how its launch looks. Internal to the compiled
// library; the command line, the tests and the benchmarks read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// How a kernel brings operands from global to shared memory: it bounds the problems that the kernel accepts.
enum class Copy {
  tma,       // cp.async.bulk.tensor: base and leading dimension multiples of 16 bytes; sm_90a
  cp_async,  // cp.async 16 bytes: base and leading dimension multiples of 16 bytes; sm_80
  any,       // per operand 16-, 4-byte cp.async or element loads, whatever its alignment allows; sm_80
  module,    // the hand-written PTX module of ptx/kernels, loaded through the driver
};

// What multiplies: a warp from registers, or a warpgroup from shared memory (sm_90a).
enum class Instruction { mma_sync, wgmma };

struct Kernel {
  std::string name;  // unique, lower case: "tma_f16_f32_tn_256x128x64_s4"
  int minimum_sm;    // 80, 90
  bool exact_sm;     // true for sm_90a code: runs on compute capability 9.0 alone
  Copy copy;
  Instruction instruction = Instruction::mma_sync;
  Type type, type_b;  // of A, of B, as they are multiplied
  Type accumulate;
  bool promotes = false;  // Gemm::promote
  // The consumer warpgroups of a CTA take its tiles in turn (Pingpong); else they share each tile.
  bool pingpong = false;
  // Computes C^T = B^T A^T (SwapAB): what the tensor core has as rows of a tile are columns of C. Unaligned
  // kernels store the transpose of what they compute: of those, this one has A and B swapped.
  bool swap_ab = false;
  // A and B are f32 in memory, and rounded to `type` as fragments are loaded: for Gemm::precision.
  bool rounds_f32 = false;
  bool fused = false;  // its epilogue is FusedEpilogue: EpilogueOptions, and a C apart from D
  // Of a fused kernel that does not take every epilogue: whether it takes that of the problem.
  bool (*takes_epilogue)(const Gemm& problem) = nullptr;
  Order a_order, b_order;
  bool loads_residue = false;  // RegisterBudget::loads_residue
  // Whether two CTAs compute each of the last tiles if those fill less than half a wave (TailSplit).
  bool splits_tail = false;
  bool row_interleaved = false;  // A may have any leading dimension if it begins on 16 bytes: RowInterleaved
  // A and, unless swap_ab, B may have any address and leading dimension: GemmUnaligned.
  bool unaligned = false;
  int tile_m, tile_n, tile_k;  // block tile
  // Of a tile that is fitted to C at launch (Fitted): the fewest columns(), and the number that all are
  // multiples of. narrowest 0: it is not fitted.
  int narrowest = 0, column_step = 8;
  int warp_m, warp_n;            // warp tile; with wgmma that of a warpgroup
  int stages, threads, cluster;  // cluster: CTAs that share operands by multicast, or a tile's k; else 1
  int cluster_n =
      1;          // of the cluster: CTAs along n, which share rows of A (unaligned: see shares_unaligned_b)
  int split = 1;  // of the cluster: CTAs that compute a part of k each of the same tile
  std::size_t shared_bytes;  // dynamic shared memory of a CTA
  // Of stream-K kernels: workspace for each multiprocessor.
  std::size_t partial_bytes = 0;
  const void* function;  // the __global__ function; nullptr for Copy::module
  std::string ptx;       // the file of its PTX, without folder and extension
  std::string part;      // of the library, by which sizes are added up: "wgmma_f16_f32"
  // For the choice among kernels, from kernels.csv: the part of the peak of an SM (4096 operations on 16-bit
  // operands a clock) that the main loop reaches, and the CTAs that run side by side on an SM.
  double efficiency = 0.5;
  int resident = 1;
  // Fills grid and arguments of a launch, for configure(). `launcher` makes tensor maps.
  Status (*fill)(const Kernel& self, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                 Launch* launch);

  // Bytes of workspace that the kernel itself needs.
  std::size_t workspace_bytes(const DeviceDescription& device) const noexcept {
    return partial_bytes * static_cast<std::size_t>(device.multiprocessors);
  }

  // Of the tile and the warp tile, as the tensor core has them.
  int rows() const noexcept { return swap_ab ? tile_n : tile_m; }
  int columns() const noexcept { return swap_ab ? tile_m : tile_n; }
  int warp_rows() const noexcept { return swap_ab ? warp_n : warp_m; }

  // The launch that computes the problem, which was validated, accepts() takes, and has m, n > 0; k may be 0.
  // Fails where a tensor map cannot be encoded.
  Status configure(const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                   Launch* launch) const {
    launch->what = name.c_str();
    launch->function = function;
    launch->ptx = ptx.c_str();
    launch->block.x = static_cast<unsigned>(threads);
    launch->shared_bytes = static_cast<unsigned>(shared_bytes);
    return fill(*this, problem, device, launcher, launch);
  }
};

// Every GEMM kernel of the library, best first within a (type, accumulate, layout).
const std::vector<Kernel>& kernels();

// nullptr if there is none of that name.
const Kernel* find_kernel(std::string_view name);

}  // namespace tenon
