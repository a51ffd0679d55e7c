// Grouped products against cuBLASLt, one launch a group, in one process and by the protocol of measure.hpp.
// The reference is the fastest in idle bursts of cuBLASLt's first eight answers, the same for every group.
// Every result is compared with cuBLASLt's, on a poisoned C, before it is timed.
#include <algorithm>
#include <memory>
#include <random>

#include "microbench/comparison_main.hpp"
#include "microbench/cublaslt.hpp"
#include "tenon/gemm_grouped.hpp"

namespace tenon::microbench {
namespace {

struct Options : ComparisonOptions {
  std::vector<std::string> types = {"bf16"};
};

// rows: of each group. cold: operands rotate over more than twice the L2.
struct Case {
  const char* name;
  GroupLayout layout;
  std::vector<int> rows;
  int n, k;
  bool cold;
};

std::vector<int> random_rows(int groups, int most) {
  std::mt19937 random(7);
  std::vector<int> rows;
  for (int g = 0; g < groups; ++g)
    rows.push_back(1 + static_cast<int>(random() % static_cast<unsigned>(most)));
  return rows;
}

std::vector<Case> all_cases() {
  const auto equal = [](int groups, int rows) {
    return std::vector<int>(static_cast<std::size_t>(groups), rows);
  };
  std::vector<Case> cases;
  constexpr GroupLayout contiguous = GroupLayout::contiguous, masked = GroupLayout::masked;
  cases.push_back({"4 x 8192", contiguous, equal(4, 8192), 4096, 7168, false});
  cases.push_back({"4 x 8192", contiguous, equal(4, 8192), 7168, 2048, false});
  cases.push_back({"8 x 4096", contiguous, equal(8, 4096), 4096, 7168, false});
  cases.push_back({"32 x 256", contiguous, equal(32, 256), 4096, 7168, false});
  cases.push_back({"32 x 256", contiguous, equal(32, 256), 7168, 2048, false});
  cases.push_back({"64 of 1 to 512", contiguous, random_rows(64, 512), 4096, 4096, false});
  for (const int groups : {1, 2, 4}) {
    cases.push_back({"masked, cold", masked, equal(groups, 1024 / groups), 4096, 7168, true});
    cases.push_back({"masked, cold", masked, equal(groups, 1024 / groups), 7168, 2048, true});
  }
  return cases;
}

class Comparator {
 public:
  explicit Comparator(const Options& options) : options_(options), timer_(options.sustained) {
    workspace_.reserve(CublasLtGemm::workspace_bytes);
  }

  void run(const Case& x, Type type, std::vector<Record>* records) {
    const std::int64_t n = x.n, k = x.k, groups = static_cast<std::int64_t>(x.rows.size());
    const std::int64_t capacity = *std::max_element(x.rows.begin(), x.rows.end());
    std::vector<std::int32_t> words{0}, first;
    for (const int rows : x.rows) first.push_back(words.back()), words.push_back(words.back() + rows);
    const std::int64_t m = words.back();  // masked groups are full here: then A has as many rows
    if (x.layout == GroupLayout::masked) words.assign(x.rows.begin(), x.rows.end());
    const std::size_t element = bytes(type);
    const std::int64_t set_bytes = (m * k + groups * n * k) * static_cast<std::int64_t>(element);
    const int sets = x.cold ? static_cast<int>(cold_bytes / set_bytes) + 2 : 1;
    a_.reserve(static_cast<std::size_t>(sets * m * k) * element);
    b_.reserve(static_cast<std::size_t>(sets * groups * n * k) * element);
    c_.reserve(static_cast<std::size_t>(m * n) * element);
    expected_.reserve(static_cast<std::size_t>(m * n) * element);
    as_f32_.reserve(static_cast<std::size_t>(m * n) * sizeof(float));
    sizes_.reserve(words.size() * sizeof(std::int32_t));
    fill_normal(a_.data(), type, sets * m, k, k, 1, timer_.stream());
    fill_normal(b_.data(), type, sets * groups * n, k, k, 2, timer_.stream());
    require(
        cudaMemcpy(sizes_.data(), words.data(), words.size() * sizeof(std::int32_t), cudaMemcpyHostToDevice),
        "cudaMemcpy");
    const auto offset = [element](const DeviceBuffer& buffer, std::int64_t elements) {
      return static_cast<char*>(buffer.data()) + static_cast<std::size_t>(elements) * element;
    };

    GroupedGemm problem;
    problem.layout = x.layout, problem.groups = groups, problem.n = n, problem.k = k;
    problem.m = x.layout == GroupLayout::masked ? capacity : m;
    problem.b_stride = n * k;
    problem.sizes = static_cast<const std::int32_t*>(sizes_.data());
    const auto with_set = [=](GroupedGemm p, int set) {
      p.a = {offset(a_, set * m * k), k, row_major, type};
      p.b = {offset(b_, set * groups * n * k), k, column_major, type};
      p.c = {c_.data(), n, type};
      return p;
    };
    problem = with_set(problem, 0);
    Contender contender;
    contender.flop = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    contender.rotation = sets;

    // cuBLASLt: the group's own description, since its rows are its own.
    std::vector<std::unique_ptr<CublasLtGemm>> references;
    int answers = CublasLtGemm::max_answers;
    for (std::int64_t g = 0; g < groups; ++g) {
      Gemm one;
      one.m = x.rows[static_cast<std::size_t>(g)], one.n = n, one.k = k;
      one.a = problem.a, one.b = problem.b, one.c = problem.c;
      references.push_back(std::make_unique<CublasLtGemm>(library_, one, workspace_.data()));
      answers = std::min(answers, references.back()->answers());
    }
    const auto reference = [&](int answer) {
      Contender result = contender;
      result.enqueue = [&, answer](cudaStream_t stream, int iteration) {
        const int set = iteration % sets;
        for (std::int64_t g = 0; g < groups; ++g) {
          const std::int64_t row = first[static_cast<std::size_t>(g)];
          const Status s = references[static_cast<std::size_t>(g)]->run(
              answer, offset(a_, (set * m + row) * k), offset(b_, (set * groups + g) * n * k),
              offset(expected_, row * n), stream);
          if (!s) return s;
        }
        return Status();
      };
      return result;
    };
    const PickedAnswer best = timer_.pick(answers, reference);

    std::vector<std::string> names = {kernel_name(problem)};
    for (int i = 0; const char* name = options_.every_kernel ? grouped_kernel_name(i) : nullptr; ++i) {
      GroupedGemm named = problem;
      named.kernel = name;
      if (name != names[0] && can_implement(named)) names.emplace_back(name);
    }
    for (const std::string& name : names) {
      problem.kernel = name.c_str();
      contender.enqueue = [&](cudaStream_t stream, int iteration) {
        return gemm_grouped(with_set(problem, iteration % sets), stream);
      };
      poison(c_.data(), type, static_cast<std::size_t>(m * n) * element, timer_.stream());
      for (const Status& s :
           {reference(best.answer).enqueue(timer_.stream(), 0), contender.enqueue(timer_.stream(), 0)}) {
        if (!s) throw Failure(s.message());
      }
      copy_as_f32(expected_.data(), type, m * n, static_cast<float*>(as_f32_.data()), timer_.stream());
      const Comparison comparison =
          compare(c_.data(), type, n, as_f32_.data(), m, n, tolerance(type), 0x1p-5, timer_.stream());
      const Timing ours = timer_.time(contender);
      std::printf("%-4s %-14s %5d %5d  %-42s %7.1f us  %4.0f / %4.0f  of cuBLASLt %.3f / %.3f  wrong %llu\n",
                  tenon::name(type), x.name, x.n, x.k, name.c_str(), ours.burst.microseconds,
                  ours.burst.tflops, ours.sustained.tflops, ratio(ours.burst, best.timing.burst),
                  ratio(ours.sustained, best.timing.sustained), comparison.wrong);
      std::fflush(stdout);
      Record record = timer_.record(ours, best.timing, comparison, tolerance(type), 0x1p-5, options_.commit);
      record.benchmark = "grouped";
      record.shape.m = m, record.shape.n = n, record.shape.k = k;
      record.batch = static_cast<int>(groups);
      record.types = std::string(tenon::name(type)) + "_f32_" + tenon::name(type);
      record.layout = std::string("tn ") + x.name;
      record.kernel = name;
      record.reference = "one launch a group: " + references[0]->describe(best.answer);
      records->push_back(record);
    }
  }

 private:
  // Two units in the last place: cuBLASLt rounds once, as tenon does, but adds up in another order.
  static double tolerance(Type type) { return type == Type::f16 ? 0x1p-9 : 0x1p-6; }
  static void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
  }

  const Options& options_;
  ComparisonTimer timer_;
  CublasLt library_;
  DeviceBuffer a_, b_, c_, expected_, as_f32_, sizes_, workspace_;
};

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times grouped products beside cuBLASLt, one launch a group", "tenon_grouped_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_grouped_benchmark --sustained --json grouped.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "  tenon_grouped_benchmark --types f16 bf16 --every-kernel\n"
      "Exit status: 0 done and correct, 1 wrong result, 2 bad usage, 3 no GPU or no cuBLASLt, or standard "
      "output cannot be written.");
  app.add_option("--types", options.types, "f16, bf16")->check(CLI::IsMember({"f16", "bf16"}));
  add_comparison_options(app, &options);
  return run_comparison(app, argc, argv, options, [&](std::vector<Record>* records) {
    Comparator comparator(options);
    for (const std::string& type : options.types) {
      for (const Case& x : all_cases())
        comparator.run(x, type == "f16" ? tenon::Type::f16 : tenon::Type::bf16, records);
    }
  });
}
