// Attention by mma.sync and cp.async, for sm_80 and newer: one CTA computes a tile of queries of one head.
//
// Each warp owns 16 or 32 queries. It multiplies their Q by a step of keys into S, turns S into P in
// registers, where the accumulators' layout is that of an A operand, and adds P V to its O. K and V come
// through a ring of stages that all warps fill. Two instruction streams overlap: the exponentials of the next
// 16 keys run between the products of these with V. Below: row_softmax.hpp, score_function.hpp,
// arguments_mma.hpp, warp/panel_cursor.hpp, gemm/producer_cp_async.hpp, pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/arguments_mma.hpp"
#include "tenon/attention/row_softmax.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/fragment/f16.hpp"
#include "tenon/gemm/producer_cp_async.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. RowBlocks: of 16 queries, a warp. KeyTile: keys of a stage; Step: keys of S,
// at a time. query_in_registers: Q's fragments are loaded once, for D / 4 * RowBlocks registers.
template <class T_, int HeadDimension, int ValueDimension, int Warps, int RowBlocks, int KeyTile, int Step,
          int Stages, bool query_in_registers_, int CtasPerSm = 1>
struct AttentionMmaConfig {
  using T = T_;
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr int warps = Warps, threads = 32 * Warps, row_blocks = RowBlocks;
  static constexpr int warp_rows = 16 * RowBlocks, rows = Warps * warp_rows;
  static constexpr int key_tile = KeyTile, step = Step, stages = Stages, ctas_per_sm = CtasPerSm;
  static constexpr bool query_in_registers = query_in_registers_;
  static_assert(HeadDimension % 16 == 0 && ValueDimension % 16 == 0,
                "AttentionMmaConfig: the head dimensions must be multiples of 16");
  static_assert(KeyTile % Step == 0 && Step % 16 == 0,
                "AttentionMmaConfig: a stage holds whole steps, and a step is a multiple of 16 keys");

  using QueryTile = HeadTile<T, rows, HeadDimension>;
  using KeyTileOf = HeadTile<T, KeyTile, HeadDimension>;
  using ValueTile = HeadTile<T, KeyTile, ValueDimension>;
  static constexpr int stage_bytes = KeyTileOf::bytes + ValueTile::bytes;
  static constexpr int shared_bytes = QueryTile::bytes + Stages * stage_bytes;
};

// alignment: full_16 where base and strides of Q, K, V and O are multiples of 16 bytes, or any. Launch with
// threads, shared_bytes of dynamic shared memory, and one CTA a tile of the raster.
template <class Config, class Score, Alignment alignment>
class AttentionMma {
  using T = typename Config::T;
  using QueryTile = typename Config::QueryTile;
  using KeyTile = typename Config::KeyTileOf;
  using ValueTile = typename Config::ValueTile;
  static constexpr int row_blocks = Config::row_blocks, step = Config::step;
  static constexpr int depth_blocks = Config::head_dimension / 16,
                       value_blocks = Config::value_dimension / 16;
  static constexpr int rows_of_lane = 2 * row_blocks;  // rows g and g + 8 of each block
  static constexpr float minus_infinity = -__builtin_huge_valf();

  using QueryFragment = FragmentA<m16n8k16, T>;
  using KeyFragment = FragmentB<m16n8k16, T>;
  using Fragment = Accumulator<m16n8k16, float>;
  using QueryCursor = PanelCursor<QueryTile, Load16x16::a>;
  using KeyCursor = PanelCursor<KeyTile, Load16x16::b_k_in_columns>;
  using ValueCursor = PanelCursor<ValueTile, Load16x16::b_k_in_rows>;
  static_assert(QueryCursor::conflicts() == 0 && KeyCursor::conflicts() == 0 && ValueCursor::conflicts() == 0,
                "AttentionMma: ldmatrix of these tiles has bank conflicts");

  // 16-byte chunks that lie outside the matrix are filled with zeros; where everything is aligned, each lies
  // wholly inside or outside.
  static constexpr Alignment copies = alignment == Alignment::full_16 ? Alignment::whole_chunks : alignment;
  using QueryProducer = ProducerCpAsync<QueryTile, Config::threads, copies>;
  using KeyProducer = ProducerCpAsync<KeyTile, Config::threads, copies>;
  using ValueProducer = ProducerCpAsync<ValueTile, Config::threads, copies>;
  using Ring = CpAsyncRing<Config::stages>;

 public:
  __device__ static void run(const AttentionArguments& a, const Score& score_of_all) {
    extern __shared__ __align__(1024) unsigned char attention_shared[];
    const std::uint32_t query_base = ptx::shared_address(attention_shared);
    const std::uint32_t ring_base = query_base + QueryTile::bytes;
    const int thread = static_cast<int>(threadIdx.x);
    const tenon::QueryTile work = a.raster.at(static_cast<int>(blockIdx.x));
    const int batch = a.by_heads.quotient(work.head), head = work.head - batch * a.heads;
    const int first_query = work.tile * Config::rows, key_head = a.by_group.quotient(head);
    const KeyRange range = visible_keys(a, first_query, min(first_query + Config::rows, a.queries) - 1);
    const int first_key = range.begin / Config::key_tile * Config::key_tile;
    const int tiles =
        range.end > first_key ? (range.end - first_key + Config::key_tile - 1) / Config::key_tile : 0;

    // A stage's producers are made when it is copied: they would take 16 registers in the loop.
    const auto copy_stage = [&](int tile, std::uint32_t stage) {
      const int key = first_key + tile * Config::key_tile, copying = ptx::opaque_copy(thread);
      copy_tile(KeyProducer(rows_of(a.k, batch, key_head, key, a.keys, Config::head_dimension), 0, copying),
                stage);
      copy_tile(
          ValueProducer(rows_of(a.v, batch, key_head, key, a.keys, Config::value_dimension), 0, copying),
          stage + KeyTile::bytes);
    };
    {
      const QueryProducer queries(rows_of(a.q, batch, head, first_query, a.queries, Config::head_dimension),
                                  0, thread);
      copy_tile(queries, query_base);
    }
#pragma unroll
    for (int s = 0; s + 1 < Config::stages; ++s) {
      if (s < tiles) copy_stage(s, ring_base + s * Config::stage_bytes);
      Ring::commit();
    }

    AttentionMma warp(a, score_of_all.of_head(head), first_query);
    int read = 0, written = Config::stages - 1;
    for (int tile = 0; tile < tiles; ++tile) {
      Ring::wait_oldest();
      if (Config::query_in_registers && tile == 0) warp.load_query(query_base);
      if (tile + Config::stages - 1 < tiles)
        copy_stage(tile + Config::stages - 1, ring_base + written * Config::stage_bytes);
      Ring::commit();
      const std::uint32_t stage = ring_base + read * Config::stage_bytes;
#pragma unroll
      for (int s = 0; s < Config::key_tile / step; ++s) {
        warp.attend(query_base, stage + s * step * KeyTile::row_bytes,
                    stage + KeyTile::bytes + s * step * ValueTile::row_bytes,
                    first_key + tile * Config::key_tile + s * step);
      }
      read = read + 1 == Config::stages ? 0 : read + 1;
      written = written + 1 == Config::stages ? 0 : written + 1;
    }
    ptx::cp_async_wait_group<0>();
    warp.store(head, batch);
  }

 private:
  __device__ __forceinline__ AttentionMma(const AttentionArguments& a, const Score& score, int first_query)
      : arguments_(a),
        score_(score),
        factor_(score.log2_factor()),
        query_cursor_(static_cast<int>(threadIdx.x) / 32 * Config::warp_rows),
        key_cursor_(0),
        value_cursor_(0),
        first_row_(first_query + static_cast<int>(threadIdx.x) / 32 * Config::warp_rows) {
    clear(o_);
  }

  __device__ __forceinline__ static GlobalRows rows_of(const AttentionTensor<const void*>& tensor, int batch,
                                                       int head, int first, int rows, int columns) {
    const auto* data = static_cast<const T*>(tensor.data);
    return {data + batch * tensor.batch_stride + head * tensor.head_stride + first * tensor.row_stride,
            tensor.row_stride, rows - first, columns};
  }

  template <class Producer>
  __device__ __forceinline__ static void copy_tile(const Producer& producer, std::uint32_t base) {
    if (producer.whole()) {
#pragma unroll
      for (int i = 0; i < Producer::count; ++i) producer.template copy<true>(base, i);
    } else {
#pragma unroll
      for (int i = 0; i < Producer::count; ++i) producer.template copy<false>(base, i);
    }
  }
  template <int columns>
  __device__ __forceinline__ static void clear(Fragment (&fragments)[row_blocks][columns]) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int n = 0; n < columns; ++n) fragments[i][n] = Fragment{};
    }
  }

  __device__ __forceinline__ void load_query(std::uint32_t base) {
    if constexpr (Config::query_in_registers) {
#pragma unroll
      for (int j = 0; j < depth_blocks; ++j) {
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) query_cursor_.load(q_[j][i].reg, base, i, j);
      }
    }
  }

  // O and the softmax of this warp's rows take in the keys key .. key + step, whose K and V are at these
  // addresses.
  __device__ __forceinline__ void attend(std::uint32_t query_base, std::uint32_t k, std::uint32_t v,
                                         int key) {
    const KeyRange visible = visible_keys(arguments_, first_row_, first_row_ + Config::warp_rows - 1);
    if (key >= visible.end || key + step <= visible.begin) return;
    Scores s;
    float maxima[rows_of_lane];
    FirstWeights first;
    multiply_query(s, query_base, k, maxima, first);

    const KeyRange common = common_keys(arguments_, first_row_, first_row_ + Config::warp_rows - 1);
    const bool masked = key < common.begin || key + step > common.end;
    if (Score::changes_scores || masked) {
      finish_scores(s, key, masked);
      start(maxima);
#pragma unroll
      for (int n = 0; n < step / 16; ++n) raise_maxima(maxima, s, n);
      first.compute(*this, s);
    }
    if (softmax_.exceeded(maxima, factor_)) {
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
      first.compute(*this, s);
    }
    multiply_values(s, v, first);
  }

  using Scores = Fragment[row_blocks][step / 8];

  // P of the first 16 keys of a step, and what it adds to the sums of the rows. It is computed with the
  // reference of the steps before, while the products of Q and K still run, and again if that is exceeded.
  struct FirstWeights {
    QueryFragment p[row_blocks];
    float sum[rows_of_lane];

    __device__ __forceinline__ void compute(const AttentionMma& of, const Scores& s) {
#pragma unroll
      for (int r = 0; r < rows_of_lane; ++r) sum[r] = 0;
#pragma unroll
      for (int part = 0; part < 4 * row_blocks; ++part) of.weights(p, s, 0, part, sum);
    }
  };

  __device__ __forceinline__ static void start(float (&maxima)[rows_of_lane]) {
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) maxima[r] = minus_infinity;
  }
  // Takes in the scores of 16 keys.
  __device__ __forceinline__ static void raise_maxima(float (&maxima)[rows_of_lane], const Scores& s,
                                                      int block) {
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        maxima[r] = fmaxf(maxima[r], s[r / 2][2 * block + i / 2].reg[r % 2 * 2 + i % 2]);
    }
  }

  // s = Q K^T. The maxima and the first weights are computed between the last products.
  __device__ __forceinline__ void multiply_query(Scores& s, std::uint32_t query_base, std::uint32_t k,
                                                 float (&maxima)[rows_of_lane], FirstWeights& first) {
    constexpr int key_blocks = step / 16, all = depth_blocks * key_blocks;
    clear(s);
    start(maxima);
    std::uint32_t b[2][4];
    QueryFragment q[2][row_blocks];
    key_cursor_.load(b[0], k, 0, 0);
    if constexpr (!Config::query_in_registers) {
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) query_cursor_.load(q[0][i].reg, query_base, i, 0);
    }
#pragma unroll
    for (int j = 0; j < depth_blocks; ++j) {
#pragma unroll
      for (int n = 0; n < key_blocks; ++n) {
        const int at = j * key_blocks + n;
        if (at + 1 < all) key_cursor_.load(b[(at + 1) % 2], k, (at + 1) % key_blocks, (at + 1) / key_blocks);
        if constexpr (!Config::query_in_registers) {
          if (n == 0 && j + 1 < depth_blocks) {
#pragma unroll
            for (int i = 0; i < row_blocks; ++i)
              query_cursor_.load(q[(j + 1) % 2][i].reg, query_base, i, j + 1);
          }
        }
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) {
          const QueryFragment& a =
              Config::query_in_registers ? q_[Config::query_in_registers ? j : 0][i] : q[j % 2][i];
          multiply_pair(s[i][2 * n], s[i][2 * n + 1], a, b[at % 2]);
        }
        if (!Score::changes_scores && j + 1 == depth_blocks && n > 0) {
          raise_maxima(maxima, s, n - 1);
          if (n == 1) first.compute(*this, s);
        }
      }
    }
    if (!Score::changes_scores) {
      raise_maxima(maxima, s, key_blocks - 1);
      if (key_blocks == 1) first.compute(*this, s);
    }
  }

  // o += P V, where P is made from s.
  __device__ __forceinline__ void multiply_values(const Scores& s, std::uint32_t v,
                                                  const FirstWeights& first) {
    constexpr int key_blocks = step / 16, all = key_blocks * value_blocks, parts = 4 * row_blocks;
    std::uint32_t b[2][4];
    QueryFragment p[2][row_blocks];
    float sum[rows_of_lane];
    value_cursor_.load(b[0], v, 0, 0);
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) p[0][i] = first.p[i];
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) sum[r] = first.sum[r];
#pragma unroll
    for (int j = 0; j < key_blocks; ++j) {
#pragma unroll
      for (int n = 0; n < value_blocks; ++n) {
        const int at = j * value_blocks + n;
        if (at + 1 < all)
          value_cursor_.load(b[(at + 1) % 2], v, (at + 1) / value_blocks, (at + 1) % value_blocks);
        if (j + 1 < key_blocks) {  // the next block's exponentials, spread over this block's products
#pragma unroll
          for (int part = 0; part < parts; ++part) {
            if (part * value_blocks / parts == n) weights(p[(j + 1) % 2], s, j + 1, part, sum);
          }
        }
#pragma unroll
        for (int i = 0; i < row_blocks; ++i)
          multiply_pair(o_[i][2 * n], o_[i][2 * n + 1], p[j % 2][i], b[at % 2]);
      }
    }
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) softmax_.add(r, sum[r]);
  }

  // One register of P: part / 4 is the block of rows, part % 4 the register of the A fragment.
  __device__ __forceinline__ void weights(QueryFragment (&p)[row_blocks], const Scores& s, int block,
                                          int part, float (&sum)[rows_of_lane]) const {
    const int i = part / 4, reg = part % 4, row = 2 * i + reg % 2;
    const Fragment& from = s[i][2 * block + reg / 2];
    const float left = softmax_.weight(row, from.reg[reg % 2 * 2], factor_),
                right = softmax_.weight(row, from.reg[reg % 2 * 2 + 1], factor_);
    sum[row] += left + right;
    p[i].reg[reg] = Packing<T>::pack({left, right});
  }

  __device__ __forceinline__ static void multiply_pair(Fragment& left, Fragment& right,
                                                       const QueryFragment& a, const std::uint32_t (&b)[4]) {
    KeyFragment first, second;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      first.reg[r] = b[r];
      second.reg[r] = b[2 + r];
    }
    left.mma(a, first);
    right.mma(a, second);
  }

  // The score function, and -infinity for the keys that a query does not see.
  __device__ __forceinline__ void finish_scores(Fragment (&s)[row_blocks][step / 8], int key, bool masked) {
    const int lane = lane_id();
    const int offset = arguments_.keys - arguments_.queries;
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Coord at = Fragment::coord(lane, e);
        const int position = first_row_ + 16 * i + at.row + offset;
        const int first = position - arguments_.left,
                  last = min(position + arguments_.right, arguments_.keys - 1);
#pragma unroll
        for (int n = 0; n < step / 8; ++n) {
          const int column = key + 8 * n + at.col;
          float& value = s[i][n].reg[e];
          if constexpr (Score::changes_scores) value = score_(value, position, column);
          if (masked && (column < first || column > last)) value = minus_infinity;
        }
      }
    }
  }

  __device__ __forceinline__ void store(int head, int batch) {
    const int lane = lane_id();
    T* const out = static_cast<T*>(arguments_.o.data) + batch * arguments_.o.batch_stride +
                   head * arguments_.o.head_stride;
    float sums[rows_of_lane];  // by the whole warp, before its lanes part
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) sums[r] = softmax_.sum(r);
#pragma unroll
    for (int r = 0; r < rows_of_lane; ++r) {
      const float sum = sums[r];
      const int row = first_row_ + 16 * (r / 2) + Fragment::coord(lane, r % 2 * 2).row;
      if (row >= arguments_.queries) continue;
      const float inverse = sum == 0 ? 0 : 1 / sum;
      T* const to = out + row * arguments_.o.row_stride + Fragment::coord(lane, 0).col;
#pragma unroll
      for (int n = 0; n < 2 * value_blocks; ++n) {
        const Fragment& from = o_[r / 2][n];
        const std::uint32_t word =
            Packing<T>::pack({from.reg[r % 2 * 2] * inverse, from.reg[r % 2 * 2 + 1] * inverse});
        if constexpr (alignment == Alignment::full_16) {
          *reinterpret_cast<std::uint32_t*>(to + 8 * n) = word;
        } else {
          auto* const halves = reinterpret_cast<std::uint16_t*>(to + 8 * n);
          halves[0] = static_cast<std::uint16_t>(word);
          halves[1] = static_cast<std::uint16_t>(word >> 16);
        }
      }
      if (arguments_.log_sum_exp != nullptr && lane % 4 == 0) {
        const std::int64_t at =
            (static_cast<std::int64_t>(batch) * arguments_.heads + head) * arguments_.queries + row;
        arguments_.log_sum_exp[at] = sum == 0 ? minus_infinity : softmax_.log2_sum(r, sum) * ln_of_2;
      }
    }
  }

  const AttentionArguments& arguments_;
  Score score_;
  float factor_;
  QueryCursor query_cursor_;
  KeyCursor key_cursor_;
  ValueCursor value_cursor_;
  int first_row_;
  RowSoftmax<rows_of_lane> softmax_;
  QueryFragment q_[Config::query_in_registers ? depth_blocks : 1][row_blocks];
  Fragment o_[row_blocks][2 * value_blocks];
};

template <class Config, class Score, Alignment alignment>
__global__ void __launch_bounds__(Config::threads, Config::ctas_per_sm)
    attention_mma(const __grid_constant__ AttentionArguments arguments, const __grid_constant__ Score score) {
  AttentionMma<Config, Score, alignment>::run(arguments, score);
}

}  // namespace tenon
