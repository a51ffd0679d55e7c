// Batches of products against cuBLAS's entry points for batches, in one process, checked and timed: each case
// with its operands in the L2 (hot), and with operands that rotate through more than twice the L2 (cold).
//
// Launches of this library overlap the grid before them where they can (programmatic dependent launch), which
// cuBLAS's do not. Back to back that helps; behind a kernel of another program it may not. So each kernel is
// measured with and without.
#include <algorithm>

#include "gemm/batched_kernels.hpp"
#include "host/cuda_launcher.hpp"
#include "host/error_bound.hpp"
#include "host/gemm_batched_on.hpp"
#include "microbench/comparison_main.hpp"
#include "microbench/cublas_batched.hpp"

namespace tenon::microbench {
namespace {

struct Options : ComparisonOptions {
  // The cases of the suite: count, then m, n and k.
  std::vector<std::string> batches = {"1000:64:64:64", "4096:32:32:32", "1000:16:16:16", "256:128:128:128",
                                      "1000:256:256:256"};
  std::vector<std::string> types = {"f16"};
  std::string layout = "tn";
};

struct Case {
  Types types;
  Layout layout;
  Shape shape;
  std::int64_t count;
  double flop() const { return 2.0 * static_cast<double>(count * shape.m * shape.n * shape.k); }
};

// "1000:64:64:64"
Case parse(const std::string& text) {
  Case c{};
  long long count = 0, m = 0, n = 0, k = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%lld:%lld:%lld:%lld%n", &count, &m, &n, &k, &end) != 4 ||
      text[static_cast<std::size_t>(end)] != '\0' || std::min({count, m, n, k}) < 1 ||
      std::max({count, m, n, k}) > 1000000) {
    throw Failure("batch '" + text + "': count:m:n:k is needed, each from 1 to 1000000");
  }
  c.count = count;
  c.shape.m = m, c.shape.n = n, c.shape.k = k;
  return c;
}

// A stream whose launches wait for all of the grid before them.
class SeparateLauncher final : public Launcher {
 public:
  explicit SeparateLauncher(cudaStream_t stream) : stream_(stream) {}
  Status describe(DeviceDescription* device) noexcept override { return stream_.describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return stream_.make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    Launch separate = launch;
    separate.overlaps_previous = false;
    return stream_.launch(separate);
  }

 private:
  CudaLauncher stream_;
};

class Comparator {
 public:
  explicit Comparator(const Options& options)
      : options_(options),
        timer_(false),
        library_(timer_.stream(), workspace_.reserve(CublasBatched::workspace_bytes)) {
    require(cudaDeviceGetAttribute(&l2_bytes_, cudaDevAttrL2CacheSize, 0), "asking the device");
  }

  void run(const Case& c, std::vector<Record>* records) {
    case_ = c;
    prepare();
    std::printf("%lld x %lld x %lld x %lld %s %s\n", static_cast<long long>(c.count),
                static_cast<long long>(c.shape.m), static_cast<long long>(c.shape.n),
                static_cast<long long>(c.shape.k), name(c.types).c_str(), name(c.layout).c_str());
    std::vector<std::string> names;
    for (const BatchedKernel& kernel : batched_kernels()) {
      BatchedGemm named = batch(0);
      named.problem.kernel = kernel.name.c_str();
      if (options_.every_kernel && can_implement(named)) names.push_back(kernel.name);
    }
    if (names.empty()) names.emplace_back(kernel_name(batch(0)));
    for (const bool cold : {false, true}) {
      const Reference reference = best_reference(cold);
      for (const std::string& kernel : names) {
        for (const bool overlaps : {true, false}) {
          if (!overlaps && !find_batched_kernel(kernel)->overlaps_previous) continue;
          measure(kernel, overlaps, cold, reference, records);
        }
      }
    }
  }

 private:
  struct Reference {
    std::string name;
    Figure figure;
  };

  std::size_t bytes_of_a() const {
    return aligned(case_.count * case_.shape.m * case_.shape.k, case_.types.input);
  }
  std::size_t bytes_of_b() const {
    return aligned(case_.count * case_.shape.n * case_.shape.k, case_.types.input);
  }
  std::size_t bytes_of_c() const {
    return aligned(case_.count * case_.shape.m * case_.shape.n, case_.types.output);
  }
  static std::size_t aligned(std::int64_t elements, Type type) {
    return (static_cast<std::size_t>(elements) * bytes(type) + 255) / 256 * 256;
  }
  std::size_t set_bytes() const { return bytes_of_a() + bytes_of_b() + bytes_of_c(); }

  // The dense batch with the operands of a set.
  BatchedGemm batch(int set) const {
    const Shape& s = case_.shape;
    char* const base = static_cast<char*>(operands_.data()) + static_cast<std::size_t>(set) * set_bytes();
    BatchedGemm b;
    b.problem.m = s.m, b.problem.n = s.n, b.problem.k = s.k;
    b.problem.a = {base, case_.layout.a == row_major ? s.k : s.m, case_.layout.a, case_.types.input};
    b.problem.b = {base + bytes_of_a(), case_.layout.b == row_major ? s.n : s.k, case_.layout.b,
                   case_.types.input};
    b.problem.c = {base + bytes_of_a() + bytes_of_b(), s.n, case_.types.output};
    b.count = case_.count;
    b.stride_a = s.m * s.k, b.stride_b = s.n * s.k, b.stride_c = s.m * s.n;
    return b;
  }

  // Draws the operands, writes the lists of pointers, and computes the expected result, in f32 by cuBLAS.
  void prepare() {
    sets_ = static_cast<int>(2 * static_cast<std::size_t>(l2_bytes_) / set_bytes()) + 2;
    operands_.reserve(set_bytes() * static_cast<std::size_t>(sets_));
    const cudaStream_t stream = timer_.stream();
    const auto count = static_cast<std::size_t>(case_.count);
    std::vector<const void*> pointers(3 * count * static_cast<std::size_t>(sets_));
    for (int set = 0; set < sets_; ++set) {
      const BatchedGemm b = batch(set);
      const Gemm& p = b.problem;
      fill_normal(const_cast<void*>(p.a.data), p.a.type, 1, case_.count * b.stride_a,
                  case_.count * b.stride_a, 1, stream);
      fill_normal(const_cast<void*>(p.b.data), p.b.type, 1, case_.count * b.stride_b,
                  case_.count * b.stride_b, 2, stream);
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](const void* first, std::int64_t stride, Type type) {
          return static_cast<const char*>(first) + i * static_cast<std::size_t>(stride) * bytes(type);
        };
        const std::size_t of_set = 3 * count * static_cast<std::size_t>(set);
        pointers[of_set + i] = at(p.a.data, b.stride_a, p.a.type);
        pointers[of_set + count + i] = at(p.b.data, b.stride_b, p.b.type);
        pointers[of_set + 2 * count + i] = at(p.c.data, b.stride_c, p.c.type);
      }
    }
    lists_.reserve(pointers.size() * sizeof(void*));
    require(
        cudaMemcpy(lists_.data(), pointers.data(), pointers.size() * sizeof(void*), cudaMemcpyHostToDevice),
        "copying the lists of pointers");
    expected_.reserve(static_cast<std::size_t>(case_.count * case_.shape.m * case_.shape.n) * sizeof(float));
    BatchedGemm exact = batch(0);
    exact.problem.c = {expected_.data(), case_.shape.n, Type::f32};
    if (const Status s = library_.run(CublasBatched::Entry::strided, exact, nullptr, nullptr, nullptr); !s)
      throw Failure(s.message());
    require(cudaStreamSynchronize(stream), "computing the expected result");
  }

  Contender contender(std::string name, bool cold) const {
    Contender c;
    c.name = std::move(name);
    c.flop = case_.flop();
    c.rotation = cold ? sets_ : 1;
    return c;
  }

  // The fastest entry in bursts, measured once more.
  Reference best_reference(bool cold) {
    Reference best;
    for (const CublasBatched::Entry entry : CublasBatched::entries) {
      if (!CublasBatched::offers(entry, batch(0).problem)) continue;
      Contender c = contender(CublasBatched::name(entry), cold);
      c.enqueue = [&, entry](cudaStream_t, int iteration) {
        const int set = cold ? iteration % sets_ : 0;
        auto* const lists = static_cast<const void* const*>(lists_.data()) + 3 * case_.count * set;
        return library_.run(entry, batch(set), lists, lists + case_.count,
                            const_cast<void* const*>(lists + 2 * case_.count));
      };
      const Figure figure = timer_.burst(c);
      std::printf("  %-4s %-58s %8.2f us\n", cold ? "cold" : "hot", c.name.c_str(), figure.microseconds);
      if (best.name.empty() || figure.microseconds < best.figure.microseconds) best = {c.name, figure};
    }
    return best;
  }

  void measure(const std::string& kernel, bool overlaps, bool cold, const Reference& reference,
               std::vector<Record>* records) {
    Contender c = contender(kernel + (overlaps ? "" : " (separate launches)"), cold);
    c.enqueue = [&](cudaStream_t stream, int iteration) {
      BatchedGemm named = batch(cold ? iteration % sets_ : 0);
      named.problem.kernel = kernel.c_str();
      if (overlaps) return gemm_batched(named, stream);
      SeparateLauncher launcher(stream);
      return gemm_batched(launcher, named);
    };
    const Gemm first = batch(0).problem;
    poison(first.c.data, first.c.type, bytes_of_c(), timer_.stream());
    if (const Status s = c.enqueue(timer_.stream(), 0); !s) throw Failure(s.message());
    const double relative = unit_roundoff(case_.types.output),
                 absolute = 2 * accumulation_bound(case_.types, case_.shape.k);
    const Comparison comparison =
        compare(first.c.data, first.c.type, case_.shape.n, expected_.data(), case_.count * case_.shape.m,
                case_.shape.n, relative, absolute, timer_.stream());
    const Figure figure = timer_.burst(c);
    std::printf("  %-4s %-58s %8.2f us, %5.2f times %s, %.0f GB/s, wrong %llu %s\n", cold ? "cold" : "hot",
                c.name.c_str(), figure.microseconds, reference.figure.microseconds / figure.microseconds,
                reference.name.c_str(), static_cast<double>(set_bytes()) * 1e-3 / figure.microseconds,
                comparison.wrong, figure.odd.c_str());
    std::fflush(stdout);
    Record record =
        timer_.record({figure, {}}, {reference.figure, {}}, comparison, relative, absolute, options_.commit);
    record.benchmark = cold ? "batched_cold" : "batched";
    record.shape = case_.shape;
    record.batch = static_cast<int>(case_.count);
    record.types = name(case_.types), record.layout = name(case_.layout);
    record.kernel = c.name;
    record.reference = library_.version() + " " + reference.name;
    records->push_back(record);
  }

  const Options& options_;
  ComparisonTimer timer_;
  DeviceBuffer workspace_;
  CublasBatched library_;
  DeviceBuffer operands_, lists_, expected_;
  Case case_{};
  int sets_ = 1, l2_bytes_ = 0;
};

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times batches of products beside cuBLAS's entry points for batches",
               "tenon_batched_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_batched_benchmark --json batched.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "  tenon_batched_benchmark --batches 500:48:40:64 --types bf16 --layout nn --every-kernel\n"
      "Exit status: 0 measured, 1 a result is wrong, 2 bad usage, 3 no GPU or no cuBLAS, or standard output "
      "cannot be written.");
  app.add_option("--batches", options.batches, "count:m:n:k, several after each other")->delimiter(',');
  app.add_option("--types", options.types, "f16, bf16, or with the type of C: f16_f32_f32")->delimiter(',');
  app.add_option("--layout", options.layout, "tn, nn, tt or nt")
      ->check(CLI::IsMember({"tn", "nn", "tt", "nt"}));
  add_comparison_options(app, &options, false);
  std::vector<Case> cases;
  app.callback([&] {
    try {
      for (const std::string& types : options.types) {
        for (const Types& parsed : parse_types(types)) {
          for (const std::string& text : options.batches) {
            cases.push_back(parse(text));
            cases.back().types = parsed;
            cases.back().layout = parse_layouts(options.layout).front();
          }
        }
      }
    } catch (const Failure& failure) {
      throw CLI::ValidationError(failure.what());
    }
  });
  return run_comparison(app, argc, argv, options, [&](std::vector<Record>* records) {
    Comparator comparator(options);
    for (const Case& c : cases) comparator.run(c, records);
  });
}
