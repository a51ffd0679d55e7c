// What is measured: types, layout and shape of a product, as they are written on the command line and in
// results.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::microbench {

// Wrong input of the user or of the machine; what() is the sentence to print.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A, B, accumulator and output, written input_accumulate_output ("bf16_f32_bf16"), or with B between where it
// has another type than A ("e4m3_e5m2_f32_bf16"). A p behind the accumulator is Gemm::promote
// ("e4m3_f32p_bf16").
struct Types {
  Type input = Type::bf16, input_b = Type::bf16, accumulate = Type::f32, output = Type::bf16;
  bool promote = false;
};
std::string name(const Types& types);

// The same, several by comma. What is left out at the end is filled in: sums in f32 (of s8 in s32), results
// of the type of the input (of fp8 in bf16, of tf32 in f32, of s8 in s32). "bf16" is bf16_f32_bf16, "f16_f16"
// f16_f16_f16, "e4m3" e4m3_f32_bf16, "s8" s8_s32_s32, "f32" f32_f32_f32: the reference kernels and SGEMM.
// Failure for what is no product of this library.
std::vector<Types> parse_types(const std::string& text);

// Order of A, then of B, in BLAS's letters (t: row-major, n: column-major):
//   tn  A row-major, B column-major (both k-contiguous)     nn  A column-major, B column-major
//   tt  A row-major, B row-major                            nt  A column-major, B row-major
struct Layout {
  Order a = row_major, b = column_major;
};
std::string name(const Layout& layout);
std::vector<Layout> parse_layouts(const std::string& text);  // "tn", "tn,nt", "all"

// Extents, and leading dimensions in elements; 0 stands for the packed one.
struct Shape {
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
};

// "4096" (a cube), "m:n:k", "m:n:k:ld" (the same ld three times) or "m:n:k:lda:ldb:ldc", several by comma.
std::vector<Shape> parse_shapes(const std::string& text);

// The shape with its leading dimensions filled in. Failure if one is too short for the layout.
Shape with_leading_dimensions(Shape shape, const Layout& layout);

// A bound on |computed - exact| for every element of a product of N(0,1) operands, before the output is
// rounded. In f32 it is host/error_bound.hpp's for partial sums up to 6.5 sqrt(k) + 20 (6.5 sigma; 20 for the
// one large product that counts while k is small). f16 rounds to nearest at every step of 8 products, and
// over random data those errors add up as a random walk: 6.5 sigma of it, where the worst case would allow
// anything. s32 is exact: 0.
//
// fp8 is summed in steps of 32 products. Each cuts its 33 terms and its sum toward zero, to 13 bits below the
// leading one of the largest term: an error up to g = 2^-13 of the partial sum a cut, which at a typical one
// is 2^-13 (sqrt(K) + 3), K the products summed that way: k, or 128 if they are promoted. Twofold:
//   - a random walk of the cuts, g / sqrt(3) each, through partial sums whose mean square is half the last's:
//     sigma = g sqrt(34/32 k / 6). 21 sigma are allowed: partial sums at 4.6 sigma and a walk at 4.6 sigma
//     (4.6^2 = 6.5^2 / 2) are together as rare as one of them at 6.5 sigma.
//   - a bias toward zero. The sum of the products' signs leans to the side of the result S by S E|product|,
//     and each is cut by g / 2 on average: g S / pi, half of it while S still grows. With S and the partial
//     sums at 6.5 sigma that is 6.5^2 / (2 pi) g sqrt(k).
// Of k / 128 promoted sums one is allowed that much, the others 6.5 sigma together. In all, of results with
// sigma sqrt(k): 8.2 of 64 at k = 4096, 32 of 128 at 16384; promoted 0.8 of 64 and 2.2 of 128, of which
// half is for the sums in f32.
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
