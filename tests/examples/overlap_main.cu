// Runs the kernel of overlap_sm90.cu between two products many times, without and with overlap of the
// products, and checks every result: a kernel that did not wait would read what is not yet written.
#include "example.hpp"
#include "overlap_sm90.cu"
#include "tenon/gemm/launch_sm90.hpp"

namespace {

using Kernel = tenon::sm90::GemmKernel<tenon::sm90::Config<half, float, 64, 64>>;

template <class TC>
tenon::Status product(int m, int n, int k, const half* a, const half* b, TC* c, bool overlaps) {
  tenon::GemmProblem<half, TC> problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, k}, problem.b = {b, k}, problem.c = {c, n};
  return tenon::launch<Kernel>(problem, {1.0F, 0.0F}, nullptr, {0, overlaps});
}

}  // namespace

int main() {
  need_sm(90);
  constexpr int m = 512, hidden = 512, n = 256, k = 64;
  const half *x = integers<half>(m * k), *w1 = integers<half>(hidden * k), *w2 = integers<half>(n * hidden);
  half* y = integers<half>(m * hidden);
  float* z = integers<float>(m * n);
  int status = 0;
  for (const bool overlaps : {false, true}) {
    for (int i = 0; i < m * n; ++i) z[i] = -1e9F;
    for (int round = 0; round < 50; ++round) {
      tenon::Status s = product(m, hidden, k, x, w1, y, overlaps);
      if (s && launch_relu(y, m * hidden, nullptr) != cudaSuccess) return 1;
      if (s) s = product(m, n, hidden, y, w2, z, overlaps);
      if (!s) {
        std::printf("%s\n", s.message());
        return 1;
      }
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    status |= check(m * hidden, [&](int i) {
      return static_cast<float>(y[i]) == fmaxf(dot(x, w1, i / hidden, i % hidden, k), 0.0F);
    });
    status |= check(m * n, [&](int i) { return z[i] == dot(y, w2, i / n, i % n, hidden); });
  }
  return status;
}
