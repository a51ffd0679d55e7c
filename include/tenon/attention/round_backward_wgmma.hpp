// A CTA that rounds a part of dQ of a head in f32, and clears it for the head that has the slot next. Each
// warp loads and rounds parts of tiles by itself, several in flight, as the reductions of all other CTAs keep
// the L2 busy. Below: query_sums_backward_wgmma.hpp.
#pragma once

#include "tenon/attention/query_sums_backward_wgmma.hpp"

namespace tenon {

template <class Config>
class BackwardRounder {
  using Values = typename Config::QuerySums::Values;
  static constexpr int stages = 4, warps = Config::threads / 32, part_bytes = 4 * Config::part_floats;
  using Ring = TmaRing<stages>;
  static_assert(warps % 4 == 0, "BackwardRounder: all parts of a warp are of the same rows of a warpgroup");
  static constexpr int rings_at = warps * stages * part_bytes;
  static_assert(rings_at + warps * Ring::bytes <= Config::barriers_at,
                "BackwardRounder: the stages are larger than the tiles of Config");

 public:
  // By a whole CTA. memory: of the CTA, aligned. part: of dQ of the head, which counts those of all batches.
  __device__ __forceinline__ static void run(const AttentionBackwardArguments& a, std::uint8_t* memory,
                                             int part, int all_head) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + rings_at + warp * Ring::bytes));
    const BackwardSlot slot(a, all_head);
    if (threadIdx.x == 0)
      wait_for_count(a.dq_sums.finished + slot.slot, (slot.turn + 1) * a.dq_sums.adders * Config::parts);
    if (lane_id() == 0) ring.initialize(1);
    __syncthreads();
    BackwardRounder(a, ring, memory + warp * stages * part_bytes, slot, part).round(all_head, warp);
    __syncthreads();
    if (threadIdx.x == 0) add_to_count(a.dq_sums.rounded + slot.slot);
  }

 private:
  __device__ __forceinline__ BackwardRounder(const AttentionBackwardArguments& a, const Ring& ring,
                                             std::uint8_t* memory, const BackwardSlot& slot, int part)
      : a_(a), ring_(ring), memory_(memory) {
    const int tiles = a.padded_queries / Config::queries, first = part * Config::rounded_tiles;
    first_ = first * Config::parts;
    end_ = min(first + Config::rounded_tiles, tiles) * Config::parts;
    sums_ = a.dq_sums.sums + static_cast<std::int64_t>(slot.slot) * tiles * Config::tile_floats;
  }

  // Parts of tiles first_ + warp, and every `warps` further.
  __device__ __forceinline__ void round(int all_head, int warp) const {
    const int batch = a_.by_heads.quotient(all_head), head = all_head - batch * a_.heads;
    Stage<stages> loaded, used;
    int next = first_ + warp;
    for (int i = 0; i < stages; ++i, next += warps) loaded = load(next, loaded);
#pragma unroll 1
    for (int i = first_ + warp; i < end_; i += warps, next += warps) {
      ring_.wait_full(used);
      const auto* const from = reinterpret_cast<const float4*>(memory_ + used.index * part_bytes) + lane_id();
      Values values;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float4 four = from[32 * j];
        values.reg[4 * j] = four.x, values.reg[4 * j + 1] = four.y;
        values.reg[4 * j + 2] = four.z, values.reg[4 * j + 3] = four.w;
      }
      const int tile = i / Config::parts, group = i % Config::parts / 4;
      store_gradient<typename Config::T>(values, a_.dq,
                                         {batch, head, tile * Config::queries + Config::first_row(group),
                                          a_.queries, Config::first_column(group)},
                                         a_.scale);
      auto* const cleared = reinterpret_cast<float4*>(sums(i)) + lane_id();
#pragma unroll
      for (int j = 0; j < 8; ++j) __stcg(cleared + 32 * j, make_float4(0, 0, 0, 0));
      __syncwarp();
      if (lane_id() == 0) ring_.release(used);
      used = used.next();
      loaded = load(next, loaded);
    }
  }
  __device__ __forceinline__ float* sums(int part) const {
    return sums_ + static_cast<std::int64_t>(part) * Config::part_floats;
  }
  // By a whole warp; nothing is loaded after the last part.
  __device__ __forceinline__ Stage<stages> load(int part, Stage<stages> stage) const {
    if (part < end_ && lane_id() == 0) {
      ring_.wait_empty(stage);
      ring_.expect(stage, part_bytes);
      cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global,
                               memory_ + stage.index * part_bytes, sums(part),
                               static_cast<std::uint32_t>(part_bytes), ring_.full_barrier(stage));
    }
    __syncwarp();
    return stage.next();
  }

  const AttentionBackwardArguments& a_;
  const Ring& ring_;
  std::uint8_t* memory_;
  float* sums_;
  int first_, end_;
};

}  // namespace tenon
