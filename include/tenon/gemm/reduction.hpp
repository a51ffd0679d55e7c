// The reduction: how the partial accumulators of several CTAs become one. This one is for kernels whose CTAs
// compute whole tiles; reduction_cluster.hpp (cluster split-K) and reduction_cluster_tail.hpp (tail split-K)
// have the same interface. Nothing goes through device memory.
#pragma once

#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Of two partial accumulators.
__device__ __forceinline__ float sum_of(float a, float b) {
  return a + b;
}
__device__ __forceinline__ std::int32_t sum_of(std::int32_t a, std::int32_t b) {  // modulo 2^32
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

// Every CTA computes whole tiles: the accumulators are stored as they are.
template <class Config>
class NoReduction {
 public:
  static constexpr int bytes = 0;  // of shared memory

  // memory: `bytes` of shared memory, 16-byte aligned, at the same place in every CTA. ring: address of the
  // ring's stages in the shared window, Config::ring_bytes of them.
  __device__ __forceinline__ NoReduction(std::uint8_t* /*memory*/, std::uint32_t /*ring*/,
                                         const typename Config::Cluster&) {}

  // By one thread, before the cluster first synchronises.
  __device__ __forceinline__ void initialize() const {}
  // By the producer warpgroup, after its last load. ends_with_split_tile: see TileScheduler.
  __device__ __forceinline__ void join(bool /*ends_with_split_tile*/) const {}

  // By all consumer warpgroups, once a work tile. Calls store(rows, row) by whole warps, for each 64 rows of
  // accumulators that this CTA stores, from row `row` of the warpgroup's on; rows.pair(0, j, half, two) gives
  // two adjacent elements of fragment j in row g or (half) g + 8 of a warp's 16 rows.
  template <class Accumulators, class Store>
  __device__ __forceinline__ void operator()(Accumulators& accumulators, const WorkTile&, int /*consumer*/,
                                             const Store& store) const {
    accumulators.for_each_part(store);
  }

  // By all consumers, before they leave: no other CTA has an arrival on its way to this one, and what it sent
  // has been read.
  __device__ __forceinline__ void finish() const {}
};

}  // namespace tenon
