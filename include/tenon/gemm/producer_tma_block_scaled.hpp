// What a k-tile of block-scaled fp8 is to a producer: an operand and its scales, which TMA loads to the end
// of the stage. Below: block_scaled.hpp, producer_tma.hpp.
#pragma once

#include "tenon/gemm/block_scaled.hpp"
#include "tenon/gemm/producer_tma.hpp"

namespace tenon {

// Loads of ProducerTma. Config: BlockScaled. Each CTA loads its scales itself, also where operands are
// shared: they are short.
template <class Config, Operand operand, bool residue>
class ScaledOperandLoads {
  using Block = typename Config::Block;
  using Scales = typename Config::Scales;
  using Operands = OperandLoads<Config, operand, residue>;
  static constexpr bool is_a = operand == Operand::a;

 public:
  using Cluster = typename Config::Cluster;
  TENON_HOST_DEVICE static constexpr auto load(const Cluster& cluster, int columns) {
    return Operands::load(cluster, columns);
  }
  // scales: of A with boxes of 1 x Block::m, of B with boxes of Scales::blocks_b x box_columns_b.
  using Map = ScaledOperandMaps<typename Operands::Map>;

  __device__ __forceinline__ ScaledOperandLoads(const WorkTile& work, const GemmArguments& p)
      : operand_(work, p), first_(is_a ? work.m * Block::m : work.n * Block::n / scale_block) {}

  __device__ __forceinline__ int bytes() const {
    return operand_.bytes() + (is_a ? 4 * Scales::rows_a : Scales::bytes_b);
  }
  __device__ __forceinline__ void start(std::uint8_t* stage, const Map& map, int k_tile,
                                        std::uint64_t* barrier) const {
    operand_.start(stage, map, k_tile, barrier);
    std::uint8_t* const scales = stage + Config::operand_bytes;
    if constexpr (is_a) {
      copy_box(scales, map.scales, k_tile, first_, barrier);
    } else {
      copy_box(scales + Scales::b_at, map.scales, first_, k_tile - Scales::in_box_b(k_tile), barrier);
    }
  }

  __device__ __forceinline__ static void prefetch(const Map& map) {
    Operands::prefetch(map);
    prefetch_map(map.scales);
  }

 private:
  Operands operand_;
  int first_;  // row of A, or block of columns of B
};

}  // namespace tenon
