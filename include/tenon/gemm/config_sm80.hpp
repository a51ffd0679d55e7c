// The configuration of sm_80's kernel for embedders, with what it leaves open chosen. For host and device:
// launch_sm80.hpp takes it, and so does a program that NVRTC compiles. Below: config.hpp.
#pragma once

#include "tenon/gemm/config.hpp"

namespace tenon::sm80 {

// T, Acc: as GemmConfig takes them. M x N: the tile of a CTA, of warp tiles of WarpM x WarpN. A is m x k, B
// is k x n. A k-tile has 64 bytes of each row.
template <class T, class Acc, int M, int N, int WarpM = M / 2, int WarpN = N / 2, Order a_order = row_major,
          Order b_order = column_major, int Stages = 4>
using Config =
    GemmConfig<T, Acc, a_order, b_order, TileShape<M, N, 512 / Element<typename OperandTypesOf<T>::A>::bits>,
               TileShape<WarpM, WarpN, 0>, Stages>;

}  // namespace tenon::sm80
