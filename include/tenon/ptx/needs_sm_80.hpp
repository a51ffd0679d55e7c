// Included by the headers of kernels that use what sm_80 brought: one sentence for an older target, where
// each of the kernel's instructions would print its own.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the kernels of this header need sm_80 or newer: compile with -arch=sm_80 or above"
#endif
