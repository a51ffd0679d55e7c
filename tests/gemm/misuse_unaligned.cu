// Not a program: ctest compiles it with one MISUSE_... defined and checks the sentence that nvcc prints.
#include <cuda_fp16.h>

#include "tenon/gemm/kernel_wgmma_unaligned.hpp"

using namespace tenon;

#if defined(MISUSE_correct)
using Config = UnalignedConfig<half, 64, 2>;
#elif defined(MISUSE_bytes)
using Config = UnalignedConfig<e4m3, 64, 2>;
#elif defined(MISUSE_one_stage)
using Config = UnalignedConfig<half, 64, 1>;
#elif defined(MISUSE_odd_rows)
using Config = UnalignedConfig<half, 48, 2>;
#else
#error "name the misuse"
#endif

template __global__ void tenon::gemm_unaligned<Config, LinearCombination>(
    const __grid_constant__ RowInterleavedMaps, const __grid_constant__ RowInterleavedMaps,
    const __grid_constant__ UnalignedArguments, const __grid_constant__ LinearCombination);
