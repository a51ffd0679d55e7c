#include "microbench/case_runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "host/error_bound.hpp"
#include "microbench/machine.hpp"
#include "microbench/statistics.hpp"

namespace tenon::microbench {
namespace {

// The types whose product, as it is, gives the expected result: s8, and f64, in which cuBLASLt errs as the
// kernels do.
bool expects_own_type(const Types& types) {
  return types.accumulate == Type::s32 || types.accumulate == Type::f64;
}

constexpr int device = 0;
constexpr std::size_t alignment = 256;
constexpr double reference_agreement = 0.03;

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t matrix_bytes(std::int64_t rows, std::int64_t ld, Type type) {
  return aligned(static_cast<std::size_t>(rows * ld) * bytes(type));
}

void report(const std::string& name, const char* kind, const Figure& figure) {
  std::fprintf(stderr, "  %-44s %-9s %7.1f (%.1f us, %.0f MHz, %.0f W) %s\n", name.c_str(), kind,
               figure.tflops, figure.microseconds, figure.sm_mhz, figure.watts, figure.odd.c_str());
}

}  // namespace

// What the candidates of one case share.
struct CaseRunner::Case {
  Types types;
  Layout layout;
  Shape shape;
  std::int64_t a_rows, b_rows;  // of contiguous elements: columns where the matrix is column-major
  std::size_t a_bytes, b_bytes, c_bytes;
  int sets = 1;                       // copies of the operands, used in rotation
  double absolute = 0, relative = 0;  // an element may be off by absolute + relative * |expected|

  std::size_t set_bytes() const { return a_bytes + b_bytes + c_bytes; }
  double flop() const {
    return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  }
};

CaseRunner::CaseRunner(const RunnerOptions& options) : options_(options), stopwatch_(device) {
  const Machine machine = describe_machine(device);
  machine_ = machine.name;
  toolkit_ = machine.toolkit;
  require(cudaDeviceGetAttribute(&l2_bytes_, cudaDevAttrL2CacheSize, device), "querying the device");
  reference_workspace_.reserve(CublasLtGemm::workspace_bytes);
  if (!stopwatch_.telemetry().trouble().empty()) {
    std::fprintf(stderr, "%s\n", stopwatch_.telemetry().trouble().c_str());
  }
}

Gemm CaseRunner::problem(const Case& c, int set) const {
  char* base = static_cast<char*>(operands_.data()) + static_cast<std::size_t>(set) * c.set_bytes();
  Gemm p;
  p.m = c.shape.m;
  p.n = c.shape.n;
  p.k = c.shape.k;
  p.a = {base, c.shape.lda, c.layout.a, c.types.input};
  p.b = {base + c.a_bytes, c.shape.ldb, c.layout.b, c.types.input_b};
  p.c = {base + c.a_bytes + c.b_bytes, c.shape.ldc, c.types.output};
  p.accumulate = c.types.accumulate;
  p.promote = c.types.promote;
  return p;
}

// The problem that computes the expected result: not rounded to the output type, accumulated in FP32 (s8 in
// s32, f64 in FP64). fp8 is multiplied as f16 and tf32 as f32, which hold the same numbers, so the expected
// result does not depend on how the tensor cores treat those types.
Gemm CaseRunner::exact_problem(const Case& c) {
  Gemm exact = problem(c, 0);
  exact.promote = false;
  exact.accumulate = expects_own_type(c.types) ? c.types.accumulate : Type::f32;
  exact.c = {expected_.data(), c.shape.n, exact.accumulate};
  if (c.types.input == Type::tf32) exact.a.type = exact.b.type = Type::f32;
  if (!is_fp8(c.types.input)) return exact;
  const std::int64_t a_count = c.a_rows * c.shape.lda, b_count = c.b_rows * c.shape.ldb;
  const std::size_t a_bytes = matrix_bytes(c.a_rows, c.shape.lda, Type::f16);
  char* halves =
      static_cast<char*>(halves_.reserve(a_bytes + matrix_bytes(c.b_rows, c.shape.ldb, Type::f16)));
  copy_as_f16(exact.a.data, exact.a.type, a_count, halves, stopwatch_.stream());
  copy_as_f16(exact.b.data, exact.b.type, b_count, halves + a_bytes, stopwatch_.stream());
  exact.a = {halves, c.shape.lda, c.layout.a, Type::f16};
  exact.b = {halves + a_bytes, c.shape.ldb, c.layout.b, Type::f16};
  return exact;
}

// Draws the operands and computes the expected result.
void CaseRunner::prepare(Case& c) {
  const Shape& s = c.shape;
  c.a_rows = c.layout.a == row_major ? s.m : s.k;
  c.b_rows = c.layout.b == row_major ? s.k : s.n;
  c.a_bytes = matrix_bytes(c.a_rows, s.lda, c.types.input);
  c.b_bytes = matrix_bytes(c.b_rows, s.ldb, c.types.input_b);
  c.c_bytes = matrix_bytes(s.m, s.ldc, c.types.output);
  if (options_.cold) c.sets = static_cast<int>(2 * static_cast<std::size_t>(l2_bytes_) / c.set_bytes()) + 2;
  if (c.types.output != Type::s32) {
    c.relative = unit_roundoff(c.types.output);
    c.absolute = accumulation_bound(c.types, s.k) +
                 (expects_own_type(c.types) ? 0.0 : accumulation_bound(Types{}, s.k));
  }
  operands_.reserve(c.set_bytes() * static_cast<std::size_t>(c.sets));
  expected_.reserve(static_cast<std::size_t>(s.m * s.n) *
                    bytes(expects_own_type(c.types) ? c.types.accumulate : Type::f32));
  const cudaStream_t stream = stopwatch_.stream();
  for (int set = 0; set < c.sets; ++set) {
    const Gemm p = problem(c, set);
    fill_normal(const_cast<void*>(p.a.data), p.a.type, c.a_rows, c.layout.a == row_major ? s.k : s.m, s.lda,
                1, stream);
    fill_normal(const_cast<void*>(p.b.data), p.b.type, c.b_rows, c.layout.b == row_major ? s.n : s.k, s.ldb,
                2, stream);
  }
  const Gemm exact = exact_problem(c);
  const CublasLtGemm gemm(cublaslt_, exact, reference_workspace_.data());
  if (const Status status = gemm.run(0, exact.a.data, exact.b.data, exact.c.data, stream); !status) {
    throw Failure(status.message());
  }
  require(cudaStreamSynchronize(stream), "computing the expected result");
}

Comparison CaseRunner::check(const Case& c, const Contender& contender) {
  const cudaStream_t stream = stopwatch_.stream();
  const Gemm p = problem(c, 0);
  poison(p.c.data, p.c.type, static_cast<std::size_t>(c.shape.m * c.shape.ldc) * bytes(p.c.type), stream);
  if (const Status status = contender.enqueue(stream, 0); !status) throw Failure(status.message());
  return compare(p.c.data, p.c.type, c.shape.ldc, expected_.data(), c.shape.m, c.shape.n, c.relative,
                 c.absolute, stream);
}

// Element by element, and by the criterion of host/error_statistics.hpp for all of C: one missing product
// changes the norm, but hides in an element that is rounded to 8 or 11 bits. The expected result is itself
// rounded as FP32 is.
bool CaseRunner::is_correct(const Case& c, const std::string& name, const Comparison& comparison) {
  const Types f32_types{Type::f32, Type::f32, Type::f32, Type::f32};
  const bool own_type = expects_own_type(c.types);
  const double allowed = c.relative + frobenius_bound(c.types, c.shape.k) +
                         (own_type ? 0.0 : frobenius_bound(f32_types, c.shape.k));
  const double allowed_bias =
      bias_bound(c.types, c.shape) + (own_type ? 0.0 : bias_bound(f32_types, c.shape));
  const bool every_element = comparison.wrong == 0 && comparison.overwritten == 0;
  if (every_element && comparison.relative_error <= allowed && std::fabs(comparison.bias) <= allowed_bias)
    return true;
  ++wrong_results_;
  std::fprintf(stderr,
               "  %-44s WRONG: %llu elements off (largest error %.3g, relative Frobenius error %.3g, allowed "
               "%.3g, bias %.3g, allowed %.3g), %llu elements beyond n overwritten\n",
               name.c_str(), comparison.wrong, comparison.max_error, comparison.relative_error, allowed,
               comparison.bias, allowed_bias, comparison.overwritten);
  return false;
}

Contender CaseRunner::reference_contender(const Case& c, const CublasLtGemm& reference, int answer) const {
  Contender contender;
  contender.name = "cuBLASLt #" + std::to_string(answer);
  contender.flop = c.flop();
  contender.rotation = c.sets;
  contender.enqueue = [this, &c, &reference, answer](cudaStream_t stream, int iteration) {
    const Gemm p = problem(c, iteration % c.sets);
    return reference.run(answer, p.a.data, p.b.data, p.c.data, stream);
  };
  return contender;
}

// The answer that is fastest in idle bursts: on a hot board a slower one can win by drawing less power. No
// answer is rejected for its rounding (a split-K answer may round twice), so that the reference is not
// handicapped.
int CaseRunner::pick(const Case& c, const CublasLtGemm& reference) {
  Protocol protocol = options_.protocol;
  protocol.bursts = options_.pick_bursts;
  int best = 0;
  double best_tflops = 0;
  for (int answer = 0; answer < reference.answers(); ++answer) {
    const double tflops = stopwatch_.burst(reference_contender(c, reference, answer), protocol).tflops;
    if (tflops > best_tflops) {
      best = answer;
      best_tflops = tflops;
    }
  }
  const Comparison comparison = check(c, reference_contender(c, reference, best));
  std::fprintf(stderr, "  %s: largest error %.3g, relative Frobenius error %.3g\n",
               reference.describe(best).c_str(), comparison.max_error, comparison.relative_error);
  return best;
}

// An odd figure is measured once more.
Figure CaseRunner::time(const Contender& contender, const Measurement& measurement) {
  Figure figure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    figure = (stopwatch_.*measurement.function)(contender, options_.protocol);
    if (figure.odd.empty()) break;
  }
  report(contender.name, measurement.name, figure);
  return figure;
}

// The candidate, if it takes the problem and computes it correctly.
std::optional<CaseRunner::Entrant> CaseRunner::enter(const Case& c, const Candidate& candidate) {
  const std::size_t workspace_bytes = candidate.workspace_size(problem(c, 0));
  workspace_.reserve(workspace_bytes);
  const auto with_workspace = [this, &c, workspace_bytes](int set) {
    Gemm p = problem(c, set);
    p.workspace = workspace_bytes > 0 ? workspace_.data() : nullptr;
    p.workspace_bytes = workspace_bytes;
    return p;
  };
  if (const Status status = candidate.can_implement(with_workspace(0)); !status) {
    std::fprintf(stderr, "  %-44s skipped: %s\n", candidate.name.c_str(), status.message());
    return std::nullopt;
  }
  Entrant entrant;
  entrant.contender.name = candidate.kernel(with_workspace(0));
  entrant.contender.flop = c.flop();
  entrant.contender.rotation = c.sets;
  entrant.contender.enqueue = [with_workspace, &candidate, &c](cudaStream_t stream, int iteration) {
    return candidate.enqueue(with_workspace(iteration % c.sets), stream);
  };
  entrant.comparison = check(c, entrant.contender);
  if (!is_correct(c, entrant.contender.name, entrant.comparison)) return std::nullopt;
  return entrant;
}

// Calls f() and returns whether it succeeded. A failure counts as a wrong result of `name`.
bool CaseRunner::attempt(const std::string& name, const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "  %-44s failed: %s\n", name.c_str(), failure.what());
    ++wrong_results_;
    cudaGetLastError();
    require(cudaDeviceSynchronize(),
            "the device is lost");  // an illegal access ends every later call as well
    return false;
  }
}

std::vector<CaseRunner::Measurement> CaseRunner::measurements() const {
  std::vector<Measurement> all;
  if (options_.burst) all.push_back({"burst", &Stopwatch::burst, &Timing::burst});
  if (options_.sustained) all.push_back({"sustained", &Stopwatch::sustained, &Timing::sustained});
  return all;
}

std::vector<Record> CaseRunner::run(const Types& types, const Layout& layout, const Shape& shape,
                                    const std::vector<Candidate>& candidates) {
  Case c{};
  c.types = types;
  c.layout = layout;
  c.shape = shape;
  c.sets = 1;
  std::fprintf(stderr, "%lld x %lld x %lld %s %s\n", static_cast<long long>(shape.m),
               static_cast<long long>(shape.n), static_cast<long long>(shape.k), name(types).c_str(),
               describe_layout(shape, layout).c_str());
  prepare(c);
  const CublasLtGemm reference(cublaslt_, problem(c, 0), reference_workspace_.data());
  const int answer = pick(c, reference);
  const Contender reference_best = reference_contender(c, reference, answer);
  std::vector<Entrant> entrants;
  for (const Candidate& candidate : candidates) {
    attempt(candidate.name, [&] {
      if (std::optional<Entrant> entrant = enter(c, candidate)) entrants.push_back(std::move(*entrant));
    });
  }
  // All bursts first: half a second at the power limit still lowers the clock of a burst 30 ms later.
  Timing before, after;
  for (const Measurement& measurement : measurements()) {
    Figure Timing::*const figure = measurement.figure;
    before.*figure = time(reference_best, measurement);
    for (Entrant& entrant : entrants) {
      if (entrant.failed) continue;
      entrant.failed = !attempt(entrant.contender.name,
                                [&] { entrant.timing.*figure = time(entrant.contender, measurement); });
    }
    after.*figure = time(reference_best, measurement);
  }
  const double apart = std::max(disagreement(before.burst.tflops, after.burst.tflops),
                                disagreement(before.sustained.tflops, after.sustained.tflops));
  std::fprintf(stderr, "  cuBLASLt first and last: %.1f %% apart\n", apart * 100);
  std::vector<Record> records;
  for (const Entrant& entrant : entrants) {
    if (entrant.failed) continue;
    const Timing& timing = entrant.timing;
    const Figure& figure = options_.sustained ? timing.sustained : timing.burst;
    Record record;
    record.benchmark = options_.cold ? "gemm_cold" : "gemm";
    record.shape = shape;
    record.types = name(types);
    record.layout = describe_layout(shape, layout);
    record.kernel = entrant.contender.name;
    record.tflops_burst = timing.burst.tflops;
    record.tflops_sustained = timing.sustained.tflops;
    record.sm_mhz = figure.sm_mhz;
    record.watts = figure.watts;
    record.flop_per_clk_per_sm = flop_per_clk_per_sm(figure.tflops, figure.sm_mhz, stopwatch_.sm_count());
    record.max_error = entrant.comparison.max_error;
    record.error_bound = c.absolute + c.relative * entrant.comparison.max_expected;
    record.reference = reference.describe(answer);
    record.reference_tflops_burst = 0.5 * (before.burst.tflops + after.burst.tflops);
    record.reference_tflops_sustained = 0.5 * (before.sustained.tflops + after.sustained.tflops);
    record.machine = machine_;
    record.toolkit = toolkit_;
    record.odd = timing.burst.odd.empty() ? timing.sustained.odd : timing.burst.odd;
    if (record.odd.empty() && apart > reference_agreement) record.odd = "cuBLASLt first and last disagree";
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace tenon::microbench
