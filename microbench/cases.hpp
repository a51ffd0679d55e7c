// What is measured: types, layout and shape of a product, as the command line and the results spell them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::microbench {

// Wrong input from the user or the machine; what() is the sentence to print.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Types of A, B, accumulator and output, spelled input_accumulate_output ("bf16_f32_bf16"), or with B's type
// after A's where they differ ("e4m3_e5m2_f32_bf16"). A p after the accumulator stands for Gemm::promote
// ("e4m3_f32p_bf16").
struct Types {
  Type input = Type::bf16, input_b = Type::bf16, accumulate = Type::f32, output = Type::bf16;
  bool promote = false;
};
std::string name(const Types& types);

// The same, several separated by commas. Missing parts at the end have defaults: accumulator f32 (s8: s32),
// output of the input's type (fp8: bf16, tf32: f32, s8: s32). "bf16" is bf16_f32_bf16, "f16_f16" f16_f16_f16,
// "e4m3" e4m3_f32_bf16, "s8" s8_s32_s32, "f32" f32_f32_f32, for the reference kernels and SGEMM. Throws
// Failure for types that the library does not multiply.
std::vector<Types> parse_types(const std::string& text);

// Order of A, then of B, in BLAS's letters (t: row-major, n: column-major):
//   tn  A row-major, B column-major (both k-contiguous)     nn  A column-major, B column-major
//   tt  A row-major, B row-major                            nt  A column-major, B row-major
struct Layout {
  Order a = row_major, b = column_major;
};
std::string name(const Layout& layout);
std::vector<Layout> parse_layouts(const std::string& text);  // "tn", "tn,nt", "all"

// Extents and leading dimensions in elements; a leading dimension of 0 means packed.
struct Shape {
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
};

// "4096" (a cube), "m:n:k", "m:n:k:ld" (the same ld three times) or "m:n:k:lda:ldb:ldc", separated by commas.
std::vector<Shape> parse_shapes(const std::string& text);

// The shape with its leading dimensions filled in. Throws Failure if one is too short for the layout.
Shape with_leading_dimensions(Shape shape, const Layout& layout);

// A bound on |computed - exact| for every element of a product of N(0,1) operands, before the output is
// rounded. With f32 it is the bound of host/error_bound.hpp for partial sums up to 6.5 sqrt(k) + 20 (6.5
// sigma; 20 covers the one large product that dominates while k is small). f16 rounds to nearest after every
// 8 products, and over random data those errors form a random walk: 6.5 sigma of it, since the worst case
// would allow anything. s32 is exact: 0.
//
// fp8 accumulates 32 products at a time. Each step truncates its 33 terms and its result toward zero, 13 bits
// below the leading bit of the largest term. One truncation is off by up to g = 2^-13 of the partial sum, for
// a typical one 2^-13 (sqrt(K) + 3), where K is the number of products accumulated that way: k, or 128 if the
// accumulators are promoted. The error has two parts:
//   - a random walk of the truncations, g / sqrt(3) each, while the mean square of the partial sums is half
//     of the last one's: sigma = g sqrt(34/32 k / 6). The bound allows 21 sigma: partial sums at 4.6 sigma
//     and a walk at 4.6 sigma (4.6^2 = 6.5^2 / 2) are together as rare as one of them at 6.5 sigma.
//   - a bias toward zero. The signs of the products lean toward that of the result S, by S E|product| in
//     sum, and each is truncated by g / 2 on average: g S / pi, half of it while S still grows. With S and
//     the partial sums at 6.5 sigma that is 6.5^2 / (2 pi) g sqrt(k).
// Of k / 128 promoted partial sums one may be off by that much, the others by 6.5 sigma together. In total,
// for results with sigma sqrt(k): 8.2 of 64 at k = 4096, 32 of 128 at 16384; promoted 0.8 of 64 and 2.2 of
// 128, half of it for the additions in f32.
double accumulation_bound(const Types& types, std::int64_t k);

// The criterion of host/error_statistics.hpp for all of C. The first bounds the Frobenius norm of the error
// over that of the product, before the output is rounded. For f32 it stays below 1 / sqrt(k), which one
// missing product makes, up to k = 30000; for fp8 below sqrt(32 / k), which a missing step of 32 products
// makes, rounding to bf16 included: 0.013 of 0.088 at k = 4096, 0.023 of 0.044 at 16384, 0.031 of 0.031 at
// 32768; promoted 0.006 at 4096. The second bounds the mean signed error over the mean magnitude, the
// rounding of the output included. s32 is exact: 0.
double frobenius_bound(const Types& types, std::int64_t k);
double bias_bound(const Types& types, const Shape& shape);

}  // namespace tenon::microbench
