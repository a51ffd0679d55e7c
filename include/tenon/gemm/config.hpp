// What a CTA of a kernel that multiplies from registers (mma.sync) is made of: types, layouts, tile, warps,
// stages; and what follows from them. Below: tile_shape.hpp, types.hpp, shared/tile.hpp, warp/warp_tile.hpp.
#pragma once

#include "tenon/fragment/rounded.hpp"
#include "tenon/gemm/tile_shape.hpp"
#include "tenon/gemm/types.hpp"
#include "tenon/shared/tile.hpp"
#include "tenon/warp/warp_tile.hpp"

namespace tenon {

// The element types of A and B where they differ: fp8.
template <class A, class B>
struct OperandTypes {};
template <class T>
struct OperandTypesOf {
  using A = T;
  using B = T;
};
template <class A_, class B_>
struct OperandTypesOf<OperandTypes<A_, B_>> {
  using A = A_;
  using B = B_;
};

// T_, Acc_: element types of the operands and the accumulators, as WarpTile takes them; T_ may be
// OperandTypes, or Rounded<__half> and Rounded<__nv_bfloat16>: f32 that is rounded as fragments are loaded.
// Types that are not of 16 bits, rounded or f64 need k contiguous in A and B. Block, Warp: TileShape; Warp::k
// is not used (0). Stages: k-tiles in flight.
template <class T_, class Acc_, Order a_order_, Order b_order_, class Block_, class Warp_, int Stages>
struct GemmConfig {
  using T = typename OperandTypesOf<T_>::A;
  using TB = typename OperandTypesOf<T_>::B;
  using Multiplied = typename MultipliedType<T>::Type;  // by mma.sync
  using MultipliedB = typename MultipliedType<TB>::Type;
  using Acc = Acc_;
  using Block = Block_;
  using Warp = Warp_;
  static constexpr Order a_order = a_order_, b_order = b_order_;
  static constexpr int stages = Stages;
  // The compute capability that has its instructions, times ten.
  static constexpr int minimum_sm = Element<T>::bits == 8 && Element<T>::number == Number::floating ? 89 : 80;
  static_assert(Block::m % Warp::m == 0 && Block::n % Warp::n == 0,
                "GemmConfig: the CTA tile must be a whole number of warp tiles");

  using TileA = OperandTile<T, Block::m, Block::k, a_order == Order::row_major>;
  using TileB = OperandTile<TB, Block::n, Block::k, b_order == Order::column_major>;
  using WarpAccumulator = WarpTile<Multiplied, Acc, Warp::m, Warp::n, MultipliedB>;
  using WalkA = OperandCursor<TileA, Operand::a, Warp::m>;
  using WalkB = OperandCursor<TileB, Operand::b, Warp::n>;

  static constexpr int warps_m = Block::m / Warp::m, warps_n = Block::n / Warp::n;
  static constexpr int warps = warps_m * warps_n;  // that multiply
  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Stages * stage_bytes;
  static_assert(TileA::bytes % 1024 == 0,
                "GemmConfig: B must start on a multiple of 1024 bytes, where its swizzle begins");
  static_assert(WalkA::conflicts() == 0 && WalkB::conflicts() == 0,
                "GemmConfig: ldmatrix would conflict on the banks of shared memory");
};

}  // namespace tenon
