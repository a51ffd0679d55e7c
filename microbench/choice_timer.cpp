#include "microbench/choice_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include "microbench/device_data.hpp"
#include "microbench/statistics.hpp"

namespace tenon::microbench {
namespace {

// Launches of a burst: three, or as many as fill 200 us; one, if it takes more than a millisecond.
int launches_of_burst(double microseconds) {
  if (microseconds > 1000) return 1;
  return std::clamp(static_cast<int>(std::ceil(200 / std::max(microseconds, 1.0))), 3, 100);
}

constexpr double longest_rest_ms = 10;
constexpr int foreign_launches = 200;  // about 200 us

std::size_t bytes_of(std::int64_t rows, std::int64_t columns, std::int64_t ld, Order order, Type type) {
  return static_cast<std::size_t>((order == row_major ? rows : columns) * ld) * bytes(type);
}

}  // namespace

CudaBurstTimer::CudaBurstTimer(bool between) : between_(between) {
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  require(cudaEventCreate(&begin_), "creating an event");
  require(cudaEventCreate(&end_), "creating an event");
}

CudaBurstTimer::~CudaBurstTimer() {
  forget();
  if (foreign_burst_.graph != nullptr) cudaGraphExecDestroy(foreign_burst_.graph);
  cudaEventDestroy(end_);
  cudaEventDestroy(begin_);
  cudaStreamDestroy(stream_);
}

void CudaBurstTimer::forget() {
  for (const Burst& burst : bursts_) {
    if (burst.graph != nullptr) cudaGraphExecDestroy(burst.graph);
  }
  bursts_.clear();
}

float CudaBurstTimer::milliseconds_between_events() {
  require(cudaStreamSynchronize(stream_), "running a burst");
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
  return milliseconds;
}

// Of the second launch: the first one loads the kernel.
double CudaBurstTimer::launch_microseconds(const std::function<Status(cudaStream_t)>& enqueue) {
  for (const bool timed : {false, true}) {
    if (timed) require(cudaEventRecord(begin_, stream_), "timing");
    if (const Status status = enqueue(stream_); !status) throw Failure(status.message());
  }
  require(cudaEventRecord(end_, stream_), "timing");
  return milliseconds_between_events() * 1e3;
}

CudaBurstTimer::Burst CudaBurstTimer::capture(const std::function<Status(cudaStream_t)>& enqueue,
                                              int launches) {
  require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  Status status;
  for (int i = 0; i < launches && status; ++i) status = enqueue(stream_);
  cudaGraph_t graph = nullptr;
  const cudaError_t captured = cudaStreamEndCapture(stream_, &graph);
  Burst burst;
  burst.launches = launches;
  const cudaError_t instantiated =
      status && captured == cudaSuccess ? cudaGraphInstantiate(&burst.graph, graph, 0) : captured;
  cudaGraphDestroy(graph);
  if (!status) throw Failure(std::string("while captured in a graph: ") + status.message());
  require(instantiated, "capturing a graph");
  require(cudaGraphUpload(burst.graph, stream_), "uploading a graph");
  return burst;
}

void CudaBurstTimer::time_foreign_kernel() {
  if (foreign_burst_.graph == nullptr)
    foreign_burst_ =
        capture([this](cudaStream_t stream) { return foreign_.enqueue(stream); }, foreign_launches);
  foreign_us_.push_back(replay(foreign_burst_));
}

std::size_t CudaBurstTimer::prepare(const ChoiceProblem& problem,
                                    const std::vector<ChoiceCandidate>& candidates) {
  forget();
  std::fprintf(stderr, "%s: %zu candidates\n", describe(problem).c_str(), candidates.size());
  Gemm p = gemm_of(problem);
  void* const a = a_.reserve(bytes_of(p.m, p.k, p.a.ld, p.a.order, p.a.type));
  void* const b = b_.reserve(bytes_of(p.k, p.n, p.b.ld, p.b.order, p.b.type));
  p.a.data = a;
  p.b.data = b;
  p.c.data = c_.reserve(bytes_of(p.m, p.n, p.c.ld, row_major, p.c.type));
  const bool a_by_rows = p.a.order == row_major, b_by_rows = p.b.order == row_major;
  fill_normal(a, p.a.type, a_by_rows ? p.m : p.k, a_by_rows ? p.k : p.m, p.a.ld, 1, stream_);
  fill_normal(b, p.b.type, b_by_rows ? p.k : p.n, b_by_rows ? p.n : p.k, p.b.ld, 2, stream_);
  // It must not move once a graph has its address.
  std::size_t workspace_bytes = 0;
  for (const ChoiceCandidate& candidate : candidates)
    workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes);
  workspace_.reserve(workspace_bytes);
  if (between_) time_foreign_kernel();
  for (const ChoiceCandidate& candidate : candidates) {
    p.kernel = candidate.kernel->name.c_str();
    p.workspace_bytes = candidate.workspace_bytes;
    p.workspace = candidate.workspace_bytes == 0 ? nullptr : workspace_.data();
    add([&p](cudaStream_t stream) { return gemm(p, stream); }, describe(problem) + ", " + candidate.name());
  }
  return add_cublaslt(p, describe(problem));
}

void CudaBurstTimer::add(const std::function<Status(cudaStream_t)>& enqueue, const std::string& name) {
  const auto launch = [&](cudaStream_t stream) {
    const Status status = enqueue(stream);
    return status && between_ ? foreign_.enqueue(stream) : status;
  };
  Burst burst;
  try {
    burst = capture(launch, launches_of_burst(launch_microseconds(enqueue)));
  } catch (const Failure& failure) {
    std::fprintf(stderr, "  %s: %s\n", name.c_str(), failure.what());
    cudaGetLastError();
    require(cudaDeviceSynchronize(), "the device is lost");
  }
  bursts_.push_back(burst);
}

std::size_t CudaBurstTimer::add_cublaslt(const Gemm& problem, const std::string& name) {
  std::unique_ptr<CublasLtGemm> product;
  void* const workspace = cublaslt_workspace_.reserve(CublasLtGemm::workspace_bytes);
  try {
    product = std::make_unique<CublasLtGemm>(cublaslt_, problem, workspace);
  } catch (const Failure&) {
    return 0;  // it does not have this product
  }
  for (int answer = 0; answer < product->answers(); ++answer) {
    const auto enqueue = [&, answer](cudaStream_t stream) {
      return product->run(answer, problem.a.data, problem.b.data, problem.c.data, stream);
    };
    add(enqueue, name + ", cuBLASLt #" + std::to_string(answer));
  }
  return static_cast<std::size_t>(product->answers());
}

// Microseconds of a launch.
double CudaBurstTimer::replay(const Burst& burst) {
  require(cudaGraphLaunch(burst.graph, stream_), "launching a graph");
  require(cudaEventRecord(begin_, stream_), "timing");
  require(cudaGraphLaunch(burst.graph, stream_), "launching a graph");
  require(cudaEventRecord(end_, stream_), "timing");
  const double milliseconds = milliseconds_between_events();
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::milli>(std::min(2 * milliseconds, longest_rest_ms)));
  return milliseconds * 1e3 / burst.launches;
}

double CudaBurstTimer::burst(std::size_t i) {
  if (bursts_[i].graph == nullptr) return 0;
  const double microseconds = replay(bursts_[i]);
  return between_ ? added_microseconds(microseconds, foreign_us_.back()) : microseconds;
}

double CudaBurstTimer::foreign_us() const {
  return median(foreign_us_);
}

double CudaBurstTimer::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tenon::microbench
