// dQ of the wgmma backward kernel of attention: a consumer warp adds its part of a tile of queries to that in
// device memory by TMA, in f32, and counts the addition. The warp that counts the last one, of all CTAs that
// visit the tile, rounds the part to dQ and clears it for the next head of the slot (BackwardQuerySums).
//
// An addition is counted when the next one is ready, by which time it has completed, and the count is looked
// at a product later, so that nobody waits for either. Below: config_backward_wgmma.hpp, mask.hpp,
// store_backward_wgmma.hpp.
#pragma once

#include "tenon/attention/config_backward_wgmma.hpp"
#include "tenon/attention/mask.hpp"
#include "tenon/attention/store_backward_wgmma.hpp"

namespace tenon {

template <class Config, class Mask>
class BackwardQueryAdder {
  using T = typename Config::T;
  using Values = typename Config::QuerySums::Values;
  static constexpr int queries = Config::queries;

 public:
  // A tile of queries of a head. at: its number among the tiles of all slots.
  struct Tile {
    int head, query, at;
  };

  // By a whole consumer warp. parts: of all warps, in shared memory. warp: its number in the CTA.
  __device__ __forceinline__ BackwardQueryAdder(const AttentionBackwardArguments& a, const Mask& mask,
                                                std::uint8_t* parts, int warp)
      : a_(a), mask_(mask), part_(parts + warp * 4 * Config::part_floats), warp_(warp) {}

  __device__ __forceinline__ Tile tile(const BackwardWork& work, int head, int query) const {
    return {head, query, (BackwardSlot(a_, work.batch, head).slot * a_.padded_queries + query) / queries};
  }

  // before: the tile of the addition before, if `follows`.
  __device__ __forceinline__ void add(const Values& values, const BackwardWork& work, const Tile& tile,
                                      const Tile& before, bool follows) {
    if (lane_id() == 0) {
      cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
      if (follows) count(before);
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
    if (a_.dq_sums.ordered) wait_for_turn(work, tile);
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add,
                                    sums(tile), reinterpret_cast<const float*>(part_),
                                    static_cast<std::uint32_t>(4 * Config::part_floats));
    cuda::ptx::cp_async_bulk_commit_group();
  }
  // After add(), some instructions later.
  __device__ __forceinline__ void round_if_last(const BackwardWork& work, const Tile& before) const {
    const KeySpan visited = visiting_tiles(before);
    const auto others = static_cast<std::uint32_t>(visited.end - visited.begin - 1);
    if (__shfl_sync(0xffffffffU, counted_, 0) == others) round(work, before);
  }
  // tile: of the last add(). After this the shared memory may go.
  __device__ __forceinline__ void finish(const BackwardWork& work, const Tile& tile) {
    if (lane_id() == 0) {
      cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
      count(tile);
    }
    __syncwarp();
    round_if_last(work, tile);
  }

 private:
  __device__ __forceinline__ float* sums(const Tile& tile) const {
    return a_.dq_sums.sums + static_cast<std::int64_t>(tile.at) * Config::tile_floats +
           warp_ * Config::part_floats;
  }
  __device__ __forceinline__ std::uint32_t* counter(const Tile& tile) const {
    return a_.dq_sums.counts + tile.at * Config::parts + warp_;
  }
  // The tiles of keys whose CTAs visit a tile of queries.
  __device__ __forceinline__ KeySpan visiting_tiles(const Tile& tile) const {
    return key_tiles(mask_, tile.query, min(tile.query + queries, a_.queries) - 1, Config::keys);
  }

  // By lane 0, when its addition has completed.
  __device__ __forceinline__ void count(const Tile& tile) {
    cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
    counted_ = atomicAdd(counter(tile), 1U);
  }
  // By lane 0: until the CTAs of all later keys have added. They come earlier in the grid.
  __device__ __forceinline__ void wait_for_turn(const BackwardWork& work, const Tile& tile) const {
    const auto turn = static_cast<std::uint32_t>(visiting_tiles(tile).end - 1 - work.key / Config::keys);
    const volatile std::uint32_t* const counted = counter(tile);
    while (*counted != turn) {
    }
    cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
  }

  __device__ __forceinline__ void round(const BackwardWork& work, const Tile& tile) const {
    if (lane_id() == 0) cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
    __syncwarp();
    auto* const from = reinterpret_cast<float4*>(sums(tile)) + lane_id();
    Values values;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 four = __ldcg(from + 32 * j);  // of the L2, where TMA adds
      values.reg[4 * j] = four.x, values.reg[4 * j + 1] = four.y;
      values.reg[4 * j + 2] = four.z, values.reg[4 * j + 3] = four.w;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) __stcg(from + 32 * j, make_float4(0, 0, 0, 0));
    const int group = warp_ / 4;
    store_gradient<T>(values, a_.dq,
                      {work.batch, tile.head, tile.query + (queries == 64 ? 0 : 64 * group), a_.queries,
                       queries == 64 ? 64 * group : 0},
                      a_.scale);
    if (lane_id() == 0) *counter(tile) = 0;
    __syncwarp();
    if (lane_id() == 0) {
      cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_gpu);
      atomicAdd(BackwardSlot(a_, work.batch, tile.head).rounded(a_), 1U);
    }
  }

  const AttentionBackwardArguments& a_;
  const Mask& mask_;
  std::uint8_t* part_;
  int warp_;
  std::uint32_t counted_ = 0;  // of lane 0: the additions before that counted last
};

}  // namespace tenon
