// The bursts of choice_recorder.hpp on the current CUDA device.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "microbench/choice_recorder.hpp"
#include "microbench/cublaslt.hpp"
#include "microbench/cuda_check.hpp"
#include "microbench/foreign_kernel.hpp"

namespace tenon::microbench {

// A burst replays a CUDA graph twice and times the second replay. The host enqueues the second one while the
// first one runs, so that the time contains no host time. Operands are random (device_data.hpp), and stay in
// the L2 as far as they fit. After a burst the device rests as long as the burst took, 10 ms at most.
//
// between: a foreign kernel follows each launch, and the time of a foreign kernel alone, measured for each
// problem, is subtracted (Stopwatch::between()).
class CudaBurstTimer final : public BurstTimer {
 public:
  explicit CudaBurstTimer(bool between);
  ~CudaBurstTimer() override;
  CudaBurstTimer(const CudaBurstTimer&) = delete;
  CudaBurstTimer& operator=(const CudaBurstTimer&) = delete;

  std::size_t prepare(const ChoiceProblem& problem, const std::vector<ChoiceCandidate>& candidates) override;
  double burst(std::size_t i) override;
  double seconds() override;
  // The median of the problems; 0 if no foreign kernel was between.
  double foreign_us() const;

 private:
  struct Burst {
    cudaGraphExec_t graph = nullptr;  // null: the launch failed
    int launches = 0;
  };

  void forget();
  float milliseconds_between_events();
  double launch_microseconds(const std::function<Status(cudaStream_t)>& enqueue);
  // Appends the burst of such launches; one without a graph if they fail. name: for the message.
  void add(const std::function<Status(cudaStream_t)>& enqueue, const std::string& name);
  std::size_t add_cublaslt(const Gemm& problem, const std::string& name);
  // enqueue: one launch, and what follows it.
  Burst capture(const std::function<Status(cudaStream_t)>& enqueue, int launches);
  double replay(const Burst& burst);
  void time_foreign_kernel();

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  DeviceBuffer a_, b_, c_, workspace_, cublaslt_workspace_;
  CublasLt cublaslt_;
  std::vector<Burst> bursts_;
  bool between_;
  ForeignKernel foreign_;
  Burst foreign_burst_;             // captured when it is first needed
  std::vector<double> foreign_us_;  // of each problem
};

}  // namespace tenon::microbench
