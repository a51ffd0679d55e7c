// The store of wgmma kernels with FusedEpilogue: StoreRows, which does anything that the epilogue can ask
// for, and for the most frequent requests, a bias with relu or gelu, the store of plain kernels with an
// operation that is known at compile time. It is shorter, and TMA stores D. Below: epilogue_subtile.hpp,
// store_rows.hpp, store_tma.hpp.
#pragma once

#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/store_rows.hpp"
#include "tenon/gemm/store_tma.hpp"

namespace tenon {

// D = activation(alpha * accumulator + bias[column]). T: the type of the bias, which may be null. It may be
// asked for columns beyond the last one, which it gives the last one's bias: so one store serves the edges of
// D too.
template <class T, Activation activation>
struct BiasActivation {
  float alpha;
  const T* bias;
  int last_column;

  __device__ __forceinline__ float operator()(float accumulator, int /*row*/, int column) const {
    const float addend = bias == nullptr ? 0.0F : static_cast<float>(bias[min(column, last_column)]);
    return activated<activation>(fmaf(alpha, accumulator, addend), 0.0F, 0.0F, 0.0F);
  }
};

// T: __half or __nv_bfloat16, the type of A, and of D and the bias where TMA stores D. Subtiles,
// rows_at_a_time: see StoreTma.
template <class T, int Subtiles, int rows_at_a_time>
class StoreTmaFused {
 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;
  static_assert(Subtiles >= 2, "StoreTmaFused: StoreRows needs two epilogue subtiles a warp");

  // As StoreTma.
  __device__ __forceinline__ StoreTmaFused(const Output& d, const FusedEpilogue& op, const TensorMap& map,
                                           std::uint32_t staging)
      : rows_(d, op, staging + threadIdx.x / 32 * (bytes_of_warp - StoreRows<FusedEpilogue>::bytes_of_warp)),
        d_(d),
        op_(op),
        map_(map),
        staging_(staging) {}

  __device__ __forceinline__ bool has_row(int row) const { return rows_.has_row(row); }

  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    if (!is_for_tma()) return rows_(part, row, column);
    switch (op_.activation) {
      case Activation::relu:
        return by_tma<Activation::relu>(part, row, column);
      case Activation::gelu:
        return by_tma<Activation::gelu>(part, row, column);
      default:
        return by_tma<Activation::none>(part, row, column);
    }
  }

  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  static constexpr Type type = TypeOf<T>::value;

  // Asked for each part: the answer comes from constant memory, and would take a register across the
  // mainloop.
  __device__ __forceinline__ bool is_for_tma() const {
    const bool is_frequent = op_.activation == Activation::none || op_.activation == Activation::relu ||
                             op_.activation == Activation::gelu;
    return is_frequent && d_.type == type && op_.is_bias_and_activation(type) && tma_can_store(d_);
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void by_tma(const Part& part, int row, int column) const {
    using Op = BiasActivation<T, activation>;
    Output d = d_;
    d.type = type;  // known at compile time: one of the three stores of StoreTma is left
    const InteriorOperation<Op> op{{op_.factor(), static_cast<const T*>(op_.bias), d.n - 1}};
    StoreTma<InteriorOperation<Op>, Subtiles, false, rows_at_a_time>(d, op, map_, staging_)(part, row,
                                                                                            column);
  }

  StoreRows<FusedEpilogue> rows_;
  Output d_;
  const FusedEpilogue& op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
