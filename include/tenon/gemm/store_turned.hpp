// The epilogue of kernels whose sums are the transpose of C: what a warp holds of a row of C are 16 columns.
//
// The eight warps of a tile lay lines of C, 128 columns of a row each, down in shared memory, some at a time,
// and carry each other's away while they lay down the next ones (LineCarrier: rows of C begin anywhere); the
// last ones they may leave to others. Below: epilogue.hpp, line_carrier.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/line_carrier.hpp"

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
  // if leaves_last(); they are there when all threads have returned. ready(part): called by all threads
  // before they read the sums of a part, 0 first.
  template <int Rows, class Values, class Ready>
  __device__ __forceinline__ void rows(const Values& values, const LinesOfC& lines, bool leave_last,
                                       const Ready& ready) const {
    static_assert(Rows % 32 == 0, "StoreTurned: a tile must have a multiple of 32 rows");
    if constexpr (scales) {
      if (op_.beta == 0.0F && c_.type == Fast) return store_lines<2, Rows>(values, lines, leave_last, ready);
      if (op_.beta == 0.0F && c_.type == Type::f32)
        return store_lines<4, Rows>(values, lines, leave_last, ready);
    }
    store_any<Rows>(values, lines, ready);
  }
  // Number i, 0 to 15, of the registers that are a part of sums: those of 32 lines.
  template <int Rows>
  __device__ __forceinline__ static constexpr int register_of(int part, int i) {
    return 16 * part + i;
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
  static constexpr int part_lines = 32;
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
  template <int size, int Rows, class Values, class Ready>
  __device__ __forceinline__ void store_lines(const Values& values, const LinesOfC& to, bool leave_last,
                                              const Ready& ready) const {
    constexpr int lines = lines_of_buffer<size>, passes = Rows / lines, share = lines / 8;
    static_assert(share == 2 * (32 / Carrier<size>::lanes), "StoreTurned: a lane has two lines of a buffer");
    const int first = share * warp() + lane_id() / Carrier<size>::lanes;
    const Carrier<size> carriers[] = {carrier_from<size>(to, first),
                                      carrier_from<size>(to, first + share / 2)};
    const std::int64_t step = std::int64_t{lines} * to.rows_apart * c_.ld * size;
    const auto lay_down_pass = [&](int pass) {
      if (pass >= passes) return;
      if (pass * lines % part_lines == 0) ready(pass * lines / part_lines);
      lay_down<size, lines>(values, pass, staging_ + staging_offset(pass, passes));
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
      typename Carrier<size>::Loaded loaded[] = {carriers[0].load(buffer), carriers[1].load(buffer)};
      const int rows = pass * lines * to.rows_apart;  // since the first pass
#pragma unroll
      for (int i = 0; i < 2; ++i) carriers[i].store(loaded[i], rows, pass * step);
    }
  }
  // The last passes take the buffers in their order.
  __device__ __forceinline__ static constexpr std::uint32_t staging_offset(int pass, int passes) {
    return static_cast<std::uint32_t>((pass + (buffers - 1) * passes) % buffers * buffer_bytes);
  }

  // What store_lines() left. A warp takes whole eighths of the lines, of which all begin equally.
  template <int size, int Rows>
  __device__ __forceinline__ void carry_last(const LinesOfC& to, int warp, int warps) const {
    constexpr int lines = buffers * lines_of_buffer<size>;
    constexpr int together = 32 / Carrier<size>::lanes, apart = 8 * together;  // lines of a warp at a time
    static_assert(lines % (2 * apart) == 0, "StoreTurned: a warp carries two lines at a time");
    const std::int64_t step = std::int64_t{apart} * to.rows_apart * c_.ld * size;
    const LinesOfC last{to.row_of(Rows - lines), to.rows_apart, to.column};
#pragma unroll 1
    for (int eighth = warp; eighth < 8; eighth += warps) {
      Carrier<size> carrier = carrier_from<size>(last, eighth + 8 * (lane_id() / Carrier<size>::lanes));
#pragma unroll 1
      for (int line = 0; line < lines; line += 2 * apart) {
        typename Carrier<size>::Loaded loaded[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) loaded[i] = carrier.load(i * apart * size * columns);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          carrier.store(loaded[i], 0, 0);
          carrier.advance_in_c(apart * to.rows_apart, step);
        }
        carrier.advance_in_shared(2 * apart * size * columns);
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

  template <int size>
  using Carrier = LineCarrier<size, columns>;
  // Of line number `line`, the same for all lines that pass through its place, since they lie as many rows
  // apart that they begin equally.
  template <int size>
  __device__ __forceinline__ Carrier<size> carrier_from(const LinesOfC& lines, int line) const {
    return Carrier<size>(c_, lines.row_of(line), lines.column,
                         staging_ + static_cast<std::uint32_t>(line * columns * size), rotation_of(line));
  }

  // What any operation makes of the sums, in C of any type: lines of f32. One piece of code for all of them.
  template <int Rows, class Values, class Ready>
  __device__ __forceinline__ void store_any(const Values& values, const LinesOfC& to,
                                            const Ready& ready) const {
    constexpr int lines = buffer_bytes / (4 * columns);
#pragma unroll 1
    for (int pass = 0; pass < Rows / lines; ++pass) {
      const std::uint32_t buffer = staging_ + static_cast<std::uint32_t>(pass % 2 * buffer_bytes);
      const std::uint32_t place = address_in_quarters(buffer, 2 * (lane_id() % 4), first_column());
#pragma unroll
      for (int i = 0; i < Rows / lines; ++i) {
        if (i != pass) continue;  // registers have no index
        if (i * lines % part_lines == 0) ready(i * lines / part_lines);
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
      Strip strip;
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(strip.value[x][0]), "=f"(strip.value[x][1])
                     : "r"(address_in_quarters(buffer, line, l / 4 * 32 + l % 4 * 2 + 8 * x))
                     : "memory");
      }
      store_strip(c_, op_, strip, to.row_of(pass * lines + line), to.column + l / 4 * 32 + l % 4 * 2);
    }
  }

  Output c_;
  Op op_;
  std::uint32_t staging_;
  int barrier_;
};

}  // namespace tenon
