// Attention by mma.sync and cp.async, for sm_80 and newer: one CTA computes a tile of queries of one head.
// Its warps own 16 or 32 queries each, and fill a ring of stages with K and V together. The exponentials of a
// softmax run beside products, in one of two orders (Overlap). Below: config_mma.hpp, warp_attention.hpp,
// paged_producer.hpp, gemm/producer_cp_async.hpp, pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/config_mma.hpp"
#include "tenon/attention/paged_producer.hpp"
#include "tenon/attention/warp_attention.hpp"
#include "tenon/gemm/producer_cp_async.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// sequences: equal, where all batches have the lengths of the problem, or variable, where the kernel reads
// lengths and pages. alignment: full_16 where base and strides of Q, K, V and O are multiples of 16 bytes, or
// any. Launch with threads, shared_bytes of dynamic shared memory, and one CTA a tile of the raster. With
// Sequences::variable the grid may have several rows: each visits its split of the keys, and
// kernel_decode_combine.hpp merges them.
template <class Config, class Score, Alignment alignment, Sequences sequences>
class AttentionMma {
  using T = typename Config::T;
  using KeyTile = typename Config::KeyTile;
  using ValueTile = typename Config::ValueTile;
  using Warp = WarpAttention<Config, Score, alignment == Alignment::full_16, sequences>;
  using Sequence = SequenceOf<sequences>;
  static constexpr bool variable = sequences == Sequences::variable;
  static constexpr int step = Config::step, steps = Config::steps;

  // 16-byte chunks that lie outside the matrix are filled with zeros; where everything is aligned, each lies
  // wholly inside or outside.
  static constexpr Alignment copies = alignment == Alignment::full_16 ? Alignment::whole_chunks : alignment;
  template <class Tile>
  using Producer = ProducerCpAsync<Tile, Config::threads, copies>;
  // To multiply ahead, K of a stage is read while V of the one before still is: one stage fewer is in flight.
  using Ring = CpAsyncRing<Config::overlap == Overlap::within ? Config::stages : Config::stages - 1>;

 public:
  __device__ static void run(const AttentionArguments& a, const Score& score) {
    extern __shared__ __align__(1024) unsigned char attention_shared[];
    if constexpr (variable) let_next_grid_begin();
    const tenon::QueryTile work = a.raster.at(static_cast<int>(blockIdx.x));
    const int batch = a.by_heads.quotient(work.head), head = work.head - batch * a.heads;
    const int first_query = work.tile * Config::rows;
    __shared__ typename Sequence::Shared lengths;
    const Sequence sequence(a, batch, lengths);
    if (variable && first_query >= sequence.queries()) return;
    AttentionMma cta(a, sequence, ptx::shared_address(attention_shared), first_query, head, batch);
    cta.begin(first_query, head);
    Warp warp(a, sequence, score.of_head(head), first_query);
    if constexpr (Config::overlap == Overlap::within) {
      cta.attend(warp);
    } else {
      cta.attend_ahead(warp);
    }
    ptx::cp_async_wait_group<0>();
    if (variable && gridDim.y > 1) {
      warp.store_split(head, batch);
    } else {
      warp.store(head, batch);
    }
  }

 private:
  __device__ __forceinline__ AttentionMma(const AttentionArguments& a, const Sequence& sequence,
                                          std::uint32_t shared, int first_query, int head, int batch)
      : arguments_(a),
        sequence_(sequence),
        ring_(shared),
        key_head_(a.by_group.quotient(head)),
        batch_(batch) {
    const KeyRange range =
        visible_keys(a, sequence, first_query, min(first_query + Config::rows, sequence.queries()) - 1);
    SplitTiles all = tiles_of(range, Config::key_tile);
    if (variable && gridDim.y > 1) {
      const int splits = static_cast<int>(gridDim.y), share = (all.tiles + splits - 1) / splits;
      all = tiles_of_split(all, static_cast<int>(blockIdx.y), share, Config::key_tile);
    }
    first_key_ = all.first_key, tiles_ = all.tiles;
  }

  __device__ __forceinline__ std::uint32_t stage_at(int index) const {
    return ring_ + index * Config::stage_bytes;
  }
  __device__ __forceinline__ std::uint32_t query() const { return ring_ + Config::query_offset; }
  __device__ __forceinline__ static int next(int index) {
    return index + 1 == Config::stages ? 0 : index + 1;
  }
  __device__ __forceinline__ static int previous(int index) {
    return (index == 0 ? Config::stages : index) - 1;
  }

  // Copies Q and the first stages.
  __device__ __forceinline__ void begin(int first_query, int head) const {
    copy<typename Config::QueryTile>(arguments_.q, head, first_query, sequence_.first_query(),
                                     sequence_.queries(), Config::head_dimension, query(),
                                     static_cast<int>(threadIdx.x));
#pragma unroll
    for (int s = 0; s + 1 < Config::stages; ++s) {
      if (s < Config::first_stages) {
        copy_stage(s, s);
      } else {
        Ring::commit();  // of no copies: the loop counts groups
      }
    }
  }
  // Loads Q into the registers, and copies keys into the stages that held it, except the last one, which the
  // loop fills.
  __device__ __forceinline__ void load_query(Warp& warp) const {
    warp.load_query(query());
    __syncthreads();  // every warp has loaded Q
#pragma unroll
    for (int s = Config::first_stages; s + 1 < Config::stages; ++s) copy_stage(s, s);
  }
  // Copies a tile, if there is one, and ends the group of copies.
  __device__ __forceinline__ void copy_stage(int tile, int stage) const {
    if (tile < tiles_) {
      const int key = first_key_ + tile * Config::key_tile;
      const int thread = ptx::opaque_copy(static_cast<int>(threadIdx.x));
      if (variable && arguments_.lengths.pages != nullptr) {
        copy_pages<KeyTile>(arguments_.k, key, stage_at(stage), thread);
        copy_pages<ValueTile>(arguments_.v, key, stage_at(stage) + KeyTile::bytes, thread);
      } else {
        copy<KeyTile>(arguments_.k, key_head_, key, sequence_.first_key(), sequence_.keys(),
                      Config::head_dimension, stage_at(stage), thread);
        copy<ValueTile>(arguments_.v, key_head_, key, sequence_.first_key(), sequence_.keys(),
                        Config::value_dimension, stage_at(stage) + KeyTile::bytes, thread);
      }
    }
    Ring::commit();
  }
  template <class Tile>
  __device__ __forceinline__ void copy_pages(const AttentionTensor<const void*>& tensor, int key,
                                             std::uint32_t to, int thread) const {
    PagedProducer<Tile, Config::threads>(arguments_.lengths, tensor, key_head_, batch_)
        .copy(key, sequence_.keys(), to, thread);
  }
  // The producer is made for each tile: kept, those of K and V would take 16 registers in the loop.
  template <class Tile>
  __device__ __forceinline__ void copy(const AttentionTensor<const void*>& tensor, int head, int first,
                                       int first_of_batch, int rows, int columns, std::uint32_t to,
                                       int thread) const {
    const T* const data = static_cast<const T*>(tensor.data) + batch_ * tensor.batch_stride +
                          head * tensor.head_stride + (first_of_batch + first) * tensor.row_stride;
    const Producer<Tile> producer({data, tensor.row_stride, rows - first, columns}, 0, thread);
    if (producer.whole()) {
#pragma unroll
      for (int i = 0; i < Producer<Tile>::count; ++i) producer.template copy<true>(to, i);
    } else {
#pragma unroll
      for (int i = 0; i < Producer<Tile>::count; ++i) producer.template copy<false>(to, i);
    }
  }

  __device__ __forceinline__ static std::uint32_t keys_of(std::uint32_t stage, int s) {
    return stage + s * step * KeyTile::row_bytes;
  }
  __device__ __forceinline__ static std::uint32_t values_of(std::uint32_t stage, int s) {
    return stage + KeyTile::bytes + s * step * ValueTile::row_bytes;
  }

  // Overlap::within.
  __device__ __forceinline__ void attend(Warp& warp) const {
    int read = 0;
    for (int tile = 0; tile < tiles_; ++tile) {
      Ring::wait_oldest();
      if (Config::query_in_registers && tile == 0) load_query(warp);
      copy_stage(tile + Config::stages - 1, previous(read));
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int key = first_key_ + tile * Config::key_tile + s * step;
        if (warp.sees(key)) attend_step(warp, keys_of(stage_at(read), s), values_of(stage_at(read), s), key);
      }
      read = next(read);
    }
  }
  __device__ __forceinline__ void attend_step(Warp& warp, std::uint32_t k, std::uint32_t v, int key) const {
    typename Warp::Scores s;
    typename Warp::Weights p[2];
    warp.multiply_query(s, query(), k, [](int) {});
    finish_scores(warp, s, key);
    find_maxima(warp, s);
#pragma unroll
    for (int part = 0; part < Warp::weight_parts; ++part) warp.weigh(p[0], s, 0, part);
    constexpr int pairs = Warp::value_pairs / Warp::key_blocks;  // of a block of keys
    warp.multiply_values(p, v, [&](int at) {
      const int block = at / pairs + 1;
      if (block == Warp::key_blocks) return;
#pragma unroll
      for (int part = 0; part < Warp::weight_parts; ++part) {
        if (part * pairs / Warp::weight_parts == at % pairs) warp.weigh(p[block % 2], s, block, part);
      }
    });
  }

  // Overlap::ahead.
  __device__ __forceinline__ void attend_ahead(Warp& warp) const {
    if (tiles_ == 0) return;
    int read = 0, key = first_key_;
    typename Warp::Scores s[2];
    typename Warp::Weights p[Warp::key_blocks];
    Ring::wait_oldest();
    warp.load_query(query());
    warp.multiply_query(s[0], query(), keys_of(stage_at(0), 0), [](int) {});
    finish_scores(warp, s[0], key);
    find_maxima(warp, s[0]);
    for (int tile = 0; tile < tiles_; ++tile) {
      const int following = next(read);
#pragma unroll
      for (int i = 0; i < steps; ++i) {
        auto &current = s[i % 2], &later = s[(i + 1) % 2];
        const std::uint32_t v = values_of(stage_at(read), i);
        const auto weigh_at = [&](int at) {
          constexpr int parts = Warp::key_blocks * Warp::weight_parts;
#pragma unroll
          for (int part = 0; part < parts; ++part) {
            if (part * Warp::query_pairs / parts == at)
              warp.weigh(p[part / Warp::weight_parts], current, part / Warp::weight_parts,
                         part % Warp::weight_parts);
          }
        };
        if (i + 1 == steps && tile + 1 == tiles_) {
#pragma unroll
          for (int at = 0; at < Warp::query_pairs; ++at) weigh_at(at);
          warp.multiply_values(p, v, [](int) {});
          break;
        }
        if (i + 1 == steps) {
          Ring::wait_oldest();
          copy_stage(tile + Config::stages - 1, previous(read));
        }
        const std::uint32_t k =
            i + 1 < steps ? keys_of(stage_at(read), i + 1) : keys_of(stage_at(following), 0);
        warp.multiply_query(later, query(), k, weigh_at);
        key += step;
        finish_scores(warp, later, key);
        typename Warp::Maxima maxima;
        Warp::clear_maxima(maxima);
        warp.multiply_values(p, v, [&](int at) {
#pragma unroll
          for (int block = 0; block < Warp::key_blocks; ++block) {
            if (block * Warp::value_pairs / Warp::key_blocks == at) Warp::raise_maxima(maxima, later, block);
          }
        });
        warp.raise_reference(maxima);
      }
      read = following;
    }
  }

  __device__ __forceinline__ void finish_scores(const Warp& warp, typename Warp::Scores& s, int key) const {
    warp.finish_scores(s, key);
    if constexpr (variable) {
      if (arguments_.lengths.pages != nullptr) warp.mask_missing_keys(s, key, batch_);
    }
  }
  __device__ __forceinline__ static void find_maxima(Warp& warp, const typename Warp::Scores& s) {
    typename Warp::Maxima maxima;
    Warp::clear_maxima(maxima);
#pragma unroll
    for (int block = 0; block < Warp::key_blocks; ++block) Warp::raise_maxima(maxima, s, block);
    warp.raise_reference(maxima);
  }

  const AttentionArguments& arguments_;
  Sequence sequence_;
  std::uint32_t ring_;  // its address
  int key_head_, batch_;
  int first_key_, tiles_;  // the tiles of keys that the CTA visits
};

template <class Config, class Score, Alignment alignment, Sequences sequences>
__global__ void __launch_bounds__(Config::threads, Config::ctas_per_sm)
    attention_mma(const __grid_constant__ AttentionArguments arguments, const __grid_constant__ Score score) {
  AttentionMma<Config, Score, alignment, sequences>::run(arguments, score);
}

}  // namespace tenon
