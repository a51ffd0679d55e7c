// The timing of bench.hpp. It gives a rough figure; the microbenchmarks (microbench/) measure precisely and
// against peers.
#include "command_line/bench.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>

#include "command_line/exit_status.hpp"
#include "command_line/operand.hpp"
#include "command_line/progress.hpp"

namespace tenon::command {
namespace {

class Event {
 public:
  Event() { require_cuda(cudaEventCreate(&event_), "the creation of a CUDA event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { require_cuda(cudaEventRecord(event_), "the record of a CUDA event"); }
  float milliseconds_since(const Event& earlier) {
    float milliseconds = 0.0F;
    require_cuda(cudaEventSynchronize(event_), "the timed run");
    require_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "the reading of a CUDA event");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double burst(const std::function<Status()>& call, int calls) {
  Event first, last;
  first.record();
  for (int i = 0; i < calls; ++i) require(call());
  last.record();
  return static_cast<double>(last.milliseconds_since(first)) / calls;
}

}  // namespace

double time_gemm(const Gemm& problem) {
  return time_call([&problem] { return gemm(problem); });
}

double time_call(const std::function<Status()>& call) {
  burst(call, 3);
  const double estimate = std::max(burst(call, 3), 1e-4);
  const int calls = static_cast<int>(std::clamp(2.0 / estimate, 1.0, 1000.0));
  std::array<double, 11> times{};
  Progress progress("timing", static_cast<std::int64_t>(times.size()));
  for (double& time : times) {
    time = burst(call, calls);
    progress.advance();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

std::vector<double> time_each(const std::function<Status()>& call, int calls) {
  burst(call, 10);
  std::vector<double> times(static_cast<std::size_t>(calls));
  Progress progress("timing", calls);
  for (double& time : times) {
    time = burst(call, 1);
    progress.advance();
  }
  return times;
}

}  // namespace tenon::command
