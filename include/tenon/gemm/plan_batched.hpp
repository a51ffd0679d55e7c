// The launch plans of the kernels for batches: from a batch of products to grid and arguments. Host code.
// Below: kernel_cp_async_batched.hpp, kernel_direct.hpp, kernel_small.hpp, plan.hpp.
#pragma once

#include "tenon/gemm/kernel_cp_async_batched.hpp"
#include "tenon/gemm/kernel_direct.hpp"
#include "tenon/gemm/kernel_small.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {

// The most tiles of a batch for the small kernels: they count them in 31 bits, and beyond the last one by as
// many as are in flight.
inline constexpr std::int64_t most_batched_tiles = std::int64_t{1} << 30;

template <class Config>
BatchedArguments make_batched_arguments(const BatchedProduct& batch) {
  const GemmArguments gemm = make_arguments<Config>(batch.product);
  return {gemm, batch.a, batch.b, batch.c, static_cast<int>(batch.count), Divisor(gemm.raster.tiles())};
}

// Whether the tiles of all problems can be counted.
template <class Config>
Status check_batched_tiles(const BatchedProduct& batch) {
  constexpr int tile_m = Config::Block::m, tile_n = Config::Block::n;
  if (Status s = check_tiles(batch.product.m, batch.product.n, tile_m, tile_n); !s) return s;
  const std::int64_t tiles = ((batch.product.m - 1) / tile_m + 1) * ((batch.product.n - 1) / tile_n + 1);
  if (batch.count <= most_batched_tiles / tiles) return {};
  return Status(StatusCode::unsupported,
                "count is %lld but with %lld tiles of %d x %d a problem must be <= %lld",
                static_cast<long long>(batch.count), static_cast<long long>(tiles), tile_m, tile_n,
                static_cast<long long>(most_batched_tiles / tiles));
}

// The launch of gemm_small<Config, alignment, Op> for a batch with count, m, n >= 1 and k <=
// Config::Block::k. With Alignment::whole_chunks every row (column) of A and B, in all problems, begins on 16
// bytes and has a multiple of 8 elements.
template <class Config, Alignment alignment, class Op>
Status plan_small(const BatchedProduct& batch, const Op& op, const DeviceDescription& device,
                  Launch* launch) {
  if (Status s = check_batched_tiles<Config>(batch); !s) return s;
  const BatchedArguments arguments = make_batched_arguments<Config>(batch);
  const int tiles = arguments.count * arguments.gemm.raster.tiles();
  // As many CTAs as run at once, so that each group walks over as many tiles as it can. (A limited device
  // would run two CTAs on two multiprocessors rather than on one.)
  const auto fit = static_cast<int>((device.shared_bytes_per_block_optin + Config::system_bytes) /
                                    (Config::shared_bytes + Config::system_bytes));
  const int resident = device.is_limited() ? 1 : std::max(1, std::min(Config::resident, fit));
  launch->function = reinterpret_cast<const void*>(&gemm_small<Config, alignment, Op>);
  launch->grid.x =
      static_cast<unsigned>(std::min((tiles - 1) / Config::groups + 1, resident * device.multiprocessors));
  launch->block.x = Config::threads;
  launch->shared_bytes = Config::shared_bytes;
  launch->arguments.set(arguments, op);
  return {};
}

// The launch of gemm_direct<Config, Op> for such a batch, with Alignment::whole_chunks.
template <class Config, class Op>
Status plan_direct(const BatchedProduct& batch, const Op& op, Launch* launch) {
  if (Status s = check_batched_tiles<Config>(batch); !s) return s;
  const BatchedArguments arguments = make_batched_arguments<Config>(batch);
  launch->function = reinterpret_cast<const void*>(&gemm_direct<Config, Op>);
  launch->grid.x =
      static_cast<unsigned>((arguments.count * arguments.gemm.raster.tiles() - 1) / Config::warps + 1);
  launch->block.x = Config::threads;
  launch->arguments.set(arguments, op);
  return {};
}

// The launch of gemm_cp_async_batched<Config, alignment, Op> for a batch with count, m, n, k >= 1. With
// Alignment::full_16 every matrix of A and B begins on 16 bytes.
template <class Config, Alignment alignment, class Op>
Status plan_cp_async_batched(const BatchedProduct& batch, const Op& op, Launch* launch) {
  if (Status s = check_tiles(batch.product.m, batch.product.n, Config::Block::m, Config::Block::n); !s)
    return s;
  const BatchedArguments arguments = make_batched_arguments<Config>(batch);
  constexpr int most_blocks = 65535;  // of a grid along y or z
  launch->function = reinterpret_cast<const void*>(&gemm_cp_async_batched<Config, alignment, Op>);
  launch->grid.x = static_cast<unsigned>(arguments.gemm.raster.tiles());
  launch->grid.y = static_cast<unsigned>(std::min(arguments.count, most_blocks));
  launch->grid.z = static_cast<unsigned>((arguments.count - 1) / most_blocks + 1);
  launch->block.x = GemmCpAsync<Config, alignment>::threads;
  launch->shared_bytes = GemmCpAsync<Config, alignment>::shared_bytes;
  launch->arguments.set(arguments, op);
  return {};
}

}  // namespace tenon
