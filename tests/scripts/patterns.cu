// Compiled by tests/scripts/test_kernel_report.py: one kernel for each pattern to find, and clean ones.
// Without headers, to compile fast. Each kernel is extern "C", so its name in the machine code is its name
// here.
using u32 = unsigned;
using u64 = unsigned long long;

__device__ __forceinline__ void mma(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Uses several accumulators in rotation, or always the same one.
template <int accumulators>
__device__ void products(const u32* in, float* out, int trips) {
  const int lane = static_cast<int>(threadIdx.x);
  u32 a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = in[lane + 32 * i];
  for (int i = 0; i < 2; ++i) b[i] = in[lane + 32 * (4 + i)];
  float d[accumulators][4] = {};
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < 8; ++i) mma(d[i % accumulators], a, b);
  }
  for (int i = 0; i < 4 * accumulators; ++i) out[lane + 32 * i] = d[i / 4][i % 4];
}
extern "C" __global__ void independent(const u32* in, float* out, int trips) {
  products<4>(in, out, trips);
}
extern "C" __global__ void dependent(const u32* in, float* out, int trips) {
  products<1>(in, out, trips);
}

// Loads operands element by element, through shared memory and a barrier.
extern "C" __global__ void narrow(const unsigned short* in, float* out, int trips) {
  __shared__ u32 tile[192];
  const int lane = static_cast<int>(threadIdx.x);
  float d[4] = {};
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip, in += 384) {
    for (int i = 0; i < 6; ++i) {
      tile[lane + 32 * i] = in[2 * lane + 64 * i + 1] * 65536U + in[2 * lane + 64 * i];
    }
    __syncthreads();
    const u32 a[4] = {tile[31 - lane], tile[63 - lane], tile[95 - lane], tile[127 - lane]};
    const u32 b[2] = {tile[159 - lane], tile[191 - lane]};
    mma(d, a, b);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) out[lane + 32 * i] = d[i];
}

// A matrix product in FP32.
extern "C" __global__ void fp32(const float* a, const float* b, float* c, int k) {
  float sum = 0.0F;
  for (int i = 0; i < k; ++i) sum += a[static_cast<int>(threadIdx.x) * k + i] * b[i];
  c[threadIdx.x] = sum;
}

extern "C" __global__ void copy(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

// int4, which sm_90 executes in software, in a called function.
extern "C" __global__ void int4_products(const u32* in, int* out, int trips) {
  int d[4] = {};
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    asm volatile(
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(in[i]), "r"(in[i + 1]), "r"(in[i + 2]), "r"(in[i + 3]), "r"(in[i + 4]), "r"(in[i + 5]));
  }
  for (int i = 0; i < 4; ++i) out[i] = d[i];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// fp8 by mma.sync, which sm_90 executes as f16.
extern "C" __global__ void fp8_products(const u32* in, float* out, int trips) {
  float d[4] = {};
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(in[i]), "r"(in[i + 1]), "r"(in[i + 2]), "r"(in[i + 3]), "r"(in[i + 4]), "r"(in[i + 5]));
  }
  for (int i = 0; i < 4; ++i) out[i] = d[i];
}

// Four wgmma as one group, or a wait after each. (The descriptors come from memory: nothing here is
// executed.)
template <bool serialised>
__device__ void warpgroup(const u64* descriptors, float* out, int trips) {
  float d[4] = {};
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "l"(descriptors[trip] + 2 * i), "l"(descriptors[trip + 1] + 2 * i));
      if (serialised || i == 3) {
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
      }
      if (serialised && i < 3) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    }
  }
  for (int i = 0; i < 4; ++i) out[128 * i + static_cast<int>(threadIdx.x)] = d[i];
}
extern "C" __global__ void wgmma_in_groups(const u64* in, float* out, int trips) {
  warpgroup<false>(in, out, trips);
}
extern "C" __global__ void wgmma_serialised(const u64* in, float* out, int trips) {
  warpgroup<true>(in, out, trips);
}
#endif
