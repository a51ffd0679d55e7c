// The padding copy: element-aligned rows in, 16-byte-aligned rows out, at memory speed. See pad.hpp.
//
// A thread writes 16 bytes. Their source starts at any byte, so the thread loads the two aligned 16-byte
// words that hold it and shifts them into place (whole 4-byte words by selects, the rest by funnel shifts).
// The shift is the same along a row. Neighbouring threads share a word, which the L1 cache serves: memory
// sees each byte once.
#pragma once

#include <cuda_runtime.h>

#include "gemm/pad.hpp"
#include "tenon/ptx/prefetch.hpp"

namespace tenon {
namespace pad {

constexpr int block_threads = 256;
// Blocks down the rows; each walks on by as many. A multiprocessor runs six or eight at a time: 1024 fill any
// GPU.
constexpr std::int64_t most_blocks_down = 1024;

struct Source {
  std::uintptr_t first, last;     // the matrix holds the bytes [first, last)
  std::int64_t rows, length, ld;  // the last two in bytes
};

struct PadTask {
  Source source;
  uint4* destination;
  std::int64_t vectors;  // 16-byte words of a destination row
};

// One launch for both operands: the end of one copy overlaps the beginning of the other. first_block: along a
// row, of a launch that makes a part of each row.
struct PadTasks {
  PadTask task[most_pad_copies];
  unsigned first_block;
};

// The 16 source bytes of one store, before shifting: words[0..3] from the aligned address below them, [4..7]
// above.
struct Words {
  unsigned w[8];
};

__device__ __forceinline__ void load_aligned(unsigned (&w)[8], int at, std::uintptr_t address) {
  // Read once: the copies, which are read next, shall stay in the L2 rather than this.
  const uint4 v = __ldcs(reinterpret_cast<const uint4*>(address));
  w[at] = v.x, w[at + 1] = v.y, w[at + 2] = v.z, w[at + 3] = v.w;
}

// Byte by byte, for the first and last bytes of the matrix, around which nothing may be read. They land where
// the aligned loads would have put them.
__device__ __forceinline__ void load_careful(unsigned (&w)[8], const Source& source, std::uintptr_t base) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const std::uintptr_t address = base + static_cast<unsigned>(i);
    unsigned byte = 0;
    if (address >= source.first && address < source.last)
      byte = __ldg(reinterpret_cast<const unsigned char*>(address));
    w[i / 4] = i % 4 == 0 ? byte : w[i / 4] | byte << i % 4 * 8;
  }
}

__device__ __forceinline__ Words load(const Source& source, std::uintptr_t address) {
  Words words;
  const std::uintptr_t base = address & ~std::uintptr_t{15};
  const bool aligned = base == address;
  if (base >= source.first && base + (aligned ? 16 : 32) <= source.last) {
    load_aligned(words.w, 0, base);
    if (aligned) {
      words.w[4] = words.w[5] = words.w[6] = words.w[7] = 0;
    } else {
      load_aligned(words.w, 4, base + 16);
    }
  } else {
    load_careful(words.w, source, base);
  }
  return words;
}

// words shifted down by `shift` bytes (below 16), and cut to `left` bytes (the rest zero).
__device__ __forceinline__ uint4 shift_down(const Words& words, unsigned shift, std::int64_t left) {
  unsigned a[7], b[5], out[4];
#pragma unroll
  for (int i = 0; i < 7; ++i) a[i] = (shift & 8) != 0 && i < 6 ? words.w[i + 2] : words.w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) b[i] = (shift & 4) != 0 ? a[i + 1] : a[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[i] = __funnelshift_r(b[i], b[i + 1], 8 * (shift & 3));
    if (left < 4 * i + 4) out[i] = left > 4 * i ? out[i] & ((1U << 8 * (left - 4 * i)) - 1) : 0U;
  }
  return make_uint4(out[0], out[1], out[2], out[3]);
}

__device__ __forceinline__ std::int64_t first_vector(const PadTasks& tasks) {
  return std::int64_t{tasks.first_block + blockIdx.x} * blockDim.x + threadIdx.x;
}

// A thread's part of its first row, fetched into the L2 while the kernel before this one ends: should that
// one write it, it does so there. PTX ISA, "prefetch".
__device__ __forceinline__ void prefetch_rows(const PadTasks& tasks) {
  const PadTask& copy = tasks.task[blockIdx.z];
  const std::int64_t vector = first_vector(tasks);
  const std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (vector >= copy.vectors || row >= copy.source.rows) return;
  const std::uintptr_t address =
      copy.source.first + static_cast<std::uintptr_t>(row * copy.source.ld + 16 * vector);
  if (address < copy.source.last) ptx::prefetch_global_L2(reinterpret_cast<const void*>(address));
}

// By all threads of the grid: CTAs along a row, CTAs down the rows, copies.
__device__ __forceinline__ void copy_rows(const PadTasks& tasks) {
  const PadTask& copy = tasks.task[blockIdx.z];
  const Source& source = copy.source;
  const std::int64_t vector = first_vector(tasks);
  if (vector >= copy.vectors) return;
  const std::int64_t row_step = std::int64_t{gridDim.y} * blockDim.y;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
#pragma unroll 1
  for (std::int64_t row = first_row; row < source.rows; row += row_step) {
    const std::uintptr_t address = source.first + static_cast<std::uintptr_t>(row * source.ld + 16 * vector);
    copy.destination[row * copy.vectors + vector] =
        shift_down(load(source, address), static_cast<unsigned>(address & 15U), source.length - 16 * vector);
  }
}

}  // namespace pad
}  // namespace tenon
