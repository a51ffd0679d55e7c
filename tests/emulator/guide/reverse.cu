// Reverses the 256 numbers of each block, but for a __syncthreads() that is missing between the two lines.
extern "C" __global__ void reverse(float* x) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[256 * blockIdx.x + threadIdx.x];
  x[256 * blockIdx.x + threadIdx.x] = tile[255 - threadIdx.x];
}
