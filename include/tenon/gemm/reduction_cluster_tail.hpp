// Tail split-K: if the last wave has few tiles, the two CTAs of a cluster compute half of k each of one tile
// (TailSplit of tile_scheduler.hpp). Their rings are idle then: each CTA sends the accumulators of one of its
// two consumer warpgroups to the peer's ring, and receives the peer's accumulators for the other warpgroup.
// Below: reduction.hpp (the interface), pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/reduction.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/cluster.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

// Config: WgmmaConfig with splits_tail.
template <class Config>
class TailSplitKReduction {
  using Value_ = typename Packing<typename Config::Acc>::Value;  // float or int32_t
  static constexpr int columns = Config::Block::n;
  static constexpr int part_bytes = 64 * columns * 4;  // 64 rows, of a warpgroup
  static_assert(Config::consumers == 2 && Config::Warp::m / 64 * part_bytes <= Config::ring_bytes,
                "TailSplitKReduction: the ring must hold the accumulators of a warpgroup");

 public:
  static constexpr int bytes = 0;  // of shared memory beside the ring

  __device__ __forceinline__ TailSplitKReduction(std::uint8_t* /*memory*/, std::uint32_t ring,
                                                 const typename Config::Cluster&)
      : ring_(ring) {}

  __device__ __forceinline__ void initialize() const {}
  // All threads of a cluster synchronise when it reduces: so does the producer warpgroup.
  __device__ __forceinline__ void join(bool ends_with_split_tile) const {
    __syncwarp();
    if (ends_with_split_tile) {
      synchronise_cluster();
      synchronise_cluster();
    }
  }

  template <class Accumulators, class Store>
  __device__ __forceinline__ void operator()(Accumulators& accumulators, const WorkTile& work, int consumer,
                                             const Store& store) const {
    const auto received = [&](int row) { return ring_ + static_cast<std::uint32_t>(row / 64 * part_bytes); };
    const bool sends = work.tail_split && consumer != Config::Cluster::rank(static_cast<int>(blockIdx.x));
    if (work.tail_split) {
      synchronise_cluster();  // both CTAs have read their rings
      if (sends)
        accumulators.for_each_part([&](const auto& part, int row) { send(part, received(row), consumer); });
      synchronise_cluster();
    }
    if (!sends) {
      accumulators.for_each_part([&](const auto& part, int row) {
        store(Sum<std::decay_t<decltype(part)>>{part, work.tail_split ? received(row) : 0}, row);
      });
    }
  }

  __device__ __forceinline__ void finish() const {}

 private:
  // A part plus what was received at `memory`, or alone if that is 0. Added when it is looked at: there are
  // no registers for both.
  template <class Part>
  struct Sum {
    using Value = Value_;
    static constexpr int rows = 1, columns = Config::Block::n / 8;
    const Part& part;
    std::uint32_t memory;

    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      part.pair(0, j, half, two);
      if (memory == 0) return;
      Value other[2];
      load_here(memory + offset(j, half), other);
      for (int i = 0; i < 2; ++i) two[i] = sum_of(two[i], other[i]);
    }
  };

  // By all threads of a cluster: what each wrote to the other CTA's memory is there.
  __device__ __forceinline__ static void synchronise_cluster() {
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    cuda::ptx::barrier_cluster_wait();
  }

  // By a warpgroup: 64 rows of accumulators to `memory`, an address in the shared window, of the CTA `rank`.
  template <class Part>
  __device__ __forceinline__ static void send(const Part& part, std::uint32_t memory, int rank) {
    const std::uint32_t to = ptx::mapa_shared_cluster_u32(memory, static_cast<std::uint32_t>(rank));
#pragma unroll
    for (int j = 0; j < columns / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Value_ two[2];
        part.pair(0, j, half, two);
        store_there(to + offset(j, half), two);
      }
    }
  }

  // Adjacent threads store adjacent pairs, so half a warp has no bank conflicts.
  __device__ __forceinline__ static std::uint32_t offset(int j, int half) {
    return static_cast<std::uint32_t>(((2 * j + half) * 128 + static_cast<int>(threadIdx.x) % 128) * 8);
  }
  // One overload for each type. If accumulators were read as bits, the compiler would keep them as integers
  // and move them to float registers before every instruction that adds to them.
  __device__ __forceinline__ static void store_there(std::uint32_t address, const float (&two)[2]) {
    ptx::st_shared_cluster_v2_f32(address, two);
  }
  __device__ __forceinline__ static void store_there(std::uint32_t address, const std::int32_t (&two)[2]) {
    const std::uint32_t bits[2] = {static_cast<std::uint32_t>(two[0]), static_cast<std::uint32_t>(two[1])};
    ptx::st_shared_cluster_v2_b32(address, bits);
  }
  __device__ __forceinline__ static void load_here(std::uint32_t address, float (&two)[2]) {
    ptx::ld_shared_v2_f32(two, address);
  }
  __device__ __forceinline__ static void load_here(std::uint32_t address, std::int32_t (&two)[2]) {
    std::uint32_t bits[2];
    ptx::ld_shared_v2_b32(bits, address);
    two[0] = static_cast<std::int32_t>(bits[0]);
    two[1] = static_cast<std::int32_t>(bits[1]);
  }

  std::uint32_t ring_;
};

}  // namespace tenon
