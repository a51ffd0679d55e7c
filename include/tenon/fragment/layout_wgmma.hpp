// Layouts of the registers of wgmma. The 128 threads of a warpgroup hold its matrices: here `lane` counts
// from 0 to 127. PTX ISA 9.7.15.5.1.1. Included by layout.hpp.
//
// Warp w of the warpgroup holds rows 16w to 16w + 15, as mma fragments of 16 rows: A is the A of an mma with
// the same k, D is n / 8 accumulators side by side. B is always in shared memory and has no fragment; A may
// be in registers. Sparse A in registers has the layout of a dense A of half the k.
#pragma once

#include "tenon/fragment/layout.hpp"

namespace tenon {

// D (64 x n) = A (64 x k) * B (k x n) + D, computed by one warpgroup.
template <int N, int K>
struct WgmmaShape {
  static constexpr int m = 64, n = N, k = K;
};

// Whether wgmma has this n for operands or accumulators of type T: integers lack some.
template <class T>
constexpr bool wgmma_has_n(int n) {
  const int step = Element<T>::number == Number::floating || n < 32 ? 8 : 16;
  return n >= 8 && n <= 256 && n % step == 0;
}

// Whether wgmma multiplies operands of type T in this shape: k fills 32 bytes.
template <class Shape, class T>
constexpr bool wgmma_has_operand() {
  if constexpr (!Element<T>::exists) {
    return false;
  } else {
    constexpr bool is_type = Element<T>::bits == 16 || Element<T>::bits == 8 || Element<T>::bits == 1 ||
                             (Element<T>::bits == 32 && Element<T>::name[0] == 't');
    return is_type && wgmma_has_n<T>(Shape::n) && Shape::k * Element<T>::bits == 256;
  }
}

template <int N, int K>
struct AccumulatorExists<WgmmaShape<N, K>, float> {
  static constexpr bool value = wgmma_has_n<float>(N) && (K == 8 || K == 16 || K == 32);
};
template <int N, int K>
struct AccumulatorExists<WgmmaShape<N, K>, __half> {
  static constexpr bool value = wgmma_has_n<__half>(N) && (K == 16 || K == 32);
};
template <int N, int K>
struct AccumulatorExists<WgmmaShape<N, K>, std::int32_t> {
  static constexpr bool value =
      wgmma_has_operand<WgmmaShape<N, K>, std::int8_t>() || wgmma_has_operand<WgmmaShape<N, K>, b1>();
};

template <int N, int K, class T, Major major>
struct LayoutA<WgmmaShape<N, K>, T, major> : LayoutOf<T, 64, K, 1, 128> {
  static_assert(wgmma_has_operand<WgmmaShape<N, K>, T>() || !Element<T>::exists,
                "LayoutA: no wgmma instruction takes an A of this element type in this shape");
  static_assert(major == Major::row, "LayoutA: A in the registers of wgmma is row-major");
  using OfWarp = LayoutA<MmaShape<16, 8, K>, T>;

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const Coord in_warp = OfWarp::coord(lane % 32, element);
    return {in_warp.row + lane / 32 * 16, in_warp.col};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const Owner in_warp = OfWarp::owner(row % 16, col);
    return {in_warp.lane + row / 16 * 32, in_warp.element};
  }
};

template <int N, int K, class T, Major major>
struct LayoutB<WgmmaShape<N, K>, T, major> : LayoutOf<T, K, N>, NoLayout {
  static_assert(!Element<T>::exists,
                "LayoutB: wgmma reads B from shared memory: no thread holds it in registers");
};

template <int N, int K, class T>
struct LayoutC<WgmmaShape<N, K>, T> : LayoutOf<T, 64, N, 1, 128> {
  static_assert(AccumulatorExists<WgmmaShape<N, K>, T>::value || !Element<T>::exists,
                "LayoutC: no wgmma instruction accumulates in this type in this shape");

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    return {lane / 32 * 16 + lane % 32 / 4 + 8 * (element / 2 % 2),
            8 * (element / 4) + lane % 4 * 2 + element % 2};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    return {row / 16 * 32 + row % 8 * 4 + col % 8 / 2, col / 8 * 4 + row % 16 / 8 * 2 + col % 2};
  }
};

}  // namespace tenon
