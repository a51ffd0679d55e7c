// The C++ host API: c = 2 * a * b, of a size that nothing divides. Link with tenon::tenon.
#include "tenon/gemm.hpp"

#include <cuda_fp16.h>

#include "example.hpp"

int main() {
  constexpr int m = 100, n = 70, k = 33;
  const __half* a = integers<__half>(m * k);  // row-major
  const __half* b = integers<__half>(k * n);  // column-major: n columns of k
  float* c = integers<float>(m * n);
  tenon::Gemm problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = {a, k, tenon::row_major};
  problem.b = {b, k, tenon::column_major};
  problem.c = {c, n};
  problem.alpha = 2.0F;
  if (const tenon::Status s = tenon::gemm(problem); !s) {
    std::fprintf(stderr, "%s\n", s.message());
    return 1;
  }
  return check(m * n, [=](int i) { return c[i] == 2.0F * dot(a, b, i / n, i % n, k); });
}
