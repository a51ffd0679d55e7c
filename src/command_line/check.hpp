// Whether a computed C is right: every element against the exact product, with the bound of
// host/error_bound.hpp; s32 modulo 2^32, as it is summed.
//
// The exact product is summed in FP64 from the rounded inputs, in which s8 sums are exact: on the host up to
// 2^27 products, above on the GPU, if there is one, by a kernel that shares nothing with the kernels under
// test.
#pragma once

#include <cstdint>
#include <vector>

#include "command_line/operand.hpp"
#include "host/error_bound.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

struct CheckResult {
  double max_error = 0.0;    // max |computed - exact|
  double error_bound = 0.0;  // max of the bounds of the elements
  bool ok = true;  // every element lies within its own bound; stricter than max_error <= error_bound
  // The element with the largest error against its bound.
  std::int64_t row = 0, column = 0;
  double computed = 0.0, exact = 0.0, bound = 0.0;
};

// problem: as it was computed, with its device operands. a, b: the same operands on the host. c_before: C
// before the product (read if beta != 0). c_after: the result. scale: the factors of A and B together. Also
// looks that nothing between C's rows was written. cuda: the GPU that holds the device operands; null: all is
// summed on the host.
CheckResult check(const Gemm& problem, const Operand& a, const Operand& b, const Operand& c_before,
                  const Operand& c_after, Device* cuda, double scale = 1.0);

// Sums of rows [first, first + count) of A * B, on the GPU: n * count entries in dots. Defined in check.cu.
void device_dot_products(Device& cuda, const Gemm& problem, std::int64_t first, std::int64_t count,
                         std::vector<DotProduct>* dots);

}  // namespace tenon::command
