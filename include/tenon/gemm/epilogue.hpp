// From accumulators to C: what happens to a warp tile when its sum over k is complete.
//
// An epilogue is any functor epilogue(warp_tile, row, column), called by whole warps with the position of the
// tile's first element in C. StoreC is the library's: it hands strips of sums to an operation and writes what
// comes back. An operation is op(strip, row, column); Elementwise turns a function of one element into one:
//
//   StoreC store{output, Elementwise{[=](float sum, int, int column) {
//     return column < n ? fmaxf(sum + bias[column], 0.0F) : 0.0F;  // asked for columns beyond C too
//   }}};
//
// LinearCombination, alpha * sum + beta * C, is the operation of a plain GEMM. All is computed in f32 and
// rounded once. The output type is a run-time value, looked at outside of every loop over k. Below:
// output.hpp, drop_elements.hpp, warp/warp_tile.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/warp/warp_tile.hpp"

namespace tenon {

// What one lane holds of 32 columns of a row: value[x][y] is column 8 * x + y of the strip. Value: float, or
// int32_t where integers are summed.
template <class Value>
struct StripOf {
  Value value[4][2];
};
using Strip = StripOf<float>;

template <class F>
struct Elementwise {
  // float(float sum, int row, int column), of integers int32_t(int32_t sum, ...); called for rows and columns
  // beyond C too.
  F f;

  template <class Value>
  __device__ __forceinline__ void operator()(StripOf<Value>& strip, int row, int column) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) strip.value[x][y] = f(strip.value[x][y], row, column + 8 * x + y);
    }
  }
};
template <class F>
Elementwise(F) -> Elementwise<F>;

// Functions of a type take it as an argument: where the caller knows it, they are compiled for it alone.

// Element (row, column) of C as float; zero where C has none. type: that of C, f32, f16 or bf16.
__device__ __forceinline__ float load_element(const Output& c, Type type, int row, int column) {
  const bool inside = row < c.m && column < c.n;
  const std::int64_t at = row * c.ld + column;
  if (type == Type::f32) return inside ? static_cast<const float*>(c.data)[at] : 0.0F;
  const std::uint32_t bits = inside ? static_cast<const std::uint16_t*>(c.data)[at] : 0U;
  float pair[2];
  if (type == Type::f16) {
    Packing<__half>::unpack(bits, pair);
  } else {
    Packing<__nv_bfloat16>::unpack(bits, pair);
  }
  return pair[0];
}

// Two values rounded to f16 or bf16, the first in the low half.
__device__ __forceinline__ std::uint32_t pack_pair(Type type, const float (&pair)[2]) {
  return type == Type::f16 ? Packing<__half>::pack(pair) : Packing<__nv_bfloat16>::pack(pair);
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

// alpha * sum: what LinearCombination does where beta is 0.
struct Scaling {
  float alpha;

  __device__ __forceinline__ void operator()(Strip& strip, int, int) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) strip.value[x][y] *= alpha;
    }
  }
};

// alpha * sum + beta * C. beta == 0 does not read C.
struct LinearCombination {
  float alpha, beta;
  Output c;

  __device__ __forceinline__ void operator()(Strip& strip, int row, int column) const {
    combine(c.type, strip, row, column);
  }

  // The same by who knows the type of C, or some of it.
  __device__ __forceinline__ void combine(Type type, Strip& strip, int row, int column) const {
    Scaling{alpha}(strip, row, column);
    if (beta == 0.0F) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) strip.value[x][y] += beta * load_element(c, type, row, column + 8 * x + y);
    }
  }

  // Of kernels whose sums are the transpose of C: value[x][y] is row 8 * x + y of a column.
  __device__ __forceinline__ void combine_turned(Type type, Strip& strip, int row, int column) const {
    Scaling{alpha}(strip, row, column);
    if (beta == 0.0F) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        strip.value[x][y] += beta * load_element(c, type, row, column);
        row += y == 0 ? 1 : 7;
        asm volatile("" : "+r"(row), "+r"(column));  // an address at a time: registers are few
      }
    }
  }

  // Of integers, for which alpha and beta are whole numbers of at most 31 bits: modulo 2^32. C is s32.
  __device__ __forceinline__ void combine(Type, StripOf<std::int32_t>& strip, int row, int column) const {
    const auto element = [&](int at) {
      return row < c.m && at < c.n ? static_cast<const std::int32_t*>(c.data)[row * c.ld + at] : 0;
    };
    const auto times = [](float factor, std::int32_t x) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(factor)) * static_cast<std::uint32_t>(x);
    };
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        std::uint32_t sum = times(alpha, strip.value[x][y]);
        if (beta != 0.0F) sum += times(beta, element(column + 8 * x + y));
        strip.value[x][y] = static_cast<std::int32_t>(sum);
      }
    }
  }
};

// LinearCombination with factors of A and B that stand in device memory; null stands for 1.
struct ScaledCombination {
  LinearCombination plain;
  const float* scale_a;
  const float* scale_b;
};

// An operation as it is applied, when what ran before on the stream has ended: it may have written what the
// operation reads.
template <class Op>
__device__ __forceinline__ const Op& loaded(const Op& op) {
  return op;
}
__device__ __forceinline__ LinearCombination loaded(const ScaledCombination& op) {
  LinearCombination combination = op.plain;
  if (op.scale_a != nullptr) combination.alpha *= *op.scale_a;
  if (op.scale_b != nullptr) combination.alpha *= *op.scale_b;
  return combination;
}

// op(strip, row, column), where C is of `type`: an operation that reads C need not look it up again.
template <class Op, class Value>
__device__ __forceinline__ void apply(const Op& op, Type type, StripOf<Value>& strip, int row, int column) {
  if constexpr (std::is_same_v<Op, LinearCombination>) {
    op.combine(type, strip, row, column);
  } else {
    op(strip, row, column);
  }
}

// A lane's strip, sums, in C of any type, whose rows may begin anywhere: two elements of `row` at `column`,
// which is even, and two each 8 further.
template <class Op>
__device__ __forceinline__ void store_strip(const Output& c, const Op& op, Strip& strip, int row,
                                            int column) {
  if (row >= c.m) return;
  apply(op, c.type, strip, row, column);
  const std::int64_t first = row * c.ld + column;
  const auto place = reinterpret_cast<std::uintptr_t>(c.data) / 4 + static_cast<std::uint64_t>(first);
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const int left = c.n - column - 8 * x;  // elements of the row
    const float(&two)[2] = strip.value[x];
    if (c.type == Type::f32) {
      float* const to = static_cast<float*>(c.data) + first + 8 * x;
      if (left >= 2 && place % 2 == 0) {
        *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
      } else {
        if (left >= 1) to[0] = two[0];
        if (left >= 2) to[1] = two[1];
      }
    } else {
      std::uint16_t* const to = static_cast<std::uint16_t*>(c.data) + first + 8 * x;
      const std::uint32_t word = pack_pair(c.type, two);
      if (left >= 1) to[0] = static_cast<std::uint16_t>(word);
      if (left >= 2) to[1] = static_cast<std::uint16_t>(word >> 16);
    }
  }
}

template <class Op>
class StoreC {
 public:
  __device__ __forceinline__ StoreC(const Output& c, const Op& op) : c_(c), op_(op) {
    // Two f32 leave in one store if every row allows it, eight 16-bit elements likewise.
    const auto address = reinterpret_cast<std::uintptr_t>(c.data);
    pairs_aligned_ = c.ld % 2 == 0 && address % 8 == 0;
    chunks_aligned_ = c.ld % 8 == 0 && address % 16 == 0;
  }

  template <class Tile>
  __device__ __forceinline__ void operator()(Tile& tile, int tile_row, int tile_column) const {
    // In a persistent kernel ptxas would compute the addresses of C ahead of the loop over tiles and hold
    // them in registers that the main loop needs. A leading dimension that "changes" here keeps that
    // arithmetic here.
    Output c = c_;
    asm volatile("" : "+l"(c.ld));
    // Chosen once a tile. The 16-bit types share their code: what differs is how a pair is rounded.
    const Type narrow = c.type == Type::f16 ? Type::f16 : Type::bf16;
    if (c.type == Type::f32) {
      store(Type::f32, tile, tile_row, tile_column, [&](const Strip& strip, int row, int column, int t) {
        store_pairs(c, strip, row, column + 2 * t);
      });
    } else if (chunks_aligned_) {
      store(narrow, tile, tile_row, tile_column, [&](const Strip& strip, int row, int column, int t) {
        store_chunk(c, narrow, strip, row, column, t);
      });
    } else {
      store_shifted(c, narrow, tile, tile_row, tile_column);
    }
  }

 private:
  // Calls visit(i, half, row) for each row of the tile of which this lane holds a part.
  template <class Tile, class Visit>
  __device__ __forceinline__ static void for_each_row(int tile_row, const Visit& visit) {
    static_assert(Tile::columns % 4 == 0, "StoreC: a warp tile must be a multiple of 32 columns wide");
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows g and g + 8 of a fragment
        visit(i, half, tile_row + 16 * i + 8 * half + lane_id() / 4);
      }
    }
  }

  // The sums of columns 8 * j to 8 * j + 31 of a row of the tile.
  template <class Tile>
  __device__ __forceinline__ static Strip strip_of(const Tile& tile, int i, int half, int j) {
    Strip strip;
#pragma unroll
    for (int x = 0; x < 4; ++x) tile.pair(i, j + x, half, strip.value[x]);
    return strip;
  }

  template <class Tile, class StoreStrip>
  __device__ __forceinline__ void store(Type type, Tile& tile, int tile_row, int tile_column,
                                        const StoreStrip& store_strip) const {
    for_each_row<Tile>(tile_row, [&](int i, int half, int row) {
#pragma unroll
      for (int j = 0; j < Tile::columns; j += 4) {
        const int column = tile_column + 8 * j;
        Strip strip = strip_of(tile, i, half, j);
        apply(op_, type, strip, row, column + 2 * (lane_id() % 4));
        store_strip(strip, row, column, lane_id() % 4);
      }
    });
  }

  // Lanes of a row trade so that each holds 8 neighbours: 16-byte stores, 64 bytes of a row a warp row.
  __device__ __forceinline__ static void store_chunk(const Output& c, Type type, const Strip& strip, int row,
                                                     int column, int t) {
    std::uint32_t word[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) word[x] = pack_pair(type, strip.value[x]);
    transpose_quad(word, t);
    const int first = column + 8 * t;
    if (row >= c.m || first >= c.n) return;
    store_elements(static_cast<std::uint16_t*>(c.data) + (row * c.ld + first), word, 0, min(8, c.n - first));
  }

  // 16-bit elements in rows that do not begin at a multiple of 16 bytes. The elements of a row are shifted
  // between the lanes that hold it until they lie as memory does, so that all but the ends of the row leave
  // in 16-byte stores.
  template <class Tile>
  __device__ __forceinline__ void store_shifted(const Output& c, Type type, Tile& tile, int tile_row,
                                                int tile_column) const {
    constexpr int strips = Tile::columns / 4;
    const int t = lane_id() % 4;
    for_each_row<Tile>(tile_row, [&](int i, int half, int row) {
      std::uint32_t word[strips][4];  // 8 neighbours, from column 8 * t of each strip
#pragma unroll
      for (int s = 0; s < strips; ++s) {
        Strip strip = strip_of(tile, i, half, 4 * s);
        apply(op_, type, strip, row, tile_column + 32 * s + 2 * t);
#pragma unroll
        for (int x = 0; x < 4; ++x) word[s][x] = pack_pair(type, strip.value[x]);
        transpose_quad(word[s], t);
      }
      auto* const to = static_cast<std::uint16_t*>(c.data) + (row * c.ld + tile_column + 8 * t);
      const int left = row < c.m ? c.n - tile_column - 8 * t : 0;  // elements of C from `to` on
      const int shift = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / 2) & 7U);
#pragma unroll
      for (int s = 0; s < strips; ++s) {
        std::uint32_t run[8];  // 16 neighbours: this lane's and the next one's, which for lane 3 is lane 0
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          run[x] = word[s][x];
          const std::uint32_t wanted = s + 1 < strips && t == 0 ? word[(s + 1) % strips][x] : word[s][x];
          run[4 + x] = __shfl_sync(0xffffffffU, wanted, t + 1, 4);
        }
        if (t < 3 || s + 1 < strips) {
          drop_elements(run, static_cast<unsigned>(shift));
          store_elements(to + 32 * s + shift, run, 0, min(8, left - 32 * s - shift));
        }
      }
      // What lies before the first lane's boundary and behind the last one's.
      std::uint32_t end[4];
#pragma unroll
      for (int x = 0; x < 4; ++x) end[x] = t == 0 ? word[0][x] : word[strips - 1][x];
      if (t == 0) store_elements(to, end, 0, min(shift, left));
      if (t == 3) store_elements(to + 32 * (strips - 1), end, shift, min(8, left - 32 * (strips - 1)));
    });
  }

  // Elements first to last - 1 of the 8 in `word`; all 8 of them only at a multiple of 16 bytes.
  template <int N>
  __device__ __forceinline__ static void store_elements(std::uint16_t* to, const std::uint32_t (&word)[N],
                                                        int first, int last) {
    if (first == 0 && last == 8) {
      *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
      return;
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (e >= first && e < last) to[e] = static_cast<std::uint16_t>(word[e / 2] >> e % 2 * 16);
    }
  }

  __device__ __forceinline__ void store_pairs(const Output& c, const Strip& strip, int row, int first) const {
    if (row >= c.m) return;
    auto* const row_start = static_cast<float*>(c.data) + row * c.ld;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int column = first + 8 * x;
      const bool both = column + 1 < c.n;
      if (both && pairs_aligned_) {
        *reinterpret_cast<float2*>(row_start + column) = make_float2(strip.value[x][0], strip.value[x][1]);
      } else {
        if (column < c.n) row_start[column] = strip.value[x][0];
        if (both) row_start[column + 1] = strip.value[x][1];
      }
    }
  }

  Output c_;
  Op op_;
  bool pairs_aligned_, chunks_aligned_;
};

}  // namespace tenon
