// Clock, power and throttle reasons of the GPU, sampled by a thread through NVML while something is measured.
//
// NVML is loaded at run time (it comes with the driver): without it everything else works, and readings are
// empty.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenon::microbench {

class Telemetry {
 public:
  using Clock = std::chrono::steady_clock;

  // Averages over a window; 0 where there is no sample.
  struct Reading {
    double sm_mhz = 0;
    double watts = 0;
    unsigned long long reasons = 0;  // throttle reasons seen, as NVML's bits
    int samples = 0;
  };

  explicit Telemetry(int device);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // "" if NVML works, else a sentence that says why not.
  const std::string& trouble() const { return trouble_; }
  Reading window(Clock::time_point begin, Clock::time_point end) const;

 private:
  struct Sample {
    Clock::time_point time;
    double sm_mhz, watts;
    unsigned long long reasons;
  };
  struct Nvml;

  void sample_until_stopped();

  Nvml* nvml_ = nullptr;
  std::string trouble_;
  mutable std::mutex mutex_;
  std::vector<Sample> samples_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The throttle reasons that spoil a figure, in words ("software thermal slowdown"); "" for none, for
// idling, for clocks set for the entire run, and for the board's power limit: its effect is being
// measured.
std::string odd_reasons(unsigned long long reasons);

}  // namespace tenon::microbench
