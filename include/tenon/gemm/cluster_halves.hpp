// The sums of a tile whose k is halved between the two blocks of a cluster at the end of their work, for
// kernels whose sums are the transpose of C: each block keeps one half of the lines of C, columns of the
// sums, gives the other half away, and gets what the other block has of its own, through the memory of its
// slabs, which are of no more use then. (PairSum divides by warpgroups; here each must have a part of every
// line.) Below: pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {

// Columns: of the sums, of which two warpgroups hold 64 rows each.
template <int Columns>
class ClusterHalves {
  static constexpr int warps = 8, count = Columns / 4;  // registers of a half
  // One stage: empty when the other block's warps have read all slabs, full when it has sent its sums.
  using Ring = TmaRing<1>;

 public:
  static constexpr int received_bytes = 32 * warps * count * 4;
  static constexpr int bytes = Ring::bytes;  // of the barriers

  // memory: `received_bytes`, an address in the shared window and a multiple of 16; barriers: `bytes`, 8-byte
  // aligned. Both at the same place in both blocks. rank: of this block; the first keeps the first half.
  __device__ __forceinline__ ClusterHalves(std::uint32_t memory, std::uint64_t* barriers, int rank)
      : memory_(memory), ring_(barriers), rank_(rank) {}

  // By one thread, before the cluster meets for the first time.
  __device__ __forceinline__ void initialize() const { ring_.initialize(warps); }

  struct Sum {
    float reg[count];
  };
  // By all threads of both warpgroups, once, when they have read all slabs of this block. values: the sums,
  // as WgmmaAccumulator::when_done() hands them out. The half that this block keeps, of both blocks.
  template <class Values>
  __device__ __forceinline__ Sum exchange(const Values& values) const {
    constexpr Stage<1> received{0, 0}, idle{0, 1};  // the latter as the stage that follows
    if (lane_id() == 0) ring_.release_in(received, 1 - rank_);
    if (threadIdx.x == 0) ring_.expect(received, received_bytes);
    const auto there = [&](std::uint32_t address) {
      return __cvta_shared_to_generic(
          ptx::mapa_shared_cluster_u32(address, static_cast<std::uint32_t>(1 - rank_)));
    };
    const std::uint32_t place = memory_ + threadIdx.x * 16;
    auto* const to = static_cast<float*>(there(place));
    auto* const barrier =
        static_cast<std::uint64_t*>(there(ptx::shared_address(ring_.full_barrier(received))));
    ring_.wait_empty(idle);
#pragma unroll
    for (int i = 0; i < count; i += 4) {
      float four[4];
#pragma unroll
      for (int x = 0; x < 4; ++x) four[x] = rank_ == 0 ? values.reg[count + i + x] : values.reg[i + x];
      cuda::ptx::st_async(to + i / 4 * step, four, barrier);
    }
    Sum sum;
#pragma unroll
    for (int i = 0; i < count; ++i) sum.reg[i] = rank_ == 0 ? values.reg[i] : values.reg[count + i];
    ring_.wait_full_by_cluster(received);
#pragma unroll
    for (int i = 0; i < count; i += 4) {
      float four[4];
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(four[0]), "=f"(four[1]), "=f"(four[2]), "=f"(four[3])
                   : "r"(place + i / 4 * step * 4)
                   : "memory");
#pragma unroll
      for (int x = 0; x < 4; ++x) sum.reg[i + x] += four[x];
    }
    return sum;
  }

 private:
  static constexpr int step = 32 * warps * 4;  // floats: 4 a thread, neighbours side by side

  std::uint32_t memory_;
  Ring ring_;
  int rank_;
};

}  // namespace tenon
