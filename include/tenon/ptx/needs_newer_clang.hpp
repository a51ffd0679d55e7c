// For kernels that older clang, as a compiler of CUDA, would compile wrongly or not at all. It ignores
// __grid_constant__: a tensor map among the parameters would be copied to local memory, where TMA cannot read
// it. And it lacks __ldcg().
#pragma once

#if defined(__CUDACC__) && !defined(__CUDACC_VER_MAJOR__)
#if !__has_attribute(grid_constant)
#error "this header of tenon needs nvcc, NVRTC, or a clang that has __grid_constant__, such as 22"
#include "tenon stops here"  // as in cpp17.hpp
#endif
#endif
