// A consumer warpgroup of the wgmma kernel of attention: 64 queries of each of the CTA's query tiles.
//
// The products of two key tiles overlap: the scores of the next tile, S = Q K^T, are issued before the
// product P V of this one, and the softmax of the next tile runs under that product. The next tile may belong
// to the next query tile, so the pipeline does not drain between them. With ping-pong, the warpgroups take
// turns to issue both products, and the softmax of one runs under the products of the others.
//
// P never leaves the registers: the accumulators of S lie as the A operand of P V does, of e4m3 in an order
// of keys that V has too (value_tiles_wgmma.hpp). Below: config_wgmma.hpp, scales_wgmma.hpp,
// softmax_wgmma.hpp, store_wgmma.hpp, pipeline/turns.hpp.
#pragma once

#include "tenon/attention/config_wgmma.hpp"
#include "tenon/attention/scales_wgmma.hpp"
#include "tenon/attention/softmax_wgmma.hpp"
#include "tenon/attention/store_interleaved_wgmma.hpp"
#include "tenon/attention/store_wgmma.hpp"
#include "tenon/pipeline/turns.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

template <class Config, class Mask, class Score>
class AttentionConsumer {
  using T = typename Config::T;
  using Scores = typename Config::Scores;
  using Output = typename Config::Output;
  using ValueTiles = typename Config::ValueTiles;
  using Softmax = WgmmaSoftmax<std::conditional_t<Element<T>::bits == 8, E4m3Range, WideRange>>;
  using Tile = KeyTileOf<Mask>;
  static constexpr int keys = Config::Block::n, rows = 64;
  static constexpr int probability_steps = OperandDescriptor<typename ValueTiles::Operand>::steps;

 public:
  // By all of a consumer warpgroup. group: its number. memory: of the CTA, in the shared window.
  __device__ __forceinline__ AttentionConsumer(const AttentionWgmmaArguments& p, const Mask& mask,
                                               const Score& score, const AttentionRings<Config>& rings,
                                               std::uint32_t memory, int group)
      : p_(p), mask_(mask), score_(score), rings_(rings), memory_(memory), group_(group) {}

  template <class Walk>
  __device__ __forceinline__ void run(Walk walk) {
    if (walk.ended()) return;
    const Turns<Config::Schedule::ping_pong || has_batches<Mask> ? Config::consumers : 1> turns(group_);
    Scores scores;
    Output output;
    Softmax softmax;
    Tile now = walk.tile();
    HeadScales<T> scales(p_, now.head);
    float factor = log2_factor(scales);
    start_scores(scores, now);
    scores.when_done([&](auto& s) {
      release_keys(now);
      apply_score_and_mask(s, now, scales);
      float nothing_yet[2];
      raise_references(s, softmax, factor, nothing_yet);
      exponentiate(s, softmax, factor);
      keep_probabilities(s);
    });
    walk.next();
#pragma unroll 1
    for (; !walk.ended(); walk.next()) {
      const Tile next = walk.tile();
      turns.wait();
      start_scores(scores, next);
      start_output(output, now);
      turns.pass();
      float scale[2] = {1.0F, 1.0F};  // of the thread's two rows of the output
      if (next.first) {
        finish(softmax, now, scales, scale);
        softmax = Softmax();
        scales = HeadScales<T>(p_, next.head);
        factor = log2_factor(scales);
      }
      bool raised = false;
      scores.template when_done<1>([&](auto& s) {
        release_keys(next);
        apply_score_and_mask(s, next, scales);
        float rescale[2] = {1.0F, 1.0F};
        raised = raise_references(s, softmax, factor, rescale);
        if (!next.first) {
          scale[0] = rescale[0];
          scale[1] = rescale[1];
        }
        exponentiate(s, softmax, factor);
      });
      output.when_done([&](auto& o) {
        release_values();
        scores.when_done([&](auto& s) { keep_probabilities(s); });
        if (next.first) {
          store(o, scale, now);
        } else if (raised) {
#pragma unroll
          for (int i = 0; i < o.elements; ++i) o.reg[i] *= scale[i / 2 % 2];
        }
      });
      now = next;
    }
    if constexpr (has_batches<Mask>) turns.wait();
    start_output(output, now);
    if constexpr (has_batches<Mask>) turns.pass();
    float scale[2];
    finish(softmax, now, scales, scale);
    output.when_done([&](auto& o) {
      release_values();
      store(o, scale, now);
    });
  }

 private:
  // S = Q K^T.
  __device__ __forceinline__ void start_scores(Scores& scores, const KeyTile& tile) {
    using TileQ = typename Config::TileQ;
    using TileK = typename Config::TileK;
    if (tile.first) rings_.queries.wait_full(query());
    rings_.keys.wait_full(key());
    // Opaque: with one stage nvcc would hold the descriptors of all steps in registers.
    const std::uint32_t queries = ptx::opaque_copy(memory_ + query().index * TileQ::bytes);
    const OperandDescriptor<TileQ> q(TileQ{queries}, rows * group_);
    const OperandDescriptor<TileK> k(TileK{memory_ + Config::keys_at + key().index * TileK::bytes}, 0);
    scores.fence();
#pragma unroll
    for (int step = 0; step < Config::head / q.k; ++step) scores.multiply(q, k, step, step > 0);
    scores.commit();
  }
  // Stages of the tiles that are read next. Counters take fewer registers.
  __device__ __forceinline__ Stage<Config::query_stages> query() const {
    return Stage<Config::query_stages>().after(query_);
  }
  __device__ __forceinline__ Stage<Config::key_stages> key() const {
    return Stage<Config::key_stages>().after(key_);
  }
  __device__ __forceinline__ Stage<Config::value_stages> value() const {
    return Stage<Config::value_stages>().after(value_);
  }
  // O += P V.
  __device__ __forceinline__ void start_output(Output& output, const Tile& tile) {
    using TileV = typename ValueTiles::Operand;
    using Major = WgmmaMajor<true, TileV::k_major>;
    rings_.values.wait_full(value());
    if constexpr (has_batches<Mask>) clear_unused_values(tile);
    const OperandDescriptor<TileV> v(TileV{memory_ + Config::operands_at + value().index * TileV::bytes}, 0);
#pragma unroll
    for (auto& p : probabilities_) ptx::hold(p.reg);
    output.fence();
#pragma unroll
    for (int step = 0; step < probability_steps; ++step)
      output.template multiply<T, T, Major>(probabilities_[step], v.at(step), !tile.first || step > 0);
    output.commit();
  }

  // One lane of a warp releases for all of it: the products have read the stage.
  __device__ __forceinline__ void release_keys(const KeyTile& tile) {
    if (lane_id() == 0) {
      rings_.keys.release(key());
      if (tile.last) rings_.queries.release(query());
    }
    ++key_;
    if (tile.last) ++query_;
  }
  __device__ __forceinline__ void release_values() {
    if (lane_id() == 0) rings_.values.release(value());
    ++value_;
  }

  // Zeros for the values behind the last key of a batch: they are the next batch's or nobody's, and 0 * NaN
  // is NaN. The first warpgroup clears them, in its turn, for the others too.
  __device__ __forceinline__ void clear_unused_values(const Tile& tile) const {
    using TileV = typename Config::TileV;
    const int used = greater(0, tile.batch.keys - tile.key);
    if (group_ != 0 || used >= keys) return;
    const std::uint32_t stage = memory_ + Config::values_at + value().index * TileV::bytes;
    const std::uint32_t zeros[4] = {};
#pragma unroll
    for (int panel = 0; panel < TileV::panels; ++panel) {
      const std::uint32_t end = stage + (panel + 1) * TileV::panel_bytes;
#pragma unroll 1
      for (std::uint32_t at = end - (keys - used) * TileV::row_bytes + threadIdx.x % 128 * chunk_bytes;
           at < end; at += 128 * chunk_bytes)
        ptx::st_shared_v4_b32(at, zeros);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
    ptx::bar_sync<128>(1 + Config::consumers);              // behind the barriers of Turns
  }

  // The scores' factor within the exponential, base 2: without score function all of it.
  __device__ __forceinline__ float log2_factor(const HeadScales<T>& scales) const {
    return Score::changes_scores ? score_.log2_factor() : score_.log2_factor() * scales.of_scores();
  }
  template <class Values>
  __device__ __forceinline__ void apply_score_and_mask(Values& scores, const Tile& tile,
                                                       const HeadScales<T>& scales) const {
    const int query = tile.query + rows * group_;
    const auto& mask = in_batch(mask_, tile.batch);
    if constexpr (Score::changes_scores) {
      const int head = head_position(p_, tile.head).head;
      const Score score = score_.of_head(head);
      const auto scaled = [&](float s, int position, int key) {
        return score(s * scales.of_scores(), position, key);
      };
      change_scores(scores, scaled, mask.sequence, query, tile.key);
    }
    if (!sees_all(mask, query, query + rows - 1, tile.key, keys)) mask_scores(scores, mask, query, tile.key);
  }
  template <class Values>
  __device__ __forceinline__ void keep_probabilities(const Values& scores) {
#pragma unroll
    for (int step = 0; step < probability_steps; ++step)
      probabilities_[step] = ValueTiles::probabilities(scores, step);
  }
  // The last key tile of a query tile has been seen: stores the logarithms of the sums of exponentials.
  // scale: of the thread's two rows of the output.
  __device__ __forceinline__ void finish(const Softmax& softmax, const Tile& tile,
                                         const HeadScales<T>& scales, float (&scale)[2]) const {
    float log_sum_exp[2];
    const float sink = p_.sinks == nullptr ? -__int_as_float(0x7f800000)
                                           : p_.sinks[head_position(p_, tile.head).head] * log2_of_e;
    finish_rows(softmax, sink, scale, log_sum_exp);
    for (float& x : scale) x *= scales.of_values();
    store_log_sum_exp<typename Output::Values>(p_, in_batch(mask_, tile.batch).sequence.queries, log_sum_exp,
                                               tile.head, tile.query + rows * group_);
  }
  template <class Values>
  __device__ __forceinline__ void store(const Values& output, const float (&scale)[2],
                                        const Tile& tile) const {
    const int queries = in_batch(mask_, tile.batch).sequence.queries, query = tile.query + rows * group_;
    const BatchPlace place = place_of_queries(mask_, head_position(p_, tile.head).batch);
    if constexpr (ValueTiles::transposed) {
      store_interleaved_output(p_, queries, output, scale, tile.head, query, place);
    } else {
      store_output<T>(p_, queries, output, scale, tile.head, query, place);
    }
  }

  const AttentionWgmmaArguments& p_;
  const Mask& mask_;
  const Score& score_;
  const AttentionRings<Config>& rings_;
  std::uint32_t memory_;
  int group_;
  int query_ = 0, key_ = 0, value_ = 0;  // so many tiles have been read
  typename ValueTiles::P probabilities_[probability_steps];
};

}  // namespace tenon
