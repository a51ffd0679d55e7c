// Copies the rows of Q of a CTA of MLA decode by wgmma to shared memory by cp.async: query tokens and heads,
// at any strides. Below: work_decode_wgmma.hpp, ptx/cp_async.hpp.
#pragma once

#include "tenon/attention/work_decode_wgmma.hpp"
#include "tenon/ptx/cp_async.hpp"
#include "tenon/ptx/needs_cuda_12_5.hpp"

#include <cuda/ptx>

namespace tenon {

// By all consumer warpgroups, which synchronise afterwards. to: the first part, in the shared window. Rows
// that the sequence does not have become zeros.
template <class Config>
__device__ __forceinline__ void copy_query(const AttentionDecodeArguments& a, const LatentWork& work,
                                           std::uint32_t to) {
  using T = typename Config::T;
  using QueryPart = typename Config::QueryPart;
  constexpr int columns = QueryPart::panel_columns;  // the panel of the tail is behind those of the parts
  constexpr int chunks = Config::head_dimension / QueryPart::chunk_elements;
  const T* const from = static_cast<const T*>(a.q.data) + work.at.batch * a.q.batch_stride;
#pragma unroll 6
  for (int i = static_cast<int>(threadIdx.x); i < Config::rows * chunks; i += 128 * Config::consumers) {
    const int in_tile = i / chunks, column = i % chunks * QueryPart::chunk_elements;
    const int row = work.first_row + in_tile;
    const DecodeRow place = decode_row(a, work.at.key_head, min(row, work.rows - 1));
    ptx::cp_async_cg_shared_global_16(
        to + static_cast<std::uint32_t>(column / columns * QueryPart::panel_bytes +
                                        QueryPart::offset(in_tile, column % columns)),
        from + (work.sequence.first_query + place.query) * a.q.row_stride + place.head * a.q.head_stride +
            column,
        row < work.rows ? 16U : 0U);
  }
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
}

}  // namespace tenon
