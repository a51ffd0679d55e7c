// What a kernel for grouped products is told at run time. Below: output.hpp, tile_scheduler_grouped.hpp.
#pragma once

#include "tenon/gemm/output.hpp"
#include "tenon/gemm/tile_scheduler_grouped.hpp"

namespace tenon {

// C[rows of group g] = A[rows of group g] * B[g].
struct GroupedArguments {
  GroupRows rows;
  GroupRaster raster;  // of cluster tiles
  KTiles k;            // of every tile; where there is no k, one k-tile beyond it, which TMA fills with zeros
  int b_pitch;         // rows of B's map from the first of one group to the first of the next
  Output c;            // of all groups
  int* error;          // set to 1 + g for the first invalid group g (GroupRows); may be null
};

}  // namespace tenon
