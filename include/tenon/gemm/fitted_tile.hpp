// Tiles whose columns are fitted to C when the kernel is launched (Fitted of wgmma_config.hpp): how many
// columns the launch takes, and how the kernel finds the wgmma of that width. Plain C++17. Below:
// arguments.hpp, fragment/host_device.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// How many clusters run at once, each of `ctas` CTAs. A cluster of more than two lies within one GPC. GPCs
// have 16 multiprocessors or a few more, and not all have equally many: an H100 of 132 runs 38 clusters of 3,
// 30 of 4, 22 of 5, and 15 of 6, 7 and 8.
constexpr int clusters_at_once(int ctas, int multiprocessors) {
  constexpr int of_a_gpc = 16;
  const int pairs = multiprocessors / ctas;
  const int within_gpcs = multiprocessors * 93 / 100 * (of_a_gpc / ctas) / of_a_gpc;
  const int found = ctas <= 2 || within_gpcs > pairs ? pairs : within_gpcs;
  return found > 1 ? found : 1;
}

// The numbers of columns that a tile may have: multiples of `step` from `narrowest` (rounded up to one) to
// `widest`.
struct TileColumns {
  int narrowest, widest, step;
  bool stores_any_width = false;  // swap-AB, whose columns are rows of C
};
// A product of n columns by clusters of along_n CTAs beside each other. rows_of_clusters: clusters that have
// the same columns; at_once: clusters that run at once; k_tiles: of a tile.
struct FittedProduct {
  std::int64_t n;
  int along_n;
  std::int64_t rows_of_clusters;
  int at_once;
  std::int64_t k_tiles;
};
// The columns with which all waves together take the least time: the fewest for the number of waves that the
// widest tile takes, or, if that is less, for one or two waves more. A wave takes as long as its columns, and
// 32 more, are multiplied; and what is stored, as 64 columns of a k-tile, or 256 where the last epilogue
// subtile is not 64 columns wide, which TMA does not store.
constexpr int fitted_columns(const TileColumns& tile, const FittedProduct& p) {
  constexpr int most_waves_more = 2, columns_of_a_wave = 32, stored_whole = 64, stored_in_part = 256;
  const std::int64_t n = p.n, rows_of_clusters = p.rows_of_clusters, k_tiles = p.k_tiles > 0 ? p.k_tiles : 1;
  const int along_n = p.along_n, at_once = p.at_once;
  const std::int64_t group = std::int64_t{tile.widest} * along_n;
  const std::int64_t clusters = (n + group - 1) / group * rows_of_clusters;
  if (clusters == 0 || clusters > load_whole_tiles / 2) return tile.widest;
  const std::int64_t fewest_waves = (clusters + at_once - 1) / at_once;
  std::int64_t best = tile.widest, least_time = std::int64_t{1} << 62;
  for (std::int64_t waves = fewest_waves; waves <= fewest_waves + most_waves_more; ++waves) {
    const std::int64_t tiles = waves * at_once / rows_of_clusters * along_n;
    const std::int64_t each = (n + tiles - 1) / tiles;
    const std::int64_t least = each > tile.narrowest ? each : tile.narrowest;
    for (const int multiple : {tile.step, tile.step < 64 ? 64 : tile.step}) {
      const std::int64_t stepped = (least + multiple - 1) / multiple * multiple;
      const std::int64_t columns = stepped < tile.widest ? stepped : tile.widest;
      const std::int64_t stored = tile.stores_any_width || columns % 64 == 0 ? stored_whole : stored_in_part;
      const std::int64_t time = waves * ((columns + columns_of_a_wave) * k_tiles + stored);
      if (time >= least_time) continue;
      least_time = time;
      best = columns;
    }
  }
  return static_cast<int>(best);
}

// The columns of a tile. Arguments: GemmArguments, or others if the tile is not a Fitted one.
template <class Config, class Arguments>
TENON_HOST_DEVICE constexpr int tile_columns(const Arguments& p) {
  if constexpr (Config::narrowest < Config::Block::n) {
    return p.tile_columns;
  } else {
    return Config::Block::n;
  }
}

// Columns of fitted tiles are multiples of this: what wgmma takes (wgmma_has_n), and where n is contiguous in
// B 16 elements, so that each row of a tile begins on a sector of the L2 (32 bytes).
template <class Config>
inline constexpr int column_step =
    std::is_same_v<typename Config::Acc, std::int32_t> || !Config::b_k_major ? 16 : 8;

// The columns of a tile, by whole warps: as a number that ptxas knows to be the same for all lanes.
template <class Config, class Arguments>
TENON_HOST_DEVICE inline int uniform_tile_columns(const Arguments& p) {
#ifdef __CUDA_ARCH__
  if (Config::narrowest < Config::Block::n) return __shfl_sync(0xffffffffU, tile_columns<Config>(p), 0);
#endif
  return tile_columns<Config>(p);
}

// Calls f(std::integral_constant<int, columns>()) for the columns of a tile, one of least, least + step, ...
// most: one copy of f for each. Halves the range, because a first k-tile waits for the branches.
template <int least, int most, int step, class F>
TENON_HOST_DEVICE inline void with_columns_between(int columns, const F& f) {
  if constexpr (least == most) {
    f(std::integral_constant<int, least>());
  } else {
    constexpr int middle = least + (most - least) / step / 2 * step;
    if (columns <= middle) {
      with_columns_between<least, middle, step>(columns, f);
    } else {
      with_columns_between<middle + step, most, step>(columns, f);
    }
  }
}
template <class Config, class F>
TENON_HOST_DEVICE inline void with_columns(int columns, const F& f) {
  constexpr int step = column_step<Config>, most = Config::Block::n,
                least = most - (most - Config::narrowest) / step * step;
  with_columns_between<least, most, step>(columns, f);
}

// The columns of a part of accumulators (epilogue_subtile.hpp) that belong to the tile: of a part of a Fitted
// tile fewer than its registers.
template <class Part_, int narrowest_>
struct FittedPart {
  using Value = typename Part_::Value;
  static constexpr int rows = Part_::rows, columns = Part_::columns, narrowest = narrowest_;
  const Part_& part;
  int held_columns;  // narrowest or more

  TENON_HOST_DEVICE void pair(int i, int j, int half, Value (&two)[2]) const { part.pair(i, j, half, two); }
};
template <class Part>
inline constexpr bool is_fitted = false;
template <class Part, int narrowest>
inline constexpr bool is_fitted<FittedPart<Part, narrowest>> = true;

template <class Part>
TENON_HOST_DEVICE constexpr int held_columns(const Part& part) {
  if constexpr (is_fitted<Part>) {
    return part.held_columns;
  } else {
    return 8 * Part::columns;
  }
}
// How many of `count` columns from `first` on belong to the tile, 0 or fewer if none. The compiler knows it
// for columns that even the narrowest tile has.
template <class Part>
TENON_HOST_DEVICE constexpr int held_of(const Part& part, int first, int count) {
  if constexpr (is_fitted<Part>) {
    if (first + count <= Part::narrowest) return count;
  }
  const int left = held_columns(part) - first;
  return left < count ? left : count;
}

}  // namespace tenon
