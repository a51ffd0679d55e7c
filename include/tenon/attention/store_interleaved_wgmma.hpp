// Stores the output of a consumer warpgroup whose accumulators have their columns in the order of
// fragment/interleaved_order.hpp: 64 rows, scaled and rounded. A thread holds four contiguous columns of
// every 16, and a quad stores the 32 bytes of a sector. Rows beyond the last query are left out. Below:
// fragment/registers.hpp, problem.hpp.
#pragma once

#include "tenon/attention/arguments_wgmma.hpp"
#include "tenon/attention/batch_mask.hpp"
#include "tenon/fragment/interleaved_order.hpp"
#include "tenon/fragment/registers.hpp"

namespace tenon {

// By a whole warpgroup. scale: of the thread's two rows; 0 gives 0, whatever the accumulators are. query: the
// first row's; batch: where the rows of its batch begin. O is of f16 or bf16, as the arguments say.
template <class Values>
__device__ __forceinline__ void store_interleaved_output(const AttentionWgmmaArguments& p, int queries,
                                                         const Values& output, const float (&scale)[2],
                                                         int all_head, int query, BatchPlace batch) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  const HeadPosition place = head_position(p, all_head);
  const bool f16 = p.output_is_f16;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = query + at.row + 8 * half;
    if (row >= queries) continue;
    auto* const to = static_cast<std::uint16_t*>(p.o.data) + batch.batch * p.o.batch_stride +
                     place.head * p.o.head_stride + (batch.row + row) * p.o.row_stride +
                     deinterleaved_column(at.col);
    const auto value = [&](int i) { return scale[half] == 0.0F ? 0.0F : output.reg[i] * scale[half]; };
#pragma unroll
    for (int first = 0; first < Values::Layout::cols; first += 16) {
      std::uint32_t part[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        // Lane 0's columns 2 i and 2 i + 1; in all lanes they are in the same registers.
        const int row_0 = 8 * half;
        const float low = value(Values::owner(row_0, first + interleaved_row(2 * i)).element);
        const float high = value(Values::owner(row_0, first + interleaved_row(2 * i + 1)).element);
        part[i] = f16 ? pack_f16x2(low, high) : pack_bf16x2(low, high);
      }
      *reinterpret_cast<uint2*>(to + first) = make_uint2(part[0], part[1]);
    }
  }
}

}  // namespace tenon
