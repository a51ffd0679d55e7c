// What a CTA of the wgmma kernel of attention is made of, and where it has its shared memory. Below:
// gemm/tile_shape.hpp, value_tiles_wgmma.hpp, warp/wgmma_accumulator.hpp.
#pragma once

#include "tenon/attention/value_tiles_wgmma.hpp"
#include "tenon/gemm/tile_shape.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/shared/tile.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// How the work of a CTA is divided and overlapped. Block: TileShape of queries x keys, 64 queries for each of
// two or three consumer warpgroups. QueryStages: query tiles in shared memory; KeyStages: key tiles;
// PingPong: whether the consumers take turns to issue their products, so that the softmax of one runs under
// the products of the others; ValueStages: value tiles, and as many transposed ones of e4m3.
template <class Block_, int QueryStages, int KeyStages, bool PingPong = true, int ValueStages = KeyStages>
struct AttentionSchedule {
  using Block = Block_;
  static constexpr int query_stages = QueryStages, key_stages = KeyStages, value_stages = ValueStages;
  static constexpr bool ping_pong = PingPong;
};

// T: __half, __nv_bfloat16 or e4m3. Head, Value: dimension of a row of Q and K, and of V and O: multiples of
// 32 up to 256.
template <class T_, int Head, int Value, class Schedule_>
struct AttentionConfig {
  static_assert(Element<T_>::bits == 16 || std::is_same_v<T_, e4m3>,
                "AttentionConfig: the elements must be __half or __nv_bfloat16, or e4m3");
  static_assert(Head % 32 == 0 && Head > 0 && Head <= 256 && Value % 32 == 0 && Value > 0 && Value <= 256,
                "AttentionConfig: the head dimensions must be multiples of 32 from 32 to 256");
  using T = T_;
  using Schedule = Schedule_;
  using Block = typename Schedule::Block;
  static constexpr int head = Head, value = Value;
  static constexpr int consumers = Block::m / 64;
  static_assert(Block::m % 64 == 0 && (consumers == 2 || consumers == 3),
                "AttentionConfig: two or three consumer warpgroups have 64 queries each");
  static_assert(Block::n % 16 == 0 && Block::n <= 256,
                "AttentionConfig: the keys of a tile must be a multiple of 16, the k of a wgmma, up to 256");

  using TileQ = OperandTile<T, Block::m, padded_row<T>(Head), true>;
  using TileK = OperandTile<T, Block::n, padded_row<T>(Head), true>;
  using ValueTiles = AttentionValueTiles<T, Value, Block::n>;
  using TileV = typename ValueTiles::Loaded;
  static constexpr int query_stages = Schedule::query_stages, key_stages = Schedule::key_stages,
                       value_stages = Schedule::value_stages;

  using Scores = WgmmaAccumulator<float, Block::n>;
  using Output = WgmmaAccumulator<float, Value>;

  // Registers of a thread of each role (setmaxnreg): of 512 that four threads of four warpgroups have at the
  // launch, and of three 504.
  static constexpr int producer_registers = consumers == 3 ? 32 : ValueTiles::transposed ? 56 : 24;
  static constexpr int consumer_registers =
      ((consumers == 3 ? 512 : 504) - producer_registers) / consumers / 8 * 8;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr int producer_warp = 4 * consumers;
  static constexpr int transposing_warps = ValueTiles::transposed ? 3 : 0;  // those after the producer

  // Shared memory, from a multiple of 1024 bytes on: query tiles, key tiles, value tiles, their transposes,
  // barriers.
  static constexpr int alignment = 1024;
  static constexpr int keys_at = query_stages * TileQ::bytes;
  static constexpr int values_at = keys_at + key_stages * TileK::bytes;
  static constexpr int operands_at =
      ValueTiles::transposed ? values_at + value_stages * TileV::bytes : values_at;
  static constexpr int barriers_at = operands_at + value_stages * ValueTiles::Operand::bytes;
  static constexpr int shared_bytes =
      barriers_at + TmaRing<query_stages>::bytes + TmaRing<key_stages>::bytes +
      (ValueTiles::transposed ? 2 : 1) * TmaRing<value_stages>::bytes + alignment;
  static_assert(shared_bytes <= most_shared_bytes,
                "AttentionConfig: the tiles are larger than the shared memory of a CTA, 227 KB: take fewer "
                "stages or keys");
};

// The rings of a CTA: query tiles, key tiles, value tiles. loaded_values() is the ring of value tiles that
// TMA fills, values the one that the consumers read.
template <class Config, bool transposed = Config::ValueTiles::transposed>
struct AttentionRings {
  TmaRing<Config::query_stages> queries;
  TmaRing<Config::key_stages> keys;
  TmaRing<Config::value_stages> values;

  __device__ __forceinline__ const TmaRing<Config::value_stages>& loaded_values() const { return values; }
  // memory: of the CTA, aligned.
  __device__ __forceinline__ explicit AttentionRings(std::uint8_t* memory)
      : AttentionRings(reinterpret_cast<std::uint64_t*>(memory + Config::barriers_at)) {}
  // By one thread, before the CTA synchronises. Each consumer warp releases each stage.
  __device__ __forceinline__ void initialize() const {
    queries.initialize(4 * Config::consumers);
    keys.initialize(4 * Config::consumers);
    values.initialize(4 * Config::consumers);
  }

 private:
  __device__ __forceinline__ explicit AttentionRings(std::uint64_t* barriers)
      : queries(barriers),
        keys(barriers + 2 * Config::query_stages),
        values(barriers + 2 * Config::query_stages + 2 * Config::key_stages) {}
};

// With transposed values: the transposing warps read one ring and fill the other, every thread of them.
template <class Config>
struct AttentionRings<Config, true> {
  TmaRing<Config::query_stages> queries;
  TmaRing<Config::key_stages> keys;
  TmaRing<Config::value_stages> values;

  __device__ __forceinline__ const TmaRing<Config::value_stages>& loaded_values() const { return loaded_; }
  __device__ __forceinline__ explicit AttentionRings(std::uint8_t* memory)
      : AttentionRings(reinterpret_cast<std::uint64_t*>(memory + Config::barriers_at)) {}
  __device__ __forceinline__ void initialize() const {
    queries.initialize(4 * Config::consumers);
    keys.initialize(4 * Config::consumers);
    values.initialize(4 * Config::consumers, 32 * Config::transposing_warps);
    loaded_.initialize(Config::transposing_warps);
  }

 private:
  __device__ __forceinline__ explicit AttentionRings(std::uint64_t* barriers)
      : queries(barriers),
        keys(barriers + 2 * Config::query_stages),
        values(barriers + 2 * Config::query_stages + 2 * Config::key_stages),
        loaded_(barriers + 2 * Config::query_stages + 2 * Config::key_stages + 2 * Config::value_stages) {}

  TmaRing<Config::value_stages> loaded_;
};

}  // namespace tenon
