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

// Input, accumulator and output, written input_accumulate_output: "bf16_f32_bf16".
struct Types {
  Type input = Type::bf16, accumulate = Type::f32, output = Type::bf16;
};
std::string name(const Types& types);

// "bf16" (= bf16_f32_bf16), "f16_f16" (= f16_f16_f16), "bf16_f32_f32", "f32" (= f32_f32_f32), several by
// comma.
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
// anything.
double accumulation_bound(Type accumulate, std::int64_t k);

}  // namespace tenon::microbench
