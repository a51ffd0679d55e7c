// The epilogue of kernels whose sums are the transpose of C: what a warp holds of a row of C are 16 columns.
//
// The eight warps of a tile lay lines of C, 128 columns of a row each, down in shared memory, some at a time,
// and carry each other's away while they lay down the next ones. Rows of C begin anywhere: a lane takes 16
// bytes of a line, shifted out of two neighbouring chunks of it; what is left at its ends, less than 16 bytes
// each, is stored element by element. Below: epilogue.hpp, drop_elements.hpp.
#pragma once

#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/epilogue.hpp"

namespace tenon {

// Where the rows of a tile are in C: row `row` and each rows_apart further, from column `column` on, a
// multiple of 128.
struct LinesOfC {
  int row, rows_apart, column;
  __device__ __forceinline__ int row_of(int line) const { return row + line * rows_apart; }
};

// Op: see epilogue.hpp. Fast: the type of 16 bits that leaves in lines, as f32 does.
template <class Op, Type Fast>
class StoreTurned {
 public:
  static constexpr int columns = 128, threads = 256;
  static constexpr int bytes = 16384;  // of shared memory, from a multiple of 1024 bytes on

  // barrier: number of a named barrier for these threads.
  __device__ __forceinline__ StoreTurned(const Output& c, const Op& op, std::uint32_t staging, int barrier)
      : c_(c), op_(op), staging_(staging), barrier_(barrier) {}

  // By all 256 threads of two warpgroups, `Rows` rows of C. values: the sums, of which reg is as
  // WgmmaAccumulator::when_done() hands it out. Column x of them is line x; rows g and g + 8 of warp w are
  // columns 16 w + 2 g and 16 w + 2 g + 1.
  template <int Rows, class Values>
  __device__ __forceinline__ void rows(const Values& values, const LinesOfC& lines) const {
    static_assert(Rows % 32 == 0, "StoreTurned: a tile must have a multiple of 32 rows");
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      if (op_.beta == 0.0F && c_.type == Fast) return store_lines<2, Rows>(values, lines);
      if (op_.beta == 0.0F && c_.type == Type::f32) return store_lines<4, Rows>(values, lines);
    }
    store_any<Rows>(values, lines);
  }

 private:
  static constexpr int buffer_bytes = bytes / 2;  // they are used by turns

  __device__ __forceinline__ void meet() const {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier_), "n"(threads) : "memory");
  }
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32 % 8; }

  // Address of the 16-byte chunk of a line, in lines of 256 or 512 bytes: eight neighbouring lines have equal
  // chunks on different banks; so have the quarters of a line of 512.
  template <int line_bytes>
  __device__ __forceinline__ static std::uint32_t chunk_address(std::uint32_t buffer, int line, int chunk) {
    const int quarter = line_bytes == 512 ? chunk / 8 : 0;
    return buffer + static_cast<std::uint32_t>(line * line_bytes + (chunk ^ (line + 2 * quarter) % 8) * 16);
  }

  // alpha * sum in C of elements of so many bytes, Fast or f32.
  template <int size, int Rows, class Values>
  __device__ __forceinline__ void store_lines(const Values& values, const LinesOfC& to) const {
    constexpr int lines = buffer_bytes / (size * columns), passes = Rows / lines, share = lines / 8;
    static_assert(share == 2 * (32 / lanes_of_line<size>), "StoreTurned: a lane has two lines of a buffer");
    const int first = share * warp() + lane_id() / lanes_of_line<size>;
    const Carried carried[] = {carry_from<size>(to, first), carry_from<size>(to, first + share / 2)};
    const std::int64_t step = std::int64_t{lines} * to.rows_apart * c_.ld * size;
    lay_down<size, lines>(values, 0, staging_);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      meet();
      if (pass + 1 < passes) lay_down<size, lines>(values, pass + 1, staging_ + staging_offset(pass + 1));
      const int rows = pass * lines * to.rows_apart;  // since the first pass
      carry<size>(carried, staging_offset(pass), rows, pass * step);
    }
  }
  template <int size>
  static constexpr int lanes_of_line = columns / (16 / size);
  __device__ __forceinline__ static constexpr std::uint32_t staging_offset(int pass) {
    return static_cast<std::uint32_t>(pass % 2 * buffer_bytes);
  }

  // Rows g and g + 8 of the sums are two neighbours of a line.
  template <int size, int lines, class Values>
  __device__ __forceinline__ void lay_down(const Values& values, int pass, std::uint32_t buffer) const {
    const int g = lane_id() / 4, t = lane_id() % 4;
    constexpr int pairs = 8 / size;  // in a chunk
    const std::uint32_t place = static_cast<std::uint32_t>(g % pairs * 2 * size);
#pragma unroll
    for (int j = 0; j < lines / 8; ++j) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int first = 4 * (pass * lines / 8 + j) + y;
        const float pair[2] = {op_.alpha * values.reg[first], op_.alpha * values.reg[first + 2]};
        const std::uint32_t to =
            place + chunk_address<size * columns>(buffer, 8 * j + 2 * t + y, (8 * warp() + g) / pairs);
        if constexpr (size == 2) {
          asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(pack_pair(Fast, pair)) : "memory");
        } else {
          asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(pair[0]), "f"(pair[1]) : "memory");
        }
      }
    }
  }

  // What a lane does with a line of a buffer: the same for all lines that pass through it, since they lie as
  // many rows apart that they begin equally.
  struct Carried {
    // 16 bytes of C, shifted out of two chunks of the line.
    std::uint8_t* chunk;
    std::uint32_t low, high;  // their addresses, in the first buffer
    unsigned shift;           // of 16 bits each
    int rows_for_chunk;  // from the line on there are so many rows of C, or none if the chunk is not whole
    // One of the elements before the first whole chunk of C, or behind the last one.
    std::uint8_t* end;
    std::uint32_t end_at;
    int rows_for_end;
  };
  template <int size>
  __device__ __forceinline__ Carried carry_from(const LinesOfC& lines, int line) const {
    constexpr int elements = 16 / size, chunks = columns / elements;
    const int row = lines.row_of(line), rows_left = c_.m - row;
    const int width = min(columns, c_.n - lines.column), lane = lane_id() % lanes_of_line<size>;
    auto* const to = static_cast<std::uint8_t*>(c_.data) + (row * c_.ld + lines.column) * size;
    const auto address_of = [&](int chunk) { return chunk_address<size * columns>(staging_, line, chunk); };
    const int head = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / size) & (elements - 1U));
    const int first = head + elements * lane, tail = head + max(width - head, 0) / elements * elements;
    const bool of_head = lane < elements;
    const int end = of_head ? lane : tail + lane - elements;
    const bool has_end = lane < 2 * elements && end < (of_head ? min(head, width) : width);
    const int end_in_line = min(end, columns - 1);
    return {to + first * size,
            address_of(lane),
            address_of(min(lane + 1, chunks - 1)),
            static_cast<unsigned>(head * size / 2),
            first + elements <= width ? rows_left : 0,
            to + end * size,
            address_of(end_in_line / elements) + static_cast<std::uint32_t>(end_in_line % elements * size),
            has_end ? rows_left : 0};
  }

  // The lines of a buffer, `rows` rows and `step` bytes of C further than those of the first. All loads come
  // before the stores, which have a predicate each: the compiler would branch around them.
  template <int size, int count>
  __device__ __forceinline__ static void carry(const Carried (&lines)[count], std::uint32_t buffer, int rows,
                                               std::int64_t step) {
    std::uint32_t word[count][8], end[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      load_chunk(lines[i].low + buffer, &word[i][0]);
      load_chunk(lines[i].high + buffer, &word[i][4]);
      const std::uint32_t from = lines[i].end_at + buffer;
      if constexpr (size == 2) {
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(end[i]) : "r"(from) : "memory");
      } else {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(end[i]) : "r"(from) : "memory");
      }
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
      drop_elements(word[i], lines[i].shift);
      asm volatile(
          "{.reg .pred inside; setp.gt.s32 inside, %5, %6; @inside st.global.v4.b32 [%0], {%1, %2, %3, "
          "%4};}" ::"l"(lines[i].chunk + step),
          "r"(word[i][0]), "r"(word[i][1]), "r"(word[i][2]), "r"(word[i][3]), "r"(lines[i].rows_for_chunk),
          "r"(rows)
          : "memory");
      if constexpr (size == 2) {
        asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u16 [%0], %1;}" ::"l"(
                         lines[i].end + step),
                     "r"(end[i]), "r"(lines[i].rows_for_end), "r"(rows)
                     : "memory");
      } else {
        asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u32 [%0], %1;}" ::"l"(
                         lines[i].end + step),
                     "r"(end[i]), "r"(lines[i].rows_for_end), "r"(rows)
                     : "memory");
      }
    }
  }

  __device__ __forceinline__ static void load_chunk(std::uint32_t address, std::uint32_t* word) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
  }

  // What any operation makes of the sums, in C of any type: lines of f32. One piece of code for all of them.
  template <int Rows, class Values>
  __device__ __forceinline__ void store_any(const Values& values, const LinesOfC& to) const {
    constexpr int lines = buffer_bytes / (4 * columns);
    const int g = lane_id() / 4, t = lane_id() % 4;
#pragma unroll 1
    for (int pass = 0; pass < Rows / lines; ++pass) {
      const std::uint32_t buffer = staging_ + static_cast<std::uint32_t>(pass % 2 * buffer_bytes);
#pragma unroll
      for (int i = 0; i < Rows / lines; ++i) {
        if (i != pass) continue;  // registers have no index
#pragma unroll
        for (int j = 0; j < lines / 8; ++j) {
#pragma unroll
          for (int y = 0; y < 2; ++y) {
            const int first = 4 * (i * lines / 8 + j) + y;
            const std::uint32_t to =
                chunk_address<4 * columns>(buffer, 8 * j + 2 * t + y, 4 * warp() + g / 2);
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + g % 2 * 8), "f"(values.reg[first]),
                         "f"(values.reg[first + 2])
                         : "memory");
          }
        }
      }
      meet();
      const int line = 2 * warp() + lane_id() / 16, l = lane_id() % 16;
      carry_any(to.row_of(pass * lines + line), to.column + l / 4 * 32 + l % 4 * 2,
                [&](int x, float(&two)[2]) {
                  const int column = l / 4 * 32 + l % 4 * 2 + 8 * x;
                  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                               : "=f"(two[0]), "=f"(two[1])
                               : "r"(chunk_address<4 * columns>(buffer, line, column / 4) + column % 4 * 4)
                               : "memory");
                });
    }
  }

  // This lane's 8 elements of a row, two at `column` and each 8 further; load(x, two) of the sums.
  template <class Load>
  __device__ __forceinline__ void carry_any(int row, int column, const Load& load) const {
    Strip strip;
#pragma unroll
    for (int x = 0; x < 4; ++x) load(x, strip.value[x]);
    if (row >= c_.m) return;
    apply(op_, c_.type, strip, row, column);
    const std::int64_t first = row * c_.ld + column;
    const auto place = reinterpret_cast<std::uintptr_t>(c_.data) / 4 + static_cast<std::uint64_t>(first);
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int left = c_.n - column - 8 * x;  // elements of the row
      const float(&two)[2] = strip.value[x];
      if (c_.type == Type::f32) {
        float* const to = static_cast<float*>(c_.data) + first + 8 * x;
        if (left >= 2 && place % 2 == 0) {
          *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
        } else {
          if (left >= 1) to[0] = two[0];
          if (left >= 2) to[1] = two[1];
        }
      } else {
        std::uint16_t* const to = static_cast<std::uint16_t*>(c_.data) + first + 8 * x;
        const std::uint32_t word = pack_pair(c_.type, two);
        if (left >= 1) to[0] = static_cast<std::uint16_t>(word);
        if (left >= 2) to[1] = static_cast<std::uint16_t>(word >> 16);
      }
    }
  }

  Output c_;
  Op op_;
  std::uint32_t staging_;
  int barrier_;
};

}  // namespace tenon
