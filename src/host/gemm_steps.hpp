// What gemm() does, in two steps: to decide what is launched, which takes most of a call, and to launch it. A
// prepared product (gemm_prepared.cpp) repeats the second step alone.
#pragma once

#include "host/plan.hpp"
#include "host/precision.hpp"
#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// What a problem takes: nothing, a C that is scaled, an epilogue of a product of zeros, or a product.
enum class Work { nothing, scale, epilogue, product };
Work work_of(const Gemm& problem) noexcept;

struct GemmDecision {
  Work work = Work::nothing;
  DeviceDescription device;  // if there is work
  Products products;         // of Work::product, and their plans
  Plan plan[2];
};

// A name that no kernel has is an error even if there is nothing to compute.
Status check_kernel_name(const Gemm& problem);

// Validates the problem, and chooses the kernel of its first product. decide_validated(): without validating
// it, for pointers that stand for others.
Status decide(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept;
Status decide_validated(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept;

// Whether the problem is valid. Each matrix whose pointer is null gets an address as aligned as those of
// cudaMalloc: before a launch only the alignment of an address matters.
Status validate_without_pointers(Gemm* problem) noexcept;

// Launches what was decided. Where the device refuses a kernel, the next best one runs, and stands in
// *decision from then on. So does the plan of the second product, which is made here where there is none yet.
Status run(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept;

}  // namespace tenon
