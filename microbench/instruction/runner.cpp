#include "microbench/instruction/runner.hpp"

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "microbench/instruction/operands.hpp"

namespace tenon::microbench::instruction {
namespace {

constexpr int slots = 64;  // launches whose stamps are stored at a time
constexpr std::uint32_t start_granule =
    32 * 1024;  // size of the largest copy: none may cross the window's end
constexpr std::size_t source_bytes = std::size_t{2304} << 20;  // 144 windows of 16 MiB, or one of 2 GiB
constexpr auto deadline = std::chrono::seconds(10);

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Gets cuTensorMapEncodeTiled through the runtime, so that nothing here links libcuda.
Arguments::Map map_over(void* address, std::uint64_t bytes, std::uint32_t box_bytes) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  require(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
      "looking for cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess) throw Failure("the driver has no cuTensorMapEncodeTiled");
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  CUtensorMap map;
  const cuuint64_t sizes[] = {row_bytes / 2, bytes / row_bytes};
  const cuuint64_t strides[] = {row_bytes};
  const cuuint32_t box[] = {row_bytes / 2, box_bytes / row_bytes}, steps[] = {1, 1};
  const CUresult error = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, address, sizes, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS)
    throw Failure("cuTensorMapEncodeTiled refuses a box of " + std::to_string(box[1]) + " rows: error " +
                  std::to_string(error));
  Arguments::Map result;
  static_assert(sizeof map == sizeof result.bytes, "a tensor map has 128 bytes");
  std::memcpy(result.bytes, &map, sizeof map);
  return result;
}

}  // namespace

struct Runner::Prepared {
  const Case& test;
  cudaKernel_t kernel;
  int blocks;
  Arguments arguments;
};

Runner::Runner(const Manifest& manifest, const Protocol& protocol)
    : manifest_(manifest), protocol_(protocol), telemetry_(0) {
  require(cudaSetDevice(0), "choosing the device");
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0), "querying the device's properties");
  if (properties.major != 9)
    throw Failure(std::string("the kernels are for sm_90a, the device is ") + properties.name + ", sm_" +
                  std::to_string(properties.major) + std::to_string(properties.minor));
  machine_ = properties.name;
  sms_ = properties.multiProcessorCount;
  int driver = 0;
  cudaDriverGetVersion(&driver);
  toolkit_ = "CUDA " + version_text(CUDART_VERSION) + ", driver for CUDA " + version_text(driver);
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  require(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "creating an event");
  stamps_.reserve(slots * sizeof(Stamp) * 32 * sms_);
  sink_.reserve(sizeof(std::uint32_t) * 1024 * sms_);
}

Runner::~Runner() {
  for (const auto& [file, library] : libraries_) cudaLibraryUnload(library);
  cudaEventDestroy(done_);
  cudaStreamDestroy(stream_);
}

cudaKernel_t Runner::kernel(const Kernel& kernel) {
  auto found = libraries_.find(kernel.file);
  if (found == libraries_.end()) {
    const std::string_view cubin = embedded_cubin(kernel.file);
    const auto hash = manifest_.cubins.find(kernel.file);
    if (cubin.empty() || hash == manifest_.cubins.end() || hash_of(cubin) != hash->second)
      throw Failure(kernel.file + ".cubin is not the one whose machine code was checked");
    cudaLibrary_t library = nullptr;
    require(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            ("loading " + kernel.file + ".cubin").c_str());
    found = libraries_.emplace(kernel.file, library).first;
  }
  cudaKernel_t result = nullptr;
  require(cudaLibraryGetKernel(&result, found->second, kernel.name.c_str()), kernel.name.c_str());
  return result;
}

void* Runner::operands_of(const std::string& kind) {
  DeviceBuffer& buffer = operands_[kind];
  if (buffer.data() == nullptr) {
    const std::vector<std::uint8_t> bytes = operands(kind, data_bytes);
    require(cudaMemcpy(buffer.reserve(bytes.size()), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
            "copying the operands");
  }
  return buffer.data();
}

void* Runner::source() {
  if (source_.data() == nullptr)
    require(cudaMemset(source_.reserve(source_bytes), 0, source_bytes), "clearing the source buffer");
  return source_.data();
}

Runner::Prepared Runner::prepare(const Case& test) {
  Prepared prepared{test, kernel(*test.kernel), 1, {}};
  const auto set = [&](cudaFuncAttribute attribute, int value, const char* what) {
    require(cudaKernelSetAttributeForDevice(prepared.kernel, attribute, value, 0), what);
  };
  if (test.shared > 0)
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(test.shared),
        "requesting shared memory");
  if (test.cluster > 8) set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1, "requesting clusters of 16");
  if (test.grid == "all") prepared.blocks = sms_;
  if (test.grid == "cluster") prepared.blocks = test.cluster;
  if (test.grid == "clusters") {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(test.cluster);
    config.blockDim = dim3(32 * test.warps);
    config.dynamicSmemBytes = test.shared;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(test.cluster), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    require(
        cudaOccupancyMaxActiveClusters(&clusters, reinterpret_cast<const void*>(prepared.kernel), &config),
        "querying how many clusters fit");
    if (clusters == 0) throw Failure("no cluster of " + std::to_string(test.cluster) + " fits");
    prepared.blocks = std::min(clusters * test.cluster, sms_ / test.cluster * test.cluster);
  }
  Arguments& a = prepared.arguments;
  a.data = reinterpret_cast<std::uint64_t>(operands_of(test.data));
  a.sink = reinterpret_cast<std::uint64_t>(sink_.data());
  a.stride = test.stride;
  a.bytes = test.bytes;
  a.stages = test.stages;
  a.hop = test.hop;
  a.window = test.window;
  if (test.window != 0) {
    if (prepared.blocks * test.window > source_bytes)
      throw Failure("its " + std::to_string(prepared.blocks) + " windows do not fit the source buffer");
    move_to(prepared, 0);
  }
  return prepared;
}

// Moves the windows to another place in the source buffer. A window's physical pages determine its L2 slices
// and their distance from an SM, and they differ from run to run: a figure from one place would not be
// reproducible.
void Runner::move_to(Prepared& prepared, int place) {
  const Case& test = prepared.test;
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t bytes = prepared.blocks * test.window;
  const std::size_t places = (source_bytes - bytes) / page + 1;
  constexpr std::size_t stride = 37;  // pages: a prime, so that places are distinct
  char* at = static_cast<char*>(source()) + stride * place % places * page;
  prepared.arguments.source = reinterpret_cast<std::uint64_t>(at);
  if (test.map) prepared.arguments.map = map_over(at, bytes, test.bytes);
}

void Runner::launch(Prepared& prepared, std::uint32_t trips, int slot) {
  const Case& test = prepared.test;
  Arguments& a = prepared.arguments;
  a.trips = trips;
  a.stamps = reinterpret_cast<std::uint64_t>(stamps_.data()) + sizeof(Stamp) * 32 * sms_ * slot;
  if (test.advance) {
    a.start = read_on_ % test.window / start_granule * start_granule;
    const std::uint64_t step =
        std::max<std::uint64_t>(test.bytes_per_operation() * test.issuers, test.stride);
    read_on_ += step * test.kernel->operations * trips + start_granule;
  }
  void* arguments[] = {&a.stamps, &a.data,   &a.sink,  &a.source, &a.window, &a.start,
                       &a.trips,  &a.stride, &a.bytes, &a.stages, &a.hop,    &a.map};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(prepared.blocks);
  config.blockDim = dim3(32 * test.warps);
  config.dynamicSmemBytes = test.shared;
  config.stream = stream_;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(test.cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = test.cluster > 1 ? 1 : 0;
  require(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(prepared.kernel), arguments),
          "launching");
}

void Runner::wait(const Case& test) {
  require(cudaEventRecord(done_, stream_), "recording an event");
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const cudaError_t state = cudaEventQuery(done_);
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady)
      throw DeviceLost(test.name + " ended the context: " + cudaGetErrorString(state));
    if (std::chrono::steady_clock::now() - begin > deadline) throw DeviceLost(test.name + " does not end");
  }
}

Launch Runner::read(const Prepared& prepared, std::uint32_t trips, int slot) {
  Launch launch;
  launch.trips = trips;
  launch.stamps.resize(static_cast<std::size_t>(prepared.blocks) * prepared.test.warps);
  require(cudaMemcpy(launch.stamps.data(), static_cast<const Stamp*>(stamps_.data()) + 32 * sms_ * slot,
                     launch.stamps.size() * sizeof(Stamp), cudaMemcpyDeviceToHost),
          "reading the stamps");
  return launch;
}

Launch Runner::timed(Prepared& prepared, std::uint32_t trips) {
  launch(prepared, trips, 0);
  wait(prepared.test);
  return read(prepared, trips, 0);
}

// An estimate from two short launches, after one that loads the kernel.
double Runner::cycles_per_trip(Prepared& prepared) {
  constexpr std::uint32_t few = 2, more = 18;
  timed(prepared, few);
  const double low = span(timed(prepared, few), prepared.test);
  const double high = span(timed(prepared, more), prepared.test);
  return std::max((high - low) / (more - few), 1.0);
}

// Launches back to back and evaluates afterwards, so that the device does not idle in between and keeps its
// clock. A window that stays in the L2 is read once at every place before it is timed there.
Figures Runner::pairs(Prepared& prepared, std::uint32_t trips, int repeats) {
  const int count = 2 * std::min(repeats, slots / 2);
  const bool in_l2 = prepared.test.window != 0 && !prepared.test.advance;
  for (int i = 0; i < count; ++i) {
    if (in_l2 && i % 2 == 0) {
      move_to(prepared, i / 2);
      launch(prepared, 2 * trips, i);  // the timed launch overwrites these stamps
    }
    launch(prepared, trips * (i % 2 + 1), i);
  }
  wait(prepared.test);
  std::vector<Launch> launches;
  for (int i = 0; i < count; ++i) launches.push_back(read(prepared, trips * (i % 2 + 1), i));
  return of_pairs(prepared.test, launches, prepared.blocks);
}

Figures Runner::series(Prepared& prepared, std::uint32_t trips, int count) {
  for (int i = 0; i < count; ++i) launch(prepared, trips, i);
  wait(prepared.test);
  std::vector<Launch> launches;
  for (int i = 0; i < count; ++i) launches.push_back(read(prepared, trips, i));
  return of_series(prepared.test, launches, prepared.blocks);
}

// Measures pairs until the median is settled, or the limits of length and number are reached.
Figures Runner::measure(Prepared& prepared, double per_trip, std::uint32_t& trips) {
  const auto trips_in = [&](double cycles) {
    return static_cast<std::uint32_t>(std::clamp(cycles / per_trip, 4.0, 1e9));
  };
  double cycles = protocol_.cycles;
  trips = trips_in(cycles);
  Figures figures = pairs(prepared, trips, protocol_.repeats);
  for (int extension = 0;
       extension < protocol_.extensions && figures.odd.empty() && figures.error > protocol_.settled;
       ++extension) {
    cycles *= 4;
    trips = trips_in(cycles);
    figures = pairs(prepared, trips, protocol_.more_repeats);
  }
  return figures;
}

Measurement Runner::run(const Case& test) {
  Prepared prepared = prepare(test);
  const bool sustained = test.protocol == "sustained";
  const double per_trip = cycles_per_trip(prepared);
  Measurement measurement;
  measurement.blocks = prepared.blocks;
  const auto begin = Telemetry::Clock::now();
  do {
    if (sustained) {
      // The clock is at most 2 GHz, so a series takes at least the requested time.
      constexpr int launches = 20;
      const double cycles = protocol_.sustained_seconds * 2e9 / launches;
      measurement.trips = static_cast<std::uint32_t>(std::clamp(cycles / per_trip, 4.0, 1e9));
      measurement.figures = series(prepared, measurement.trips, launches);
    } else {
      measurement.figures = measure(prepared, per_trip, measurement.trips);
    }
    ++measurement.attempts;
  } while (!measurement.figures.odd.empty() && measurement.attempts < protocol_.attempts);
  const Telemetry::Reading reading = telemetry_.window(begin, Telemetry::Clock::now());
  measurement.watts = reading.watts;
  const std::string reasons = odd_reasons(reading.reasons);
  if (!reasons.empty() && measurement.figures.odd.empty())
    measurement.figures.odd = "the clock was throttled: " + reasons;
  return measurement;
}

}  // namespace tenon::microbench::instruction
