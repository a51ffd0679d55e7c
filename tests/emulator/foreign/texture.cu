// Texture and surface functions of CUDA C++.

// Each texel of `half` is the mean of four texels of `image`, which is twice as wide and high.
extern "C" __global__ void halve(cudaTextureObject_t image, cudaSurfaceObject_t half, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float4 mean = tex2D<float4>(image, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite(make_uchar4(__float2int_rn(255 * mean.x), __float2int_rn(255 * mean.y),
                          __float2int_rn(255 * mean.z), __float2int_rn(255 * mean.w)),
              half, 4 * x, y);
}

extern "C" __global__ void look_up(cudaTextureObject_t table, const int* indices, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(table, indices[threadIdx.x]);
}

// The sum of the 3 x 3 neighbours, with the nearest texels outside.
extern "C" __global__ void sum(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x >= width || y >= height) return;
  int total = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      total += surf2Dread<short>(from, 2 * (x + dx), y + dy, cudaBoundaryModeClamp);
  surf2Dwrite(total, to, 4 * x, y);
}

extern "C" __global__ void corners(cudaTextureObject_t image, float x, float y, float4* out) {
  *out = tex2Dgather<float4>(image, x, y, 0);
}
