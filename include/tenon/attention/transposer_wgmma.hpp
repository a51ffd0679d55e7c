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
  // A warp transposes 16 columns at a time, of one half of the keys: all keys would need too many registers,
  // and the warps would have different shares. Three blocks are not worth halving: a warp waits for its
  // loads.
  static constexpr int blocks = Config::Block::n / 32;
  static constexpr unsigned parts = blocks == 1 || blocks == 3 ? 1 : 2;
  static constexpr int first_blocks = (blocks + 1) / 2;

 public:
  // By the transposing warps. warp: 0 to Config::transposing_warps - 1. memory: of the CTA, in the shared
  // window.
  __device__ __forceinline__ AttentionTransposer(const AttentionRings<Config>& rings, std::uint32_t memory,
                                                 unsigned warp)
      : rings_(rings), memory_(memory), warp_(warp) {}

  template <class Walk>
  __device__ __forceinline__ void run(Walk walk) const {
    Stage<Config::value_stages> stage;  // of both rings
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
    for (unsigned part = warp_; part < parts * (Config::value / 16); part += Config::transposing_warps) {
      const unsigned column = part / parts * 16;
      if constexpr (parts == 1) {
        transpose_.template transpose<0, blocks>(from, to, column);
      } else if (part % parts == 0) {
        transpose_.template transpose<0, first_blocks>(from, to, column);
      } else {
        transpose_.template transpose<first_blocks, blocks - first_blocks>(from, to, column);
      }
    }
  }

  const AttentionRings<Config>& rings_;
  std::uint32_t memory_;
  unsigned warp_;
  TransposeB8<Loaded, Operand> transpose_;
};

}  // namespace tenon
