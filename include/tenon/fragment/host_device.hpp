// The one macro of this floor: layouts are asked on the host (by g++ too) and in kernels, and no C++
// construct says both. nvcc sees the attributes, any other compiler sees nothing. Nothing stands below this
// file.
#pragma once

#include "tenon/ptx/cpp17.hpp"

#if defined(__CUDACC__)
#define TENON_HOST_DEVICE __host__ __device__
#else
#define TENON_HOST_DEVICE
#endif
