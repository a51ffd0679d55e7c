// A ring filled by cp.async: while the block adds one row, the copies of the next three are under way.
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/ptx/shared_address.hpp"
using namespace tenon;
using Ring = CpAsyncRing<4>;

// out = the sum of `rows` rows of 128 floats, from right to left. One block of 128 threads.
__global__ void add_rows(const float* in, float* out, int rows) {
  __shared__ float memory[4][128];
  const int t = threadIdx.x;
  const auto copy = [&](int row) {
    float* to = &memory[row % 4][t];
    if (row < rows) ptx::cp_async_ca_shared_global_4(ptx::shared_address(to), in + 128 * row + t);
    Ring::commit();
  };
  for (int row = 0; row < 3; ++row) copy(row);
  float sum = 0.0F;
  for (int row = 0; row < rows; ++row) {
    Ring::wait_oldest();  // `row` has landed for all, and all have read the row before:
    copy(row + 3);        // its place is free
    sum += memory[row % 4][127 - t];
  }
  out[t] = sum;
}

void launch(const float* in, float* out, int rows) {
  add_rows<<<1, 128>>>(in, out, rows);
}
