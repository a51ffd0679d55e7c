// Keys of pages that the pool does not have: a step of scores in the accumulators of a warp becomes -infinity
// where its key is missing. Below: score_function.hpp, variable_lengths.hpp, fragment/registers.hpp.
#pragma once

#include "tenon/attention/score_function.hpp"
#include "tenon/attention/variable_lengths.hpp"
#include "tenon/fragment/registers.hpp"

namespace tenon {

// s: S of 16 * row_blocks queries and 8 * columns keys of a batch, from `key` on. Sequence: see
// batch_sequence.hpp.
template <class Fragment, int row_blocks, int columns, class Sequence>
__device__ __forceinline__ void mask_missing_pages(Fragment (&s)[row_blocks][columns],
                                                   const VariableLengths& lengths, const Sequence& sequence,
                                                   int key, int batch) {
  constexpr int step = 8 * columns;
  const int lane = lane_id();
  std::uint32_t missing[(step + 31) / 32];  // a bit of each key
  std::uint32_t any = 0;
#pragma unroll
  for (int part = 0; part < (step + 31) / 32; ++part) {
    const int mine = key + 32 * part + lane;
    const bool used = 32 * part + lane < step && mine < sequence.keys();
    missing[part] = __ballot_sync(0xffffffffU, used && place_of_key(lengths, batch, mine).page < 0);
    any |= missing[part];
  }
  if (any == 0) return;
#pragma unroll
  for (int n = 0; n < columns; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const std::uint32_t bits = missing[n / 4] >> (n % 4 * 8 + Fragment::coord(lane, e).col);
#pragma unroll
      for (int i = 0; i < row_blocks; ++i) {
        if (bits % 2 != 0) s[i][n].reg[e] = -float_infinity;
      }
    }
  }
}

}  // namespace tenon
