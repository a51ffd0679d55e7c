// The kernels of GemmUnaligned as rows of the kernel list (sm_90a): operands that TMA can address row by row
// alone.
#pragma once

#include "gemm/describe.hpp"
#include "tenon/gemm/plan_sm90_unaligned.hpp"

namespace tenon {

template <class Config>
Status fill_unaligned(const Kernel&, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                      Launch* launch) {
  return plan_unaligned<Config>(product_of(problem), combination_of<Config>(problem), device, launcher,
                                launch);
}

template <class Config>
void append_unaligned(std::vector<Kernel>& list) {
  using Gemm_ = GemmUnaligned<Config>;
  Kernel kernel = describe<Config>("wgmma");
  kernel.name += (Config::swap_ab ? "_c" + std::to_string(Config::cluster) + "x1"
                                  : "_c1x" + std::to_string(Config::cluster)) +
                 "_unaligned" + (Config::swap_ab ? "_swapab" : "") + "_tailsplit";
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.instruction = Instruction::wgmma;
  kernel.cluster = Config::cluster;
  kernel.cluster_n = Config::swap_ab ? 1 : Config::cluster;
  kernel.unaligned = true;
  kernel.splits_tail = true;
  kernel.threads = Gemm_::threads;
  kernel.shared_bytes = Gemm_::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_unaligned<Config, CombinationOf<Config>>);
  kernel.fill = &fill_unaligned<Config>;
  list.push_back(kernel);
}

}  // namespace tenon
