// The epilogue of the wgmma kernels: each warp rounds its sums, lays them down in shared memory in strips of
// 16 rows x 128 bytes, and lets the copy engine carry the strips to C while it goes on. Warps never wait for
// each other.
//
// The copy engine writes C where base, rows and their distance are multiples of 16 bytes, and cuts off what
// is beyond C.
// Elsewhere the warp carries the strips itself, a row of a strip in one store. Below: epilogue.hpp,
// row_carrier.hpp, word_of_line.hpp, pipeline/tma_ring.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/row_carrier.hpp"
#include "tenon/gemm/word_of_line.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/elect.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

inline constexpr int staged_rows = 16, staged_line_bytes = 128;
inline constexpr int staged_strip_bytes = staged_rows * staged_line_bytes;

// Op: see epilogue.hpp. Strips: how many a warp may have under way. map: C as 16-bit elements (an f32 is
// two), boxes of staged_rows x 64 of them, 128-byte swizzle; not looked at where the copy engine cannot write
// C. staging: Strips * staged_strip_bytes of shared memory a warp, from a multiple of 1024 bytes on.
// Apart: LinearCombination without C (beta == 0) is compiled apart from it: more code, but none to jump over.
// Together: lines that a warp carries at a time. Of some kernels 2: with 4, ptxas no longer keeps the
// operands' descriptors of the main loop in uniform registers. Boxes: whether the map is that of C.
template <class Op, int Strips, bool Apart = false, int Together = 4, bool Boxes = true>
class StoreStaged {
 public:
  __device__ __forceinline__ StoreStaged(const Output& c, const Op& op, const TensorMap& map,
                                         std::uint32_t staging)
      : c_(c), op_(op), map_(map), staging_(staging + threadIdx.x / 32 * (Strips * staged_strip_bytes)) {}

  // The same places, another operation.
  template <class Other, bool Other_apart>
  __device__ __forceinline__
  StoreStaged(const StoreStaged<Other, Strips, Other_apart, Together, Boxes>& store, const Op& op)
      : c_(store.c_), op_(op), map_(store.map_), staging_(store.staging_) {}

  // The same for every eighth row of C, from row `first` on.
  __device__ __forceinline__ StoreStaged<Op, Strips, Apart, Together, false> every_eighth(int first) const {
    Output c = c_;
    c.data = static_cast<std::uint8_t*>(c.data) + first * c.ld * static_cast<std::int64_t>(bytes(c.type));
    c.ld *= 8;
    c.m = (c.m - first + 7) / 8;
    Op op = op_;
    if constexpr (std::is_same_v<Op, LinearCombination>) op.c = c;
    return {c, op, map_, staging_, 0};
  }

  // Whether C has a row of that number.
  __device__ __forceinline__ bool has_row(int row) const { return row < c_.m; }

  // By whole warps. part: 16 rows of sums a warp, as the sums of wgmma are held
  // (WarpgroupTile::for_each_part); row and column: of the warp's first element in C.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    static_assert(Part::rows == 1, "StoreStaged: a part is one row of 16 x 8 fragments");
    if constexpr (Apart && std::is_same_v<Op, LinearCombination> &&
                  std::is_same_v<typename Part::Value, float>) {
      if (op_.beta == 0.0F) {
        StoreStaged<Scaling, Strips, false, Together, Boxes>(*this, Scaling{op_.alpha})(part, row, column);
        return;
      }
    }
    // As in StoreC: values that "change" here keep all that follows from them out of the main loop's
    // registers.
    Output c = c_;
    asm volatile("" : "+l"(c.ld));
    if constexpr (carries_lines<Part>) {
      if (op_.beta == 0.0F && bytes(c.type) == 2) {
        const StoreStaged<Scaling, Strips, false, Together, Boxes> scaled(*this, Scaling{op_.alpha});
        if (c.type == Type::f16) {
          scaled.carry_lines(Type::f16, c, part, row, column);
        } else {
          scaled.carry_lines(Type::bf16, c, part, row, column);
        }
        return;
      }
    }
    if constexpr (std::is_same_v<typename Part::Value, std::int32_t>) {
      for_each_strip<4, 4>(c, part, row, column, [&](std::uint32_t strip, int j, int lane) {
        stage_32_bit(Type::s32, part, j, strip, row, column, lane);
      });
    } else if (c.type == Type::f32) {
      for_each_strip<4, 4>(c, part, row, column, [&](std::uint32_t strip, int j, int lane) {
        stage_32_bit(Type::f32, part, j, strip, row, column, lane);
      });
    } else if (c.type == Type::f16) {
      for_each_strip<8, 2>(c, part, row, column, [&](std::uint32_t strip, int j, int lane) {
        stage_16_bit(Type::f16, part, j, strip, row, column, lane);
      });
    } else {
      for_each_strip<8, 2>(c, part, row, column, [&](std::uint32_t strip, int j, int lane) {
        stage_16_bit(Type::bf16, part, j, strip, row, column, lane);
      });
    }
  }

  // Before the warp ends: its shared memory has been read.
  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  template <class Other_op, int Other_strips, bool Other_apart, int Other_together, bool Other_boxes>
  friend class StoreStaged;
  __device__ __forceinline__ StoreStaged(const Output& c, const Op& op, const TensorMap& map,
                                         std::uint32_t staging, int)
      : c_(c), op_(op), map_(map), staging_(staging) {}

  // stage(strip, j) writes the strip that begins at fragment j; `fragments` of them fill it, with elements of
  // `element_bytes`. The last strip of a part may be narrower: the boxes of the map are not, so the warp
  // carries it itself.
  template <int fragments, int element_bytes, class Part, class Stage>
  __device__ __forceinline__ void for_each_strip(const Output& c, const Part&, int row, int column,
                                                 const Stage& stage) const {
    constexpr int strips = (Part::columns + fragments - 1) / fragments;
    const bool by_copy_engine = copy_engine_can_write(c);
#pragma unroll
    for (int s = 0; s < strips; ++s) {
      std::uint32_t staging = staging_;
      asm volatile("" : "+r"(staging));  // likewise the address of each strip
      const std::uint32_t strip = staging + s % Strips * staged_strip_bytes;
      // A lane that "changes" here keeps the addresses of every strip from being held at once.
      int lane = lane_id();
      asm volatile("" : "+r"(lane));
      // Only the elected lane has copies of its own to wait for: all but those of the places that come next,
      // or all of them where the part before did not end with a copy from the last place.
      constexpr int younger = Part::columns % (fragments * Strips) == 0 ? Strips - 1 : 0;
      if (s == 0) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<younger>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Strips - 1>());
      }
      __syncwarp();
      stage(strip, s * fragments, lane);
      const int first = column + 8 * s * fragments;
      const int width = 8 * (s + 1 < strips ? fragments : Part::columns - s * fragments);
      if (Boxes && by_copy_engine && width == 8 * fragments) {
        cuda::ptx::fence_proxy_async(
            cuda::ptx::space_shared);  // the copy engine reads through the other proxy
        __syncwarp();
        if (ptx::elect_sync(0xffffffffU)) {
          store_box(map_, row, first * (element_bytes / 2), strip);
          cuda::ptx::cp_async_bulk_commit_group();
        }
      } else {
        __syncwarp();
        if (by_copy_engine) {
          carry_chunks<element_bytes>(c, strip, row, first, width, lane);
        } else {
          carry<element_bytes>(c, strip, row, first, width, lane);
        }
      }
    }
  }

  // Whether rows of C leave by whole lines of the L2, wherever they begin (RowCarrier). The code for it is
  // worth it where no row needs the copy engine, and for wide tiles: of 128 columns there is too much to
  // begin and to end.
  template <class Part>
  static constexpr bool carries_lines = !Boxes && std::is_same_v<Op, LinearCombination> && Part::columns > 16;

  // A strip's memory is two slots of 8 rows.
  template <class Part>
  __device__ __forceinline__ void carry_lines(Type type, const Output& c, const Part& part, int row,
                                              int column) const {
    constexpr int strips = (Part::columns + 7) / 8;
    static_assert(2 * RowCarrier::slot_bytes <= Strips * staged_strip_bytes,
                  "StoreStaged: two slots of rows must fit the strips");
    const int width = min(8 * Part::columns, c.n - column);
    int lane = lane_id();
    asm volatile("" : "+r"(lane));
    lane &= 31;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t staging = staging_;
      asm volatile("" : "+r"(staging));
      const int first = row + 8 * half;
      const RowCarrier carrier(static_cast<std::uint16_t*>(c.data) + (first * c.ld + column), c.ld,
                               c.m - first, width, staging, static_cast<unsigned>(lane));
#pragma unroll
      for (int s = 0; s < strips; ++s) {
        if (64 * s < width) {
          __syncwarp();
          stage_half(type, part, 8 * s, half, carrier.slot(s), row, column, lane);
          __syncwarp();
          carrier.carry(s);
        }
      }
      carrier.finish();
    }
  }

  // 8 fragments of 16-bit elements, of 8 rows, by stmatrix: its rows stand on different banks.
  template <class Part>
  __device__ __forceinline__ void stage_half(Type type, const Part& part, int j, int half, std::uint32_t slot,
                                             int row, int column, int lane) const {
    const int line = lane % 8;
#pragma unroll
    for (int quad = 0; quad < 2; ++quad) {
      if (j + 4 * quad >= Part::columns) break;
      const Strip values = strip_of(type, part, j + 4 * quad, half, row, column, lane);
      std::uint32_t word[4];
#pragma unroll
      for (int x = 0; x < 4; ++x) word[x] = pack_pair(type, values.value[x]);
      const int at = line * staged_line_bytes +
                     swizzled_chunk<staged_line_bytes>(line, 4 * quad + lane / 8) * chunk_bytes;
      ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(slot + static_cast<std::uint32_t>(at), word);
    }
  }

  // Address of the 16-bit element e of a line of a strip.
  __device__ __forceinline__ static std::uint32_t in_strip(std::uint32_t strip, int line, int e) {
    return strip +
           static_cast<std::uint32_t>(line * staged_line_bytes +
                                      swizzled_chunk<staged_line_bytes>(line, e / 8) * 16 + e % 8 * 2);
  }
  __device__ __forceinline__ static std::uint32_t load_word(std::uint32_t address) {
    std::uint32_t word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
  }

  // The warp stores the first `width` elements of a strip's lines to C itself, 16 bytes a lane: in rows of C
  // that begin on multiples of 16 bytes. What is beyond C is cut off.
  template <int element_bytes>
  __device__ __forceinline__ static void carry_chunks(const Output& c, std::uint32_t strip, int row,
                                                      int column, int width, int lane) {
    constexpr int elements = 16 / element_bytes;  // of a chunk
    using Element = std::conditional_t<element_bytes == 4, std::uint32_t, std::uint16_t>;
    const int chunks = width / elements;  // of a line
#pragma unroll
    for (int i = 0; i < staged_rows * chunks; i += 32) {
      // Lines with their bits reversed: the 8 chunks that are read at once stand on different banks where a
      // line has 2 or 4 of them.
      const int turn = (i + lane) / chunks, chunk = (i + lane) % chunks;
      if (turn >= staged_rows) break;  // half of the lanes, where a line is one chunk
      const int line = turn / 8 * 8 + (turn % 2 * 4 | turn & 2 | turn / 4 % 2);
      const int left = row + line < c.m ? c.n - column - chunk * elements : 0;  // elements of the row
      auto* const to = static_cast<Element*>(c.data) + (row + line) * c.ld + column + chunk * elements;
      std::uint32_t word[4];
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "r"(in_strip(strip, line, 8 * chunk))
                   : "memory");
      if (left >= elements) {
        *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
      } else {
#pragma unroll
        for (int e = 0; e < elements - 1; ++e) {
          if (e < left)
            to[e] = static_cast<Element>(word[e * element_bytes / 4] >> e * element_bytes % 4 * 8);
        }
      }
    }
    __syncwarp();
  }

  // The same for any rows and columns: a line is up to 32 words, one a lane. Several lines at a time, so that
  // a warp waits for their words once.
  template <int element_bytes>
  __device__ __forceinline__ static void carry(const Output& c, std::uint32_t strip, int row, int column,
                                               int width, int lane) {
    constexpr int per_word = 4 / element_bytes;
    static_assert(staged_rows % Together == 0,
                  "StoreStaged: the lines of a strip must be a multiple of those carried together");
    using Element = std::conditional_t<element_bytes == 4, std::uint32_t, std::uint16_t>;
    const int lines = min(staged_rows, c.m - row);
    const int elements = min(width, c.n - column);            // of a line that are in C
    const int mine = min(per_word * lane, width - per_word);  // lanes beyond the strip look at its last word
    const WordOfLine word_of_line(lane, elements);
    auto* to = static_cast<Element*>(c.data) + row * c.ld + column + per_word * lane;
#pragma unroll 1
    for (int line = 0; line < lines; line += Together) {
      std::uint32_t word[Together];
#pragma unroll
      for (int i = 0; i < Together; ++i)
        word[i] = load_word(in_strip(strip, line + i, mine * element_bytes / 2));
#pragma unroll
      for (int i = 0; i < Together; ++i) {
        if constexpr (element_bytes == 4) {
          if (line + i < lines && lane < elements) *to = word[i];
        } else {
          word_of_line.store(to, word[i], line + i < lines);
        }
        to += c.ld;
      }
    }
    __syncwarp();
  }

  // What the operation makes of this lane's part of four fragments from fragment j on, in row g or (half) g
  // + 8.
  template <class Part>
  __device__ __forceinline__ auto strip_of(Type type, const Part& part, int j, int half, int row, int column,
                                           int lane) const {
    StripOf<typename Part::Value> strip{};
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      if (j + x < Part::columns) part.pair(0, j + x, half, strip.value[x]);
    }
    apply(op_, type, strip, row + 8 * half + lane / 4, column + 8 * j + 2 * (lane % 4));
    return strip;
  }

  // 8 fragments of 16-bit elements by stmatrix, in pairs, what is beyond the part being zero: no two rows of
  // an 8 x 8 matrix meet on a bank.
  template <class Part>
  __device__ __forceinline__ void stage_16_bit(Type type, const Part& part, int j, std::uint32_t strip,
                                               int row, int column, int lane) const {
    const int line = lane % 16, chunk = lane / 16;  // that this lane addresses for stmatrix
#pragma unroll
    for (int quad = 0; quad < 2; ++quad) {
      if (j + 4 * quad >= Part::columns) break;
      std::uint32_t word[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Strip values = strip_of(type, part, j + 4 * quad, half, row, column, lane);
#pragma unroll
        for (int x = 0; x < 4; ++x) word[half][x] = pack_pair(type, values.value[x]);
      }
#pragma unroll
      for (int x = 0; x < 4; x += 2) {
        const int at =
            line * staged_line_bytes + swizzled_chunk<staged_line_bytes>(line, 4 * quad + x + chunk) * 16;
        const std::uint32_t four[4] = {word[0][x], word[1][x], word[0][x + 1], word[1][x + 1]};
        ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(strip + static_cast<std::uint32_t>(at), four);
      }
    }
  }

  __device__ __forceinline__ static void store_two(std::uint32_t address, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
  }
  __device__ __forceinline__ static void store_two(std::uint32_t address, std::int32_t x, std::int32_t y) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(x), "r"(y) : "memory");
  }

  // 4 fragments of 32-bit elements, 8 bytes a lane. Half a warp writes at once, 4 rows x 32 bytes, and rows
  // 2r and 2r + 1 would meet on the same banks: so every other row takes its fragments in another order.
  template <class Part>
  __device__ __forceinline__ void stage_32_bit(Type type, const Part& part, int j, std::uint32_t strip,
                                               int row, int column, int lane) const {
    const int g = lane / 4, t = lane % 4;
    const bool odd = g % 2 != 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto values = strip_of(type, part, j, half, row, column, lane);
      const int line = g + 8 * half;
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int mine = odd ? x ^ 2 : x;
        const auto& even_values = values.value[x];
        const auto& odd_values = values.value[x ^ 2];
        const int at = line * staged_line_bytes +
                       swizzled_chunk<staged_line_bytes>(line, 2 * mine + t / 2) * 16 + t % 2 * 8;
        store_two(strip + static_cast<std::uint32_t>(at), odd ? odd_values[0] : even_values[0],
                  odd ? odd_values[1] : even_values[1]);
      }
    }
  }

  Output c_;
  Op op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
