// The host API of grouped products, as a mixture of experts has them: C[rows of g] = A[rows of g] * B[g] for
// every group g, in one launch. The sizes of the groups stand in device memory, and the host never reads
// them: no synchronisation, and a captured graph serves any sizes.
//
//   tenon::GroupedGemm problem;
//   problem.groups = experts; problem.m = tokens; problem.n = n; problem.k = k;
//   problem.a = {tokens_by_expert, k, tenon::row_major};
//   problem.b = {weights, k, tenon::column_major};  problem.b_stride = n * k;
//   problem.c = {result, n};
//   problem.sizes = offsets;                        // experts + 1 numbers in device memory
//   if (tenon::Status s = tenon::gemm_grouped(problem, stream); !s) std::cerr << s.message();
//
// Runs on compute capability 9.0 (TMA and wgmma). Nothing is allocated on the device, and no workspace is
// needed. Link with tenon::tenon.
#pragma once

#include "tenon/gemm/problem_grouped.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

// Whether gemm_grouped() can compute the problem on the current device, and if not, why. Reads no device
// memory.
Status can_implement(const GroupedGemm& problem) noexcept;

// The kernel that gemm_grouped() would launch on the current device. nullptr if can_implement() fails or if
// there is nothing to compute.
const char* kernel_name(const GroupedGemm& problem) noexcept;

// The index-th kernel for grouped products of this build; nullptr beyond the last.
const char* grouped_kernel_name(int index) noexcept;

// Enqueues the products on a stream of the current device and returns. If it fails, C is unchanged.
Status gemm_grouped(const GroupedGemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
