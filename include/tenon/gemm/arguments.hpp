// What every GEMM kernel is told at run time.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/raster.hpp"

namespace tenon {

struct GemmArguments {
  int m, n, k;    // >= 1
  const void* a;  // device pointers; lda and ldb in elements
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  Output c;
  float alpha, beta;
  const float* scale_a;  // device pointers, null for 1: fp8 kernels only
  const float* scale_b;
  Raster raster;
  int undivided;  // tiles of the raster before those whose k two blocks share: gemm_wgmma.hpp
};

}  // namespace tenon
