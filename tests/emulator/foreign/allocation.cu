// Memory that kernels allocate: on the heap, on the stack; and a barrier of the whole grid.
#include <cooperative_groups.h>

extern "C" __global__ void sum_on_the_heap(int* out, int n) {
  int* values = static_cast<int*>(malloc(n * sizeof(int)));
  if (values == nullptr) {
    out[threadIdx.x] = -1;
    return;
  }
  for (int i = 0; i < n; ++i) values[i] = threadIdx.x + i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  out[threadIdx.x] = sum;
  free(values);
}

extern "C" __global__ void make(int** out) {
  out[threadIdx.x] = new int[4]{1, 2, 3, static_cast<int>(threadIdx.x)};
}
extern "C" __global__ void read(int** in, int* out) {
  out[threadIdx.x] = in[threadIdx.x][3];
}
extern "C" __global__ void destroy(int** in) {
  delete[] in[threadIdx.x];
}

extern "C" __global__ void sum_on_the_stack(int* out, int n) {
  int* values = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) values[i] = i * threadIdx.x;
  int sum = 0;
  for (int i = n - 1; i >= 0; --i) sum += values[i] * (i + 1);
  out[threadIdx.x] = sum;
}

// Each block passes its number to the block on the other side of the grid, twice.
extern "C" __global__ void mirror(int* out) {
  const auto grid = cooperative_groups::this_grid();
  const int other = gridDim.x - 1 - blockIdx.x;
  out[blockIdx.x] = blockIdx.x;
  grid.sync();
  const int received = out[other];
  grid.sync();
  out[blockIdx.x] = 10 * received;
}
