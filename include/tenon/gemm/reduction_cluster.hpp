// Cluster split-K: the CTAs of a cluster compute partial accumulators of the same tile, each over a part of
// k, and reduce them through distributed shared memory. The order of the additions is fixed: the same problem
// gives the same bits every time.
//
// The warps that hold the same 16 rows, one in each CTA, add them up in one of the CTAs: those of the first
// 16 rows in the first CTA, of the next 16 in the second, and so on, so that all CTAs receive and store about
// as much. (Where a CTA has fewer warps than there are CTAs, the last CTAs only send.) What they receive lies
// behind the ring, and where there is too little memory it begins in the ring, since a CTA computes one tile.
// Where no k-tile is in its way the CTAs send at once, and else when all of them have read their k-tiles.
// Below: reduction.hpp (the interface), pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/reduction.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/cluster.hpp"
#include "tenon/ptx/ld_shared.hpp"

namespace tenon {

// Config: WgmmaConfig whose Cluster splits k. What several CTAs accumulate in f16 is added up in f32.
template <class Config>
class ClusterSplitKReduction {
  using Cluster = typename Config::Cluster;
  using Value_ = typename Packing<typename Config::Acc>::Value;  // float or int32_t
  static constexpr int warps = Config::warps;
  // A "stage" is a warp's: full when the others' accumulators are here.
  using Ring = TmaRing<warps>;
  static constexpr int registers = Config::Block::n / 2, part_bytes = 32 * registers * 4;
  // The parts that a CTA receives at most: each of its warps that add up gets one from every other CTA.
  static constexpr int parts_of(int ctas) { return (warps + ctas - 1) / ctas * (ctas - 1); }
  static constexpr int most_parts() {
    if constexpr (Cluster::is_compiled) {
      return parts_of(Cluster::k);
    } else {
      int most = 0;
      for (int ctas = 2; ctas <= 8; ++ctas) most = parts_of(ctas) > most ? parts_of(ctas) : most;
      return most;
    }
  }

 public:
  static constexpr int bytes = Ring::bytes;  // of shared memory beside the ring
  static constexpr int useful_bytes = most_parts() * part_bytes;
  static_assert(useful_bytes <= Config::ring_bytes,
                "ClusterSplitKReduction: the ring must hold the accumulators that a CTA receives");

  __device__ __forceinline__ ClusterSplitKReduction(std::uint8_t* memory, std::uint32_t ring,
                                                    std::uint32_t ring_end, const Cluster& cluster,
                                                    int k_tiles)
      : k_tiles_memory_(ring),
        ring_end_(ring_end),
        k_tiles_(k_tiles),
        cluster_(cluster),
        ring_(reinterpret_cast<std::uint64_t*>(memory)) {}

  __device__ __forceinline__ void initialize() const { ring_.initialize(1); }
  // All threads of a cluster synchronise together: so does the producer warpgroup.
  __device__ __forceinline__ void join(bool /*ends_with_split_tile*/) const {
    __syncwarp();
    if (synchronises(received())) synchronise_cluster();
  }

  template <class Accumulators, class Store>
  __device__ __forceinline__ void operator()(Accumulators& accumulators, const WorkTile&, int /*consumer*/,
                                             const Store& store) const {
    // Computed only here: before the first load it would delay the whole kernel.
    const std::uint32_t received = this->received();
    if (synchronises(received)) synchronise_cluster();  // all CTAs have read their rings
    const int cta = cluster_.rank(static_cast<int>(blockIdx.x)), rank = cluster_.rank_k(cta),
              warp = static_cast<int>(threadIdx.x) / 32, turn = cluster_.divided_by_k(warp);
    const Stage<warps> own{warp, 0};
    const int adder = warp - turn * cluster_.k, others = cluster_.k - 1;
    const std::uint32_t parts =
        received + static_cast<std::uint32_t>(turn * (others * part_bytes) + 16 * lane_id());
    accumulators.for_each_part([&](const auto& part, int row) {
      if (rank == adder) {
        Total total;
#pragma unroll
        for (int i = 0; i < registers; i += 4) get_four(part, i, &total.reg[i]);
        if (lane_id() == 0) ring_.expect(own, others * part_bytes);
        ring_.wait_full_by_cluster(own);
        add_others(total, parts);
        store(total, row);
      } else {
        send(part, parts + static_cast<std::uint32_t>((rank - (rank > adder ? 1 : 0)) * part_bytes), own,
             cluster_.rank_sharing(cta) + adder * cluster_.sharing);
      }
    });
  }

  __device__ __forceinline__ void finish() const {}

 private:
  // The accumulators of all CTAs: 16 rows of a warp.
  struct Total {
    using Value = Value_;
    static constexpr int rows = 1, columns = Config::Block::n / 8;
    Value reg[registers];

    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      two[0] = reg[4 * j + 2 * half];
      two[1] = reg[4 * j + 2 * half + 1];
    }
  };

  // Where the accumulators of all others lie.
  __device__ __forceinline__ std::uint32_t received() const {
    return ring_end_ - static_cast<std::uint32_t>(cluster_.divided_by_k(warps + cluster_.k - 1) *
                                                  (cluster_.k - 1) * part_bytes);
  }
  // Whether a k-tile may lie there.
  __device__ __forceinline__ bool synchronises(std::uint32_t received) const {
    return k_tiles_memory_ + min(k_tiles_of_cta(cluster_, k_tiles_), Config::stages) * Config::stage_bytes >
           received;
  }
  // By all threads of a cluster.
  __device__ __forceinline__ static void synchronise_cluster() {
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    cuda::ptx::barrier_cluster_wait();
  }

  // Registers i to i + 3 of a lane: its part of a fragment.
  template <class Part>
  __device__ __forceinline__ static void get_four(const Part& part, int i, Value_* four) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Value_ two[2];
      part.pair(0, i / 4, half, two);
      four[2 * half] = two[0];
      four[2 * half + 1] = two[1];
    }
  }

  __device__ __forceinline__ static void add(float& sum, std::uint32_t bits) {
    sum += __uint_as_float(bits);
  }
  __device__ __forceinline__ static void add(std::int32_t& sum, std::uint32_t bits) {
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + bits);
  }

  __device__ __forceinline__ void add_others(Total& total, std::uint32_t parts) const {
    int left = cluster_.k - 1;
    // Unrolled, the compiler would move all sums at each entry of the loop.
#pragma unroll 1
    do {
#pragma unroll
      for (int i = 0; i < registers; i += 4) {
        std::uint32_t part[4];
        ptx::ld_shared_v4_b32(part, parts + static_cast<std::uint32_t>(i / 4 * 512));
#pragma unroll
        for (int x = 0; x < 4; ++x) add(total.reg[i + x], part[x]);
      }
      parts += part_bytes;
    } while (--left > 0);
  }

  template <class Part>
  __device__ __forceinline__ void send(const Part& part, std::uint32_t to, const Stage<warps>& own,
                                       int cta) const {
    const auto there = [&](std::uint32_t address) {
      return __cvta_shared_to_generic(ptx::mapa_shared_cluster_u32(address, static_cast<std::uint32_t>(cta)));
    };
    auto* const destination = static_cast<Value_*>(there(to));
    auto* const barrier = static_cast<std::uint64_t*>(there(ptx::shared_address(ring_.full_barrier(own))));
#pragma unroll
    for (int i = 0; i < registers; i += 4) {
      Value_ four[4];
      get_four(part, i, four);
      cuda::ptx::st_async(destination + i / 4 * 128, four, barrier);
    }
  }

  std::uint32_t k_tiles_memory_, ring_end_;
  int k_tiles_;
  Cluster cluster_;
  Ring ring_;
};

}  // namespace tenon
