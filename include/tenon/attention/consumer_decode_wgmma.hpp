// A consumer warpgroup of the wgmma kernel of MLA decode. It has half of the columns of O of the CTA's 64
// rows, and takes every second tile of keys. For each:
//
//   S = Q K^T                   of its own tile
//   O += P V                    of the other's tile before, whose P lies in shared memory: half of V
//   P = softmax(S)              in registers, under that product and those of the other warpgroup
//   O += P V                    of its own tile: half of V, P from registers
//
// So both add the tiles to O in their order, and the references of the softmax go from tile to tile: a
// consumer takes over those that the other has raised before it adds the other's tile. P of a tile lies
// where the tail of its keys was, which only S needs. A part of the keys is released for the next tile as
// soon as it is multiplied by P. Below: producer_decode_wgmma.hpp, row_softmax.hpp, softmax_wgmma.hpp,
// store_decode_wgmma.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/producer_decode_wgmma.hpp"
#include "tenon/attention/softmax_wgmma.hpp"
#include "tenon/attention/store_decode_wgmma.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/cp_async.hpp"
#include "tenon/ptx/st_shared.hpp"
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
        warp_(__shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32 % 4, 0)) {}

  __device__ __forceinline__ void run() {
    copy_query();
    if (group_ == 0 && work_.tiles > 0) attend<false>(0);
#pragma unroll 1
    for (int tile = group_ == 0 ? 2 : 1; tile < work_.tiles; tile += 2) attend<true>(tile);
    if (work_.tiles > 0 && Config::owner(work_.tiles - 1) != group_) add_others_tile(work_.tiles - 1);
    store();
  }

 private:
  // The rows of Q to shared memory. Those that the sequence does not have are zeros.
  __device__ __forceinline__ void copy_query() const {
    using QueryPart = typename Config::QueryPart;
    constexpr int chunks = Config::head_dimension / QueryPart::chunk_elements;
    const T* const from = static_cast<const T*>(a_.q.data) + work_.at.batch * a_.q.batch_stride;
#pragma unroll 6
    for (int i = static_cast<int>(threadIdx.x); i < Config::rows * chunks; i += 128 * Config::consumers) {
      const int in_tile = i / chunks, column = i % chunks * QueryPart::chunk_elements;
      const int row = work_.first_row + in_tile;
      const DecodeRow place = decode_row(a_, work_.at.key_head, min(row, work_.rows - 1));
      // Of the tail: the panel behind those of the parts.
      const int panel = column / QueryPart::panel_columns;
      ptx::cp_async_cg_shared_global_16(
          base_ + panel * QueryPart::panel_bytes +
              static_cast<std::uint32_t>(QueryPart::offset(in_tile, column % QueryPart::panel_columns)),
          from + (work_.sequence.first_query + place.query) * a_.q.row_stride +
              place.head * a_.q.head_stride + column,
          row < work_.rows ? 16U : 0U);
    }
    ptx::cp_async_commit_group();
    ptx::cp_async_wait_group<0>();
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
    synchronise<LatentBarrier::consumers>();
  }

  // A tile of this consumer. shared: whether a tile of the other comes before.
  template <bool shared>
  __device__ __forceinline__ void attend(int tile) {
    const int key = work_.key(tile);
    const bool there = is_there(key);
    if constexpr (shared) add_others_tile(tile - 1);
    start_scores(tile);
    float scale[2];
    bool raised = false;
    scores_.when_done([&](auto& s) {
      if constexpr (shared && Config::delayed) signal<LatentBarrier::scores_of_0>();
      mask(s, key, there);
      raised = raise_references(s, softmax_, factor_, scale);
      exponentiate(s, softmax_, factor_);
#pragma unroll
      for (int step = 0; step < steps; ++step) weights_[step] = as_a<T, Config::part_columns>(s, step);
    });
    clear_unused_values(tile);
    send(tile);
    if (shared && raised) multiply_output(scale);
    // The product runs under the other's softmax.
    if (Config::delayed && tile + 1 < work_.tiles) wait_for_other<LatentBarrier::scores_of_0>();
    add_own_tile(tile);
  }

  // S = Q K^T.
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
    for (int i = 0; i < Config::stages_of_tile; ++i) {
      if (i == Config::tail_stage) {
        multiply(i, Config::tail_at, typename Config::TailPart{});
      } else {
        multiply(i, Config::part(group_, i) * KeyPart::bytes, KeyPart{});
      }
    }
    scores_.commit();
  }

  // O += P V of the other's tile, after taking over its references.
  __device__ __forceinline__ void add_others_tile(int tile) {
    wait_for_other<LatentBarrier::weights_of_0>();
    float references[2], scale[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) references[r] = of_rows(Config::references_at, 1 - group_)[row(r)];
    if (softmax_.take_over(references, scale)) multiply_output(scale);
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
    release_output<0>(tile, 0);
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
    release_output<0>(tile, Config::own_stage);
  }
  // Waits for the parts of O one after the other and releases their values. stage: of the first of them.
  template <int first>
  __device__ __forceinline__ void release_output(int tile, int stage) {
    output_[first].template when_done<own_parts - 1 - first>(
        [&](auto&) { release(Config::stage(tile, stage + first)); });
    if constexpr (first + 1 < own_parts) release_output<first + 1>(tile, stage);
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

  // Whether the page of a tile exists: others are not read.
  __device__ __forceinline__ bool is_there(int key) const {
    return a_.lengths.pages == nullptr || place_of_key(a_.lengths, work_.at.batch, key).page >= 0;
  }
  // -infinity for the keys that a row does not see or that are not there.
  template <class Values>
  __device__ __forceinline__ void mask(Values& s, int key, bool there) const {
    const int last = min(work_.first_row + Config::rows, work_.rows) - 1;
    const KeyRange all = keys_seen_by_each(a_, work_.sequence, a_.by_group.quotient(work_.first_row),
                                           a_.by_group.quotient(last));
    if (there && key >= all.begin && key + keys <= all.end) return;
    const Coord at = Values::coord(Values::this_lane(), 0);
    int begin[2], end[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = a_.by_group.quotient(min(work_.first_row + at.row + 8 * half, last));
      const KeyRange seen = keys_seen_by_one(a_, work_.sequence, query, query);
      begin[half] = seen.begin - key - at.col;
      end[half] = there ? seen.end - key - at.col : 0;
    }
    for_each_in_rows<Values>([&](int i, int half, int column) {
      if (column >= end[half] || column < begin[half]) s.reg[i] = -__int_as_float(0x7f800000);
    });
  }
  // Zeros for the values behind the last key: they are another sequence's or nobody's, and 0 * NaN is NaN.
  __device__ __forceinline__ void clear_unused_values(int tile) const {
    const int used = work_.end - work_.key(tile);
    if (used >= keys) return;
    const std::uint32_t zeros[4] = {};
    constexpr int panels = Config::value_dimension / KeyPart::panel_columns;
#pragma unroll 1
    for (int panel = 0; panel < panels; ++panel) {
      const std::uint32_t end = tile_at(tile) + (panel + 1) * KeyPart::panel_bytes;
#pragma unroll 1
      for (std::uint32_t at = end - (keys - used) * KeyPart::row_bytes + threadIdx.x % 128 * chunk_bytes;
           at < end; at += 128 * chunk_bytes)
        ptx::st_shared_v4_b32(at, zeros);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    ptx::bar_sync<128>(static_cast<int>(LatentBarrier::clear_of_0) + group_);
  }

  __device__ __forceinline__ void store() {
    float sums[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) sums[r] = softmax_.sum(r);
#pragma unroll
    for (int r = 0; r < 2; ++r) {  // after the whole warp has done the above
      if (lane_id() % 4 == 0) of_rows(Config::sums_at, group_)[row(r)] = sums[r];
    }
    synchronise<LatentBarrier::consumers>();
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
        store_columns<T>(a_, work_, values, results, (own_parts * group_ + i) * Config::part_columns);
      });
    }
  }

  __device__ __forceinline__ void multiply_output(const float (&scale)[2]) {
#pragma unroll
    for (auto& o : output_) {
      o.when_done([&](auto& values) {
        for_each_in_rows<typename Output::Values>([&](int i, int half, int) { values.reg[i] *= scale[half]; });
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
  template <LatentBarrier barrier>
  __device__ __forceinline__ static void synchronise() {
    ptx::bar_sync<128 * Config::consumers>(static_cast<int>(barrier));
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
  RowSoftmax<2> softmax_;
  typename Config::Scores scores_;
  Output output_[own_parts];
  FragmentA<WgmmaShape<Config::part_columns, 16>, T> weights_[steps];
};

}  // namespace tenon
