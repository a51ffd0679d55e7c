// Included by the headers of kernels for sm_90a: one sentence for another target, where each of the kernel's
// instructions would print its own. That the target is sm_90a does not suffice: nvcc compiles for every
// target named.
#pragma once

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error \
    "the kernels of this header need sm_90a alone: compile with -gencode arch=compute_90a,code=sm_90a (-arch=sm_90a compiles for compute_90, too)"
#endif
