// The sums of an output tile whose k is divided among the blocks of a cluster, brought together through their
// shared memory. Nothing goes through device memory, and the order of the additions is fixed: the same
// problem gives the same bits every time.
//
// The warps that hold the same 16 rows, one in each block, add them up in one of the blocks: the first of B
// blocks has the first 1/B of the rows, and so on, so that all receive and store as much. A warp waits for
// its counterparts in the other blocks and for no one else. Below: pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {

// Value_: float or int32_t. Blocks: of the cluster along k, `Step` apart in its numbering. Warps: of a block,
// that multiply. Columns: of the tile; a warp holds 16 rows of them in Columns / 2 registers a lane.
template <class Value_, int Blocks, int Step, int Warps, int Columns>
class ClusterSum {
  static_assert(Warps % Blocks == 0,
                "ClusterSum: each block adds up the rows of a whole number of warps: 2 or 4 blocks with one "
                "warpgroup that multiplies, 2, 4 or 8 with two");
  // A "stage" is a warp's: full when the others' sums are here, empty when they have been read.
  using Ring = TmaRing<Warps>;
  static constexpr int adds_up = Warps / Blocks;  // warps of a block
  static constexpr int registers = Columns / 2, part_bytes = 32 * registers * 4;
  static constexpr int others = Blocks - 1;

 public:
  // Shared memory, at the same place in every block: what is received, then the barriers. Multiples of 16.
  static constexpr int received_bytes = adds_up * others * part_bytes;
  static constexpr int bytes = received_bytes + Ring::bytes;

  // memory: `bytes` of shared memory, 16-byte aligned. rank: of this block along k; first: number in the
  // cluster of the block whose rank is 0.
  __device__ __forceinline__ ClusterSum(std::uint8_t* memory, int rank, int first)
      : received_(ptx::shared_address(memory)),
        ring_(reinterpret_cast<std::uint64_t*>(memory + received_bytes)),
        rank_(rank),
        first_(first),
        own_{static_cast<int>(threadIdx.x) / 32, 0} {}

  // By one thread, before the cluster meets for the first time.
  __device__ __forceinline__ void initialize() const { ring_.initialize(1); }

  // The sum of all blocks, as StoreStaged takes it: 16 rows of a warp.
  struct Total {
    using Value = Value_;
    static constexpr int rows = 1, columns = Columns / 8;
    Value reg[registers];

    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      two[0] = reg[4 * j + 2 * half];
      two[1] = reg[4 * j + 2 * half + 1];
    }
  };

  // By whole warps that multiply, in every block, once a tile. part: what this block has of the sums of 16
  // rows, with pair() as Total. Calls store(const Total&) in the one block that adds them up.
  template <class Part, class Store>
  __device__ __forceinline__ void operator()(const Part& part, const Store& store) {
    const int adder = own_.index / adds_up;
    const std::uint32_t parts =
        received_ + static_cast<std::uint32_t>(own_.index % adds_up * (others * part_bytes) + 16 * lane_id());
    if (rank_ == adder) {
      // A copy: if the registers of wgmma were written by other instructions, ptxas would let no two wgmma
      // overlap.
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

  // By whole warps that multiply, before they leave: what they sent has been read, and no other block has an
  // arrival on its way to this one.
  __device__ __forceinline__ void finish() const {
    if (rank_ != own_.index / adds_up) ring_.wait_empty(own_);
  }

 private:
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
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
                     : "r"(parts + other * part_bytes + i / 4 * 512)
                     : "memory");
#pragma unroll
        for (int x = 0; x < 4; ++x) add(total.reg[i + x], part[x]);
        last = part[3];
      }
    }
    // An arrival overtakes loads under way: it is made to need the last of them. No shared memory is as far
    // as 2^31, which the compiler does not know.
    const int nothing = static_cast<int>(last & parts >> 31);
    __syncwarp();
    const int lane = lane_id();
    if (lane < others) ring_.release_in(own_, block(lane + (lane >= rank_ ? 1 : 0)) + nothing);
  }

  template <class Part>
  __device__ __forceinline__ void send(const Part& part, std::uint32_t to, int adder) const {
    const auto there = [&](std::uint32_t address) {
      return __cvta_shared_to_generic(
          ptx::mapa_shared_cluster_u32(address, static_cast<std::uint32_t>(block(adder))));
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

  // Number in the cluster of the rank-th block along k.
  __device__ __forceinline__ int block(int rank) const {
    return first_ + rank * Step;
  }

  std::uint32_t received_;
  Ring ring_;
  int rank_, first_;
  Stage<Warps> own_;
};

}  // namespace tenon
