// Products of f64 by int8 slices (Ozaki scheme II): the steps, for sm_90.
//
//   1. shifts:   the rows of A and columns of B times powers of two, so that their rounded elements are
//                integers and no element of their product reaches P / 2, P being the product of the moduli
//   2. residues: these integers modulo each of the moduli, as int8, k contiguous
//   3. product:  of the residues of each modulus on int8 tensor cores, reduced by it: one byte an element
//   4. combine:  from these residues to the integers (Chinese remainder theorem), and from them to C
//
// Everything between lies in the workspace. Below: slices_moduli.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/slices_moduli.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {
namespace slices {

// An operand: A has `rows` rows of k elements, B as many columns.
struct Operand {
  const double* data;
  std::int64_t ld;
  int rows, k;
  bool k_contiguous;
};

// Where the slices of a product lie, from the beginning of the workspace. Rows and columns are padded to
// whole cluster tiles of the product, with zeros.
struct Layout {
  std::int64_t rows_a, rows_b;  // padded m and n
  std::int64_t ld;              // bytes of a row of residues of A or B
  int count;                    // moduli
  std::size_t shifts_a, shifts_b, residues_a, residues_b, residues_c, bytes;
};
// k: of one product, at most most_k. m, n: at most most_rows(count).
Layout layout_of(std::int64_t m, std::int64_t n, std::int64_t k, int count) noexcept;

// The largest k of one product: the accumulators of 32 bits hold sums of fewer than 2^17 products of
// residues.
inline constexpr std::int64_t most_k = std::int64_t{1} << 16;
// The tile of a cluster.
inline constexpr int cluster_rows = 256, cluster_columns = 256;
// The largest m and n: the product counts the rows of all moduli, and its tiles, in 32 bits.
constexpr std::int64_t most_rows(int count) noexcept {
  return ((std::int64_t{1} << 31) - 1) / count / 256 * 256;
}

// Bits that elements keep below the largest magnitude of their row (slices_for() of gemm_f64_slices.hpp).
int bits_of(int count, int k) noexcept;

// What combine() makes of X = A * B: C = alpha * X + beta * C.
struct Destination {
  double* data;
  std::int64_t ld;
  double alpha, beta;
};

// m, n, k > 0. workspace: 256-byte aligned, layout.bytes.
Status find_shifts(Launcher& launcher, const Operand& a, const Operand& b, const Layout& layout,
                   unsigned char* workspace) noexcept;
Status find_residues(Launcher& launcher, const Operand& a, const Operand& b, const Layout& layout,
                     unsigned char* workspace) noexcept;
Status plan_product(Launcher& launcher, const DeviceDescription& device, const Layout& layout,
                    unsigned char* workspace, Launch* launch) noexcept;
Status combine(Launcher& launcher, std::int64_t m, std::int64_t n, const Layout& layout, const Destination& c,
               unsigned char* workspace) noexcept;
// beta * C.
Status scale(Launcher& launcher, std::int64_t m, std::int64_t n, const Destination& c) noexcept;

}  // namespace slices
}  // namespace tenon
