// The reduction of stream-K (tile_scheduler_stream_k.hpp): partial accumulators of a tile go through device
// memory, which for these sizes is the L2. The order of the additions is fixed: the same problem gives the
// same bits every time on the same device.
//
// A CTA sends the accumulators of at most one tile, the first of its work. Each warp has a place for its rows
// and a flag; the warp of the CTA that adds up waits for its counterparts' flags and for nothing else. It
// takes each flag back, so the memory need not be cleared before a launch: a flag is set where it holds a
// mark of 64 random bits, which memory does not hold by chance. Below: arguments.hpp,
// tile_scheduler_stream_k.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/reduction.hpp"
#include "tenon/gemm/tile_scheduler_stream_k.hpp"

namespace tenon {

// Where the parts of a CTA lie in the workspace: of all CTAs first the accumulators, then the flags.
template <class Config>
struct StreamKMemory {
  static constexpr std::uint64_t mark = 0xd4b82f6e91c35a07;  // of a flag that is set
  // Of a warp: its 16 rows of each 64 of its warpgroup.
  static constexpr int part_bytes = 16 * Config::Block::n * 4, parts = Config::Warp::m / 64;
  static constexpr int warp_bytes = parts * part_bytes, cta_bytes = Config::warps * warp_bytes;
  static constexpr std::size_t bytes_of_cta = cta_bytes + Config::warps * sizeof(std::uint64_t);
};

// Config: StreamedK of a WgmmaConfig.
template <class Config>
class StreamKReduction {
  using Cluster = typename Config::Cluster;
  using Scheduler = StreamKTileScheduler<Cluster>;
  using Memory = StreamKMemory<Config>;
  using Value_ = typename Packing<typename Config::Acc>::Value;  // float or int32_t
  // Of that type: if accumulators were written as bits, the compiler would keep them as integers and move
  // them to float registers before every instruction that adds to them.
  using Four = std::conditional_t<std::is_same_v<Value_, float>, float4, int4>;

 public:
  static constexpr int bytes = 0;  // of shared memory

  __device__ __forceinline__ StreamKReduction(const GemmArguments& p, const Scheduler& scheduler)
      : p_(p), scheduler_(scheduler) {}

  __device__ __forceinline__ void initialize() const {}
  __device__ __forceinline__ void join(bool /*ends_with_split_tile*/) const {}

  template <class Accumulators, class Store>
  __device__ __forceinline__ void operator()(Accumulators& accumulators, const WorkTile& work,
                                             int /*consumer*/, const Store& store) const {
    if (scheduler_.is_sent(work)) {
      accumulators.for_each_part([&](const auto& part, int row) { send(part, row); });
      __syncwarp();
      if (lane_id() == 0) {
        __threadfence();  // what the warp has written is there before its flag
        *flag(0) = Memory::mark;
      }
      return;
    }
    const int others = scheduler_.received_parts(work);
    wait_for(others);
    accumulators.for_each_part([&](const auto& part, int row) {
      store(Sum<std::decay_t<decltype(part)>>{part, accumulators_of(1, row), stride(), others}, row);
    });
  }

  __device__ __forceinline__ void finish() const {}

 private:
  // A part plus those of `others` CTAs. Added when it is looked at: there are no registers for all of it, and
  // if other instructions wrote the registers of wgmma, ptxas would let no two wgmma overlap. What is looked
  // at next is read together, so that the latency of the L2 is waited for once.
  template <class Part>
  struct Sum {
    using Value = Value_;
    static constexpr int rows = 1, columns = Config::Block::n / 8;
    static constexpr int ahead = 8;  // fragments
    const Part& part;
    const Four* memory;     // of the first other CTA
    std::ptrdiff_t stride;  // to the next one
    int others;
    mutable int held = -ahead;  // the first fragment of `sum`
    mutable Value sum[4 * ahead] = {};

    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      if (j / ahead * ahead != held) read(j / ahead * ahead);
      part.pair(0, j, half, two);
      const Value* const other = &sum[j % ahead * 4 + 2 * half];
      two[0] = sum_of(two[0], other[0]);
      two[1] = sum_of(two[1], other[1]);
    }

    __device__ __forceinline__ void read(int j) const {
      held = j;
#pragma unroll
      for (Value& value : sum) value = nothing<Value>();
#pragma unroll 1
      for (int other = 0; other < others; ++other) {
        Four four[ahead];
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
          if (j + i < columns) four[i] = __ldcg(memory + other * stride + (j + i) * 32);
        }
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
          if (j + i >= columns) continue;
          sum[4 * i] = sum_of(sum[4 * i], four[i].x);
          sum[4 * i + 1] = sum_of(sum[4 * i + 1], four[i].y);
          sum[4 * i + 2] = sum_of(sum[4 * i + 2], four[i].z);
          sum[4 * i + 3] = sum_of(sum[4 * i + 3], four[i].w);
        }
      }
    }
  };

  // This lane's accumulators of a warp that holds the same rows, `before` clusters before this one: four of
  // each fragment, 32 lanes beside each other. row: in the warpgroup's part of the tile.
  __device__ __forceinline__ Four* accumulators_of(int before, int row) const {
    return static_cast<Four*>(p_.partial_tiles) +
           (warp() * Memory::warp_bytes + row / 64 * Memory::part_bytes) / 16 + lane_id() + before * stride();
  }
  __device__ __forceinline__ std::ptrdiff_t stride() const {
    return -static_cast<std::ptrdiff_t>(Cluster::of(p_.cluster).ctas) * (Memory::cta_bytes / 16);
  }
  // That warp's flag.
  __device__ __forceinline__ volatile std::uint64_t* flag(int before) const {
    auto* const flags =
        reinterpret_cast<volatile std::uint64_t*>(static_cast<std::uint8_t*>(p_.partial_tiles) +
                                                  static_cast<std::size_t>(gridDim.x) * Memory::cta_bytes);
    return flags +
           (warp() - static_cast<std::ptrdiff_t>(before) * Cluster::of(p_.cluster).ctas * Config::warps);
  }
  // The number of this warp among the consumers of the grid.
  __device__ __forceinline__ static std::ptrdiff_t warp() {
    return static_cast<std::ptrdiff_t>(blockIdx.x) * Config::warps + threadIdx.x / 32;
  }

  template <class Part>
  __device__ __forceinline__ void send(const Part& part, int row) const {
    Four* const to = accumulators_of(0, row);
#pragma unroll
    for (int j = 0; j < Config::Block::n / 8; ++j) {
      Value_ low[2], high[2];
      part.pair(0, j, 0, low);
      part.pair(0, j, 1, high);
      __stcg(to + j * 32, Four{low[0], low[1], high[0], high[1]});
    }
  }

  // Waits for the parts of the `others` clusters before this one, and takes their flags back.
  __device__ __forceinline__ void wait_for(int others) const {
#pragma unroll 1
    for (int before = 1 + lane_id(); before <= others; before += 32) {
      while (*flag(before) != Memory::mark) {
      }
      *flag(before) = 0;
      __threadfence();  // what is read from here on was written before the flag
    }
    __syncwarp();
  }

  template <class Value>
  __device__ __forceinline__ static Value nothing() {
    if constexpr (std::is_same_v<Value, float>) return -0.0F;  // x + -0 is x, also where x is -0
    return Value();
  }
  const GemmArguments& p_;
  const Scheduler& scheduler_;
};

}  // namespace tenon
