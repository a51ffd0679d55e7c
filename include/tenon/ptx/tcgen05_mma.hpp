// The forms of tcgen05.mma that cuda::ptx lacks: sparse A (.sp, .ws.sp) and, for the dense product, the
// collector usage and .ashift. D = A * B + D, issued by one thread; D is in tensor memory, B in shared
// memory, A in either. cuda::ptx::tcgen05_* has the rest of tcgen05 (alloc, ld, st, cp, shift, commit, wait,
// fence, dense mma and mma.ws).
//
//   tcgen05_mma_sp<1, kind_f16>(d, a_descriptor, b_descriptor, metadata, instruction, true);
//
// d, metadata, scale_a, scale_b: addresses in tensor memory. a: a matrix descriptor, or
// TensorMemory{address}. The descriptors of matrices and of the instruction: shared/tcgen05_descriptor.hpp.
// enable_input_d: false for D = A * B.
//
// PTX ISA 9.7.16.10.9. sm_100a, sm_103a and sm_110a (kind::i8 not on sm_103a, scale_input_d not on sm_110a).
// Compiled and disassembled by the tests, never executed: no such machine was available.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"

namespace tenon::ptx {

// Whether the target of this pass is one of the Blackwell targets with tensor memory.
template <class Dependent>
inline constexpr bool has_tcgen05 =
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM110_ALL)
    sizeof(Dependent*) != 0;
#else
    sizeof(Dependent*) == 0;
#endif

// An address in tensor memory, where a descriptor could be meant instead.
struct TensorMemory {
  uint32_t address;
};

// Kinds: the types of A and B, unless the instruction descriptor chooses among several.
struct kind_f16 {
  static constexpr char text[] = "f16";
};
struct kind_tf32 {
  static constexpr char text[] = "tf32";
};
struct kind_f8f6f4 {
  static constexpr char text[] = "f8f6f4";
};
struct kind_i8 {
  static constexpr char text[] = "i8";
};
// Kinds with a scale for every 16 or 32 elements along k, and how many of them a row has in one instruction.
struct kind_mxf8f6f4 {
  static constexpr char text[] = "mxf8f6f4.block_scale.scale_vec::1X";
};
struct kind_mxf4 {
  static constexpr char text[] = "mxf4.block_scale.scale_vec::2X";
};
struct kind_mxf4nvf4_2X {
  static constexpr char text[] = "mxf4nvf4.block_scale.scale_vec::2X";
};
struct kind_mxf4nvf4_4X {
  static constexpr char text[] = "mxf4nvf4.block_scale.scale_vec::4X";
};

// What happens to the buffer that keeps A (of .ws: B, in buffer 0 to 3) from one instruction to the next. The
// default of the instruction is discard.
struct collector_default {
  static constexpr char text[] = "";
};
struct collector_a_fill {
  static constexpr char text[] = ".collector::a::fill";
};
struct collector_a_use {
  static constexpr char text[] = ".collector::a::use";
};
struct collector_a_lastuse {
  static constexpr char text[] = ".collector::a::lastuse";
};
struct collector_a_discard {
  static constexpr char text[] = ".collector::a::discard";
};
template <int buffer>
struct collector_b_fill {
  static constexpr char text[] = {'.', 'c', 'o',          'l', 'l', 'e', 'c', 't', 'o', 'r', ':',
                                  ':', 'b', '0' + buffer, ':', ':', 'f', 'i', 'l', 'l', 0};
};
template <int buffer>
struct collector_b_use {
  static constexpr char text[] = {'.', 'c', 'o', 'l',          'l', 'e', 'c', 't', 'o', 'r',
                                  ':', ':', 'b', '0' + buffer, ':', ':', 'u', 's', 'e', 0};
};
template <int buffer>
struct collector_b_lastuse {
  static constexpr char text[] = {'.', 'c',          'o', 'l', 'l', 'e', 'c', 't', 'o', 'r', ':', ':',
                                  'b', '0' + buffer, ':', ':', 'l', 'a', 's', 't', 'u', 's', 'e', 0};
};
template <int buffer>
struct collector_b_discard {
  static constexpr char text[] = {'.', 'c',          'o', 'l', 'l', 'e', 'c', 't', 'o', 'r', ':', ':',
                                  'b', '0' + buffer, ':', ':', 'd', 'i', 's', 'c', 'a', 'r', 'd', 0};
};

// The text of the instruction; and the scale of D before the addition, 2 to the power of -scale_input_d (0:
// none).
template <int cta_group, class KindOf, class CollectorOf, bool ashift, int scale_input_d, class Dependent>
struct Tcgen05Text {
  static_assert(has_tcgen05<Dependent>,
                "tenon::ptx::tcgen05_mma needs sm_100a, sm_103a or sm_110a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cta_group == 1 || cta_group == 2, "tcgen05_mma: cta_group must be 1 or 2");
  static_assert(scale_input_d >= 0 && scale_input_d <= 15, "tcgen05_mma: scale_input_d must be 0 to 15");
  using Kind = KindOf;
  using Collector = CollectorOf;
  static constexpr bool exists = true;
};
template <bool ashift>
struct Ashift {
  static constexpr char text[] = ".ashift";
};
template <>
struct Ashift<false> {
  static constexpr char text[] = "";
};
template <int scale>
struct ScaleInputD {
  static constexpr char text[] = {',', scale < 10 ? ' ' : '1', '0' + scale % 10, 0};
};
template <>
struct ScaleInputD<0> {
  static constexpr char text[] = "";
};

// One asm statement. Operands: 0 cta_group, 1 kind, 2 .ashift, 3 collector, 4 scale-input-d, 5 d, 6 b, 7
// instruction descriptor, 8 enable-input-d, 9 metadata, 10 A, from 11 on the lanes of D that are left alone.
#define TENON_TCGEN05(sp, a, metadata, lanes, a_operand, ...)                                        \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %8, 0;\n\ttcgen05.mma" sp                       \
               ".cta_group::%0.kind::%1%2%3 [%5], " a ", %6, " metadata "%7, " lanes                 \
               "p%4;\n\t}" ::"n"(cta_group),                                                         \
               "C"(Kind::text), "C"(Ashift<ashift>::text), "C"(Collector::text),                     \
               "C"(ScaleInputD<scale_input_d>::text), "r"(d), "l"(b), "r"(instruction), "r"(enable), \
               "r"(metadata_at), a_operand __VA_ARGS__                                               \
               : "memory")
#define TENON_LANES_4 , "r"(lanes[0]), "r"(lanes[1]), "r"(lanes[2]), "r"(lanes[3])
#define TENON_LANES_8 TENON_LANES_4, "r"(lanes[4]), "r"(lanes[5]), "r"(lanes[6]), "r"(lanes[7])
#define TENON_TCGEN05_OF(sp, a, metadata, a_operand)                                                        \
  if constexpr (lane_words == 0) {                                                                          \
    TENON_TCGEN05(sp, a, metadata, "", a_operand, );                                                        \
  } else if constexpr (lane_words == 4) {                                                                   \
    TENON_TCGEN05(sp, a, metadata, "{%11, %12, %13, %14}, ", a_operand, TENON_LANES_4);                     \
  } else {                                                                                                  \
    TENON_TCGEN05(sp, a, metadata, "{%11, %12, %13, %14, %15, %16, %17, %18}, ", a_operand, TENON_LANES_8); \
  }

template <bool sparse, int lane_words, int cta_group, class Kind, class Collector, bool ashift,
          int scale_input_d, class Dependent, class A>
__device__ __forceinline__ void tcgen05_mma_statement(uint32_t d, A a, uint64_t b,
                                                      [[maybe_unused]] uint32_t metadata_at,
                                                      uint32_t instruction, bool enable_input_d,
                                                      [[maybe_unused]] const uint32_t* lanes) {
  static_assert(Tcgen05Text<cta_group, Kind, Collector, ashift, scale_input_d, Dependent>::exists);
  static_assert(lane_words == 0 || lane_words == 4 * cta_group,
                "tcgen05_mma: disable_output_lane must have 4 words, with cta_group 2 it has 8");
  const int32_t enable = enable_input_d ? 1 : 0;
  if constexpr (sizeof(A) == sizeof(uint64_t)) {
    static_assert(!ashift, "tcgen05_mma: only A in tensor memory can be shifted");
    if constexpr (sparse) {
      TENON_TCGEN05_OF(".sp", "%10", "[%9], ", "l"(a))
    } else {
      TENON_TCGEN05_OF("", "%10", "", "l"(a))
    }
  } else if constexpr (sparse) {
    TENON_TCGEN05_OF(".sp", "[%10]", "[%9], ", "r"(a.address))
  } else {
    TENON_TCGEN05_OF("", "[%10]", "", "r"(a.address))
  }
}
#undef TENON_TCGEN05
#undef TENON_LANES_4
#undef TENON_LANES_8
#undef TENON_TCGEN05_OF

// tcgen05.mma.cta_group.kind{.ashift}{.collector} [d], a, b, idesc, {lanes,} enable-input-d {, scale};
// PTX ISA 8.6, sm_100a. SASS: UTCHMMA, UTCQMMA, UTCIMMA (cta_group 2: .2CTA).
// A: uint64_t, a matrix descriptor, or TensorMemory. ashift: the instruction reads each row of A one row
// further down; the collector must be none, lastuse or discard.
template <int cta_group, class Kind, class Collector = collector_default, bool ashift = false,
          int scale_input_d = 0, class A, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma(uint32_t d, A a, uint64_t b, uint32_t instruction,
                                            bool enable_input_d) {
  tcgen05_mma_statement<false, 0, cta_group, Kind, Collector, ashift, scale_input_d, Dependent>(
      d, a, b, 0, instruction, enable_input_d, nullptr);
}
// disable_output_lane: a bit a lane of D that is not written.
template <int cta_group, class Kind, class Collector = collector_default, bool ashift = false,
          int scale_input_d = 0, class A, int words, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma(uint32_t d, A a, uint64_t b, uint32_t instruction,
                                            const uint32_t (&disable_output_lane)[words],
                                            bool enable_input_d) {
  tcgen05_mma_statement<false, words, cta_group, Kind, Collector, ashift, scale_input_d, Dependent>(
      d, a, b, 0, instruction, enable_input_d, disable_output_lane);
}

// tcgen05.mma.sp.cta_group.kind{.ashift}{.collector} [d], a, b, [metadata], idesc, {lanes,} enable-input-d;
// PTX ISA 8.6, sm_100a. SASS: as of the dense form; the instruction descriptor says that A is sparse.
template <int cta_group, class Kind, class Collector = collector_default, bool ashift = false,
          int scale_input_d = 0, class A, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma_sp(uint32_t d, A a, uint64_t b, uint32_t metadata,
                                               uint32_t instruction, bool enable_input_d) {
  tcgen05_mma_statement<true, 0, cta_group, Kind, Collector, ashift, scale_input_d, Dependent>(
      d, a, b, metadata, instruction, enable_input_d, nullptr);
}
template <int cta_group, class Kind, class Collector = collector_default, bool ashift = false,
          int scale_input_d = 0, class A, int words, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma_sp(uint32_t d, A a, uint64_t b, uint32_t metadata,
                                               uint32_t instruction,
                                               const uint32_t (&disable_output_lane)[words],
                                               bool enable_input_d) {
  tcgen05_mma_statement<true, words, cta_group, Kind, Collector, ashift, scale_input_d, Dependent>(
      d, a, b, metadata, instruction, enable_input_d, disable_output_lane);
}

// tcgen05.mma.sp.cta_group.kind.block_scale.scale_vec{.collector}
//     [d], a, b, [metadata], idesc, [scale_a], [scale_b], enable-input-d;
// PTX ISA 8.6, sm_100a. SASS: UTCQMMA, UTCOMMA (.4X).
// Kind: one with block scales.
template <int cta_group, class Kind, class Collector = collector_default, class A, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma_sp_block_scale(uint32_t d, A a, uint64_t b, uint32_t metadata,
                                                           uint32_t instruction, uint32_t scale_a,
                                                           uint32_t scale_b, bool enable_input_d) {
  static_assert(Tcgen05Text<cta_group, Kind, Collector, false, 0, Dependent>::exists);
  const int32_t enable = enable_input_d ? 1 : 0;
  if constexpr (sizeof(A) == sizeof(uint64_t)) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\ttcgen05.mma.sp.cta_group::%0.kind::%1%2 "
        "[%3], %4, %5, [%6], %7, [%8], [%9], p;\n\t}" ::"n"(cta_group),
        "C"(Kind::text), "C"(Collector::text), "r"(d), "l"(a), "l"(b), "r"(metadata), "r"(instruction),
        "r"(scale_a), "r"(scale_b), "r"(enable)
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\ttcgen05.mma.sp.cta_group::%0.kind::%1%2 "
        "[%3], [%4], %5, [%6], %7, [%8], [%9], p;\n\t}" ::"n"(cta_group),
        "C"(Kind::text), "C"(Collector::text), "r"(d), "r"(a.address), "l"(b), "r"(metadata),
        "r"(instruction), "r"(scale_a), "r"(scale_b), "r"(enable)
        : "memory");
  }
}

// tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [d], a, b, [metadata], idesc, enable-input-d {, zero_mask};
// PTX ISA 8.6, sm_100a. SASS: UTCHMMA.WS, UTCQMMA.WS, UTCIMMA.WS.
// B stays in its buffer: collector_b_*.
template <class Kind, class Collector = collector_default, class A, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma_ws_sp(uint32_t d, A a, uint64_t b, uint32_t metadata,
                                                  uint32_t instruction, bool enable_input_d) {
  static_assert(Tcgen05Text<1, Kind, Collector, false, 0, Dependent>::exists);
  const int32_t enable = enable_input_d ? 1 : 0;
  if constexpr (sizeof(A) == sizeof(uint64_t)) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\ttcgen05.mma.ws.sp.cta_group::1.kind::%0%1 "
        "[%2], %3, %4, [%5], %6, p;\n\t}" ::"C"(Kind::text),
        "C"(Collector::text), "r"(d), "l"(a), "l"(b), "r"(metadata), "r"(instruction), "r"(enable)
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\ttcgen05.mma.ws.sp.cta_group::1.kind::%0%1 "
        "[%2], [%3], %4, [%5], %6, p;\n\t}" ::"C"(Kind::text),
        "C"(Collector::text), "r"(d), "r"(a.address), "l"(b), "r"(metadata), "r"(instruction), "r"(enable)
        : "memory");
  }
}
// zero_column_mask: a descriptor of the columns of B that count as zero.
template <class Kind, class Collector = collector_default, class A, class Dependent = void>
__device__ __forceinline__ void tcgen05_mma_ws_sp(uint32_t d, A a, uint64_t b, uint32_t metadata,
                                                  uint32_t instruction, bool enable_input_d,
                                                  uint64_t zero_column_mask) {
  static_assert(Tcgen05Text<1, Kind, Collector, false, 0, Dependent>::exists);
  const int32_t enable = enable_input_d ? 1 : 0;
  if constexpr (sizeof(A) == sizeof(uint64_t)) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\ttcgen05.mma.ws.sp.cta_group::1.kind::%0%1 "
        "[%2], %3, %4, [%5], %6, p, %8;\n\t}" ::"C"(Kind::text),
        "C"(Collector::text), "r"(d), "l"(a), "l"(b), "r"(metadata), "r"(instruction), "r"(enable),
        "l"(zero_column_mask)
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\ttcgen05.mma.ws.sp.cta_group::1.kind::%0%1 "
        "[%2], [%3], %4, [%5], %6, p, %8;\n\t}" ::"C"(Kind::text),
        "C"(Collector::text), "r"(d), "r"(a.address), "l"(b), "r"(metadata), "r"(instruction), "r"(enable),
        "l"(zero_column_mask)
        : "memory");
  }
}

}  // namespace tenon::ptx
