// For headers that call what <cuda/ptx> has since CUDA 12.5: cp_async_bulk_tensor, fence. An older toolkit
// gets one sentence, not one for each call.
#pragma once

#if defined(__CUDACC_VER_MAJOR__)
#define TENON_CUDA_VERSION (1000 * __CUDACC_VER_MAJOR__ + 10 * __CUDACC_VER_MINOR__)
#else  // clang, which has included cuda.h
#define TENON_CUDA_VERSION CUDA_VERSION
#endif
#if defined(__CUDACC__) && TENON_CUDA_VERSION < 12050
#error "this header of tenon needs the CUDA Toolkit 12.5 or newer, whose <cuda/ptx> has the copies of TMA"
#include "tenon stops here"  // as in cpp17.hpp
#endif
#undef TENON_CUDA_VERSION
