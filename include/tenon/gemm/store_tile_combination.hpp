// The store of C = alpha * A * B + beta * C from the warp tiles of a kernel that multiplies from registers
// (mma.sync). A C that is written alone, in whole chunks of 16 bytes, leaves from where the accumulators are.
// Any other takes the way through shared memory (StoreRows), whose code stands once for 64 columns: the reads
// of C, and rows that begin or end within a chunk, would be code for each pair of accumulators.
// Below: store_chunks.hpp, store_rows.hpp, store_wide_rows.hpp.
#pragma once

#include "tenon/gemm/store_chunks.hpp"
#include "tenon/gemm/store_rows.hpp"
#include "tenon/gemm/store_wide_rows.hpp"

namespace tenon {

// wide_rows: whether a C of f32 leaves by StoreWideRows. rows_at_a_time: see StoreRows. shared: the CTA's
// memory of the ring, which the store takes over after the mainloop: StoreRows::bytes_of_warp for each warp.
template <bool wide_rows, int rows_at_a_time>
class StoreTileCombination {
 public:
  __device__ __forceinline__ StoreTileCombination(const Output& c, const LinearCombination& op,
                                                  const void* shared)
      : c_(c), op_(op), shared_(shared) {}

  // By all threads of the CTA, with the position of each warp tile's first element in C.
  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int row, int column) const {
    if (op_.beta != 0.0F || !takes_whole_chunks(c_)) {
      StoreTileRows<CombinationRows, rows_at_a_time>(c_, {op_, c_}, shared_)(tile, row, column);
      return;
    }
    if constexpr (wide_rows) {
      if (c_.type == Type::f32) {
        StoreWideRows<Scaling>(c_, Scaling{op_.alpha}, shared_).store_chunks(tile, row, column);
        return;
      }
    }
    store_chunks(c_, op_.alpha, tile, row, column);
  }

 private:
  Output c_;
  LinearCombination op_;
  const void* shared_;
};

}  // namespace tenon
