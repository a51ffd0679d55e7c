// The share of one warp in attention of few queries: 16 rows, each a query token and a head, their S, P and O
// in registers, and the keys of the steps that the warp takes. merge() adds what the warps of the CTA have.
// Below: arguments_decode.hpp, row_softmax.hpp, score_function.hpp, warp/panel_cursor.hpp.
#pragma once

#include "tenon/attention/arguments_decode.hpp"
#include "tenon/attention/row_softmax.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/warp/mma_pair.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// The logarithm (base 2) of the sum of 2^logs. Some of the logs may be -infinity.
template <int count>
__device__ __forceinline__ float log2_of_sum(const float (&logs)[count]) {
  float most = logs[0];
#pragma unroll
  for (int i = 1; i < count; ++i) most = fmaxf(most, logs[i]);
  if (most == -float_infinity) return most;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) sum += ptx::ex2_approx_ftz_f32(logs[i] - most);
  return most + log2f(sum);
}

// Config: AttentionDecodeConfig.
template <class Config, class Score>
class DecodeWarp {
  using T = typename Config::T;
  using Fragment = Accumulator<m16n8k16, float>;
  using KeyCursor = PanelCursor<typename Config::KeyTile, Load16x16::b_k_in_columns>;
  using ValueCursor = PanelCursor<typename Config::ValueTile, Load16x16::b_k_in_rows>;
  static_assert(KeyCursor::conflicts() == 0 && ValueCursor::conflicts() == 0,
                "DecodeWarp: ldmatrix of these tiles has bank conflicts");
  static constexpr int step = Config::step, key_blocks = step / 16;
  static constexpr int depth_blocks = Config::head_dimension / 16,
                       value_blocks = Config::value_dimension / 16;

 public:
  __device__ __forceinline__ DecodeWarp(const AttentionDecodeArguments& a, const Score& score,
                                        const DecodeSequence& sequence, const DecodeWork& work)
      : a_(a),
        sequence_(sequence),
        batch_(work.batch),
        key_head_(work.key_head),
        first_row_(work.row_tile * Config::rows),
        rows_(sequence.queries * a.group),
        key_cursor_(0),
        value_cursor_(0),
        score_{score, score} {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      row_[r] = decode_row(a, work.key_head, min(row_of(r), rows_ - 1));
      score_[r] = score.of_head(row_[r].head);
    }
    const int first = a.by_group.quotient(first_row_),
              last = a.by_group.quotient(min(first_row_ + Config::rows, rows_) - 1);
    seen_by_one_ = keys_seen_by_one(a, sequence, first, last);
    seen_by_each_ = keys_seen_by_each(a, sequence, first, last);
#pragma unroll
    for (int n = 0; n < 2 * value_blocks; ++n) o_[n] = Fragment{};
  }

  __device__ __forceinline__ KeyRange seen_by_one() const {
    return seen_by_one_;
  }

  // Of 32-bit words, as the lanes hold them: once a CTA, while the first keys are on their way.
  __device__ __forceinline__ void load_query() {
    const int lane = lane_id();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool there = row_of(r) < rows_;
      const T* const from = static_cast<const T*>(a_.q.data) + batch_ * a_.q.batch_stride +
                            (sequence_.first_query + row_[r].query) * a_.q.row_stride +
                            row_[r].head * a_.q.head_stride;
#pragma unroll
      for (int j = 0; j < depth_blocks; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int column = 16 * j + FragmentA<m16n8k16, T>::coord(lane, 4 * half + 2 * r).col;
          q_[j].reg[2 * half + r] = there ? *reinterpret_cast<const std::uint32_t*>(from + column) : 0U;
        }
      }
    }
  }

  // The rows of K and V of a step, whose first key is `key`. there: a bit a key.
  __device__ __forceinline__ void attend(std::uint32_t k, std::uint32_t v, int key, std::uint32_t there) {
    Fragment s[2 * key_blocks];
#pragma unroll
    for (int n = 0; n < 2 * key_blocks; ++n) s[n] = Fragment{};
#pragma unroll
    for (int j = 0; j < depth_blocks; ++j) {
#pragma unroll
      for (int n = 0; n < key_blocks; ++n) {
        std::uint32_t b[4];
        key_cursor_.load(b, k, n, j);
        multiply_pair(s[2 * n], s[2 * n + 1], q_[j], b);
      }
    }
    finish_scores(s, key, there);
    float maxima[2] = {-float_infinity, -float_infinity};
#pragma unroll
    for (int n = 0; n < 2 * key_blocks; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) maxima[e / 2] = fmaxf(maxima[e / 2], s[n].reg[e]);
    }
    const float factor = score_[0].log2_factor();
    if (softmax_.exceeded(maxima, factor)) {
      float scale[2];
      softmax_.raise(maxima, factor, scale);
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) o_[n].reg[e] *= scale[e / 2];
      }
    }
#pragma unroll
    for (int block = 0; block < key_blocks; ++block) {
      FragmentA<m16n8k16, T> p;
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const Fragment& from = s[2 * block + part / 2];
        const int row = part % 2;
        const float left = softmax_.exponential(row, from.reg[2 * row], factor);
        const float right = softmax_.exponential(row, from.reg[2 * row + 1], factor);
        p.reg[part] = Packing<T>::pack({left, right});
      }
#pragma unroll
      for (int n = 0; n < value_blocks; ++n) {
        std::uint32_t b[4];
        value_cursor_.load(b, v, block, n);
        multiply_pair(o_[2 * n], o_[2 * n + 1], p, b);
      }
    }
  }

  // By all warps of the CTA: adds their O, and writes O and the log-sum-exp or, where there are several
  // splits, the share of this one. shared: of Config::sum_bytes + log_bytes, which nobody reads any more.
  __device__ __forceinline__ void merge(const DecodeWork& work, float* shared) const {
    const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32;
    float* const logs = shared + Config::sum_bytes / 4;
    float own[2], inverse[2];
    const float sums[2] = {softmax_.sum(0), softmax_.sum(1)};  // by the whole warp, before its lanes part
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = sums[r];
      own[r] = sum == 0 ? -float_infinity : softmax_.log2_sum(r, sum);
      inverse[r] = sum == 0 ? 0 : 1 / sum;
      if (lane % 4 == 0) logs[warp * Config::rows + lane / 4 + 8 * r] = own[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float log = log2_of_row(logs, lane / 4 + 8 * r, row_[r].head);
      const float scale = own[r] == -float_infinity ? 0 : ptx::ex2_approx_ftz_f32(own[r] - log) * inverse[r];
      const std::uint32_t to =
          ptx::shared_address(shared + (warp * Config::rows + lane / 4 + 8 * r) * Config::sum_columns) +
          4 * static_cast<std::uint32_t>(Fragment::coord(lane, 0).col);
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
        // Plain C++ became two stores with bank conflicts.
        ptx::st_shared_v2_f32(to + 32 * n, {o_[n].reg[2 * r] * scale, o_[n].reg[2 * r + 1] * scale});
      }
    }
    __syncthreads();
    constexpr int pieces = Config::value_dimension / 4;  // of a row, four columns each
    for (int i = static_cast<int>(threadIdx.x); i < Config::rows * pieces; i += Config::threads) {
      const int row = i / pieces, column = i % pieces * 4;
      if (first_row_ + row >= rows_) break;
      float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int w = 0; w < Config::warps; ++w) {
        const float4 x = *reinterpret_cast<const float4*>(
            shared + (w * Config::rows + row) * Config::sum_columns + column);
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
      }
      const DecodeRow at = decode_row(a_, key_head_, first_row_ + row);
      const std::int64_t place = place_of(a_, work.batch, at);
      if (a_.splits > 1) {
        const std::int64_t of_split = place * a_.splits + work.split;
        *reinterpret_cast<float4*>(a_.split_o + of_split * Config::value_dimension + column) = sum;
        if (column == 0) a_.split_log2_sums[of_split] = log2_of_row(logs, row, at.head);
        continue;
      }
      T* const to = static_cast<T*>(a_.o.data) + work.batch * a_.o.batch_stride +
                    (sequence_.first_query + at.query) * a_.o.row_stride + at.head * a_.o.head_stride +
                    column;
      *reinterpret_cast<uint2*>(to) =
          make_uint2(Packing<T>::pack({sum.x, sum.y}), Packing<T>::pack({sum.z, sum.w}));
      if (column == 0 && a_.log_sum_exp != nullptr)
        a_.log_sum_exp[place] = log2_of_row(logs, row, at.head) * ln_of_2;
    }
  }

 private:
  __device__ __forceinline__ int row_of(int r) const {
    return first_row_ + lane_id() / 4 + 8 * r;
  }

  // Of the weights of all warps and, where no combine step follows, of the sink.
  __device__ __forceinline__ float log2_of_row(const float* logs, int row, int head) const {
    float all[Config::warps + 1];
#pragma unroll
    for (int w = 0; w < Config::warps; ++w) all[w] = logs[w * Config::rows + row];
    all[Config::warps] = a_.splits == 1 && a_.sinks != nullptr ? a_.sinks[head] * log2_of_e : -float_infinity;
    return log2_of_sum(all);
  }

  // The score function, and -infinity for the keys that a row does not see or that are not there.
  __device__ __forceinline__ void finish_scores(Fragment (&s)[2 * key_blocks], int key,
                                                std::uint32_t there) const {
    constexpr std::uint32_t whole = step == 32 ? 0xffffffffU : 0xffffU;
    const bool masked = there != whole || key < seen_by_each_.begin || key + step > seen_by_each_.end;
    if (!Score::changes_scores && !masked) return;
    const int lane = lane_id();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int position = row_[r].query + sequence_.keys - sequence_.queries;
      const int first = position - a_.left, last = position + a_.right;
#pragma unroll
      for (int n = 0; n < 2 * key_blocks; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int in_step = 8 * n + Fragment::coord(lane, e).col, at = key + in_step;
          float& value = s[n].reg[2 * r + e];
          if constexpr (Score::changes_scores) value = score_[r](value, position, at);
          if (masked && (at < first || at > last || (there >> in_step & 1U) == 0)) value = -float_infinity;
        }
      }
    }
  }

  const AttentionDecodeArguments& a_;
  DecodeSequence sequence_;
  int batch_, key_head_, first_row_, rows_;
  KeyRange seen_by_one_, seen_by_each_;
  KeyCursor key_cursor_;
  ValueCursor value_cursor_;
  Score score_[2];    // of this lane's rows
  DecodeRow row_[2];  // likewise
  RowSoftmax<2> softmax_;
  FragmentA<m16n8k16, T> q_[depth_blocks];
  Fragment o_[2 * value_blocks];
};

}  // namespace tenon
