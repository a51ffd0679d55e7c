// Which kernel computes a problem: a pure function of the problem, the device and the kernel list.
//
// Nothing here calls CUDA, so that every choice can be tested, and printed, on a machine without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gemm/cost_model.hpp"
#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

// The largest power of two, up to 16, that divides the address of every row (column) of an operand. It is the
// width in bytes of the widest copy that can load the operand.
int copy_alignment(const ConstMatrix& matrix) noexcept;

// Whether the first row (column) begins on a multiple of 16 bytes.
bool begins_aligned(const ConstMatrix& matrix) noexcept;
// Whether every row (column) begins on a multiple of 128 bytes, the size of an L2 cache line.
bool begins_lines_of_the_l2(const ConstMatrix& matrix) noexcept;
// Whether every row (column) begins on a multiple of 32 bytes, the size of an L2 sector. Other rows make the
// L2 read more sectors than they have bytes for.
bool begins_sectors_of_the_l2(const ConstMatrix& matrix) noexcept;

// Whether the kernel has the types, orders, accumulator and promotion of the problem. If such a kernel
// refuses the problem, the reason is the size, the alignment or the device.
bool is_kind_of(const Kernel& kernel, const Gemm& problem) noexcept;

// The fewest CTAs that the kernel runs the problem with: a cluster where its grid is persistent, which that
// of the kernels of wgmma and TMA is; else all of its CTAs, `split` for each tile.
std::int64_t least_ctas(const Kernel& kernel, const Gemm& problem) noexcept;

// Whether the kernel computes the problem on the device. If not, *why (when given) says what was found and
// what is needed: StatusCode::unsupported, or device_unsupported if another device could run the kernel. The
// problem must be valid by validate(). Of its pointers only the alignment is read.
bool accepts(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
             Status* why = nullptr);

// Kernels of a list that the device refused to launch. The choice of the next best kernel leaves them out.
using RefusedKernels = std::vector<const Kernel*>;

// Whether gemm() runs the kernel for such a problem without being told its name: not Copy::module, and a
// kernel with FusedEpilogue only where the problem asks for that.
bool is_offered(const Kernel& kernel, const Gemm& problem) noexcept;

// Whether gemm() chooses the kernel for such a problem at all: not kernels for unaligned operands if both
// operands (with row-interleaved views: A) are aligned, nor other swap-AB kernels if TMA cannot store C.
bool may_be_chosen(const Kernel& kernel, const Gemm& problem) noexcept;
// Whether it is chosen only where no wgmma kernel accepts the problem: kernels of mma.sync, unless the
// operands have 16 bits and one of them is not aligned. No recorded problem with aligned operands of 16 bits
// was faster by mma.sync (540 of them: microbench/HISTORY.md).
bool yields_to_wgmma(const Kernel& kernel, const Gemm& problem) noexcept;

// At most so many kernels of a list are for the same types and orders. Kernels beyond them are not chosen.
constexpr std::size_t most_candidates = 512;

// The accepted kernel that is_offered() and may_be_chosen() with the least estimated cost that the device did
// not refuse; among equals the one listed first; nullptr if no kernel accepts the problem. problem.kernel is
// ignored.
const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused = {});

// The choice among kernels().
const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device);

}  // namespace tenon
