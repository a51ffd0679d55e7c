// The backward kernel of attention for sm_90a, and the last step of it.
//
// A producer warp loads tiles by TMA; two consumer warpgroups own 64 keys each (consumer_backward_wgmma.hpp).
// A CTA has dK and dV of its 128 keys in registers, and adds dQ to device memory, in f32, as the other CTAs
// of its head do, in no fixed order. attention_backward_round() then rounds dQ. Shah et al.,
// "FlashAttention-3" (2024). Below: consumer_backward_wgmma.hpp, producer_backward_tma.hpp,
// kernel_backward_rows.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/attention/consumer_backward_wgmma.hpp"
#include "tenon/attention/kernel_backward_rows.hpp"
#include "tenon/attention/producer_backward_tma.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: AttentionBackwardConfig. Mask: mask.hpp; the arguments' window is the same. Launch with
// Config::threads, Config::shared_bytes of dynamic shared memory and a CTA for each tile of a.key_tiles,
// after attention_backward_prepare().
template <class Config, class Mask>
__global__ void __launch_bounds__(Config::threads, 1)
    attention_backward_wgmma(const __grid_constant__ AttentionBackwardMaps maps,
                             const __grid_constant__ AttentionBackwardArguments a,
                             const __grid_constant__ Mask mask) {
  extern __shared__ std::uint8_t backward_wgmma_shared[];
  const std::uint32_t misaligned = ptx::shared_address(backward_wgmma_shared) % Config::alignment;
  std::uint8_t* const memory = backward_wgmma_shared + (misaligned == 0 ? 0 : Config::alignment - misaligned);
  const AttentionBackwardRings<Config> rings(memory);
  if (works_for_warp(0)) rings.initialize();
  __syncthreads();
  // Broadcast, so that ptxas knows it to be uniform.
  const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == Config::consumers) {
    ptx::setmaxnreg_dec_sync_aligned_u32<Config::producer_registers>();
    if (works_for_warp(Config::producer_warp)) {
      AttentionBackwardProducer<Config>(maps, a, rings, memory)
          .run(BackwardWork::of<Config>(a, static_cast<int>(blockIdx.x)));
    }
  } else {
    ptx::setmaxnreg_inc_sync_aligned_u32<Config::consumer_registers>();
    const int index = __shfl_sync(0xffffffffU, static_cast<int>(blockIdx.x), 0);
    AttentionBackwardConsumer<Config, Mask>(a, mask, rings, memory, group)
        .run(BackwardWork::of<Config>(a, index));
  }
}

inline constexpr int backward_round_threads = 256;

// dQ times the scale, rounded: a CTA for each tile of Config::queries padded queries.
template <class Config>
__global__ void __launch_bounds__(backward_round_threads)
    attention_backward_round(const __grid_constant__ AttentionBackwardArguments a) {
  using T = typename Config::T;
  using Values = typename Config::QuerySums::Values;
  const int tiles = a.padded_queries / Config::queries;
  const int all_head = static_cast<int>(blockIdx.x) / tiles;
  const int first = (static_cast<int>(blockIdx.x) - all_head * tiles) * Config::queries;
  const int batch = a.by_heads.quotient(all_head), head = all_head - batch * a.heads;
  const auto* const tile = reinterpret_cast<const float4*>(a.dq_sums + static_cast<std::int64_t>(blockIdx.x) *
                                                                           Config::tile_floats);
  T* const out = static_cast<T*>(a.dq.data) + batch * a.dq.batch_stride + head * a.dq.head_stride;
#pragma unroll
  for (int i = 0; i < Config::tile_floats / 8 / backward_round_threads; ++i) {
    // Eight columns, block j of a row of a warp's part: four lanes hold two each (QuerySums).
    const int chunk = i * backward_round_threads + static_cast<int>(threadIdx.x);
    const int j = chunk % 8, half = chunk / 8 % 2, row = chunk / 16 % 8, part = chunk / 128;
    const int group = part / 4;
    const int in_tile = (Config::queries == 64 ? 0 : 64 * group) + part % 4 * 16 + row + 8 * half;
    static_assert(Values::coord(4, 0).row == 1 && Values::coord(0, 2).row == 8,
                  "attention_backward_round: four lanes have a row, and each those 8 further");
    const int query = first + in_tile, column = (Config::queries == 64 ? 64 * group : 0) + 8 * j;
    if (query >= a.queries) continue;
    std::uint32_t words[4];
#pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float4 four = tile[(part * 8 + j) * 32 + 4 * row + lane];
      words[lane] = half == 0 ? Packing<T>::pack({four.x * a.scale, four.y * a.scale})
                              : Packing<T>::pack({four.z * a.scale, four.w * a.scale});
    }
    *reinterpret_cast<uint4*>(out + query * a.dq.row_stride + column) =
        make_uint4(words[0], words[1], words[2], words[3]);
  }
}

}  // namespace tenon
