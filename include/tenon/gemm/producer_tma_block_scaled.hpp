// What a k-tile of block-scaled fp8 is to the producer: both operands and their scales, which TMA loads to
// the end of the stage. Below: block_scaled.hpp, producer_tma.hpp.
#pragma once

#include "tenon/gemm/block_scaled.hpp"
#include "tenon/gemm/producer_tma.hpp"

namespace tenon {

// Loads of ProducerTma. Config: BlockScaled. Each CTA loads its scales itself, also where operands are
// shared: they are short.
template <class Config, bool residue>
class ScaledOperandLoads {
  using Block = typename Config::Block;
  using Scales = typename Config::Scales;
  using Operands = OperandLoads<Config, residue>;

 public:
  using LoadA = typename Operands::LoadA;
  using LoadB = typename Operands::LoadB;
  // scales: of A with boxes of 1 x Block::m, of B with boxes of Scales::blocks_b x box_columns_b.
  using Map = ScaledOperandMaps<typename Operands::Map>;

  __device__ __forceinline__ ScaledOperandLoads(const WorkTile& work, const GemmArguments& p)
      : operands_(work, p), row_(work.m * Block::m), block_b_(work.n * Block::n / scale_block) {}

  __device__ __forceinline__ static int left_of_a(const WorkTile& work, const GemmArguments& p) {
    return Operands::left_of_a(work, p);
  }
  __device__ __forceinline__ static int left_of_b(const WorkTile& work, const GemmArguments& p) {
    return Operands::left_of_b(work, p);
  }

  __device__ __forceinline__ int bytes() const {
    return operands_.bytes() + 4 * Scales::rows_a + Scales::bytes_b;
  }
  __device__ __forceinline__ void start(std::uint8_t* to, const Map& map_a, const Map& map_b, int k_tile,
                                        std::uint64_t* barrier) const {
    operands_.start(to, map_a, map_b, k_tile, barrier);
    std::uint8_t* const scales = to + Config::operand_bytes;
    copy_box(scales, map_a.scales, k_tile, row_, barrier);
    copy_box(scales + Scales::b_at, map_b.scales, block_b_, k_tile - Scales::in_box_b(k_tile), barrier);
  }

  __device__ __forceinline__ static void prefetch(const Map& map) {
    Operands::prefetch(map);
    prefetch_map(map.scales);
  }

 private:
  Operands operands_;
  int row_, block_b_;
};

}  // namespace tenon
