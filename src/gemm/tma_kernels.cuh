// The TMA family as rows of the kernel list (sm_90a): operands that the copy engine can address.
#pragma once

#include <algorithm>

#include "gemm/describe.hpp"
#include "tenon/gemm/gemm_tma.hpp"

namespace tenon {

template <class Tile>
Status make_operand_map(Launcher& launcher, const ConstMatrix& matrix, int extent, int k, TensorMap* map) {
  return launcher.make_tensor_map(operand_in_memory<Tile>(matrix, extent, k), Tile::lines,
                                  Tile::panel_columns, map);
}

template <class Config>
Status fill_tma(const Kernel&, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                Launch* launch) {
  const GemmArguments arguments = make_arguments<Config>(problem);
  TensorMap map_a, map_b;
  if (Status s =
          make_operand_map<typename Config::TileA>(launcher, problem.a, arguments.m, arguments.k, &map_a);
      !s) {
    return s;
  }
  if (Status s =
          make_operand_map<typename Config::TileB>(launcher, problem.b, arguments.n, arguments.k, &map_b);
      !s) {
    return s;
  }
  launch->grid.x = static_cast<unsigned>(std::min(device.multiprocessors, arguments.raster.tiles()));
  launch->arguments.set(map_a, map_b, arguments);
  return {};
}

template <class Config>
void append_tma(std::vector<Kernel>& list) {
  Kernel kernel = describe<Config>("tma");
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.threads = GemmTma<Config>::threads;
  kernel.shared_bytes = GemmTma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_tma<Config>);
  kernel.fill = &fill_tma<Config>;
  list.push_back(kernel);
}

}  // namespace tenon
