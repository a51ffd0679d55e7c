// The inline assembly of wgmma.mma_async: an explicit specialisation of WgmmaAssembly for each type of D and
// each n, because an asm statement lists its operands one by one. Include wgmma.hpp instead, which documents
// the instruction.
//
// The text contains what the specialisation fixes: n, the type of D, the numbers of the operands. The rest
// are constants: k, the names of the types of A and B, what follows them (".satfinite"), and the immediates
// after scale-d. They are operands of the constraint "C", a char array whose text nvcc inserts.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"
#include "tenon/ptx/wgmma_lists.hpp"

namespace tenon::ptx {

// D: float, uint32_t (two f16) or int32_t. Text holds the rest: WgmmaText of wgmma.hpp.
template <class D, int n>
struct WgmmaAssembly;

#if defined(__CUDA_ARCH__)  // the host pass needs none of it

// One specialisation: with A by descriptor (ss) or in registers (rs). c0 to c10 are the numbers of the
// operands after the accumulators: 0 k, 1 and 2 the types of A and B, 3 what follows them, 4 the immediates,
// 5 scale-d, 6 B, 7 (to 10) A.
#define TENON_WGMMA(D, C, type, count, n, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12)        \
  template <>                                                                                           \
  struct WgmmaAssembly<D, n> {                                                                          \
    template <class Text>                                                                               \
    __device__ __forceinline__ static void ss(D (&d)[count], uint64_t a, uint64_t b, int32_t scale_d) { \
      asm volatile(TENON_INSTRUCTION(type, n, c0, c1, c2, c3, c5) TENON_WGMMA_TEXT_##count              \
                   "}, %" #c7 ", %" #c6 ", p%" #c4 ";\n\t}"                                             \
                   : TENON_WGMMA_REGISTERS_##count(C)                                                   \
                   : TENON_CONSTANTS, "l"(a)                                                            \
                   : "memory");                                                                         \
    }                                                                                                   \
    template <class Text>                                                                               \
    __device__ __forceinline__ static void rs(D (&d)[count], const uint32_t (&a)[4], uint64_t b,        \
                                              int32_t scale_d) {                                        \
      asm volatile(TENON_INSTRUCTION(type, n, c0, c1, c2, c3, c5) TENON_WGMMA_TEXT_##count              \
                   "}, {%" #c7 ", %" #c8 ", %" #c9 ", %" #c10 "}, %" #c6 ", p%" #c4 ";\n\t}"            \
                   : TENON_WGMMA_REGISTERS_##count(C)                                                   \
                   : TENON_CONSTANTS, "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])                        \
                   : "memory");                                                                         \
    }                                                                                                   \
  };
#define TENON_INSTRUCTION(type, n, c0, c1, c2, c3, c5)                                                 \
  "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #c5 ", 0;\n\twgmma.mma_async.sync.aligned.m64n" #n "k%" #c0 \
  "." type ".%" #c1 ".%" #c2 "%" #c3 " {"
#define TENON_CONSTANTS                                                          \
  "n"(Text::k), "C"(Text::A::name), "C"(Text::B::name), "C"(Text::Suffix::text), \
      "C"(Text::Immediates::text), "r"(scale_d), "l"(b)

TENON_WGMMA_EACH(TENON_WGMMA)

#undef TENON_WGMMA
#undef TENON_INSTRUCTION
#undef TENON_CONSTANTS

#endif

}  // namespace tenon::ptx
