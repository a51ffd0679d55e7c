// TENON_HOST_DEVICE, for functions that the host (also under g++) and kernels call: nvcc sees its attributes,
// any other compiler sees nothing. The only macro of this folder; includes nothing but the check of the
// language.
#pragma once

#include "tenon/ptx/cpp17.hpp"

#if defined(__CUDACC__)
#define TENON_HOST_DEVICE __host__ __device__
#else
#define TENON_HOST_DEVICE
#endif
