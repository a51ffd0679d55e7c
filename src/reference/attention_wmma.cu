// Attention by nvcuda::wmma: a CTA of four warps computes 32 queries, from tiles of 32 keys in shared memory.
// The layout of a WMMA fragment is not documented, so S, P and O pass through shared memory, where rows can
// be scaled: that is what the mma.sync kernel (tenon/attention/kernel_mma.hpp) saves.
#include <mma.h>

#include "reference/attention.cuh"
#include "reference/attention.hpp"
#include "reference/launch.cuh"

namespace tenon::reference {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int tile = 32, depth = 64, fragment = 16, threads = 128;
// A row is padded by 16 bytes, so that the rows of a fragment lie on different banks.
constexpr int operand_ld = depth + 8, score_ld = tile + 4, weight_ld = tile + 8, output_ld = depth + 4;

template <class T>
struct Shared {
  T q[tile * operand_ld], k[tile * operand_ld], v[tile * operand_ld], p[tile * weight_ld];
  float s[tile * score_ld], o[tile * output_ld];
};

template <class T>
using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major>;
template <class T, class Order>
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Order>;
using Accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Rows first .. first + 32 of a tensor of `rows` rows, zeros beyond.
template <class T>
__device__ void load_rows(T* to, const AttentionTensor<const void*>& from, std::int64_t batch,
                          std::int64_t head, std::int64_t first, std::int64_t rows) {
  for (int i = static_cast<int>(threadIdx.x); i < tile * depth; i += threads) {
    const int row = i / depth, column = i % depth;
    T value;
    round_to(value, 0.0F);
    if (first + row < rows) value = row_of<const T>(from, batch, head, first + row)[column];
    to[row * operand_ld + column] = value;
  }
}

template <class T>
__global__ void __launch_bounds__(threads) attention_wmma_kernel(AttentionProblem p) {
  __shared__ __align__(128) Shared<T> shared;
  const std::int64_t tiles = ceil_div(p.queries, tile);
  const std::int64_t first_query = blockIdx.x % tiles * tile, head = blockIdx.x / tiles % p.heads;
  const std::int64_t batch = blockIdx.x / tiles / p.heads, key_head = head / (p.heads / p.key_heads);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  // Fragments of S: 2 x 2, one a warp. Of O: 2 x 4, two a warp.
  const int row = warp / 2 * fragment, s_column = warp % 2 * fragment, o_column = warp % 2 * 2 * fragment;
  // Of the softmax four threads share a row of S, 8 columns each, and of O, 16 columns each.
  const int soft_row = static_cast<int>(threadIdx.x) / 4, part = static_cast<int>(threadIdx.x) % 4;
  const std::int64_t query = first_query + soft_row;
  const VisibleKeys visible(p, query), of_first(p, first_query);
  const VisibleKeys of_last(p, min(first_query + tile, p.queries) - 1);

  load_rows(shared.q, p.q, batch, head, first_query, p.queries);
  for (int i = 0; i < depth / 4; ++i) shared.o[soft_row * output_ld + part * (depth / 4) + i] = 0;

  OnlineSoftmax softmax;
  for (std::int64_t first = of_first.first / tile * tile; first < of_last.end; first += tile) {
    __syncthreads();  // the last tile has been read
    load_rows(shared.k, p.k, batch, key_head, first, p.keys);
    load_rows(shared.v, p.v, batch, key_head, first, p.keys);
    __syncthreads();

    Accumulator s;
    wmma::fill_fragment(s, 0.0F);
    for (int k = 0; k < depth; k += fragment) {
      FragmentA<T> a;
      FragmentB<T, wmma::col_major> b;  // K^T
      wmma::load_matrix_sync(a, shared.q + row * operand_ld + k, operand_ld);
      wmma::load_matrix_sync(b, shared.k + s_column * operand_ld + k, operand_ld);
      wmma::mma_sync(s, a, b, s);
    }
    wmma::store_matrix_sync(shared.s + row * score_ld + s_column, s, score_ld, wmma::mem_row_major);
    __syncthreads();

    float scores[tile / 4], most = -INFINITY;
    for (int i = 0; i < tile / 4; ++i) {
      const int column = part * (tile / 4) + i;
      scores[i] = visible.contain(first + column)
                      ? score_of(p, shared.s[soft_row * score_ld + column], head, query, first + column)
                      : -INFINITY;
      most = fmaxf(most, scores[i]);
    }
    most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 1));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 2));
    const float scale = softmax.raise(most);
    float sum = 0;
    for (int i = 0; i < tile / 4; ++i) {
      const float weight = softmax.weight(scores[i]);
      sum += weight;
      round_to(shared.p[soft_row * weight_ld + part * (tile / 4) + i], weight);
    }
    sum += __shfl_xor_sync(0xffffffffU, sum, 1);
    softmax.sum += sum + __shfl_xor_sync(0xffffffffU, sum, 2);
    for (int i = 0; i < depth / 4; ++i) shared.o[soft_row * output_ld + part * (depth / 4) + i] *= scale;
    __syncthreads();

    for (int j = 0; j < 2; ++j) {
      float* const at = shared.o + row * output_ld + o_column + j * fragment;
      Accumulator o;
      wmma::load_matrix_sync(o, at, output_ld, wmma::mem_row_major);
      for (int k = 0; k < tile; k += fragment) {
        FragmentA<T> a;
        FragmentB<T, wmma::row_major> b;
        wmma::load_matrix_sync(a, shared.p + row * weight_ld + k, weight_ld);
        wmma::load_matrix_sync(b, shared.v + k * operand_ld + o_column + j * fragment, operand_ld);
        wmma::mma_sync(o, a, b, o);
      }
      wmma::store_matrix_sync(at, o, output_ld, wmma::mem_row_major);
    }
  }
  __syncthreads();
  if (query >= p.queries) return;
  T* const o_row = row_of<T>(p.o, batch, head, query) + part * (depth / 4);
  for (int i = 0; i < depth / 4; ++i)
    round_to(o_row[i], shared.o[soft_row * output_ld + part * (depth / 4) + i] * softmax.inverse());
  if (part == 0) store_log_sum_exp(p, batch, head, query, softmax.log_sum_exp());
}

}  // namespace

Status launch_attention_wmma(const AttentionProblem& p, CUstream_st* stream) noexcept {
  const std::int64_t blocks = p.batch * p.heads * ceil_div(p.queries, tile);
  return p.type == Type::f16 ? launch(attention_wmma_kernel<__half>, blocks, dim3(threads), stream, p)
                             : launch(attention_wmma_kernel<__nv_bfloat16>, blocks, dim3(threads), stream, p);
}

}  // namespace tenon::reference
