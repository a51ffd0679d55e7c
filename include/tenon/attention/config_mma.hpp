// What a CTA of the mma.sync kernel of attention is made of, where it has its shared memory, and in which of
// two orders its warps overlap products with the softmax. Below: warp/panel_cursor.hpp.
#pragma once

#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// The two orders in which the exponentials of a softmax run beside products:
//
//   within   S of a step; its maxima; then P V, beside which P of the next 16 keys is computed
//   ahead    S of the next step, beside which P of this one is computed; then P V, beside which the maxima of
//            the next step are found. It holds two S in registers, which is for small head dimensions.
enum class Overlap { within, ahead };

// T_: __half or __nv_bfloat16. RowBlocks: of 16 queries, a warp. KeyRows: keys of a stage; Step: keys of S,
// at a time. query_in_registers: Q's fragments are loaded once, into D / 4 * RowBlocks registers, from the
// last stages of the ring, which keys fill afterwards.
template <class T_, int HeadDimension, int ValueDimension, int Warps, int RowBlocks, int KeyRows, int Step,
          int Stages, bool query_in_registers_, int CtasPerSm, Overlap overlap_ = Overlap::within>
struct AttentionMmaConfig {
  using T = T_;
  static constexpr int head_dimension = HeadDimension, value_dimension = ValueDimension;
  static constexpr int warps = Warps, threads = 32 * Warps, row_blocks = RowBlocks;
  static constexpr int warp_rows = 16 * RowBlocks, rows = Warps * warp_rows;
  static constexpr int key_tile = KeyRows, step = Step, steps = KeyRows / Step, stages = Stages;
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr bool query_in_registers = query_in_registers_;
  static constexpr Overlap overlap = overlap_;
  static_assert(HeadDimension % 16 == 0 && ValueDimension % 16 == 0,
                "AttentionMmaConfig: the head dimensions must be multiples of 16");
  static_assert(KeyRows % Step == 0 && Step % 16 == 0,
                "AttentionMmaConfig: a stage holds whole steps, and a step is a multiple of 16 keys");
  static_assert(overlap_ == Overlap::within ? Stages >= 2 : Stages >= 3 && steps % 2 == 0,
                "AttentionMmaConfig: the ring has 2 stages or more; to multiply ahead it needs 3, of an even "
                "number of steps");

  using QueryTile = HeadTile<T, rows, HeadDimension>;
  using KeyTile = HeadTile<T, KeyRows, HeadDimension>;
  using ValueTile = HeadTile<T, KeyRows, ValueDimension>;
  static constexpr int stage_bytes = KeyTile::bytes + ValueTile::bytes;
  // The first stages, which keys fill from the start on; Q lies behind them.
  static constexpr int first_stages =
      query_in_registers_ ? Stages - (QueryTile::bytes + stage_bytes - 1) / stage_bytes : Stages;
  static_assert(
      first_stages >= (overlap_ == Overlap::within ? 1 : Stages - 1),
      "AttentionMmaConfig: on its way to the registers Q must leave the first keys a stage, and all stages "
      "but one where it multiplies ahead");
  static constexpr int query_offset = first_stages * stage_bytes;
  static constexpr int shared_bytes = Stages * stage_bytes + (query_in_registers_ ? 0 : QueryTile::bytes);
};

}  // namespace tenon
