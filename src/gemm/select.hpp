// Which kernel computes a problem: a pure function of the problem, the device and the kernel list.
//
// Nothing here calls CUDA, so that every choice can be tested, and printed, on a machine without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

// Whether the kernel computes the problem on the device. If not, *why (when given) says what was found and
// what is needed: StatusCode::unsupported, or device_unsupported if another device could run the kernel. The
// problem must be valid by validate(). Of its pointers only the alignment is read.
bool accepts(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
             Status* why = nullptr);

// The time that select_kernel() expects, in a unit that all kernels share.
//
// The grid runs in waves: ceil(CTAs / (SMs x CTAs that fit an SM)), with `split` CTAs a tile. A wave of
// mma.sync kernels takes the multiply-adds of the tiles on an SM over the speed measured for the copy and the
// tile size. A wave of wgmma kernels takes the longest of three times: multiplication, loads from the L2
// (slower if rows cross sectors), and loads from memory if the operands exceed the L2. A problem with one
// tile along m or n loads only the rows that exist.
//
// The epilogue adds the stores of C and the reduction between the CTAs that share a tile. Ping-pong kernels
// overlap all stores but those of the last tile, and only partly if TMA cannot store C. With tail split-K
// (pairs.hpp) the last wave takes half of a tile's time, a little more for each k-tile because its CTAs share
// no operands, and the reduction. Swap-AB kernels cost the same as others on the transposed problem, but for
// their transposed stores.
double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept;

// The time of copying an operand of `bytes` bytes into the workspace, in the same unit. transposed: the copy
// has rows where the operand has columns.
double estimated_copy_cost(double bytes, bool transposed) noexcept;

// Kernels of a list that the device refused to launch. The choice of the next best kernel leaves them out.
using RefusedKernels = std::vector<const Kernel*>;

// Whether gemm() runs the kernel for such a problem without being told its name: not Copy::module, and a
// kernel with FusedEpilogue only where the problem asks for that.
bool is_offered(const Kernel& kernel, const Gemm& problem) noexcept;

// The accepted kernel with the least estimated cost that the device did not refuse; among equals the one
// listed first; nullptr if no kernel accepts the problem. Three kinds of kernels are never chosen:
// those that are not offered; kernels for unaligned operands if both operands are aligned; and other swap-AB
// kernels if TMA cannot store C. Kernels of mma.sync for tf32, fp8 and s8 are chosen only where no wgmma
// kernel accepts the problem. problem.kernel is ignored.
const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused = {});

// The choice among kernels().
const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device);

}  // namespace tenon
