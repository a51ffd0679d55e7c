#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "microbench/measure.hpp"
#include "microbench/statistics.hpp"

namespace tenon::microbench {

namespace {

// The cycle and nanosecond counters of one SM, read together.
struct SmCounters {
  std::uint64_t cycles, nanoseconds;
};
constexpr int counter_slots = 3;  // before, in the middle, after
constexpr int max_sms = 1024;     // %smid stays below this on any device

// Holds the stream while the host enqueues the launches to be timed, so that the first of them does not wait
// for the host.
__global__ void delay_kernel(std::uint64_t nanoseconds) {
  std::uint64_t start = 0;
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}
constexpr std::uint64_t delay_ns = 400'000;

// One CTA an SM, if the scheduler spreads them; SMs without one keep their zeros.
__global__ void read_counters_kernel(SmCounters* counters) {
  unsigned int sm = 0;
  SmCounters now{};
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now.cycles));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.nanoseconds));
  if (sm < max_sms) counters[sm] = now;
}

float milliseconds_between(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
  return milliseconds;
}

void launch(const Contender& contender, cudaStream_t stream, int iteration) {
  if (const Status status = contender.enqueue(stream, iteration); !status) {
    throw Failure(contender.name + ": " + status.message());
  }
}

// As many launches as fill that time and use each buffer set equally often.
int launches_of(const Contender& contender, double milliseconds, double estimate) {
  return std::max(1, launches_for(milliseconds, estimate) / contender.rotation) * contender.rotation;
}

// About 1 ms of them, so that what it costs to begin a graph does not count.
constexpr int foreign_launches = 1000;

void sleep_ms(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

}  // namespace

// Launches of one contender, issued one by one or as one graph.
class Stopwatch::Batch {
 public:
  Batch(const Contender& contender, int count, bool as_graph, cudaStream_t stream)
      : contender_(contender), count_(count) {
    if (!as_graph) return;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
    Status status;
    for (int i = 0; i < count && status; ++i) status = contender.enqueue(stream, i);
    cudaGraph_t graph = nullptr;
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
    if (!status) {
      cudaGraphDestroy(graph);
      throw Failure(contender.name + " while captured in a graph: " + status.message());
    }
    require(captured, "capturing a graph");
    const cudaError_t instantiated = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    require(instantiated, "instantiating a graph");
    require(cudaGraphUpload(graph_, stream), "uploading a graph");
  }
  ~Batch() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  int count() const { return count_; }

  void enqueue(cudaStream_t stream) const {
    if (graph_ != nullptr) {
      require(cudaGraphLaunch(graph_, stream), "launching a graph");
      return;
    }
    for (int i = 0; i < count_; ++i) launch(contender_, stream, i);
  }

 private:
  const Contender& contender_;
  int count_;
  cudaGraphExec_t graph_ = nullptr;
};

// The bursts of one contender, an entry each.
struct Stopwatch::Bursts {
  std::vector<double> launch_us, after_us;  // of one launch of the batch, and of the batch after it
  std::vector<double> clocks, watts;        // without the bursts for which NVML has none
  unsigned long long reasons = 0;

  Figure figure(double flop, double microseconds, double spread) const;
};

// spread: of the bursts, relative.
Figure Stopwatch::Bursts::figure(double flop, double microseconds, double spread) const {
  Figure figure;
  figure.microseconds = microseconds;
  figure.tflops = tflops(flop, microseconds);
  figure.sm_mhz = median(clocks);
  figure.watts = mean(watts);
  figure.odd = odd_reasons(reasons);
  if (figure.odd.empty() && spread > 0.05)
    figure.odd = "bursts differ by " + std::to_string(static_cast<int>(spread * 100)) + " %";
  return figure;
}

Stopwatch::Stopwatch(int device) : telemetry_(device) {
  int khz = 0;
  require(cudaDeviceGetAttribute(&sm_count_, cudaDevAttrMultiProcessorCount, device), "querying the device");
  require(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "querying the device");
  max_mhz_ = khz * 1e-3;
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  for (cudaEvent_t& event : events_) require(cudaEventCreate(&event), "creating an event");
  counters_.reserve(sizeof(SmCounters) * max_sms * counter_slots);
  foreign_alone_.name = "a foreign kernel";
  foreign_alone_.enqueue = [this](cudaStream_t stream, int) { return foreign_.enqueue(stream); };
}

Stopwatch::~Stopwatch() {
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void Stopwatch::read_counters(int slot) {
  SmCounters* counters = static_cast<SmCounters*>(counters_.data()) + slot * max_sms;
  require(cudaMemsetAsync(counters, 0, sizeof(SmCounters) * max_sms, stream_), "reading the SMs' counters");
  read_counters_kernel<<<sm_count_, 32, 0, stream_>>>(counters);
  require(cudaGetLastError(), "reading the SMs' counters");
}

// 0 if the counters do not give a plausible clock.
double Stopwatch::mean_sm_mhz(int from, int to) const {
  std::vector<SmCounters> counters(static_cast<std::size_t>(max_sms) * counter_slots);
  require(cudaMemcpy(counters.data(), counters_.data(), counters.size() * sizeof(SmCounters),
                     cudaMemcpyDeviceToHost),
          "reading the SMs' counters");
  std::vector<double> mhz;
  for (int sm = 0; sm < max_sms; ++sm) {
    const SmCounters& a = counters[static_cast<std::size_t>(from * max_sms + sm)];
    const SmCounters& b = counters[static_cast<std::size_t>(to * max_sms + sm)];
    if (a.nanoseconds == 0 || b.nanoseconds <= a.nanoseconds || b.cycles <= a.cycles) continue;
    mhz.push_back(1e3 * static_cast<double>(b.cycles - a.cycles) /
                  static_cast<double>(b.nanoseconds - a.nanoseconds));
  }
  const double middle = median(mhz);
  return middle > 0.1 * max_mhz_ && middle < 1.02 * max_mhz_ ? middle : 0;
}

double Stopwatch::launch_microseconds(const Contender& contender) {
  // The first launch of a kernel loads it, which takes milliseconds.
  launch(contender, stream_, 0);
  require(cudaStreamSynchronize(stream_), contender.name.c_str());
  double microseconds = 0;
  for (const int count : {1, 10}) {
    delay_kernel<<<1, 1, 0, stream_>>>(delay_ns);
    require(cudaEventRecord(events_[0], stream_), "timing");
    for (int i = 0; i < count; ++i) launch(contender, stream_, i);
    require(cudaEventRecord(events_[1], stream_), "timing");
    require(cudaStreamSynchronize(stream_), contender.name.c_str());
    microseconds = milliseconds_between(events_[0], events_[1]) * 1e3 / count;
    if (microseconds > 1000) break;
  }
  return microseconds;
}

// after: timed at the end of each burst; nullptr for nothing.
Stopwatch::Bursts Stopwatch::bursts(const Contender& contender, const Batch& batch, const Batch* after,
                                    const Protocol& protocol) {
  Bursts result;
  for (int i = 0; i < protocol.bursts; ++i) {
    require(cudaStreamSynchronize(stream_), contender.name.c_str());
    sleep_ms(protocol.idle_ms);
    const auto begin = Telemetry::Clock::now();
    delay_kernel<<<1, 1, 0, stream_>>>(delay_ns);
    read_counters(0);
    require(cudaEventRecord(events_[0], stream_), "timing");
    batch.enqueue(stream_);
    require(cudaEventRecord(events_[1], stream_), "timing");
    if (after != nullptr) {
      after->enqueue(stream_);
      require(cudaEventRecord(events_[2], stream_), "timing");
    }
    read_counters(1);
    require(cudaStreamSynchronize(stream_), contender.name.c_str());
    const Telemetry::Reading reading = telemetry_.window(begin, Telemetry::Clock::now());
    result.launch_us.push_back(milliseconds_between(events_[0], events_[1]) * 1e3 / batch.count());
    if (after != nullptr)
      result.after_us.push_back(milliseconds_between(events_[1], events_[2]) * 1e3 / after->count());
    const double mhz = mean_sm_mhz(0, 1);
    if (mhz > 0 || reading.sm_mhz > 0) result.clocks.push_back(mhz > 0 ? mhz : reading.sm_mhz);
    if (reading.watts > 0) result.watts.push_back(reading.watts);
    result.reasons |= reading.reasons;
  }
  return result;
}

Figure Stopwatch::burst(const Contender& contender, const Protocol& protocol) {
  const double estimate = launch_microseconds(contender);
  const Batch batch(contender, launches_of(contender, protocol.burst_ms, estimate),
                    estimate < protocol.graph_below_us, stream_);
  const Bursts measured = bursts(contender, batch, nullptr, protocol);
  return measured.figure(contender.flop, median(measured.launch_us), middle_spread(measured.launch_us));
}

Figure Stopwatch::between(const Contender& contender, const Protocol& protocol) {
  if (foreign_batch_ == nullptr)
    foreign_batch_ = std::make_unique<Batch>(foreign_alone_, foreign_launches, true, stream_);
  const Contender pair =
      followed_by(contender, [this](cudaStream_t stream) { return foreign_.enqueue(stream); });
  const double estimate = launch_microseconds(pair);
  const Batch batch(pair, launches_of(pair, protocol.burst_ms, estimate), true, stream_);
  const Bursts measured = bursts(pair, batch, foreign_batch_.get(), protocol);
  const double pair_us = median(measured.launch_us), foreign_us = median(measured.after_us);
  const double microseconds = added_microseconds(pair_us, foreign_us);
  // The spread is that of the pairs; the product alone is a part of them.
  const double of_product = microseconds > 0 ? pair_us / microseconds : 0;
  Figure figure =
      measured.figure(contender.flop, microseconds, middle_spread(measured.launch_us) * of_product);
  figure.pair_us = pair_us;
  figure.foreign_us = foreign_us;
  if (figure.odd.empty() && microseconds <= 0) figure.odd = "it adds no time to a stream of foreign kernels";
  return figure;
}

Figure Stopwatch::sustained(const Contender& contender, const Protocol& protocol) {
  const double estimate = launch_microseconds(contender);
  const Batch batch(contender, launches_of(contender, protocol.burst_ms, estimate),
                    estimate < protocol.graph_below_us, stream_);
  const int half = std::max(1, launches_for(protocol.sustained_ms / 2, estimate) / batch.count());
  require(cudaStreamSynchronize(stream_), contender.name.c_str());
  sleep_ms(protocol.rest_ms);
  delay_kernel<<<1, 1, 0, stream_>>>(delay_ns);
  for (int i = 0; i < half; ++i) batch.enqueue(stream_);
  read_counters(1);
  require(cudaEventRecord(events_[1], stream_), "timing");
  for (int i = 0; i < half; ++i) batch.enqueue(stream_);
  require(cudaEventRecord(events_[2], stream_), "timing");
  read_counters(2);
  require(cudaStreamSynchronize(stream_), contender.name.c_str());
  const auto end = Telemetry::Clock::now();
  const double milliseconds = milliseconds_between(events_[1], events_[2]);
  const auto length = std::chrono::duration_cast<Telemetry::Clock::duration>(
      std::chrono::duration<double, std::milli>(milliseconds));
  const Telemetry::Reading reading = telemetry_.window(end - length, end);
  const double mhz = mean_sm_mhz(1, 2);
  Figure figure;
  figure.microseconds = milliseconds * 1e3 / (static_cast<double>(half) * batch.count());
  figure.tflops = tflops(contender.flop, figure.microseconds);
  figure.sm_mhz = mhz > 0 ? mhz : reading.sm_mhz;
  figure.watts = reading.watts;
  figure.odd = odd_reasons(reading.reasons);
  return figure;
}

}  // namespace tenon::microbench
