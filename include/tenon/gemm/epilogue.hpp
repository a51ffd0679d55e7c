// From accumulators to C: what happens to a warp tile when its sum over k is complete.
//
// An epilogue is any functor epilogue(warp_tile, row, column), called by whole warps with the position of the
// tile's first element in C. StoreC is the library's: it hands strips of sums to an operation and writes what
// comes back. An operation is op(strip, row, column); Elementwise turns a function of one element into one:
//
//   StoreC store{output, Elementwise{[=](float sum, int row, int column) { return fmaxf(sum + bias[column],
//   0.0f); }}};
//
// LinearCombination, alpha * sum + beta * C, is the operation of a plain GEMM. All is computed in f32 and
// rounded once. The output type is a run-time value, looked at outside of every loop over k. Below:
// warp/warp_tile.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/warp/warp_tile.hpp"

namespace tenon {

// C in device memory, row-major, m x n.
struct Output {
  void* data;
  std::int64_t ld;  // elements
  int m, n;
  Type type;
};

// What one lane holds of 32 columns of a row: value[x][y] is column 8 * x + y of the strip.
struct Strip {
  float value[4][2];
};

template <class F>
struct Elementwise {
  F f;  // float(float sum, int row, int column); called for rows and columns beyond C too

  __device__ __forceinline__ void operator()(Strip& strip, int row, int column) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) strip.value[x][y] = f(strip.value[x][y], row, column + 8 * x + y);
    }
  }
};
template <class F>
Elementwise(F) -> Elementwise<F>;

// One element of C, or two neighbours, as float.
__device__ __forceinline__ float load_element(const Output& c, int row, int column) {
  const std::int64_t at = row * c.ld + column;
  if (c.type == Type::f32) return static_cast<const float*>(c.data)[at];
  const std::uint32_t bits = static_cast<const std::uint16_t*>(c.data)[at];
  float pair[2];
  if (c.type == Type::f16) {
    Packing<__half>::unpack(bits, pair);
  } else {
    Packing<__nv_bfloat16>::unpack(bits, pair);
  }
  return pair[0];
}

// Two values rounded to a 16-bit type, the first in the low half.
template <Type type>
__device__ __forceinline__ std::uint32_t pack_pair(const float (&pair)[2]) {
  if constexpr (type == Type::f16) {
    return Packing<__half>::pack(pair);
  } else {
    return Packing<__nv_bfloat16>::pack(pair);
  }
}

// Word i of lane t (of each four) goes to lane i as its word t: a 4 x 4 transpose in two exchanges.
__device__ __forceinline__ void transpose_quad(std::uint32_t (&word)[4], int t) {
#pragma unroll
  for (int distance = 1; distance <= 2; ++distance) {
    const bool upper = (t & distance) != 0;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int low = distance == 1 ? 2 * pair : pair, high = low + distance;
      const std::uint32_t received = __shfl_xor_sync(0xffffffffU, upper ? word[low] : word[high], distance);
      word[low] = upper ? received : word[low];
      word[high] = upper ? word[high] : received;
    }
  }
}

// alpha * sum + beta * C. beta == 0 does not read C.
struct LinearCombination {
  float alpha, beta;
  Output c;

  __device__ __forceinline__ void operator()(Strip& strip, int row, int column) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) strip.value[x][y] *= alpha;
    }
    if (beta == 0.0F || row >= c.m) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        if (column + 8 * x + y < c.n) strip.value[x][y] += beta * load_element(c, row, column + 8 * x + y);
      }
    }
  }
};

template <class Op>
class StoreC {
 public:
  __device__ __forceinline__ StoreC(const Output& c, const Op& op) : c_(c), op_(op) {
    // Pairs of neighbours leave in one store if every row allows it, eight 16-bit elements likewise.
    const auto address = reinterpret_cast<std::uintptr_t>(c.data);
    pairs_aligned_ = c.ld % 2 == 0 && address % (c.type == Type::f32 ? 8 : 4) == 0;
    chunks_aligned_ = c.type != Type::f32 && c.ld % 8 == 0 && address % 16 == 0;
  }

  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int tile_row, int tile_column) const {
    // In a persistent kernel ptxas would compute the addresses of C ahead of the loop over tiles and hold
    // them in registers that the main loop needs. A leading dimension that "changes" here keeps that
    // arithmetic here.
    Output c = c_;
    asm volatile("" : "+l"(c.ld));
    // Chosen once a tile: the fast paths ask neither type nor alignment again.
    if (!chunks_aligned_) {
      store(tile, tile_row, tile_column, [&](const Strip& strip, int row, int column, int t) {
        store_pairs(c, strip, row, column + 2 * t);
      });
    } else if (c.type == Type::f16) {
      store(tile, tile_row, tile_column, [&](const Strip& strip, int row, int column, int t) {
        store_chunk<Type::f16>(c, strip, row, column, t);
      });
    } else {
      store(tile, tile_row, tile_column, [&](const Strip& strip, int row, int column, int t) {
        store_chunk<Type::bf16>(c, strip, row, column, t);
      });
    }
  }

 private:
  template <class Tile, class StoreStrip>
  __device__ __forceinline__ void store(Tile& tile, int tile_row, int tile_column,
                                        const StoreStrip& store_strip) const {
    static_assert(Tile::columns % 4 == 0, "StoreC: a warp tile must be a multiple of 32 columns wide");
    const int lane = lane_id(), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
        const int row = tile_row + 16 * i + 8 * half + g;
#pragma unroll
        for (int j = 0; j < Tile::columns; j += 4) {
          const int column = tile_column + 8 * j;
          Strip strip;
#pragma unroll
          for (int x = 0; x < 4; ++x) take(tile.c[i][j + x], half, strip.value[x]);
          op_(strip, row, column + 2 * t);
          store_strip(strip, row, column, t);
        }
      }
    }
  }

  __device__ __forceinline__ static void take(const Accumulator<m16n8k16, float>& c, int half,
                                              float (&pair)[2]) {
    pair[0] = c.reg[2 * half];
    pair[1] = c.reg[2 * half + 1];
  }
  __device__ __forceinline__ static void take(const Accumulator<m16n8k16, __half>& c, int half,
                                              float (&pair)[2]) {
    Packing<__half>::unpack(c.reg[half], pair);
  }

  // Lanes of a row trade so that each holds 8 neighbours: 16-byte stores, 64 bytes of a row a warp row.
  template <Type type>
  __device__ __forceinline__ static void store_chunk(const Output& c, const Strip& strip, int row, int column,
                                                     int t) {
    std::uint32_t word[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) word[x] = pack_pair<type>(strip.value[x]);
    transpose_quad(word, t);
    const int first = column + 8 * t;
    if (row >= c.m || first >= c.n) return;
    auto* to = static_cast<std::uint16_t*>(c.data) + (row * c.ld + first);
    if (first + 8 <= c.n) {
      *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
      return;
    }
#pragma unroll
    for (int e = 0; e < 7; ++e) {  // the eighth is outside
      if (first + e < c.n) to[e] = static_cast<std::uint16_t>(word[e / 2] >> e % 2 * 16);
    }
  }

  __device__ __forceinline__ void store_pairs(const Output& c, const Strip& strip, int row, int first) const {
    if (row >= c.m) return;
    const std::int64_t row_start = row * c.ld;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int column = first + 8 * x;
      const bool both = column + 1 < c.n;
      if (c.type == Type::f32) {
        auto* to = static_cast<float*>(c.data) + (row_start + column);
        if (both && pairs_aligned_) {
          *reinterpret_cast<float2*>(to) = make_float2(strip.value[x][0], strip.value[x][1]);
        } else {
          if (column < c.n) to[0] = strip.value[x][0];
          if (both) to[1] = strip.value[x][1];
        }
      } else {
        const std::uint32_t word = c.type == Type::f16 ? pack_pair<Type::f16>(strip.value[x])
                                                       : pack_pair<Type::bf16>(strip.value[x]);
        auto* to = static_cast<std::uint16_t*>(c.data) + (row_start + column);
        if (both && pairs_aligned_) {
          *reinterpret_cast<std::uint32_t*>(to) = word;
        } else {
          if (column < c.n) to[0] = static_cast<std::uint16_t>(word);
          if (both) to[1] = static_cast<std::uint16_t>(word >> 16);
        }
      }
    }
  }

  Output c_;
  Op op_;
  bool pairs_aligned_, chunks_aligned_;
};

}  // namespace tenon
