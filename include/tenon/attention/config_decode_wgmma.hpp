// What a CTA of the wgmma kernel of MLA decode is made of, and where it has its shared memory: 64 rows of Q,
// and two tiles of 64 keys. Below: gemm/tile_shape.hpp, pipeline/tma_ring.hpp, shared/tile.hpp,
// warp/wgmma_accumulator.hpp.
#pragma once

#include "tenon/gemm/tile_shape.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/shared/tile.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// T: __half or __nv_bfloat16. Cluster: CTAs of consecutive row tiles, which load a share of each tile of keys
// and multicast it to the others.
//
// A tile of Q or of keys has four parts of 128 columns and a tail of 64. The parts of the keys are also the
// values, whose first 256 columns are those of O of consumer warpgroup 0. Each part and the tail is a stage
// of the ring: it is loaded again as soon as its last product is done.
template <class T_, int HeadDimension, int ValueDimension, int Cluster = 1>
struct LatentWgmmaConfig {
  using T = T_;
  static_assert(Element<T>::bits == 16, "LatentWgmmaConfig: the elements must be __half or __nv_bfloat16");
  static_assert(HeadDimension == ValueDimension + 64 && ValueDimension == 512,
                "LatentWgmmaConfig: the values must be the first 512 columns of keys of 576: the shared "
                "memory and the registers of a CTA hold just these");
  static_assert(Cluster == 1 || Cluster == 2, "LatentWgmmaConfig: a cluster has one or two CTAs");
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr int rows = 64, key_tile = 64, cluster = Cluster;
  static constexpr bool latent = true;

  static constexpr int part_columns = 128, parts = ValueDimension / part_columns;
  static constexpr int consumers = 2, own_parts = parts / consumers;  // of a consumer's columns of O
  using KeyPart = OperandTile<T, key_tile, part_columns, true>;       // as B of Q K^T
  using ValuePart = OperandTile<T, part_columns, key_tile, false>;    // the same memory as B of P V
  using TailPart = OperandTile<T, key_tile, 64, true>;
  using QueryPart = OperandTile<T, rows, part_columns, true>;
  using WeightTile = OperandTile<T, rows, key_tile, true>;  // P, in the memory of the keys' tail
  static_assert(WeightTile::bytes == TailPart::bytes && QueryPart::bytes == KeyPart::bytes,
                "LatentWgmmaConfig: a tile of keys has as many rows as a tile of Q");
  static constexpr int tile_bytes = parts * KeyPart::bytes + TailPart::bytes;
  static constexpr int tail_at = parts * KeyPart::bytes;  // within a tile

  static constexpr int stages_of_tile = parts + 1, slots = 2;  // tiles in shared memory, one of each consumer
  using Ring = TmaRing<slots * stages_of_tile>;
  using RingStage = Stage<slots * stages_of_tile>;

  // Registers of a thread of each role (setmaxnreg), of 65536 in all.
  static constexpr int producer_registers = 40, consumer_registers = 232;
  static constexpr int threads = 128 * (consumers + 1), producer_warp = 4 * consumers;

  // Shared memory, from a multiple of 1024 bytes on: Q, two tiles of keys, and of each consumer a float a row
  // twice: its reference of the softmax, and its sum.
  static constexpr int alignment = 1024;
  static constexpr int keys_at = tile_bytes;
  static constexpr int references_at = keys_at + slots * tile_bytes;
  static constexpr int sums_at = references_at + consumers * rows * 4;
  static constexpr int barriers_at = sums_at + consumers * rows * 4;
  static constexpr int shared_bytes = barriers_at + Ring::bytes + alignment;
  static_assert(shared_bytes <= most_shared_bytes,
                "LatentWgmmaConfig: the tiles are larger than the shared memory of a CTA, 227 KB");

  using Scores = WgmmaAccumulator<float, key_tile>;
  using Output = WgmmaAccumulator<float, part_columns>;

  // The consumer that computes the scores of a tile.
  TENON_HOST_DEVICE static constexpr int owner(int tile) { return tile % consumers; }
  // Stages of a tile, in the order in which they are loaded, used and released: the parts whose values are
  // the other consumer's, the tail, and the parts whose values are the owner's.
  static constexpr int tail_stage = own_parts, own_stage = own_parts + 1;
  // The part of a stage that is not the tail.
  TENON_HOST_DEVICE static constexpr int part(int owner, int stage) {
    return stage < tail_stage ? own_parts * (1 - owner) + stage : own_parts * owner + stage - own_stage;
  }
  TENON_HOST_DEVICE static constexpr RingStage stage(int tile, int stage) {
    return {tile % slots * stages_of_tile + stage, static_cast<std::uint32_t>(tile / slots) & 1U};
  }
};

// The barriers of the consumers, beside that of the CTA.
enum class LatentBarrier {
  consumers = 1,
  weights_of_0,
  weights_of_1,
  scores_of_0,
  scores_of_1,
  clear_of_0,
  clear_of_1
};

}  // namespace tenon
