// For headers that load what NVRTC compiled, by functions that the runtime of CUDA has since 12.8. An older
// toolkit gets one sentence, not one for each call. Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 12080
#error \
    "this header of tenon needs the CUDA Toolkit 12.8 or newer (a CUDART_VERSION of 12080), whose runtime has cudaLibraryLoadData"
#include "tenon stops here"  // as in cpp17.hpp
#endif
