// The epilogue of wgmma kernels whose sums are the transpose of C (Turned): a warp has 16 columns of it. The
// warps of a warpgroup round their sums and lay them down beside each other in shared memory, as 16 rows of C
// a box, which the copy engine carries away while they go on.
//
// Where the copy engine cannot write C, they carry the boxes themselves, element by element: right, but slow.
// Below: epilogue.hpp, store_tma.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/gemm/store_tma.hpp"

namespace tenon {

// Rows of C in a box, and the bytes of each: all that so many warps have of it, as far as a swizzle goes.
inline constexpr int turned_box_lines = 16;
TENON_HOST_DEVICE constexpr int turned_box_width(int warps, int element_bytes) {
  return warps * 16 * element_bytes < 128 ? warps * 16 * element_bytes : 128;
}

// Op: LinearCombination, or Scaling. Strips: of staged_strip_bytes, how many a warp may have under way.
// Warps: neighbours that store together, 4, a warpgroup, or 1. map: C as 16-bit elements (an f32 is two),
// boxes of turned_box_lines of turned_box_width() bytes, with the swizzle of that width; not looked at where
// the copy engine cannot write C. staging: Strips * staged_strip_bytes of shared memory a warp, from a
// multiple of 1024 bytes on. Apart: as StoreStaged has it. Takes the named barriers 3 and 4. A row of C has
// less than 2^31 bytes.
template <class Op, int Strips, int Warps, bool Apart>
class StoreStagedTurned {
  static_assert(std::is_same_v<Op, LinearCombination> || std::is_same_v<Op, Scaling>,
                "StoreStagedTurned: other operations would take a part of a column of C for one of a row");
  static_assert(Warps == 1 || Warps == 4, "StoreStagedTurned: a warp stores alone, or with its warpgroup");

 public:
  __device__ __forceinline__ StoreStagedTurned(const Output& c, const Op& op, const TensorMap& map,
                                               std::uint32_t staging)
      : c_(c), op_(op), map_(map), staging_(staging + threadIdx.x / (32 * Warps) * (Strips * place_bytes)) {}

  // Whether there are sums, columns of C, for the warps that store together.
  __device__ __forceinline__ bool has_row(int row) const { return row - 16 * rank() < c_.n; }

  // By all threads of the warps that store together. part: 16 rows of sums a warp, as the sums of wgmma are
  // held (WarpgroupTile::for_each_part); row and column: those of the warp's first sum, a column and a row of
  // C.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    static_assert(Part::rows == 1, "StoreStagedTurned: a part is one row of 16 x 8 fragments");
    static_assert(Part::columns % 2 == 0, "StoreStagedTurned: a box has two fragments");
    if constexpr (Apart && std::is_same_v<Op, LinearCombination>) {
      if (op_.beta == 0.0F) {
        StoreStagedTurned<Scaling, Strips, Warps, false>(*this, Scaling{op_.alpha})(part, row, column);
        return;
      }
    }
    // As in StoreC: what "changes" here keeps all that follows from it out of the main loop's registers.
    Output c = c_;
    asm volatile("" : "+l"(c.ld));
    if (c.type == Type::f32) {
      for_each_strip<4, 4>(c, part, row, column, [&](std::uint32_t place, int j, int thread) {
        lay_down_32_bit(part, j, place, row, column, thread);
      });
    } else {
      const Type type = c.type == Type::f16 ? Type::f16 : Type::bf16;
      for_each_strip<8, 2>(c, part, row, column, [&](std::uint32_t place, int j, int thread) {
        lay_down_16_bit(type, part, j, place, row, column, thread);
      });
    }
  }

  // Before the warp ends: its shared memory has been read.
  __device__ __forceinline__ void finish() const {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }

 private:
  template <class Other_op, int Other_strips, int Other_warps, bool Other_apart>
  friend class StoreStagedTurned;
  // The same places, another operation.
  template <class Other, bool Other_apart>
  __device__ __forceinline__
  StoreStagedTurned(const StoreStagedTurned<Other, Strips, Warps, Other_apart>& store, const Op& op)
      : c_(store.c_), op_(op), map_(store.map_), staging_(store.staging_) {}

  static constexpr int place_bytes = Warps * staged_strip_bytes;  // of the strips that lie beside each other
  // Of the warp among those that store together.
  __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x) / 32 % Warps; }

  __device__ __forceinline__ static void meet() {
    if constexpr (Warps == 1) {
      __syncwarp();
    } else {
      asm volatile("bar.sync %0, %1;" ::"r"(3 + static_cast<int>(threadIdx.x) / (32 * Warps)), "n"(32 * Warps)
                   : "memory");
    }
  }

  // lay_down(place, j, thread) writes this warp's part of the boxes from fragment j on; `fragments` of them,
  // with elements of `element_bytes`, fill the place.
  template <int fragments, int element_bytes, class Part, class LayDown>
  __device__ __forceinline__ void for_each_strip(const Output& c, const Part&, int row, int column,
                                                 const LayDown& lay_down) const {
    constexpr int strips = (Part::columns + fragments - 1) / fragments;
    constexpr int width = turned_box_width(Warps, element_bytes), across = Warps * 16 * element_bytes / width;
    const bool by_copy_engine = copy_engine_can_write(c);
    row -= 16 * rank();  // the first warp's
#pragma unroll
    for (int s = 0; s < strips; ++s) {
      std::uint32_t staging = staging_;
      int thread = static_cast<int>(threadIdx.x) % (32 * Warps);
      asm volatile("" : "+r"(staging), "+r"(thread));  // as in StoreStaged
      const std::uint32_t place = staging + s % Strips * place_bytes;
      // Only one thread has copies of its own to wait for: all but those of the places that come next.
      if (s == 0) {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<(strips - 1) % Strips>());
      } else {
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Strips - 1>());
      }
      meet();
      lay_down(place, s * fragments, thread);
      // The copy engine reads through the other proxy.
      if (by_copy_engine) cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
      meet();
      if (!by_copy_engine) {
        const int left = Part::columns - s * fragments;
        carry<element_bytes>(c, place, row, column + 8 * s * fragments, 8 * min(fragments, left), thread);
      } else if (thread == 0) {
#pragma unroll
        for (int i = 0; i < fragments / 2 * across; ++i) {
          const int j = s * fragments + i / across * 2;
          if (j >= Part::columns) break;
          store_box(map_, column + 8 * j, (row * element_bytes + i % across * width) / 2,
                    place + static_cast<std::uint32_t>(i * turned_box_lines * width));
        }
        cuda::ptx::cp_async_bulk_commit_group();
      }
    }
  }

  // Address of a byte of a line of a place: of the elements of all warps that store together.
  template <int element_bytes>
  __device__ __forceinline__ static std::uint32_t in_place(std::uint32_t place, int line, int byte) {
    constexpr int width = turned_box_width(Warps, element_bytes), across = Warps * 16 * element_bytes / width;
    const int box = line / turned_box_lines * across + byte / width, of_box = line % turned_box_lines;
    const int chunk = swizzled_chunk<width>(of_box, byte % width / chunk_bytes);
    return place + static_cast<std::uint32_t>((box * turned_box_lines + of_box) * width +
                                              chunk * chunk_bytes + byte % chunk_bytes);
  }

  // What the operation makes of this lane's part of four fragments from fragment j on, in column g or (half)
  // g + 8 of C.
  template <class Part>
  __device__ __forceinline__ Strip strip_of(Type type, const Part& part, int j, int half, int row, int column,
                                            int lane) const {
    Strip strip{};
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      if (j + x < Part::columns) part.pair(0, j + x, half, strip.value[x]);
    }
    const int m = column + 8 * j + 2 * (lane % 4), n = row + 8 * half + lane / 4;
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      op_.combine_turned(type, strip, m, n);
    } else {
      op_(strip, m, n);
    }
    return strip;
  }

  // 8 fragments: four boxes, by stmatrix, which transposes: no two rows of an 8 x 8 matrix meet on a bank.
  template <class Part>
  __device__ __forceinline__ void lay_down_16_bit(Type type, const Part& part, int j, std::uint32_t place,
                                                  int row, int column, int thread) const {
    const int lane = thread % 32;
    // What this lane addresses for stmatrix.
    const std::uint32_t to =
        in_place<2>(place, lane / 16 * 8 + lane % 8, thread / 32 * 32 + lane / 8 % 2 * chunk_bytes);
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
        const std::uint32_t four[4] = {word[0][x], word[1][x], word[0][x + 1], word[1][x + 1]};
        constexpr int box_bytes = turned_box_lines * 32 * Warps;
        ptx::stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(
            to + static_cast<std::uint32_t>((4 * quad + x) / 2 * box_bytes), four);
      }
    }
  }

  // 4 fragments: two boxes, an element at a time. Of boxes 64 bytes wide the lines that are written at once
  // would all have the same half of the banks: every other four lanes take their two in the other order.
  template <class Part>
  __device__ __forceinline__ void lay_down_32_bit(const Part& part, int j, std::uint32_t place, int row,
                                                  int column, int thread) const {
    const int lane = thread % 32, g = lane / 4, t = lane % 4;
    const bool swaps = Warps == 1 && g >= 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Strip values = strip_of(Type::f32, part, j, half, row, column, lane);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
#pragma unroll
        for (int y = 0; y < 2; ++y) {
          // 8 lines further the swizzle is the same.
          const std::uint32_t to =
              in_place<4>(place, 2 * t + (swaps ? 1 - y : y), thread / 32 * 64 + (8 * half + g) * 4) +
              static_cast<std::uint32_t>(x / 2 * (turned_box_lines * 64 * Warps) +
                                         x % 2 * 8 * turned_box_width(Warps, 4));
          asm volatile("st.shared.f32 [%0], %1;" ::"r"(to),
                       "f"(swaps ? values.value[x][1 - y] : values.value[x][y])
                       : "memory");
        }
      }
    }
  }

  // By all threads of the warps that store together: so many lines of a place, element by element.
  template <int element_bytes>
  __device__ __forceinline__ static void carry(const Output& c, std::uint32_t place, int row, int column,
                                               int lines, int thread) {
    using Element = std::conditional_t<element_bytes == 4, std::uint32_t, std::uint16_t>;
    constexpr int columns = 16 * Warps;
#pragma unroll 1
    for (int i = thread; i < lines * columns; i += 32 * Warps) {
      const int line = i / columns, e = i % columns, m = column + line, n = row + e;
      if (m >= c.m || n >= c.n) continue;
      const std::uint32_t from = in_place<element_bytes>(place, line, e * element_bytes);
      auto* const to = static_cast<Element*>(c.data) + (m * c.ld + n);
      if constexpr (element_bytes == 4) {
        asm volatile("{.reg .b32 x; ld.shared.b32 x, [%0]; st.global.b32 [%1], x;}" ::"r"(from), "l"(to)
                     : "memory");
      } else {
        asm volatile("{.reg .b16 x; ld.shared.b16 x, [%0]; st.global.b16 [%1], x;}" ::"r"(from), "l"(to)
                     : "memory");
      }
    }
  }

  Output c_;
  Op op_;
  const TensorMap& map_;
  std::uint32_t staging_;
};

}  // namespace tenon
