// The bursts of choice_recorder.hpp on the current CUDA device.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "microbench/choice_recorder.hpp"
#include "microbench/cuda_check.hpp"

namespace tenon::microbench {

// A burst replays a CUDA graph twice and times the second run: while the first one runs, the host has
// enqueued the second, so that no host time is in the figure. Operands are drawn as elsewhere
// (device_data.hpp) and stay in the L2 as far as they fit. Between bursts the device rests about as long as a
// burst, 10 ms at most.
class CudaBurstTimer final : public BurstTimer {
 public:
  CudaBurstTimer();
  ~CudaBurstTimer() override;
  CudaBurstTimer(const CudaBurstTimer&) = delete;
  CudaBurstTimer& operator=(const CudaBurstTimer&) = delete;

  void prepare(const ChoiceProblem& problem, const std::vector<ChoiceCandidate>& candidates) override;
  double burst(std::size_t i) override;
  double seconds() override;

 private:
  struct Burst {
    cudaGraphExec_t graph = nullptr;  // null: the launch failed
    int launches = 0;
  };

  void forget();
  float milliseconds_between_events();
  double launch_microseconds(const Gemm& problem);
  Burst capture(const Gemm& problem, int launches);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  DeviceBuffer a_, b_, c_, workspace_;
  std::vector<Burst> bursts_;
};

}  // namespace tenon::microbench
