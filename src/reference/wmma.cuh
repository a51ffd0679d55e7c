// Shared by the two WMMA kernels: operands in memory, tiles loaded to shared memory with zeros beyond the
// edges, and stores of accumulators.
#pragma once

#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "reference/matrix.cuh"

namespace tenon::reference {

namespace wmma = nvcuda::wmma;

constexpr int warp_size = 32;
constexpr int fragment_size = 16;  // m, n and k of a WMMA product
// Shared rows are this many 16-bit elements (16 bytes) longer than the data in them, so that neighbouring
// rows start on different banks.
constexpr int padding = 8;

template <Order order>
using Layout = std::conditional_t<order == Order::row_major, wmma::row_major, wmma::col_major>;
template <class T, Order order>
using FragmentA =
    wmma::fragment<wmma::matrix_a, fragment_size, fragment_size, fragment_size, T, Layout<order>>;
template <class T, Order order>
using FragmentB =
    wmma::fragment<wmma::matrix_b, fragment_size, fragment_size, fragment_size, T, Layout<order>>;
using Accumulator = wmma::fragment<wmma::accumulator, fragment_size, fragment_size, fragment_size, float>;

// A matrix as stored: lines of contiguous 16-bit elements, the rows of a row-major matrix or the columns of a
// column-major one. Elements are bits here: they are moved, not computed with.
struct Lines {
  const std::uint16_t* data;
  std::int64_t ld, lines, length;
  // Whether wmma may load straight from global memory (PTX ISA, wmma.load: 32-byte aligned tiles, a stride
  // that is a multiple of 16 bytes) and load_tile() copy 8 elements at once. The stride is a 32-bit operand:
  // beyond 2^26 elements the offset of a tile's last line would reach 2^31 bytes.
  bool aligned;

  Lines(const ConstMatrix& x, std::int64_t rows, std::int64_t columns)
      : data(static_cast<const std::uint16_t*>(x.data)),
        ld(x.ld),
        lines(x.order == Order::row_major ? rows : columns),
        length(x.order == Order::row_major ? columns : rows),
        aligned(reinterpret_cast<std::uintptr_t>(x.data) % 32 == 0 && x.ld % 8 == 0 && x.ld < (1 << 26)) {}
};

// The position of (row, column) in the lines of a matrix.
struct Place {
  std::int64_t line, offset;
};
template <Order order>
__device__ Place place(std::int64_t row, std::int64_t column) {
  if (order == Order::row_major) return {row, column};
  return {column, row};
}

// size x size elements in shared memory, in padded lines; 32-byte aligned, as wmma requires.
template <int size>
struct alignas(32) SharedTile {
  static constexpr int ld = size + padding;
  std::uint16_t values[size * ld];
};

// Whether the size x size elements that start at `at` can be read without checks of edges and alignment.
template <int size>
__device__ bool is_whole(const Lines& x, Place at) {
  return x.aligned && at.line + size <= x.lines && at.offset + size <= x.length;
}

// Copies the size x size elements that start at `at` to shared memory, with zeros beyond the edges. `thread`
// of `threads` takes 8 neighbouring elements at a time: with size 64, eight threads fill a line, and all
// banks once.
template <int size, int threads>
__device__ void load_tile(SharedTile<size>& shared, const Lines& x, Place at, int thread) {
  constexpr int chunk = 8;
  constexpr int chunks = size * size / chunk / threads;  // of each thread
  const auto copy = [&](int i, auto read) {
    const int line = (i * threads + thread) / (size / chunk);
    const int offset = (i * threads + thread) % (size / chunk) * chunk;
    *reinterpret_cast<uint4*>(shared.values + line * shared.ld + offset) =
        read(at.line + line, at.offset + offset);
  };
  if (is_whole<size>(x, at)) {
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      copy(i, [&](std::int64_t line, std::int64_t offset) {
        return *reinterpret_cast<const uint4*>(x.data + line * x.ld + offset);
      });
    }
    return;
  }
  const auto element = [&](std::int64_t line, std::int64_t offset) -> unsigned {
    return line < x.lines && offset < x.length ? x.data[line * x.ld + offset] : 0U;
  };
  const auto pair = [&](std::int64_t line, std::int64_t offset) {
    return element(line, offset) | element(line, offset + 1) << 16;
  };
#pragma unroll 1
  for (int i = 0; i < chunks; ++i) {
    copy(i, [&](std::int64_t line, std::int64_t offset) {
      return make_uint4(pair(line, offset), pair(line, offset + 2), pair(line, offset + 4),
                        pair(line, offset + 6));
    });
  }
}

// A warp's scratch memory for one accumulator during its store.
constexpr int patch_ld = fragment_size + padding;
struct alignas(32) Patch {
  float values[fragment_size * patch_ld];
};

// WMMA does not say which lane holds which element of an accumulator, so the accumulator passes through
// shared memory, where every element has a known place. Called by all lanes of the warp that owns the patch.
__device__ inline void store_accumulator(const Accumulator& accumulator, Patch& patch, const Result& c,
                                         std::int64_t row, std::int64_t column, std::int64_t m,
                                         std::int64_t n) {
  const int lane = threadIdx.x % warp_size;
  wmma::store_matrix_sync(patch.values, accumulator, patch_ld, wmma::mem_row_major);
  __syncwarp();
  // 4 rows of 8 columns at a time: with lines of 24 floats these 32 elements lie on 32 banks.
  for (int part = 0; part < fragment_size * fragment_size / warp_size; ++part) {
    const int i = part / 2 * 4 + lane / 8;
    const int j = part % 2 * 8 + lane % 8;
    if (row + i < m && column + j < n) c.store(row + i, column + j, patch.values[i * patch_ld + j]);
  }
  __syncwarp();  // the patch may be written again
}

// The template arguments of a kernel as one type, because type and order are run-time values of a problem.
template <class Element, Order a, Order b>
struct Instance {
  using T = Element;
  static constexpr Order order_a = a;
  static constexpr Order order_b = b;
};

// Calls run(Instance) for the element type and orders of the problem.
template <class T, class Run>
Status with_orders(const Gemm& problem, Run run) {
  constexpr Order row = Order::row_major;
  constexpr Order column = Order::column_major;
  if (problem.a.order == row) {
    return problem.b.order == row ? run(Instance<T, row, row>{}) : run(Instance<T, row, column>{});
  }
  return problem.b.order == row ? run(Instance<T, column, row>{}) : run(Instance<T, column, column>{});
}
template <class Run>
Status with_instance(const Gemm& problem, Run run) {
  return problem.a.type == Type::f16 ? with_orders<__half>(problem, run)
                                     : with_orders<__nv_bfloat16>(problem, run);
}

}  // namespace tenon::reference
