// Compiled and checked by tests/scripts/test_sass.py: a tensor-core kernel, an FP32 kernel, one that spills.
// Without headers, because the test compiles it many times.
namespace sample {

template <int steps>
__global__ void tensor(const unsigned* a, const unsigned* b, float* c) {
  float d[4] = {};
#pragma unroll
  for (int i = 0; i < steps; ++i, a += 128, b += 64) {
    const int lane = threadIdx.x;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[lane]), "r"(a[lane + 32]), "r"(a[lane + 64]), "r"(a[lane + 96]), "r"(b[lane]),
          "r"(b[lane + 32]));
  }
  for (int i = 0; i < 4; ++i) c[4 * threadIdx.x + i] = d[i];
}
template __global__ void tensor<8>(const unsigned*, const unsigned*, float*);

}  // namespace sample

__global__ void plain(float* a) {
  __shared__ float row[64];
  row[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  float sum = 0.0F;
  for (int i = 0; i < 64; ++i) sum += row[i] * a[i];
  a[threadIdx.x] = sum;
}

// 96 live values, and a launch bound that leaves 32 registers.
__global__ void __launch_bounds__(1024, 2) spilling(float* a) {
  float value[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) value[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) a[i * 1024 + threadIdx.x] = value[95 - i] * value[(i * 7) % 96];
}

#ifdef WITH_MAIN
int main() {
  return 0;
}
#endif
