// Stores 64 rows of a gradient, scaled and rounded, from the accumulators of a warpgroup: a thread stores 16
// contiguous bytes, as store_output() does. Below: store_wgmma.hpp.
#pragma once

#include "tenon/attention/store_wgmma.hpp"

namespace tenon {

// Where rows of a gradient lie: of a head of a batch, from row `first` and column `column` on. Rows from
// `rows` on are left out.
struct GradientPlace {
  int batch, head, first, rows, column;
};

// By whole warps. any: if not, zeros are stored, whatever the accumulators are.
template <class T, class Values>
__device__ __forceinline__ void store_gradient(const Values& sums, const AttentionTensor<void*>& tensor,
                                               const GradientPlace& place, float factor, bool any = true) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  const int quad_thread = lane_id() % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // Opaque: nvcc would clone the shuffles into the branches of the store.
    const int row = ptx::opaque_copy(place.first + at.row + 8 * half);
    T* const to = static_cast<T*>(tensor.data) + place.batch * tensor.batch_stride +
                  place.head * tensor.head_stride + row * tensor.row_stride + place.column + 8 * quad_thread;
#pragma unroll
    for (int block = 0; block < Values::elements / 4; block += 4) {
      std::uint32_t part[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = 4 * (block + j) + 2 * half;
        part[j] =
            Packing<T>::pack({any ? sums.reg[i] * factor : 0.0F, any ? sums.reg[i + 1] * factor : 0.0F});
      }
      transpose_in_quad(part);
      if (row < place.rows)
        *reinterpret_cast<uint4*>(to + 8 * block) = make_uint4(part[0], part[1], part[2], part[3]);
    }
  }
}

}  // namespace tenon
