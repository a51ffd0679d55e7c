// Attention of few queries over latent keys (MLA) by mma.sync and cp.async, for sm_80 and newer: V is the
// first columns of K, so that each row is read once for both products, and one key head serves all heads. A
// CTA computes 16 to 64 rows, query tokens and heads, over one split of the keys; kernel_decode_combine.hpp
// merges the splits.
//
// Four warps share rows: each computes S of 16 keys of a tile and then O of a quarter of the columns; P goes
// through shared memory. The references of the softmax are raised rarely, and then by all four together.
// Below: key_copies.hpp, row_softmax.hpp, score_function.hpp, pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/decode_warp.hpp"
#include "tenon/attention/key_copies.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/st_shared.hpp"

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
class AttentionLatent {
  using T = typename Config::T;
  using QueryTile = typename Config::QueryTile;
  using KeyTile = typename Config::KeyTile;
  using WeightTile = typename Config::WeightTile;
  using Ring = CpAsyncRing<Config::stages>;
  using Fragment = Accumulator<m16n8k16, float>;
  using QueryCursor = PanelCursor<QueryTile, Load16x16::a>;
  using WeightCursor = PanelCursor<WeightTile, Load16x16::a>;
  using KeyCursor = PanelCursor<KeyTile, Load16x16::b_k_in_columns>;
  using ValueCursor = PanelCursor<KeyTile, Load16x16::b_k_in_rows>;
  static constexpr int step = 16;  // keys of a warp's S
  static constexpr int row_blocks = Config::row_blocks, lane_rows = 2 * row_blocks;
  static constexpr int depth_blocks = Config::head_dimension / 16, key_blocks = Config::key_tile / 16;
  static constexpr int value_blocks = Config::value_dimension / 4 / 16;  // of a warp
  static constexpr int chains = row_blocks == 1 ? 2 : 1;                 // of S, so that products overlap

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
  __device__ __forceinline__ AttentionLatent(const AttentionDecodeArguments& a, const Score& score,
                                             const DecodeSequence& sequence, const DecodeWork& work,
                                             int first_row, unsigned char* shared)
      : a_(a),
        score_(score),
        sequence_(sequence),
        work_(work),
        first_row_(first_row),
        rows_(sequence.queries * a.group),
        group_(static_cast<int>(threadIdx.x) / 128),
        quarter_(static_cast<int>(threadIdx.x) / 32 % 4),
        query_(ptx::shared_address(shared)),
        weights_(query_ + QueryTile::bytes + Config::stages * KeyTile::bytes),
        of_rows_(reinterpret_cast<float*>(shared + QueryTile::bytes + Config::stages * KeyTile::bytes +
                                          WeightTile::bytes)),
        query_cursor_(16 * row_blocks * group_),
        weight_cursor_(16 * row_blocks * group_),
        key_cursor_(step * quarter_),
        value_cursor_(0) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) o_[i][n] = Fragment{};
    }
  }

  // Within the CTA, of row r of this lane.
  __device__ __forceinline__ int row_of(int r) const {
    return 16 * row_blocks * group_ + 16 * (r / 2) + 8 * (r % 2) + lane_id() / 4;
  }
  __device__ __forceinline__ DecodeRow at(int row) const {
    return decode_row(a_, work_.key_head, min(first_row_ + row, rows_ - 1));
  }

  __device__ __forceinline__ void copy_query() const {
    constexpr int chunks = Config::head_dimension / QueryTile::chunk_elements;
    const T* const from = static_cast<const T*>(a_.q.data) + work_.batch * a_.q.batch_stride;
    for (int i = static_cast<int>(threadIdx.x); i < Config::rows * chunks; i += Config::threads) {
      const int row = i / chunks, column = i % chunks * QueryTile::chunk_elements;
      const DecodeRow place = at(row);
      ptx::cp_async_cg_shared_global_16(query_ + static_cast<std::uint32_t>(QueryTile::offset(row, column)),
                                        from + (sequence_.first_query + place.query) * a_.q.row_stride +
                                            place.head * a_.q.head_stride + column,
                                        first_row_ + row < rows_ ? 16U : 0U);
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
      attend_tile(stage_at(read), key + tile * Config::key_tile + step * quarter_, there[0]);
#pragma unroll
      for (int s = 0; s + 1 < Config::stages; ++s) there[s] = there[s + 1];
      read = read + 1 == Config::stages ? 0 : read + 1;
    }
    Ring::drain();
  }

  // key: the first of this warp.
  __device__ __forceinline__ void attend_tile(std::uint32_t k, int key, std::uint32_t there) {
    Fragment s[row_blocks][2];
    multiply_query(s, k);
    finish_scores(s, key, there);
    float maxima[lane_rows];
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const Fragment(&of_row)[2] = s[r / 2];
      const int e = r % 2 * 2;
      maxima[r] =
          fmaxf(fmaxf(of_row[0].reg[e], of_row[0].reg[e + 1]), fmaxf(of_row[1].reg[e], of_row[1].reg[e + 1]));
    }
    const float factor = score_.log2_factor();
    if (__syncthreads_or(static_cast<int>(softmax_.exceeded(maxima, factor))) != 0) raise(maxima, factor);
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float left = softmax_.exponential(r, s[r / 2][n].reg[r % 2 * 2], factor);
        const float right = softmax_.exponential(r, s[r / 2][n].reg[r % 2 * 2 + 1], factor);
        const int column = step * quarter_ + 8 * n + Fragment::coord(lane_id(), 0).col;
        ptx::st_shared_b32(weights_ + static_cast<std::uint32_t>(WeightTile::offset(row_of(r), column)),
                           Packing<T>::pack({left, right}));
      }
    }
    __syncthreads();
    multiply_values(k);
  }

  __device__ __forceinline__ void multiply_query(Fragment (&s)[row_blocks][2], std::uint32_t k) const {
    Fragment of_chain[chains][row_blocks][2] = {};
#pragma unroll
    for (int j = 0; j < depth_blocks; ++j) {
      std::uint32_t b[4];
      key_cursor_.load(b, k, 0, j);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) {
        FragmentA<m16n8k16, T> q;
        query_cursor_.load(q.reg, query_, i, j);
        multiply_pair(of_chain[j % chains][i][0], of_chain[j % chains][i][1], q, b);
      }
    }
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        s[i][n] = of_chain[0][i][n];
        if constexpr (chains == 2) {
#pragma unroll
          for (int e = 0; e < 4; ++e) s[i][n].reg[e] += of_chain[1][i][n].reg[e];
        }
      }
    }
  }

  __device__ __forceinline__ void multiply_values(std::uint32_t v) {
#pragma unroll
    for (int j = 0; j < key_blocks; ++j) {
      FragmentA<m16n8k16, T> p[row_blocks];
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) weight_cursor_.load(p[i].reg, weights_, i, j);
#pragma unroll
      for (int n = 0; n < value_blocks; ++n) {
        std::uint32_t b[4];
        // A quarter of the columns is whole panels.
        value_cursor_.load(
            b, v + quarter_ * (value_blocks * 16 / KeyTile::panel_columns) * KeyTile::panel_bytes, j, n);
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) multiply_pair(o_[i][2 * n], o_[i][2 * n + 1], p[i], b);
      }
    }
  }
  static_assert(value_blocks * 16 % KeyTile::panel_columns == 0,
                "AttentionLatent: a quarter of the value columns must be whole panels of 64");

  // Raises the references of all four warps of a group to the largest of their maxima.
  __device__ __forceinline__ void raise(float (&maxima)[lane_rows], float factor) {
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      maxima[r] = fmaxf(maxima[r], __shfl_xor_sync(0xffffffffU, maxima[r], 1));
      maxima[r] = fmaxf(maxima[r], __shfl_xor_sync(0xffffffffU, maxima[r], 2));
    }
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {  // after the whole warp has done the above
      if (lane_id() % 4 == 0) of_rows_[quarter_ * Config::rows + row_of(r)] = maxima[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
      for (int w = 0; w < 4; ++w) maxima[r] = fmaxf(maxima[r], of_rows_[w * Config::rows + row_of(r)]);
    }
    float scale[lane_rows];
    softmax_.raise(maxima, factor, scale);
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) o_[r / 2][n].reg[r % 2 * 2 + e] *= scale[r];
      }
    }
  }

  // The score function, and -infinity for the keys that a row does not see or that are not there.
  __device__ __forceinline__ void finish_scores(Fragment (&s)[row_blocks][2], int key,
                                                std::uint32_t there) const {
    const bool masked = there != 0xffffU || key < seen_by_each_.begin || key + step > seen_by_each_.end;
    if (!Score::changes_scores && !masked) return;
    const int lane = lane_id();
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const DecodeRow row = at(row_of(r));
      const Score score = score_.of_head(row.head);
      const int position = row.query + sequence_.keys - sequence_.queries;
      const int first = position - a_.left, last = position + a_.right;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int in_step = 8 * n + Fragment::coord(lane, e).col, column = key + in_step;
          float& value = s[r / 2][n].reg[r % 2 * 2 + e];
          if constexpr (Score::changes_scores) value = score(value, position, column);
          if (masked && (column < first || column > last || (there >> in_step & 1U) == 0))
            value = -float_infinity;
        }
      }
    }
  }

  // Writes O and the log-sum-exp or, where there are several splits, the share of this one.
  __device__ __forceinline__ void store() const {
    const int lane = lane_id();
    float sums[lane_rows];
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      sums[r] = softmax_.sum(r);
    }
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {  // after the whole warp has done the above
      if (lane % 4 == 0) of_rows_[quarter_ * Config::rows + row_of(r)] = sums[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const int row = row_of(r);
      if (first_row_ + row >= rows_) continue;
      float sum = 0;
#pragma unroll
      for (int w = 0; w < 4; ++w) sum += of_rows_[w * Config::rows + row];
      const DecodeRow place = at(row);
      float log = sum == 0 ? -float_infinity : softmax_.log2_sum(r, sum);
      float scale = sum == 0 ? 0 : 1 / sum;
      if (a_.splits == 1 && a_.sinks != nullptr) {
        const float both[2] = {log, a_.sinks[place.head] * log2_of_e};
        const float with = log2_of_sum(both);
        if (sum != 0) scale *= ptx::ex2_approx_ftz_f32(log - with);
        log = with;
      }
      const int first_column = quarter_ * value_blocks * 16 + Fragment::coord(lane, 0).col;
      const std::int64_t in_logs = place_of(a_, work_.batch, place);
      const std::int64_t of_split = in_logs * a_.splits + work_.split;
      T* const out = static_cast<T*>(a_.o.data) + work_.batch * a_.o.batch_stride +
                     (sequence_.first_query + place.query) * a_.o.row_stride + place.head * a_.o.head_stride;
      float* const of_this = a_.split_o + of_split * Config::value_dimension;
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
        const float left = o_[r / 2][n].reg[r % 2 * 2] * scale,
                    right = o_[r / 2][n].reg[r % 2 * 2 + 1] * scale;
        const int column = first_column + 8 * n;
        if (a_.splits > 1) {
          *reinterpret_cast<float2*>(of_this + column) = make_float2(left, right);
        } else {
          *reinterpret_cast<std::uint32_t*>(out + column) = Packing<T>::pack({left, right});
        }
      }
      if (quarter_ != 0 || lane % 4 != 0) continue;
      if (a_.splits > 1) {
        a_.split_log2_sums[of_split] = log;
      } else if (a_.log_sum_exp != nullptr) {
        a_.log_sum_exp[in_logs] = log * ln_of_2;
      }
    }
  }

  const AttentionDecodeArguments& a_;
  const Score& score_;
  DecodeSequence sequence_;
  DecodeWork work_;
  KeyRange seen_by_each_;
  int first_row_, rows_;
  int group_, quarter_;  // of the warp
  std::uint32_t query_, weights_;
  float* of_rows_;
  QueryCursor query_cursor_;
  WeightCursor weight_cursor_;
  KeyCursor key_cursor_;
  ValueCursor value_cursor_;
  RowSoftmax<lane_rows> softmax_;
  Fragment o_[row_blocks][2 * value_blocks];
};

template <class Config, class Score>
__global__ void __launch_bounds__(Config::threads, Config::ctas_per_sm)
    attention_decode_latent(const __grid_constant__ AttentionDecodeArguments arguments,
                            const __grid_constant__ Score score) {
  AttentionLatent<Config, Score>::run(arguments, score);
}

}  // namespace tenon
