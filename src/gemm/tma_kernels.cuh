// The TMA family as rows of the kernel list (sm_90a): operands that TMA can address.
#pragma once

#include "gemm/describe.hpp"
#include "tenon/gemm/plan_tma.hpp"

namespace tenon {

template <class Config>
Status fill_tma(const Kernel&, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                Launch* launch) {
  return plan_tma<Config>(product_of(problem), combination_of<Config>(problem), device, launcher, launch);
}

template <class Config>
void append_tma(std::vector<Kernel>& list) {
  Kernel kernel = describe<Config>("tma");
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.threads = GemmTma<Config>::threads;
  kernel.shared_bytes = GemmTma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_tma<Config, CombinationOf<Config>>);
  kernel.fill = &fill_tma<Config>;
  list.push_back(kernel);
}

}  // namespace tenon
