// Stores the output of a consumer warpgroup: 64 rows of accumulators, scaled and rounded. The four threads of
// a quad hold 32 contiguous bytes of a row in 4-byte parts of 8 columns each; they exchange parts, so that
// each thread stores 16 contiguous bytes and a quad 64. Rows beyond the last query are left out. Below:
// fragment/registers.hpp, problem.hpp.
#pragma once

#include "tenon/attention/arguments_wgmma.hpp"
#include "tenon/attention/batch_mask.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// Part j of quad thread q becomes part q of quad thread j: a 4 x 4 transpose across a quad.
__device__ __forceinline__ void transpose_in_quad(std::uint32_t (&part)[4]) {
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const bool upper = (lane_id() & bit) != 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int low = bit == 1 ? 2 * i : i, high = low + bit;
      const std::uint32_t received =
          __shfl_xor_sync(0xffffffffU, upper ? part[low] : part[high], static_cast<unsigned>(bit));
      if (upper) {
        part[low] = received;
      } else {
        part[high] = received;
      }
    }
  }
}

// By a whole warpgroup. T: element type of the output. scale: of the thread's two rows; 0 gives 0, whatever
// the accumulators are. query: the first row's; place: where the rows of its batch begin.
template <class T, class Values>
__device__ __forceinline__ void store_output(const AttentionWgmmaArguments& p, int queries,
                                             const Values& output, const float (&scale)[2], int all_head,
                                             int query, BatchPlace batch) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  const HeadPosition place = head_position(p, all_head);
  const int quad_thread = lane_id() % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = query + at.row + 8 * half;
    auto* const to = static_cast<T*>(p.o.data) + batch.batch * p.o.batch_stride +
                     place.head * p.o.head_stride + (batch.row + row) * p.o.row_stride + 8 * quad_thread;
#pragma unroll
    for (int first = 0; first < Values::elements / 4; first += 4) {
      std::uint32_t part[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = 4 * (first + j) + 2 * half;
        const bool none = scale[half] == 0.0F;
        part[j] = Packing<T>::pack(
            {none ? 0.0F : output.reg[i] * scale[half], none ? 0.0F : output.reg[i + 1] * scale[half]});
      }
      transpose_in_quad(part);
      if (row < queries)
        *reinterpret_cast<uint4*>(to + 8 * first) = make_uint4(part[0], part[1], part[2], part[3]);
    }
  }
}

// By a whole warpgroup: the logarithms of the sums of exponentials, of the thread's two rows.
template <class Values>
__device__ __forceinline__ void store_log_sum_exp(const AttentionWgmmaArguments& p, int queries,
                                                  const float (&log_sum_exp)[2], int all_head, int query) {
  if (p.log_sum_exp == nullptr) return;
  const Coord at = Values::coord(Values::this_lane(), 0);
  float* const to = p.log_sum_exp + static_cast<std::int64_t>(all_head) * p.queries;
  // Opaque: nvcc would merge these branches with those of store_output() and clone its shuffles into them.
  const int column = ptx::opaque_copy(at.col);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = ptx::opaque_copy(query + at.row + 8 * half);
    if (column == 0 && row < queries) to[row] = log_sum_exp[half];
  }
}

}  // namespace tenon
