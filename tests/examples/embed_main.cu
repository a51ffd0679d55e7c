// Runs embed.cu, at a size that fills no tile.
#include "embed.cu"
#include "example.hpp"

int main() {
  constexpr int m = 150, n = 131, k = 77;
  const half* x = integers<half>(m * k);
  const half* w = integers<half>(n * k);
  const float* bias = integers<float>(n);
  half* y = integers<half>(m * n);
  launch(m, n, k, x, w, bias, y);
  return check(m * n, [=](int i) {
    return __half2float(y[i]) == fmaxf(dot(x, w, i / n, i % n, k) + bias[i % n], 0.0F);
  });
}
