// For the headers of kernels that need sm_90a. Any other target gets one sentence, not one for each
// instruction of the kernel. A build that names sm_90a may name others, too: nvcc compiles for each of them.
#pragma once

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error \
    "the kernels of this header need sm_90a alone: compile with -gencode arch=compute_90a,code=sm_90a (-arch=sm_90a compiles for compute_90, too)"
#endif
