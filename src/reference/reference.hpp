// Reference products on the GPU: simple kernels to check the fast ones and to compare them with.
//
//   naive_f32    one thread an element, operands straight from global memory; CUDA cores
//   tiled_f32    the same additions from 32 x 32 tiles in shared memory; CUDA cores
//   wmma_basic   nvcuda::wmma 16x16x16, one warp a tile, fragments loaded from global memory; tensor cores
//   wmma_shared  64 x 64 tiles in shared memory, 2 x 2 fragments a warp; tensor cores
//   wmma_32x8x16, wmma_8x32x16   as wmma_basic, in these shapes
//
// All of these take every problem that tenon::Gemm describes: any m, n, k >= 0, any leading dimension that
// holds a row (or column), any element-aligned pointer, A and B each in either order, C in f16, bf16 or f32,
// alpha and beta. They accumulate in FP32, allocate nothing and do not wait. WMMA of other types, likewise,
// in the one shape that each is known for:
//
//   wmma_16x16x8 tf32, accumulated in f32, C in f16, bf16 or f32
//   wmma_s8      s8 in 16x16x16, accumulated in s32, C in s32
//   wmma_8x8x4   f64
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::reference {

enum class Algorithm {
  naive_f32,
  tiled_f32,
  wmma_basic,
  wmma_shared,
  wmma_32x8x16,
  wmma_8x32x16,
  wmma_16x16x8,
  wmma_s8,
  wmma_8x8x4
};

struct AlgorithmInfo {
  Algorithm algorithm;
  const char* name;   // as spelled above
  bool tensor_cores;  // A and B are f16 or bf16; the others also take f32
};

// Those for f16 and bf16, in the order of the ladder, slowest first.
const std::vector<AlgorithmInfo>& algorithms();

// WMMA of one type.
struct AlgorithmOfType {
  Algorithm algorithm;
  const char* name;
  Type operand, accumulate;
};
const std::vector<AlgorithmOfType>& algorithms_of_other_types();

// Of algorithms(). nullptr if there is none of that name.
const AlgorithmInfo* find_algorithm(std::string_view name);

// Whether gemm() can compute the problem, and if not why. Checks the problem only, not the machine.
Status can_implement(Algorithm algorithm, const Gemm& problem) noexcept;

// Enqueues the product on the stream of the current device and returns. Ignores the problem's kernel and
// workspace. A and B have one type: f16, bf16, for the FP32 algorithms f32, or the one of AlgorithmOfType. On
// failure nothing is launched.
Status gemm(Algorithm algorithm, const Gemm& problem, CUstream_st* stream = nullptr) noexcept;

// Enqueues destination = source, rounded to nearest even: f32 to f16 or bf16, f16 or bf16 to f32 (exact).
// Both are row-major, rows x columns, and must not overlap; for two column-major matrices swap rows and
// columns.
Status convert(std::int64_t rows, std::int64_t columns, const ConstMatrix& source, const Matrix& destination,
               CUstream_st* stream = nullptr) noexcept;

// The mixed pipeline. A and B are f32; they are rounded to `through` (f16 or bf16) in the problem's workspace
// and multiplied by a tensor-core algorithm, which accumulates in FP32 and writes C in its own type. The
// workspace must have mixed_workspace_size() bytes of device memory (0 for a problem that gemm_mixed()
// refuses), 256-byte aligned.
std::size_t mixed_workspace_size(const Gemm& problem) noexcept;
Status gemm_mixed(Algorithm algorithm, Type through, const Gemm& problem,
                  CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon::reference
