// The host API of quantisation: a matrix of f32, f16 or bf16 becomes e4m3 with f32 scales, as the scaled
// products of gemm_scaled.hpp take them. Optionally fused with SiLU-and-multiply.
//
//   tenon::Quantize what;
//   what.rows = m; what.columns = k;
//   what.x = {x, ldx};                       // the element type follows from the pointer; f32: {x, ldx,
//   row_major, Type::f32} what.q = {q, ldq, tenon::Type::e4m3}; what.blocks =
//   tenon::ScaleBlocks::block_1x128; what.scales = scales;  what.ld_scales = m; if (tenon::Status s =
//   tenon::quantize(what, stream); !s) std::cerr << s.message();
//
// There is no hidden synchronisation, no exception, no state between calls, and no allocation. Link with
// tenon::tenon.
#pragma once

#include "tenon/gemm/problem.hpp"
#include "tenon/status.hpp"

struct CUstream_st;

namespace tenon {

// Which elements share a scale. Columns are contiguous: they are the k of an operand, and rows the m of A or
// the n of B.
//
//   per_tensor     one scale, scales[0]
//   per_row        scales[row]
//   block_1x128    scales[column / 128 * ld_scales + row]          A of block_1x128_128x128 (gemm_scaled.hpp)
//   block_128x128  scales[row / 128 * ld_scales + column / 128]    B of it
enum class ScaleBlocks : int { per_tensor = 0, per_row = 1, block_1x128 = 2, block_128x128 = 3 };

// q = e4m3(x / scale), rounded to nearest even, with
//
//   scale = max(amax / 448, 2^-126), where amax is the largest magnitude of the elements that share it;
//   scale = 1 where all of them are 0.
//
// 448 is the largest e4m3. The quotient is computed as x * (1 / scale), both rounded to f32.
//
// NaN: a NaN element becomes the NaN of e4m3. It does not count in amax, so that its neighbours keep their
// values. Infinity: the scale is infinite, finite elements become 0 and infinite ones NaN. Products with such
// a block are NaN.
//
// With `up`, x stands for silu(x) * up, computed in f32 (x / (1 + exp(-x)) * up; an infinite x gives NaN):
// the gated activation of a feed-forward layer, whose result exists only as e4m3.
//
// Any rows and columns >= 0, any leading dimension that holds a row, any pointer aligned to its element. Fast
// if x, up and their rows begin on multiples of 16 bytes, and q and its rows on multiples of 8. Runs on
// sm_90. q and scales may overlap neither each other nor x and up.
struct Quantize {
  std::int64_t rows = 0, columns = 0;
  ConstMatrix x;   // row-major: f32, f16 or bf16
  ConstMatrix up;  // as x, of the same type; null: none
  Matrix q;        // e4m3
  ScaleBlocks blocks = ScaleBlocks::per_tensor;
  float* scales = nullptr;
  std::int64_t ld_scales = 0;  // of blocks only: >= rows, or >= ceil(columns / 128)
};

// Enqueues the quantisation on a stream of the current device and returns. If it fails, nothing was written.
Status quantize(const Quantize& what, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
