// The configurations of Hopper's kernels for embedders, with what they leave open chosen. For host and
// device: launch_sm90.hpp takes them, and so does a program that NVRTC compiles. Below: wgmma_config.hpp.
#pragma once

#include "tenon/gemm/wgmma_config.hpp"

namespace tenon::sm90 {

// How many stages of so many bytes fit into the shared memory of a CTA beside the rest.
constexpr int stages_that_fit(int stage_bytes, int rest) {
  const int stages = (most_shared_bytes - rest) / stage_bytes;
  return stages < 8 ? stages : 8;
}

// T, TB: element types of A and B: __half, __nv_bfloat16, tf32, e4m3, e5m2, int8_t; Acc: float, int32_t with
// int8_t, __half with __half. M x N: the tile of a CTA; M is 64, 128 or 256, N a multiple of 8 (16 of
// integers) up to 256. A is m x k, B is k x n; types that are not of 16 bits are row-major and column-major.
// CTAs of a cluster along m share B, those along n share A. With Cluster::k > 1 pass Stages: the reduction
// needs shared memory too.
template <class T, class Acc, int M, int N, Order a_order = row_major, Order b_order = column_major,
          class Cluster = ClusterShape<2, 1>, class TB = T,
          int Stages = stages_that_fit((M + N) * 128, 34 * 1024)>
using Config =
    WgmmaConfig<WgmmaOperands<T, TB, Acc>, a_order, b_order, TileShape<M, N, 128 / (Element<T>::bits / 8)>,
                (M >= 128 ? 2 : 1), Stages, Cluster, 2>;

// The same as a ping-pong kernel: each consumer warpgroup computes whole tiles and stores one while the other
// multiplies. What an operation costs is then mostly hidden. M is 64, 128 or, with N up to 128, 192: of a
// larger tile ptxas notes that it serialises wgmma, and scripts/ptxas_notes makes that an error.
template <class T, class Acc, int M, int N, Order a_order = row_major, Order b_order = column_major,
          class Cluster = ClusterShape<2, 1>, class TB = T,
          int Stages = stages_that_fit((M + N) * 128, 50 * 1024)>
using PingpongConfig =
    Pingpong<WgmmaConfig<WgmmaOperands<T, TB, Acc>, a_order, b_order,
                         TileShape<M, N, 128 / (Element<T>::bits / 8)>, 1, Stages, Cluster, 3>>;

}  // namespace tenon::sm90
