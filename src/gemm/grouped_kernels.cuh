// The kernels for grouped products of one element type (sm_90a), as rows of the list.
#pragma once

#include "gemm/grouped.hpp"
#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/plan_sm90_grouped.hpp"

namespace tenon {

template <class Config>
Status fill_grouped(const GroupedGemm& problem, const DeviceDescription& device, Launcher& launcher,
                    Launch* launch) {
  return plan_grouped<Config>(problem, LinearCombination{problem.alpha, problem.beta}, device, launcher,
                              launch);
}

template <class Config>
void append_grouped(std::vector<GroupedKernel>& list, const char* ptx, double efficiency) {
  using Block = typename Config::Block;
  constexpr Type type = TypeOf<typename Config::T>::value;
  std::string kernel_name = std::string("grouped_") + name(type) + "_" +
                            (Config::a_order == row_major ? "t" : "n") + (Config::b_k_major ? "n_" : "t_") +
                            std::to_string(Block::m) + "x" + std::to_string(Block::n) + "x" +
                            std::to_string(Block::k) + "_s" + std::to_string(Config::stages) + "_c" +
                            std::to_string(Config::Cluster::m) + "x1" +
                            (Config::pingpong ? "_pingpong" : "") + (Config::divides_k ? "_dividesk" : "");
  list.push_back({std::move(kernel_name), ptx, type, Config::a_order, Config::b_order, Config::divides_k,
                  Block::m, Block::n, Config::Cluster::ctas, efficiency, &fill_grouped<Config>});
}

// T: __half or __nv_bfloat16.
template <class T, int M, int N, int Stages, class Cluster, int Subtiles, Order b_order>
using GroupedCooperative = Grouped<WgmmaConfig<WgmmaOperands<T, T, float>, row_major, b_order,
                                               TileShape<M, N, 64>, M / 64, Stages, Cluster, Subtiles>>;
template <class T, int M, int N, int Stages, class Cluster, int Subtiles, Order b_order>
using GroupedPingpong = Grouped<Pingpong<WgmmaConfig<WgmmaOperands<T, T, float>, row_major, b_order,
                                                     TileShape<M, N, 64>, 1, Stages, Cluster, Subtiles>>>;

// The kernels for groups that divide k.
template <class T>
void append_grouped_k_tiles(std::vector<GroupedKernel>& list, const char* ptx) {
  using Operands = WgmmaOperands<T, T, float>;
  append_grouped<GroupedK<
      WgmmaConfig<Operands, column_major, row_major, TileShape<128, 256, 64>, 2, 4, ClusterShape<2, 1>, 2>>>(
      list, ptx, 0.955);
}

template <class T, Order b_order>
void append_grouped_tiles(std::vector<GroupedKernel>& list, const char* ptx) {
  using Pair = ClusterShape<2, 1>;
  append_grouped<GroupedCooperative<T, 128, 256, 4, Pair, 2, b_order>>(list, ptx, 0.955);
  if constexpr (b_order == column_major)
    append_grouped<GroupedCooperative<T, 128, 224, 4, Pair, 2, b_order>>(list, ptx, 0.942);
}

}  // namespace tenon
