// How the values come from memory to P V in the wgmma kernel of attention: the tile that TMA loads, and the B
// operand that the consumers read. Below: shared/tile.hpp, warp/interleaved_operand.hpp,
// warp/wgmma_accumulator.hpp.
#pragma once

#include "tenon/shared/tile.hpp"
#include "tenon/warp/interleaved_operand.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// In shared memory a row has 32 or 64 bytes, or whole multiples of 128, which TMA fills up with zeros.
template <class T>
constexpr int padded_row(int dimension) {
  const int row_bytes = dimension * Element<T>::bits / 8;
  const int padded = row_bytes <= 32 ? 32 : row_bytes <= 64 ? 64 : (row_bytes + 127) / 128 * 128;
  return padded * 8 / Element<T>::bits;
}

// Value: dimension of a row of V; Keys: rows of a tile. Of 16 bits: wgmma reads B with n contiguous, so
// operand and loaded tile are the same, and P is A as its accumulators lie.
template <class T, int Value, int Keys>
struct AttentionValueTiles {
  static constexpr bool transposed = false;
  using Loaded = OperandTile<T, padded_row<T>(Value), Keys, false>;
  using Operand = Loaded;
  using P = FragmentA<WgmmaShape<Value, 16>, T>;

  // P of instruction `step` of a tile.
  template <class Scores>
  __device__ __forceinline__ static P probabilities(const Scores& p, int step) {
    return as_a<T, Value>(p, step);
  }
};

// Of 8 bits: B has k contiguous. A row has 128 bytes where the keys allow it.
template <int Value, int Keys>
struct TransposedValueTile : SharedTile<e4m3, Value, Keys,
                                        Keys % 128 == 0  ? 128
                                        : Keys % 64 == 0 ? 64
                                                         : 32> {
  static constexpr int extent = Value, depth = Keys;
  static constexpr bool k_major = true;
};

// The loaded tile is transposed into the operand (transposer_wgmma.hpp), whose keys and columns are in the
// orders of fragment/interleaved_order.hpp, as P and O are.
template <int Value, int Keys>
struct AttentionValueTiles<e4m3, Value, Keys> {
  static_assert(Keys % 32 == 0,
                "AttentionConfig: the keys of a tile of e4m3 must be a multiple of 32, the k of a wgmma");
  static constexpr bool transposed = true;
  using Loaded = SharedTile<e4m3, Keys, padded_row<e4m3>(Value)>;
  using Operand = TransposedValueTile<Value, Keys>;
  using P = FragmentA<WgmmaShape<Value, 32>, e4m3>;

  template <class Scores>
  __device__ __forceinline__ static P probabilities(const Scores& p, int step) {
    return as_interleaved_a<e4m3, Value>(p, step);
  }
};

}  // namespace tenon
