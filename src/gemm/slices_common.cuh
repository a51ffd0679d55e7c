// What the kernels of products by slices share.
#pragma once

#include <cuda_runtime.h>

#include <limits>

#include "gemm/slices_moduli.hpp"

namespace tenon {
namespace slices {

inline constexpr int threads = 256;  // of a CTA of all steps but the product

// The shift of a row with an infinity or a NaN.
inline constexpr int not_finite = std::numeric_limits<int>::max();

// 2^x; x >= -1074, below 1024.
__device__ __forceinline__ double power_of_2(int x) {
  return __longlong_as_double(x >= -1022 ? static_cast<long long>(x + 1023) << 52 : 1LL << (x + 1074));
}

// The lowest bytes of four registers.
__device__ __forceinline__ std::uint32_t lowest_bytes(const std::uint32_t (&x)[4]) {
  return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040), 0x5410);
}

// Where the accumulators lie in a row of residues of the product: of 64 columns, the four lanes that share a
// row of a wgmma have two adjacent ones of every eight. Each lane stores its 16 as they are, in one access.
// The column of byte `byte` of lane `lane` of 4:
TENON_HOST_DEVICE constexpr int column_of(int lane, int byte) {
  return byte / 2 * 8 + 2 * lane + byte % 2;
}

}  // namespace slices
}  // namespace tenon
