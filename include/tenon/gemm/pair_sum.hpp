// The sums of a tile whose k is halved between the two blocks of a cluster at the end of their work, when
// their rings are idle: each block gives away the rows of one of its two warpgroups and gets those of the
// other, through the memory of the ring. (ClusterSum is for kernels whose every tile is divided.) Below:
// ptx/cluster.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/cluster.hpp"

namespace tenon {

// Of 64 rows, a warpgroup's. Value: float or int32_t; Columns: of the tile. Pairs of neighbours lie thread by
// thread: no two lanes of half a warp meet on a bank.
template <class Value_, int Columns>
class PairSum {
 public:
  static constexpr int bytes = 64 * Columns * 4;

  // By the threads of a warpgroup. part: as WarpgroupTile hands it out; memory: `bytes`, an address in the
  // shared window, of block `rank`. Who reads it meets the sender at the cluster's barrier before.
  template <class Part>
  __device__ __forceinline__ static void send(const Part& part, std::uint32_t memory, int rank) {
    const std::uint32_t to = ptx::mapa_shared_cluster_u32(memory, static_cast<std::uint32_t>(rank));
#pragma unroll
    for (int j = 0; j < Columns / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Value_ two[2];
        part.pair(0, j, half, two);
        store_there(to + offset(j, half), two);
      }
    }
  }

  // A part plus what was sent to `memory`, or alone if that is 0. Added when it is looked at: there are no
  // registers for both.
  template <class Part>
  __device__ __forceinline__ static auto sum(const Part& part, std::uint32_t memory) {
    return Sum<Part>{part, memory};
  }

 private:
  template <class Part>
  struct Sum {
    using Value = Value_;
    static constexpr int rows = 1, columns = Columns / 8;
    const Part& part;
    std::uint32_t memory;

    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      part.pair(0, j, half, two);
      if (memory == 0) return;
      Value other[2];
      load_here(memory + offset(j, half), other);
      two[0] += other[0];
      two[1] += other[1];
    }
  };

  __device__ __forceinline__ static std::uint32_t offset(int j, int half) {
    return static_cast<std::uint32_t>(((2 * j + half) * 128 + static_cast<int>(threadIdx.x) % 128) * 8);
  }
  // A register for each type: sums that are looked at as bits would be kept as bits, and moved into registers
  // of floats before every instruction that adds to them.
  __device__ __forceinline__ static void store_there(std::uint32_t address, const float (&two)[2]) {
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(two[0]), "f"(two[1])
                 : "memory");
  }
  __device__ __forceinline__ static void store_there(std::uint32_t address, const std::int32_t (&two)[2]) {
    asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(two[0]), "r"(two[1])
                 : "memory");
  }
  __device__ __forceinline__ static void load_here(std::uint32_t address, float (&two)[2]) {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two[0]), "=f"(two[1]) : "r"(address) : "memory");
  }
  __device__ __forceinline__ static void load_here(std::uint32_t address, std::int32_t (&two)[2]) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(two[0]), "=r"(two[1]) : "r"(address) : "memory");
  }
};

}  // namespace tenon
