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

// The largest power of two, up to 16, that divides the address of every row (column) of an operand: the
// widest copy that can move it.
int copy_alignment(const ConstMatrix& matrix) noexcept;

// Whether the first row (column) begins on a multiple of 16 bytes.
bool begins_aligned(const ConstMatrix& matrix) noexcept;
// Whether every row (column) begins on a multiple of 128 bytes, a line of the L2.
bool begins_lines_of_the_l2(const ConstMatrix& matrix) noexcept;
// The same of 32 bytes, a sector: lines that begin elsewhere are more work for the L2.
bool begins_sectors_of_the_l2(const ConstMatrix& matrix) noexcept;

// Whether the kernel is for operands of these types and orders, summed like this: if it refuses the problem
// then for sizes, alignment or the device.
bool is_kind_of(const Kernel& kernel, const Gemm& problem) noexcept;

// Whether the kernel computes the problem on the device. If not, *why (when given) says what was found and
// what is needed; it is StatusCode::unsupported, or device_unsupported when another device could run it. The
// problem is valid by validate(); its pointers are looked at for their alignment only.
bool accepts(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
             Status* why = nullptr);

// The time that select_kernel() expects, in a unit that is the same for every kernel: the machine runs
// ceil(blocks / (multiprocessors x blocks that fit one)) rounds, with `split` blocks a tile. A round takes
// the products of the tiles that a multiprocessor then holds, over the speed measured for the kernel's family
// and tile; of wgmma kernels also the bytes that are copied for them, from the L2 (longer, if lines begin
// between its sectors) or from memory, if that is longer; of a product of one tile along m or n, those of the
// lines it has. Added are the stores of the tiles, of ping-pong kernels only those of the last one (but less
// than half is hidden if the copy engine cannot store C), and the sums of blocks that share a tile. A last
// round that ends in pairs (pairs.hpp) takes half, of slabs that take longer since these blocks share
// nothing, and adds up. Kernels that compute the transpose of C take as long as others for the product
// turned, but for their stores.
double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept;

// The time of copying an operand of so many bytes into the workspace, in the same unit. transposed: its rows
// become columns.
double estimated_copy_cost(double bytes, bool transposed) noexcept;

// Kernels of a list that the device did not launch: for the choice of the next best one.
using RefusedKernels = std::vector<const Kernel*>;

// The accepted kernel with the least estimated cost that is not among the refused; among equals the one
// listed first. nullptr if none accepts. Copy::module kernels are never chosen, they run by name, nor kernels
// for operands that lie anywhere where both are aligned, nor those others that compute the transpose of C
// where the copy engine cannot write C. problem.kernel is not looked at.
const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused = {});

// The same from kernels().
const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device);

}  // namespace tenon
