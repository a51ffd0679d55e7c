// The measurement protocol: how launches become a figure that can be compared with others.
//
// Above about 2048^3 the board's power limit holds a GEMM back. Kernels that alternate share a clock, which
// flatters the one that draws more power. So each contender is measured alone:
//   burst       30 ms idle, then about 3 ms of launches; the median of five
//   between     a burst in which a foreign kernel (foreign_kernel.hpp) follows each launch. The burst ends
//   with
//               the foreign kernel alone, and the figure is what a launch adds to a stream of foreign
//               kernels: the time of a pair less that of a foreign kernel alone
//   sustained   300 ms idle, then 0.5 s back to back; the second half counts
//
// Back to back a kernel that uses programmatic dependent launch overlaps its own next launch. In a model's
// stream its neighbours are other kernels, mostly without it.
//
// A board compensates later for power drawn beyond its limit: 30 ms after half a second of cuBLASLt at 730 W
// another kernel drew 640 W and was up to a tenth slower; 100 ms after it the effect was gone.
//
// Launches shorter than 50 us are replayed from a CUDA graph, so that the host does not limit them; pairs
// with a foreign kernel always are. The clock comes from the SMs' own cycle counters before and after the
// timed launches. NVML's samples replace it where they are implausible, and give power and throttle reasons.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "microbench/contender.hpp"
#include "microbench/cuda_check.hpp"
#include "microbench/foreign_kernel.hpp"
#include "microbench/telemetry.hpp"

namespace tenon::microbench {

struct Protocol {
  double idle_ms = 30;   // before each burst
  double rest_ms = 300;  // before a sustained run
  double burst_ms = 3;
  int bursts = 5;
  double sustained_ms = 500;
  double graph_below_us = 50;
};

struct Figure {
  double tflops = 0;
  double microseconds = 0;  // of one launch; between others: pair_us - foreign_us
  double sm_mhz = 0;        // 0 if unknown
  double watts = 0;         // 0 if unknown
  // Between others: of a launch and the foreign kernel after it, and of the foreign kernel alone; else 0.
  double pair_us = 0, foreign_us = 0;
  std::string odd;  // why the figure should not be stored, in words; "" if nothing was noticed
};

class Stopwatch {
 public:
  explicit Stopwatch(int device);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  cudaStream_t stream() const { return stream_; }
  int sm_count() const { return sm_count_; }
  const Telemetry& telemetry() const { return telemetry_; }

  // All throw Failure with a sentence if a launch fails.
  Figure burst(const Contender& contender, const Protocol& protocol);
  Figure between(const Contender& contender, const Protocol& protocol);
  Figure sustained(const Contender& contender, const Protocol& protocol);
  // A first estimate of a launch, from one launch or, if it is short, from ten.
  double launch_microseconds(const Contender& contender);

 private:
  class Batch;
  struct Bursts;

  Bursts bursts(const Contender& contender, const Batch& batch, const Batch* after, const Protocol& protocol);
  void read_counters(int slot);
  double mean_sm_mhz(int from, int to) const;

  int sm_count_ = 0;
  double max_mhz_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[3] = {};
  DeviceBuffer counters_;
  Telemetry telemetry_;
  ForeignKernel foreign_;
  Contender foreign_alone_;
  std::unique_ptr<Batch> foreign_batch_;  // made when it is first needed
};

}  // namespace tenon::microbench
