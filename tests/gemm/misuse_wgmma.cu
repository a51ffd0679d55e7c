// Not a program: compiled by ctest with one MISUSE_... defined, to see which sentence nvcc prints.
#include <cuda_fp16.h>

#include "tenon/gemm/gemm_wgmma.hpp"

using namespace tenon;

// Consumers, stages, cluster, staged strips are those of a small kernel but for the misuse.
#if defined(MISUSE_correct)
using Config = WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_three_consumers)
using Config =
    WgmmaConfig<half, row_major, column_major, TileShape<192, 64, 64>, 3, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_half_a_warpgroup)
using Config = WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 64>, 2, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_short_lines)
using Config = WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 32>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_odd_strips)
using Config = WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 2>;
#elif defined(MISUSE_parts_of_a_panel)
using Config = WgmmaConfig<half, row_major, row_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<2, 1>, 1>;
#elif defined(MISUSE_sharing_along_m_and_k)
using Config =
    WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<2, 1, 2>, 1>;
#elif defined(MISUSE_more_blocks_than_warps)
using Config =
    WgmmaConfig<half, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 8>, 1>;
#else
#error "name the misuse"
#endif

template __global__ void tenon::gemm_wgmma<Config>(const __grid_constant__ TensorMap,
                                                   const __grid_constant__ TensorMap,
                                                   const __grid_constant__ TensorMap,
                                                   const __grid_constant__ GemmArguments);
