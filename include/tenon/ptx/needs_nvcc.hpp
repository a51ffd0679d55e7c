// For headers whose assembly takes names of types by the constraint "C", which clang, as a compiler of CUDA,
// lacks. It gets one sentence, not one for each wrapper.
#pragma once

#if defined(__CUDACC__) && !defined(__CUDACC_VER_MAJOR__)
#error "this header of tenon needs nvcc or NVRTC: clang lacks the constraint \"C\" of inline assembly"
#include "tenon stops here"  // as in cpp17.hpp
#endif
