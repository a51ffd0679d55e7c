// The store of wgmma kernels for operations with operands (epilogue_operands.hpp). TMA loads a matrix of 16
// bits where the plan of the launch has made a map of it (store_tma_over_matrix.hpp). Otherwise it is
// StoreTma, where each element loads what belongs to it. Below: epilogue_operands.hpp, store_tma.hpp,
// store_tma_over_matrix.hpp, wgmma_pieces.hpp.
#pragma once

#include "tenon/gemm/epilogue_operands.hpp"
#include "tenon/gemm/store_tma.hpp"
#include "tenon/gemm/store_tma_over_matrix.hpp"
#include "tenon/gemm/wgmma_pieces.hpp"

namespace tenon {

// The element type of the matrix among operands; void if there is none.
template <class Operands>
struct MatrixElement {
  using type = void;
};
template <class T, class... O>
struct MatrixElement<EpilogueOperands<MatrixOperand<T>, O...>> {
  using type = T;
};
template <class First, class... O>
struct MatrixElement<EpilogueOperands<First, O...>> : MatrixElement<EpilogueOperands<O...>> {};

// Whether kernels of a configuration can load a matrix of type T by TMA.
template <class Config, class T>
constexpr bool loads_matrix_by_tma() {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
    return std::is_same_v<typename Config::Acc, float> && !Config::swap_ab && !Config::row_interleaved &&
           Config::narrowest == Config::Block::n && Config::Cluster::k == 1 && !Config::splits_tail &&
           Config::Warp::n % 64 == 0 &&
           subtiles_ahead(Config::Warp::m / 64, Config::Warp::n / 64, Config::subtiles) > 0;
  }
  return false;
}

// LoadedOperands for elements beyond the last row or column too: they get what belongs to the last one.
template <class Op>
struct ClampedOperands {
  LoadedOperands<Op> loaded;
  int last_row, last_column;
  template <class Value>
  __device__ __forceinline__ Value operator()(Value accumulator, int row, int column) const {
    return loaded(accumulator, min(row, last_row), min(column, last_column));
  }
};

template <class Config, class Op>
class StoreTmaOperands {
  using Operands = typename LoadedOperands<Op>::Operands;
  using Values = typename LoadedOperands<Op>::Values;
  using T = typename MatrixElement<Operands>::type;
  using Budget = RegisterBudget<Config>;
  static constexpr bool by_tma = loads_matrix_by_tma<Config, T>();
  static constexpr int parts = Config::Warp::m / 64, width = Config::Warp::n / 64;
  using Loads = SubtileLoads<by_tma ? parts : 2, by_tma ? width : 1,
                             by_tma ? subtiles_ahead(parts, width, Config::subtiles) : 1>;

  // Where registers are scarce, one store for whole tiles and another one for the edges would spill them,
  // beside the store with a map.
  __device__ __forceinline__ auto elementwise() const {
    if constexpr (by_tma && Budget::scarce)
      return InteriorOperation<ClampedOperands<Op>>{{op_, c_.m - 1, c_.n - 1}};
    else
      return op_;
  }

 public:
  static constexpr int bytes_of_warp = Config::subtiles * subtile_bytes;
  static constexpr int barrier_bytes_of_warp = by_tma ? Loads::bytes_of_warp : 0;

  // As StoreTma.
  __device__ __forceinline__ StoreTmaOperands(const Output& c, const LoadedOperands<Op>& op,
                                              const TensorMap& map, std::uint32_t staging)
      : c_(c), op_(op), map_(map), staging_(staging) {
    if (uses_map()) loads().initialize();
  }

  // Whether C has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < c_.m; }

  // Before the mainloop of a tile: row and column of the warp's first accumulator in C.
  __device__ __forceinline__ void begin(int row, int column) const {
    if (uses_map()) loads().begin(row, column);
  }

  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    if constexpr (by_tma) {
      if (uses_map()) {
        const OverMatrix op(op_, row, c_);
        return store_over_matrix<T, parts, width>(
            op, part, map_, [&] { return loads(); }, row, column);
      }
    }
    StoreTma<decltype(elementwise()), Config::subtiles, Budget::rows_at_a_time>(c_, elementwise(), map_,
                                                                                staging_)(part, row, column);
  }

  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  // The operation as store_over_matrix() takes it. A lane loads what belongs to its two rows once, unless
  // registers are scarce. Columns beyond the last one get what belongs to the last one.
  class OverMatrix {
   public:
    __device__ __forceinline__ OverMatrix(const LoadedOperands<Op>& op, int row, const Output& c)
        : op_(op), row_(row + lane_id() / 4), last_row_(c.m - 1), last_column_(c.n - 1) {
      if constexpr (!Budget::scarce) {
#pragma unroll
        for (int half = 0; half < 2; ++half) load_of_row(of_row_[half], half);
      }
    }
    __device__ __forceinline__ void operator()(float (&two)[2], const float (&elements)[2], int half,
                                               int column) const {
      Values values = of_row_[half];
      if constexpr (Budget::scarce) load_of_row(values, half);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int at = min(column + i, last_column_);
        op_.for_each(values, [&](auto& value, const auto& operand) {
          using O = std::decay_t<decltype(operand)>;
          if constexpr (O::kind == OperandKind::column_vector) value = load_operand(operand, 0, at);
          if constexpr (O::kind == OperandKind::matrix) value = elements[i];
        });
        two[i] = values.call(op_.op(), two[i], row_of(half), at);
      }
    }

   private:
    __device__ __forceinline__ void load_of_row(Values& values, int half) const {
      op_.for_each(values, [&](auto& value, const auto& operand) {
        using O = std::decay_t<decltype(operand)>;
        if constexpr (O::kind == OperandKind::row_vector || O::kind == OperandKind::scalar)
          value = load_operand(operand, row_of(half), 0);
      });
    }
    __device__ __forceinline__ int row_of(int half) const {
      return min(row_ + 8 * half, last_row_);
    }

    const LoadedOperands<Op>& op_;
    int row_, last_row_, last_column_;
    Values of_row_[2];
  };

  // Asked for each part, as in StoreTmaFused.
  __device__ __forceinline__ bool uses_map() const {
    return by_tma && op_.source->matrix_has_map;
  }

  __device__ __forceinline__ Loads loads() const {
    using Pieces = WgmmaPieces<Config>;
    constexpr int barriers_at = Pieces::barriers_at - Pieces::subtiles_at + Pieces::Ring::bytes;
    std::uint32_t warp = threadIdx.x / 32, staging = staging_;
    ptx::opaque(warp);  // as in StoreTma: addresses are computed here, not kept across the mainloop
    ptx::opaque(staging);
    return {op_.source->matrix_map, staging + warp * bytes_of_warp,
            staging + barriers_at + warp * Loads::bytes_of_warp};
  }

  Output c_;
  LoadedOperands<Op> op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

// LoadedOperands as one operation among others, for stores that do not know them.
template <class Op>
struct ElementwiseOperands : LoadedOperands<Op> {
  __device__ __forceinline__ ElementwiseOperands(const LoadedOperands<Op>& op)  // NOLINT
      : LoadedOperands<Op>(op) {}
};

template <class Config, class Op, int warps>
struct StoreOf<Config, LoadedOperands<Op>, warps> {
  template <bool elementwise, class Operation>
  struct Choose {
    using type = StoreTmaOperands<Config, Operation>;
  };
  template <class Operation>
  struct Choose<true, Operation> {
    using type = typename StoreOf<Config, ElementwiseOperands<Operation>, warps>::type;
  };
  using type = typename Choose<Config::swap_ab || Config::row_interleaved, Op>::type;
};

}  // namespace tenon
