// The wgmma family as rows of the kernel list (sm_90a): operands that TMA can address.
#pragma once

#include "gemm/describe.hpp"
#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/wgmma_fused.hpp"

namespace tenon {

// Makes the map of the matrix beside D for the epilogue.
inline Status make_matrix_map(Launcher& launcher, const Gemm& problem, FusedEpilogue* op) {
  if (!op->matrix_has_map) return {};
  const Matrix& matrix = matrix_beside_d(problem);
  return make_epilogue_map(launcher, matrix.data, matrix.ld, static_cast<int>(problem.m),
                           static_cast<int>(problem.n), &op->matrix_map);
}

// The extent of the kernel's clusters, as the tensor core has m and n.
template <class Config>
ClusterExtent cluster_extent(const Kernel& kernel) {
  const int along_n = kernel.cluster_n, along_m = kernel.cluster / kernel.split / along_n;
  return Config::swap_ab ? ClusterExtent::of(along_n, along_m) : ClusterExtent::of(along_m, along_n);
}

template <class Config, class Op>
Status fill_wgmma(const Kernel& self, const Gemm& problem, const DeviceDescription& device,
                  Launcher& launcher, Launch* launch) {
  Op op = operation_of<Config, Op>(problem);
  if constexpr (std::is_same_v<Op, FusedEpilogue>) {
    if (Status s = make_matrix_map(launcher, problem, &op); !s) return s;
  }
  return plan_wgmma<Config>(product_of(problem), op, device, launcher, launch, cluster_extent<Config>(self),
                            problem.workspace);
}

// Of a kernel that takes only the epilogues for which StoreTmaFused has a store of its own.
template <class Config>
bool takes_epilogue(const Gemm& problem) {
  return is_for_tma(fused_epilogue_of(problem), TypeOf<typename Config::T>::value,
                    output_of(product_of(problem)));
}

// cluster_m, cluster_n: CTAs of a cluster along m and n of the problem.
template <class Config, class Op>
void append_wgmma_of(int cluster_m, int cluster_n, std::vector<Kernel>& list) {
  using Cluster = typename Config::Cluster;
  Kernel kernel = describe<Config>("wgmma");
  if (cluster_m * cluster_n > 1)
    kernel.name += "_c" + std::to_string(cluster_m) + "x" + std::to_string(cluster_n);
  if (Config::pingpong) kernel.name += "_pingpong";
  if (Config::promotes) kernel.name += "_promoted";
  if (Cluster::k > 1) kernel.name += "_splitk" + std::to_string(Cluster::k);
  if (Config::row_interleaved) kernel.name += "_rowinterleaved";
  if (Config::swap_ab) kernel.name += "_swapab";
  if (Config::splits_tail) kernel.name += "_tailsplit";
  if constexpr (Config::streams_k) {
    kernel.name += "_streamk";
    kernel.partial_bytes = StreamKMemory<Config>::bytes_of_cta;
  }
  kernel.fused = std::is_same_v<Op, FusedEpilogue>;
  if (kernel.fused && !takes_every_epilogue<Config>) kernel.takes_epilogue = &takes_epilogue<Config>;
  if (kernel.fused) kernel.name += "_fused";
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.instruction = Instruction::wgmma;
  kernel.cluster = cluster_m * cluster_n * Cluster::k;
  kernel.cluster_n = cluster_n;
  if (Config::narrowest < Config::Block::n) kernel.narrowest = Config::narrowest;
  kernel.column_step = column_step<Config>;
  kernel.split = Cluster::k;
  kernel.promotes = Config::promotes;
  kernel.pingpong = Config::pingpong;
  kernel.loads_residue = RegisterBudget<Config>::loads_residue;
  kernel.splits_tail = Config::splits_tail;
  kernel.row_interleaved = Config::row_interleaved;
  kernel.threads = GemmWgmma<Config>::threads;
  kernel.shared_bytes = GemmWgmma<Config>::template shared_bytes_with<Op>;
  kernel.function = wgmma_function<Config, Op>();
  kernel.fill = &fill_wgmma<Config, Op>;
  list.push_back(kernel);
}

template <class Config, class Op = CombinationOf<Config>>
void append_wgmma(std::vector<Kernel>& list) {
  using Cluster = typename Config::Cluster;
  append_wgmma_of<Config, Op>(Config::swap_ab ? Cluster::n : Cluster::m,
                              Config::swap_ab ? Cluster::m : Cluster::n, list);
}

// The same with a LaunchedCluster: one compiled kernel, an entry of the list for each shape of its clusters.
struct ClusterOfEntry {
  int m, n;
};
template <class Config, class Op = CombinationOf<Config>>
void append_wgmma(std::initializer_list<ClusterOfEntry> clusters, std::vector<Kernel>& list) {
  for (const auto& [m, n] : clusters) append_wgmma_of<Config, Op>(m, n, list);
}

}  // namespace tenon
