// One launcher for each kernel: gemm() in reference.cpp selects one.
//
// The problem must have passed can_implement(), with m, n > 0; if k == 0, alpha must be 0 too.
#pragma once

#include "tenon/gemm.hpp"

namespace tenon::reference {

Status launch_naive_f32(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_tiled_f32(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_basic(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_shared(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_32x8x16(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_8x32x16(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_16x16x8(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_s8(const Gemm& problem, CUstream_st* stream) noexcept;
Status launch_wmma_8x8x4(const Gemm& problem, CUstream_st* stream) noexcept;

}  // namespace tenon::reference
