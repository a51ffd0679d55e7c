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
  Raster raster;
  // Device pointers to factors of A and B, null for 1: fp8 kernels only.
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  // Of the wgmma kernels: rows of the boxes in which A is copied, all of a part's but where A has fewer; and
  // the tiles of the raster before those whose k two blocks share.
  int box_rows = 0, undivided = 0;
};

}  // namespace tenon
