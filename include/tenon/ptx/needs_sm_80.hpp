// For the headers of kernels that need sm_80. An older target gets one sentence, not one for each instruction
// of the kernel.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the kernels of this header need sm_80 or newer: compile with -arch=sm_80 or above"
#endif
