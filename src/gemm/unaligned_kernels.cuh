// The kernels of GemmUnaligned as rows of the kernel list (sm_90a): operands that the copy engine can address
// line by line alone.
#pragma once

#include <algorithm>

#include "gemm/describe.hpp"
#include "gemm/eighths.hpp"
#include "gemm/maps_of_eighths.hpp"
#include "gemm/pairs.hpp"
#include "gemm/select.hpp"
#include "gemm/square_band.hpp"
#include "gemm/turned_operands.hpp"
#include "tenon/gemm/gemm_wgmma_unaligned.hpp"

namespace tenon {

template <class Config>
Status fill_unaligned(const Kernel&, const Gemm& given, const DeviceDescription& device, Launcher& launcher,
                      Launch* launch) {
  using Gemm_ = GemmUnaligned<Config>;
  using Block = typename Config::Block;
  const Gemm problem = Config::turned ? with_turned_operands(given) : given;
  UnalignedArguments arguments{make_arguments<Config>(problem), 8, 8, 0};
  GemmArguments& g = arguments.gemm;
  g.c.m = static_cast<int>(given.m), g.c.n = static_cast<int>(given.n);
  TensorMapsOfEighths map_a, map_b;
  const bool aligned = copy_alignment(problem.a) == 16;
  if (aligned) arguments.rows_apart = 1;  // neighbours all lie equally
  if (begins_lines_of_the_l2(problem.a)) {
    arguments.before = Block::k;
    arguments.shares_b = shares_b(g.m, g.n, Block::m, Block::n) ? 1 : 0;
  }
  const int box_lines_a = Gemm_::box_lines_a(arguments.shares_b != 0);
  if (aligned) {
    if (Status s = launcher.make_tensor_map(operand_in_memory<typename Gemm_::TileA>(problem.a, g.m, g.k),
                                            box_lines_a, Block::k, &map_a.of[0]);
        !s) {
      return s;
    }
    std::fill(map_a.of + 1, map_a.of + 8, map_a.of[0]);
  } else if (Status s = make_maps_of_eighths(launcher, problem.a, g.m, g.k, box_lines_a, Block::k, &map_a);
             !s) {
    return s;
  }
  if (Status s = make_maps_of_eighths(launcher, problem.b, g.n, g.k, Gemm_::box_lines_b, Block::k, &map_b);
      !s)
    return s;
  const int rows = Block::m * (arguments.shares_b ? Gemm_::cluster : 1);
  const int columns = Block::n * (arguments.shares_b ? 1 : Gemm_::cluster);
  const int clusters = std::max(1, device.multiprocessors / Gemm_::cluster);
  const int band = square_band(clusters, rows, columns);
  g.raster = make_raster(g.m, g.n, rows, columns, band);
  // Of eighths, those of 8 tiles' rows come together.
  if (arguments.rows_apart == 8)
    g.raster = Raster(row_tiles_of_eighths(g.m, Block::m, 1), g.raster.tiles_n(), band);
  const SharedOut shared = share_out(g.raster.tiles(), clusters, g.k / Block::k + (g.k % Block::k != 0));
  g.undivided = shared.undivided;
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(Gemm_::cluster * shared.busy_clusters);
  launch->arguments.set(map_a, map_b, arguments);
  return {};
}

template <class Config>
void append_unaligned(std::vector<Kernel>& list) {
  using Gemm_ = GemmUnaligned<Config>;
  Kernel kernel = describe<Config>("wgmma");
  kernel.name += (Config::turned ? "_c" + std::to_string(Gemm_::cluster) + "x1"
                                 : "_c1x" + std::to_string(Gemm_::cluster)) +
                 "_unaligned";
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.instruction = Instruction::wgmma;
  kernel.cluster = Gemm_::cluster;
  kernel.cluster_n = Config::turned ? 1 : Gemm_::cluster;
  kernel.anywhere = true;
  kernel.threads = Gemm_::threads;
  kernel.shared_bytes = Gemm_::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_unaligned<Config>);
  kernel.fill = &fill_unaligned<Config>;
  list.push_back(kernel);
}

}  // namespace tenon
