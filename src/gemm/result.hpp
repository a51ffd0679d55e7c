// Where the result of a Gemm goes, and whether that takes a kernel with FusedEpilogue.
#pragma once

#include "tenon/gemm.hpp"

namespace tenon {

// Whether D is apart from C.
constexpr bool has_d(const Gemm& problem) noexcept {
  return problem.d.data != nullptr || problem.d.ld != 0;
}

// The matrix that is written.
constexpr const Matrix& result_of(const Gemm& problem) noexcept {
  return has_d(problem) ? problem.d : problem.c;
}
constexpr Matrix& result_of(Gemm& problem) noexcept {
  return has_d(problem) ? problem.d : problem.c;
}

// Of the matrix that is written.
constexpr std::int64_t columns_of_result(const Gemm& problem) noexcept {
  return problem.epilogue.gated ? problem.n / 2 : problem.n;
}

// Whether C is read from another matrix than the one that is written. With beta == 0 there is no C.
constexpr bool reads_c_apart(const Gemm& problem) noexcept {
  return problem.beta != 0.0 && has_d(problem) && problem.d.data != problem.c.data;
}

// Whether sums of integers are to become floats, or s8.
constexpr bool converts_integers(const Gemm& problem) noexcept {
  return problem.accumulate == Type::s32 && result_of(problem).type != Type::s32;
}

// An output of 8 bits is rounded by the epilogue.
constexpr bool needs_fused_epilogue(const Gemm& problem) noexcept {
  return reads_c_apart(problem) || converts_integers(problem) || !problem.epilogue.empty() ||
         bytes(result_of(problem).type) == 1;
}

}  // namespace tenon
