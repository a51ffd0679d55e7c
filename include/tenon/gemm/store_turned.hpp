// The epilogue of kernels whose sums are the transpose of C: what a warp holds of a row of C are 16 columns.
//
// The eight warps of a tile lay lines of C, 128 columns of a row each, down in shared memory, some at a time,
// and carry each other's away while they lay down the next ones; the last ones they may leave to others. Rows
// of C begin anywhere: a lane takes 16 bytes of a line, shifted out of two neighbouring chunks of it; what is
// left at its ends, less than 16 bytes each, is stored element by element. Below: epilogue.hpp,
// drop_elements.hpp.
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
  static constexpr int bytes = 24576;  // of shared memory, from a multiple of 1024 bytes on

  // barrier: number of a named barrier for these threads.
  __device__ __forceinline__ StoreTurned(const Output& c, const Op& op, std::uint32_t staging, int barrier)
      : c_(c), op_(op), staging_(staging), barrier_(barrier) {}

  // By all 256 threads of two warpgroups, `Rows` rows of C. values: the sums, of which reg is as
  // WgmmaAccumulator::when_done() hands it out. Column x of them is line x; rows g and g + 8 of warp w are
  // columns first_column() and the next one. leave_last: the last rows are only laid down, for last_rows(),
  // if leaves_last(); they are there when all threads have returned.
  template <int Rows, class Values>
  __device__ __forceinline__ void rows(const Values& values, const LinesOfC& lines,
                                       bool leave_last = false) const {
    static_assert(Rows % 32 == 0, "StoreTurned: a tile must have a multiple of 32 rows");
    if constexpr (scales) {
      if (op_.beta == 0.0F && c_.type == Fast) return store_lines<2, Rows>(values, lines, leave_last);
      if (op_.beta == 0.0F && c_.type == Type::f32) return store_lines<4, Rows>(values, lines, leave_last);
    }
    store_any<Rows>(values, lines);
  }
  // Whether any are left of so many rows: of those that leave in lines, if they are more than the buffers
  // hold.
  template <int Rows>
  __device__ __forceinline__ bool leaves_last() const {
    if constexpr (scales)
      return op_.beta == 0.0F &&
             ((c_.type == Fast && fill_buffers<2, Rows>) || (c_.type == Type::f32 && fill_buffers<4, Rows>));
    return false;
  }
  // The rows that were left, by `warps` warps, of which this one is number `warp`.
  template <int Rows>
  __device__ __forceinline__ void last_rows(const LinesOfC& lines, int warp, int warps) const {
    if (c_.type == Type::f32) {
      if constexpr (fill_buffers<4, Rows>) carry_last<4, Rows>(lines, warp, warps);
    } else {
      if constexpr (fill_buffers<2, Rows>) carry_last<2, Rows>(lines, warp, warps);
    }
  }

 private:
  static constexpr bool scales = std::is_same_v<Op, LinearCombination>;
  // Used by turns.
  static constexpr int buffers = 3, buffer_bytes = bytes / buffers;
  template <int size>
  static constexpr int lines_of_buffer = buffer_bytes / (size * columns);
  template <int size, int Rows>
  static constexpr bool fill_buffers = Rows / lines_of_buffer<size> > buffers;

  __device__ __forceinline__ void meet() const {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier_), "n"(threads) : "memory");
  }
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32 % 8; }

  // Of rows g and g + 8 of this warp's sums: the columns of a warp are 8 apart.
  __device__ __forceinline__ static int first_column() {
    return warp() / 4 * 64 + lane_id() / 4 * 8 + warp() % 4 * 2;
  }

  // Elements by which a line is rotated in a buffer: of eight neighbours two each equally, so that the four
  // which a warp writes at once stand on different banks.
  __device__ __forceinline__ static int rotation_of(int line) { return line / 2 % 4 * 2; }
  // Address of element x of a line.
  template <int size>
  __device__ __forceinline__ static std::uint32_t address_of(std::uint32_t buffer, int line, int x) {
    return buffer + static_cast<std::uint32_t>((line * columns + (x + rotation_of(line)) % columns) * size);
  }

  // The same of elements of 4 bytes, each quarter of a line rotated alone, so that its quarters have equal
  // places on different banks.
  __device__ __forceinline__ static std::uint32_t address_in_quarters(std::uint32_t buffer, int line, int x) {
    const int quarter = x / 32, in_quarter = (x + rotation_of(line) + 8 * quarter) % 32;
    return buffer + static_cast<std::uint32_t>((line * columns + quarter * 32 + in_quarter) * 4);
  }

  // alpha * sum in C of elements of so many bytes, Fast or f32. leave_last: what fills all buffers.
  template <int size, int Rows, class Values>
  __device__ __forceinline__ void store_lines(const Values& values, const LinesOfC& to,
                                              bool leave_last) const {
    constexpr int lines = lines_of_buffer<size>, passes = Rows / lines, share = lines / 8;
    static_assert(share == 2 * (32 / lanes_of_line<size>), "StoreTurned: a lane has two lines of a buffer");
    const int first = share * warp() + lane_id() / lanes_of_line<size>;
    const Carried carried[] = {carry_from<size>(to, first), carry_from<size>(to, first + share / 2)};
    const std::int64_t step = std::int64_t{lines} * to.rows_apart * c_.ld * size;
    const auto lay_down_pass = [&](int pass) {
      if (pass < passes) lay_down<size, lines>(values, pass, staging_ + staging_offset(pass, passes));
    };
    lay_down_pass(0);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      meet();
      lay_down_pass(pass + 1);
      if (fill_buffers<size, Rows> && pass == passes - buffers && leave_last) {
        lay_down_pass(pass + 2);
        return;
      }
      const std::uint32_t buffer = staging_offset(pass, passes);
      Loaded loaded[] = {load<size>(carried[0], buffer), load<size>(carried[1], buffer)};
      const int rows = pass * lines * to.rows_apart;  // since the first pass
#pragma unroll
      for (int i = 0; i < 2; ++i) store<size>(carried[i], loaded[i], rows, pass * step);
    }
  }
  template <int size>
  static constexpr int lanes_of_line = columns / (16 / size);
  // The last passes take the buffers in their order.
  __device__ __forceinline__ static constexpr std::uint32_t staging_offset(int pass, int passes) {
    return static_cast<std::uint32_t>((pass + (buffers - 1) * passes) % buffers * buffer_bytes);
  }

  // What store_lines() left. A warp takes whole eighths of the lines, of which all begin equally.
  template <int size, int Rows>
  __device__ __forceinline__ void carry_last(const LinesOfC& to, int warp, int warps) const {
    constexpr int lines = buffers * lines_of_buffer<size>;
    constexpr int together = 32 / lanes_of_line<size>, apart = 8 * together;  // lines of a warp at a time
    static_assert(lines % (2 * apart) == 0, "StoreTurned: a warp carries two lines at a time");
    const std::int64_t step = std::int64_t{apart} * to.rows_apart * c_.ld * size;
    const LinesOfC last{to.row_of(Rows - lines), to.rows_apart, to.column};
#pragma unroll 1
    for (int eighth = warp; eighth < 8; eighth += warps) {
      Carried carried = carry_from<size>(last, eighth + 8 * (lane_id() / lanes_of_line<size>));
#pragma unroll 1
      for (int line = 0; line < lines; line += 2 * apart) {
        Loaded loaded[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) loaded[i] = load<size>(carried, i * apart * size * columns);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          store<size>(carried, loaded[i], 0, 0);
          carried.chunk += step;
          carried.end += step;
          carried.rows_for_chunk -= apart * to.rows_apart;
          carried.rows_for_end -= apart * to.rows_apart;
        }
        constexpr std::uint32_t read = 2 * apart * size * columns;
        carried.low += read;
        carried.high += read;
        carried.end_at += read;
      }
    }
  }

  // Rows g and g + 8 of the sums are two neighbours of a line.
  template <int size, int lines, class Values>
  __device__ __forceinline__ void lay_down(const Values& values, int pass, std::uint32_t buffer) const {
    const int t = lane_id() % 4;
    const std::uint32_t place = address_of<size>(buffer, 2 * t, first_column());  // 2 t + 1 rotates equally
#pragma unroll
    for (int j = 0; j < lines / 8; ++j) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int first = 4 * (pass * lines / 8 + j) + y;
        const float pair[2] = {op_.alpha * values.reg[first], op_.alpha * values.reg[first + 2]};
        const std::uint32_t to = place + (8 * j + y) * columns * size;
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
    const int head = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / size) & (elements - 1U));
    const int first = head + elements * lane, tail = head + max(width - head, 0) / elements * elements;
    const bool of_head = lane < elements;
    const int end = of_head ? lane : tail + lane - elements;
    const bool has_end = lane < 2 * elements && end < (of_head ? min(head, width) : width);
    const int moved = head + rotation_of(line);
    const auto address_of_chunk = [&](int further) {
      return staging_ + static_cast<std::uint32_t>(line * columns * size +
                                                   (moved / elements + lane + further) % chunks * 16);
    };
    return {to + first * size,
            address_of_chunk(0),
            address_of_chunk(1),
            static_cast<unsigned>(moved % elements * size / 2),
            first + elements <= width ? rows_left : 0,
            to + end * size,
            address_of<size>(staging_, line, end),
            has_end ? rows_left : 0};
  }

  // What a lane has of a line: two chunks, and an element of an end.
  struct Loaded {
    std::uint32_t word[8], end;
  };
  // Of the line that lies so many bytes behind `line`. All loads of several lines come before their stores.
  template <int size>
  __device__ __forceinline__ static Loaded load(const Carried& line, std::uint32_t offset) {
    Loaded loaded;
    load_chunk(line.low + offset, &loaded.word[0]);
    load_chunk(line.high + offset, &loaded.word[4]);
    if constexpr (size == 2) {
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(loaded.end) : "r"(line.end_at + offset) : "memory");
    } else {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(loaded.end) : "r"(line.end_at + offset) : "memory");
    }
    return loaded;
  }
  // To C, `rows` rows and `step` bytes further than `line`. Stores have a predicate each: the compiler would
  // branch around them.
  template <int size>
  __device__ __forceinline__ static void store(const Carried& line, Loaded& loaded, int rows,
                                               std::int64_t step) {
    std::uint32_t(&word)[8] = loaded.word;
    drop_elements(word, line.shift);
    asm volatile(
        "{.reg .pred inside; setp.gt.s32 inside, %5, %6; @inside st.global.v4.b32 [%0], {%1, %2, %3, "
        "%4};}" ::"l"(line.chunk + step),
        "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(line.rows_for_chunk), "r"(rows)
        : "memory");
    if constexpr (size == 2) {
      asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u16 [%0], %1;}" ::"l"(
                       line.end + step),
                   "r"(loaded.end), "r"(line.rows_for_end), "r"(rows)
                   : "memory");
    } else {
      asm volatile("{.reg .pred inside; setp.gt.s32 inside, %2, %3; @inside st.global.u32 [%0], %1;}" ::"l"(
                       line.end + step),
                   "r"(loaded.end), "r"(line.rows_for_end), "r"(rows)
                   : "memory");
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
#pragma unroll 1
    for (int pass = 0; pass < Rows / lines; ++pass) {
      const std::uint32_t buffer = staging_ + static_cast<std::uint32_t>(pass % 2 * buffer_bytes);
      const std::uint32_t place = address_in_quarters(buffer, 2 * (lane_id() % 4), first_column());
#pragma unroll
      for (int i = 0; i < Rows / lines; ++i) {
        if (i != pass) continue;  // registers have no index
#pragma unroll
        for (int j = 0; j < lines / 8; ++j) {
#pragma unroll
          for (int y = 0; y < 2; ++y) {
            const int first = 4 * (i * lines / 8 + j) + y;
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(place + (8 * j + y) * columns * 4),
                         "f"(values.reg[first]), "f"(values.reg[first + 2])
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
                               : "r"(address_in_quarters(buffer, line, column))
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
