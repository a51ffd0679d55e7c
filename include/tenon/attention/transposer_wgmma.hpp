// The transposition of the values in the wgmma kernel of attention of 8-bit elements: warps of the producer's
// warpgroup turn each value tile that TMA has loaded into the B operand that the consumers read, which wgmma
// needs with its keys contiguous. Below: config_wgmma.hpp, persistent_scheduler.hpp, warp/transpose_b8.hpp.
#pragma once

#include "tenon/attention/config_wgmma.hpp"
#include "tenon/attention/persistent_scheduler.hpp"
#include "tenon/warp/transpose_b8.hpp"

namespace tenon {

template <class Config>
class AttentionTransposer {
  using Loaded = typename Config::ValueTiles::Loaded;
  using Operand = typename Config::ValueTiles::Operand;
  // A warp transposes 16 columns at a time, of all keys or, so that the warps have equally much, of half.
  static constexpr int blocks_of_keys = Config::Block::n / 32;
  static constexpr int parts_of_columns =
      blocks_of_keys == 2 || blocks_of_keys == 4 || blocks_of_keys == 8 ? 2 : 1;
  static constexpr int blocks = blocks_of_keys / parts_of_columns;

 public:
  // By the transposing warps. warp: 0 to Config::transposing_warps - 1. memory: of the CTA, in the shared
  // window.
  __device__ __forceinline__ AttentionTransposer(const AttentionRings<Config>& rings, std::uint32_t memory,
                                                 int warp)
      : rings_(rings), memory_(memory), warp_(warp) {}

  template <class Walk>
  __device__ __forceinline__ void run(Walk walk) const {
    Stage<Config::key_stages> stage;  // of both rings
#pragma unroll 1
    for (; !walk.ended(); walk.next(), stage = stage.next()) {
      rings_.loaded_values().wait_full(stage);
      rings_.values.wait_empty(stage);
      transpose(Loaded{memory_ + Config::values_at + stage.index * Loaded::bytes},
                Operand{memory_ + Config::operands_at + stage.index * Operand::bytes});
      cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
      rings_.values.arrive(stage);
      __syncwarp();
      if (lane_id() == 0) rings_.loaded_values().release(stage);
    }
  }

 private:
  __device__ __forceinline__ void transpose(const Loaded& from, const Operand& to) const {
#pragma unroll 1
    for (int part = warp_; part < parts_of_columns * (Config::value / 16); part += Config::transposing_warps)
      transpose_b8<blocks>(from, to, part % parts_of_columns * blocks * 32, part / parts_of_columns * 16);
  }

  const AttentionRings<Config>& rings_;
  std::uint32_t memory_;
  int warp_;
};

}  // namespace tenon
