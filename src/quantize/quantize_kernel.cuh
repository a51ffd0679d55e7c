// The quantisation kernels: a thread reads 8 elements of a row at a time, 16 lanes a block of 128 columns.
// Everything is read and written once, except where one scale needs more than a thread block holds: the end
// of a long row is read again from the L1 or L2 cache, a tensor from the L2 or memory.
//
// Between the two passes over its elements, the first for the largest magnitude, a thread keeps them as they
// are in memory: 16-bit elements in half of the registers, so that more loads are under way.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {
namespace quantisation {

constexpr int threads = 256;                       // of a thread block
constexpr int threads_of_128x128[] = {512, 1024};  // the same for 128 x 128 elements, by Width
constexpr int lanes = 16, elements = 8;            // lanes of a group; elements of a lane
static_assert(lanes * elements == 128, "a group has the columns of a block");

// Loads of 16 bytes that a thread has under way; rows of a tile of `threads` threads.
constexpr int loads = 4;
constexpr int tile_rows(Type type, bool gated) {
  const int loads_of_a_row = (bytes(type) == 4 ? 2 : 1) * (gated ? 2 : 1);
  return threads / lanes * (loads / loads_of_a_row);
}

struct Arguments {
  const void* x;
  const void* up;  // null: none
  std::int64_t ld_x, ld_up;
  std::uint8_t* q;
  std::int64_t ld_q;
  float* scales;
  std::int64_t ld_scales;
  std::int64_t rows, columns;
  int blocks_across;     // of 128 columns: the thread blocks go along the rows first
  Type type;             // of x and up
  bool x_by_16, q_by_8;  // whether all rows of x and up begin on multiples of 16 bytes, those of q of 8
};

__device__ __forceinline__ float scale_of(float amax) {
  constexpr float largest = 448.0F, least = 0x1p-126F;
  return amax == 0.0F ? 1.0F : fmaxf(amax / largest, least);
}

// Elements column .. + 8 of a row as they are in memory; zeros where there are none.
template <class T>
struct Words {
  static constexpr int count = elements * static_cast<int>(sizeof(T)) / 4;
  std::uint32_t word[count];

  __device__ __forceinline__ void read(const void* matrix, std::int64_t ld, const Arguments& p,
                                       std::int64_t row, std::int64_t column) {
    const T* const from = static_cast<const T*>(matrix) + row * ld + column;
    if (p.x_by_16 && row < p.rows && column + elements <= p.columns) {
#pragma unroll
      for (int i = 0; i < count; i += 4) {
        const uint4 four = reinterpret_cast<const uint4*>(from)[i / 4];
        word[i] = four.x, word[i + 1] = four.y, word[i + 2] = four.z, word[i + 3] = four.w;
      }
      return;
    }
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
    constexpr int of_a_word = 4 / sizeof(T);
    const Bits* const bits = reinterpret_cast<const Bits*>(from);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      word[i] = 0;
#pragma unroll
      for (int e = 0; e < of_a_word; ++e) {
        const int at = i * of_a_word + e;
        if (row < p.rows && column + at < p.columns) word[i] |= std::uint32_t{bits[at]} << e * 16;
      }
    }
  }
  __device__ __forceinline__ void get(float (&values)[elements]) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if constexpr (sizeof(T) == 4) {
        values[i] = __uint_as_float(word[i]);
      } else {
        float two[2];
        Packing<T>::unpack(word[i], two);
        values[2 * i] = two[0], values[2 * i + 1] = two[1];
      }
    }
  }
};

// What is quantised: x, or silu(x) * up. Kept: 8 elements between the two passes.
template <class T_, bool gated_>
struct Source {
  using T = T_;
  static constexpr bool gated = gated_;
  using Kept = Words<T>;
  const Arguments& p;

  __device__ __forceinline__ Kept load(std::int64_t row, std::int64_t column) const {
    Kept kept;
    kept.read(p.x, p.ld_x, p, row, column);
    return kept;
  }
};
struct Values {
  float value[elements];
  __device__ __forceinline__ void get(float (&values)[elements]) const {
#pragma unroll
    for (int i = 0; i < elements; ++i) values[i] = value[i];
  }
};
template <class T_>
struct Source<T_, true> {
  using T = T_;
  static constexpr bool gated = true;
  using Kept = Values;
  const Arguments& p;

  __device__ __forceinline__ Kept load(std::int64_t row, std::int64_t column) const {
    Words<T> x, up;
    x.read(p.x, p.ld_x, p, row, column);
    up.read(p.up, p.ld_up, p, row, column);
    Kept kept;
    float factor[elements];
    x.get(kept.value);
    up.get(factor);
#pragma unroll
    for (int i = 0; i < elements; ++i)
      kept.value[i] = __fdividef(kept.value[i], 1.0F + __expf(-kept.value[i])) * factor[i];
    return kept;
  }
};

// What a kernel may be called with: 16-bit elements that are kept as they are, or f32 and what is computed,
// which takes twice the registers.
enum class Width { narrow, wide };

// Calls f(source) with the source that the arguments describe. The kernels overlap the grid before them with
// their start.
template <Width width, class F>
__device__ __forceinline__ void with_source(const Arguments& p, const F& f) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  if constexpr (width == Width::narrow) {
    if (p.type == Type::f16) {
      f(Source<__half, false>{p});
    } else {
      f(Source<__nv_bfloat16, false>{p});
    }
  } else if (p.up == nullptr) {
    f(Source<float, false>{p});
  } else if (p.type == Type::f32) {
    f(Source<float, true>{p});
  } else if (p.type == Type::f16) {
    f(Source<__half, true>{p});
  } else {
    f(Source<__nv_bfloat16, true>{p});
  }
}

// fmaxf ignores a NaN.
template <class Kept>
__device__ __forceinline__ float largest_magnitude(const Kept& kept, float amax) {
  float values[elements];
  kept.get(values);
#pragma unroll
  for (const float v : values) amax = fmaxf(amax, fabsf(v));
  return amax;
}

// Of the lanes that agree in their number / `width`.
template <int width>
__device__ __forceinline__ float of_lanes(float amax) {
#pragma unroll
  for (int other = width / 2; other > 0; other /= 2)
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffU, amax, other));
  return amax;
}

// Of the thread block.
template <int threads>
__device__ __forceinline__ float of_block(float amax) {
  constexpr int warps = threads / 32;
  __shared__ float of_warp[warps];
  amax = of_lanes<32>(amax);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = amax;
  __syncthreads();
  return of_lanes<warps>(of_warp[threadIdx.x % warps]);
}

template <class Kept>
__device__ __forceinline__ void write(const Arguments& p, std::int64_t row, std::int64_t column,
                                      const Kept& kept, float inverse) {
  if (row >= p.rows) return;
  float v[elements];
  kept.get(v);
  std::uint32_t packed[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    packed[i] = pack_e4m3x4(v[4 * i] * inverse, v[4 * i + 1] * inverse, v[4 * i + 2] * inverse,
                            v[4 * i + 3] * inverse);
  std::uint8_t* const to = p.q + row * p.ld_q + column;
  if (p.q_by_8 && column + elements <= p.columns) {
    *reinterpret_cast<uint2*>(to) = make_uint2(packed[0], packed[1]);
  } else {
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      if (column + i < p.columns) to[i] = static_cast<std::uint8_t>(packed[i / 4] >> i % 4 * 8);
    }
  }
}

// A tile of `rows_` rows and 128 columns, in the registers of `threads` threads.
template <class Source, int rows_, int threads>
struct Tile {
  static constexpr int rows = rows_, groups = threads / lanes, steps = rows / groups;
  static_assert(rows % groups == 0, "Tile: each group of lanes has as many rows as the others");

  __device__ __forceinline__ explicit Tile(const Source& source)
      : block_down(static_cast<int>(blockIdx.x) / source.p.blocks_across),
        block_across(static_cast<int>(blockIdx.x) - block_down * source.p.blocks_across),
        first_row(std::int64_t{block_down} * rows + static_cast<int>(threadIdx.x) / lanes),
        column(std::int64_t{block_across} * (lanes * elements) +
               static_cast<int>(threadIdx.x) % lanes * elements) {
#pragma unroll
    for (int step = 0; step < steps; ++step) kept[step] = source.load(row(step), column);
  }
  __device__ __forceinline__ std::int64_t row(int step) const {
    return first_row + step * groups;
  }
  __device__ __forceinline__ float amax() const {
    float amax = 0.0F;
#pragma unroll
    for (int step = 0; step < steps; ++step) amax = largest_magnitude(kept[step], amax);
    return amax;
  }
  __device__ __forceinline__ void write_all(const Arguments& p, float inverse) const {
#pragma unroll
    for (int step = 0; step < steps; ++step) write(p, row(step), column, kept[step], inverse);
  }

  typename Source::Kept kept[steps];
  int block_down, block_across;
  std::int64_t first_row, column;  // of the thread
};
// Of kernels that may choose the rows of a tile.
template <class Source>
using SomeRows =
    Tile<Source, tile_rows(sizeof(typename Source::T) == 4 ? Type::f32 : Type::f16, Source::gated), threads>;

template <class Source>
__device__ __forceinline__ void quantise_1x128(const Arguments& p, const Source& source) {
  const SomeRows<Source> tile(source);
#pragma unroll
  for (int step = 0; step < tile.steps; ++step) {
    const float scale = scale_of(of_lanes<lanes>(largest_magnitude(tile.kept[step], 0.0F)));
    const std::int64_t row = tile.row(step);
    write(p, row, tile.column, tile.kept[step], 1.0F / scale);
    if (threadIdx.x % lanes == 0 && row < p.rows) p.scales[tile.block_across * p.ld_scales + row] = scale;
  }
}

template <class Source>
__device__ __forceinline__ void quantise_128x128(const Arguments& p, const Source& source) {
  constexpr bool wide = Source::gated || sizeof(typename Source::T) == 4;
  constexpr int threads = threads_of_128x128[wide ? 1 : 0];
  const Tile<Source, 128, threads> tile(source);
  const float scale = scale_of(of_block<threads>(tile.amax()));
  tile.write_all(p, 1.0F / scale);
  if (threadIdx.x == 0) p.scales[tile.block_down * p.ld_scales + tile.block_across] = scale;
}

// One row a thread block. Its first elements are kept.
template <class Source>
__device__ __forceinline__ void quantise_row(const Arguments& p, const Source& source) {
  constexpr int step = threads * elements, steps = 4;
  const std::int64_t row = blockIdx.x, first = static_cast<int>(threadIdx.x) * elements;
  typename Source::Kept kept[steps];
  float amax = 0.0F;
#pragma unroll
  for (int i = 0; i < steps; ++i) kept[i] = source.load(row, first + i * step);
#pragma unroll
  for (int i = 0; i < steps; ++i) amax = largest_magnitude(kept[i], amax);
#pragma unroll 1
  for (std::int64_t column = first + steps * step; column < p.columns; column += step)
    amax = largest_magnitude(source.load(row, column), amax);
  const float scale = scale_of(of_block<threads>(amax)), inverse = 1.0F / scale;
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    if (first + i * step < p.columns) write(p, row, first + i * step, kept[i], inverse);
  }
#pragma unroll 1
  for (std::int64_t column = first + steps * step; column < p.columns; column += step)
    write(p, row, column, source.load(row, column), inverse);
  if (threadIdx.x == 0) p.scales[row] = scale;
}

// The scale of a tensor, which starts at 0: the largest of the scales that its tiles would have. Rounding is
// monotonic, so that this is the scale of the largest magnitude. Tiles of zeros do not count.
template <class Source>
__device__ __forceinline__ void find_scale(const Arguments& p, const Source& source) {
  const SomeRows<Source> tile(source);
  const float amax = of_block<threads>(tile.amax());
  // Numbers that are not negative are ordered as their bits are.
  if (threadIdx.x == 0 && amax > 0.0F)
    atomicMax(reinterpret_cast<unsigned*>(p.scales), __float_as_uint(scale_of(amax)));
}

// With the scale that find_scale() found: 0 where all elements are 0 or NaN, which becomes 1 here. A thread
// block that reads 1 already does the same as one that still reads 0.
template <class Source>
__device__ __forceinline__ void quantise_tensor(const Arguments& p, const Source& source) {
  const float found = *static_cast<const volatile float*>(p.scales);
  const SomeRows<Source> tile(source);
  tile.write_all(p, found == 0.0F ? 1.0F : 1.0F / found);
  if (found == 0.0F && blockIdx.x == 0 && threadIdx.x == 0) *p.scales = 1.0F;
}

}  // namespace quantisation
}  // namespace tenon
