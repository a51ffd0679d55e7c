// Tail split-K of the kernel for unaligned operands, whose accumulators are the transpose of C: the two CTAs
// of a cluster compute half of k each of one tile. Each CTA keeps the accumulators of one half of the rows of
// C, sends the other half to its peer, and receives the peer's accumulators of its own half. They pass
// through the memory of the ring, which is idle then. (TailSplitKReduction gives each warpgroup's
// accumulators away as a whole; here every warpgroup keeps half of its own.) Below: pipeline/tma_ring.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/ld_shared.hpp"

namespace tenon {

// Columns: of the accumulators; each of the two warpgroups holds 64 rows. Parts: a half is exchanged in parts
// of 16 registers, so that the first parts are stored while the last ones arrive. Parts::register_of<Columns
// / 2>(part, i) is the index of a part's register i among the registers of a half.
template <int Columns, class Parts>
class HalvesReduction {
  static constexpr int warps = 8, half = Columns / 2, count = half / 2;  // registers of a half
  static constexpr int part_count = 16, parts = count / part_count;
  static_assert(count % part_count == 0, "HalvesReduction: half of the columns must be a multiple of 32");
  // One stage for each part, full when the peer CTA has sent it. When the peer's warps have read all k-tiles
  // they release the first stage, which stands for all of them.
  using Ring = TmaRing<parts>;
  static constexpr int part_bytes = 32 * warps * part_count * 4;

 public:
  static constexpr int received_bytes = parts * part_bytes;
  static constexpr int bytes = Ring::bytes;  // of the barriers

  // memory: `received_bytes`, an address in the shared window and a multiple of 16; barriers: `bytes`, 8-byte
  // aligned. Both at the same place in both CTAs. rank: of this CTA; the first keeps the first half.
  __device__ __forceinline__ HalvesReduction(std::uint32_t memory, std::uint64_t* barriers, int rank)
      : memory_(memory), ring_(barriers), rank_(rank) {}

  // By one thread, before the cluster first synchronises.
  __device__ __forceinline__ void initialize() const { ring_.initialize(warps); }

  // By all threads of both warpgroups, once, when they have read all k-tiles of this CTA: starts to send half
  // of the accumulators. values: the accumulators, as WgmmaAccumulator::when_done() passes them; they are
  // not changed.
  template <class Values>
  __device__ __forceinline__ auto exchange(const Values& values) const {
    return Exchange<Values>(*this, values);
  }

  // The half that this CTA keeps; receive(part) adds the peer's accumulators of a part. Each part once, in
  // order.
  template <class Values>
  class Exchange {
   public:
    float reg[count];

    __device__ __forceinline__ Exchange(const HalvesReduction& halves, const Values& values)
        : halves_(halves), values_(values) {
      const Ring& ring = halves.ring_;
      constexpr Stage<parts> first{0, 0}, idle{0, 1};  // the latter as the stage that follows
      if (lane_id() == 0) ring.release_in(first, 1 - halves.rank_);
      if (threadIdx.x == 0) {
#pragma unroll
        for (int part = 0; part < parts; ++part) ring.expect({part, 0}, part_bytes);
      }
      ring.wait_empty(idle);
      send(0);
#pragma unroll
      for (int i = 0; i < count; ++i) reg[i] = halves.rank_ == 0 ? values.reg[i] : values.reg[count + i];
    }

    __device__ __forceinline__ void receive(int part) {
      if (part + 1 < parts) send(part + 1);
      halves_.ring_.wait_full_by_cluster({part, 0});
#pragma unroll
      for (int i = 0; i < part_count; i += 4) {
        float four[4];
        ptx::ld_shared_v4_f32(four, halves_.place() + part * part_bytes + i / 4 * step);
#pragma unroll
        for (int x = 0; x < 4; ++x) reg[register_of(part, i + x)] += four[x];
      }
    }

   private:
    // Sends a part of the half that the peer keeps.
    __device__ __forceinline__ void send(int part) const {
      const auto there = [&](std::uint32_t address) {
        return __cvta_shared_to_generic(
            ptx::mapa_shared_cluster_u32(address, static_cast<std::uint32_t>(1 - halves_.rank_)));
      };
      auto* const to = static_cast<float*>(there(halves_.place() + part * part_bytes));
      auto* const barrier =
          static_cast<std::uint64_t*>(there(ptx::shared_address(halves_.ring_.full_barrier({part, 0}))));
#pragma unroll
      for (int i = 0; i < part_count; i += 4) {
        float four[4];
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          const int at = register_of(part, i + x);
          four[x] = halves_.rank_ == 0 ? values_.reg[count + at] : values_.reg[at];
        }
        cuda::ptx::st_async(to + i / 4 * step / 4, four, barrier);
      }
    }

    const HalvesReduction& halves_;
    const Values& values_;
  };

 private:
  static constexpr int step = 32 * warps * 16;  // bytes: 16 for each thread, in the order of the threads

  __device__ __forceinline__ static constexpr int register_of(int part, int i) {
    return Parts::template register_of<half>(part, i);
  }
  __device__ __forceinline__ std::uint32_t place() const {
    return memory_ + threadIdx.x * 16;
  }

  std::uint32_t memory_;
  Ring ring_;
  int rank_;
};

}  // namespace tenon
