// What a kernel for grouped products is told at run time. Below: output.hpp, tile_scheduler_grouped_k.hpp.
#pragma once

#include "tenon/gemm/output.hpp"
#include "tenon/gemm/tile_scheduler_grouped_k.hpp"

namespace tenon {

// C[rows of g] = A[rows of g] * B[g], or C[g] = A[:, k of g] * B[k of g, :].
struct GroupedArguments {
  GroupRows rows;      // or the parts of k
  GroupRaster raster;  // of cluster tiles
  KTiles k;            // of every tile; where there is no k, one k-tile beyond it, which TMA fills with zeros
  int b_pitch;         // rows of B's map from the first of one group to the first of the next
  GroupOutputs outputs;  // where the groups divide k
  bool no_k;             // the same: no group has any
  Output c;              // of all groups
  int scale_b_pitch;     // of block-scaled operands: the same as b_pitch, of the map of B's scales
  int* error;            // set to 1 + g for the first invalid group g (GroupRows); may be null
};

}  // namespace tenon
