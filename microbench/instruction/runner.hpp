// Runs cases of the instruction benchmark on a GPU. Every wait of the host has a deadline.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "microbench/cuda_check.hpp"
#include "microbench/instruction/figures.hpp"
#include "microbench/telemetry.hpp"

namespace tenon::microbench::instruction {

struct Protocol {
  int repeats = 7;          // pairs of launches
  double cycles = 100'000;  // of the shorter launch of a pair
  // A case that is not settled is measured again with more pairs, each time with launches four times as long.
  double settled = 0.002;  // error of the median, relative
  int more_repeats = 31, extensions = 3;
  int attempts = 3;  // when the clock changes during the run
  double sustained_seconds = 0.4;
};

struct Measurement {
  Figures figures;
  int blocks = 0;
  std::uint32_t trips = 0;  // of the shorter launch of a pair
  int attempts = 0;
  double watts = 0;  // 0 if no sample fell into the run
};

// The device no longer answers: nothing else can be measured.
class DeviceLost : public Failure {
 public:
  using Failure::Failure;
};

class Runner {
 public:
  // Throws Failure with a sentence: a cubin is not the one whose machine code was checked, or memory is
  // short.
  Runner(const Manifest& manifest, const Protocol& protocol);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Throws Failure with a sentence if the case cannot run here (a cluster that does not fit), DeviceLost if
  // it destroyed the context or did not end.
  Measurement run(const Case& test);

  const std::string& machine() const { return machine_; }
  const std::string& toolkit() const { return toolkit_; }
  const std::string& telemetry_trouble() const { return telemetry_.trouble(); }

 private:
  struct Prepared;

  cudaKernel_t kernel(const Kernel& kernel);
  void* operands_of(const std::string& kind);
  void* source();
  Prepared prepare(const Case& test);
  void move_to(Prepared& prepared, int place);
  void launch(Prepared& prepared, std::uint32_t trips, int slot);
  void wait(const Case& test);
  Launch read(const Prepared& prepared, std::uint32_t trips, int slot);
  Launch timed(Prepared& prepared, std::uint32_t trips);
  double cycles_per_trip(Prepared& prepared);
  Figures pairs(Prepared& prepared, std::uint32_t trips, int repeats);
  Figures measure(Prepared& prepared, double per_trip, std::uint32_t& trips);
  Figures series(Prepared& prepared, std::uint32_t trips, int launches);

  const Manifest& manifest_;
  Protocol protocol_;
  int sms_ = 0;
  std::string machine_, toolkit_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
  std::map<std::string, cudaLibrary_t> libraries_;
  std::map<std::string, DeviceBuffer> operands_;
  DeviceBuffer stamps_, sink_, source_;
  std::uint64_t read_on_ = 0;  // offset for the next launch of a case that advances
  Telemetry telemetry_;
};

}  // namespace tenon::microbench::instruction
