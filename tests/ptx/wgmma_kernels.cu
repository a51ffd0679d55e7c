// A kernel a form of wgmma: loads operands, multiplies once, stores the accumulators. Its name says the form,
// and wgmma_test.cpp reads it: D_A_B_nN, then what there is of rs (A in registers), sp0 sp1 (sparse, with
// selector), na nb (negated), ta tb (transposed), sat.
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/wgmma_sp.hpp"

namespace ptx = tenon::ptx;

constexpr int most_image_bytes = 40 << 10;

struct Operands {
  ptx::uint32_t a_registers[4];
  ptx::uint64_t a, b;  // descriptors
  ptx::uint32_t metadata;
  ptx::int32_t scale_d;
};

// multiply(d, operands): one wgmma. image: A and B as they shall stand in shared memory, at its start; a and
// b: descriptors of an image at address 0.
template <class D, int registers, class Multiply>
__device__ __forceinline__ void run(const ptx::uint32_t* image, const ptx::uint32_t* a_registers,
                                    const D* start, D* to, ptx::uint64_t a, ptx::uint64_t b,
                                    const ptx::uint32_t* metadata, int image_words, int scale_d,
                                    Multiply multiply) {
  __shared__ alignas(1024) ptx::uint32_t shared[most_image_bytes / 4];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < image_words; i += 128) shared[i] = image[i];
  D d[registers];
  for (int i = 0; i < registers; ++i) d[i] = start[thread * registers + i];
  const ptx::uint64_t moved = ptx::shared_address(shared) >> 4;
  Operands operands{{}, a + moved, b + moved, metadata[thread], scale_d};
  for (int i = 0; i < 4; ++i) operands.a_registers[i] = a_registers[thread * 4 + i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  ptx::wgmma_fence_sync_aligned(d, operands.a_registers);
  multiply(d, operands);
  ptx::wgmma_commit_group_sync_aligned();
  ptx::wgmma_wait_group_sync_aligned<0>(d);
  for (int i = 0; i < registers; ++i) to[thread * registers + i] = d[i];
}

// Macros, because what has a name in PTX has to have one here.
#define KERNEL(name, D, n, instruction)                                                                     \
  extern "C" __global__ void __launch_bounds__(128)                                                         \
      name(const ptx::uint32_t* image, const ptx::uint32_t* a_registers, const D* start, D* to,             \
           ptx::uint64_t a, ptx::uint64_t b, const ptx::uint32_t* metadata, int image_words, int scale_d) { \
    run<D, ptx::wgmma_registers<D, n>>(                                                                     \
        image, a_registers, start, to, a, b, metadata, image_words, scale_d,                                \
        [](D(&d)[ptx::wgmma_registers<D, n>], const Operands& o) { instruction; });                         \
  }
using f32 = float;
using f16 = ptx::uint32_t;  // two of them
using s32 = ptx::int32_t;
#define FORM(D, A, B, n) n, ptx::type_##A, ptx::type_##B

// Dense and sparse, A from shared memory and in registers.
#define SS(D, A, B, n)               \
  KERNEL(D##_##A##_##B##_n##n, D, n, \
         (ptx::wgmma_mma_async_sync_aligned<FORM(D, A, B, n)>(d, o.a, o.b, o.scale_d)))
#define RS(D, A, B, n)                    \
  KERNEL(D##_##A##_##B##_n##n##_rs, D, n, \
         (ptx::wgmma_mma_async_sync_aligned<FORM(D, A, B, n)>(d, o.a_registers, o.b, o.scale_d)))
#define SPARSE_SS(D, A, B, n, selector)                                                             \
  KERNEL(D##_##A##_##B##_n##n##_sp##selector, D, n,                                                 \
         (ptx::wgmma_mma_async_sp_sync_aligned<FORM(D, A, B, n), selector>(d, o.a, o.b, o.metadata, \
                                                                           o.scale_d)))
#define SPARSE_RS(D, A, B, n, selector)                                                           \
  KERNEL(D##_##A##_##B##_n##n##_rs_sp##selector, D, n,                                            \
         (ptx::wgmma_mma_async_sp_sync_aligned<FORM(D, A, B, n), selector>(d, o.a_registers, o.b, \
                                                                           o.metadata, o.scale_d)))

#define EACH_SOURCE(D, A, B, n) \
  SS(D, A, B, n) RS(D, A, B, n) SPARSE_SS(D, A, B, n, 0) SPARSE_RS(D, A, B, n, 0)
#define EACH_SELECTOR(D, A, B, n) EACH_SOURCE(D, A, B, n) SPARSE_SS(D, A, B, n, 1) SPARSE_RS(D, A, B, n, 1)

// Every type.
EACH_SELECTOR(f32, f16, f16, 24);
EACH_SELECTOR(f16, f16, f16, 24);
EACH_SELECTOR(f32, bf16, bf16, 24);
EACH_SELECTOR(f32, tf32, tf32, 24);
EACH_SOURCE(f32, e4m3, e4m3, 24);
EACH_SOURCE(f32, e4m3, e5m2, 24);
EACH_SOURCE(f32, e5m2, e4m3, 24);
EACH_SOURCE(f32, e5m2, e5m2, 24);
EACH_SOURCE(f16, e4m3, e4m3, 24);
EACH_SOURCE(f16, e4m3, e5m2, 24);
EACH_SOURCE(f16, e5m2, e4m3, 24);
EACH_SOURCE(f16, e5m2, e5m2, 24);
EACH_SOURCE(s32, s8, s8, 24);
EACH_SOURCE(s32, s8, u8, 24);
EACH_SOURCE(s32, u8, s8, 24);
EACH_SOURCE(s32, u8, u8, 24);
SS(s32, b1, b1, 24);
RS(s32, b1, b1, 24);

// Every n of every type of D (24 is above): one form that has few operands, and the one that has all of them.
#define EVERY_N(D, A, n) SS(D, A, A, n) SPARSE_RS(D, A, A, n, 0)
#define FLOAT_SUMS(D)   \
  EVERY_N(D, f16, 8);   \
  EVERY_N(D, f16, 16);  \
  EVERY_N(D, f16, 32);  \
  EVERY_N(D, f16, 40);  \
  EVERY_N(D, f16, 48);  \
  EVERY_N(D, f16, 56);  \
  EVERY_N(D, f16, 64);  \
  EVERY_N(D, f16, 72);  \
  EVERY_N(D, f16, 80);  \
  EVERY_N(D, f16, 88);  \
  EVERY_N(D, f16, 96);  \
  EVERY_N(D, f16, 104); \
  EVERY_N(D, f16, 112); \
  EVERY_N(D, f16, 120); \
  EVERY_N(D, f16, 128); \
  EVERY_N(D, f16, 136); \
  EVERY_N(D, f16, 144); \
  EVERY_N(D, f16, 152); \
  EVERY_N(D, f16, 160); \
  EVERY_N(D, f16, 168); \
  EVERY_N(D, f16, 176); \
  EVERY_N(D, f16, 184); \
  EVERY_N(D, f16, 192); \
  EVERY_N(D, f16, 200); \
  EVERY_N(D, f16, 208); \
  EVERY_N(D, f16, 216); \
  EVERY_N(D, f16, 224); \
  EVERY_N(D, f16, 232); \
  EVERY_N(D, f16, 240); \
  EVERY_N(D, f16, 248); \
  EVERY_N(D, f16, 256)
#define INTEGER_SUMS(D) \
  EVERY_N(D, s8, 8);    \
  EVERY_N(D, s8, 16);   \
  EVERY_N(D, s8, 32);   \
  EVERY_N(D, s8, 48);   \
  EVERY_N(D, s8, 64);   \
  EVERY_N(D, s8, 80);   \
  EVERY_N(D, s8, 96);   \
  EVERY_N(D, s8, 112);  \
  EVERY_N(D, s8, 128);  \
  EVERY_N(D, s8, 144);  \
  EVERY_N(D, s8, 160);  \
  EVERY_N(D, s8, 176);  \
  EVERY_N(D, s8, 192);  \
  EVERY_N(D, s8, 208);  \
  EVERY_N(D, s8, 224);  \
  EVERY_N(D, s8, 240);  \
  EVERY_N(D, s8, 256)
FLOAT_SUMS(f32);
FLOAT_SUMS(f16);
INTEGER_SUMS(s32);

// Transposed and negated, one by one and together.
#define MODIFIED(name, D, A, n, ...) \
  KERNEL(name, D, n,                 \
         (ptx::wgmma_mma_async_sync_aligned<FORM(D, A, A, n), __VA_ARGS__>(d, o.a, o.b, o.scale_d)))
#define MODIFIED_RS(name, D, A, n, ...) \
  KERNEL(                               \
      name, D, n,                       \
      (ptx::wgmma_mma_async_sync_aligned<FORM(D, A, A, n), __VA_ARGS__>(d, o.a_registers, o.b, o.scale_d)))
#define MODIFIED_SPARSE(name, D, A, n, ...)                                                            \
  KERNEL(name, D, n,                                                                                   \
         (ptx::wgmma_mma_async_sp_sync_aligned<FORM(D, A, A, n), __VA_ARGS__>(d, o.a, o.b, o.metadata, \
                                                                              o.scale_d)))
MODIFIED(f32_f16_f16_n128_ta, f32, f16, 128, 1, 1, 1, 0);
MODIFIED(f32_f16_f16_n128_tb, f32, f16, 128, 1, 1, 0, 1);
MODIFIED(f32_bf16_bf16_n128_ta_tb, f32, bf16, 128, 1, 1, 1, 1);
MODIFIED(f16_f16_f16_n128_na_ta, f16, f16, 128, -1, 1, 1, 0);
MODIFIED(f16_f16_f16_n128_nb_tb, f16, f16, 128, 1, -1, 0, 1);
MODIFIED(f32_bf16_bf16_n24_na_nb, f32, bf16, 24, -1, -1);
MODIFIED(f32_f16_f16_n24_na, f32, f16, 24, -1);
MODIFIED(f32_f16_f16_n24_nb, f32, f16, 24, 1, -1);
MODIFIED(f32_tf32_tf32_n24_na, f32, tf32, 24, -1);
MODIFIED(f32_tf32_tf32_n24_nb, f32, tf32, 24, 1, -1);
MODIFIED(f16_e4m3_e4m3_n24_na, f16, e4m3, 24, -1);
MODIFIED(f32_e5m2_e5m2_n24_nb, f32, e5m2, 24, 1, -1);
MODIFIED_RS(f32_f16_f16_n128_rs_tb, f32, f16, 128, 1, 1, 1);
MODIFIED_RS(f32_bf16_bf16_n128_rs_na_tb, f32, bf16, 128, -1, 1, 1);
MODIFIED_RS(f32_tf32_tf32_n24_rs_nb, f32, tf32, 24, 1, -1);
MODIFIED_SPARSE(f32_f16_f16_n128_sp0_ta, f32, f16, 128, 0, 1, 1, 1, 0);
MODIFIED_SPARSE(f32_bf16_bf16_n128_sp1_nb_tb, f32, bf16, 128, 1, 1, -1, 0, 1);
MODIFIED_SPARSE(f32_tf32_tf32_n24_sp0_na, f32, tf32, 24, 0, -1);

// Sums of integers that stop at the ends of s32.
KERNEL(s32_s8_s8_n24_sat, s32, 24,
       (ptx::wgmma_mma_async_sync_aligned_satfinite<FORM(s32, s8, s8, 24)>(d, o.a, o.b, o.scale_d)));
KERNEL(s32_s8_u8_n24_rs_sat, s32, 24,
       (ptx::wgmma_mma_async_sync_aligned_satfinite<FORM(s32, s8, u8, 24)>(d, o.a_registers, o.b,
                                                                           o.scale_d)));
KERNEL(s32_u8_s8_n24_sp0_sat, s32, 24,
       (ptx::wgmma_mma_async_sp_sync_aligned_satfinite<FORM(s32, u8, s8, 24)>(d, o.a, o.b, o.metadata,
                                                                              o.scale_d)));
KERNEL(s32_u8_u8_n24_rs_sp0_sat, s32, 24,
       (ptx::wgmma_mma_async_sp_sync_aligned_satfinite<FORM(s32, u8, u8, 24)>(d, o.a_registers, o.b,
                                                                              o.metadata, o.scale_d)));
