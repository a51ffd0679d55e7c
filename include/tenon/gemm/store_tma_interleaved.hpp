// The store of kernels whose tiles hold rows of a row-interleaved (stride-8) view: row r of the view is row
// view + 8 r of C. Below: store_tma.hpp.
#pragma once

#include "tenon/gemm/store_tma.hpp"

namespace tenon {

// Calls an operation for rows of a view with their row numbers in C.
template <class Op>
struct OperationOnView {
  Op op;
  int view;
  template <class Value>
  __device__ __forceinline__ auto operator()(Value accumulator, int row, int column) const {
    return op(accumulator, view + 8 * row, column);
  }
};

// Op: see epilogue.hpp. Subtiles, rows_at_a_time: see StoreTma.
template <class Op, int Subtiles, int rows_at_a_time>
class StoreTmaInterleaved {
 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;

  __device__ __forceinline__ StoreTmaInterleaved(const Output& c, const Op& op, const TensorMap& map,
                                                 std::uint32_t staging)
      : c_(c), op_(op), map_(map), staging_(staging + threadIdx.x / 32 * bytes_of_warp) {}

  // By whole warps. row: of the warp's first accumulator in the view.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int view, int row, int column) const {
    Output c = c_;
    c.data = static_cast<std::uint8_t*>(c.data) + view * c.ld * static_cast<std::int64_t>(bytes(c.type));
    c.ld *= 8;
    c.m = (c.m - view + 7) / 8;
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      by_subtiles(c, op_)(part, row, column);
    } else {
      by_subtiles(c, OperationOnView<Op>{op_, view})(part, row, column);
    }
  }

  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  template <class Other>
  __device__ __forceinline__ StoreTma<Other, Subtiles, rows_at_a_time, false> by_subtiles(
      const Output& c, const Other& op) const {
    return {c, op, map_, staging_, 0};
  }

  Output c_;
  Op op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
