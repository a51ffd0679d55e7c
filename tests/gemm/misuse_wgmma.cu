// Not a program: compiled by ctest with one MISUSE_... defined, to see which sentence nvcc prints.
#include <cuda_fp16.h>

#include "tenon/gemm/gemm_tma.hpp"
#include "tenon/gemm/gemm_wgmma.hpp"

using namespace tenon;

using Halves = WgmmaOperands<half, half, float>;

// Consumers, stages, cluster, staged strips are those of a small kernel but for the misuse.
#if defined(MISUSE_correct) || defined(MISUSE_none_of_integers)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_three_consumers)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<192, 64, 64>, 3, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_half_a_warpgroup)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 2, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_short_lines)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 32>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_lines_of_256_bytes)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_one_stage)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 1, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_nothing_staged)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 0>;
#elif defined(MISUSE_eight_stages)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<128, 256, 64>, 2, 8, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_sums_in_f16)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, half>, row_major, column_major, TileShape<64, 64, 64>, 1,
                           2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_tma_of_one_stage)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<128, 128, 64>, TileShape<64, 32, 0>, 1>;
static_assert(GemmTma<Config>::threads > 0, "judged before");
#elif defined(MISUSE_parts_of_lines)
using Config = WgmmaConfig<Halves, row_major, row_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<16, 1>, 1>;
#elif defined(MISUSE_promoted_128_rows)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, float, true>, row_major, column_major,
                           TileShape<128, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_fp8_in_rows_of_m)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, float>, column_major, column_major,
                           TileShape<128, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_more_blocks_than_warps)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 8>, 1>;
#elif defined(MISUSE_pingpong_of_two)
using Config = Pingpong<
    WgmmaConfig<Halves, row_major, column_major, TileShape<128, 64, 64>, 2, 2, ClusterShape<1, 1>, 1> >;
#elif defined(MISUSE_pingpong_along_k)
using Config = Pingpong<
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 2>, 1> >;
#elif defined(MISUSE_turned_bytes)
using Config = Turned<WgmmaConfig<WgmmaOperands<e4m3, e4m3, float>, row_major, column_major,
                                  TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1> >;
#elif defined(MISUSE_turned_72_rows)
using Config =
    Turned<WgmmaConfig<Halves, row_major, column_major, TileShape<64, 72, 64>, 1, 2, ClusterShape<1, 1>, 1> >;
#else
#error "name the misuse"
#endif

template __global__ void tenon::gemm_wgmma<Config>(const __grid_constant__ GemmWgmma<Config>::MapA,
                                                   const __grid_constant__ GemmWgmma<Config>::MapB,
                                                   const __grid_constant__ TensorMap,
                                                   const __grid_constant__ GemmArguments);

#if defined(MISUSE_none_of_integers)  // an operation of one's own on sums in s32, as on those in f32
using Integers = WgmmaConfig<WgmmaOperands<std::int8_t, std::int8_t, std::int32_t>, row_major, column_major,
                             TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
__global__ void relu(const __grid_constant__ GemmWgmma<Integers>::MapA a,
                     const __grid_constant__ GemmWgmma<Integers>::MapB b, const __grid_constant__ TensorMap c,
                     const __grid_constant__ GemmArguments p) {
  extern __shared__ std::uint8_t shared[];
  const Elementwise relu{[](std::int32_t x, int, int) { return x > 0 ? x : 0; }};
  GemmWgmma<Integers>::run(a, b, c, p, shared, relu);
}
#endif
