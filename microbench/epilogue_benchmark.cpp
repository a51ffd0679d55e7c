// Fused epilogues (EpilogueOptions) against cuBLASLt's, and against tenon's own plain product, in one process
// and by the protocol of measure.hpp. The reference is the fastest in idle bursts of cuBLASLt's first eight
// answers; of gated pairs, which cuBLASLt does not have, its product and a kernel that reads 16 bytes a
// thread at a time. Every D is compared with the reference's before it is timed. Where the pre-activation is
// written, so is cuBLASLt's, with relu as one bit an element.
#include <cmath>

#include "gemm/kernel.hpp"
#include "microbench/comparison_main.hpp"
#include "microbench/cublaslt.hpp"

namespace tenon::microbench {
namespace {

struct Options : ComparisonOptions {
  std::vector<std::int64_t> shape = {8192, 8192, 4096};
  std::vector<std::string> types = {"f16", "bf16"};
};

// What stands around the product.
struct Fusion {
  const char* what;
  bool bias, residual;
  Activation activation;
  bool gated = false, aux = false;  // aux: the pre-activation is written

  bool has_aux() const { return aux || reads_aux(activation); }
};
constexpr Fusion fusions[] = {{"bias", true, false, Activation::none},
                              {"bias relu", true, false, Activation::relu},
                              {"bias gelu", true, false, Activation::gelu},
                              {"residual", false, true, Activation::none},
                              {"bias residual relu", true, true, Activation::relu},
                              {"SwiGLU", false, false, Activation::silu, true},
                              {"bias relu aux", true, false, Activation::relu, false, true},
                              {"bias gelu aux", true, false, Activation::gelu, false, true},
                              {"dgelu", false, false, Activation::dgelu},
                              {"SwiGLU aux", false, false, Activation::silu, true, true}};

class Comparator {
 public:
  explicit Comparator(const Options& options) : options_(options), timer_(options.sustained) {
    workspace_.reserve(CublasLtGemm::workspace_bytes);
  }

  void run(Type type, std::vector<Record>* records) {
    const std::int64_t m = options_.shape[0], n = options_.shape[1], k = options_.shape[2];
    const std::size_t element = bytes(type);
    const auto filled = [&](DeviceBuffer& buffer, std::int64_t rows, std::int64_t length,
                            std::uint64_t seed) {
      buffer.reserve(static_cast<std::size_t>(rows * length) * element);
      fill_normal(buffer.data(), type, rows, length, length, seed, timer_.stream());
    };
    filled(a_, m, k, 1);
    filled(b_, n, k, 2);
    filled(c_, m, n, 3);
    filled(bias_, 1, n, 4);
    d_.reserve(static_cast<std::size_t>(m * n) * element);
    expected_.reserve(static_cast<std::size_t>(m * n) * element);
    as_f32_.reserve(static_cast<std::size_t>(m * n) * sizeof(float));

    Gemm plain;
    plain.m = m, plain.n = n, plain.k = k;
    plain.a = {a_.data(), k, row_major, type};
    plain.b = {b_.data(), k, column_major, type};
    plain.c = {d_.data(), n, type};
    const Timing of_plain = timer_.time(contender(plain, kernel_name(plain)));
    std::printf("%s plain %s: %.0f / %.0f\n", name(type), kernel_name(plain), of_plain.burst.tflops,
                of_plain.sustained.tflops);

    for (const Fusion& fusion : fusions) {
      Gemm problem = plain;
      if (fusion.gated && n % 16 != 0) continue;
      if (fusion.has_aux() && n % 128 != 0) continue;  // cuBLASLt's leading dimension of bits
      problem.c = {c_.data(), n, type};
      problem.d = {d_.data(), fusion.gated ? n / 2 : n, type};
      problem.beta = fusion.residual ? 1.0F : 0.0F;
      if (fusion.bias) problem.epilogue.bias = {bias_.data(), type};
      problem.epilogue.activation = fusion.activation;
      problem.epilogue.gated = fusion.gated;
      if (fusion.has_aux()) {
        if (fusion.aux) aux_.reserve(static_cast<std::size_t>(m * n) * element);
        problem.epilogue.aux = {fusion.aux ? aux_.data() : c_.data(), n, type};
      }
      compare_with_cublaslt(problem, fusion, type, of_plain, records);
    }
  }

 private:
  Contender contender(const Gemm& problem, const std::string& kernel) const {
    Contender result;
    result.name = kernel;
    result.flop = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                  static_cast<double>(problem.k);
    result.enqueue = [problem](cudaStream_t stream, int) { return gemm(problem, stream); };
    return result;
  }

  void compare_with_cublaslt(const Gemm& problem, const Fusion& fusion, Type type, const Timing& of_plain,
                             std::vector<Record>* records) {
    Gemm asked = problem;  // of cuBLASLt
    if (fusion.aux && !fusion.gated) {
      product_.reserve(static_cast<std::size_t>(problem.m * problem.n) * bytes(type));
      asked.epilogue.aux.data = product_.data();
    }
    if (fusion.gated) {
      product_.reserve(static_cast<std::size_t>(problem.m * problem.n) * bytes(type));
      asked.c = {product_.data(), problem.n, type};
      asked.d = {};
      asked.epilogue = {};
    }
    const CublasLtGemm reference(library_, asked, workspace_.data());
    const auto reference_contender = [&](int answer, void* d) {
      Contender result = contender(problem, reference.describe(answer));
      result.enqueue = [&reference, answer, &problem, &fusion, type, product = product_.data(), d](
                           cudaStream_t stream, int) {
        if (!fusion.gated) return reference.run(answer, problem.a.data, problem.b.data, d, stream);
        const Status status = reference.run(answer, problem.a.data, problem.b.data, product, stream);
        if (status) gate_pairs(product, type, problem.m * problem.n, d, stream);
        return status;
      };
      return result;
    };
    const PickedAnswer best = timer_.pick(
        reference.answers(), [&](int answer) { return reference_contender(answer, expected_.data()); });

    std::vector<std::string> names = {kernel_name(problem)};
    for (const Kernel& kernel : kernels()) {
      if (!options_.every_kernel || !kernel.fused || kernel.name == names[0]) continue;
      Gemm named = problem;
      named.kernel = kernel.name.c_str();
      if (can_implement(named)) names.push_back(kernel.name);
    }
    for (const std::string& name : names) {
      Gemm named = problem;
      named.kernel = name.c_str();
      const Comparison comparison = check(named, type);
      const Timing ours = timer_.time(contender(named, name));
      std::printf(
          "%-4s %-18s %-46s %4.0f / %4.0f  of cuBLASLt %.3f / %.3f  of plain %.3f / %.3f  wrong %llu\n",
          tenon::name(type), fusion.what, name.c_str(), ours.burst.tflops, ours.sustained.tflops,
          ratio(ours.burst, best.timing.burst), ratio(ours.sustained, best.timing.sustained),
          ratio(ours.burst, of_plain.burst), ratio(ours.sustained, of_plain.sustained), comparison.wrong);
      std::fflush(stdout);
      Record record = timer_.record(ours, best.timing, comparison, tolerance(type), 0x1p-5, options_.commit);
      record.benchmark = "epilogue";
      record.shape.m = problem.m, record.shape.n = problem.n, record.shape.k = problem.k;
      record.types = std::string(tenon::name(type)) + "_f32_" + tenon::name(type);
      record.layout = std::string("tn ") + fusion.what;
      record.kernel = name;
      record.reference = reference.describe(best.answer);
      records->push_back(record);
    }
  }

  // Two units in the last place: cuBLASLt rounds once, as tenon does, but adds up in another order.
  static double tolerance(Type type) { return type == Type::f16 ? 0x1p-9 : 0x1p-6; }
  // Of the derivative, 2^-8. (On an H200 no result differed by more than a unit in the last place of the
  // largest ones: results/h200/epilogue.json.)
  static double dgelu_tolerance(std::int64_t k) { return 0x1p-8 * std::sqrt(static_cast<double>(k)); }
  Comparison check(const Gemm& problem, Type type) {
    const auto elements = static_cast<std::size_t>(problem.m * problem.n);
    poison(d_.data(), type, elements * bytes(type), timer_.stream());
    if (const Status s = gemm(problem, timer_.stream()); !s) throw Failure(s.message());
    const std::int64_t columns = problem.d.ld;
    copy_as_f32(expected_.data(), type, problem.m * columns, static_cast<float*>(as_f32_.data()),
                timer_.stream());
    // Of pairs, the reference rounds gate and value before it multiplies them. dgelu multiplies an element
    // of about sqrt(k) by a derivative: where that is near 0, its error is large beside the result.
    const double relative = tolerance(type) * (problem.epilogue.gated ? 4 : 1);
    const double absolute = problem.epilogue.gated                             ? relative * 64
                            : problem.epilogue.activation == Activation::dgelu ? dgelu_tolerance(problem.k)
                                                                               : 0x1p-5;
    return compare(d_.data(), type, columns, as_f32_.data(), problem.m, columns, relative, absolute,
                   timer_.stream());
  }

  const Options& options_;
  ComparisonTimer timer_;
  CublasLt library_;
  DeviceBuffer a_, b_, c_, bias_, d_, aux_, expected_, product_, as_f32_, workspace_;
};

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times fused epilogues beside cuBLASLt's and the plain product", "tenon_epilogue_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_epilogue_benchmark --sustained --json epilogue.json --commit \"$(git rev-parse --short "
      "HEAD)\"\n"
      "  tenon_epilogue_benchmark --shape 4096 4096 4096 --types bf16 --every-kernel\n"
      "Exit status: 0 done and correct, 1 wrong result, 2 bad usage, 3 no GPU or no cuBLASLt, or standard "
      "output cannot be written.");
  app.add_option("--shape", options.shape, "m n k")->expected(3);
  app.add_option("--types", options.types, "f16, bf16")->check(CLI::IsMember({"f16", "bf16"}));
  add_comparison_options(app, &options);
  return run_comparison(app, argc, argv, options, [&](std::vector<Record>* records) {
    Comparator comparator(options);
    for (const std::string& type : options.types)
      comparator.run(type == "f16" ? tenon::Type::f16 : tenon::Type::bf16, records);
  });
}
