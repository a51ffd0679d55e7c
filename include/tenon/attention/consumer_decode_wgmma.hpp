// A consumer warpgroup of the wgmma kernel of MLA decode. It has half of the columns of O of the CTA's 64
// rows, and takes every second tile of keys. For each of its own:
//
//   O += P V        of the other's tile before: half of V; P lies in shared memory
//   S = Q K^T       of its own tile
//   P = softmax(S)  in registers; also to shared memory, for the other
//   O += P V        of its own tile: half of V; P from registers
//
// The last product waits until the other has its next S, and so runs under the other's softmax. Both add the
// tiles to O in their order. The tiles share the references of the softmax: before a consumer adds the P V of
// the other's tile, it takes over the references that the other has raised.
//
// P of a tile lies where the tail of its keys was, which only S needs. The values of a tile are released part
// by part, when they are multiplied by P, so that the next tile of the slot is on its way for as long as the
// other slot is computed. Below: config_decode_wgmma.hpp, query_decode_wgmma.hpp, mask_decode_wgmma.hpp,
// store_decode_wgmma.hpp, softmax_wgmma.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/config_decode_wgmma.hpp"
#include "tenon/attention/mask_decode_wgmma.hpp"
#include "tenon/attention/query_decode_wgmma.hpp"
#include "tenon/attention/softmax_wgmma.hpp"
#include "tenon/attention/store_decode_wgmma.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

template <class Config>
class LatentConsumer {
  using T = typename Config::T;
  using Ring = typename Config::Ring;
  using Output = typename Config::Output;
  using KeyPart = typename Config::KeyPart;
  using ValuePart = typename Config::ValuePart;
  using WeightTile = typename Config::WeightTile;
  static constexpr int keys = Config::key_tile, steps = keys / 16, own_parts = Config::own_parts;

 public:
  // By all of a consumer warpgroup. group: its number. memory: of the CTA, aligned.
  __device__ __forceinline__ LatentConsumer(const AttentionDecodeArguments& a, const PlainScore& score,
                                            const Ring& ring, std::uint8_t* memory, int group,
                                            const LatentWork& work)
      : a_(a),
        ring_(ring),
        work_(work),
        memory_(memory),
        base_(ptx::shared_address(memory)),
        factor_(score.log2_factor()),
        group_(group),
        warp_(__shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32 % 4, 0)) {
    const int last = min(work.first_row + Config::rows, work.rows) - 1;
    seen_by_each_ =
        keys_seen_by_each(a, work.sequence, a.by_group.quotient(work.first_row), a.by_group.quotient(last));
  }

  __device__ __forceinline__ void run() {
    copy_query<Config>(a_, work_, base_);
    synchronise_consumers();
    if (group_ == 0 && work_.tiles > 0) attend<false>(0);
#pragma unroll 1
    for (int tile = group_ == 0 ? 2 : 1; tile < work_.tiles; tile += 2) attend<true>(tile);
    if (work_.tiles > 0 && Config::owner(work_.tiles - 1) != group_) {
      take_over_references();
      start_others_tile(work_.tiles - 1);
      release_others_tile<0>(work_.tiles - 1);
    }
    store();
  }

 private:
  // A tile of this consumer. follows: whether a tile of the other comes before.
  template <bool follows>
  __device__ __forceinline__ void attend(int tile) {
    const int key = work_.template key<Config>(tile);
    const bool there = page_exists(a_, work_, key);
    if constexpr (follows) {
      take_over_references();
      start_others_tile(tile - 1);
      start_scores<0, 1>(tile);  // the tensor cores have work while the stages are released
      release_others_tile<1>(tile - 1);
      start_scores<1, Config::stages_of_tile>(tile);
    } else {
      start_scores<0, Config::stages_of_tile>(tile);
    }
    float scale[2];
    bool raised = false;
    scores_.when_done([&](auto& s) {
      if constexpr (follows) signal<LatentBarrier::scores_of_0>();
      if (!there || key < seen_by_each_.begin || key + keys > seen_by_each_.end)
        mask_scores<Config>(a_, work_, s, key, there);
      raised = raise_references(s, softmax_, factor_, scale);
      exponentiate(s, softmax_, factor_);
#pragma unroll
      for (int step = 0; step < steps; ++step) weights_[step] = as_a<T, Config::part_columns>(s, step);
    });
    if (key + keys > work_.end) {
      clear_unused_values<Config>(tile_at(tile), work_.end - key);
      ptx::bar_sync<128>(static_cast<int>(LatentBarrier::clear_of_0) + group_);
    }
    send(tile);
    if (follows && raised) multiply_output(scale);
    // The product runs under the softmax of the other.
    if (tile + 1 < work_.tiles) wait_for_other<LatentBarrier::scores_of_0>();
    add_own_tile(tile);
  }

  // S = Q K^T, of the stages from `begin` on.
  template <int begin, int end>
  __device__ __forceinline__ void start_scores(int tile) {
    const std::uint32_t k = tile_at(tile);
    const auto multiply = [&](int stage, int at, auto part) {
      using Part = decltype(part);
      ring_.wait_full(Config::stage(tile, stage));
      const OperandDescriptor<Part> of_q(Part{ptx::opaque_copy(base_ + at)}, 0);
      const OperandDescriptor<Part> of_k(Part{ptx::opaque_copy(k + at)}, 0);
      scores_.fence();
#pragma unroll
      for (int step = 0; step < of_q.steps; ++step) scores_.multiply(of_q, of_k, step, stage > 0 || step > 0);
    };
#pragma unroll
    for (int i = begin; i < end; ++i) {
      if (i == Config::tail_stage) {
        multiply(i, Config::tail_at, typename Config::TailPart{});
      } else {
        multiply(i, Config::part(group_, i) * KeyPart::bytes, KeyPart{});
      }
    }
    scores_.commit();
  }

  // Waits for P of the other's tile.
  __device__ __forceinline__ void take_over_references() {
    wait_for_other<LatentBarrier::weights_of_0>();
    float references[2], scale[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) references[r] = of_rows(Config::references_at, 1 - group_)[row(r)];
    if (softmax_.take_over(references, scale)) multiply_output(scale);
  }
  // O += P V of the other's tile.
  __device__ __forceinline__ void start_others_tile(int tile) {
    const OperandDescriptor<WeightTile> p(WeightTile{ptx::opaque_copy(tile_at(tile) + Config::tail_at)}, 0);
#pragma unroll
    for (int i = 0; i < own_parts; ++i) {
      ring_.wait_full(Config::stage(tile, i));
      const OperandDescriptor<ValuePart> v(ValuePart{value_part(tile, i)}, 0);
      output_[i].fence();
#pragma unroll
      for (int step = 0; step < steps; ++step) output_[i].multiply(p, v, step, tile > 0 || step > 0);
      output_[i].commit();
    }
  }
  // younger: groups of products that started after these.
  template <int younger>
  __device__ __forceinline__ void release_others_tile(int tile) {
    release_values<0, younger>(tile, 0);
    release(Config::stage(tile, Config::tail_stage));
  }
  // O += P V of its own tile.
  __device__ __forceinline__ void add_own_tile(int tile) {
    using Major = WgmmaMajor<true, ValuePart::k_major>;
#pragma unroll
    for (auto& p : weights_) ptx::hold(p.reg);
#pragma unroll
    for (int i = 0; i < own_parts; ++i) {
      const OperandDescriptor<ValuePart> v(ValuePart{value_part(tile, i)}, 0);
      output_[i].fence();
#pragma unroll
      for (int step = 0; step < steps; ++step)
        output_[i].template multiply<T, T, Major>(weights_[step], v.at(step), tile > 0 || step > 0);
      output_[i].commit();
    }
    release_values<0, 0>(tile, Config::own_stage);
  }
  // Waits for the parts of O one after the other and releases their values. stage: of the first of them.
  template <int first, int younger>
  __device__ __forceinline__ void release_values(int tile, int stage) {
    output_[first].template when_done<own_parts - 1 - first + younger>(
        [&](auto&) { release(Config::stage(tile, stage + first)); });
    if constexpr (first + 1 < own_parts) release_values<first + 1, younger>(tile, stage);
  }

  // P and the references for the other consumer.
  __device__ __forceinline__ void send(int tile) const {
    const int lane = lane_id();
    const std::uint32_t to = tile_at(tile) + Config::tail_at;
#pragma unroll
    for (int step = 0; step < steps; ++step)
      ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(
          to + static_cast<std::uint32_t>(
                   WeightTile::offset(16 * warp_ + lane % 16, 16 * step + lane / 16 * 8)),
          weights_[step].reg);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (lane % 4 == 0) of_rows(Config::references_at, group_)[row(r)] = softmax_.reference(r);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    signal<LatentBarrier::weights_of_0>();
  }

  __device__ __forceinline__ void store() {
    float sums[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) sums[r] = softmax_.sum(r);
#pragma unroll
    for (int r = 0; r < 2; ++r) {  // after the whole warp has done the above
      if (lane_id() % 4 == 0) of_rows(Config::sums_at, group_)[row(r)] = sums[r];
    }
    synchronise_consumers();
    RowResult results[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = sums[r] + of_rows(Config::sums_at, 1 - group_)[row(r)];
      const DecodeRow place =
          decode_row(a_, work_.at.key_head, min(work_.first_row + row(r), work_.rows - 1));
      const bool with_sink = a_.splits == 1 && a_.sinks != nullptr;
      results[r] =
          softmax_.result(r, sum, with_sink ? a_.sinks[place.head] * log2_of_e : -__int_as_float(0x7f800000));
    }
    if (group_ == 0) store_log2_sums(a_, work_, results);
#pragma unroll
    for (int i = 0; i < own_parts; ++i) {
      output_[i].when_done([&](auto& values) {
        store_columns<Config>(a_, work_, values, results, (own_parts * group_ + i) * Config::part_columns);
      });
    }
  }

  __device__ __forceinline__ void multiply_output(const float (&scale)[2]) {
#pragma unroll
    for (auto& o : output_) {
      o.when_done([&](auto& values) {
        for_each_in_rows<typename Output::Values>(
            [&](int i, int half, int) { values.reg[i] *= scale[half]; });
      });
    }
  }
  // Of the lane's two rows.
  __device__ __forceinline__ int row(int r) const {
    return 16 * warp_ + lane_id() / 4 + 8 * r;
  }
  __device__ __forceinline__ float* of_rows(int at, int group) const {
    return reinterpret_cast<float*>(memory_ + at) + group * Config::rows;
  }
  __device__ __forceinline__ std::uint32_t tile_at(int tile) const {
    return base_ + Config::keys_at + Config::owner(tile) * Config::tile_bytes;
  }
  // Part i of this consumer's columns.
  __device__ __forceinline__ std::uint32_t value_part(int tile, int i) const {
    return ptx::opaque_copy(tile_at(tile) + (own_parts * group_ + i) * ValuePart::bytes);
  }
  __device__ __forceinline__ static void synchronise_consumers() {
    ptx::bar_sync<128 * Config::consumers>(static_cast<int>(LatentBarrier::consumers));
  }
  // Of two barriers, of both consumers: this one has what the other waits for.
  template <LatentBarrier of_0>
  __device__ __forceinline__ void signal() const {
    ptx::bar_arrive<128 * Config::consumers>(static_cast<int>(of_0) + group_);
  }
  template <LatentBarrier of_0>
  __device__ __forceinline__ void wait_for_other() const {
    ptx::bar_sync<128 * Config::consumers>(static_cast<int>(of_0) + 1 - group_);
  }
  // A lane of a warp releases for all of it, in each CTA of the cluster.
  __device__ __forceinline__ void release(typename Config::RingStage stage) const {
    if constexpr (Config::cluster == 1) {
      if (lane_id() == 0) ring_.release(stage);
    } else {
      if (lane_id() < Config::cluster) ring_.release_in(stage, lane_id());
    }
  }

  const AttentionDecodeArguments& a_;
  const Ring& ring_;
  const LatentWork& work_;
  std::uint8_t* memory_;
  std::uint32_t base_;
  float factor_;
  int group_, warp_;  // warp_: in the warpgroup
  KeyRange seen_by_each_;
  WgmmaSoftmax<WideRange> softmax_;
  typename Config::Scores scores_;
  Output output_[own_parts];
  FragmentA<WgmmaShape<Config::part_columns, 16>, T> weights_[steps];
};

}  // namespace tenon
