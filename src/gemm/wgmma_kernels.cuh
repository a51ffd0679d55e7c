// The wgmma family as rows of the kernel list (sm_90a): operands that TMA can address.
#pragma once

#include "gemm/describe.hpp"
#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/wgmma_fused.hpp"

namespace tenon {

// Makes the map of C for the loads of the epilogue.
inline Status make_c_map(Launcher& launcher, const Gemm& problem, FusedEpilogue* op) {
  if (!op->c_has_map) return {};
  const Matrix& c = problem.c;
  return make_epilogue_map(launcher, c.data, c.ld, static_cast<int>(problem.m), static_cast<int>(problem.n),
                           &op->c_map);
}

template <class Config, class Op>
Status fill_wgmma(const Kernel&, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                  Launch* launch) {
  Op op = operation_of<Config, Op>(problem);
  if constexpr (std::is_same_v<Op, FusedEpilogue>) {
    if (Status s = make_c_map(launcher, problem, &op); !s) return s;
  }
  return plan_wgmma<Config>(product_of(problem), op, device, launcher, launch);
}

// Of a kernel that takes only the epilogues for which StoreTmaFused has a store of its own.
template <class Config>
bool takes_epilogue(const Gemm& problem) {
  return is_for_tma(fused_epilogue_of(problem), TypeOf<typename Config::T>::value,
                    output_of(product_of(problem)));
}

template <class Config, class Op = CombinationOf<Config>>
void append_wgmma(std::vector<Kernel>& list) {
  using Cluster = typename Config::Cluster;
  Kernel kernel = describe<Config>("wgmma");
  constexpr int cluster_m = Config::swap_ab ? Cluster::n : Cluster::m;
  constexpr int cluster_n = Config::swap_ab ? Cluster::m : Cluster::n;
  if (cluster_m * cluster_n > 1)
    kernel.name += "_c" + std::to_string(cluster_m) + "x" + std::to_string(cluster_n);
  if (Config::pingpong) kernel.name += "_pingpong";
  if (Config::promotes) kernel.name += "_promoted";
  if (Cluster::k > 1) kernel.name += "_splitk" + std::to_string(Cluster::k);
  if (Config::row_interleaved) kernel.name += "_rowinterleaved";
  if (Config::swap_ab) kernel.name += "_swapab";
  if (Config::splits_tail) kernel.name += "_tailsplit";
  kernel.fused = std::is_same_v<Op, FusedEpilogue>;
  if (kernel.fused && !takes_every_epilogue<Config>) kernel.takes_epilogue = &takes_epilogue<Config>;
  if (kernel.fused) kernel.name += "_fused";
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.instruction = Instruction::wgmma;
  kernel.cluster = Cluster::ctas;
  kernel.cluster_n = cluster_n;
  kernel.split = Cluster::k;
  kernel.promotes = Config::promotes;
  kernel.pingpong = Config::pingpong;
  kernel.specialises_beta_zero = RegisterBudget<Config>::specialises_beta_zero;
  kernel.loads_residue = RegisterBudget<Config>::loads_residue;
  kernel.row_interleaved = Config::row_interleaved;
  kernel.threads = GemmWgmma<Config>::threads;
  kernel.shared_bytes = GemmWgmma<Config>::template shared_bytes_with<Op>;
  kernel.function = reinterpret_cast<const void*>(&gemm_wgmma<Config, Op>);
  kernel.fill = &fill_wgmma<Config, Op>;
  list.push_back(kernel);
}

}  // namespace tenon
