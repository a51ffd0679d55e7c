// Stores what a consumer warpgroup of the wgmma kernel of MLA decode has: O and its log-sum-exp or, where
// there are several splits, the share of this one. Below: arguments_decode.hpp, work_decode_wgmma.hpp,
// store_wgmma.hpp.
#pragma once

#include "tenon/attention/row_softmax.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/attention/store_wgmma.hpp"
#include "tenon/attention/work_decode_wgmma.hpp"

namespace tenon {

// By a whole warpgroup. results: of the thread's two rows.
__device__ __forceinline__ void store_log2_sums(const AttentionDecodeArguments& a, const LatentWork& work,
                                                const RowResult (&results)[2]) {
  using Values = Registers<float, LayoutC<WgmmaShape<64, 16>, float>>;
  const Coord at = Values::coord(Values::this_lane(), 0);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = work.first_row + at.row + 8 * half;
    if (at.col != 0 || row >= work.rows) continue;
    const std::int64_t place = place_of(a, work.at.batch, decode_row(a, work.at.key_head, row));
    if (a.splits > 1) {
      a.split_log2_sums[place * a.splits + work.at.split] = results[half].log2_sum;
    } else if (a.log_sum_exp != nullptr) {
      a.log_sum_exp[place] = results[half].log2_sum * ln_of_2;
    }
  }
}

// The columns from `first` on.
template <class Config, class Values>
__device__ __forceinline__ void store_columns(const AttentionDecodeArguments& a, const LatentWork& work,
                                              const Values& values, const RowResult (&results)[2],
                                              int first) {
  using T = typename Config::T;
  const Coord at = Values::coord(Values::this_lane(), 0);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // Opaque: nvcc would clone the shuffles into the branches of the stores.
    const int row = ptx::opaque_copy(work.first_row + at.row + 8 * half);
    const DecodeRow place = decode_row(a, work.at.key_head, min(row, work.rows - 1));
    const float scale = results[half].scale;
    // 0 gives 0, whatever the accumulators are.
    const auto value = [&](int i) { return scale == 0.0F ? 0.0F : values.reg[i] * scale; };
    if (a.splits > 1) {
      const std::int64_t of_split = place_of(a, work.at.batch, place) * a.splits + work.at.split;
      float* const to = a.split_o + of_split * Config::value_dimension + first + at.col;
      if (row >= work.rows) continue;
#pragma unroll
      for (int n = 0; n < Values::elements / 4; ++n)
        *reinterpret_cast<float2*>(to + 8 * n) =
            make_float2(value(4 * n + 2 * half), value(4 * n + 2 * half + 1));
      continue;
    }
    T* const to = static_cast<T*>(a.o.data) + work.at.batch * a.o.batch_stride +
                  (work.sequence.first_query + place.query) * a.o.row_stride + place.head * a.o.head_stride +
                  first + 8 * (lane_id() % 4);
#pragma unroll
    for (int block = 0; block < Values::elements / 4; block += 4) {
      std::uint32_t part[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = 4 * (block + j) + 2 * half;
        part[j] = Packing<T>::pack({value(i), value(i + 1)});
      }
      transpose_in_quad(part);
      if (row < work.rows)
        *reinterpret_cast<uint4*>(to + 8 * block) = make_uint4(part[0], part[1], part[2], part[3]);
    }
  }
}

}  // namespace tenon
