// The store of wgmma kernels with FusedEpilogue: StoreRows, which does anything that the epilogue can ask
// for, and for the most frequent requests (is_for_tma()) a store with an operation that is known at compile
// time. It is shorter, and TMA stores D, and loads C where that is apart.
//
// Below: store_tma_over_matrix.hpp, store_rows.hpp, store_tma.hpp.
#pragma once

#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/fused_epilogue.hpp"
#include "tenon/gemm/store_rows.hpp"
#include "tenon/gemm/store_tma.hpp"
#include "tenon/gemm/store_tma_over_matrix.hpp"

namespace tenon {

// alpha * accumulator + bias[column]. T: the type of the bias, which may be null. It may be asked for columns
// beyond the last one, which it gives the last one's bias: so one store serves the edges of D too.
template <class T>
struct Biased {
  float alpha;
  const T* bias;
  int last_column;

  __device__ __forceinline__ float operator()(float accumulator, int column) const {
    const float addend = bias == nullptr ? 0.0F : static_cast<float>(bias[min(column, last_column)]);
    return fmaf(alpha, accumulator, addend);
  }
};

// activation(alpha * accumulator + bias[column]), as an operation of StoreTma.
template <class T, Activation activation>
struct BiasActivation {
  Biased<T> biased;
  __device__ __forceinline__ float operator()(float accumulator, int /*row*/, int column) const {
    return activated<activation>(biased(accumulator, column), 0.0F, 0.0F, 0.0F);
  }
};

// activation(alpha * accumulator + bias[column] + beta * element of C), as store_over_matrix() takes it.
template <class T, Activation activation>
struct BiasActivationWithC {
  Biased<T> biased;
  float beta;
  __device__ __forceinline__ void operator()(float (&two)[2], const float (&elements)[2], int /*half*/,
                                             int column) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float sum = fmaf(beta, elements[i], biased(two[i], column + i));
      two[i] = activated<activation>(sum, 0.0F, 0.0F, 0.0F);
    }
  }
};

// Gated pairs: writes up to 64 columns of D, made of 16 fragments from j on, to a subtile. A lane has both
// columns of a pair, so it writes single elements; the four lanes of a row write 8 bytes, and the eight rows
// of a fragment lie on different banks. op(accumulator, column): the pre-activation.
template <class T, Activation activation, class Op, class Part>
__device__ __forceinline__ void stage_gated(const Op& op, const Part& part, int j, std::uint32_t subtile,
                                            int column, int lane) {
#pragma unroll
  for (int x = 0; x < 16; ++x) {
    if (j + x >= Part::columns) break;
    const int first = column + 8 * (j + x) + 2 * (lane % 4);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float two[2];
      part.pair(0, j + x, half, two);
      const float product[2] = {
          activated<activation>(op(two[0], first), 0.0F, 0.0F, 0.0F) * op(two[1], first + 1), 0.0F};
      ptx::st_shared_b16(in_subtile(subtile, lane / 4 + 8 * half, 4 * x + lane % 4),
                         static_cast<std::uint16_t>(Packing<T>::pack(product)));
    }
  }
}

// T: __half or __nv_bfloat16, the type of A, and of D, C and the bias where TMA stores D. Subtiles,
// rows_at_a_time: see StoreTma. parts, width: of a warp's accumulators (SubtileLoads). barriers_at: where the
// barriers of all warps are, from the start of the staging memory on. takes_all: whether the kernel takes
// every epilogue; if not, those alone that is_for_tma() names, and no StoreRows is compiled. gates: whether
// gated pairs, too, have a store of their own.
template <class T, int Subtiles, int rows_at_a_time, int parts, int width, int barriers_at, bool takes_all,
          bool gates>
class StoreTmaFused {
  using Loads = SubtileLoads<parts, width, subtiles_ahead(parts, width, Subtiles)>;

 public:
  static constexpr int bytes_of_warp = Subtiles * subtile_bytes;
  static constexpr int barrier_bytes_of_warp = Loads::bytes_of_warp;
  static_assert(Subtiles >= 2, "StoreTmaFused: StoreRows needs two epilogue subtiles a warp");

  // As StoreTma.
  __device__ __forceinline__ StoreTmaFused(const Output& d, const FusedEpilogue& op, const TensorMap& map,
                                           std::uint32_t staging)
      : d_(d), op_(op), map_(map), staging_(staging) {
    if (loads_c()) loads().initialize();
  }

  // Whether D has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < d_.m; }

  // Before the mainloop of a tile: row and column of the warp's first accumulator in D.
  __device__ __forceinline__ void begin(int row, int column) const {
    if (loads_c()) loads().begin(row, column);
  }

  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    if constexpr (takes_all) {
      using Rows = StoreRows<FusedEpilogue>;
      if (!is_for_tma()) {
        const unsigned before = threadIdx.x / 32 * (bytes_of_warp - Rows::bytes_of_warp);
        return Rows(d_, op_, staging_ + before)(part, row, column);
      }
    }
    if (gates && op_.gated) {
      if (op_.activation == Activation::silu) return gated_by_tma<Activation::silu>(part, row, column);
      return gated_by_tma<Activation::gelu>(part, row, column);
    }
    if (op_.beta != 0.0F) {
      if (op_.activation == Activation::relu) return with_c_by_tma<Activation::relu>(part, row, column);
      return with_c_by_tma<Activation::none>(part, row, column);
    }
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
    return !takes_all || ((gates || !op_.gated) && tenon::is_for_tma(op_, type, d_));
  }
  __device__ __forceinline__ bool loads_c() const { return op_.beta != 0.0F && is_for_tma(); }

  __device__ __forceinline__ Loads loads() const {
    std::uint32_t warp = threadIdx.x / 32, staging = staging_;
    ptx::opaque(warp);  // as in StoreTma: addresses are computed here, not kept across the mainloop
    ptx::opaque(staging);
    return {op_.c_map, staging + warp * bytes_of_warp, staging + barriers_at + warp * barrier_bytes_of_warp};
  }
  // columns: of the accumulators. A gated D has half as many.
  __device__ __forceinline__ Biased<T> biased(int columns) const {
    return {op_.factor(), static_cast<const T*>(op_.bias), columns - 1};
  }
  // D with a type that is known at compile time: one of the three stores of StoreTma is left.
  __device__ __forceinline__ Output output() const {
    Output d = d_;
    d.type = type;
    return d;
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void by_tma(const Part& part, int row, int column) const {
    using Op = InteriorOperation<BiasActivation<T, activation>>;
    const Op op{{biased(d_.n)}};
    StoreTma<Op, Subtiles, rows_at_a_time>(output(), op, map_, staging_)(part, row, column);
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void gated_by_tma(const Part& part, int row, int column) const {
    constexpr int fragments = 16;  // of the accumulators, for a subtile of 64 columns of D
    const Biased<T> op = biased(2 * d_.n);
#pragma unroll
    for (int j = 0; j < Part::columns; j += fragments) {
      std::uint32_t staging = staging_ + threadIdx.x / 32 * bytes_of_warp;
      ptx::opaque(staging);  // as in StoreTma
      int lane = lane_id();
      ptx::opaque(lane);
      const std::uint32_t subtile = staging + j / fragments % Subtiles * subtile_bytes;
      // The elected lane alone has stores to wait for. The part before may have ended with any subtile.
      if (j == 0) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Subtiles - 1>());
      }
      __syncwarp();
      stage_gated<T, activation>(op, part, j, subtile, column, lane);
      const int first = column / 2 + 4 * j, stored = 4 * min(fragments, Part::columns - j);
      if (stored == 4 * fragments) {
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // TMA reads through the other proxy
        __syncwarp();
        if (ptx::elect_sync(0xffffffffU)) {
          store_box(map_, row, first, subtile);
          cuda::ptx::cp_async_bulk_commit_group();
        }
      } else {  // the boxes of the map are not narrower
        __syncwarp();
        store_subtile_vectors<2>(output(), subtile, row, first, stored, lane);
      }
    }
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void with_c_by_tma(const Part& part, int row, int column) const {
    const BiasActivationWithC<T, activation> op{biased(d_.n), op_.beta};
    store_over_matrix<T, parts, width>(
        op, part, map_, [&] { return loads(); }, row, column);
  }

  Output d_;
  const FusedEpilogue& op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
