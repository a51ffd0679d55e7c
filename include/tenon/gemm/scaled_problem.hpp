// The problem of a block-scaled GEMM: a product with the scales of its operands. Plain C++17. Below:
// problem.hpp, status.hpp.
#pragma once

#include "tenon/gemm/problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// f32 scales in device memory, one for each block of an operand. An element of the operand stands for its
// value times the scale of its block; scales are finite numbers.
//
// Of A, blocks of 1 x 128: scale(row, k) = data[k / 128 * ld + row]. The scales of neighbouring rows are
// contiguous, because a tile of the product needs those of its rows for one k-tile at a time.
// Of B, blocks of 128 x 128: scale(k, column) = data[column / 128 * ld + k / 128].
//
// Both as cuBLASLt has them (VEC128_32F and BLK128x128_32F). TMA reads them: data is a multiple of 16 bytes,
// ld one of 4.
struct BlockScales {
  const float* data = nullptr;
  std::int64_t ld = 0;
};

struct BlockScaledProduct : Product {
  BlockScales scale_a, scale_b;
};

// A, row-major, and B, column-major, are e4m3. The same for launch().
template <class TA, class TC>
struct BlockScaledProblem : GemmProblem<TA, TC> {
  BlockScales scale_a, scale_b;
};

// The scales that a row of k (of A or B) has.
constexpr std::int64_t blocks_of_128(std::int64_t size) noexcept {
  return size / 128 + (size % 128 != 0 ? 1 : 0);
}

// Whether the scales of an operand can be read. least: values of the smallest ld.
inline Status check_block_scales(char name, const BlockScales& scales, std::int64_t least) {
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  if (scales.data == nullptr) return Status(invalid, "the scales of %c are a null pointer", name);
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(scales.data) % 16);
  if (beyond != 0)
    return Status(invalid, "the scales of %c are %d bytes past a multiple of 16 but TMA needs 0", name,
                  beyond);
  if (scales.ld < least || scales.ld % 4 != 0)
    return Status(invalid, "the ld of the scales of %c is %lld but must be a multiple of 4 and >= %lld", name,
                  static_cast<long long>(scales.ld), static_cast<long long>(least));
  return {};
}

inline Status check_block_scales(const BlockScaledProduct& product) {
  if (product.m == 0 || product.n == 0 || product.k == 0) return {};
  if (Status s = check_block_scales('A', product.scale_a, product.m); !s) return s;
  return check_block_scales('B', product.scale_b, blocks_of_128(product.k));
}

}  // namespace tenon
