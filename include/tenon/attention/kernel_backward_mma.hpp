// The backward pass of attention by mma.sync and cp.async, for sm_80 and newer, in two kernels of one form: a
// CTA owns 64 rows, visits the rows of the other side in tiles, and computes S and dP anew.
//
//   owner     first product     second product     sums
//   keys      S^T  = K Q^T      dP^T = V dO^T      dK += dS^T Q, dV += P^T dO, over the heads of a group
//   queries   S    = Q K^T      dP   = dO V^T      dQ += dS K
//
// No CTA adds to the rows of another, so the results are the same bits in each run. The accumulators of S and
// dP lie as the A operand of the sums wants them. Where the sums of all columns do not fit the registers, a
// CTA has a part of the columns. Below: arguments_backward.hpp, score_derivative.hpp,
// gemm/producer_cp_async.hpp, pipeline/cp_async_ring.hpp, warp/panel_cursor.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/arguments_backward.hpp"
#include "tenon/attention/score_derivative.hpp"
#include "tenon/gemm/producer_cp_async.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/mma_pair.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

enum class BackwardOwner { keys, queries };

// T_: __half or __nv_bfloat16. Visited: rows of the other side in a stage.
template <class T_, int HeadDimension, int ValueDimension, int Visited, BackwardOwner owner_>
struct AttentionBackwardMmaConfig {
  using T = T_;
  static constexpr BackwardOwner owner = owner_;
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr int warps = 4, threads = 32 * warps, rows = 16 * warps, visited = Visited;
  static constexpr int parts = owner == BackwardOwner::keys && HeadDimension > 128 ? 2 : 1;
  static constexpr int head_columns = HeadDimension / parts, value_columns = ValueDimension / parts;
  static_assert(head_columns % 16 == 0 && value_columns % 16 == 0,
                "AttentionBackwardMmaConfig: the head dimensions must be multiples of 16, of 32 above 128");
  static_assert(Visited % 16 == 0, "AttentionBackwardMmaConfig: a stage has a multiple of 16 rows");

  template <int count>
  using HeadRows = HeadTile<T, count, HeadDimension>;
  template <int count>
  using ValueRows = HeadTile<T, count, ValueDimension>;
  static constexpr int owned_bytes = HeadRows<rows>::bytes + ValueRows<rows>::bytes;
  static constexpr int stage_bytes = HeadRows<visited>::bytes + ValueRows<visited>::bytes;
  static constexpr int stages = 2, shared_bytes = owned_bytes + stages * stage_bytes;
};

template <class Config>
class AttentionBackwardMma {
  using T = typename Config::T;
  static constexpr bool of_keys = Config::owner == BackwardOwner::keys;
  static constexpr int visited = Config::visited, blocks = visited / 16;
  using OwnedHead = typename Config::template HeadRows<Config::rows>;
  using OwnedValue = typename Config::template ValueRows<Config::rows>;
  using VisitedHead = typename Config::template HeadRows<visited>;
  using VisitedValue = typename Config::template ValueRows<visited>;
  using Ring = CpAsyncRing<Config::stages>;
  using Fragment = Accumulator<m16n8k16, float>;
  using Scores = Fragment[2 * blocks];
  template <int columns>
  using Sums = Fragment[columns / 8];

 public:
  __device__ static void run(const AttentionBackwardArguments& a, const GeneralScore& score) {
    extern __shared__ __align__(1024) unsigned char backward_shared[];
    AttentionBackwardMma(a, score, ptx::shared_address(backward_shared)).compute();
  }

 private:
  __device__ __forceinline__ AttentionBackwardMma(const AttentionBackwardArguments& a,
                                                  const GeneralScore& score, std::uint32_t shared)
      : a_(a), score_(score), shared_(shared), warp_row_(static_cast<int>(threadIdx.x) / 32 * 16) {
    const int index = static_cast<int>(blockIdx.x) / Config::parts;
    part_ = static_cast<int>(blockIdx.x) - index * Config::parts;
    const QueryTile work = (of_keys ? a.key_tiles : a.query_tiles).at(index);
    batch_ = (of_keys ? a.by_key_heads : a.by_heads).quotient(work.head);
    const int in_batch = work.head - batch_ * (of_keys ? a.key_heads : a.heads);
    key_head_ = of_keys ? in_batch : a.by_group.quotient(in_batch);
    head_ = of_keys ? in_batch * a.group : in_batch;
    first_ = work.tile * Config::rows;
    const int rows = of_keys ? a.keys : a.queries, last = min(first_ + Config::rows, rows) - 1;
    const KeyRange range = of_keys ? seeing_queries(a, first_, last) : seen_keys(a, first_, last);
    begin_ = range.begin / visited * visited;
    tiles_ = range.end > begin_ ? (range.end - begin_ + visited - 1) / visited : 0;
  }

  __device__ __forceinline__ void compute() {
    copy<OwnedHead>(of_keys ? a_.k : a_.q, of_keys ? key_head_ : head_, first_,
                    of_keys ? a_.keys : a_.queries, Config::head_dimension, shared_);
    copy<OwnedValue>(of_keys ? a_.v : a_.d_o, of_keys ? key_head_ : head_, first_,
                     of_keys ? a_.keys : a_.queries, Config::value_dimension, shared_ + OwnedHead::bytes);
    copy_stage(head_, 0, 0);
    clear(head_sums_);
    clear(value_sums_);
    int stage = 0;
    const int heads = of_keys ? a_.group : 1;
    for (int h = 0; h < heads; ++h) {
      const GeneralScore score = score_.of_head(head_ + h);
      float log2_sums[2], deltas[2];  // of the two queries of this lane, where it owns queries
      if (!of_keys) {
        const std::int64_t at = padded_row(head_) + first_ + warp_row_ + lane_id() / 4;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          // The tile may reach beyond the padded rows' end only where it has none.
          log2_sums[half] = a_.log2_sums[at + 8 * half];
          deltas[half] = a_.deltas[at + 8 * half];
        }
      }
      for (int tile = 0; tile < tiles_; ++tile) {
        Ring::wait_oldest();
        const bool last = tile + 1 == tiles_;
        if (!last || h + 1 < heads) copy_stage(head_ + h + (last ? 1 : 0), last ? 0 : tile + 1, 1 - stage);
        visit(score, head_ + h, begin_ + tile * visited, stage_at(stage), log2_sums, deltas);
        stage = 1 - stage;
      }
    }
    Ring::drain();
    if constexpr (of_keys) {
      store<Config::head_columns>(a_.dk, head_sums_, a_.scale);
      store<Config::value_columns>(a_.dv, value_sums_, 1);
    } else {
      store<Config::head_columns>(a_.dq, head_sums_, a_.scale);
    }
  }

  // S and dP of the warp's 16 rows and the tile's, and what they add to the sums.
  __device__ __forceinline__ void visit(const GeneralScore& score, int head, int first, std::uint32_t stage,
                                        const float (&log2_sums)[2], const float (&deltas)[2]) {
    Scores s, d;
    multiply<OwnedHead, VisitedHead>(s, shared_, stage);
    multiply<OwnedValue, VisitedValue>(d, shared_ + OwnedHead::bytes, stage + VisitedHead::bytes);
    const int lane = lane_id(), row = first_ + warp_row_ + lane / 4, column = first + lane % 4 * 2;
    const int offset = a_.keys - a_.queries;
    const float* const sums = a_.log2_sums + padded_row(head);
    const float* const deltas_of = a_.deltas + padded_row(head);
#pragma unroll
    for (int n = 0; n < 2 * blocks; ++n) {
      float2 sum{}, delta{};
      if (of_keys) {
        sum = *reinterpret_cast<const float2*>(sums + column + 8 * n);
        delta = *reinterpret_cast<const float2*>(deltas_of + column + 8 * n);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int own = row + e / 2 * 8, other = column + 8 * n + e % 2;
        const int key = of_keys ? own : other, position = (of_keys ? other : own) + offset;
        const float log2_sum = of_keys ? (e % 2 == 0 ? sum.x : sum.y) : log2_sums[e / 2];
        const float of_row = of_keys ? (e % 2 == 0 ? delta.x : delta.y) : deltas[e / 2];
        float derivative;
        const float value = score_with_derivative(score, s[n].reg[e], position, key, &derivative);
        const bool seen = key >= position - a_.left && key <= position + a_.right && key < a_.keys;
        const float p = seen ? ptx::ex2_approx_ftz_f32(fmaf(value, log2_of_e, -log2_sum)) : 0.0F;
        s[n].reg[e] = p;
        d[n].reg[e] = p * (d[n].reg[e] - of_row) * derivative;
      }
    }
    if constexpr (of_keys)
      add<Config::value_columns, VisitedValue>(value_sums_, s, stage + VisitedHead::bytes);
    add<Config::head_columns, VisitedHead>(head_sums_, d, stage);
  }

  // s = A B^T: the warp's rows of Owned by the rows of Visited.
  template <class Owned, class Visited>
  __device__ __forceinline__ void multiply(Scores& s, std::uint32_t owned, std::uint32_t other) const {
    const PanelCursor<Owned, Load16x16::a> rows(warp_row_);
    const PanelCursor<Visited, Load16x16::b_k_in_columns> columns(0);
    clear(s);
#pragma unroll
    for (int j = 0; j < Owned::columns / 16; ++j) {
      FragmentA<m16n8k16, T> a;
      rows.load(a.reg, owned, 0, j);
#pragma unroll
      for (int n = 0; n < blocks; ++n) {
        std::uint32_t b[4];
        columns.load(b, other, n, j);
        multiply_pair(s[2 * n], s[2 * n + 1], a, b);
      }
    }
  }
  // sums += W B, where W is made of accumulators and B of the tile's rows: this CTA's part of the columns.
  template <int columns, class Visited>
  __device__ __forceinline__ void add(Sums<columns>& sums, const Scores& w, std::uint32_t other) const {
    const PanelCursor<Visited, Load16x16::b_k_in_rows> rows(0);
    const int first = part_ * (columns / 16);
#pragma unroll
    for (int k = 0; k < blocks; ++k) {
      const FragmentA<m16n8k16, T> a = as_a<T>(w[2 * k], w[2 * k + 1]);
#pragma unroll
      for (int n = 0; n < columns / 16; ++n) {
        std::uint32_t b[4];
        rows.load(b, other, k, (Config::parts == 1 ? 0 : first) + n);
        multiply_pair(sums[2 * n], sums[2 * n + 1], a, b);
      }
    }
  }
  template <int count>
  __device__ __forceinline__ static void clear(Fragment (&fragments)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) fragments[i] = Fragment{};
  }

  __device__ __forceinline__ std::uint32_t stage_at(int stage) const {
    return shared_ + Config::owned_bytes + stage * Config::stage_bytes;
  }
  __device__ __forceinline__ std::int64_t padded_row(int head) const {
    return (static_cast<std::int64_t>(batch_) * a_.heads + head) * a_.padded_queries;
  }
  // Tile number `tile` of a head of queries or, with the owner queries, of the head of keys.
  __device__ __forceinline__ void copy_stage(int head, int tile, int stage) const {
    if (tile < tiles_) {
      const int first = begin_ + tile * visited, rows = of_keys ? a_.queries : a_.keys;
      const int in_tensor = of_keys ? head : key_head_;
      copy<VisitedHead>(of_keys ? a_.q : a_.k, in_tensor, first, rows, Config::head_dimension,
                        stage_at(stage));
      copy<VisitedValue>(of_keys ? a_.d_o : a_.v, in_tensor, first, rows, Config::value_dimension,
                         stage_at(stage) + VisitedHead::bytes);
    }
    Ring::commit();
  }
  template <class Tile>
  __device__ __forceinline__ void copy(const AttentionTensor<const void*>& tensor, int head, int first,
                                       int rows, int columns, std::uint32_t to) const {
    using Producer = ProducerCpAsync<Tile, Config::threads, Alignment::any>;
    const T* const data = static_cast<const T*>(tensor.data) + batch_ * tensor.batch_stride +
                          head * tensor.head_stride + first * tensor.row_stride;
    const Producer producer({data, tensor.row_stride, rows - first, columns}, 0,
                            static_cast<int>(threadIdx.x));
    if (producer.whole()) {
#pragma unroll
      for (int i = 0; i < Producer::count; ++i) producer.template copy<true>(to, i);
    } else {
#pragma unroll 1
      for (int i = 0; i < Producer::count; ++i) producer.template copy<false>(to, i);
    }
  }

  template <int columns>
  __device__ __forceinline__ void store(const AttentionTensor<void*>& tensor, const Sums<columns>& sums,
                                        float factor) const {
    const int lane = lane_id(), rows = of_keys ? a_.keys : a_.queries;
    T* const out = static_cast<T*>(tensor.data) + batch_ * tensor.batch_stride +
                   (of_keys ? key_head_ : head_) * tensor.head_stride + part_ * columns + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_ + warp_row_ + lane / 4 + 8 * half;
      if (row >= rows) continue;
      T* const to = out + row * tensor.row_stride;
      const bool words = reinterpret_cast<std::uintptr_t>(to) % 4 == 0;
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) {
        const float* const from = sums[n].reg + 2 * half;
        const std::uint32_t word = Packing<T>::pack({from[0] * factor, from[1] * factor});
        if (words) {
          *reinterpret_cast<std::uint32_t*>(to + 8 * n) = word;
        } else {
          auto* const halves = reinterpret_cast<std::uint16_t*>(to + 8 * n);
          halves[0] = static_cast<std::uint16_t>(word);
          halves[1] = static_cast<std::uint16_t>(word >> 16);
        }
      }
    }
  }

  const AttentionBackwardArguments& a_;
  const GeneralScore& score_;
  std::uint32_t shared_;
  int warp_row_, part_, batch_, key_head_, head_;
  int first_;          // of the rows that the CTA owns
  int begin_, tiles_;  // what it visits
  Sums<Config::head_columns> head_sums_;
  Sums<of_keys ? Config::value_columns : 8> value_sums_;  // of queries: unused
};

template <class Config>
__global__ void __launch_bounds__(Config::threads)
    attention_backward_mma(const __grid_constant__ AttentionBackwardArguments arguments,
                           const __grid_constant__ GeneralScore score) {
  AttentionBackwardMma<Config>::run(arguments, score);
}

}  // namespace tenon
