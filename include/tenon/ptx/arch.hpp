// The guard of every instruction wrapper: calling an instruction that the target lacks is a compile error of
// one sentence.
//
// A wrapper is a template over `Dependent`, a type that callers never name. It begins with
//
//   static_assert(sm_at_least<80, Dependent>, "tenon::ptx::... needs sm_80 or newer: compile with ...");
//
// The compiler therefore evaluates the assertion where the wrapper is called, in the pass that compiles for
// the target. The assertion fires in every mode of nvcc (-cubin, -ptx, -rdc=true); an unresolved symbol or a
// run-time trap would not. The host pass has no target: there every instruction is available.
#pragma once

#include "tenon/ptx/cpp17.hpp"

#if !defined(__CUDACC__)
#error \
    "this header of tenon holds device code: compile with nvcc. Plain C++ may include tenon/fragment/layout.hpp and tenon/fragment/pack.hpp"
#include "tenon stops here"  // as in cpp17.hpp
#endif

#include "tenon/ptx/standard.hpp"

namespace tenon::ptx {

using std::int32_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

// Whether the target of this pass is sm_<sm> or newer.
template <int sm, class Dependent>
inline constexpr bool sm_at_least =
#if defined(__CUDA_ARCH__)
    sizeof(Dependent*) != 0 && __CUDA_ARCH__ >= 10 * sm;
#else
    sizeof(Dependent*) != 0;
#endif

// Whether the target of this pass is sm_90a, the only one with wgmma.
template <class Dependent>
inline constexpr bool is_sm_90a =
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
    sizeof(Dependent*) == 0;
#else
    sizeof(Dependent*) != 0;
#endif

// Whether the target of this pass is one of sm_<sms>a. An instruction of such a target does not exist on
// sm_<sms>, nor on newer targets.
template <class Dependent, int... sms>
inline constexpr bool is_specific_target =
#if !defined(__CUDA_ARCH__)
    sizeof(Dependent*) != 0;
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM103_ALL) || defined(__CUDA_ARCH_FEAT_SM110_ALL) ||  \
    defined(__CUDA_ARCH_FEAT_SM120_ALL) || defined(__CUDA_ARCH_FEAT_SM121_ALL)
    sizeof(Dependent*) != 0 && ((__CUDA_ARCH__ == 10 * sms) || ...);
#else
        sizeof(Dependent*) == 0;
#endif

// Whether this toolkit is CUDA <major>.<minor> or newer. Which toolkit a form needs is measured: the column
// `toolkit` of ptx/instructions.csv. CUDA 12.4 writes PTX ISA 8.4, 12.5 writes 8.5, 12.8 writes 8.7, 13.0
// writes 9.0. Forms that 12.4 has need no check.
template <int major, int minor, class Dependent>
inline constexpr bool cuda_at_least =
#if defined(__CUDACC_VER_MAJOR__)
    sizeof(Dependent*) != 0 &&
    (__CUDACC_VER_MAJOR__ > major || (__CUDACC_VER_MAJOR__ == major && __CUDACC_VER_MINOR__ >= minor));
#else  // clang, which has included cuda.h
    sizeof(Dependent*) != 0 && CUDA_VERSION >= 1000 * major + 10 * minor;
#endif

static_assert(cuda_at_least<12, 4, void>, "tenon needs the CUDA Toolkit 12.4 or newer (PTX ISA 8.4)");

}  // namespace tenon::ptx
