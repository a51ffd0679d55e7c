// Fragments that own their registers: FragmentA, FragmentB and Accumulator, for nvcc.
//
//   FragmentA<m16n8k16, half> a;
//   FragmentB<m16n8k16, half> b;
//   Accumulator<m16n8k16, float> c{};                                  // {} clears
//   a.load(tile_a, row, k);
//   b.load(tile_b, k, col);
//   c.mma(a, b);                                                       // c += a * b, one instruction
//   c.for_each([&](float& v, int row, int col) { v += bias[col]; });   // what this lane holds
//
// A fragment belongs to a whole warp: all lanes must make the same calls. mma() needs the header of the
// element types: f16.hpp (and bf16), tf32.hpp, f64.hpp, fp8.hpp, int8.hpp, int4.hpp, b1.hpp or volta.hpp;
// fragment.hpp includes all. Builds on layout.hpp (which lane holds which element), pack.hpp (how registers
// are packed) and ptx/ldmatrix.hpp (load).
#pragma once

#include "tenon/fragment/layout.hpp"
#include "tenon/fragment/ldmatrix_rows.hpp"
#include "tenon/fragment/pack.hpp"
#include "tenon/ptx/ldmatrix.hpp"
#include "tenon/ptx/special_registers.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// This thread's lane in its warp, for a block of any shape.
__device__ __forceinline__ int lane_id() {
  return static_cast<int>(ptx::mov_u32_laneid());
}

// This thread's number in its warpgroup: 128 consecutive threads of the block, the first a multiple of 128.
__device__ __forceinline__ int warpgroup_lane_id() {
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 128);
}

template <class T>
struct RegisterOf {
  using type = std::uint32_t;
};
template <>
struct RegisterOf<float> {
  using type = float;
};
template <>
struct RegisterOf<double> {
  using type = double;
};
template <>
struct RegisterOf<std::int32_t> {
  using type = std::int32_t;
};

// The common part of operands and accumulators: the registers, and access to their elements as Value = float,
// double, int32_t or bool. The registers are uninitialised unless the fragment is initialised with {}.
template <class T, class Held>
struct Registers {
  using Layout = Held;
  using Value = typename Packing<T>::Value;
  static constexpr int elements = Layout::elements, registers = Layout::registers;  // per lane

  typename RegisterOf<T>::type reg[registers];

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    return Layout::coord(lane, element);
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) { return Layout::owner(row, col); }
  // This thread's number among the threads that hold the matrix: in its warp or in its warpgroup.
  __device__ __forceinline__ static int this_lane() {
    return Layout::lanes == 32 ? lane_id() : warpgroup_lane_id();
  }

  // Calls f(value, row, col) for each element of this lane; row and col count within the fragment. f may take
  // the value by reference and change it. Packed elements are unpacked before the call and rounded after it,
  // as pack.hpp documents.
  template <class F>
  __device__ __forceinline__ void for_each(F&& f) {
    const int lane = this_lane();
#pragma unroll
    for (int r = 0; r < registers; ++r) {
      Value values[Layout::per_register];
      Packing<T>::unpack(reg[r], values);
#pragma unroll
      for (int i = 0; i < Layout::per_register; ++i) {
        const Coord at = coord(lane, r * Layout::per_register + i);
        f(values[i], at.row, at.col);
      }
      reg[r] = Packing<T>::pack(values);
    }
  }

  // The same without writing back: f(value, row, col).
  template <class F>
  __device__ __forceinline__ void for_each(F&& f) const {
    const int lane = this_lane();
#pragma unroll
    for (int r = 0; r < registers; ++r) {
      Value values[Layout::per_register];
      Packing<T>::unpack(reg[r], values);
#pragma unroll
      for (int i = 0; i < Layout::per_register; ++i) {
        const Coord at = coord(lane, r * Layout::per_register + i);
        f(static_cast<const Value&>(values[i]), at.row, at.col);
      }
    }
  }

  // Sets each element of this lane to value_at(row, col), rounded as pack.hpp documents.
  template <class F>
  __device__ __forceinline__ void fill(F&& value_at) {
    const int lane = this_lane();
#pragma unroll
    for (int r = 0; r < registers; ++r) {
      Value values[Layout::per_register];
#pragma unroll
      for (int i = 0; i < Layout::per_register; ++i) {
        const Coord at = coord(lane, r * Layout::per_register + i);
        values[i] = static_cast<Value>(value_at(at.row, at.col));
      }
      reg[r] = Packing<T>::pack(values);
    }
  }
};

// ldmatrix of as many matrices as there are registers: 1, 2 or 4, as check_ldmatrix() has asserted.
template <bool transposed, int registers>
__device__ __forceinline__ void ldmatrix(std::uint32_t (&reg)[registers], std::uint32_t address) {
  if constexpr (registers == 1 && !transposed) {
    ptx::ldmatrix_sync_aligned_m8n8_x1_shared_b16(reg, address);
  } else if constexpr (registers == 1) {
    ptx::ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16(reg, address);
  } else if constexpr (registers == 2 && !transposed) {
    ptx::ldmatrix_sync_aligned_m8n8_x2_shared_b16(reg, address);
  } else if constexpr (registers == 2) {
    ptx::ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16(reg, address);
  } else if constexpr (registers == 4 && !transposed) {
    ptx::ldmatrix_sync_aligned_m8n8_x4_shared_b16(reg, address);
  } else if constexpr (registers == 4) {
    ptx::ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(reg, address);
  }
}

// load(tile, ...) takes any tile in shared memory with
//
//   uint32_t address(int row, int col) const
//   static constexpr bool k_major
//
// address(row, col): the address, in the shared window and 16-byte aligned, of the 16 bytes that start at
// (row, col) of the stored matrix, whose contiguous direction is col. k_major: the matrix is stored as (m or
// n, k), with k contiguous; else as (k, m or n). ldmatrix reads eight rows of 16 bytes per matrix; the tile
// decides whether they conflict on banks.

// Operand A of one mma: m x k.
template <class Shape, class T, Major order = Major::row>
struct FragmentA : Registers<T, LayoutA<Shape, T, order>> {
  // The m x k elements whose first is (row, k) of the tile's A.
  template <class Tile>
  __device__ __forceinline__ void load(const Tile& tile, int row, int k) {
    using Layout = LayoutA<Shape, T, order>;
    const Coord at = ldmatrix_row_a<Layout, Tile::k_major>(lane_id());
    const int m_at = row + at.row, k_at = k + at.col;
    if constexpr (Layout::bits <= 32)  // else ldmatrix_row_a has said so
      ldmatrix<!Tile::k_major>(this->reg,
                               Tile::k_major ? tile.address(m_at, k_at) : tile.address(k_at, m_at));
  }
};

// Operand B of one mma: k x n.
template <class Shape, class T, Major order = Major::column>
struct FragmentB : Registers<T, LayoutB<Shape, T, order>> {
  // The k x n elements whose first is (k, col) of the tile's B.
  template <class Tile>
  __device__ __forceinline__ void load(const Tile& tile, int k, int col) {
    using Layout = LayoutB<Shape, T, order>;
    const Coord at = ldmatrix_row_b<Layout, Tile::k_major>(lane_id());
    const int k_at = k + at.row, n_at = col + at.col;
    if constexpr (Layout::bits <= 32)  // else ldmatrix_row_b has said so
      ldmatrix<!Tile::k_major>(this->reg,
                               Tile::k_major ? tile.address(n_at, k_at) : tile.address(k_at, n_at));
  }
};

// Loads two B fragments, at columns col and col + 8, by one ldmatrix of twice the width.
template <class Shape, class T, class Tile>
__device__ __forceinline__ void load_pair(FragmentB<Shape, T>& b0, FragmentB<Shape, T>& b1, const Tile& tile,
                                          int k, int col) {
  using Layout = LayoutB<Shape, T>;
  const Coord at = ldmatrix_row_b<Layout, Tile::k_major, 2>(lane_id());
  const int k_at = k + at.row, n_at = col + at.col;
  std::uint32_t both[2 * Layout::registers];
  ldmatrix<!Tile::k_major>(both, Tile::k_major ? tile.address(n_at, k_at) : tile.address(k_at, n_at));
#pragma unroll
  for (int r = 0; r < Layout::registers; ++r) {
    b0.reg[r] = both[r];
    b1.reg[r] = both[r + Layout::registers];
  }
}

// The instruction for these types; the header of each family specialises it. `issue` is a template, so that a
// header may offer an instruction that the target lacks: only calling it is an error.
template <class Shape, class TC, class TA, class TB>
struct Mma {
  template <class C, class A, class B>
  static __device__ void issue(C&, const A&, const B&) {
    static_assert(
        sizeof(C) == 0,
        "mma(a, b): no mma instruction multiplies these two element types into this accumulator, or the "
        "header of the type family (tenon/fragment/f16.hpp, ...) is not included");
  }
};

// Accumulator, C and D of one mma: m x n. T is float, __half (packed in pairs), int32_t or double.
template <class Shape, class T>
struct Accumulator : Registers<T, LayoutC<Shape, T>> {
  // *this += a * b.
  template <class TA, Major order_a, class TB, Major order_b>
  __device__ __forceinline__ void mma(const FragmentA<Shape, TA, order_a>& a,
                                      const FragmentB<Shape, TB, order_b>& b) {
    Mma<Shape, T, TA, TB>::issue(*this, a, b);
  }

  // The overload for all other arguments: it reports the mistake in one sentence.
  template <class X, class Y>
  __device__ void mma(const X&, const Y&) {
    static_assert(
        sizeof(X) == 0,
        "mma(a, b): a must be a FragmentA and b a FragmentB of this accumulator's shape; are they swapped?");
  }
};

}  // namespace tenon
