// Cluster split-K: the CTAs of a cluster compute partial accumulators of the same tile, each over a part of
// k, and reduce them through distributed shared memory. The order of the additions is fixed: the same problem
// gives the same bits every time.
//
// The warps that hold the same 16 rows, one in each CTA, add them up in one of the CTAs: those of the first
// 16 rows in the first CTA, of the next 16 in the second, and so on, so that all CTAs receive and store about
// as much. (Where a CTA has fewer warps than there are CTAs, the last CTAs only send.) A warp waits for its
// counterparts in the other CTAs and for no other warp. Below: reduction.hpp (the interface),
// pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/ld_shared.hpp"

namespace tenon {

// Config: WgmmaConfig with Cluster::k of 2 or more. What several CTAs accumulate in f16 is added up in f32.
template <class Config>
class ClusterSplitKReduction {
  using Cluster = typename Config::Cluster;
  using Value_ = typename Packing<typename Config::Acc>::Value;  // float or int32_t
  static constexpr int ctas = Cluster::k, warps = Config::warps;
  // A "stage" is a warp's: full when the others' accumulators are here, empty when they have been read.
  using Ring = TmaRing<warps>;
  static constexpr int adds_up = (warps + ctas - 1) / ctas;  // at most so many warps of a CTA
  static constexpr int registers = Config::Block::n / 2, part_bytes = 32 * registers * 4;
  static constexpr int others = ctas - 1;
  // What is received, then the barriers. Multiples of 16.
  static constexpr int received_bytes = adds_up * others * part_bytes;

 public:
  static constexpr int bytes = received_bytes + Ring::bytes;

  __device__ __forceinline__ ClusterSplitKReduction(std::uint8_t* memory, std::uint32_t /*ring*/,
                                                    const Cluster& cluster)
      : received_(ptx::shared_address(memory)),
        ring_(reinterpret_cast<std::uint64_t*>(memory + received_bytes)),
        rank_(cluster.rank_k(cluster.rank(static_cast<int>(blockIdx.x)))),
        first_(cluster.rank_sharing(cluster.rank(static_cast<int>(blockIdx.x)))),
        sharing_(cluster.sharing),
        own_{static_cast<int>(threadIdx.x) / 32, 0} {}

  __device__ __forceinline__ void initialize() const { ring_.initialize(1); }
  __device__ __forceinline__ void join(bool /*ends_with_split_tile*/) const {}

  template <class Accumulators, class Store>
  __device__ __forceinline__ void operator()(Accumulators& accumulators, const WorkTile&, int /*consumer*/,
                                             const Store& store) {
    accumulators.for_each_part(
        [&](const auto& part, int row) { reduce(part, [&](const Total& total) { store(total, row); }); });
  }

  __device__ __forceinline__ void finish() const {
    if (rank_ != own_.index % ctas) ring_.wait_empty(own_);
  }

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

  // By whole warps, in every CTA. part: this CTA's accumulators of 16 rows. Calls store(total) in the one CTA
  // that adds them up.
  template <class Part, class Store>
  __device__ __forceinline__ void reduce(const Part& part, const Store& store) {
    const int adder = own_.index % ctas;
    const std::uint32_t parts =
        received_ + static_cast<std::uint32_t>(own_.index / ctas * (others * part_bytes) + 16 * lane_id());
    if (rank_ == adder) {
      // A copy: if other instructions wrote the registers of wgmma, ptxas would let no two wgmma overlap.
      Total total;
#pragma unroll
      for (int i = 0; i < registers; i += 4) get_four(part, i, &total.reg[i]);
      add_others(total, parts);
      store(total);
    } else {
      send(part, parts + static_cast<std::uint32_t>((rank_ - (rank_ > adder ? 1 : 0)) * part_bytes), adder);
    }
    own_.phase ^= 1U;
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
    if (lane_id() == 0) ring_.expect(own_, others * part_bytes);
    ring_.wait_full_by_cluster(own_);
    std::uint32_t last = 0;
#pragma unroll
    for (int other = 0; other < others; ++other) {
#pragma unroll
      for (int i = 0; i < registers; i += 4) {
        std::uint32_t part[4];
        ptx::ld_shared_v4_b32(part, parts + other * part_bytes + i / 4 * 512);
#pragma unroll
        for (int x = 0; x < 4; ++x) add(total.reg[i + x], part[x]);
        last = part[3];
      }
    }
    // An arrival overtakes loads in flight, so it is made to depend on the last of them. No shared address
    // reaches 2^31, which the compiler does not know.
    const int nothing = static_cast<int>(last & parts >> 31);
    __syncwarp();
    const int lane = lane_id();
    if (lane < others) ring_.release_in(own_, cta(lane + (lane >= rank_ ? 1 : 0)) + nothing);
  }

  template <class Part>
  __device__ __forceinline__ void send(const Part& part, std::uint32_t to, int adder) const {
    const auto there = [&](std::uint32_t address) {
      return __cvta_shared_to_generic(
          ptx::mapa_shared_cluster_u32(address, static_cast<std::uint32_t>(cta(adder))));
    };
    auto* const destination = static_cast<Value_*>(there(to));
    auto* const barrier = static_cast<std::uint64_t*>(there(ptx::shared_address(ring_.full_barrier(own_))));
    ring_.wait_empty(own_);
#pragma unroll
    for (int i = 0; i < registers; i += 4) {
      Value_ four[4];
      get_four(part, i, four);
      cuda::ptx::st_async(destination + i / 4 * 128, four, barrier);
    }
  }

  // The rank in the cluster of the rank-th CTA along k.
  __device__ __forceinline__ int cta(int rank) const {
    return first_ + rank * sharing_;
  }

  std::uint32_t received_;
  Ring ring_;
  int rank_, first_, sharing_;
  Stage<warps> own_;
};

}  // namespace tenon
