// Not a program: ctest compiles it with one MISUSE_... defined and checks the sentence that nvcc prints.
#include <cuda_fp16.h>

#include "tenon/gemm/kernel_tma.hpp"
#include "tenon/gemm/kernel_wgmma.hpp"
#include "tenon/gemm/launch_sm90_block_scaled.hpp"

using namespace tenon;

using Halves = WgmmaOperands<half, half, float>;

// Consumers, stages, cluster and epilogue subtiles of a small kernel, except for the misuse.
#if defined(MISUSE_correct) || defined(MISUSE_none_of_integers) || defined(MISUSE_operation) || \
    defined(MISUSE_element_types)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_four_consumers)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<256, 64, 64>, 4, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_three_consumers_of_128_rows)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<384, 64, 64>, 3, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_three_consumers_of_208_columns)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<192, 208, 64>, 3, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_a_hundred_columns)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 100, 64>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_half_a_warpgroup)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 2, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_fitted_to_more_columns)
using Config =
    Fitted<WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>,
           64>;
#elif defined(MISUSE_fitted_panels)
using Config =
    Fitted<WgmmaConfig<Halves, row_major, row_major, TileShape<64, 128, 64>, 1, 2, ClusterShape<1, 1>, 1>,
           64>;
#elif defined(MISUSE_fitted_parts)
using Config =
    Fitted<WgmmaConfig<Halves, row_major, column_major, TileShape<64, 72, 64>, 1, 2, ClusterShape<2, 1>, 1>,
           64>;
#elif defined(MISUSE_fitted_152_contiguous_columns)
using Config =
    Fitted<WgmmaConfig<Halves, row_major, row_major, TileShape<64, 152, 64>, 1, 2, ClusterShape<1, 1>, 1>,
           144>;
#elif defined(MISUSE_fitted_row_interleaved)
using Config = RowInterleaved<Fitted<
    WgmmaConfig<Halves, row_major, row_major, TileShape<128, 128, 64>, 2, 2, ClusterShape<1, 1>, 1>, 80>>;
#elif defined(MISUSE_fitted_promoted)
using Config = Fitted<WgmmaConfig<WgmmaOperands<e4m3, e4m3, float, true>, row_major, column_major,
                                  TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>,
                      40>;
#elif defined(MISUSE_short_rows)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 32>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_rows_of_256_bytes)
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
#elif defined(MISUSE_accumulators_in_f16)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, half>, row_major, column_major, TileShape<64, 64, 64>, 1,
                           2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_tma_of_one_stage)
using Config =
    GemmConfig<half, float, row_major, column_major, TileShape<128, 128, 64>, TileShape<64, 32, 0>, 1>;
static_assert(GemmTma<Config>::threads > 0, "judged before");
#elif defined(MISUSE_parts_of_rows)
using Config = WgmmaConfig<Halves, row_major, row_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<16, 1>, 1>;
#elif defined(MISUSE_promoted_128x192)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, float, true>, row_major, column_major,
                           TileShape<128, 192, 128>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_fp8_in_rows_of_m)
using Config = WgmmaConfig<WgmmaOperands<e4m3, e4m3, float>, column_major, column_major,
                           TileShape<128, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
#elif defined(MISUSE_three_ctas_along_k)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 3>, 1>;
#elif defined(MISUSE_pingpong_of_two)
using Config = Pingpong<
    WgmmaConfig<Halves, row_major, column_major, TileShape<128, 64, 64>, 2, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_pingpong_along_k)
using Config = Pingpong<
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 2>, 1>>;
#elif defined(MISUSE_streamed_along_k)
using Config = StreamedK<
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1, 2>, 1>>;
#elif defined(MISUSE_streamed_row_interleaved)
using Config = StreamedK<RowInterleaved<
    WgmmaConfig<Halves, row_major, row_major, TileShape<128, 64, 64>, 2, 2, ClusterShape<1, 1>, 1>>>;
#elif defined(MISUSE_streamed_f16)
using Config = StreamedK<WgmmaConfig<WgmmaOperands<half, half, half>, row_major, column_major,
                                     TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_stacked_along_k)
using Config = Stacked<
    WgmmaConfig<Halves, column_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_stacked_cluster)
using Config =
    Stacked<WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<2, 1>, 1>>;
#elif defined(MISUSE_swapped_bytes)
using Config = SwapAB<WgmmaConfig<WgmmaOperands<e4m3, e4m3, float>, row_major, column_major,
                                  TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_swapped_72_rows)
using Config =
    SwapAB<WgmmaConfig<Halves, row_major, column_major, TileShape<64, 72, 64>, 1, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_scaled_in_the_tensor_core)
using Config = BlockScaled<WgmmaConfig<WgmmaOperands<e4m3, e4m3, float>, row_major, column_major,
                                       TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>>;
#elif defined(MISUSE_cluster_of_32)
using Config =
    WgmmaConfig<Halves, row_major, column_major, TileShape<64, 64, 64>, 1, 2, ClusterShape<8, 4>, 1>;
#else
#error "name the misuse"
#endif

template __global__ void tenon::gemm_wgmma<Config, LinearCombination>(
    const __grid_constant__ GemmWgmma<Config>::MapA, const __grid_constant__ GemmWgmma<Config>::MapB,
    const __grid_constant__ TensorMap, const __grid_constant__ GemmArguments,
    const __grid_constant__ LinearCombination);

#if defined(MISUSE_none_of_integers)  // a custom operation on s32 accumulators
using Integers = WgmmaConfig<WgmmaOperands<std::int8_t, std::int8_t, std::int32_t>, row_major, column_major,
                             TileShape<64, 64, 128>, 1, 2, ClusterShape<1, 1>, 1>;
struct Relu {
  __device__ std::int32_t operator()(std::int32_t x, int, int) const { return x > 0 ? x : 0; }
};
Status call() {
  return launch<sm90::GemmKernel<Integers, Relu>>(GemmProblem<std::int8_t, std::int32_t>{}, Relu{});
}
#elif defined(MISUSE_operation)
struct Column {
  __device__ float operator()(float accumulator, int) const { return accumulator; }
};
using Kernel = sm90::GemmKernel<Config, Column>;
static_assert(sizeof(Kernel) > 0, "judged before");
#elif defined(MISUSE_element_types)
Status call() {
  return launch<sm90::GemmKernel<Config>>(GemmProblem<__nv_bfloat16, half>{}, LinearCombination{1, 0});
}
#endif
