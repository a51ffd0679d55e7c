// For headers that call what <cuda/ptx> has since CUDA 12.5: cp_async_bulk_tensor, fence. An older toolkit
// gets one sentence, not one for each call.
#pragma once

#if defined(__CUDACC__) && \
    (__CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 5))
#error "this header of tenon needs the CUDA Toolkit 12.5 or newer, whose <cuda/ptx> has the copies of TMA"
#include "tenon stops here"  // as in cpp17.hpp
#endif
