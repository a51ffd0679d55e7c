// What every GEMM kernel is told at run time.
#pragma once

#include <limits>

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/raster.hpp"

namespace tenon {

// More rows than a matrix has: of a tile all lines are copied, those beyond the matrix as zeros.
inline constexpr int all_of_it = std::numeric_limits<int>::max();

struct GemmArguments {
  int m, n, k;    // >= 1
  const void* a;  // device pointers; lda and ldb in elements
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  Output c;
  float alpha, beta;
  Raster raster;
  // Device pointers to factors of A and B, null for 1: fp8 kernels only.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  // Of the wgmma kernels: the tiles of the raster before those whose k two blocks share; and the rows of A
  // and columns of B beyond which nothing is copied (TileCopy): m and n, or all_of_it.
  int undivided = raster.tiles(), copied_m = all_of_it, copied_n = all_of_it;
};

}  // namespace tenon
