// Not a program: ctest compiles it with one MISUSE_... defined and checks the sentence that nvcc prints.
#include <cuda_fp16.h>

#include "tenon/ptx/wgmma_sp.hpp"
#include "tenon/warp/warpgroup_tile.hpp"

using namespace tenon;

__global__ void __launch_bounds__(128)
    kernel(float* out, std::uint32_t base, std::uint64_t a, std::uint64_t b) {
  using TileA = OperandTile<half, 64, 64, true>;
  using TileB = OperandTile<e4m3, 64, 64, true>;
  WarpgroupTile<half, float, 64, 64> sum;
  sum.clear();
  sum.start(TileA{base}, TileA{base}, 0, 0);
  WgmmaAccumulator<float, 64> c;
  float d[32] = {};
  ptx::wgmma_fence_sync_aligned(d);
#if defined(MISUSE_correct)
  ptx::wgmma_mma_async_sync_aligned<64, ptx::type_f16, ptx::type_f16>(d, a, b, 1);
  ptx::wgmma_commit_group_sync_aligned();
#elif defined(MISUSE_in_flight)
  c.for_each([&](float& v, int, int) { v = 0; });
#elif defined(MISUSE_swapped)
  sum.start(TileA{base}, TileB{base}, 0, 0);
#elif defined(MISUSE_other_depth)
  sum.start(TileA{base}, OperandTile<half, 64, 32, true>{base}, 0, 0);
#elif defined(MISUSE_narrow)
  WarpgroupTile<half, float, 32, 64> other;
  other.clear();
#elif defined(MISUSE_in_f32)
  WarpgroupTile<float, float, 64, 64> other;
  other.clear();
  other.start(OperandTile<float, 64, 32, true>{base}, OperandTile<float, 64, 32, true>{base}, 0, 0);
#elif defined(MISUSE_few_columns)
  c.multiply(operand_descriptor(TileA{base}, 0), operand_descriptor(OperandTile<half, 32, 64, true>{base}, 0),
             0, false);
#elif defined(MISUSE_part_of_a_panel)
  out[1] = static_cast<float>(operand_descriptor(OperandTile<half, 68, 128, true>{base}, 0).at(0).bits());
#elif defined(MISUSE_sums_as_bytes)
  c.when_done([&](auto& values) { out[1] = static_cast<float>(as_a<e4m3, 64>(values, 0).reg[0]); });
#elif defined(MISUSE_no_such_n)
  float e[126];
  ptx::wgmma_mma_async_sync_aligned<252, ptx::type_f16, ptx::type_f16>(e, a, b, 1);
#elif defined(MISUSE_few_registers)
  ptx::wgmma_mma_async_sync_aligned<128, ptx::type_f16, ptx::type_f16>(d, a, b, 1);
#elif defined(MISUSE_mixed_types)
  ptx::wgmma_mma_async_sync_aligned<64, ptx::type_f16, ptx::type_bf16>(d, a, b, 1);
#elif defined(MISUSE_transposed_tf32)
  ptx::wgmma_mma_async_sync_aligned<64, ptx::type_tf32, ptx::type_tf32, 1, 1, 0, 1>(d, a, b, 1);
#elif defined(MISUSE_selector)
  ptx::wgmma_mma_async_sp_sync_aligned<64, ptx::type_e4m3, ptx::type_e4m3, 1>(d, a, b, 0U, 1);
#elif defined(MISUSE_mn_major_bytes)
  out[1] = static_cast<float>(MatrixDescriptor::mn_major<e4m3, Swizzle::bytes_128, 8192>(base).bits());
#elif defined(MISUSE_odd_stride)
  out[1] = static_cast<float>(MatrixDescriptor::k_major<half, Swizzle::bytes_128, 1032>(base).bits());
#elif defined(MISUSE_far_stride)
  out[1] = static_cast<float>(MatrixDescriptor::mn_major<half, Swizzle::bytes_128, 262144>(base).bits());
#else
#error "name the misuse"
#endif
  ptx::wgmma_wait_group_sync_aligned<0>(d);
  sum.for_each([&](float& v, int row, int col) { out[64 * row + col] = v + d[0]; });
}
