// What the launch plans of all kernels have in common: an operand as a tensor map sees it, the raster, the
// arguments, and which products can be launched at all. Host code. Below: arguments.hpp, launch_plan.hpp,
// problem.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm/problem.hpp"

namespace tenon {

// Tile rows in a band of the raster, for grids of one CTA a tile: A's 8 rows of tiles and a column of B stay
// in the L2 at any size.
inline constexpr int raster_band = 8;

// The same for persistent grids: clusters that run at once read the fewest rows of A and columns of B if
// their tiles form a square of C. rows, columns: of a cluster tile.
inline int square_band(int clusters, int rows, int columns) {
  return std::max(1,
                  static_cast<int>(std::lround(std::sqrt(static_cast<double>(clusters) * columns / rows))));
}

// A (extent: m) or B (extent: n) as a tensor map sees it. Tile: the OperandTile that it is loaded in.
template <class Tile>
MatrixInMemory operand_in_memory(const ConstMatrix& matrix, int extent, int k) {
  return {matrix.data, Tile::element_bytes, Tile::k_major ? extent : k, Tile::k_major ? k : extent,
          matrix.ld};
}

// Where the result of a product goes.
inline Output output_of(const Product& product) {
  const std::int64_t columns = product.gated ? product.n / 2 : product.n;
  return {product.c.data, product.c.ld, static_cast<int>(product.m), static_cast<int>(columns),
          product.c.type};
}

// The arguments of a product, with the raster of a grid of one CTA a tile. Config: GemmConfig, WgmmaConfig or
// UnalignedConfig.
template <class Config>
GemmArguments make_arguments(const Product& product) {
  const int m = static_cast<int>(product.m), n = static_cast<int>(product.n), k = static_cast<int>(product.k);
  return {m,
          n,
          k,
          product.a.data,
          product.a.ld,
          product.b.data,
          product.b.ld,
          output_of(product),
          make_raster(m, n, Config::Block::m, Config::Block::n, raster_band)};
}

// Whether a product makes sense by itself: sizes, pointers and leading dimensions. m, n and k may be 0. Each
// kernel checks what it needs beyond that. gemm() (gemm.hpp) checks more: types, overlap, the address space.
inline Status check_product(const Product& p) {
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  const struct {
    char name;
    std::int64_t size;
  } sizes[] = {{'m', p.m}, {'n', p.n}, {'k', p.k}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > largest_dimension)
      return Status(invalid, "%c is %lld but must be 0 to %lld", name, static_cast<long long>(size),
                    static_cast<long long>(largest_dimension));
  }
  if (p.m == 0 || p.n == 0) return {};
  const auto check = [](char name, const void* data, std::int64_t ld, std::int64_t least, Type type) {
    if (data == nullptr) return Status(invalid, "%c is a null pointer", name);
    if (reinterpret_cast<std::uintptr_t>(data) % bytes(type) != 0)
      return Status(invalid, "%c is at %p but its elements of type %s lie on multiples of %zu bytes", name,
                    data, tenon::name(type), bytes(type));
    if (ld < least)
      return Status(invalid, "ld%c is %lld but needs >= %lld here", name - 'A' + 'a',
                    static_cast<long long>(ld), static_cast<long long>(least));
    return Status();
  };
  if (Status s = check('C', p.c.data, p.c.ld, p.n, p.c.type); !s) return s;
  if (p.k == 0) return {};
  if (Status s = check('A', p.a.data, p.a.ld, p.a.order == row_major ? p.k : p.m, p.a.type); !s) return s;
  return check('B', p.b.data, p.b.ld, p.b.order == row_major ? p.n : p.k, p.b.type);
}

// Whether the tiles of a product can be counted: the raster has less than 2^31 of them.
inline Status check_tiles(std::int64_t m, std::int64_t n, int tile_m, int tile_n) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const std::int64_t tiles_m = m / tile_m + 1, tiles_n = n / tile_n + 1;
  if (tiles_m <= most / tiles_n) return {};
  return Status(StatusCode::unsupported,
                "m = %lld and n = %lld make about %lld tiles of %d x %d but a grid has at most %lld",
                static_cast<long long>(m), static_cast<long long>(n),
                static_cast<long long>(tiles_m * tiles_n), tile_m, tile_n, static_cast<long long>(most));
}

// Whether the call may use as many multiprocessors as a cluster has CTAs.
inline Status check_cluster_fits(const char* kernel, int ctas, const DeviceDescription& device) {
  if (!device.is_limited() || ctas <= device.multiprocessors) return {};
  return Status(StatusCode::unsupported,
                "%s runs in clusters of %d CTAs but the call may use %d multiprocessors",
                *kernel == '\0' ? "the kernel" : kernel, ctas, device.multiprocessors);
}

// Whether a launch of so many CTAs that loads so much of A and B should begin while what runs before it on
// the stream ends. Mostly that gains the 0.6 us of its start. But a grid that loads much, and has fewer CTAs
// than the device has multiprocessors, takes up to 1.6 times as long when it overlaps, from the L2 as from
// memory; why is not known. Measured at 10,000 launches on an H200 (microbench/HISTORY.md).
inline bool overlap_pays(const DeviceDescription& device, int ctas, double operand_bytes) noexcept {
  return ctas > device.multiprocessors * 3 / 4 || operand_bytes < static_cast<double>(device.l2_bytes) / 3;
}

// Whether TMA can read an operand as it lies.
inline Status check_tma_operand(char name, const ConstMatrix& matrix) {
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(matrix.data) % 16);
  if (beyond != 0)
    return Status(StatusCode::unsupported, "%c is %d bytes past a multiple of 16 but TMA needs 0", name,
                  beyond);
  const auto multiple = static_cast<int>(16 / bytes(matrix.type));
  if (matrix.ld % multiple != 0)
    return Status(StatusCode::unsupported, "ld%c is %lld but TMA needs a multiple of %d elements of type %s",
                  name - 'A' + 'a', static_cast<long long>(matrix.ld), multiple, tenon::name(matrix.type));
  return {};
}

}  // namespace tenon
