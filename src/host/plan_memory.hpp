// What make_plan() said for the last problems of this thread: to ask every kernel of the library takes longer
// than to enqueue one. A few problems are kept, in memory of fixed size.
#pragma once

#include "host/plan.hpp"

namespace tenon {

// Whether the plan of such a problem is known, which is then *plan. Of pointers only what a choice depends on
// is compared: their last 8 bits, and whether they are null. Problems that name a kernel or a tuning table,
// whose text and entries may change, are never known.
bool recall_plan(const Gemm& problem, const DeviceDescription& device, Plan* plan) noexcept;

// Remembers the plan of the library's kernels for a problem, instead of an older one.
void remember_plan(const Gemm& problem, const DeviceDescription& device, const Plan& plan) noexcept;

}  // namespace tenon
