// For the headers of host code: under NVRTC, which has no headers of the host, one sentence says so. Below
// all, like status.hpp; includes nothing.
#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "this header of tenon is for the host: under NVRTC include a kernel's header, tenon/gemm/kernel_*.hpp or tenon/attention/kernel_*.hpp"
#endif
