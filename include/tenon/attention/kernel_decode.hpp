// Attention of few queries (decode) by mma.sync and cp.async, for sm_80 and newer: it is bound by reading K
// and V. A CTA computes 16 rows, the query tokens and heads that share a key head, so that one read serves
// the whole group. It does so over one split of the keys; kernel_decode_combine.hpp merges the splits.
//
// Each warp walks keys of its own: it fills its own ring of stages, and no barrier stands between warps
// before all have ended and their O are added. Below: decode_warp.hpp, key_copies.hpp,
// pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/decode_warp.hpp"
#include "tenon/attention/key_copies.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. Step: keys that a warp multiplies at a time, and of a stage of its ring.
template <class T_, int HeadDimension, int ValueDimension, int Warps, int Step, int Stages, int CtasPerSm>
struct AttentionDecodeConfig {
  using T = T_;
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr bool latent = false;
  static constexpr int rows = 16, warps = Warps, threads = 32 * Warps;
  static constexpr int step = Step, key_tile = Warps * Step, stages = Stages, ctas_per_sm = CtasPerSm;
  static_assert(HeadDimension % 32 == 0 && ValueDimension % 32 == 0,
                "AttentionDecodeConfig: the head dimensions must be multiples of 32");
  static_assert(Step == 16 || Step == 32, "AttentionDecodeConfig: a step has 16 or 32 keys");
  static_assert(Stages >= 2, "AttentionDecodeConfig: the ring has 2 stages or more");

  using KeyTile = HeadTile<T, Step, HeadDimension>;
  using ValueTile = HeadTile<T, Step, ValueDimension>;
  static constexpr int stage_bytes = KeyTile::bytes + ValueTile::bytes;
  static constexpr int ring_bytes = Stages * stage_bytes;  // of a warp
  // O of the warps, which are added where the rings were. 8 columns more keep the rows on different banks.
  static constexpr int sum_columns = ValueDimension + 8;
  static constexpr int sum_bytes = 4 * Warps * rows * sum_columns;
  static constexpr int log_bytes = 4 * Warps * rows;
  static constexpr int shared_bytes =
      Warps * ring_bytes > sum_bytes + log_bytes ? Warps* ring_bytes : sum_bytes + log_bytes;
};

// Launch with threads, shared_bytes of dynamic shared memory, and a CTA for each DecodeWork.
template <class Config, class Score>
class AttentionDecode {
  using T = typename Config::T;
  using KeyTile = typename Config::KeyTile;
  using ValueTile = typename Config::ValueTile;
  using Warp = DecodeWarp<Config, Score>;
  using Ring = CpAsyncRing<Config::stages>;
  static constexpr int step = Config::step, stages = Config::stages;
  static_assert(RowCopies<KeyTile>::rows_per_pass == RowCopies<ValueTile>::rows_per_pass,
                "AttentionDecode: K and V must have rows alike");

 public:
  __device__ static void run(const AttentionDecodeArguments& a, const Score& score) {
    extern __shared__ __align__(1024) unsigned char attention_shared[];
    let_next_grid_begin();
    const DecodeWork work = decode_work(a, static_cast<int>(blockIdx.x));
    wait_for_previous_grid();
    const DecodeSequence sequence = sequence_of(a, work.batch);
    const int first_row = work.row_tile * Config::rows, rows = sequence.queries * a.group;
    if (first_row >= rows) return;
    const int warp_number = static_cast<int>(threadIdx.x) / 32;
    Warp warp(a, score, sequence, work);

    const KeyRange seen = warp.seen_by_one();
    const auto [first_key, tiles] = tiles_of_split(a, seen, work.split, Config::key_tile);
    const int key = first_key + warp_number * step;

    const std::uint32_t ring = ptx::shared_address(attention_shared) + warp_number * Config::ring_bytes;
    attend(a, sequence, work, warp, key, min(key + tiles * Config::key_tile, seen.end), tiles, ring);
    __syncthreads();
    warp.merge(work, reinterpret_cast<float*>(attention_shared));
  }

 private:
  __device__ __forceinline__ static void attend(const AttentionDecodeArguments& a,
                                                const DecodeSequence& sequence, const DecodeWork& work,
                                                Warp& warp, int key, int end, int tiles, std::uint32_t ring) {
    const int lane = lane_id();
    const RowCopies<KeyTile> k(static_cast<const T*>(a.k.data) + work.key_head * a.k.head_stride, lane);
    const RowCopies<ValueTile> v(static_cast<const T*>(a.v.data) + work.key_head * a.v.head_stride, lane);
    KeyPlaces<step> places(a, sequence, work.batch, key, end, Config::key_tile);
    std::uint32_t there[stages];  // a bit a key, of the stages in the order in which they are read
    const auto copy_stage = [&](int tile, int stage) {
      std::uint32_t mask = 0;
      if (tile < tiles) {
        mask = places.next();
        const std::uint32_t to = ring + stage * Config::stage_bytes;
#pragma unroll
        for (int pass = 0; pass < RowCopies<KeyTile>::passes; ++pass) {
          const int row = RowCopies<KeyTile>::row(pass, lane);
          const auto place = places.place(row);
          const bool is_there = (mask >> row & 1U) != 0;
          k.copy(to, pass, place.in(a.k), is_there);
          v.copy(to + KeyTile::bytes, pass, place.in(a.v), is_there);
        }
      }
      Ring::commit();
      return mask;
    };
#pragma unroll
    for (int s = 0; s + 1 < stages; ++s) there[s] = copy_stage(s, s);
    warp.load_query();
    int read = 0;
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      Ring::wait_oldest([] { __syncwarp(); });
      there[stages - 1] = copy_stage(tile + stages - 1, (read == 0 ? stages : read) - 1);
      const std::uint32_t at = ring + read * Config::stage_bytes;
      if (there[0] != 0) warp.attend(at, at + KeyTile::bytes, key + tile * Config::key_tile, there[0]);
#pragma unroll
      for (int s = 0; s + 1 < stages; ++s) there[s] = there[s + 1];
      read = read + 1 == stages ? 0 : read + 1;
    }
    ptx::cp_async_wait_group<0>();
  }
};

template <class Config, class Score>
__global__ void __launch_bounds__(Config::threads, Config::ctas_per_sm)
    attention_decode(const __grid_constant__ AttentionDecodeArguments arguments,
                     const __grid_constant__ Score score) {
  AttentionDecode<Config, Score>::run(arguments, score);
}

}  // namespace tenon
