// What acceptance and cost of a kernel both ask of a problem.
#pragma once

#include <cstdint>

#include "gemm/result.hpp"
#include "tenon/gemm/output.hpp"

namespace tenon {

inline std::int64_t round_up_divide(std::int64_t x, std::int64_t y) noexcept {
  return x / y + (x % y != 0 ? 1 : 0);
}

// Whether TMA can store the result.
inline bool tma_can_store(const Gemm& problem) noexcept {
  return tma_can_store(Output{result_of(problem).data, result_of(problem).ld, static_cast<int>(problem.m),
                              static_cast<int>(columns_of_result(problem)), result_of(problem).type});
}

}  // namespace tenon
