// The quantisation kernels: a thread reads 8 elements of a row at a time, 16 lanes a block of 128 columns.
// Everything is read and written once, except where one scale needs more than a thread block holds: rows are
// read again from the L1 or L2 cache, a tensor from the L2 or memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {
namespace quantisation {

constexpr int threads = 256;
constexpr int lanes = 16, elements = 8;  // lanes of a group; elements of a lane
constexpr int groups = threads / lanes;  // of a thread block
static_assert(lanes * elements == 128, "a group has the columns of a block");

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

template <class T>
__device__ __forceinline__ void unpack(const uint4& word, float* values) {
  const std::uint32_t words[4] = {word.x, word.y, word.z, word.w};
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = __uint_as_float(words[i]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float two[2];
      Packing<T>::unpack(words[i], two);
      values[2 * i] = two[0], values[2 * i + 1] = two[1];
    }
  }
}

// Elements column .. + 8 of a row; zeros where there are none.
template <class T>
__device__ __forceinline__ void read(const void* matrix, std::int64_t ld, bool by_16, const Arguments& p,
                                     std::int64_t row, std::int64_t column, float (&values)[elements]) {
  const T* const from = static_cast<const T*>(matrix) + row * ld + column;
  if (by_16 && row < p.rows && column + elements <= p.columns) {
    constexpr int per_word = 16 / sizeof(T);
#pragma unroll
    for (int i = 0; i < elements / per_word; ++i)
      unpack<T>(reinterpret_cast<const uint4*>(from)[i], values + i * per_word);
  } else {
#pragma unroll
    for (int i = 0; i < elements; ++i)
      values[i] = row < p.rows && column + i < p.columns ? static_cast<float>(from[i]) : 0.0F;
  }
}

// The elements that are quantised: x, or silu(x) * up.
template <class T, bool gated>
struct Source {
  const Arguments& p;

  __device__ __forceinline__ void operator()(std::int64_t row, std::int64_t column,
                                             float (&values)[elements]) const {
    read<T>(p.x, p.ld_x, p.x_by_16, p, row, column, values);
    if constexpr (gated) {
      float up[elements];
      read<T>(p.up, p.ld_up, p.x_by_16, p, row, column, up);
#pragma unroll
      for (int i = 0; i < elements; ++i) values[i] = __fdividef(values[i], 1.0F + __expf(-values[i])) * up[i];
    }
  }
};

// Calls f(source) with the source that the arguments describe.
template <class F>
__device__ __forceinline__ void with_source(const Arguments& p, const F& f) {
  const auto of_type = [&](auto element) {
    using T = decltype(element);
    if (p.up != nullptr) {
      f(Source<T, true>{p});
    } else {
      f(Source<T, false>{p});
    }
  };
  if (p.type == Type::f32) {
    of_type(float{});
  } else if (p.type == Type::f16) {
    of_type(__half{});
  } else {
    of_type(__nv_bfloat16{});
  }
}

// fmaxf ignores a NaN.
__device__ __forceinline__ float largest_magnitude(const float (&values)[elements], float amax) {
#pragma unroll
  for (const float v : values) amax = fmaxf(amax, fabsf(v));
  return amax;
}

// Of the 2^k lanes that agree in their number / `width`.
template <int width>
__device__ __forceinline__ float of_lanes(float amax) {
#pragma unroll
  for (int other = width / 2; other > 0; other /= 2)
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffU, amax, other));
  return amax;
}

// Of the thread block.
__device__ __forceinline__ float of_block(float amax) {
  __shared__ float of_warp[threads / 32];
  amax = of_lanes<32>(amax);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = amax;
  __syncthreads();
  return of_lanes<threads / 32>(of_warp[threadIdx.x % (threads / 32)]);
}

__device__ __forceinline__ void write(const Arguments& p, std::int64_t row, std::int64_t column,
                                      const float (&values)[elements], float inverse) {
  if (row >= p.rows) return;
  std::uint32_t packed[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    packed[i] = pack_e4m3x4(values[4 * i] * inverse, values[4 * i + 1] * inverse, values[4 * i + 2] * inverse,
                            values[4 * i + 3] * inverse);
  }
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

// A tile of `steps` * `groups` rows and 128 columns, in registers.
template <int steps>
struct Tile {
  static constexpr int rows = steps * groups;
  float values[steps][elements];

  __device__ __forceinline__ std::int64_t row(int step) const { return first_row + step * groups; }
  template <class Source>
  __device__ __forceinline__ Tile(const Arguments& p, const Source& source)
      : block_down(static_cast<int>(blockIdx.x) / p.blocks_across),
        block_across(static_cast<int>(blockIdx.x) - block_down * p.blocks_across),
        first_row(std::int64_t{block_down} * rows + static_cast<int>(threadIdx.x) / lanes),
        column(std::int64_t{block_across} * (lanes * elements) +
               static_cast<int>(threadIdx.x) % lanes * elements) {
#pragma unroll
    for (int step = 0; step < steps; ++step) source(row(step), column, values[step]);
  }

  int block_down, block_across;
  std::int64_t first_row, column;  // of the thread
};

constexpr int tile_steps = 4;  // loads of a thread that are under way

template <class Source>
__device__ __forceinline__ void quantise_1x128(const Arguments& p, const Source& source) {
  const Tile<tile_steps> tile(p, source);
#pragma unroll
  for (int step = 0; step < tile_steps; ++step) {
    const float scale = scale_of(of_lanes<lanes>(largest_magnitude(tile.values[step], 0.0F)));
    const std::int64_t row = tile.row(step);
    write(p, row, tile.column, tile.values[step], 1.0F / scale);
    if (threadIdx.x % lanes == 0 && row < p.rows) p.scales[tile.block_across * p.ld_scales + row] = scale;
  }
}

template <class Source>
__device__ __forceinline__ void quantise_128x128(const Arguments& p, const Source& source) {
  constexpr int steps = 128 / groups;
  const Tile<steps> tile(p, source);
  float amax = 0.0F;
#pragma unroll
  for (const auto& values : tile.values) amax = largest_magnitude(values, amax);
  const float scale = scale_of(of_block(amax)), inverse = 1.0F / scale;
#pragma unroll
  for (int step = 0; step < steps; ++step) write(p, tile.row(step), tile.column, tile.values[step], inverse);
  if (threadIdx.x == 0) p.scales[tile.block_down * p.ld_scales + tile.block_across] = scale;
}

// One row a thread block.
template <class Source>
__device__ __forceinline__ void quantise_row(const Arguments& p, const Source& source) {
  constexpr int step = threads * elements;
  const std::int64_t row = blockIdx.x, first = static_cast<int>(threadIdx.x) * elements;
  float values[elements], amax = 0.0F;
#pragma unroll 4
  for (std::int64_t column = first; column < p.columns; column += step) {
    source(row, column, values);
    amax = largest_magnitude(values, amax);
  }
  const float scale = scale_of(of_block(amax)), inverse = 1.0F / scale;
#pragma unroll 4
  for (std::int64_t column = first; column < p.columns; column += step) {
    source(row, column, values);
    write(p, row, column, values, inverse);
  }
  if (threadIdx.x == 0) p.scales[row] = scale;
}

// The scale of a tensor, which starts at 0: the largest of the scales that its tiles would have. Rounding is
// monotonic, so that this is the scale of the largest magnitude. Tiles of zeros do not count.
template <class Source>
__device__ __forceinline__ void find_scale(const Arguments& p, const Source& source) {
  const Tile<tile_steps> tile(p, source);
  float amax = 0.0F;
#pragma unroll
  for (const auto& values : tile.values) amax = largest_magnitude(values, amax);
  amax = of_block(amax);
  // Numbers that are not negative are ordered as their bits are.
  if (threadIdx.x == 0 && amax > 0.0F)
    atomicMax(reinterpret_cast<unsigned*>(p.scales), __float_as_uint(scale_of(amax)));
}

// With the scale that find_scale() found: 0 where all elements are 0 or NaN, which becomes 1 here. A thread
// block that reads 1 already does the same as one that still reads 0.
template <class Source>
__device__ __forceinline__ void quantise_tensor(const Arguments& p, const Source& source) {
  const float found = *static_cast<const volatile float*>(p.scales);
  const Tile<tile_steps> tile(p, source);
  const float inverse = found == 0.0F ? 1.0F : 1.0F / found;
#pragma unroll
  for (int step = 0; step < tile_steps; ++step)
    write(p, tile.row(step), tile.column, tile.values[step], inverse);
  if (found == 0.0F && blockIdx.x == 0 && threadIdx.x == 0) *p.scales = 1.0F;
}

}  // namespace quantisation
}  // namespace tenon
