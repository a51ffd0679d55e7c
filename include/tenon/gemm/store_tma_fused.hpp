// The store of wgmma kernels with FusedEpilogue: StoreRows, which does anything that the epilogue can ask
// for, and for the most frequent requests (is_for_tma()) a store with an operation that is known at compile
// time. It is shorter, and TMA stores D and an aux that is written, and loads a C apart from D or an aux that
// is read.
//
// Below: store_tma_over_matrix.hpp, store_rows.hpp, store_subtile.hpp.
#pragma once

#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/fused_epilogue.hpp"
#include "tenon/gemm/store_rows.hpp"
#include "tenon/gemm/store_subtile.hpp"
#include "tenon/gemm/store_tma_over_matrix.hpp"

namespace tenon {

// Two adjacent pre-activations of a row without C: alpha * accumulator + bias[column], and the next. T: the
// type of the bias, which may be null. Columns are even, and may lie beyond the last two: they get the bias
// of those, so one store serves the edges of D too.
template <class T>
struct Biased {
  float alpha;
  const T* bias;
  int last_two;

  __device__ __forceinline__ void load(float (&addends)[2], int column) const {
    std::uint32_t word = 0;
    // An offset of 32 bits: addresses of 64 would be a register more for each load, and ptxas would spill.
    const std::uint32_t offset =
        static_cast<std::uint32_t>(sizeof(T)) * static_cast<std::uint32_t>(min(column, last_two));
    if (bias != nullptr)
      word = *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const std::uint8_t*>(bias) + offset);
    Packing<T>::unpack(word, addends);
  }
  __device__ __forceinline__ void add(float (&two)[2], const float (&addends)[2]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) two[i] = fmaf(alpha, two[i], addends[i]);
  }
  __device__ __forceinline__ void operator()(float (&two)[2], int column) const {
    float addends[2];
    load(addends, column);
    add(two, addends);
  }
};

// activation(pre-activation), as store_over_matrix() takes it. elements: of aux, if the activation reads it.
template <class T, Activation activation>
struct BiasActivation {
  Biased<T> biased;
  __device__ __forceinline__ void operator()(float (&two)[2], const float (&elements)[2], int /*half*/,
                                             int column) const {
    biased(two, column);
#pragma unroll
    for (int i = 0; i < 2; ++i) two[i] = activated<activation>(two[i], elements[i], 0.0F, 0.0F);
  }
};

// activation(pre-activation + beta * element of C), likewise.
template <class T, Activation activation>
struct BiasActivationWithC {
  Biased<T> biased;
  float beta;
  __device__ __forceinline__ void operator()(float (&two)[2], const float (&elements)[2], int /*half*/,
                                             int column) const {
    biased(two, column);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      two[i] = activated<activation>(fmaf(beta, elements[i], two[i]), 0.0F, 0.0F, 0.0F);
  }
};

// Writes 8 fragments of results to a subtile, as stage_over_matrix() does, of an operation that reads no
// elements. Both rows of a fragment in turn: they share a bias.
template <class T, class Op, class Part>
__device__ __forceinline__ void stage_pairs(const Op& op, const Part& part, int j, std::uint32_t subtile,
                                            int column, unsigned lane) {
  const auto to_row = static_cast<int>(lane % 16), chunk = static_cast<int>(lane / 16);  // for stmatrix
  const int first = column + static_cast<int>(2 * (lane % 4));
#pragma unroll
  for (int x = 0; x < 8; x += 2) {
    std::uint32_t four[4];  // of fragments x and x + 1, rows g and g + 8 of each
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int fragment = j + x + i / 2;
      float two[2];
      part.pair(0, fragment, i % 2, two);
      op(two, {}, i % 2, first + 8 * fragment);
      four[i] = Packing<T>::pack(two);
    }
    ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(in_subtile(subtile, to_row, 8 * (x + chunk)), four);
  }
}

// Gated pairs: writes up to 64 columns of D, made of 16 fragments from j on, to a subtile. A lane has both
// columns of a pair, so it writes single elements; the four lanes of a row write 8 bytes, and the eight rows
// of a fragment lie on different banks.
template <class T, Activation activation, class Part>
__device__ __forceinline__ void stage_gated(const Biased<T>& biased, const Part& part, int j,
                                            std::uint32_t subtile, int column, unsigned lane) {
  const auto g = static_cast<int>(lane / 4), t = static_cast<int>(lane % 4);
#pragma unroll
  for (int x = 0; x < 16; ++x) {
    if (j + x >= Part::columns) break;
    float addends[2];
    biased.load(addends, column + 8 * (j + x) + 2 * t);
    const std::uint32_t at = in_subtile(subtile, g, 4 * x + t);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float two[2];
      part.pair(0, j + x, half, two);
      biased.add(two, addends);
      const float product[2] = {activated<activation>(two[0], 0.0F, 0.0F, 0.0F) * two[1], 0.0F};
      ptx::st_shared_b16(at + half * 8 * subtile_row_bytes,
                         static_cast<std::uint16_t>(Packing<T>::pack(product)));
    }
  }
}

// T: __half or __nv_bfloat16, the type of A, and of D, C, aux and the bias where TMA stores D. Subtiles: see
// StoreTma. parts, width: of a warp's accumulators (SubtileLoads). barriers_at: where the barriers of all
// warps are, from the start of the staging memory on. takes_all: whether the kernel takes every epilogue; if
// not, those alone that is_for_tma() names, and no StoreRows is compiled. gates: whether gated pairs, too,
// have a store of their own.
template <class T, int Subtiles, int parts, int width, int barriers_at, bool takes_all, bool gates>
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
    if (loads_matrix()) loads().initialize();
  }

  // Whether D has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < d_.m; }

  // Before the mainloop of a tile: row and column of the warp's first accumulator in D.
  __device__ __forceinline__ void begin(int row, int column) const {
    if (loads_matrix()) loads().begin(row, column);
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
    if (reads_aux(op_.activation)) {
      if (op_.activation == Activation::drelu) return derivative_by_tma<Activation::drelu>(part, row, column);
      return derivative_by_tma<Activation::dgelu>(part, row, column);
    }
    // The pre-activation leaves before D, through the same subtiles.
    if (op_.aux != nullptr)
      by_tma<Activation::none>(part, op_.matrix_map, op_.gated ? 2 * d_.n : d_.n, row, column);
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
        return by_tma<Activation::relu>(part, map_, d_.n, row, column);
      case Activation::gelu:
        return by_tma<Activation::gelu>(part, map_, d_.n, row, column);
      default:
        return by_tma<Activation::none>(part, map_, d_.n, row, column);
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
  __device__ __forceinline__ bool loads_matrix() const {
    return (op_.beta != 0.0F || reads_aux(op_.activation)) && is_for_tma();
  }

  __device__ __forceinline__ Loads loads() const {
    std::uint32_t warp = threadIdx.x / 32, staging = staging_;
    ptx::opaque(warp);  // as in StoreTma: addresses are computed here, not kept across the mainloop
    ptx::opaque(staging);
    return {op_.matrix_map, staging + warp * bytes_of_warp,
            staging + barriers_at + warp * barrier_bytes_of_warp};
  }
  // columns: of the accumulators. A gated D has half as many.
  __device__ __forceinline__ Biased<T> biased(int columns) const {
    return {op_.factor(), static_cast<const T*>(op_.bias), columns - 2};
  }

  // To the matrix of `map`, which is `columns` wide.
  template <Activation activation, class Part>
  __device__ __forceinline__ void by_tma(const Part& part, const TensorMap& map, int columns, int row,
                                         int column) const {
    static_assert(Part::columns % 8 == 0, "StoreTmaFused: a part must be a whole number of subtiles wide");
    const BiasActivation<T, activation> op{biased(columns)};
#pragma unroll
    for (int s = 0; s < Part::columns / 8; ++s) {
      std::uint32_t staging = staging_ + threadIdx.x / 32 * bytes_of_warp;
      ptx::opaque(staging);  // as in StoreTma
      auto lane = static_cast<unsigned>(lane_id());
      ptx::opaque(lane);
      const std::uint32_t subtile = staging + s % Subtiles * subtile_bytes;
      // The elected lane alone has stores to wait for. Those of a whole part end with the last subtile of the
      // warp; where it is another one, or gated pairs left before, all are waited for.
      if (s == 0 && (Part::columns % (8 * Subtiles) != 0 || (gates && op_.gated))) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Subtiles - 1>());
      }
      __syncwarp();
      stage_pairs<T>(op, part, 8 * s, subtile, column, lane);
      store_subtile(map, subtile, row, column + 64 * s);
    }
  }
  // TMA stores a whole subtile.
  __device__ __forceinline__ void store_subtile(const TensorMap& map, std::uint32_t subtile, int row,
                                                int column) const {
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // TMA reads through the other proxy
    __syncwarp();
    if (ptx::elect_sync(0xffffffffU)) {
      store_box(map, row, column, subtile);
      cuda::ptx::cp_async_bulk_commit_group();
    }
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void gated_by_tma(const Part& part, int row, int column) const {
    constexpr int fragments = 16;  // of the accumulators, for a subtile of 64 columns of D
    const Biased<T> op = biased(2 * d_.n);
#pragma unroll
    for (int j = 0; j < Part::columns; j += fragments) {
      std::uint32_t staging = staging_ + threadIdx.x / 32 * bytes_of_warp;
      ptx::opaque(staging);  // as in StoreTma
      auto lane = static_cast<unsigned>(lane_id());
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
        store_subtile(map_, subtile, row, first);
      } else {  // the boxes of the map are not narrower
        __syncwarp();
        store_subtile_vectors<2>(d_, subtile, row, first, stored, lane);
      }
    }
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void with_c_by_tma(const Part& part, int row, int column) const {
    const BiasActivationWithC<T, activation> op{biased(d_.n), op_.beta};
    store_over_matrix<T, parts, width>(
        op, part, map_, [&] { return loads(); }, row, column);
  }

  template <Activation activation, class Part>
  __device__ __forceinline__ void derivative_by_tma(const Part& part, int row, int column) const {
    const BiasActivation<T, activation> op{biased(d_.n)};
    store_over_matrix<T, parts, width>(
        op, part, map_, [&] { return loads(); }, row, column);
  }

  Output d_;
  const FusedEpilogue& op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
