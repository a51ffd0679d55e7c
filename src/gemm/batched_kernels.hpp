// The list of compiled kernels for batches: what each is, and how its launch looks. Internal to the compiled
// library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/gemm/batch.hpp"
#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

struct BatchedKernel {
  std::string name;  // "small_f16_f32_tn_64x64x64_s3_batched", "cp_async_f16_f32_tn_128x128x32_s4_batched"
  bool whole_k = false;       // the k of a problem is at most tile_k, and in one stage
  bool aligned = false;       // the rows (columns) of A and B begin on 16 bytes, those of all problems
  bool whole_chunks = false;  // and have a multiple of 8 elements
  bool stacked = false;       // is_stacked() for its tile; code for sm_90a, which runs on sm_90 alone
  Type type, accumulate;
  Order a_order, b_order;
  int tile_m, tile_n, tile_k;
  int threads;
  std::size_t shared_bytes;
  const void* function;  // the __global__ function
  std::string ptx;       // the file of its PTX, without folder and extension
  // On sm_90 the kernel waits itself for what runs before it: Launch::overlaps_previous.
  bool overlaps_previous = false;
  // Tiles that a CTA computes, where there are CTAs for all of them; 0: the grid is persistent.
  int tiles_of_cta = 0;
  // Fills grid, block, shared memory and arguments. `launcher` makes tensor maps.
  Status (*fill)(const BatchedProduct& batch, float alpha, float beta, const DeviceDescription& device,
                 Launcher& launcher, Launch* launch);

  // The launch that computes C = alpha * A * B + beta * C of a batch with count, m, n > 0 that the kernel
  // takes. Fails where a tensor map cannot be encoded.
  Status configure(const BatchedProduct& batch, float alpha, float beta, const DeviceDescription& device,
                   Launcher& launcher, Launch* launch) const {
    launch->what = name.c_str();
    launch->ptx = ptx.c_str();
    launch->overlaps_previous = overlaps_previous && device.sm == 90;
    return fill(batch, alpha, beta, device, launcher, launch);
  }
};

// All of this build, in the order in which the library tries them.
const std::vector<BatchedKernel>& batched_kernels();

// nullptr if there is none of that name.
const BatchedKernel* find_batched_kernel(std::string_view name);

}  // namespace tenon
