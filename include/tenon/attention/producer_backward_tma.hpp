// The producer of the wgmma backward kernel of attention: one thread loads K and V of the CTA's keys, then Q
// and dO of each query tile, with the log-sum-exp and the sums of dO * O of its rows. Below:
// query_sums_backward_wgmma.hpp, pipeline/tma_box_4d.hpp.
#pragma once

#include "tenon/attention/query_sums_backward_wgmma.hpp"
#include "tenon/pipeline/tma_box_4d.hpp"

namespace tenon {

template <class Config>
class AttentionBackwardProducer {
  using TileK = typename Config::TileK;
  using TileQ = typename Config::TileQ;

 public:
  // By one thread. memory: of the CTA, aligned.
  __device__ __forceinline__ AttentionBackwardProducer(const AttentionBackwardMaps& maps,
                                                       const AttentionBackwardArguments& a,
                                                       const AttentionBackwardRings<Config>& rings,
                                                       std::uint8_t* memory)
      : maps_(maps), a_(a), rings_(rings), memory_(memory) {}

  __device__ __forceinline__ void run(const BackwardWork& work) {
    if (work.tiles == 0) return;
    const Stage<1> keys;
    rings_.keys.expect(keys, 2 * TileK::bytes);
    const BoxPosition at{work.key, work.key_head, work.batch};
    copy<TileK>(memory_, maps_.k, at, rings_.keys.full_barrier(keys));
    copy<TileK>(memory_ + Config::values_at, maps_.v, at, rings_.keys.full_barrier(keys));
    Stage<Config::stages> stage;
#pragma unroll 1
    for (int in_group = 0; in_group < a_.group; ++in_group) {
      const int head = work.key_head * a_.group + in_group, all_head = work.first_head(a_) + in_group;
      wait_for_slot(all_head);
#pragma unroll 1
      for (int tile = 0; tile < work.tiles; ++tile) {
        const int query = work.begin + tile * Config::queries;
        const BoxPosition rows{query, head, work.batch};
        const std::int64_t row = static_cast<std::int64_t>(all_head) * a_.padded_queries + query;
        load(rings_.queries, stage, maps_.q, rows, Config::queries_at, a_.log2_sums + row,
             Config::log2_sums_at);
        load(rings_.gradients, stage, maps_.d_o, rows, Config::gradients_at, a_.deltas + row,
             Config::deltas_at);
        stage = stage.next();
      }
    }
  }

 private:
  // Until dQ of the head that had this head's slot before has been rounded and the slot cleared.
  __device__ __forceinline__ void wait_for_slot(int all_head) const {
    const BackwardSlot slot(a_, all_head);
    if (slot.turn == 0) return;
    wait_for_count(a_.dq_sums.rounded + slot.slot, slot.turn * a_.dq_sums.parts);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_global);  // the consumers add by TMA
  }
  // A tile, and a float of each of its rows.
  __device__ __forceinline__ void load(const TmaRing<Config::stages>& ring, Stage<Config::stages> stage,
                                       const TensorMap& map, BoxPosition at, int tiles_at,
                                       const float* of_rows, int floats_at) const {
    ring.wait_empty(stage);
    ring.expect(stage, TileQ::bytes + Config::row_bytes);
    copy<TileQ>(memory_ + tiles_at + stage.index * TileQ::bytes, map, at, ring.full_barrier(stage));
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global,
                             memory_ + floats_at + stage.index * Config::row_bytes, of_rows,
                             static_cast<std::uint32_t>(Config::row_bytes), ring.full_barrier(stage));
  }
  template <class Tile>
  __device__ __forceinline__ static void copy(std::uint8_t* to, const TensorMap& map, BoxPosition at,
                                              std::uint64_t* barrier) {
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel)
      copy_box_4d(to + panel * Tile::panel_bytes, map, at, panel * Tile::panel_columns, barrier);
  }

  const AttentionBackwardMaps& maps_;
  const AttentionBackwardArguments& a_;
  const AttentionBackwardRings<Config>& rings_;
  std::uint8_t* memory_;
};

}  // namespace tenon
