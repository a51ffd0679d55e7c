// dQ of the wgmma backward kernel of attention, in f32 in device memory until all CTAs of a head have added
// to it. Consumer warps add parts of tiles by TMA; other CTAs, which come later in the grid, round them. CTAs
// start in the order of the grid, so the CTAs that one waits for run or have ended. Below:
// config_backward_wgmma.hpp, mask.hpp, store_backward_wgmma.hpp.
#pragma once

#include "tenon/attention/config_backward_wgmma.hpp"
#include "tenon/attention/mask.hpp"
#include "tenon/attention/store_backward_wgmma.hpp"

namespace tenon {

// By one thread: until a counter of BackwardQuerySums has reached `count`, and what was written before is
// visible.
__device__ __forceinline__ void wait_for_count(const std::uint32_t* counter, int count) {
  const volatile std::uint32_t* const counted = counter;
  while (static_cast<int>(*counted) < count) {
  }
  cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
}
// By one thread, after what it wrote and what its warp wrote before a __syncwarp().
__device__ __forceinline__ void add_to_count(std::uint32_t* counter) {
  cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
  atomicAdd(counter, 1U);
}

// A consumer warp's part of dQ, a tile of queries after another.
template <class Config, class Mask>
class BackwardQueryAdder {
  using Values = typename Config::QuerySums::Values;
  static constexpr int queries = Config::queries;

 public:
  // By whole warps. part: of the warp in shared memory. warp: its number in the CTA.
  __device__ __forceinline__ BackwardQueryAdder(const AttentionBackwardArguments& a, const Mask& mask,
                                                std::uint8_t* part, int warp)
      : a_(a), mask_(mask), part_(part), warp_(warp) {}

  // head: of all batches. query: the first of the tile.
  __device__ __forceinline__ void add(const Values& values, int head, int query,
                                      const BackwardWork& work) const {
    const bool ordered = a_.dq_sums.turns != nullptr;
    // Opaque: what depends on it is computed here, not kept in registers over the loop.
    const int row = first_row(head) + query;
    if (lane_id() == 0) {
      if (ordered) {
        cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
        if (query != work.begin) add_to_count(turns(row - queries));
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
      }
    }
    __syncwarp();
    auto* const to = reinterpret_cast<float4*>(part_) + lane_id();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      to[32 * j] =
          make_float4(values.reg[4 * j], values.reg[4 * j + 1], values.reg[4 * j + 2], values.reg[4 * j + 3]);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncwarp();
    if (lane_id() != 0) return;
    if (ordered) wait_for_turn(head, row, query, work.key);
    float* const sums =
        a_.dq_sums.sums + static_cast<std::int64_t>(row) * Config::head + warp_ * Config::part_floats;
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, sums,
                                    reinterpret_cast<const float*>(part_),
                                    static_cast<std::uint32_t>(4 * Config::part_floats));
    cuda::ptx::cp_async_bulk_commit_group();
  }
  // After the last add() to a head. After this the shared memory may go.
  __device__ __forceinline__ void finish(int head, const BackwardWork& work) const {
    if (lane_id() == 0) {
      cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
      if (a_.dq_sums.turns != nullptr && work.tiles > 0)
        add_to_count(turns(first_row(head) + work.begin + (work.tiles - 1) * queries));
      add_to_count(a_.dq_sums.finished + BackwardSlot(a_, head).slot);
    }
    __syncwarp();
  }

 private:
  // Of a head, among the rows of all slots.
  __device__ __forceinline__ int first_row(int head) const {
    return BackwardSlot(a_, head).slot * a_.padded_queries;
  }
  __device__ __forceinline__ std::uint32_t* turns(int row) const {
    return a_.dq_sums.turns + row / queries * Config::parts + warp_;
  }
  // By lane 0: until the CTAs of all later keys have added. They come earlier in the grid.
  __device__ __forceinline__ void wait_for_turn(int head, int row, int query, int key) const {
    const KeySpan tiles = key_tiles(mask_, query, min(query + queries, a_.queries) - 1, Config::keys);
    const int before = BackwardSlot(a_, head).turn * (tiles.end - tiles.begin);  // for other heads
    wait_for_count(turns(row), before + tiles.end - 1 - key / Config::keys);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_global);
  }

  const AttentionBackwardArguments& a_;
  const Mask& mask_;
  std::uint8_t* part_;
  int warp_;
};

}  // namespace tenon
