// Whether a computed C is right: each element against the exact product, with the bound of
// host/error_bound.hpp, and all of C with the criterion of host/error_statistics.hpp; s32 modulo 2^32, as the
// accumulators wrap.
//
// The exact product is accumulated in FP64 from the rounded inputs, in which s8 products are exact: on the
// host up to 2^27 products, above that on the GPU, if there is one, by a kernel that shares nothing with the
// kernels under test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command_line/operand.hpp"
#include "host/error_bound.hpp"
#include "host/error_statistics.hpp"
#include "tenon/gemm.hpp"
#include "tenon/gemm_scaled.hpp"

namespace tenon::command {

// What is known of the operands: error_statistics.hpp has limits for random signs alone.
enum class Numbers { random, any };

struct CheckResult {
  double max_error = 0.0;    // max |computed - exact|
  double error_bound = 0.0;  // max of the bounds of the elements
  bool ok =
      true;  // every element lies within its own bound, and of random numbers all of C within its limits
  // Frobenius norm of computed - exact over that of exact; mean signed error over mean magnitude.
  double relative_error = 0.0, bias = 0.0;
  double relative_error_limit = 0.0;  // for random numbers
  // Elements that are infinite but whose exact value is not, where an overflow is right.
  std::int64_t overflowed = 0;
  // The element with the largest error against its bound.
  std::int64_t row = 0, column = 0;
  double computed = 0.0, exact = 0.0, bound = 0.0;
  bool elements_ok = true;
  ErrorVerdict verdict;  // of random numbers
};

// The scales of scaled e4m3 operands on the host: gemm_scaled.hpp has their layout. ld_a, ld_b: of blocks.
struct HostScales {
  ScaleMode mode = ScaleMode::per_tensor;
  const float* a = nullptr;
  const float* b = nullptr;
  std::int64_t ld_a = 0, ld_b = 0;

  double of(std::int64_t row, std::int64_t column, std::int64_t k) const {
    if (mode == ScaleMode::per_tensor) return static_cast<double>(a[0]) * static_cast<double>(b[0]);
    if (mode == ScaleMode::per_row_column)
      return static_cast<double>(a[row]) * static_cast<double>(b[column]);
    return static_cast<double>(a[k / 128 * ld_a + row]) *
           static_cast<double>(b[column / 128 * ld_b + k / 128]);
  }
};

// What check() needs to know beside the problem: the bias of each column, decoded, or nothing; the scales of
// the operands, or null.
struct HostEpilogue {
  std::vector<float> bias;
  const HostScales* scales = nullptr;
};

// problem: as it was computed, with its device operands. a, b: the same operands on the host. c_before: C
// before the product (read if beta != 0). c_after: the result. scale: the factors of A and B together. Throws
// Failure(wrong_result) where anything between C's rows was written. cuda: the GPU that holds the device
// operands; null: everything is accumulated on the host.
CheckResult check(const Gemm& problem, const Operand& a, const Operand& b, const Operand& c_before,
                  const Operand& c_after, Device* cuda, Numbers numbers, double scale = 1.0,
                  const HostEpilogue& epilogue = {});

// What is wrong with a result that is not ok: "C[1][2] is ...", "column 3 of C has ...".
std::string fault_text(const CheckResult& result);

// The dot products of rows [first, first + count) of A * B, on the GPU: n * count entries in dots. Defined in
// check.cu.
void device_dot_products(Device& cuda, const Gemm& problem, std::int64_t first, std::int64_t count,
                         std::vector<DotProduct>* dots);

}  // namespace tenon::command
