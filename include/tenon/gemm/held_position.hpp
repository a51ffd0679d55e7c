// The position of a consumer in its work and in the ring, kept across the epilogue. If registers are scarce,
// the consumer keeps one number and computes the rest again. Below: tile_scheduler.hpp, pipeline/stage.hpp.
#pragma once

#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/pipeline/stage.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Keeps everything in registers.
template <int Stages>
class HeldPosition {
 public:
  __device__ __forceinline__ HeldPosition(int, Stage<Stages>) {}
  // The work tile at the position: `now`.
  template <class Scheduler>
  __device__ __forceinline__ const WorkTile& work(const WorkTile& now, const Scheduler&) const {
    return now;
  }
  __device__ __forceinline__ static int thread() { return static_cast<int>(threadIdx.x); }
  // After the epilogue: index and stage are as they were.
  __device__ __forceinline__ void restore(int&, Stage<Stages>&) {}
};

// Keeps index, stage and phase in one register, opaque to the compiler, so that nothing computed before the
// epilogue lives on in it. The recomputation costs about 200 cycles, which small tiles cannot hide.
template <int Stages>
class PackedPosition {
 public:
  __device__ __forceinline__ PackedPosition(int index, Stage<Stages> stage)
      : here_(static_cast<std::uint32_t>(index) * (2 * Stages) + static_cast<std::uint32_t>(stage.index) * 2 +
              stage.phase),
        thread_(static_cast<int>(threadIdx.x)) {
    ptx::opaque(here_, thread_);
  }
  template <class Scheduler>
  __device__ __forceinline__ WorkTile work(const WorkTile&, const Scheduler& scheduler) const {
    return scheduler.at(static_cast<int>(here_ / (2 * Stages)));
  }
  __device__ __forceinline__ int thread() const { return thread_; }
  __device__ __forceinline__ void restore(int& index, Stage<Stages>& stage) {
    ptx::opaque(here_);
    index = static_cast<int>(here_ / (2 * Stages));
    stage = {static_cast<int>(here_ / 2 % Stages), here_ % 2};
  }

 private:
  std::uint32_t here_;
  int thread_;
};

}  // namespace tenon
