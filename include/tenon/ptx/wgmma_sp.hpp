// wgmma.mma_async.sp: the product of wgmma.hpp with a sparse A. Two of every four neighbours along k are
// stored (tf32: one of two), and the metadata says which. Accumulators, descriptors, fences and waits are the
// same; k is twice that of the dense form.
#pragma once

#include "tenon/ptx/wgmma.hpp"
#include "tenon/ptx/wgmma_sp_assembly.hpp"

namespace tenon::ptx {

// wgmma.mma_async.sp.sync.aligned.m64nNkK.D.A.B d, a, b, metadata, selector, scale-d {, ...};
// PTX ISA 8.2, sm_90a. SASS: as above with .SP. k is twice that of the dense form; A holds two of every four
// elements along k (tf32: one of two), and metadata says which ones. It is read from the threads of each quad
// that the selector names: with types of 16 and 32 bits threads 2 * selector and 2 * selector + 1, with types
// of 8 bits all four, and selector 0 (PTX ISA 9.7.15.6.1).
template <int n, class A, class B, int selector = 0, int scale_a = 1, int scale_b = 1, int trans_a = 0,
          int trans_b = 0, class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sp_sync_aligned(D (&d)[registers], uint64_t a, uint64_t b,
                                                                uint32_t metadata, int32_t scale_d) {
  using Text = WgmmaText<true, false, D, registers, n, A, B, false, scale_a, scale_b, trans_a, trans_b,
                         selector, Dependent>;
  static_assert(Text::exists);
  WgmmaSparseAssembly<D, n>::template ss<Text>(d, a, b, metadata, scale_d);
}
template <int n, class A, class B, int selector = 0, int scale_a = 1, int scale_b = 1, int trans_b = 0,
          class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sp_sync_aligned(D (&d)[registers], const uint32_t (&a)[4],
                                                                uint64_t b, uint32_t metadata,
                                                                int32_t scale_d) {
  using Text =
      WgmmaText<true, true, D, registers, n, A, B, false, scale_a, scale_b, 0, trans_b, selector, Dependent>;
  static_assert(Text::exists);
  WgmmaSparseAssembly<D, n>::template rs<Text>(d, a, b, metadata, scale_d);
}
template <int n, class A, class B, class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sp_sync_aligned_satfinite(D (&d)[registers], uint64_t a,
                                                                          uint64_t b, uint32_t metadata,
                                                                          int32_t scale_d) {
  using Text = WgmmaText<true, false, D, registers, n, A, B, true, 1, 1, 0, 0, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaSparseAssembly<D, n>::template ss<Text>(d, a, b, metadata, scale_d);
}
template <int n, class A, class B, class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sp_sync_aligned_satfinite(D (&d)[registers],
                                                                          const uint32_t (&a)[4], uint64_t b,
                                                                          uint32_t metadata,
                                                                          int32_t scale_d) {
  using Text = WgmmaText<true, true, D, registers, n, A, B, true, 1, 1, 0, 0, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaSparseAssembly<D, n>::template rs<Text>(d, a, b, metadata, scale_d);
}

}  // namespace tenon::ptx
