#include "microbench/telemetry.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

namespace tenon::microbench {
namespace {

// From NVML's API reference; the toolkit does not always install nvml.h.
using NvmlDevice = struct nvmlDevice_st*;
constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;
constexpr unsigned int nvml_field_power_instant = 186;  // NVML_FI_DEV_POWER_INSTANT, mW
struct NvmlFieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  long long timestamp;
  long long latency_usec;
  int value_type;
  int status;
  union {
    double d;
    unsigned int ui;
    unsigned long long ull;
  } value;
};

constexpr auto sampling_period = std::chrono::milliseconds(5);

template <typename Function>
bool load(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Telemetry::Nvml {
  void* library = nullptr;
  NvmlDevice device = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned int*) = nullptr;
  int (*power)(NvmlDevice, unsigned int*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*fields)(NvmlDevice, int, NvmlFieldValue*) = nullptr;

  // nvmlDeviceGetPowerUsage averages over about a second on recent boards: the instantaneous field comes
  // first.
  double watts() const {
    NvmlFieldValue field{};
    field.field_id = nvml_field_power_instant;
    if (fields(device, 1, &field) == nvml_success && field.status == nvml_success)
      return field.value.ui * 1e-3;
    unsigned int milliwatts = 0;
    return power(device, &milliwatts) == nvml_success ? milliwatts * 1e-3 : 0;
  }
};

Telemetry::Telemetry(int device) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) {
    trouble_ = "no clock or power readings: libnvidia-ml.so.1 cannot be loaded";
    return;
  }
  auto* nvml = new Nvml;
  nvml->library = library;
  const bool complete = load(library, nvml->init, "nvmlInit_v2") &&
                        load(library, nvml->shutdown, "nvmlShutdown") &&
                        load(library, nvml->handle_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
                        load(library, nvml->clock, "nvmlDeviceGetClockInfo") &&
                        load(library, nvml->power, "nvmlDeviceGetPowerUsage") &&
                        load(library, nvml->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") &&
                        load(library, nvml->fields, "nvmlDeviceGetFieldValues");
  char bus_id[32] = {};
  if (!complete || nvml->init() != nvml_success) {
    trouble_ = "no clock or power readings: NVML is incomplete or does not start";
  } else if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != cudaSuccess ||
             nvml->handle_by_bus_id(bus_id, &nvml->device) != nvml_success) {
    trouble_ = "no clock or power readings: NVML does not know the device";
    nvml->shutdown();
  }
  if (!trouble_.empty()) {
    delete nvml;
    dlclose(library);
    return;
  }
  nvml_ = nvml;
  thread_ = std::thread(&Telemetry::sample_until_stopped, this);
}

Telemetry::~Telemetry() {
  if (nvml_ == nullptr) return;
  stop_ = true;
  thread_.join();
  nvml_->shutdown();
  dlclose(nvml_->library);
  delete nvml_;
}

void Telemetry::sample_until_stopped() {
  while (!stop_) {
    unsigned int mhz = 0;
    unsigned long long reasons = 0;
    Sample sample{};
    if (nvml_->clock(nvml_->device, nvml_clock_sm, &mhz) == nvml_success) sample.sm_mhz = mhz;
    if (nvml_->reasons(nvml_->device, &reasons) == nvml_success) sample.reasons = reasons;
    sample.watts = nvml_->watts();
    sample.time = Clock::now();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      samples_.push_back(sample);
    }
    std::this_thread::sleep_for(sampling_period);
  }
}

Telemetry::Reading Telemetry::window(Clock::time_point begin, Clock::time_point end) const {
  Reading reading;
  int clocks = 0;
  int powers = 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Sample& sample : samples_) {
    if (sample.time < begin || sample.time > end) continue;
    ++reading.samples;
    reading.reasons |= sample.reasons;
    if (sample.sm_mhz > 0) {
      reading.sm_mhz += sample.sm_mhz;
      ++clocks;
    }
    if (sample.watts > 0) {
      reading.watts += sample.watts;
      ++powers;
    }
  }
  if (clocks > 0) reading.sm_mhz /= clocks;
  if (powers > 0) reading.watts /= powers;
  return reading;
}

std::string odd_reasons(unsigned long long reasons) {
  struct Name {
    unsigned long long bit;
    const char* text;
  };
  // nvmlClocksThrottleReason*. Expected: 0x1 idle, 0x4 power cap. Settings that hold for a whole run, not
  // events in it: 0x2 application clocks, 0x100 display clock.
  constexpr Name names[] = {{0x8, "hardware slowdown"},
                            {0x10, "sync boost"},
                            {0x20, "software thermal slowdown"},
                            {0x40, "hardware thermal slowdown"},
                            {0x80, "power brake"}};
  std::string text;
  for (const Name& name : names) {
    if ((reasons & name.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name.text);
  }
  return text;
}

}  // namespace tenon::microbench
