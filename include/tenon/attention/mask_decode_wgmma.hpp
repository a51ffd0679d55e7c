// Keys that rows of MLA decode by wgmma do not see: their scores, and their values. Below:
// work_decode_wgmma.hpp, softmax_wgmma.hpp, ptx/st_shared.hpp.
#pragma once

#include "tenon/attention/softmax_wgmma.hpp"
#include "tenon/attention/work_decode_wgmma.hpp"
#include "tenon/ptx/needs_cuda_12_5.hpp"
#include "tenon/ptx/st_shared.hpp"

#include <cuda/ptx>

namespace tenon {

// Whether the page of a tile exists, that of others is not read. key: the tile's first.
__device__ __forceinline__ bool page_exists(const AttentionDecodeArguments& a, const LatentWork& work,
                                            int key) {
  return a.lengths.pages == nullptr || place_of_key(a.lengths, work.at.batch, key).page >= 0;
}

// By a whole warpgroup: -infinity for the keys that a row does not see, and for all if they are not there.
template <class Config, class Values>
__device__ __forceinline__ void mask_scores(const AttentionDecodeArguments& a, const LatentWork& work,
                                            Values& scores, int key, bool there) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  int begin[2], end[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = a.by_group.quotient(min(work.first_row + at.row + 8 * half, work.rows - 1));
    const KeyRange seen = keys_seen_by_one(a, work.sequence, query, query);
    begin[half] = seen.begin - key - at.col;
    end[half] = there ? seen.end - key - at.col : begin[half];
  }
  for_each_in_rows<Values>([&](int i, int half, int column) {
    if (column >= end[half] || column < begin[half]) scores.reg[i] = -__int_as_float(0x7f800000);
  });
}

// By a whole warpgroup, which synchronises afterwards: zeros for the values behind the `used` first keys of
// the tile. They belong to another sequence or are undefined, and 0 * NaN is NaN.
template <class Config>
__device__ __forceinline__ void clear_unused_values(std::uint32_t tile, int used) {
  using KeyPart = typename Config::KeyPart;
  const std::uint32_t zeros[4] = {};
#pragma unroll 1
  for (int panel = 0; panel < Config::value_dimension / KeyPart::panel_columns; ++panel) {
    const std::uint32_t end = tile + (panel + 1) * KeyPart::panel_bytes;
#pragma unroll 1
    for (std::uint32_t at =
             end - (Config::key_tile - used) * KeyPart::row_bytes + threadIdx.x % 128 * chunk_bytes;
         at < end; at += 128 * chunk_bytes)
      ptx::st_shared_v4_b32(at, zeros);
  }
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
}

}  // namespace tenon
