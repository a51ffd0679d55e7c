// wgmma.mma_async: D = A * B + D, computed by the four warps of a warpgroup together from operands in shared
// memory, while the warps go on. D is 64 x n, A is 64 x k, B is k x n; k fills 32 bytes of the operands'
// type. Sparse A: wgmma_sp.hpp.
//
//   float d[n / 2];                                                 // D: uint32_t d[n / 4] for f16
//   wgmma_fence_sync_aligned();                                     // d (and a in registers) are written
//   wgmma_mma_async_sync_aligned<n, type_f16, type_f16>(d, a, b, 0);  // 0: D = A * B, without + D
//   wgmma_mma_async_sync_aligned<n, type_f16, type_f16>(d, a + 2, b + 2, 1);
//   wgmma_commit_group_sync_aligned();
//   wgmma_wait_group_sync_aligned<0>(d);                            // before d is looked at
//
// a and b are matrix descriptors (shared/matrix_descriptor.hpp); a may be four registers instead. Between an
// instruction and the wait for its group the program must not touch d, the registers of a, or the shared
// memory that the descriptors name. warp/wgmma_accumulator.hpp is a type that makes d inaccessible meanwhile.
// All 128 threads of a warpgroup execute the instruction; the number of the warpgroup's first warp is a
// multiple of four.
//
// In thread t, with w = t / 32, g = t % 32 / 4 and q = t % 4 (PTX ISA 9.7.15.5.1.1):
//   d element i:   row 16w + g + 8 * (i / 2 % 2), column 8 * (i / 4) + 2q + i % 2; f16: two in a register
//   a register r:  row 16w + g + 8 * (r % 2), the 32 bits from bit 32q + 128 * (r / 2) of the row
//
// Only sm_90a has it. The asm statements need a CUDA Toolkit that knows the constraint "C"; CUDA 13.0 does.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/operand_types.hpp"
#include "tenon/ptx/wgmma_assembly.hpp"
#include "tenon/ptx/wgmma_sync.hpp"

namespace tenon::ptx {

// Whether wgmma multiplies A by B into D (float: f32; uint32_t: two f16 a register; int32_t: s32).
template <class D, class A, class B>
inline constexpr bool wgmma_has_types = is_type<D, float>
                                            ? (is_type<A, B>&& A::bits >= 16) || (is_fp8<A> && is_fp8<B>)
                                        : is_type<D, uint32_t> ? (is_type<A, B>&& is_type<A, type_f16>) ||
                                                                     (is_fp8<A> && is_fp8<B>)
                                        : is_type<D, int32_t> ? (is_type<A, B>&& is_type<A, type_b1>) ||
                                                                    (is_int8<A> && is_int8<B>)
                                                              : false;

// Whether wgmma has this n: multiples of 8 up to 256; with s32 accumulators 8, 16, 24 and multiples of 16.
template <class D, int n>
inline constexpr bool wgmma_has_n = n >= 8 && n <= 256 &&
                                    (is_type<D, int32_t> ? n % 16 == 0 || n == 8 || n == 24 : n % 8 == 0);

template <class D, int n>
inline constexpr int wgmma_registers = is_type<D, uint32_t> ? n / 4 : n / 2;

// The text after the types of A and B.
template <bool popc, bool satfinite>
struct WgmmaSuffix {
  static constexpr char text[] = "";
};
template <>
struct WgmmaSuffix<true, false> {
  static constexpr char text[] = ".and.popc";
};
template <>
struct WgmmaSuffix<false, true> {
  static constexpr char text[] = ".satfinite";
};

// The text of the `count` immediates after scale-d: none for integers; the signs of A and B; for 16-bit types
// also whether they are transposed, which A can be only in shared memory.
template <int count, int scale_a, int scale_b, int trans_a, int trans_b>
struct WgmmaImmediates {
  static constexpr char text[] = "";
};
template <int scale_a, int scale_b, int trans_a, int trans_b>
struct WgmmaImmediates<2, scale_a, scale_b, trans_a, trans_b> {
  static constexpr char text[] = {',', scale_a < 0 ? '-' : ' ', '1', ',', scale_b < 0 ? '-' : ' ', '1', 0};
};
template <int scale_a, int scale_b, int trans_a, int trans_b>
struct WgmmaImmediates<3, scale_a, scale_b, trans_a, trans_b> {
  static constexpr char text[] = {',', scale_a < 0 ? '-' : ' ',  '1', ',', scale_b < 0 ? '-' : ' ', '1',
                                  ',', trans_b == 0 ? '0' : '1', 0};
};
template <int scale_a, int scale_b, int trans_a, int trans_b>
struct WgmmaImmediates<4, scale_a, scale_b, trans_a, trans_b> {
  static constexpr char text[] = {
      ',', scale_a < 0 ? '-' : ' ',  '1', ',', scale_b < 0 ? '-' : ' ', '1', ',', trans_a == 0 ? '0' : '1',
      ',', trans_b == 0 ? '0' : '1', 0};
};

// The text that WgmmaAssembly takes as constants, and whether the instruction exists.
template <bool sparse, bool a_in_registers, class D, int registers, int n, class TypeA, class TypeB,
          bool satfinite, int scale_a, int scale_b, int trans_a, int trans_b, int select, class Dependent>
struct WgmmaText {
  static_assert(
      is_sm_90a<Dependent>,
      "tenon::ptx::wgmma_mma_async needs sm_90a: compile with -gencode arch=compute_90a,code=sm_90a "
      "(-arch=sm_90a compiles for compute_90, too)");
  static_assert(wgmma_has_types<D, TypeA, TypeB>,
                "wgmma_mma_async: no instruction multiplies these types of A and B into this type of D "
                "(float: f32, uint32_t: pairs of f16, int32_t: s32)");
  static_assert(wgmma_has_n<D, n>,
                "wgmma_mma_async: n must be a multiple of 8 from 8 to 256; with s32 accumulators 8, 24 or a "
                "multiple of 16");
  static_assert(registers == wgmma_registers<D, n>,
                "wgmma_mma_async: d must have n / 2 elements, or n / 4 registers of two f16");
  static_assert((scale_a == 1 || scale_a == -1) && (scale_b == 1 || scale_b == -1),
                "wgmma_mma_async: scale_a and scale_b must be 1 or -1");
  static_assert(!is_type<D, int32_t> || (scale_a == 1 && scale_b == 1),
                "wgmma_mma_async: integer operands cannot be negated");
  static_assert((trans_a == 0 || trans_a == 1) && (trans_b == 0 || trans_b == 1),
                "wgmma_mma_async: trans_a and trans_b must be 0 or 1");
  static_assert(TypeA::bits == 16 || (trans_a == 0 && trans_b == 0),
                "wgmma_mma_async: only types of 16 bits can be transposed, others are k-major");
  static_assert(!satfinite || is_int8<TypeA>, "wgmma_mma_async: only s8 and u8 operands have .satfinite");
  static_assert(!sparse || !is_type<TypeA, type_b1>, "wgmma_mma_async_sp: there is no sparse b1");
  static_assert(select == 0 || (select == 1 && TypeA::bits >= 16),
                "wgmma_mma_async_sp: the selector must be 0 or 1, and 0 for types of 8 bits");

  using A = TypeA;
  using B = TypeB;
  using Suffix = WgmmaSuffix<is_type<A, type_b1>, satfinite>;
  static constexpr int immediates = is_type<D, int32_t> ? 0 : A::bits != 16 ? 2 : a_in_registers ? 3 : 4;
  using Immediates = WgmmaImmediates<immediates, scale_a, scale_b, trans_a, trans_b>;
  static constexpr int k = 256 / A::bits * (sparse ? 2 : 1);
  static constexpr int selector = select;
  static constexpr bool exists = true;  // the assertions are judged when this is asked for
};

// wgmma.mma_async.sync.aligned.m64nNkK.D.A.B d, a, b, scale-d {, scale-a, scale-b {, {trans-a,} trans-b}};
// (b1: .s32.b1.b1.and.popc). PTX ISA 8.0 (mixed operand types of 8 bits: 8.4), sm_90a.
// SASS: HGMMA (f16, bf16, tf32), QGMMA (fp8), IGMMA, BGMMA.
// scale_d: 0 for D = A * B, anything else for D = A * B + D. scale_a, scale_b: -1 negates the operand.
// trans_a: A is m-major, trans_b: B is n-major, as their descriptors have to agree; 0: k-major.
template <int n, class A, class B, int scale_a = 1, int scale_b = 1, int trans_a = 0, int trans_b = 0,
          class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sync_aligned(D (&d)[registers], uint64_t a, uint64_t b,
                                                             int32_t scale_d) {
  using Text =
      WgmmaText<false, false, D, registers, n, A, B, false, scale_a, scale_b, trans_a, trans_b, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaAssembly<D, n>::template ss<Text>(d, a, b, scale_d);
}
// A in registers.
template <int n, class A, class B, int scale_a = 1, int scale_b = 1, int trans_b = 0, class D, int registers,
          class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sync_aligned(D (&d)[registers], const uint32_t (&a)[4],
                                                             uint64_t b, int32_t scale_d) {
  using Text =
      WgmmaText<false, true, D, registers, n, A, B, false, scale_a, scale_b, 0, trans_b, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaAssembly<D, n>::template rs<Text>(d, a, b, scale_d);
}

// wgmma.mma_async.sync.aligned.m64nNk32.s32.A.B.satfinite d, a, b, scale-d;    A, B: s8, u8
// PTX ISA 8.0, sm_90a. SASS: IGMMA.64xNx32.A.B.SAT. Sums stop at the ends of s32.
template <int n, class A, class B, class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sync_aligned_satfinite(D (&d)[registers], uint64_t a,
                                                                       uint64_t b, int32_t scale_d) {
  using Text = WgmmaText<false, false, D, registers, n, A, B, true, 1, 1, 0, 0, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaAssembly<D, n>::template ss<Text>(d, a, b, scale_d);
}
template <int n, class A, class B, class D, int registers, class Dependent = void>
__device__ __forceinline__ void wgmma_mma_async_sync_aligned_satfinite(D (&d)[registers],
                                                                       const uint32_t (&a)[4], uint64_t b,
                                                                       int32_t scale_d) {
  using Text = WgmmaText<false, true, D, registers, n, A, B, true, 1, 1, 0, 0, 0, Dependent>;
  static_assert(Text::exists);
  WgmmaAssembly<D, n>::template rs<Text>(d, a, b, scale_d);
}

}  // namespace tenon::ptx
