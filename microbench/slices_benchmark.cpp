// Products of f64 by int8 slices against cuBLAS's DGEMM, in one process: time by the protocol of measure.hpp,
// and the errors of both against exact sums, of elements drawn at random.
//
// Elements are N(0,1) times e^(phi N(0,1)), with all 53 bits: the larger phi, the further elements lie below
// the largest of their row, which slices round as coarsely as that one. (The paper measures with such
// numbers.)
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "host/cuda_launcher.hpp"
#include "host/gemm_slices_on.hpp"
#include "microbench/cublas_declarations.hpp"
#include "microbench/cublas_library.hpp"
#include "microbench/cuda_check.hpp"
#include "microbench/machine.hpp"
#include "microbench/measure.hpp"
#include "microbench/record.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"

namespace tenon::microbench {
namespace {

struct Options {
  std::vector<std::string> shapes = {"2048:2048:2048", "4096:4096:4096", "8192:8192:8192"};
  std::vector<int> slices = {14, 15, 16};
  std::string layout = "tn";
  double phi = 0;
  bool steps = false, burst_only = false;
  std::string json, commit;
};

Shape parse(const std::string& text) {
  long long m = 0, n = 0, k = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%lld:%lld:%lld%n", &m, &n, &k, &end) != 3 ||
      text[static_cast<std::size_t>(end)] != '\0' || std::min({m, n, k}) < 1 ||
      std::max({m, n, k}) > 100000) {
    throw Failure("shape '" + text + "': m:n:k is needed, each from 1 to 100000");
  }
  Shape shape;
  shape.m = m, shape.n = n, shape.k = k;
  return shape;
}

// cublasDgemm.
class CublasF64 {
 public:
  explicit CublasF64(cudaStream_t stream) {
    constexpr const char* name = "libcublas";
    void* const library = open_cublas_library(name, "TENON_CUBLAS");
    require(cudaFree(nullptr), "starting CUDA");
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasGetVersion_v2) get_version = nullptr;
    load_function(library, name, create, "cublasCreate_v2");
    load_function(library, name, destroy_, "cublasDestroy_v2");
    load_function(library, name, get_version, "cublasGetVersion_v2");
    load_function(library, name, set_stream, "cublasSetStream_v2");
    load_function(library, name, dgemm_, "cublasDgemm_v2_64");
    if (create(&handle_) != CUBLAS_STATUS_SUCCESS) throw Failure("cuBLAS does not start");
    set_stream(handle_, stream);
    int version = 0;
    get_version(handle_, &version);
    name_ = "cuBLAS " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
            std::to_string(version % 100) + " cublasDgemm";
  }
  ~CublasF64() { destroy_(handle_); }
  CublasF64(const CublasF64&) = delete;
  CublasF64& operator=(const CublasF64&) = delete;

  const std::string& name() const { return name_; }
  // cuBLAS's matrices are column-major: it computes the transpose of C from B^T and A^T.
  Status run(const SlicedGemm& p) const {
    const cublasOperation_t op_b = p.b.order == row_major ? CUBLAS_OP_N : CUBLAS_OP_T,
                            op_a = p.a.order == row_major ? CUBLAS_OP_N : CUBLAS_OP_T;
    if (dgemm_(handle_, op_b, op_a, p.n, p.m, p.k, &p.alpha, p.b.data, p.b.ld, p.a.data, p.a.ld, &p.beta,
               p.c.data, p.c.ld) == CUBLAS_STATUS_SUCCESS)
      return {};
    return Status(StatusCode::cuda_error, "cublasDgemm failed");
  }

 private:
  decltype(&cublasDestroy_v2) destroy_ = nullptr;
  decltype(&cublasDgemm_v2_64) dgemm_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  std::string name_;
};

// Launches one step of a product alone.
class StepLauncher final : public Launcher {
 public:
  StepLauncher(cudaStream_t stream, int step) : stream_(stream), step_(step) {}
  Status describe(DeviceDescription* device) noexcept override { return stream_.describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return stream_.make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    return at_++ == step_ ? stream_.launch(launch) : Status();
  }

 private:
  CudaLauncher stream_;
  int step_, at_ = 0;
};

// Calls f(begin, end) for parts of [0, count) on all cores.
template <class F>
void in_parallel(std::size_t count, const F& f) {
  const std::size_t parts = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < parts; ++i)
    threads.emplace_back([&, i] { f(count * i / parts, count * (i + 1) / parts); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<double> draw(std::int64_t count, double phi, unsigned seed) {
  std::vector<double> x(static_cast<std::size_t>(count));
  in_parallel(x.size(), [&](std::size_t begin, std::size_t end) {
    std::mt19937_64 random(seed + 16 * begin);
    std::normal_distribution<double> normal;
    for (std::size_t i = begin; i < end; ++i) {
      const double value = normal(random);
      x[i] = phi == 0 ? value : value * std::exp(phi * normal(random));
    }
  });
  return x;
}

// Errors of sampled elements. relative_to_terms: the largest, over the sum of the magnitudes of the products.
struct Errors {
  double largest = 0, relative_to_terms = 0, median_relative = 0;
};

class Comparator {
 public:
  explicit Comparator(const Options& options)
      : options_(options), stopwatch_(0), machine_(describe_machine(0)), cublas_(stopwatch_.stream()) {}

  void run(const Shape& shape, std::vector<Record>* records) {
    prepare(shape);
    std::printf("%lld x %lld x %lld %s, phi %g\n", static_cast<long long>(shape.m),
                static_cast<long long>(shape.n), static_cast<long long>(shape.k), options_.layout.c_str(),
                options_.phi);
    Contender dgemm = contender(cublas_.name());
    dgemm.enqueue = [this](cudaStream_t, int) { return cublas_.run(problem_); };
    const Errors errors = errors_of(dgemm);
    const Figure burst = stopwatch_.burst(dgemm, protocol_);
    const Figure sustained = options_.burst_only ? Figure{} : stopwatch_.sustained(dgemm, protocol_);
    print(dgemm.name, burst, sustained, errors, burst, sustained);
    for (const int slices : options_.slices) {
      SlicedGemm problem = problem_;
      problem.slices = slices;
      problem.workspace_bytes = workspace_size(problem);
      problem.workspace = workspace_.reserve(problem.workspace_bytes);
      Contender ours = contender(std::to_string(slices) + " slices");
      ours.enqueue = [problem](cudaStream_t stream, int) { return gemm(problem, stream); };
      Record record;
      const Errors of_ours = errors_of(ours);
      const Figure our_burst = stopwatch_.burst(ours, protocol_);
      const Figure our_sustained = options_.burst_only ? Figure{} : stopwatch_.sustained(ours, protocol_);
      print(ours.name, our_burst, our_sustained, of_ours, burst, sustained);
      if (options_.steps) time_steps(problem);
      const Figure& stored = options_.burst_only ? our_burst : our_sustained;
      record.benchmark = options_.phi == 0 ? "slices" : "slices phi " + std::to_string(options_.phi);
      record.shape = shape;
      record.types = "f64", record.layout = options_.layout, record.kernel = ours.name;
      record.tflops_burst = our_burst.tflops, record.tflops_sustained = our_sustained.tflops;
      record.reference = cublas_.name();
      record.reference_tflops_burst = burst.tflops, record.reference_tflops_sustained = sustained.tflops;
      record.sm_mhz = stored.sm_mhz, record.watts = stored.watts;
      record.max_error = of_ours.largest, record.error_bound = errors.largest;  // that of DGEMM
      record.commit = options_.commit, record.machine = machine_.name, record.toolkit = machine_.toolkit;
      record.date = today();
      record.odd = our_burst.odd.empty() ? our_sustained.odd : our_burst.odd;
      records->push_back(record);
    }
  }

 private:
  static constexpr int samples = 48;  // rows, and columns

  Contender contender(std::string name) const {
    Contender c;
    c.name = std::move(name);
    c.flop = 2.0 * static_cast<double>(shape_.m * shape_.n * shape_.k);
    return c;
  }

  static void print(const std::string& name, const Figure& burst, const Figure& sustained,
                    const Errors& errors, const Figure& reference, const Figure& reference_sustained) {
    std::printf(
        "  %-28s %9.1f us  %6.2f TFLOP/s burst (%.3f)  %6.2f sustained (%.3f)  %4.0f MHz %3.0f W  error: "
        "%.2e of the terms, median relative %.2e  %s\n",
        name.c_str(), burst.microseconds, burst.tflops, burst.tflops / reference.tflops, sustained.tflops,
        reference_sustained.tflops > 0 ? sustained.tflops / reference_sustained.tflops : 0.0,
        sustained.sm_mhz, sustained.watts, errors.relative_to_terms, errors.median_relative,
        burst.odd.c_str());
    std::fflush(stdout);
  }

  void prepare(const Shape& shape) {
    shape_ = shape;
    a_ = draw(shape.m * shape.k, options_.phi, 1);
    b_ = draw(shape.n * shape.k, options_.phi, 2);
    problem_ = {};
    problem_.m = shape.m, problem_.n = shape.n, problem_.k = shape.k;
    const Order order_a = options_.layout[0] == 't' ? row_major : column_major,
                order_b = options_.layout[1] == 't' ? row_major : column_major;
    const auto upload = [](DeviceBuffer* to, const std::vector<double>& x) {
      to->reserve(8 * x.size());
      require(cudaMemcpy(to->data(), x.data(), 8 * x.size(), cudaMemcpyHostToDevice), "copying an operand");
      return static_cast<const double*>(to->data());
    };
    problem_.a = {upload(&device_a_, a_), order_a == row_major ? shape.k : shape.m, order_a};
    problem_.b = {upload(&device_b_, b_), order_b == row_major ? shape.n : shape.k, order_b};
    const std::size_t bytes = 8 * static_cast<std::size_t>(shape.m * shape.n);
    problem_.c = {static_cast<double*>(c_.reserve(bytes)), shape.n};
    std::mt19937_64 random(3);
    rows_.resize(samples), columns_.resize(samples);
    for (auto& row : rows_) row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.m));
    for (auto& column : columns_)
      column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.n));
    exact_.assign(samples * samples, {});
    in_parallel(exact_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) exact_[i] = exact(rows_[i / samples], columns_[i % samples]);
    });
  }

  double a_at(std::int64_t row, std::int64_t k) const {
    return a_[static_cast<std::size_t>(problem_.a.order == row_major ? row * shape_.k + k
                                                                     : k * shape_.m + row)];
  }
  double b_at(std::int64_t k, std::int64_t column) const {
    return b_[static_cast<std::size_t>(problem_.b.order == row_major ? k * shape_.n + column
                                                                     : column * shape_.k + k)];
  }

  // An element in twice the precision, and the sum of the magnitudes of its products.
  struct Exact {
    double high = 0, low = 0, terms = 0;
  };
  Exact exact(std::int64_t row, std::int64_t column) const {
    Exact e;
    for (std::int64_t k = 0; k < shape_.k; ++k) {
      const double x = a_at(row, k), y = b_at(k, column), product = x * y;
      const double sum = e.high + product, of_product = sum - e.high;
      const double error = (e.high - (sum - of_product)) + (product - of_product);
      e.low += error + std::fma(x, y, -product);
      e.high = sum;
      e.terms += std::fabs(product);
    }
    return e;
  }

  Errors errors_of(const Contender& c) {
    require(cudaMemset(c_.data(), 0xff, 8 * static_cast<std::size_t>(shape_.m * shape_.n)), "poisoning C");
    if (const Status s = c.enqueue(stopwatch_.stream(), 0); !s) throw Failure(s.message());
    require(cudaStreamSynchronize(stopwatch_.stream()), "computing the product");
    Errors errors;
    std::vector<double> relative;
    std::vector<double> row(static_cast<std::size_t>(shape_.n));
    for (int i = 0; i < samples; ++i) {
      require(cudaMemcpy(row.data(), problem_.c.data + rows_[static_cast<std::size_t>(i)] * shape_.n,
                         8 * row.size(), cudaMemcpyDeviceToHost),
              "reading C");
      for (int j = 0; j < samples; ++j) {
        const Exact& e = exact_[static_cast<std::size_t>(i * samples + j)];
        const double got = row[static_cast<std::size_t>(columns_[static_cast<std::size_t>(j)])];
        const double error = std::fabs((got - e.high) - e.low);
        if (!(error <= 1e300)) throw Failure(c.name + " computed a number that is not finite");
        errors.largest = std::max(errors.largest, error);
        errors.relative_to_terms = std::max(errors.relative_to_terms, error / e.terms);
        relative.push_back(error / std::fabs(e.high));
      }
    }
    std::nth_element(relative.begin(), relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2),
                     relative.end());
    errors.median_relative = relative[relative.size() / 2];
    return errors;
  }

  void time_steps(const SlicedGemm& problem) {
    const char* const names[] = {"shifts", "residues", "product", "combine"};
    for (int step = 0; step < 4; ++step) {
      Contender c = contender(names[step]);
      if (step == 2) c.flop *= problem.slices;
      c.enqueue = [&](cudaStream_t stream, int) {
        StepLauncher launcher(stream, step);
        return gemm(launcher, problem);
      };
      const Figure figure = stopwatch_.burst(c, protocol_);
      std::printf("    %-10s %9.1f us", names[step], figure.microseconds);
      if (step == 2) std::printf("  %.0f TOP/s burst", figure.tflops);
      std::printf("\n");
    }
  }

  const Options& options_;
  Protocol protocol_;
  Stopwatch stopwatch_;
  Machine machine_;
  CublasF64 cublas_;
  DeviceBuffer device_a_, device_b_, c_, workspace_;
  Shape shape_;
  SlicedGemm problem_;
  std::vector<double> a_, b_;
  std::vector<std::int64_t> rows_, columns_;
  std::vector<Exact> exact_;
};

int run(const Options& options, const std::vector<Shape>& shapes) {
  std::vector<Record> records;
  Comparator comparator(options);
  for (const Shape& shape : shapes) comparator.run(shape, &records);
  if (!options.json.empty()) write_json(options.json, records);
  return 0;
}

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times products of f64 by int8 slices beside cuBLAS's DGEMM, and compares their errors",
               "tenon_slices_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_slices_benchmark --json slices.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "  tenon_slices_benchmark --shapes 8192:8192:8192 --slices 15 --phi 0.5 --steps\n"
      "Exit status: 0 measured, 2 bad usage, 3 no GPU, no cuBLAS, a result that is not finite, or standard "
      "output cannot be written.");
  app.add_option("--shapes", options.shapes, "m:n:k, several after each other")->delimiter(',');
  app.add_option("--slices", options.slices, "4 to 16, several after each other")
      ->delimiter(',')
      ->check(CLI::Range(tenon::least_slices, tenon::most_slices));
  app.add_option("--layout", options.layout, "tn, nn, tt or nt")
      ->check(CLI::IsMember({"tn", "nn", "tt", "nt"}));
  app.add_option("--phi", options.phi, "elements are N(0,1) e^(phi N(0,1))")->check(CLI::Range(0.0, 10.0));
  app.add_flag("--steps", options.steps, "the time of each step, too");
  app.add_flag("--burst-only", options.burst_only, "no sustained runs");
  app.add_option("--json", options.json, "file for the records");
  app.add_option("--commit", options.commit, "commit to store with them");
  std::vector<Shape> shapes;
  try {
    parse(app, argc, argv);
    for (const std::string& text : options.shapes) shapes.push_back(parse(text));
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "tenon_slices_benchmark: %s\n", failure.what());
    return 2;
  }
  if (const std::string why = options.json.empty() ? "" : unwritable(options.json); !why.empty()) {
    std::fprintf(stderr, "tenon_slices_benchmark: --json: %s\n", why.c_str());
    return 2;
  }
  if (!has_gpu("tenon_slices_benchmark")) return 3;
  try {
    const int status = run(options, shapes);
    const std::string lost = lost_standard_output();
    if (lost.empty()) return status;
    std::fprintf(stderr, "tenon_slices_benchmark: %s\n", lost.c_str());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_slices_benchmark: %s\n", error.what());
    return 3;
  }
}
