// Runs cp_async_ring.cu or tma_ring.cu, for fewer rows than there are stages and for more.
#include "example.hpp"

void launch(const float* in, float* out, int rows);

int main() {
  need_sm(RING_SM);
  int failed = 0;
  for (const int rows : {0, 1, 2, 3, 4, 5, 33}) {
    const float* in = integers<float>(static_cast<std::size_t>(rows) * 128 + 1);
    float* out = integers<float>(128);
    launch(in, out, rows);
    failed += check(128, [=](int i) {
      float sum = 0.0F;
      for (int row = 0; row < rows; ++row) sum += in[128 * row + 127 - i];
      return out[i] == sum;
    });
  }
  return failed == 0 ? 0 : 1;
}
