// Block-scaled fp8 (A 1 x 128, B 128 x 128), dense and grouped, against cuBLASLt with the same scales, in one
// process and by the protocol of measure.hpp: in bursts, sustained, and with operands that rotate over more
// than twice the L2 (cold). Groups are one launch each for cuBLASLt. Every result is compared with
// cuBLASLt's, on a poisoned C, before it is timed. Quantisation kernels stand beside a copy that moves as
// many bytes. time_deep_gemm.py measures DeepGEMM at the same products.
#include <algorithm>
#include <memory>
#include <random>

#include "gemm/scaled.hpp"
#include "microbench/comparison_main.hpp"
#include "microbench/cublaslt.hpp"
#include "tenon/gemm_grouped.hpp"
#include "tenon/gemm_scaled.hpp"
#include "tenon/quantize.hpp"

namespace tenon::microbench {
namespace {

struct Options : ComparisonOptions {
  int answers = CublasLtGemm::max_answers;
  std::vector<std::string> operations = {"dense", "grouped", "quantize"};
};

// A product, or groups of them. rows: of each group, a multiple of 4; one group is dense. cold: see above.
struct Case {
  const char* name;
  std::vector<int> rows;
  bool masked;
  int n, k;
  bool cold;
};

std::vector<Case> dense_cases() {
  std::vector<Case> cases;
  const std::pair<int, int> weights[] = {
      {2112, 7168}, {24576, 1536}, {7168, 16384}, {4096, 7168}, {7168, 2048}};
  for (const auto& [n, k] : weights) cases.push_back({"dense", {4096}, false, n, k, false});
  cases.push_back({"dense", {8192}, false, 8192, 8192, false});
  for (const int m : {64, 128})
    for (const auto& [n, k] : weights) cases.push_back({"dense", {m}, false, n, k, true});
  return cases;
}

std::vector<Case> grouped_cases() {
  const auto equal = [](int groups, int rows) {
    return std::vector<int>(static_cast<std::size_t>(groups), rows);
  };
  std::vector<Case> cases;
  cases.push_back({"4 x 8192", equal(4, 8192), false, 4096, 7168, false});
  cases.push_back({"4 x 8192", equal(4, 8192), false, 7168, 2048, false});
  cases.push_back({"8 x 4096", equal(8, 4096), false, 4096, 7168, false});
  cases.push_back({"32 x 256", equal(32, 256), false, 4096, 7168, false});
  cases.push_back({"32 x 256", equal(32, 256), false, 7168, 2048, false});
  for (const int groups : {1, 2, 4}) {
    cases.push_back({"masked", equal(groups, 1024 / groups), true, 4096, 7168, true});
    cases.push_back({"masked", equal(groups, 1024 / groups), true, 7168, 2048, true});
  }
  return cases;
}

class Comparator {
 public:
  explicit Comparator(const Options& options) : options_(options), timer_(options.sustained) {
    workspace_.reserve(CublasLtGemm::workspace_bytes);
  }

  void run(const Case& x, bool grouped, std::vector<Record>* records) {
    prepare(x);
    const PickedAnswer reference = pick_reference();
    if (grouped) {
      GroupedGemm problem = grouped_problem(0);
      std::vector<std::string> names = {kernel_name(problem)};
      for (int i = 0; const char* name = options_.every_kernel ? grouped_kernel_name(i) : nullptr; ++i) {
        problem.kernel = name;
        if (name != names[0] && can_implement(problem)) names.emplace_back(name);
      }
      for (const std::string& name : names) {
        measure(name, reference, records, [&](cudaStream_t stream, int iteration) {
          GroupedGemm p = grouped_problem(iteration % sets_);
          p.kernel = name.c_str();
          return gemm_grouped(p, stream);
        });
      }
    } else {
      std::vector<std::string> names = {kernel_name(dense_problem(0))};
      const ScaledKernels all = block_scaled_kernels();
      for (int i = 0; i < all.count && options_.every_kernel; ++i)
        if (all.kernels[i].name != names[0]) names.emplace_back(all.kernels[i].name);
      for (const std::string& name : names) {
        measure(name, reference, records, [&](cudaStream_t stream, int iteration) {
          ScaledGemm p = dense_problem(iteration % sets_);
          p.kernel = name.c_str();
          return gemm(p, stream);
        });
      }
    }
  }

  void run_quantize(ScaleBlocks blocks, const char* name, bool gated, std::vector<Record>* records) {
    constexpr std::int64_t rows = 8192, columns = 8192;
    constexpr std::size_t elements = rows * columns;
    a_.reserve(2 * elements), b_.reserve(2 * elements), c_.reserve(2 * elements);
    fill_normal(a_.data(), Type::bf16, rows, columns, columns, 1, timer_.stream());
    fill_normal(b_.data(), Type::bf16, rows, columns, columns, 2, timer_.stream());
    Quantize what;
    what.rows = rows, what.columns = columns;
    what.x = {a_.data(), columns, row_major, Type::bf16};
    if (gated) what.up = {b_.data(), columns, row_major, Type::bf16};
    what.q = {c_.data(), columns, Type::e4m3};
    what.blocks = blocks;
    what.scales = static_cast<float*>(scale_a_.reserve(elements / 128 * sizeof(float)));
    what.ld_scales = blocks == ScaleBlocks::block_128x128 ? columns / 128 : rows;
    const std::size_t moved = elements * (gated ? 5 : 3);
    Contender contender;
    contender.flop = static_cast<double>(moved);  // so that TFLOP/s are TB/s
    contender.enqueue = [&](cudaStream_t stream, int) { return quantize(what, stream); };
    const Timing ours = timer_.time(contender);
    expected_.reserve(moved / 2);
    as_f32_.reserve(moved / 2);
    contender.enqueue = [&](cudaStream_t stream, int) {
      const cudaError_t error =
          cudaMemcpyAsync(expected_.data(), as_f32_.data(), moved / 2, cudaMemcpyDeviceToDevice, stream);
      return error == cudaSuccess ? Status()
                                  : Status(StatusCode::cuda_error, "%s", cudaGetErrorString(error));
    };
    const Timing copy = timer_.time(contender);
    const std::string kernel = std::string(name) + (gated ? " of silu(x) * up" : "");
    std::printf("quantize 8192 x 8192 bf16 %-32s %7.1f us  %.2f TB/s  of a copy %.3f\n", kernel.c_str(),
                ours.burst.microseconds, ours.burst.tflops, ours.burst.tflops / copy.burst.tflops);
    std::fflush(stdout);
    Record record = timer_.record(ours, copy, {}, 0, 0, options_.commit);
    record.benchmark = "quantize";
    record.shape.m = rows, record.shape.n = columns, record.shape.k = 0;
    record.types = "bf16_e4m3", record.layout = "TB/s", record.kernel = kernel;
    record.reference = "cudaMemcpyAsync that moves as many bytes";
    record.flop_per_clk_per_sm = 0;
    records->push_back(record);
  }

 private:
  static constexpr double relative = 0x1p-6;  // of bf16: cuBLASLt rounds once too
  std::size_t groups() const { return x_->rows.size(); }
  std::int64_t blocks_k() const { return blocks_of_128(x_->k); }
  std::int64_t ld_scale_b() const { return (blocks_k() + 3) / 4 * 4; }
  std::int64_t scale_b_stride() const { return blocks_of_128(x_->n) * ld_scale_b(); }
  static char* offset(const DeviceBuffer& buffer, std::int64_t bytes) {
    return static_cast<char*>(buffer.data()) + bytes;
  }

  // Operands of every set, sizes, and the scales, which all sets share: they are short.
  void prepare(const Case& x) {
    x_ = &x;
    m_ = 0;
    first_.clear();
    for (const int rows : x.rows) first_.push_back(m_), m_ += rows;
    const std::int64_t n = x.n, k = x.k, all_n = n * static_cast<std::int64_t>(groups());
    sets_ = x.cold ? static_cast<int>(cold_bytes / ((m_ + all_n) * k)) + 2 : 1;
    a_.reserve(static_cast<std::size_t>(sets_ * m_ * k));
    b_.reserve(static_cast<std::size_t>(sets_ * all_n * k));
    fill_normal(a_.data(), Type::e4m3, sets_ * m_, k, k, 1, timer_.stream());
    fill_normal(b_.data(), Type::e4m3, sets_ * all_n, k, k, 2, timer_.stream());
    for (DeviceBuffer* result : {&c_, &expected_}) result->reserve(static_cast<std::size_t>(m_ * n) * 2);
    as_f32_.reserve(static_cast<std::size_t>(m_ * n) * sizeof(float));
    std::mt19937 random(3);
    const auto draw = [&] { return 0.5F + static_cast<float>(random() % 1024) / 1024; };
    std::vector<float> of_a(static_cast<std::size_t>(blocks_k() * m_)), packed(of_a.size());
    // cuBLASLt's scales of A have no leading dimension: each group has its own.
    for (std::size_t g = 0; g < groups(); ++g) {
      for (std::int64_t block = 0; block < blocks_k(); ++block) {
        for (std::int64_t row = 0; row < x.rows[g]; ++row) {
          const float scale = draw();
          of_a[static_cast<std::size_t>(block * m_ + first_[g] + row)] = scale;
          packed[static_cast<std::size_t>(blocks_k() * first_[g] + block * x.rows[g] + row)] = scale;
        }
      }
    }
    std::vector<float> of_b(groups() * static_cast<std::size_t>(scale_b_stride()));
    for (float& scale : of_b) scale = draw();
    upload(scale_a_, of_a), upload(packed_scale_a_, packed), upload(scale_b_, of_b);
    std::vector<std::int32_t> words(x.rows.begin(), x.rows.end());
    if (!x.masked) {
      words.assign(first_.begin(), first_.end());
      words.push_back(static_cast<std::int32_t>(m_));
    }
    upload(sizes_, words);
  }

  template <class T>
  static void upload(DeviceBuffer& to, const std::vector<T>& values) {
    to.reserve(values.size() * sizeof(T));
    require(cudaMemcpy(to.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
            "copying scales and sizes");
  }

  ScaledGemm dense_problem(int set) const {
    ScaledGemm p;
    p.m = m_, p.n = x_->n, p.k = x_->k;
    p.a = {offset(a_, set * p.m * p.k), p.k, row_major, Type::e4m3};
    p.b = {offset(b_, set * p.n * p.k), p.k, column_major, Type::e4m3};
    p.c = {c_.data(), p.n, Type::bf16};
    p.mode = ScaleMode::block_1x128_128x128;
    p.scale_a = {static_cast<const float*>(scale_a_.data()), m_};
    p.scale_b = {static_cast<const float*>(scale_b_.data()), ld_scale_b()};
    return p;
  }
  GroupedGemm grouped_problem(int set) const {
    const std::int64_t n = x_->n, k = x_->k, count = static_cast<std::int64_t>(groups());
    GroupedGemm p;
    p.layout = x_->masked ? GroupLayout::masked : GroupLayout::contiguous;
    p.groups = count, p.n = n, p.k = k;
    p.m = x_->masked ? x_->rows[0] : m_;  // masked groups are full and equal
    p.a = {offset(a_, set * m_ * k), k, row_major, Type::e4m3};
    p.b = {offset(b_, set * count * n * k), k, column_major, Type::e4m3};
    p.b_stride = n * k;
    p.c = {c_.data(), n, Type::bf16};
    p.scale_a = {static_cast<const float*>(scale_a_.data()), m_};
    p.scale_b = {static_cast<const float*>(scale_b_.data()), ld_scale_b()};
    p.scale_b_stride = scale_b_stride();
    p.sizes = static_cast<const std::int32_t*>(sizes_.data());
    return p;
  }

  Contender contender() const {
    Contender result;
    result.flop = 2.0 * static_cast<double>(m_) * static_cast<double>(x_->n) * static_cast<double>(x_->k);
    result.rotation = sets_;
    return result;
  }

  PickedAnswer pick_reference() {
    references_.clear();
    int answers = options_.answers;
    for (std::size_t g = 0; g < groups(); ++g) {
      Gemm one;
      one.m = x_->rows[g], one.n = x_->n, one.k = x_->k;
      const ScaledGemm all = dense_problem(0);
      one.a = all.a, one.b = all.b, one.c = all.c;
      one.promote = true;
      references_.push_back(std::make_unique<CublasLtGemm>(
          library_, one, workspace_.data(),
          static_cast<const float*>(packed_scale_a_.data()) + blocks_k() * first_[g],
          static_cast<const float*>(scale_b_.data()) + static_cast<std::int64_t>(g) * scale_b_stride()));
      answers = std::min(answers, references_.back()->answers());
    }
    const PickedAnswer best = timer_.pick(answers, [&](int answer) {
      Contender result = contender();
      result.enqueue = [this, answer](cudaStream_t stream, int iteration) {
        return run_reference(answer, iteration % sets_, stream);
      };
      return result;
    });
    return best;
  }
  Status run_reference(int answer, int set, cudaStream_t stream) const {
    const std::int64_t n = x_->n, k = x_->k, count = static_cast<std::int64_t>(groups());
    for (std::size_t g = 0; g < groups(); ++g) {
      const Status s = references_[g]->run(answer, offset(a_, (set * m_ + first_[g]) * k),
                                           offset(b_, (set * count + static_cast<std::int64_t>(g)) * n * k),
                                           offset(expected_, 2 * first_[g] * n), stream);
      if (!s) return s;
    }
    return {};
  }

  void measure(const std::string& name, const PickedAnswer& reference, std::vector<Record>* records,
               std::function<Status(cudaStream_t, int)> enqueue) {
    Contender ours = contender();
    ours.name = name;
    ours.enqueue = std::move(enqueue);
    const std::int64_t n = x_->n;
    poison(c_.data(), Type::bf16, static_cast<std::size_t>(m_ * n) * 2, timer_.stream());
    for (const Status& s :
         {run_reference(reference.answer, 0, timer_.stream()), ours.enqueue(timer_.stream(), 0)}) {
      if (!s) throw Failure(name + ": " + s.message());
    }
    copy_as_f32(expected_.data(), Type::bf16, m_ * n, static_cast<float*>(as_f32_.data()), timer_.stream());
    // A product of two scales is at most 2.25.
    Types types;
    types.input = types.input_b = Type::e4m3, types.promote = true;
    const double absolute = 2.25 * accumulation_bound(types, x_->k);
    const Comparison comparison =
        compare(c_.data(), Type::bf16, n, as_f32_.data(), m_, n, relative, absolute, timer_.stream());
    const Timing timing = timer_.time(ours);
    std::printf(
        "%-8s %2zu x %5d, %5d, %5d %-4s  %-38s %8.2f us  %4.0f / %4.0f  of cuBLASLt %.3f / %.3f  wrong "
        "%llu\n",
        x_->name, groups(), x_->rows[0], x_->n, x_->k, x_->cold ? "cold" : "", name.c_str(),
        timing.burst.microseconds, timing.burst.tflops, timing.sustained.tflops,
        ratio(timing.burst, reference.timing.burst), ratio(timing.sustained, reference.timing.sustained),
        comparison.wrong);
    std::fflush(stdout);
    Record record = timer_.record(timing, reference.timing, comparison, relative, absolute, options_.commit);
    record.benchmark = std::string("block_scaled") + (x_->cold ? "_cold" : "");
    record.shape.m = m_, record.shape.n = n, record.shape.k = x_->k;
    record.batch = static_cast<int>(groups());
    record.types = "e4m3_f32_bf16";
    record.layout = std::string("tn ") + x_->name;
    record.kernel = name;
    record.reference = (groups() > 1 ? "one launch a group: " : "") +
                       references_[0]->describe(reference.answer) + ", the same scales";
    records->push_back(record);
  }

  static void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
  }

  const Options& options_;
  ComparisonTimer timer_;
  CublasLt library_;
  DeviceBuffer a_, b_, c_, expected_, as_f32_, scale_a_, packed_scale_a_, scale_b_, sizes_, workspace_;
  std::vector<std::unique_ptr<CublasLtGemm>> references_;
  const Case* x_ = nullptr;
  std::vector<std::int64_t> first_;  // row of each group
  std::int64_t m_ = 0;
  int sets_ = 1;
};

void run(const Options& options, std::vector<Record>* records) {
  Comparator comparator(options);
  for (const std::string& operation : options.operations) {
    if (operation == "dense")
      for (const Case& x : dense_cases()) comparator.run(x, false, records);
    if (operation == "grouped")
      for (const Case& x : grouped_cases()) comparator.run(x, true, records);
    if (operation == "quantize") {
      for (const bool gated : {false, true}) {
        comparator.run_quantize(ScaleBlocks::per_tensor, "per_tensor", gated, records);
        comparator.run_quantize(ScaleBlocks::per_row, "per_row", gated, records);
        comparator.run_quantize(ScaleBlocks::block_1x128, "block_1x128", gated, records);
        comparator.run_quantize(ScaleBlocks::block_128x128, "block_128x128", gated, records);
      }
    }
  }
}

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times block-scaled fp8, dense and grouped, beside cuBLASLt, and quantisation beside a copy",
               "tenon_scaled_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_scaled_benchmark --sustained --json scaled.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "  tenon_scaled_benchmark --operations grouped --every-kernel\n"
      "  python3 time_deep_gemm.py --json deep_gemm.json        # DeepGEMM at the same products\n"
      "Exit status: 0 done and correct, 1 wrong result, 2 bad usage, 3 no GPU or no cuBLASLt, or standard "
      "output cannot be written.");
  app.add_option("--operations", options.operations, "dense, grouped, quantize")
      ->delimiter(',')
      ->check(CLI::IsMember({"dense", "grouped", "quantize"}));
  app.add_option("--answers", options.answers, "how many of cuBLASLt's answers are tried")
      ->check(CLI::Range(1, CublasLtGemm::max_answers));
  add_comparison_options(app, &options);
  return run_comparison(app, argc, argv, options,
                        [&](std::vector<Record>* records) { run(options, records); });
}
