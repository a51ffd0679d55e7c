// Attention of few queries over latent keys (MLA) by mma.sync and cp.async, for sm_80 and newer: V is the
// first columns of K, so that each row is read once for both products, and one key head serves all heads. A
// CTA computes 16 to 64 rows, query tokens and heads, over one split of the keys; kernel_decode_combine.hpp
// merges the splits. Below: latent_warp.hpp, key_copies.hpp, pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/key_copies.hpp"
#include "tenon/attention/latent_warp.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// RowBlocks: of 16 rows, a warp. Groups: of four warps, with rows of their own.
template <class T_, int HeadDimension, int ValueDimension, int RowBlocks, int Groups, int Stages>
struct AttentionLatentConfig {
  using T = T_;
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr int row_blocks = RowBlocks, groups = Groups, rows = 16 * RowBlocks * Groups;
  static constexpr int warps = 4 * Groups, threads = 32 * warps, ctas_per_sm = 1;
  static constexpr int key_tile = 64, stages = Stages;
  static constexpr bool latent = true;
  static_assert(
      HeadDimension % 64 == 0 && ValueDimension % 64 == 0 && ValueDimension <= HeadDimension,
      "AttentionLatentConfig: the values are the first columns of the keys, and both have a multiple "
      "of 64");
  static_assert(Stages >= 2, "AttentionLatentConfig: the ring has 2 stages or more");

  using QueryTile = HeadTile<T, rows, HeadDimension>;
  using KeyTile = HeadTile<T, key_tile, HeadDimension>;
  using WeightTile = HeadTile<T, rows, key_tile>;
  // Maxima or sums of each row, of the four warps that share it.
  static constexpr int row_bytes = 4 * 4 * rows;
  static constexpr int shared_bytes =
      QueryTile::bytes + Stages * KeyTile::bytes + WeightTile::bytes + row_bytes;
};

// Launch with threads, shared_bytes of dynamic shared memory, and a CTA for each DecodeWork.
template <class Config, class Score>
class AttentionLatent : LatentWarp<Config, Score> {
  using T = typename Config::T;
  using QueryTile = typename Config::QueryTile;
  using KeyTile = typename Config::KeyTile;
  using Warp = LatentWarp<Config, Score>;
  using Ring = CpAsyncRing<Config::stages>;
  using Warp::step, Warp::a_, Warp::sequence_, Warp::work_, Warp::seen_by_each_, Warp::group_, Warp::quarter_,
      Warp::query_;

 public:
  __device__ static void run(const AttentionDecodeArguments& a, const Score& score) {
    extern __shared__ __align__(1024) unsigned char attention_shared[];
    let_next_grid_begin();
    const DecodeWork work = decode_work(a, static_cast<int>(blockIdx.x));
    wait_for_previous_grid();
    const DecodeSequence sequence = sequence_of(a, work.batch);
    const int first_row = work.row_tile * Config::rows, rows = sequence.queries * a.group;
    if (first_row >= rows) return;
    AttentionLatent cta(a, score, sequence, work, first_row, attention_shared);

    const int first = a.by_group.quotient(first_row),
              last = a.by_group.quotient(min(first_row + Config::rows, rows) - 1);
    cta.seen_by_each_ = keys_seen_by_each(a, sequence, first, last);
    const KeyRange seen = keys_seen_by_one(a, sequence, first, last);
    const auto [key, tiles] = tiles_of_split(a, seen, work.split, Config::key_tile);
    cta.attend(key, min(key + tiles * Config::key_tile, seen.end), tiles);
    cta.store();
  }

 private:
  using Warp::Warp;

  __device__ __forceinline__ void copy_query() const {
    constexpr int chunks = Config::head_dimension / QueryTile::chunk_elements;
    const T* const from = static_cast<const T*>(a_.q.data) + work_.batch * a_.q.batch_stride;
    for (int i = static_cast<int>(threadIdx.x); i < Config::rows * chunks; i += Config::threads) {
      const int row = i / chunks, column = i % chunks * QueryTile::chunk_elements;
      const DecodeRow place = this->at(row);
      ptx::cp_async_cg_shared_global_16(query_ + static_cast<std::uint32_t>(QueryTile::offset(row, column)),
                                        from + (sequence_.first_query + place.query) * a_.q.row_stride +
                                            place.head * a_.q.head_stride + column,
                                        this->has(row) ? 16U : 0U);
    }
  }

  __device__ __forceinline__ void attend(int key, int end, int tiles) {
    const int lane = lane_id();
    const RowCopies<KeyTile> k(static_cast<const T*>(a_.k.data) + work_.key_head * a_.k.head_stride, lane);
    KeyPlaces<step> places(a_, sequence_, work_.batch, key + step * quarter_, end, Config::key_tile);
    std::uint32_t there[Config::stages];  // a bit a key of this warp, of the stages as they are read
    const auto stage_at = [&](int stage) {
      return query_ + QueryTile::bytes + static_cast<std::uint32_t>(stage) * KeyTile::bytes;
    };
    // The keys of whose S the warp computes; the groups share their panels.
    const auto copy_stage = [&](int tile, int stage) {
      std::uint32_t mask = 0;
      if (tile < tiles) {
        mask = places.next();
        const std::uint32_t to = stage_at(stage) + step * quarter_ * KeyTile::row_bytes;
#pragma unroll
        for (int pass = 0; pass < step / RowCopies<KeyTile>::rows_per_pass; ++pass) {
          const int row = RowCopies<KeyTile>::row(pass, lane);
          const auto place = places.place(row);
          k.copy(to, pass, place.in(a_.k), (mask >> row & 1U) != 0, group_, Config::groups);
        }
      }
      Ring::commit();
      return mask;
    };
    copy_query();
#pragma unroll
    for (int s = 0; s + 1 < Config::stages; ++s) there[s] = copy_stage(s, s);
    int read = 0;
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      Ring::wait_oldest();
      there[Config::stages - 1] =
          copy_stage(tile + Config::stages - 1, (read == 0 ? Config::stages : read) - 1);
      this->attend_tile(stage_at(read), key + tile * Config::key_tile + step * quarter_, there[0]);
#pragma unroll
      for (int s = 0; s + 1 < Config::stages; ++s) there[s] = there[s + 1];
      read = read + 1 == Config::stages ? 0 : read + 1;
    }
    Ring::drain();
  }
};

template <class Config, class Score>
__global__ void __launch_bounds__(Config::threads, Config::ctas_per_sm)
    attention_decode_latent(const __grid_constant__ AttentionDecodeArguments arguments,
                            const __grid_constant__ Score score) {
  AttentionLatent<Config, Score>::run(arguments, score);
}

}  // namespace tenon
