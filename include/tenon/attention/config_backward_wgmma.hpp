// What a CTA of the wgmma backward kernel of attention is made of, and where it has its shared memory. Below:
// arguments_backward.hpp, scheduler_backward.hpp, pipeline/tma_ring.hpp, shared/tile.hpp,
// warp/wgmma_accumulator.hpp.
#pragma once

#include "tenon/attention/arguments_backward.hpp"
#include "tenon/attention/scheduler_backward.hpp"
#include "tenon/gemm/tile_shape.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/shared/tile.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// T: __half or __nv_bfloat16. Head: dimension of a row of Q, K, V and O, 64 or 128. A CTA owns 128 keys, 64
// for each of two consumer warpgroups, and visits tiles of `queries` queries.
template <class T_, int Head>
struct AttentionBackwardConfig {
  static_assert(Element<T_>::bits == 16,
                "AttentionBackwardConfig: the elements must be __half or __nv_bfloat16");
  static_assert(Head == 64 || Head == 128,
                "AttentionBackwardConfig: the accumulators of dK and dV have registers for a head dimension "
                "of 64 or 128");
  using T = T_;
  static constexpr int head = Head;
  static constexpr int keys = 128, queries = Head == 64 ? 128 : 64;
  static constexpr int consumers = 2, threads = 128 * (consumers + 1), producer_warp = 4 * consumers;
  static constexpr int producer_registers = 24, consumer_registers = 240;
  static constexpr int stages = 2;

  using TileK = OperandTile<T, keys, Head, true>;     // K and V
  using TileQ = OperandTile<T, queries, Head, true>;  // Q and dO
  // The same memory where the rows are the k of a product.
  using KeyRows = OperandTile<T, Head, keys, false>;
  using QueryRows = OperandTile<T, Head, queries, false>;
  using TileS = OperandTile<T, queries, keys, false>;  // dS^T: a row of each key

  using Scores = WgmmaAccumulator<float, queries>;  // 64 keys x queries
  using Sums = WgmmaAccumulator<float, Head>;       // of dK and dV
  using QuerySums = WgmmaAccumulator<float, 64>;    // each warpgroup's part of dQ: of its rows or columns
  // What a warp adds to dQ at a time: its 16 rows of QuerySums, in the order of the registers.
  static constexpr int part_floats = 16 * 64, parts = 4 * consumers;
  static constexpr int tile_floats = part_floats * parts;
  static_assert(tile_floats == queries * Head, "AttentionBackwardConfig: the warps share dQ of a tile");

  // What a warpgroup has of a tile of dQ.
  TENON_HOST_DEVICE static constexpr int first_row(int group) { return queries == 64 ? 0 : 64 * group; }
  TENON_HOST_DEVICE static constexpr int first_column(int group) { return queries == 64 ? 64 * group : 0; }
  static constexpr int rounded_tiles = 16;  // by a CTA

  // Shared memory, from a multiple of 1024 bytes on.
  static constexpr int alignment = 1024;
  static constexpr int values_at = TileK::bytes, queries_at = 2 * TileK::bytes;
  static constexpr int gradients_at = queries_at + stages * TileQ::bytes;
  static constexpr int scores_at = gradients_at + stages * TileQ::bytes;  // two tiles of dS
  static constexpr int parts_at = scores_at + 2 * TileS::bytes;
  static constexpr int row_bytes = 4 * queries;  // of a float for each query
  static constexpr int log2_sums_at = parts_at + 4 * tile_floats;
  static constexpr int deltas_at = log2_sums_at + stages * row_bytes;
  static constexpr int barriers_at = deltas_at + stages * row_bytes;
  static constexpr int shared_bytes =
      barriers_at + 2 * TmaRing<stages>::bytes + TmaRing<1>::bytes + alignment;
  static_assert(shared_bytes <= most_shared_bytes,
                "AttentionBackwardConfig: the tiles are larger than the shared memory of a CTA, 227 KB");
};

// The rings of a CTA: Q with the log-sum-exp, dO with its sums, K and V together.
template <class Config>
struct AttentionBackwardRings {
  TmaRing<Config::stages> queries, gradients;
  TmaRing<1> keys;

  // memory: of the CTA, aligned.
  __device__ __forceinline__ explicit AttentionBackwardRings(std::uint8_t* memory)
      : AttentionBackwardRings(reinterpret_cast<std::uint64_t*>(memory + Config::barriers_at)) {}
  // By one thread, before the CTA synchronises. Each consumer warp releases each stage.
  __device__ __forceinline__ void initialize() const {
    queries.initialize(4 * Config::consumers);
    gradients.initialize(4 * Config::consumers);
    keys.initialize(4 * Config::consumers);
  }

 private:
  __device__ __forceinline__ explicit AttentionBackwardRings(std::uint64_t* barriers)
      : queries(barriers), gradients(barriers + 2 * Config::stages), keys(barriers + 4 * Config::stages) {}
};

// Of Q, dO, K and V: dimensions head dimension, rows, heads, batches; boxes of a tile's rows x a panel's
// columns.
struct AttentionBackwardMaps {
  TensorMap q, d_o, k, v;
};

// Where dQ in f32 of a head, of all batches, lies in the workspace (BackwardQuerySums).
struct BackwardSlot {
  int turn, slot;  // turn: of the heads that have the slot one after the other
  __device__ __forceinline__ BackwardSlot(const AttentionBackwardArguments& a, int all_head)
      : turn(a.dq_sums.by_slots.quotient(all_head)), slot(all_head - turn * a.dq_sums.slots) {}
};

// What a CTA that adds does: its keys, and the query tiles that see them, of each head of the group.
struct BackwardWork {
  int batch, key_head, key;  // key: the first
  int begin, tiles;          // of the queries of a head; begin is a multiple of a tile

  // Mask: of mask.hpp, as the window in the arguments is.
  template <class Config, class Mask>
  __device__ __forceinline__ static BackwardWork of(const AttentionBackwardArguments& a,
                                                    const BackwardTask& task) {
    BackwardWork work;
    work.batch = a.by_key_heads.quotient(task.head);
    work.key_head = task.head - work.batch * a.key_heads;
    work.key = task.tile * Config::keys;
    const KeyRange seeing = seeing_queries(a, work.key, min(work.key + Config::keys, a.keys) - 1);
    const int end = Mask::left_limit ? seeing.end : a.queries;
    work.begin = Mask::right_limit ? seeing.begin / Config::queries * Config::queries : 0;
    work.tiles = end > work.begin ? (end - work.begin + Config::queries - 1) / Config::queries : 0;
    return work;
  }
  // Of queries, of all batches.
  __device__ __forceinline__ int first_head(const AttentionBackwardArguments& a) const {
    return batch * a.heads + key_head * a.group;
  }
};

}  // namespace tenon
