// A consumer warpgroup of the wgmma backward kernel of attention. It owns 64 of the CTA's keys and keeps
// their dK and dV in registers. For each query tile:
//
//   S^T = K Q^T, dP^T = V dO^T       of its keys
//   P^T, dS^T                        in registers; dS^T also goes to shared memory, for both warpgroups
//   dV += P^T dO, dK += dS^T Q       P^T and dS^T from registers
//   dQ = dS K                        over all keys of the CTA, half of it, added to device memory
//
// The exponentials run under the product dP^T, and dQ is added under dK. Below:
// query_sums_backward_wgmma.hpp, score_function.hpp.
#pragma once

#include "tenon/attention/query_sums_backward_wgmma.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

template <class Config, class Mask>
class AttentionBackwardConsumer {
  using T = typename Config::T;
  using TileK = typename Config::TileK;
  using TileQ = typename Config::TileQ;
  using TileS = typename Config::TileS;
  using Scores = typename Config::Scores;
  using Sums = typename Config::Sums;
  using QuerySums = typename Config::QuerySums;
  static constexpr int queries = Config::queries, steps = queries / 16, depth = Config::head;
  using Adder = BackwardQueryAdder<Config, Mask>;
  using Weights = FragmentA<WgmmaShape<depth, 16>, T>[steps];
  // Whether dV is issued before dS is computed. P is then in registers twice, as f32 and as an operand.
  static constexpr bool early = queries == 64;
  // Whether S^T of the next tile is computed under dQ's store. Beside 128 columns of dK and dV there are no
  // registers for it.
  static constexpr bool ahead = depth == 64;
  static_assert(Config::stages == 2, "AttentionBackwardConsumer: a stage has a tile of dS");

 public:
  // By all of a consumer warpgroup. memory: of the CTA, aligned.
  __device__ __forceinline__ AttentionBackwardConsumer(const AttentionBackwardArguments& a, const Mask& mask,
                                                       const AttentionBackwardRings<Config>& rings,
                                                       std::uint8_t* memory)
      : a_(a),
        mask_(mask),
        rings_(rings),
        memory_(memory),
        base_(ptx::shared_address(memory)),
        warp_(__shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0)) {}

  // task: a function that gives the CTA's BackwardTask.
  template <class Task>
  __device__ __forceinline__ void run(const Task& task) {
    Sums dk, dv;
    clear(dk);
    clear(dv);
    const Adder adder(a_, mask_, memory_ + Config::parts_at + warp_ * 4 * Config::part_floats, warp_);
    {
      const BackwardWork work = BackwardWork::of<Config, Mask>(a_, task());
      Stage<Config::stages> stage;
      if (work.tiles > 0) rings_.keys.wait_full(Stage<1>());
#pragma unroll 1
      for (int head = work.first_head(a_);; ++head) {
        if (work.tiles > 0) visit(work, head, adder, dk, dv, stage);
        adder.finish(head, work);
        if (a_.by_group.quotient(head + 1) * a_.group == head + 1) break;
      }
    }
    // Again, rather than in registers over the loop.
    const BackwardWork work = BackwardWork::of<Config, Mask>(a_, task());
    const GradientPlace place{work.batch, work.key_head, work.key + 64 * group(), a_.keys, 0};
    dv.when_done([&](auto& values) { store_gradient<T>(values, a_.dv, place, 1); });
    dk.when_done([&](auto& values) { store_gradient<T>(values, a_.dk, place, a_.scale); });
  }

 private:
  __device__ __forceinline__ static void clear(Sums& sums) {
    sums.when_done([](auto& values) { values.for_each([](float& x, int, int) { x = 0; }); });
  }
  // The tiles of queries of a head that see the keys.
  __device__ __forceinline__ void visit(const BackwardWork& work, int head, const Adder& adder, Sums& dk,
                                        Sums& dv, Stage<Config::stages>& stage) {
    Scores s, d;
    QuerySums dq;
    const int end = work.begin + work.tiles * queries;
    int query = work.begin;
    if constexpr (ahead) start_scores(s, stage);
#pragma unroll 1
    do {
      if constexpr (!ahead) start_scores(s, stage);
      start_weight_gradients(d, stage);
      s.template when_done<1>([&](auto& values) {
        mask_scores(values, work.key, query);
        exponentiate(values, stage);
        if (early) keep(p_, values);
      });
      if (early) start_sums(dv, p_, Config::gradients_at, stage);
      d.template when_done<early ? 1 : 0>([&](auto& gradients) {
        s.template when_done<early ? 1 : 0>([&](auto& values) {
          differentiate(gradients, values, stage);
          if (!early) keep(p_, values);
        });
        keep(ds_, gradients);
      });
      if (!early) start_sums(dv, p_, Config::gradients_at, stage);
      store_scores(stage.index);
      start_query_sums(dq, stage.index);
      start_sums(dk, ds_, Config::queries_at, stage);
      dv.template when_done<2>([](auto&) {});
      __syncwarp();  // all lanes have read the sums of dO * O
      if (lane_id() == 0) rings_.gradients.release(stage);
      dq.template when_done<1>([&](auto& values) { adder.add(values, head, query, work); });
      query += queries;
      // After the last tile its scores again, which nobody reads: with a branch around the product ptxas
      // makes every wgmma wait for the one before. It does so, too, if a product is in flight from one turn
      // of the loop to the next.
      const Stage<Config::stages> next = stage.next();
      if constexpr (ahead) start_scores(s, query < end ? next : stage);
      dk.when_done([](auto&) {});
      if constexpr (ahead) s.when_done([](auto&) {});
      __syncwarp();  // all lanes have read the log-sum-exp
      if (lane_id() == 0) rings_.queries.release(stage);
      stage = next;
    } while (query < end);
  }

  __device__ __forceinline__ int group() const {
    return warp_ / 4;
  }
  __device__ __forceinline__ std::uint32_t at(int offset) const {
    return base_ + offset;
  }
  template <class Tile>
  __device__ __forceinline__ std::uint32_t at(int offset, Stage<Config::stages> stage) const {
    return base_ + offset + stage.index * Tile::bytes;
  }

  template <class Values>
  __device__ __forceinline__ static void keep(Weights& w, const Values& values) {
#pragma unroll
    for (int step = 0; step < steps; ++step) w[step] = as_a<T, depth>(values, step);
  }

  // S^T = K Q^T.
  __device__ __forceinline__ void start_scores(Scores& s, Stage<Config::stages> stage) const {
    rings_.queries.wait_full(stage);
    multiply(s, 0, at<TileQ>(Config::queries_at, stage));
    Scores::commit();
  }
  // dP^T = V dO^T.
  __device__ __forceinline__ void start_weight_gradients(Scores& d, Stage<Config::stages> stage) const {
    rings_.gradients.wait_full(stage);
    multiply(d, Config::values_at, at<TileQ>(Config::gradients_at, stage));
    Scores::commit();
  }
  __device__ __forceinline__ void multiply(Scores& s, int keys_at, std::uint32_t rows) const {
    const OperandDescriptor<TileK> a(TileK{ptx::opaque_copy(at(keys_at))}, 64 * group());
    const OperandDescriptor<TileQ> b(TileQ{rows}, 0);
    s.fence();
#pragma unroll
    for (int step = 0; step < a.steps; ++step) s.multiply(a, b, step, step > 0);
  }
  // sums += W B, where B is Q or dO.
  __device__ __forceinline__ void start_sums(Sums& sums, Weights& w, int tiles_at,
                                             Stage<Config::stages> stage) const {
    using Tile = typename Config::QueryRows;
    using Major = WgmmaMajor<true, Tile::k_major>;
    const OperandDescriptor<Tile> b(Tile{at<Tile>(tiles_at, stage)}, 0);
#pragma unroll
    for (auto& x : w) ptx::hold(x.reg);
    sums.fence();
#pragma unroll
    for (int step = 0; step < steps; ++step) sums.template multiply<T, T, Major>(w[step], b.at(step), true);
    sums.commit();
  }
  // dQ = dS K: each warpgroup has 64 queries, or all 64 and half of the columns.
  __device__ __forceinline__ void start_query_sums(QuerySums& dq, int buffer) const {
    using Keys = typename Config::KeyRows;
    const OperandDescriptor<TileS> a(TileS{at(Config::scores_at + buffer * TileS::bytes)},
                                     queries == 64 ? 0 : 64 * group());
    const OperandDescriptor<Keys> b(Keys{ptx::opaque_copy(at(0))}, queries == 64 ? 64 * group() : 0);
    dq.fence();
#pragma unroll
    for (int step = 0; step < a.steps; ++step) dq.multiply(a, b, step, step > 0);
    dq.commit();
  }

  // The pairs of queries of this lane: f(j, values of the queries 8 j + 2 t and the next).
  template <class F>
  __device__ __forceinline__ void for_each_pair(int floats_at, Stage<Config::stages> stage,
                                                const F& f) const {
    const auto* const from =
        reinterpret_cast<const float2*>(memory_ + floats_at + stage.index * Config::row_bytes) +
        lane_id() % 4;
#pragma unroll
    for (int j = 0; j < queries / 8; ++j) f(j, from[4 * j]);
  }
  // Scores of keys that a query does not see become -infinity. Rows are keys, columns queries.
  template <class Values>
  __device__ __forceinline__ void mask_scores(Values& s, int key, int query) const {
    if (sees_all(mask_, query, query + queries - 1, key, Config::keys)) return;
    const Coord first = Values::coord(Values::this_lane(), 0);
    const int row = key + 64 * group() + first.row, column = query + first.col;
#pragma unroll
    for (int i = 0; i < s.elements; ++i) {
      const KeySpan seen = mask_.visible(column + i / 4 * 8 + i % 2);
      const int at = row + i / 2 % 2 * 8;
      if (at >= seen.end || (Mask::left_limit && at < seen.begin)) s.reg[i] = -__int_as_float(0x7f800000);
    }
  }
  template <class Values>
  __device__ __forceinline__ void exponentiate(Values& s, Stage<Config::stages> stage) const {
    const float factor = a_.scale * log2_of_e;
    for_each_pair(Config::log2_sums_at, stage, [&](int j, const float2& sum) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& x = s.reg[4 * j + e];
        x = ptx::ex2_approx_ftz_f32(fmaf(x, factor, e % 2 == 0 ? -sum.x : -sum.y));
      }
    });
  }
  // dS = P (dP - the row's sum of dO * O).
  template <class Values>
  __device__ __forceinline__ void differentiate(Values& d, const Values& p,
                                                Stage<Config::stages> stage) const {
    for_each_pair(Config::deltas_at, stage, [&](int j, const float2& delta) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& x = d.reg[4 * j + e];
        x = p.reg[4 * j + e] * (x - (e % 2 == 0 ? delta.x : delta.y));
      }
    });
  }
  // dS^T of the warp's 16 keys to shared memory; then both warpgroups have all keys. The tile before is still
  // read, that of two before no longer: each warpgroup has waited for its product before it came here.
  __device__ __forceinline__ void store_scores(int buffer) const {
    const int lane = lane_id(), row = 16 * warp_ + lane % 16, column = lane / 16 * 8;
    const std::uint32_t tile = at(Config::scores_at + buffer * TileS::bytes);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(
          tile + static_cast<std::uint32_t>(TileS::offset(row, column + 16 * step)), ds_[step].reg);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
    ptx::bar_sync<128 * Config::consumers>(1);
  }

  const AttentionBackwardArguments& a_;
  const Mask& mask_;
  const AttentionBackwardRings<Config>& rings_;
  std::uint8_t* memory_;
  std::uint32_t base_;
  int warp_;
  Weights p_, ds_;
};

}  // namespace tenon
