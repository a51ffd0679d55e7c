// What every GEMM kernel is told at run time. Below: cluster_shape.hpp, operand_load.hpp, output.hpp,
// raster.hpp.
#pragma once

#include "tenon/gemm/cluster_shape.hpp"
#include "tenon/gemm/operand_load.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/gemm/raster.hpp"

namespace tenon {

struct GemmArguments {
  int m, n, k;    // >= 1
  const void* a;  // device pointers; lda and ldb in elements
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  Output c;
  Raster raster;  // of cluster tiles
  // For the wgmma kernels. whole_tiles: cluster tiles before the first that tail split-K splits
  // (TileScheduler), or stream-K divides. residue_m, residue_n: rows of A and columns of B beyond which
  // nothing is loaded (OperandLoad): m and n, or load_whole_tiles.
  int whole_tiles = raster.tiles(), residue_m = load_whole_tiles, residue_n = load_whole_tiles;
  ClusterExtent cluster = {};  // of a LaunchedCluster
  int tile_columns = 0;        // of a Fitted tile
  // Of stream-K: pieces of each tile that it divides, and device memory through which CTAs add up tiles
  // (StreamKMemory).
  int pieces = 1;
  void* partial_tiles = nullptr;
};

}  // namespace tenon
