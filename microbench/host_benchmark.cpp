// Host time of a product: microseconds of a CPU thread for a call, while the GPU keeps up. gemm(), a prepared
// product with the pointers of its last run and with others, cublasLtMatmul with a prepared algorithm, and an
// empty kernel launched with the attributes of the product's. Medians of rounds of 200 calls each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_on.hpp"
#include "microbench/cublaslt.hpp"
#include "microbench/cuda_check.hpp"
#include "microbench/empty_kernel.hpp"
#include "microbench/machine.hpp"
#include "microbench/record.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"
#include "tenon/gemm_prepared.hpp"

namespace tenon::microbench {
namespace {

// Keeps the launch of a product.
class Recorder final : public Launcher {
 public:
  explicit Recorder(cudaStream_t stream) : launcher_(stream) {}
  Status describe(DeviceDescription* device) noexcept override { return launcher_.describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int rows, int columns,
                         TensorMap* map) noexcept override {
    return launcher_.make_tensor_map(matrix, rows, columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    last = launch;
    return launcher_.launch(launch);
  }
  Launch last;

 private:
  CudaLauncher launcher_;
};

void check(const Status& status) {
  if (!status) throw Failure(status.message());
}
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
}

// Of a call, in microseconds. The GPU is idle when a round begins, and its queue takes all of a round.
double host_microseconds(const std::function<void()>& call) {
  constexpr int calls = 200, rounds = 25;
  call();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    check(cudaDeviceSynchronize(), "waiting");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  check(cudaDeviceSynchronize(), "waiting");
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

// The launch of an empty kernel with grid, block, shared memory and attributes of another launch.
void launch_empty(const Launch& like, int cluster, cudaStream_t stream) {
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (like.overlaps_previous) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(like.grid.x, like.grid.y, like.grid.z);
  config.blockDim = dim3(like.block.x, like.block.y, like.block.z);
  config.dynamicSmemBytes = like.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  static EmptyKernelArguments arguments;
  void* pointers[] = {&arguments};
  check(cudaLaunchKernelExC(&config, empty_kernel(), pointers), "launching");
}

// Two sets of matrices of the largest product, and cuBLASLt's workspace.
class Matrices {
 public:
  explicit Matrices(std::size_t bytes) {
    for (DeviceBuffer& x : buffers_) x.reserve(bytes);
    workspace_.reserve(CublasLtGemm::workspace_bytes);
  }
  void* workspace() const { return workspace_.data(); }
  GemmPointers set(int which) const {
    GemmPointers p;
    p.a = buffers_[3 * which].data(), p.b = buffers_[3 * which + 1].data(),
    p.c = buffers_[3 * which + 2].data();
    return p;
  }

 private:
  DeviceBuffer buffers_[6], workspace_;
};

using Rows = std::vector<nlohmann::ordered_json>;

void measure(int size, const Matrices& matrices, const CublasLt& library, cudaStream_t stream,
             const std::string& commit, const Machine& machine, Rows* rows) {
  Gemm p;
  p.m = p.n = p.k = size;
  const GemmPointers here = matrices.set(0), there = matrices.set(1);
  p.a = {here.a, size, row_major, Type::bf16};
  p.b = {here.b, size, column_major, Type::bf16};
  p.c = {here.c, size, Type::bf16};
  Recorder recorder(stream);
  check(gemm(recorder, p));
  const Kernel* const kernel = find_kernel(recorder.last.what);
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&empty_kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10),
        "opting in");
  PreparedGemm prepared;
  check(prepare(p, &prepared));
  const CublasLtGemm reference(library, p, matrices.workspace());
  int run = 0;
  const struct {
    const char* name;
    std::function<void()> call;
  } calls[] = {
      {"empty launch", [&] { launch_empty(recorder.last, kernel == nullptr ? 1 : kernel->cluster, stream); }},
      {"prepared", [&] { check(prepared.run({}, stream)); }},
      {"prepared, other pointers", [&] { check(prepared.run(run++ % 2 == 0 ? there : here, stream)); }},
      {"gemm", [&] { check(gemm(p, stream)); }},
      {"cublasLtMatmul", [&] { check(reference.run(0, here.a, here.b, here.c, stream)); }},
  };
  double empty = 0;
  for (const auto& x : calls) {
    const double us = host_microseconds(x.call);
    if (empty == 0) empty = us;
    std::printf("%5d^3  %-26s %6.2f us  %5.2f of an empty launch\n", size, x.name, us, us / empty);
    std::fflush(stdout);
    rows->push_back({{"benchmark", "host"},
                     {"m", size},
                     {"n", size},
                     {"k", size},
                     {"types", "bf16_f32_bf16"},
                     {"kernel", recorder.last.what},
                     {"call", x.name},
                     {"microseconds", us},
                     {"of_an_empty_launch", us / empty},
                     {"commit", commit},
                     {"machine", machine.name},
                     {"toolkit", machine.toolkit},
                     {"date", today()}});
  }
}

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  keep_standard_descriptors();
  std::vector<int> sizes = {64, 512, 1024};
  std::string json, commit;
  CLI::App app("Times the host side of a product: gemm(), prepared products, cublasLtMatmul",
               "tenon_host_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_host_benchmark --sizes 64 512 --json host.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "Exit status: 0 done, 2 bad usage, 3 no GPU or no cuBLASLt, or standard output cannot be written.");
  app.add_option("--sizes", sizes, "m = n = k, each from 8 to 2048, multiples of 8")
      ->check(CLI::Range(8, 2048) & CLI::Validator(
                                        [](const std::string& x) {
                                          return std::stoi(x) % 8 == 0 ? std::string()
                                                                       : x + " is no multiple of 8";
                                        },
                                        ""));
  app.add_option("--json", json, "file for the records");
  app.add_option("--commit", commit, "commit to store with them");
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  }
  if (const std::string why = json.empty() ? "" : unwritable(json); !why.empty()) {
    std::fprintf(stderr, "tenon_host_benchmark: --json: %s\n", why.c_str());
    return 2;
  }
  if (!has_gpu("tenon_host_benchmark")) return 3;
  try {
    check(cudaFree(nullptr), "starting CUDA");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream), "creating a stream");
    const CublasLt library;
    const Machine machine = describe_machine(0);
    const Matrices matrices(std::size_t{2048} * 2048 * 2);
    Rows rows;
    for (const int size : sizes) measure(size, matrices, library, stream, commit, machine, &rows);
    const std::string lost_file =
        json.empty() ? "" : replace_file(json, nlohmann::ordered_json(rows).dump(1) + "\n");
    const std::string lost = lost_file.empty() ? lost_standard_output() : lost_file;
    if (lost.empty()) return 0;
    std::fprintf(stderr, "tenon_host_benchmark: %s\n", lost.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_host_benchmark: %s\n", error.what());
  }
  return 3;
}
