// The share of one warp in a tile of attention: 16 or 32 queries, their S, P and O in registers, K and V in
// shared memory. The accumulators of S = Q K^T lie as the A operand of P V wants them, so P never leaves the
// lanes that computed S.
//
// multiply_query() and multiply_values() take a function `beside` that is called between the products, with
// the number of the pair of products: what it computes runs beside the tensor cores. Below: row_softmax.hpp,
// score_function.hpp, batch_sequence.hpp, missing_pages.hpp, warp/panel_cursor.hpp.
#pragma once

#include "tenon/attention/batch_sequence.hpp"
#include "tenon/attention/missing_pages.hpp"
#include "tenon/attention/row_softmax.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/warp/mma_pair.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// Config: AttentionMmaConfig. word_stores: O's rows and strides are multiples of 4 bytes.
template <class Config, class Score, bool word_stores, Sequences sequences>
class WarpAttention {
  using T = typename Config::T;
  using QueryTile = typename Config::QueryTile;
  using KeyTile = typename Config::KeyTile;
  using ValueTile = typename Config::ValueTile;
  using Fragment = Accumulator<m16n8k16, float>;
  static constexpr int row_blocks = Config::row_blocks, step = Config::step;
  static constexpr int depth_blocks = Config::head_dimension / 16,
                       value_blocks = Config::value_dimension / 16;
  static constexpr int rows_of_lane = 2 * row_blocks;  // rows g and g + 8 of each block
  using Sequence = SequenceOf<sequences>;

  using QueryCursor = PanelCursor<QueryTile, Load16x16::a>;
  using KeyCursor = PanelCursor<KeyTile, Load16x16::b_k_in_columns>;
  using ValueCursor = PanelCursor<ValueTile, Load16x16::b_k_in_rows>;
  static_assert(QueryCursor::conflicts() == 0 && KeyCursor::conflicts() == 0 && ValueCursor::conflicts() == 0,
                "WarpAttention: ldmatrix of these tiles has bank conflicts");

 public:
  static constexpr int key_blocks = step / 16;         // of 16 keys, in a step
  static constexpr int weight_parts = 4 * row_blocks;  // registers of P for a block of keys
  static constexpr int query_pairs = depth_blocks * key_blocks, value_pairs = key_blocks * value_blocks;
  using Scores = Fragment[row_blocks][step / 8];
  using Weights = FragmentA<m16n8k16, T>[row_blocks];  // P for 16 keys
  using Maxima = float[rows_of_lane];

  // first_query: of the CTA.
  __device__ __forceinline__ WarpAttention(const AttentionArguments& a, const Sequence& sequence,
                                           const Score& score, int first_query)
      : arguments_(a),
        sequence_(sequence),
        score_(score),
        factor_(score.log2_factor()),
        query_cursor_(static_cast<int>(threadIdx.x) / 32 * Config::warp_rows),
        key_cursor_(0),
        value_cursor_(0),
        first_row_(first_query + static_cast<int>(threadIdx.x) / 32 * Config::warp_rows) {
    clear(o_);
  }

  // Whether one of the queries sees one of the keys key .. key + step - 1.
  __device__ __forceinline__ bool sees(int key) const {
    const int first = first_row();
    const KeyRange visible = visible_keys(arguments_, sequence_, first, first + Config::warp_rows - 1);
    return key < visible.end && key + step > visible.begin;
  }

  // Loads Q, where Config keeps it in registers.
  __device__ __forceinline__ void load_query(std::uint32_t query) {
    if constexpr (Config::query_in_registers) {
#pragma unroll
      for (int j = 0; j < depth_blocks; ++j) load_query(q_[j], query, j);
    }
  }

  // s = Q K^T, where K's rows begin at `k`.
  template <class Beside>
  __device__ __forceinline__ void multiply_query(Scores& s, std::uint32_t query, std::uint32_t k,
                                                 const Beside& beside) {
    clear(s);
    std::uint32_t b[2][4];  // two fragments of K each, one pair ahead
    Weights q[2];           // likewise of Q, where it is not in registers
    key_cursor_.load(b[0], k, 0, 0);
    if constexpr (!Config::query_in_registers) load_query(q[0], query, 0);
#pragma unroll
    for (int j = 0; j < depth_blocks; ++j) {
#pragma unroll
      for (int n = 0; n < key_blocks; ++n) {
        const int at = j * key_blocks + n, ahead = at + 1;
        if (ahead < query_pairs) key_cursor_.load(b[ahead % 2], k, ahead % key_blocks, ahead / key_blocks);
        if constexpr (!Config::query_in_registers) {
          if (n == 0 && j + 1 < depth_blocks) load_query(q[(j + 1) % 2], query, j + 1);
        }
        beside(at);
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) {
          if constexpr (Config::query_in_registers) {
            multiply_pair(s[i][2 * n], s[i][2 * n + 1], q_[j][i], b[at % 2]);
          } else {
            multiply_pair(s[i][2 * n], s[i][2 * n + 1], q[j % 2][i], b[at % 2]);
          }
        }
      }
    }
  }

  // o += P V, where V's rows begin at `v`. Block j of P is p[j % slots]: `beside` may compute the next one.
  template <int slots, class Beside>
  __device__ __forceinline__ void multiply_values(const Weights (&p)[slots], std::uint32_t v,
                                                  const Beside& beside) {
    std::uint32_t b[2][4];
    value_cursor_.load(b[0], v, 0, 0);
#pragma unroll
    for (int j = 0; j < key_blocks; ++j) {
#pragma unroll
      for (int n = 0; n < value_blocks; ++n) {
        const int at = j * value_blocks + n, ahead = at + 1;
        if (ahead < value_pairs)
          value_cursor_.load(b[ahead % 2], v, ahead / value_blocks, ahead % value_blocks);
        beside(at);
#pragma unroll
        for (int i = 0; i < row_blocks; ++i)
          multiply_pair(o_[i][2 * n], o_[i][2 * n + 1], p[j % slots][i], b[at % 2]);
      }
    }
  }

  // The score function, and -infinity for the keys that a query does not see. key: the first of s.
  __device__ __forceinline__ void finish_scores(Scores& s, int key) const {
    const int first_of_all = first_row();
    const KeyRange common =
        common_keys(arguments_, sequence_, first_of_all, first_of_all + Config::warp_rows - 1);
    const bool masked = key < common.begin || key + step > common.end;
    if (!Score::changes_scores && !masked) return;
    const int lane = lane_id(), offset = sequence_.keys() - sequence_.queries();
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Coord at = Fragment::coord(lane, e);
        const int position = first_row_ + 16 * i + at.row + offset;
        const int first = position - arguments_.left,
                  last = min(position + arguments_.right, sequence_.keys() - 1);
#pragma unroll
        for (int n = 0; n < step / 8; ++n) {
          const int column = key + 8 * n + at.col;
          float& value = s[i][n].reg[e];
          if constexpr (Score::changes_scores) value = score_(value, position, column);
          if (masked && (column < first || column > last)) value = -float_infinity;
        }
      }
    }
  }

  // -infinity for the keys of pages that the pool does not have.
  __device__ __forceinline__ void mask_missing_keys(Scores& s, int key, int batch) const {
    mask_missing_pages(s, arguments_.lengths, sequence_, key, batch);
  }

  // Of no scores.
  __device__ __forceinline__ static void clear_maxima(Maxima& maxima) {
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) maxima[r] = -float_infinity;
  }
  // Takes in the scores of a block of 16 keys.
  __device__ __forceinline__ static void raise_maxima(Maxima& maxima, const Scores& s, int block) {
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        maxima[r] = fmaxf(maxima[r], s[r / 2][2 * block + i / 2].reg[r % 2 * 2 + i % 2]);
    }
  }
  // Makes sure that the weights of scores up to these maxima do not overflow.
  __device__ __forceinline__ void raise_reference(const Maxima& maxima) {
    if (!softmax_.exceeded(maxima, factor_)) return;
    float scale[rows_of_lane];
    softmax_.raise(maxima, factor_, scale);
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) o_[r / 2][n].reg[r % 2 * 2 + e] *= scale[r];
      }
    }
  }

  // One register of P for a block of 16 keys, part < weight_parts, and its part of the rows' sums.
  __device__ __forceinline__ void weigh(Weights& p, const Scores& s, int block, int part) {
    const int i = part / 4, reg = part % 4, row = 2 * i + reg % 2;
    const Fragment& from = s[i][2 * block + reg / 2];
    const float left = softmax_.weight(row, from.reg[reg % 2 * 2], factor_);
    const float right = softmax_.weight(row, from.reg[reg % 2 * 2 + 1], factor_);
    softmax_.add(row, left + right);
    p[i].reg[reg] = Packing<T>::pack({left, right});
  }

  // Writes O and the log-sum-exp.
  __device__ __forceinline__ void store(int head, int batch) const {
    const int lane = lane_id();
    T* const out = static_cast<T*>(arguments_.o.data) + batch * arguments_.o.batch_stride +
                   head * arguments_.o.head_stride;
    float sums[rows_of_lane];  // by the whole warp, before its lanes part
    const float sink = arguments_.sinks == nullptr ? -float_infinity : arguments_.sinks[head] * log2_of_e;
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) sums[r] = softmax_.sum(r);
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
      const int row = first_row_ + 16 * (r / 2) + Fragment::coord(lane, r % 2 * 2).row;
      if (row >= sequence_.queries()) continue;
      const RowResult result = softmax_.result(r, sums[r], sink);
      T* const to =
          out + (sequence_.first_query() + row) * arguments_.o.row_stride + Fragment::coord(lane, 0).col;
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
        const Fragment& from = o_[r / 2][n];
        const std::uint32_t word =
            Packing<T>::pack({from.reg[r % 2 * 2] * result.scale, from.reg[r % 2 * 2 + 1] * result.scale});
        if constexpr (word_stores) {
          *reinterpret_cast<std::uint32_t*>(to + 8 * n) = word;
        } else {
          auto* const halves = reinterpret_cast<std::uint16_t*>(to + 8 * n);
          halves[0] = static_cast<std::uint16_t>(word);
          halves[1] = static_cast<std::uint16_t>(word >> 16);
        }
      }
      // Opaque: nvcc would clone the stores of the next rows into both branches. Each CTA runs them once, and
      // waits for every instruction to be fetched.
      if (arguments_.log_sum_exp != nullptr && lane % 4 == 0 && ptx::opaque_copy(row) < sequence_.queries()) {
        const std::int64_t at =
            (static_cast<std::int64_t>(batch) * arguments_.heads + head) * arguments_.queries + row;
        arguments_.log_sum_exp[at] = result.log2_sum * ln_of_2;
      }
    }
  }

  // Writes what this split of the keys has for O and the logarithm of its weights' sum. Sinks join when the
  // splits are merged.
  __device__ __forceinline__ void store_split(int head, int batch) const {
    const int lane = lane_id();
    float sums[rows_of_lane];  // by the whole warp, before its lanes part
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) sums[r] = softmax_.sum(r);
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
      const int row = first_row_ + 16 * (r / 2) + Fragment::coord(lane, r % 2 * 2).row;
      if (row >= sequence_.queries()) continue;
      const RowResult result = softmax_.result(r, sums[r], -float_infinity);
      const std::int64_t place =
          (static_cast<std::int64_t>(batch) * arguments_.heads + head) * arguments_.queries + row;
      const std::int64_t of_split = place * gridDim.y + blockIdx.y;
      float* const to =
          arguments_.split_o + of_split * Config::value_dimension + Fragment::coord(lane, 0).col;
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
        const Fragment& from = o_[r / 2][n];
        *reinterpret_cast<float2*>(to + 8 * n) =
            make_float2(from.reg[r % 2 * 2] * result.scale, from.reg[r % 2 * 2 + 1] * result.scale);
      }
      if (lane % 4 == 0) arguments_.split_log2_sums[of_split] = result.log2_sum;
    }
  }

 private:
  // Of this warp's queries. Opaque: what follows from it would be kept in registers from step to step.
  __device__ __forceinline__ int first_row() const {
    return ptx::opaque_copy(first_row_);
  }

  template <int columns>
  __device__ __forceinline__ static void clear(Fragment (&fragments)[row_blocks][columns]) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int n = 0; n < columns; ++n) fragments[i][n] = Fragment{};
    }
  }
  __device__ __forceinline__ void load_query(Weights& q, std::uint32_t query, int j) const {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) query_cursor_.load(q[i].reg, query, i, j);
  }

  const AttentionArguments& arguments_;
  Sequence sequence_;
  Score score_;
  float factor_;
  QueryCursor query_cursor_;
  KeyCursor key_cursor_;
  ValueCursor value_cursor_;
  int first_row_;
  RowSoftmax<rows_of_lane> softmax_;
  Weights q_[Config::query_in_registers ? depth_blocks : 1];
  Fragment o_[row_blocks][2 * value_blocks];
};

}  // namespace tenon
