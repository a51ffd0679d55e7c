// The splitting kernel: f32 operands of any order and alignment in, rows of parts out, at memory speed. See
// split.hpp.
//
// A CTA splits tiles of 32 rows x 64 of k, a thread 8 neighbours of a row. Where k is contiguous it reads
// them as pad_kernel.cuh does; elsewhere the tile goes through shared memory, so that reads and writes are
// both of whole lines of the L2.
#pragma once

#include "gemm/pad_kernel.cuh"
#include "gemm/split.hpp"

namespace tenon {
namespace split {

constexpr int tile_rows = 32, tile_k = 64, of_thread = 8;
constexpr int threads_across = tile_k / of_thread, block_threads = tile_rows * threads_across;

struct SplitTask {
  pad::Source source;        // its vectors are rows of k elements, or k rows of `rows` elements
  std::int64_t rows, k, ld;  // ld: of the destination, in elements
  bool k_contiguous;
  void* destination;
};
struct SplitTasks {
  SplitTask task[2];  // of A, of B
  // Of a launch that splits a part of k, or one operand.
  unsigned first_tile, first_task;
};

// 8 elements from a 4-byte aligned address. Those from `left` bytes on are zero.
__device__ __forceinline__ void load_row(float (&values)[of_thread], const pad::Source& source,
                                         std::uintptr_t address, std::int64_t left) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uintptr_t at = address + 16 * i;
    const uint4 word = pad::shift_down(pad::load(source, at), static_cast<unsigned>(at & 15U), left - 16 * i);
    values[4 * i] = __uint_as_float(word.x);
    values[4 * i + 1] = __uint_as_float(word.y);
    values[4 * i + 2] = __uint_as_float(word.z);
    values[4 * i + 3] = __uint_as_float(word.w);
  }
}

// The same of a column, by the whole CTA.
__device__ __forceinline__ void load_columns(float (&values)[of_thread], const SplitTask& task,
                                             std::int64_t row0, std::int64_t k0) {
  __shared__ float tile[tile_k][tile_rows + 1];
  const int x = static_cast<int>(threadIdx.x) % tile_rows, y = static_cast<int>(threadIdx.x) / tile_rows;
  const std::int64_t row = row0 + x;
  __syncthreads();  // the last tile has been read
#pragma unroll
  for (int i = 0; i < of_thread; ++i) {
    const int at = y + threads_across * i;
    const std::int64_t k = k0 + at;
    tile[at][x] = row < task.rows && k < task.k
                      ? __ldcs(reinterpret_cast<const float*>(
                            task.source.first + static_cast<std::uintptr_t>(k * task.source.ld + 4 * row)))
                      : 0.0F;
  }
  __syncthreads();
  const int of_row = static_cast<int>(threadIdx.x) / threads_across;
  const int first = static_cast<int>(threadIdx.x) % threads_across * of_thread;
#pragma unroll
  for (int i = 0; i < of_thread; ++i) values[i] = tile[first + i][of_row];
}

// The parts of 8 elements, in each block of the row that begins at `destination`.
template <Precision precision, bool is_b>
__device__ __forceinline__ void store_parts(const float (&values)[of_thread], unsigned char* destination,
                                            std::int64_t block_bytes) {
  constexpr int products = products_of(precision);
  Parts parts[of_thread];
#pragma unroll
  for (int i = 0; i < of_thread; ++i) parts[i] = parts_of<precision>(values[i]);
#pragma unroll
  for (int product = 0; product < products; ++product) {
    const Part part = part_of(precision, is_b, product);
    auto* const words = reinterpret_cast<uint4*>(destination + product * block_bytes);
    unsigned w[of_thread];
    if constexpr (part_type(precision) == Type::tf32) {
#pragma unroll
      for (int i = 0; i < of_thread; ++i) w[i] = __float_as_uint(select(parts[i], part));
      words[0] = make_uint4(w[0], w[1], w[2], w[3]);
      words[1] = make_uint4(w[4], w[5], w[6], w[7]);
    } else {
#pragma unroll
      for (int i = 0; i < of_thread / 2; ++i) {  // exact
        const float low = select(parts[2 * i], part), high = select(parts[2 * i + 1], part);
        w[i] = part_type(precision) == Type::f16 ? pack_f16x2(low, high) : pack_bf16x2(low, high);
      }
      words[0] = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

// By all threads of the grid: CTAs along k, CTAs down the rows (with a grid stride), operands.
template <Precision precision>
__device__ __forceinline__ void split_operand(const SplitTasks& tasks) {
  constexpr std::int64_t element = bytes(part_type(precision));
  const unsigned operand = tasks.first_task + blockIdx.z;
  const SplitTask& task = tasks.task[operand];
  const std::int64_t depth = block_depth(task.k);
  const std::int64_t tile_k0 = std::int64_t{tasks.first_tile + blockIdx.x} * tile_k;
  const std::int64_t k = tile_k0 + threadIdx.x % threads_across * of_thread;
  if (tile_k0 >= depth) return;
#pragma unroll 1
  for (std::int64_t row0 = std::int64_t{blockIdx.y} * tile_rows; row0 < task.rows;
       row0 += std::int64_t{gridDim.y} * tile_rows) {
    const std::int64_t row = row0 + threadIdx.x / threads_across;
    const bool is_there = row < task.rows && k < depth;
    float values[of_thread];
    if (!task.k_contiguous) {
      load_columns(values, task, row0, tile_k0);
    } else if (is_there) {
      load_row(values, task.source,
               task.source.first + static_cast<std::uintptr_t>(row * task.source.ld + 4 * k),
               task.source.length - 4 * k);
    }
    if (!is_there) continue;
    auto* const destination = static_cast<unsigned char*>(task.destination) + (row * task.ld + k) * element;
    if (operand == 0) {
      store_parts<precision, false>(values, destination, depth * element);
    } else {
      store_parts<precision, true>(values, destination, depth * element);
    }
  }
}

}  // namespace split
}  // namespace tenon
