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

// Half way from each texel to the next along z, into the layers of a surface.
extern "C" __global__ void to_layers(cudaTextureObject_t volume, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf2DLayeredwrite(tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 1.0f), to, 4 * x, y, z);
}

// Three levels of a mipmap: the first, a given one, and that of a gradient along x.
extern "C" __global__ void levels(cudaTextureObject_t mipmap, float level, float gradient, float* out) {
  out[0] = tex2D<float>(mipmap, 0.9f, 0.9f);
  out[1] = tex2DLod<float>(mipmap, 0.9f, 0.9f, level);
  out[2] = tex2DGrad<float>(mipmap, 0.9f, 0.9f, make_float2(gradient, 0), make_float2(0, 0));
}

// The middle of each face of a cube map, and of each face of the last of its layers.
extern "C" __global__ void faces(cudaTextureObject_t cube, cudaTextureObject_t cubes, int last, float* out) {
  const int axis = threadIdx.x / 2;
  const float sign = threadIdx.x % 2 == 0 ? 1 : -1;
  const float x = axis == 0 ? sign : 0, y = axis == 1 ? sign : 0, z = axis == 2 ? sign : 0;
  out[threadIdx.x] = texCubemap<float>(cube, x, y, z);
  out[6 + threadIdx.x] = texCubemapLayered<float>(cubes, x, y, z, last);
}

// Each face of a cube map to one number.
extern "C" __global__ void write_faces(cudaSurfaceObject_t cube, int width) {
  for (int face = 0; face < 6; ++face)
    surfCubemapwrite(10.0f + face, cube, 4 * (threadIdx.x % width), threadIdx.x / width, face);
}

// The other way around: the layers of a texture into a surface of three dimensions, doubled.
extern "C" __global__ void from_layers(cudaTextureObject_t layers, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite(tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z), to, 4 * x, y, z);
  surf3Dwrite(2 * surf3Dread<float>(to, 4 * x, y, z), to, 4 * x, y, z);
}
