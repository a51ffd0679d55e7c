// The share of one warp in attention of few queries over latent keys: 16 or 32 rows, each a query token and a
// head, which four warps share. Each computes S of 16 keys of a tile and then O of a quarter of the columns;
// P goes through shared memory. The references of the softmax are raised rarely, and then by all four
// together. Below: decode_warp.hpp, row_softmax.hpp, score_function.hpp, warp/panel_cursor.hpp.
#pragma once

#include "tenon/attention/decode_warp.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// Config: AttentionLatentConfig. All threads of the CTA call attend_tile() and store() together.
template <class Config, class Score>
class LatentWarp {
  using T = typename Config::T;
  using QueryTile = typename Config::QueryTile;
  using KeyTile = typename Config::KeyTile;
  using WeightTile = typename Config::WeightTile;
  using Fragment = Accumulator<m16n8k16, float>;
  using QueryCursor = PanelCursor<QueryTile, Load16x16::a>;
  using WeightCursor = PanelCursor<WeightTile, Load16x16::a>;
  using KeyCursor = PanelCursor<KeyTile, Load16x16::b_k_in_columns>;
  using ValueCursor = PanelCursor<KeyTile, Load16x16::b_k_in_rows>;
  static constexpr int row_blocks = Config::row_blocks, lane_rows = 2 * row_blocks;
  static constexpr int depth_blocks = Config::head_dimension / 16, key_blocks = Config::key_tile / 16;
  static constexpr int value_blocks = Config::value_dimension / 4 / 16;  // of a warp
  static constexpr int chains = row_blocks == 1 ? 2 : 1;                 // of S, so that products overlap

 protected:
  static constexpr int step = 16;  // keys of a warp's S

  // shared: that of the CTA, as the config lays it out.
  __device__ __forceinline__ LatentWarp(const AttentionDecodeArguments& a, const Score& score,
                                        const DecodeSequence& sequence, const DecodeWork& work, int first_row,
                                        unsigned char* shared)
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

  // k: the address of a tile of keys; key: the first of this warp's, and there: a bit for each that is there.
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

  // Whether the CTA has the row; its query and head, of the last row if not.
  __device__ __forceinline__ bool has(int row) const {
    return first_row_ + row < rows_;
  }
  __device__ __forceinline__ DecodeRow at(int row) const {
    return decode_row(a_, work_.key_head, min(first_row_ + row, rows_ - 1));
  }

  const AttentionDecodeArguments& a_;
  const Score& score_;
  DecodeSequence sequence_;
  DecodeWork work_;
  KeyRange seen_by_each_;  // by each row of the CTA
  int first_row_, rows_;
  int group_, quarter_;  // the warp's four, and its number among them
  std::uint32_t query_, weights_;

 private:
  // Within the CTA, of row r of this lane.
  __device__ __forceinline__ int row_of(int r) const {
    return 16 * row_blocks * group_ + 16 * (r / 2) + 8 * (r % 2) + lane_id() / 4;
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
                "LatentWarp: a quarter of the value columns must be whole panels of 64");

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

  float* of_rows_;
  QueryCursor query_cursor_;
  WeightCursor weight_cursor_;
  KeyCursor key_cursor_;
  ValueCursor value_cursor_;
  RowSoftmax<lane_rows> softmax_;
  Fragment o_[row_blocks][2 * value_blocks];
};

}  // namespace tenon
