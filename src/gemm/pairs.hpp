// When a kernel that can do so ends in pairs: the tiles that are left after rounds of all clusters, if they
// are less than half of a round, are computed by two blocks each. For the launch and for the choice among
// kernels.
#pragma once

namespace tenon {

// Slabs of k below which halving them gains less than adding up the halves costs.
inline constexpr int least_slabs_of_pairs = 16;

// Of `tiles` (each of a cluster of two blocks), those that `clusters` clusters compute in pairs.
constexpr int tiles_in_pairs(int tiles, int clusters, int slabs) noexcept {
  const int left = tiles % clusters;
  return 2 * left <= clusters && slabs >= least_slabs_of_pairs ? left : 0;
}

// The grid of such a kernel: tiles that are computed whole, after which come those in pairs, and how many
// clusters have work: one for each tile, two for one in pairs.
struct SharedOut {
  int undivided, busy_clusters;
};
constexpr SharedOut share_out(int tiles, int clusters, int slabs) noexcept {
  const int pairs = tiles_in_pairs(tiles, clusters, slabs), undivided = tiles - pairs;
  const int wanted = undivided > 2 * pairs ? undivided : 2 * pairs;
  return {undivided, wanted < clusters ? wanted : clusters};
}

}  // namespace tenon
